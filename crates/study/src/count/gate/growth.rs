//! What grew since counts were kept: by launch, and at which line.

use super::gauge::{CountAllowances, CountGauge, GAUGES};
use super::kept::{KeptCounts, KeptLaunch};
use super::matching::{MatchedLine, matched};
use std::collections::BTreeMap;

/// A count that differs from the kept one.
#[derive(Clone, Debug)]
pub struct CountGrowth<'a> {
    pub case: &'a str,
    /// The launch's kernel; of several launches the first one's.
    pub kernel: &'a str,
    pub gauge: &'static CountGauge,
    pub before: u64,
    pub now: u64,
    /// The settings before and now, where they differ.
    pub settings: Option<[&'a str; 2]>,
    pub place: Option<GrowthPlace<'a>>,
}

/// The line that a count grew at.
#[derive(Clone, Debug)]
pub struct GrowthPlace<'a> {
    pub line: EditedLine<'a>,
    /// Whether the line itself was edited.
    pub is_edited: bool,
    /// All lines of its file that were edited.
    pub edited: Vec<EditedLine<'a>>,
}

/// A line of a source, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditedLine<'a> {
    pub file: &'a str,
    pub line: u64,
    pub text: &'a str,
}

impl CountGrowth<'_> {
    /// Whether there is more than is allowed.
    pub fn is_refused(&self, allowed: &CountAllowances) -> bool {
        allowed.of(self.gauge).is_some_and(|allowed| self.now as f64 > self.before as f64 * (1.0 + allowed.share))
    }
}

/// Every count that differs, of the cases that both have.
pub fn growths<'a>(before: &'a KeptCounts, now: &'a KeptCounts) -> Vec<CountGrowth<'a>> {
    let files =
        now.sources.iter().filter_map(|(file, new)| Some((file.as_str(), matched(before.sources.get(file)?, new))));
    let matches = KeptPair { before, now, files: files.collect() };
    now.cases().into_iter().flat_map(|case| matches.of_case(case)).collect()
}

struct KeptPair<'a> {
    before: &'a KeptCounts,
    now: &'a KeptCounts,
    files: BTreeMap<&'a str, Vec<MatchedLine>>,
}

impl<'a> KeptPair<'a> {
    fn of_case(&self, case: &'a str) -> Vec<CountGrowth<'a>> {
        let launches = |kept: &'a KeptCounts| kept.launches.iter().filter(|one| one.case == case).collect::<Vec<_>>();
        let before = launches(self.before);
        let now = launches(self.now);
        if before.is_empty() {
            return Vec::new();
        }
        // Launches that are other ones are compared as a whole.
        let pairs: Vec<[&[&'a KeptLaunch]; 2]> = match before.len() == now.len() {
            true => before.chunks(1).zip(now.chunks(1)).map(|(before, now)| [before, now]).collect(),
            false => vec![[&before, &now]],
        };
        pairs.iter().flat_map(|pair| self.of_launches(pair)).collect()
    }

    fn of_launches(&self, [before, now]: &[&[&'a KeptLaunch]; 2]) -> Vec<CountGrowth<'a>> {
        let sum = |launches: &[&KeptLaunch], gauge: &CountGauge| {
            launches.iter().filter_map(|launch| launch.counts.get(gauge.name)).sum::<u64>()
        };
        let [old, new] = [before[0], now[0]];
        GAUGES
            .iter()
            .filter_map(|gauge: &'static CountGauge| {
                let counts = [sum(before, gauge), sum(now, gauge)];
                (counts[0] != counts[1]).then(|| CountGrowth {
                    case: &new.case,
                    kernel: &new.kernel,
                    gauge,
                    before: counts[0],
                    now: counts[1],
                    settings: (old.settings != new.settings).then_some([old.settings.as_str(), new.settings.as_str()]),
                    place: if counts[1] > counts[0] { self.place([before, now], gauge) } else { None },
                })
            })
            .collect()
    }

    /// The line that a count grew at most. A count that no line has grew where the instructions of an edited line did.
    fn place(&self, launches: [&[&'a KeptLaunch]; 2], gauge: &CountGauge) -> Option<GrowthPlace<'a>> {
        let by_instructions = || {
            let grown = self.grown(launches, &GAUGES[0]);
            let is_edited =
                |(_, (file, line)): &&(u64, (&str, u64))| self.at(file, *line).is_some_and(|at| at.is_edited);
            grown.iter().rfind(is_edited).or(grown.last()).copied()
        };
        let (_, (file, line)) = self.grown(launches, gauge).last().copied().or_else(by_instructions)?;
        let edited: Vec<EditedLine<'a>> = (1..)
            .zip(self.files.get(file).into_iter().flatten())
            .filter(|(_, one)| one.is_edited)
            .filter_map(|(line, _)| self.line(file, line))
            .collect();
        let line = self.line(file, line)?;
        Some(GrowthPlace { line, is_edited: edited.contains(&line), edited })
    }

    /// The lines at which a count grew, those that grew most last, with the first of equals behind the others.
    fn grown(&self, [before, now]: [&[&'a KeptLaunch]; 2], gauge: &CountGauge) -> Vec<(u64, (&'a str, u64))> {
        let old = lines(self.before, before, gauge);
        let new = lines(self.now, now, gauge);
        let growth = |(&(file, line), count): (&(&'a str, u64), &u64)| {
            let was = self.at(file, line).and_then(|at| Some(at.was? as u64 + 1));
            let before = was.and_then(|line| old.get(&(file, line))).copied().unwrap_or(0);
            (count.saturating_sub(before), (file, line))
        };
        let mut grown: Vec<(u64, (&'a str, u64))> =
            new.iter().map(growth).filter(|(grown, _)| *grown > 0).rev().collect();
        grown.sort_by_key(|(grown, _)| *grown);
        grown
    }

    fn at(&self, file: &str, line: u64) -> Option<&MatchedLine> {
        self.files.get(file)?.get(usize::try_from(line.checked_sub(1)?).ok()?)
    }

    fn line(&self, file: &'a str, line: u64) -> Option<EditedLine<'a>> {
        let at = usize::try_from(line.checked_sub(1)?).ok()?;
        let text = self.now.sources.get(file)?.get(at)?.trim();
        Some(EditedLine { file, line, text })
    }
}

fn lines<'a>(kept: &'a KeptCounts, launches: &[&KeptLaunch], gauge: &CountGauge) -> BTreeMap<(&'a str, u64), u64> {
    let is_theirs = |case: &str, launch| launches.iter().any(|one| one.case == case && one.launch == launch);
    let mut all = BTreeMap::new();
    for one in kept.lines.iter().filter(|one| one.line > 0 && is_theirs(&one.case, one.launch)) {
        if let Some(count) = one.counts.get(gauge.name) {
            *all.entry((one.file.as_str(), one.line)).or_default() += count;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::super::CountRow;
    use super::*;
    use gpulab_model::data::Dtype;
    use gpulab_model::outcome::Status;

    /// The counts of one launch of a file `k.cl`, by its lines: passes and instructions of each; the launch's barriers.
    fn kept(source: &str, lines: &[(u64, u64, u64)], barriers: u64) -> KeptCounts {
        let row = |line: Option<u64>, passes: u64, instructions: u64| CountRow {
            family: "reduce".into(),
            variant: "k".into(),
            dtype: Dtype::F32,
            n: 64,
            m: 1,
            seed: 1,
            status: Status::Ok,
            launch: Some(1),
            timed: Some(true),
            kernel: "k".into(),
            file: line.map_or("", |_| "k.cl").into(),
            line,
            local_read_passes: Some(passes),
            warp_instructions: Some(instructions),
            barriers: line.is_none().then_some(barriers),
            ..CountRow::default()
        };
        let [passes, instructions] = [|line: &(u64, u64, u64)| line.1, |line: &(u64, u64, u64)| line.2]
            .map(|of| lines.iter().map(of).sum::<u64>());
        let mut rows = vec![row(None, passes, instructions)];
        rows.extend(lines.iter().map(|&(line, passes, instructions)| row(Some(line), passes, instructions)));
        KeptCounts::of(&rows, &|_| source.lines().map(str::to_owned).collect())
    }

    #[test]
    fn what_grew_is_found_at_its_line() {
        let before = kept("a;\nb;\nc;", &[(1, 8, 10), (2, 0, 10), (3, 4, 10)], 0);
        // Lines that moved are the same, a pass more at one of them shows, and an edited line elsewhere is named.
        let now = kept("new;\nb;\n\nc;\na;", &[(1, 0, 1), (2, 0, 10), (4, 16, 10), (5, 8, 10)], 0);
        let all = growths(&before, &now);
        let [passes] = &all.iter().filter(|one| one.gauge.name == "passes").collect::<Vec<_>>()[..] else {
            panic!("{all:?}")
        };
        let place = passes.place.as_ref().unwrap();
        assert_eq!((passes.before, passes.now), (12, 24));
        assert_eq!((place.line.line, place.line.text, place.is_edited), (4, "c;", false));
        assert_eq!(place.edited.iter().map(|line| line.text).collect::<Vec<_>>(), ["new;"]);
        assert_eq!(
            ["passes", "passes:99%", "passes:100%", "segments"]
                .map(|limit: &str| passes.is_refused(&CountAllowances::parse(limit).unwrap())),
            [true, true, false, false]
        );
    }

    #[test]
    fn what_no_line_has_grew_at_an_edited_line() {
        let before = kept("a;\nb;", &[(1, 0, 10), (2, 0, 10)], 2);
        let now = kept("a;\nbarrier();\nb;", &[(1, 0, 30), (2, 0, 1), (3, 0, 10)], 4);
        let all = growths(&before, &now);
        let barriers = all.iter().find(|one| one.gauge.name == "barriers").unwrap();
        assert_eq!(barriers.place.as_ref().unwrap().line.text, "barrier();");
        // Less is no growth, and has no place.
        let back = growths(&now, &before);
        assert!(back.iter().all(|one| one.now < one.before && one.place.is_none()), "{back:?}");
        assert!(growths(&now, &now).is_empty());
    }

    #[test]
    fn a_file_is_read_as_it_was_written() {
        let kept = kept("a; \"\\\";\nb;", &[(1, 8, 10), (2, 3, 10)], 2);
        assert_eq!(KeptCounts::parse(&kept.text().unwrap()).unwrap(), kept);
        let empty = KeptCounts::of(&[], &|_| Vec::new());
        assert_eq!(KeptCounts::parse(&empty.text().unwrap()).unwrap(), empty);
        let later = kept.text().unwrap().replace("\"gpulab_counts\": 1", "\"gpulab_counts\": 2");
        assert!(KeptCounts::parse(&later).unwrap_err().contains("version 2"));
        for wrong in ["", "[]", "{}", "{\"gpulab_counts\": 1}", "not json"] {
            assert!(KeptCounts::parse(wrong).unwrap_err().contains("--save"), "{wrong}");
        }
    }
}

//! Counts of kernels as text: a row for each rung or trial, and the lines of their sources.

use super::payoff;
use crate::prelude::*;
use gpulab_kernels::{Rung, built_in};
use gpulab_study::count::{AccessRule, CheckFinding, CountRow, Counts, Machine};
use gpulab_study::why::Payoffs;

/// The rows of one case: of its launches, and of their lines.
#[derive(Clone, Copy)]
struct CaseRows<'a>(&'a [CountRow]);

impl<'a> CaseRows<'a> {
    fn all(rows: &'a [CountRow]) -> Vec<CaseRows<'a>> {
        let begins = |row: &CountRow| row.launch.is_none() || (row.launch == Some(1) && row.line.is_none());
        rows.chunk_by(|_, next| !begins(next)).map(CaseRows).collect()
    }

    fn first(self) -> &'a CountRow {
        &self.0[0]
    }

    fn launches(self) -> impl Iterator<Item = &'a CountRow> {
        self.0.iter().filter(|row| row.is_of_launch() && row.timed == Some(true))
    }

    fn is_counted(self) -> bool {
        self.first().status == Status::Ok
    }

    /// `v3 sequential`, or of an experiment the series and what is varied.
    fn label(self) -> String {
        let row = self.first();
        if let Some(x) = row.x {
            return format!("{}, {x}", row.series);
        }
        let rung = built_in(&row.family).and_then(|family| family.rung(&row.variant));
        let number = || row.rung.map_or_else(String::new, |number| format!("v{number} "));
        rung.map_or_else(|| number() + &row.variant, Rung::label)
    }
}

/// A line of a table: what it is called, and what it sums up.
#[derive(Default)]
struct CountLine {
    label: String,
    launches: u64,
    groups: u64,
    warps: u64,
    barriers: u64,
    /// Of the problem.
    elements: u64,
    warp: u64,
    partitions: u64,
    counts: Counts,
}

impl CountLine {
    fn of<'a>(label: String, rows: impl Iterator<Item = &'a CountRow>) -> CountLine {
        rows.fold(CountLine { label, warp: 1, ..CountLine::default() }, |mut sum, row| {
            let cell = |cell: Option<u64>| cell.unwrap_or(0);
            sum.launches += 1;
            sum.groups += cell(row.groups);
            sum.warps += cell(row.warps);
            sum.barriers += cell(row.barriers);
            sum.elements = row.elements().max(1);
            sum.warp = row.warp;
            sum.partitions = cell(row.partitions);
            sum.counts += row.counts();
            sum
        })
    }
}

type CountColumn = (&'static str, fn(&CountLine) -> Option<String>);

fn number(n: u64) -> Option<String> {
    Some(n.to_string())
}

fn few(n: u64) -> Option<String> {
    (n > 0).then(|| n.to_string())
}

fn ratio(x: f64) -> String {
    format!("{x:.2}")
}

/// The columns in their order; one that has nothing in any line is left out.
const COLUMNS: &[CountColumn] = &[
    ("launches", |line| number(line.launches)),
    ("groups", |line| number(line.groups)),
    ("warps", |line| number(line.warps)),
    ("warp\ninstruc-\ntions", |line| number(line.counts.issued)),
    ("item in-\nstructions\nan element", |line| Some(ratio(line.counts.lanes as f64 / line.elements as f64))),
    ("lanes\nbusy", |line| line.counts.lanes_busy(line.warp).map(ratio)),
    ("flop\na byte\nmoved", |line| line.counts.flops_a_byte().map(ratio)),
    ("barriers\na group", |line| few(line.barriers).map(|_| ratio(line.barriers as f64 / line.groups.max(1) as f64))),
    ("segments\na global\nload", |line| line.counts.memory.global_read.segments_a_request().map(ratio)),
    ("segments\na global\nstore", |line| line.counts.memory.global_write.segments_a_request().map(ratio)),
    ("moved\na byte\nasked", |line| line.counts.moved_an_asked_byte().map(ratio)),
    ("partition\nload", |line| line.counts.partition_load(line.partitions).map(ratio)),
    ("passes\na local\nload", |line| line.counts.memory.local_read.passes_a_request().map(ratio)),
    ("passes\na local\nstore", |line| line.counts.memory.local_write.passes_a_request().map(ratio)),
    ("bank\ncon-\nflicts", |line| line.counts.local().conflicts_a_request().map(ratio)),
    ("broad-\ncasts", |line| few(line.counts.memory.local_read.broadcasts)),
    ("words a\nconstant", |line| {
        let constant = line.counts.memory.constant_read;
        few(constant.requests).map(|_| ratio(constant.words as f64 / constant.requests as f64))
    }),
    ("atomics", |line| few(line.counts.atomics().items)),
    ("passes\nan atomic", |line| line.counts.atomics().passes_a_request().map(ratio)),
];

/// Counted cases as a table, with what was not counted and what the counts mean. With `each_launch` also the launches of cases
/// that have several.
pub fn table(rows: &[CountRow], each_launch: bool, screen: Screen) -> String {
    let Some(first) = rows.first() else { return "Nothing was counted.\n".to_owned() };
    let cases = CaseRows::all(rows);
    let counted = cases.iter().filter(|case| case.is_counted());
    let lines: Vec<CountLine> = counted.flat_map(|case| lines_of(*case, each_launch)).collect();
    let (grid, alike) = grid(first, &lines);
    let alike = (!alike.is_empty()).then(|| format!("Alike in all trials: {}.", alike.join(", ")));
    let of_cases = notes_of_cases(&cases).into_iter().map(|(labels, what)| format!("{}: {what}", named(&labels)));
    let said = alike.into_iter().chain(of_cases).chain(notes(first, &cases, each_launch));
    let mut text = format::wrap(&title(first), screen.width, "  ") + "\n";
    if !lines.is_empty() {
        text += &(grid.blocks(screen.width) + "\n");
    }
    said.for_each(|sentence| text += &format::wrap(&format::terminal(&sentence), screen.width, "  "));
    format::on_screen(&text, screen)
}

/// What is said of single cases, each once, with the cases that it is said of: why they were not counted, and what is to be
/// known of the counts of others.
fn notes_of_cases(cases: &[CaseRows<'_>]) -> Vec<(Vec<String>, String)> {
    let mut all: Vec<(Vec<String>, String)> = Vec::new();
    for case in cases {
        let row = case.first();
        let what = match row.status {
            Status::Ok => row.reason.clone(),
            Status::WrongResult => format!("WRONG: {}", row.reason),
            // Of a compiler's log the first error.
            status => {
                let reason: Vec<&str> = row.reason.lines().take(2).map(str::trim).collect();
                format!("{}: {}", status.name().replace('_', " "), reason.join(" "))
            }
        };
        match all.iter_mut().find(|(_, known)| *known == what) {
            _ if what.is_empty() => {}
            Some((labels, _)) => labels.push(case.label()),
            None => all.push((vec![case.label()], what)),
        }
    }
    all
}

/// A few names, or the first of many and how many more there are.
fn named(labels: &[String]) -> String {
    const MOST: usize = 3;
    match labels {
        [first, rest @ ..] if labels.len() > MOST => format!("{first} and {} more", rest.len()),
        _ => labels.join("; "),
    }
}

fn lines_of(case: CaseRows<'_>, each_launch: bool) -> Vec<CountLine> {
    let mut lines = vec![CountLine::of(case.label(), case.launches())];
    if each_launch && case.launches().count() > 1 {
        lines.extend(case.launches().map(|row: &'_ CountRow| {
            CountLine::of(format!("  {} {}", row.launch.unwrap_or(0), row.kernel), std::iter::once(row))
        }));
    }
    lines
}

/// The table, and what is alike in all trials of an experiment, which is no column then.
fn grid(first: &CountRow, lines: &[CountLine]) -> (TextGrid, Vec<String>) {
    let is_experiment = !first.experiment.is_empty();
    let mut table = TextGrid::of(lines).texts(if is_experiment { "trial" } else { "rung" }, |line| line.label.clone());
    let mut alike = Vec::new();
    for (head, cell) in COLUMNS {
        let cells: Vec<Option<String>> = lines.iter().map(cell).collect();
        match cells.first().and_then(Option::as_ref) {
            _ if cells.iter().all(Option::is_none) => {}
            Some(one) if is_experiment && lines.len() > 1 && cells.iter().all(|cell| cell.as_ref() == Some(one)) => {
                alike.push(format!("{} {one}", head.replace("-\n", "").replace('\n', " ")));
            }
            _ => table = table.numbers(*head, |line| cell(line).unwrap_or_else(|| "-".to_owned())),
        }
    }
    (table.grid(), alike)
}

fn title(row: &CountRow) -> String {
    let size = |row: &CountRow| match row.m {
        1 => format!("{} elements", row.n),
        m => format!("{} x {m} elements", row.n),
    };
    match row.experiment.as_str() {
        "" => format!("{}, {} of {}: counted in {}, not timed", row.family, size(row), row.dtype, row.simulator),
        name => format!("{name}, small trials: counted in {}, not timed", row.simulator),
    }
}

/// What the counts are of, and what they say nothing of.
fn notes(row: &CountRow, cases: &[CaseRows<'_>], each_launch: bool) -> impl Iterator<Item = String> {
    let any = |is: &dyn Fn(&CountRow) -> bool| cases.iter().any(|case| case.0.iter().any(is));
    let several = !each_launch && cases.iter().any(|case| case.launches().count() > 1);
    let several = several.then(|| "Counts are sums over a rung's launches; -v shows each.".to_owned());
    let prepared = any(&|row| row.timed == Some(false))
        .then(|| "Launches that only prepare the data are left out here; files have them.".to_owned());
    let copies = any(&|row| row.group_copies.unwrap_or(0) > 0)
        .then(|| "Requests leave out copies by whole groups (async_work_group_copy).".to_owned());
    let model = format!(
        "Model: {}. \
         It has no caches, no latency and not the device's compiler (instructions are LLVM's): counts explain times, \
         they do not predict them.",
        model_of(row)
    );
    [several, prepared, copies, Some(model)].into_iter().flatten()
}

fn model_of(row: &CountRow) -> String {
    let CountRow { warp, segment, banks, .. } = row;
    let named = Machine::named(&row.machine);
    let name = named.map_or_else(String::new, |machine| format!("{} ({}), ", machine.name, machine.about));
    let memory = match named.map(|machine| machine.model.rule) {
        Some(AccessRule::Strict) => "requests of half a warp, segments of 32 to 128 bytes".to_owned(),
        Some(AccessRule::Shrinking) => "requests of half a warp, segments that shrink from 128 bytes to 32".to_owned(),
        Some(AccessRule::Segments) | None => format!("memory segments of {segment} bytes"),
    };
    let partitions = row.partitions.zip(named).map_or_else(String::new, |(partitions, machine)| {
        format!(", {partitions} partitions of 256 bytes under {} groups at once", machine.model.units)
    });
    format!("{name}warps of {warp} work-items in step, {memory}, {banks} banks of local memory{partitions}")
}

/// For each counted case the lines of its source with what they cost; `source` gives a line's text.
pub fn lines(rows: &[CountRow], source: &dyn Fn(&str, u64) -> Option<String>, screen: Screen) -> String {
    let counted = CaseRows::all(rows).into_iter().filter(|case| case.is_counted());
    let text: String = counted.map(|case| source_lines(case, source, screen)).collect();
    format::on_screen(&text, screen)
}

/// A line of a source, and what its instructions come to in all launches.
struct SourceCounts<'a> {
    file: &'a str,
    line: u64,
    counts: Counts,
}

fn source_lines(case: CaseRows<'_>, source: &dyn Fn(&str, u64) -> Option<String>, screen: Screen) -> String {
    let mut lines: Vec<SourceCounts<'_>> = Vec::new();
    for row in case.0.iter().filter(|row| row.timed == Some(true)) {
        let Some(line) = row.line else { continue };
        match lines.iter_mut().find(|known| (known.file, known.line) == (row.file.as_str(), line)) {
            Some(known) => known.counts += row.counts(),
            None => lines.push(SourceCounts { file: &row.file, line, counts: row.counts() }),
        }
    }
    let row = case.first();
    let rung = built_in(&row.family).and_then(|family| family.rung(&row.variant));
    let number = row.rung.map_or_else(String::new, |number| format!("v{number}_"));
    let own = match rung {
        Some(rung) => rung.path.to_string(),
        None => format!("own/{}/{number}{}.cl", row.family, row.variant),
    };
    let own = &*own;
    // The rung's own file first.
    lines.sort_by_key(|one| (one.file != own, one.file, one.line));
    let title = format!("\n{}: {own}\n", case.label());
    let pays = Payoffs::of_case(case.0).map(|pays| payoff::text(&pays, &row.family, row.rung, screen));
    let pays = pays.map_or_else(String::new, |text| format!("\n{text}"));
    title
        + &source_grid(&lines, own, (row.warp, row.partitions.unwrap_or(0)), source)
            .shorten(screen.width)
            .lines()
            .join("\n")
        + "\n"
        + &pays
}

fn source_grid(
    lines: &[SourceCounts<'_>],
    own: &str,
    (warp, partitions): (u64, u64),
    source: &dyn Fn(&str, u64) -> Option<String>,
) -> TextGrid {
    let all: u64 = lines.iter().map(|one| one.counts.issued).sum();
    let place = |one: &SourceCounts<'_>| match one.file.rsplit('/').next() {
        _ if one.line == 0 => "-".to_owned(),
        Some(name) if one.file != own => format!("{name}:{}", one.line),
        _ => one.line.to_string(),
    };
    let share = |one: &SourceCounts<'_>| format!("{:.1}%", 100.0 * one.counts.issued as f64 / all.max(1) as f64);
    let cell = |x: Option<f64>| x.map_or_else(|| "-".to_owned(), ratio);
    let text = |one: &SourceCounts<'_>| match one.line {
        0 => "(of no line: the compiler's own)".to_owned(),
        line => format::terminal(source(one.file, line).unwrap_or_default().trim()),
    };
    let mut table = TextGrid::of(lines)
        .texts("line", place)
        .numbers("of all\ninstr.", share)
        .numbers("lanes\nbusy", |one| cell(one.counts.lanes_busy(warp)))
        .numbers("seg-\nments", |one| cell(one.counts.global().segments_a_request()));
    if partitions > 0 {
        table = table.numbers("partition\nload", |one| cell(one.counts.partition_load(partitions)));
    }
    table.numbers("pas-\nses", |one| cell(one.counts.local().passes_a_request())).texts("source", text).grid()
}

/// What the simulator found in a kernel, in words, with the lines of its file.
pub fn found(findings: &[CheckFinding], line_of: &dyn Fn(&str, u64) -> Option<String>, screen: Screen) -> String {
    const MOST: usize = 6;
    let mut told = String::new();
    for found in findings.iter().take(MOST) {
        let source = found.file.as_deref().zip(found.line).and_then(|(file, line)| line_of(file, line));
        let text = format!("check: {}", format::terminal(&found.sentence()));
        told += &format::wrap(&text, screen.width, "  ");
        told += &source.map_or_else(String::new, |source| format!("    {}\n", format::terminal(&source)));
    }
    let more = findings.len().saturating_sub(MOST);
    if more > 0 { told + &format!("check: {more} more places\n") } else { told }
}

#[cfg(test)]
mod tests {
    use super::super::golden;
    use super::*;
    use gpulab_model::data::{Params, Shape};
    use gpulab_model::outcome::Stop;
    use gpulab_model::plan::{Case, WorkGroup};
    use gpulab_record::Run;
    use gpulab_study::count::{CountSubject, CountedCase, CountedLaunch, LaunchCounts, LockstepModel};

    /// A launch whose local loads take so many passes each, as the plugin writes it.
    fn launch(kernel: &str, timed: bool, passes: u64) -> CountedLaunch {
        let file = "reduce/strided.cl";
        let line = format!(
            r#"{{"kernel": "{kernel}", "groups": 2, "items": 64, "warps": 2, "barriers": 4, "copies": 0, "private": 0,
            "unordered": false, "instructions": [
            {{"file": "{file}", "line": 26, "issued": 10, "lanes": 320, "flops": 0, "memory": {{"global_read":
            {{"requests": 2, "items": 64, "bytes": 256, "segments": 8, "group_segments": 8, "passes": 0, "conflicts": 0, "broadcasts": 0,
            "words": 0, "moved": 256}}}}}},
            {{"file": "{file}", "line": 31, "issued": 20, "lanes": 40, "flops": 512, "memory": {{"local_read":
            {{"requests": 4, "items": 64, "bytes": 256, "segments": 0, "passes": {}, "conflicts": {}, "broadcasts": 0,
            "words": 0}}}}}},
            {{"file": "", "line": 0, "issued": 2, "lanes": 64, "flops": 0, "memory": {{}}}}]}}"#,
            4 * passes,
            4 * passes - 4
        );
        let counts: LaunchCounts = serde_json::from_str(&line).unwrap();
        CountedLaunch { timed, counts }
    }

    fn rows(trial: Option<(&str, &str, f64)>, variant: &str, end: Result<Vec<CountedLaunch>, Stop>) -> Vec<CountRow> {
        let case = Case { wg: WorkGroup::linear(32), ..Case::of("reduce", variant, Dtype::I32, Shape::vector(64)) };
        let run = Run::begin();
        let model = LockstepModel::USUAL;
        let subject =
            CountSubject { run: &run, simulator: "Oclgrind 21.10", model, case: &case, rung: None, trial, note: "" };
        match end {
            Ok(launches) => CountRow::of(&subject, &CountedCase { wg: case.wg, params: Params::new(), launches }),
            Err(stop) => vec![CountRow::stopped(&subject, &stop)],
        }
    }

    #[test]
    fn launches_are_summed_up_and_what_was_not_counted_is_told_once() {
        let none = || Err(Stop::new(Status::Skipped, "it has no kernel"));
        let several = vec![launch("fill", false, 9), launch("strided", true, 3), launch("finish", true, 1)];
        let all = [
            rows(None, "interleaved", Ok(vec![launch("interleaved", true, 1)])),
            rows(None, "strided", Ok(several)),
            rows(None, "subgroup", none()),
            rows(None, "wide", none()),
        ]
        .concat();
        let text = golden::at_all_widths("counts", &|screen| table(&all, screen.width == 160, screen));
        golden::compare("counts_table", &text);
    }

    #[test]
    fn what_is_alike_in_all_trials_is_no_column() {
        let trial = |x: u64| rows(Some(("banks", "words", x as f64)), "strided", Ok(vec![launch("k", true, x)]));
        let text = table(&[trial(1), trial(32)].concat(), false, golden::SCREEN);
        golden::compare("counts_of_trials", &text);
    }

    #[test]
    fn lines_have_their_text_and_what_they_cost() {
        let all = rows(None, "strided", Ok(vec![launch("strided", true, 3), launch("finish", true, 1)]));
        let source = |file: &str, line: u64| Some(format!("  text {line} of {file}, longer than a terminal is wide"));
        golden::compare("counts_of_lines", &lines(&all, &source, golden::SCREEN));
    }
}

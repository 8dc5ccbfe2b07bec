//! Comparisons as text.

use super::groups;
use crate::format::{self, Screen, Tint, paint};
use crate::rungs::label;
use crate::table::Table;
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Cache;
use gpulab_record::Row;
use gpulab_record::compare::{
    self, ComparedCase, FEWEST, FileComparison, LadderSteps, MISSES, Outcomes, RatioInterval,
    SpeedVerdict, planted, spread,
};
use gpulab_record::params_text;

/// Cases that are shown to differ by less count as the same, by default.
pub const SAME: f64 = 0.02;

/// Most lines of a table; where there are more cases, those that changed most are shown.
const MOST: usize = 40;

/// What two files have in common and how it differs, as tables and sentences. With `is_whole` every case has its line.
pub fn text(
    comparison: &FileComparison<'_>,
    names: [&str; 2],
    same: f64,
    is_whole: bool,
    screen: Screen,
) -> String {
    let pairs = shown(comparison, is_whole);
    let mut text = screen.wrap(&format!("{} against {}", names[1], names[0]));
    for own in pairs.chunk_by(|a, b| group(a.before) == group(b.before)) {
        text += &format!("\n{}\n{}", title(own[0].before), table(own, screen));
    }
    text.push('\n');
    for note in notes(comparison, pairs.len(), names, same) {
        text += &screen.wrap(&note);
    }
    format::on_screen(&text, screen)
}

/// All cases, or where they are many those that changed, the largest change first.
fn shown<'a>(comparison: &'a FileComparison<'a>, is_whole: bool) -> Vec<&'a ComparedCase<'a>> {
    let mut pairs: Vec<&ComparedCase<'_>> = comparison.pairs.iter().collect();
    if is_whole || pairs.len() <= MOST {
        return pairs;
    }
    let mut sizes: Vec<f64> = pairs
        .iter()
        .map(|pair| size(pair))
        .filter(|size| *size > 0.0)
        .collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let least = sizes
        .get(MOST - 1)
        .or(sizes.last())
        .copied()
        .unwrap_or(f64::INFINITY);
    pairs.retain(|pair| size(pair) >= least);
    pairs.truncate(MOST);
    pairs
}

/// How large a change is; nought of what is no change.
fn size(pair: &ComparedCase<'_>) -> f64 {
    match pair.verdict {
        SpeedVerdict::Slower | SpeedVerdict::Faster => pair.ratio.ln().abs(),
        SpeedVerdict::Same | SpeedVerdict::Undecided => 0.0,
    }
}

fn group(row: &Row) -> (&str, Dtype, u64, u64, Cache) {
    (&row.family, row.dtype, row.n, row.m, row.cache)
}

fn title(row: &Row) -> String {
    let Row {
        family,
        dtype,
        n,
        m,
        cache,
        ..
    } = row;
    let size = if *m == 1 {
        format::count(*n)
    } else {
        format!("{n} x {m}")
    };
    format!("{family}, {dtype}, n = {size}, {} cache", cache.name())
}

fn table(pairs: &[&ComparedCase<'_>], screen: Screen) -> String {
    let unit = format::time_unit(pairs.iter().flat_map(|pair| pair.seconds));
    let mut table = Table::default().texts("rung", pairs.iter().map(|pair| label(pair.before)));
    if groups::distinct(pairs.iter().map(|pair| &pair.before.variant)).len() < pairs.len() {
        let settings = pairs.iter().map(|pair| {
            format!(
                "{} {}",
                pair.before.wg_text(),
                params_text(&pair.before.params)
            )
        });
        table = table.texts(
            "group, settings",
            settings.map(|text| text.trim().to_owned()),
        );
    }
    for (at, side) in ["before", "after"].iter().enumerate() {
        let times = pairs
            .iter()
            .map(|pair| format::significant(pair.seconds[at] / unit.1, 4));
        table = table
            .numbers(format!("{side}\n{}", unit.0), times)
            .dropped(3 - at as u8);
    }
    let intervals = pairs
        .iter()
        .map(|pair| pair.interval.as_ref().map_or("-".to_owned(), interval_text));
    let verdicts = pairs.iter().map(|pair| {
        format!(
            "{}{}",
            pair.verdict.name(),
            if pair.has_other_settings() { " *" } else { "" }
        )
    });
    table = table
        .numbers("time\nratio", pairs.iter().map(|pair| ratio(pair.ratio)))
        .texts(format!("{}\ninterval", certainty()), intervals)
        .dropped(1)
        .texts("verdict", verdicts);
    if pairs.iter().any(|pair| pair.more_runs.is_some()) {
        let more = pairs.iter().map(|pair| {
            pair.more_runs
                .map_or_else(String::new, |runs| runs.to_string())
        });
        table = table.numbers("more\nruns", more);
    }
    let mut lines = table.fit(screen.width).lines();
    let first = lines.len() - pairs.len();
    for (line, pair) in lines[first..]
        .iter_mut()
        .zip(pairs)
        .filter(|_| screen.color)
    {
        match pair.verdict {
            SpeedVerdict::Slower => *line = paint(line, Tint::Red),
            SpeedVerdict::Faster => *line = paint(line, Tint::Green),
            SpeedVerdict::Same | SpeedVerdict::Undecided => {}
        }
    }
    lines.join("\n") + "\n"
}

fn ratio(ratio: f64) -> String {
    format::significant(ratio, if ratio < 1.0 { 3 } else { 4 })
}

/// How many intervals hold their ratio: `99.7 %`.
fn certainty() -> String {
    format!("{:.1} %", 100.0 * (1.0 - MISSES))
}

fn interval_text(interval: &RatioInterval) -> String {
    format!("{} to {}", ratio(interval.low), ratio(interval.high))
}

/// What all of it comes to, what would decide what is undecided, and what was left out.
fn notes(
    comparison: &FileComparison<'_>,
    shown: usize,
    names: [&str; 2],
    same: f64,
) -> Vec<String> {
    let FileComparison {
        pairs,
        only_before,
        only_after,
    } = comparison;
    let named = [
        SpeedVerdict::Slower,
        SpeedVerdict::Faster,
        SpeedVerdict::Same,
        SpeedVerdict::Undecided,
    ]
    .map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()));
    let mut notes = vec![format!("{} cases: {}", pairs.len(), named.join(", "))];
    notes.push(format!(
        "SAME is less than {} apart, with an interval to show it",
        format::percent(same)
    ));
    if pairs.iter().any(ComparedCase::has_other_settings) {
        notes.push("* with another work-group or other settings".to_owned());
    }
    if let Some(runs) = pairs.iter().filter_map(|pair| pair.more_runs).max() {
        // A round runs every case of both sides.
        let both = pairs
            .iter()
            .map(|pair| Some(pair.before.t_case_s? + pair.after.t_case_s?))
            .sum::<Option<f64>>();
        let time = both.map_or_else(String::new, |both| {
            format!(" (about {})", format::rough(runs as f64 * both))
        });
        let why =
            format!("a verdict takes {FEWEST} runs of each side, as --rounds {FEWEST} makes them");
        notes.push(format!(
            "{runs} more runs of each side in turn{time} would decide all UNDECIDED; {why}"
        ));
    }
    if pairs
        .iter()
        .any(|pair| !pair.in_turn && pair.interval.is_some())
    {
        let why = "one side ran after the other, and the machine may have changed between them: times must differ more \
                   than where sides take turns (one run of each, again and again)";
        notes.push(why.to_owned());
    }
    if shown < pairs.len() {
        notes.push(format!(
            "cases that are not shown: {}; -v shows all",
            pairs.len() - shown
        ));
    }
    for (count, name) in [(only_before, names[0]), (only_after, names[1])] {
        notes.extend((*count > 0).then(|| format!("cases only in {name}: {count}")));
    }
    notes
}

/// How far the rounds of a ladder are apart; nothing of one round.
pub fn rounds(rows: &[Row], screen: Screen) -> String {
    let timed: Vec<(Vec<f64>, &Row)> = compare::timed(rows)
        .into_iter()
        .map(|runs| {
            (
                runs.iter().filter_map(|row| row.t_median_s).collect(),
                runs[0],
            )
        })
        .collect();
    let rounds = timed
        .iter()
        .map(|(seconds, _)| seconds.len())
        .max()
        .unwrap_or(0);
    let mut spreads: Vec<(f64, String)> = timed
        .iter()
        .filter_map(|(seconds, row)| Some((spread([seconds, &[]])?, label(row))))
        .collect();
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(least, steadiest), .., (most, loudest)] = spreads.as_slice() else {
        return String::new();
    };
    let text = format!(
        "{rounds} rounds, each in a fresh process; a row is its median round. Times differ between rounds by {} \
         ({steadiest}) to {} ({loudest}), as standard deviations",
        format::percent(*least),
        format::percent(*most),
    );
    format::on_screen(&format!("\n{}", screen.wrap(&text)), screen)
}

/// How many times faster each rung is than the one before it, device by device.
pub fn steps(ladders: &[LadderSteps<'_>], screen: Screen) -> String {
    const WIDTH: usize = 18;
    let mut texts = Vec::new();
    for LadderSteps { devices, rungs } in ladders {
        let Row {
            family,
            dtype,
            cache,
            ..
        } = devices[0];
        let head = format!(
            "{family}, {dtype}, {} cache: gain over the rung before",
            cache.name()
        );
        let names = rungs
            .iter()
            .map(|(number, name, _)| format!("v{number} {name}"));
        let mut table = Table::default().texts("rung", names);
        for (at, device) in devices.iter().enumerate() {
            // Its platform where another has the same name.
            let is_shared = devices
                .iter()
                .filter(|other| other.device == device.device)
                .count()
                > 1;
            let name = if is_shared {
                device.platform.clone()
            } else {
                format::device(&device.device)
            };
            let size = if device.m == 1 {
                format::count(device.n)
            } else {
                format!("{}x{}", device.n, device.m)
            };
            let head = format!("{}\nn = {size}", format::shorten(&name, WIDTH));
            let gains = rungs.iter().map(|(_, _, gains)| match &gains[at] {
                Some(gain) if gain.low < 1.0 && gain.high > 1.0 => {
                    format::significant(gain.ratio, 3) + "?"
                }
                Some(gain) => format::significant(gain.ratio, 3),
                None => "-".to_owned(),
            });
            table = table.numbers(head, gains);
        }
        texts.push(format!(
            "{}{}",
            screen.wrap(&head),
            table.blocks(screen.width)
        ));
    }
    let text = texts.join("\n");
    let mark = if text.contains('?') {
        "? noise or an unsteady device may make the gain\n"
    } else {
        ""
    };
    format::on_screen(&(text + mark), screen)
}

/// How often pairs of something with itself, which took so many seconds, would show that one side is slower.
pub fn curve(name: &str, pairs: &[[f64; 2]], whole: f64, same: f64, screen: Screen) -> String {
    const PLANTED: [f64; 7] = [0.0, 0.01, 0.02, 0.03, 0.05, 0.1, 0.3];
    let each = whole / pairs.len() as f64;
    let mut table = Table::default().texts("slower", PLANTED.map(format::percent));
    for seconds in [whole / 4.0, whole] {
        let most = (seconds / each) as usize;
        let trials = PLANTED.map(|share| planted(pairs, share, most, same));
        let shares = |of: fn(&Outcomes) -> f64| {
            trials.map(|trial| {
                trial.map_or_else(|| "-".to_owned(), |trial| format::percent(of(&trial)))
            })
        };
        let taken = trials.map(|trial| {
            trial.map_or_else(
                || "-".to_owned(),
                |trial| format::time(trial.pairs as f64 * each),
            )
        });
        let head = format::significant(seconds, 2);
        table = table
            .numbers(format!("in {head} s\nSLOWER"), shares(|trial| trial.slower))
            .numbers("\nSAME", shares(|trial| trial.same))
            .numbers("\nFASTER", shares(|trial| trial.faster))
            .numbers("half\nafter", taken);
    }
    let pairs = pairs.len();
    let mut text = screen.wrap(&format!(
        "{name}: {pairs} pairs of runs with itself in {}. What comes of it if one side were slower, in 400 trials over parts of these pairs; the rest is UNDECIDED",
        format::rough(whole)
    ));
    text += &table.blocks(screen.width);
    format::on_screen(&text, screen)
}

//! Comparisons as text.

use super::groups;
use crate::prelude::*;
use crate::rungs::label_of;
use gpulab_model::outcome::Cache;
use gpulab_record::compare::{
    self, CaseRun, ComparedCase, CurvePoint, FEWEST, FileComparison, LadderDevice, LadderSteps, MISSES, Noise,
    RatioInterval, SpeedVerdict, Turns,
};

/// Cases that are shown to differ by less count as the same, by default.
pub const SAME: f64 = 0.02;

/// Most lines of a table; where there are more cases, those that changed most are shown.
const MOST: usize = 40;

/// What two files have in common and how it differs, as tables and sentences. With `is_whole` every case has its line.
pub fn text(comparison: &FileComparison<'_>, names: [&str; 2], same: f64, is_whole: bool, screen: Screen) -> String {
    let pairs = shown(comparison, is_whole);
    let mut text = format::wrap(&format!("{} against {}", names[1], names[0]), screen.width, "  ");
    for own in pairs.chunk_by(|a, b| group(a.before) == group(b.before)) {
        text += &format!("\n{}\n{}", title(own[0].before), table(own, screen));
    }
    text.push('\n');
    for note in notes(comparison, pairs.len(), names, same) {
        text += &format::wrap(&note, screen.width, "  ");
    }
    format::on_screen(&text, screen)
}

/// All cases, or where they are many those that changed, the largest change first.
fn shown<'a>(comparison: &'a FileComparison<'a>, is_whole: bool) -> Vec<&'a ComparedCase<'a>> {
    let mut pairs: Vec<&ComparedCase<'_>> = comparison.pairs.iter().collect();
    if is_whole || pairs.len() <= MOST {
        return pairs;
    }
    let size = |pair: &ComparedCase<'_>| match pair.verdict {
        SpeedVerdict::Slower | SpeedVerdict::Faster => pair.ratio.ln().abs(),
        SpeedVerdict::Same | SpeedVerdict::Undecided => 0.0,
    };
    let mut sizes: Vec<f64> = pairs.iter().map(|pair| size(pair)).filter(|size| *size > 0.0).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let least = sizes.get(MOST - 1).or(sizes.last()).copied().unwrap_or(f64::INFINITY);
    pairs.retain(|pair| size(pair) >= least);
    pairs.truncate(MOST);
    pairs
}

fn group(row: &CaseRun) -> (&str, Dtype, u64, u64, Cache) {
    (&row.family, row.dtype, row.n, row.m, row.cache)
}

pub(super) fn title(row: &CaseRun) -> String {
    let CaseRun { family, dtype, n, m, cache, .. } = row;
    let size = if *m == 1 { format::count(*n) } else { format!("{n} x {m}") };
    format!("{family}, {dtype}, n = {size}, {} cache", cache.name())
}

fn table(pairs: &[&ComparedCase<'_>], screen: Screen) -> String {
    let times: Vec<f64> = pairs.iter().flat_map(|pair| pair.seconds).collect();
    let (unit, of_unit) = format::time_unit(times.into_iter());
    let time = |seconds: f64| format::significant(seconds / of_unit, 4);
    let is_alone = groups::distinct(pairs.iter().map(|pair| &pair.before.variant)).len() == pairs.len();
    let verdict = |pair: &ComparedCase<'_>| {
        let settings = if pair.has_other_settings() { " *" } else { "" };
        let clocks = if pair.is_of_two_clocks { ": other clock" } else { "" };
        format!("{}{clocks}{settings}", pair.verdict.name())
    };
    let settings =
        |pair: &ComparedCase<'_>| format!("{} {}", pair.before.wg_text(), pair.before.params).trim().to_owned();
    let mut table = TextGrid::of(pairs.iter().copied()).texts("rung", |pair| label_of(pair.before));
    if !is_alone {
        table = table.texts("group, settings", settings);
    }
    table = table
        .numbers(format!("before\n{unit}"), |pair| time(pair.seconds[0]))
        .dropped(3)
        .numbers(format!("after\n{unit}"), |pair| time(pair.seconds[1]))
        .dropped(2)
        .numbers("time\nratio", |pair| ratio(pair.ratio))
        .texts(format!("{}\ninterval", certainty()), |pair| pair.interval.as_ref().map_or("-".to_owned(), interval))
        .dropped(1)
        .texts("verdict", verdict);
    if pairs.iter().any(|pair| pair.more_runs.is_some()) {
        table = table.numbers("more\nruns", more_runs);
    }
    let lines = table.grid().fit(screen.width).lines();
    let first = lines.len() - pairs.len();
    lines
        .iter()
        .enumerate()
        .map(|(at, line): (usize, &String)| match at.checked_sub(first).map(|row| pairs[row].verdict) {
            Some(SpeedVerdict::Slower) if screen.color => paint(line, Tint::Red),
            Some(SpeedVerdict::Faster) if screen.color => paint(line, Tint::Green),
            _ => line.clone(),
        })
        .joined("\n")
        + "\n"
}

fn ratio(ratio: f64) -> String {
    format::significant(ratio, if ratio < 1.0 { 3 } else { 4 })
}

/// How many intervals hold their ratio: `99.7 %`.
fn certainty() -> String {
    format!("{:.1} %", 100.0 * (1.0 - MISSES))
}

fn interval(interval: &RatioInterval) -> String {
    format!("{} to {}", ratio(interval.low), ratio(interval.high))
}

/// More runs than that are not worth a number.
const MANY: usize = 999;

fn more_runs(pair: &ComparedCase<'_>) -> String {
    pair.more_runs.map_or_else(String::new, |runs| if runs > MANY { format!(">{MANY}") } else { runs.to_string() })
}

/// What all of it comes to, what could not be decided, and what was left out.
fn notes(comparison: &FileComparison<'_>, shown: usize, names: [&str; 2], same: f64) -> Vec<String> {
    let FileComparison { pairs, only_before, only_after } = comparison;
    let named = [SpeedVerdict::Slower, SpeedVerdict::Faster, SpeedVerdict::Same, SpeedVerdict::Undecided]
        .map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()));
    let cases = |count: usize| if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
    let mut notes = vec![format!("{}: {}", cases(pairs.len()), named.join(", "))];
    notes.push(format!("SAME is less than {} apart, with an interval to show it", format::percent(same)));
    if pairs.iter().any(ComparedCase::has_other_settings) {
        notes.push("* with another work-group or other settings".to_owned());
    }
    notes.extend(left_out(pairs));
    notes.extend(to_decide(pairs));
    notes.extend(out_of_turn(pairs));
    if shown < pairs.len() {
        notes.push(format!("{} are not shown; -v shows all", cases(pairs.len() - shown)));
    }
    let alone = [(only_before, names[0]), (only_after, names[1])];
    let alone = alone.into_iter().filter(|(count, _)| **count > 0);
    notes.extend(alone.map(|(count, name)| format!("{} only in {name}", cases(*count))));
    notes
}

/// The runs that no verdict is made of, as their times come from another clock.
fn left_out(pairs: &[ComparedCase]) -> Option<String> {
    /// Most that are named.
    const NAMED: usize = 3;
    let out: Vec<&CaseRun> = pairs.iter().flat_map(|pair| &pair.left_out).copied().collect();
    let all = out.len() + pairs.iter().flat_map(|pair| pair.runs).sum::<usize>();
    let named = out
        .iter()
        .take(NAMED)
        .map(|row: &&CaseRun| format!("{} {} ({})", row.run_id, label_of(row), row.clock.name()))
        .joined(", ");
    let more = if out.len() > NAMED { ", ..." } else { "" };
    let told = format!("left out: {} of {all} runs, by another clock than the others: {named}{more}", out.len());
    (!out.is_empty()).then(|| format::terminal(&told))
}

/// How far the rounds of a ladder are apart; nothing of one round.
pub fn rounds(rows: &[CaseRun], screen: Screen) -> String {
    let timed = compare::timed(rows);
    let rounds = timed.iter().map(|case| case.seconds.len()).max().unwrap_or(0);
    let mut spreads: Vec<(f64, String)> =
        timed.iter().filter_map(|case| Some((case.spread()?, label_of(case.row)))).collect();
    spreads.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [(least, steadiest), .., (most, loudest)] = spreads.as_slice() else { return String::new() };
    let text = format!(
        "{rounds} rounds, each in a fresh process; a row is its median round. Times differ between rounds by {} \
         ({steadiest}) to {} ({loudest}), as standard deviations",
        format::percent(*least),
        format::percent(*most),
    );
    format::on_screen(&format!("\n{}", format::wrap(&text, screen.width, "  ")), screen)
}

/// What would decide the undecided cases, and how long that would take.
fn to_decide(pairs: &[ComparedCase]) -> Option<String> {
    let mut more: Vec<usize> = pairs.iter().filter_map(|pair| pair.more_runs).collect();
    more.sort_unstable();
    let typical = *more.get(more.len().saturating_sub(1) / 2)?;
    let all = *more.last()?;
    // A round runs every case of both sides.
    let round =
        pairs.iter().map(|pair: &ComparedCase| Some(pair.before.t_case_s? + pair.after.t_case_s?)).sum::<Option<f64>>();
    let with_time = |runs: usize| {
        let time = round.map_or_else(String::new, |round| format!(" (about {})", format::rough(runs as f64 * round)));
        let runs = if runs > MANY { format!("more than {MANY}") } else { runs.to_string() };
        format!("{runs} more run{} of each side in turn{time}", if runs == "1" { "" } else { "s" })
    };
    let which = if all == typical {
        "would decide the UNDECIDED".to_owned()
    } else {
        format!("would decide half of the UNDECIDED, {} all", with_time(all))
    };
    let few = pairs.iter().any(|pair| pair.more_runs.is_some() && pair.interval.is_none());
    let why = if few {
        format!(": a verdict takes {FEWEST} runs of each side, as --rounds {FEWEST} makes them")
    } else {
        String::new()
    };
    Some(format!("{} {which}{why}", with_time(typical)))
}

/// That a change of the machine would look like one of the program, where the sides did not take turns.
fn out_of_turn(pairs: &[ComparedCase]) -> Option<String> {
    pairs.iter().find(|pair: &&ComparedCase| pair.turns == Turns::OneAfterTheOther && pair.interval.is_some())?;
    Some(
        "one side ran after the other, and the machine may have changed between them: times must differ more than \
         where sides take turns (one run of each, again and again)"
            .to_owned(),
    )
}

/// The operating curve as a table: how often sides that are alike are called different, and which slowdowns are found.
pub fn curve(points: &[CurvePoint], slowdowns: &[f64], screen: Screen) -> String {
    let share = |count: usize, point: &CurvePoint| format!("{:.1}%", 100.0 * count as f64 / point.alike as f64);
    let turns = |point: &CurvePoint| match point.turns {
        Turns::InTurn => "in turn",
        Turns::OneAfterTheOther => "one after the other",
    };
    let mut table = TextGrid::of(points)
        .numbers("runs of\neach side", |p| p.runs.to_string())
        .texts("the sides ran", |p| turns(p).to_owned())
        .numbers("compar-\nisons", |p| format::count(p.alike as u64))
        .dropped(2)
        .numbers("alike, but\ncalled", |p| share(p.called, p));
    for (at, slowdown) in slowdowns.iter().enumerate() {
        table = table.numbers(format!("+{:.0}%\nfound", 100.0 * slowdown), |p| share(p.found[at], p));
    }
    let table = table.grid().fit(screen.width).lines().join("\n");
    let badly: usize = points.iter().map(|point| point.missed_badly).sum();
    let note = format!(
        "alike, but called: sides of the same program that were called FASTER or SLOWER. +10% found: with all times of one \
         side made 10 % longer, it was called SLOWER. Slowdowns called FASTER or SAME: {}",
        format::count(badly as u64)
    );
    format::on_screen(&format!("{table}\n\n{}", format::wrap(&note, screen.width, "")), screen)
}

/// How many times faster each rung is than the one before it, device by device.
pub fn steps(ladders: &[LadderSteps], screen: Screen) -> String {
    let text = ladders.iter().map(|ladder| {
        let LadderSteps { family, dtype, cache, devices, rungs } = ladder;
        let head = format!("{family}, {dtype}, {} cache: gain over the rung before", cache.name());
        let mut table = TextGrid::of(rungs).texts("rung", |(number, name, _)| format!("v{number} {name}"));
        for (at, device) in devices.iter().enumerate() {
            let cell = |gains: &[Option<RatioInterval>]| gains[at].as_ref().map_or_else(|| "-".to_owned(), gain);
            table = table.numbers(device_head(device, devices), |(_, _, gains)| cell(gains));
        }
        format!("{}{}", format::wrap(&head, screen.width, "  "), table.grid().blocks(screen.width))
    });
    let text = text.joined("\n");
    let mark = if text.contains('?') { "? noise or an unsteady device may make the gain\n" } else { "" };
    format::on_screen(&(text + mark), screen)
}

fn gain(gain: &RatioInterval) -> String {
    let doubt = if gain.low < 1.0 && gain.high > 1.0 { "?" } else { "" };
    format!("{}{doubt}", format::significant(gain.ratio, 3))
}

/// The device, its platform where another has the same, and the size.
fn device_head(device: &LadderDevice, all: &[LadderDevice]) -> String {
    const WIDTH: usize = 18;
    let is_shared = all.iter().filter(|other| other.device == device.device).count() > 1;
    let name = if is_shared { device.platform.clone() } else { format::device(&device.device) };
    let size = if device.m == 1 { format::count(device.n) } else { format!("{}x{}", device.n, device.m) };
    format!("{}\nn = {size}", format::shorten(&name, WIDTH))
}

/// What two sides that are the same program show: how small a difference so many rounds find, with `each` seconds for a round,
/// and how long to look for smaller ones.
pub fn noise(noise: &Noise, row: &CaseRun, each: f64, screen: Screen) -> String {
    let [a, b] = noise.seconds.map(format::time);
    let Noise { rounds, interval: all, .. } = noise;
    let head = format!("{}: {}, {} ", title(row), label_of(row), format::device(&row.device));
    let sides = format!(
        "the same kernel as two sides, {rounds} rounds in turn, each run in a fresh process: A {a}, B {b}, ratio {}, {} \
         interval {}",
        ratio(all.ratio),
        certainty(),
        interval(all),
    );
    let spread = format!(
        "a run's time differs from the next run's by {} (standard deviation): one run of each side shows no difference for \
         certain",
        format::percent(noise.spread)
    );
    let alarm = noise.is_false_alarm().then(|| {
        format!(
            "here the interval misses 1, although both sides are the same program: that is chance (1 comparison in {:.0}) or \
             the machine changed meanwhile, so trust no difference under {} now",
            1.0 / MISSES,
            format::percent(noise.resolution.max(all.high.max(1.0 / all.low) - 1.0))
        )
    });
    let found = format!("{rounds} runs of each side find differences from {} on", format::percent(noise.resolution));
    let longer = [0.01, 0.03, 0.1].map(|share| {
        let needed = noise.runs_for(share);
        format!("to find {}: {needed} runs, about {}", format::percent(share), format::rough(needed as f64 * each))
    });
    let lines = [head, sides, spread].into_iter().chain(alarm).chain([found]).chain(longer);
    format::on_screen(&lines.map(|line| format::wrap(line.trim_end(), screen.width, "  ")).collect::<String>(), screen)
}

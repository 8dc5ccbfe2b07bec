//! Comparisons as text.

use super::format::{self, Screen, Tint, paint};
use super::grid::{GridColumn, TextGrid};
use super::view::label;
use crate::compare::{
    ComparedCase, FileComparison, LadderDevice, LadderSteps, Noise, RatioInterval, SpeedVerdict, WhyNot,
};
use crate::data::Dtype;
use crate::record::Row;
use crate::runner::Cache;

/// Cases that are shown to differ by less count as the same, unless somebody says otherwise.
pub const SAME: f64 = 0.02;

/// Most lines of a table; where there are more cases, those that changed most are shown.
const MOST: usize = 40;

/// What two files have in common and how it differs, as tables and sentences. With `is_whole` every case has its line.
pub fn text(comparison: &FileComparison, names: [&str; 2], same: f64, is_whole: bool, screen: Screen) -> String {
    let pairs = shown(comparison, is_whole);
    let mut text = format::wrap(&format!("{} against {}", names[1], names[0]), screen.width, "  ");
    let mut rest = pairs.as_slice();
    while let Some(first) = rest.first() {
        let count = rest.iter().take_while(|pair| group(&pair.before) == group(&first.before)).count();
        let (own, others) = rest.split_at(count);
        text += &format!("\n{}\n{}", title(&first.before), table(own, screen));
        rest = others;
    }
    text.push('\n');
    for note in notes(comparison, pairs.len(), names, same) {
        text += &format::wrap(&note, screen.width, "  ");
    }
    format::on_screen(&text, screen)
}

/// All cases, or where they are many those that changed, the largest change first.
fn shown(comparison: &FileComparison, is_whole: bool) -> Vec<&ComparedCase> {
    let mut pairs: Vec<&ComparedCase> = comparison.pairs.iter().collect();
    if is_whole || pairs.len() <= MOST {
        return pairs;
    }
    let size = |pair: &ComparedCase| match pair.verdict {
        SpeedVerdict::Slower | SpeedVerdict::Faster => pair.interval.ratio.ln().abs(),
        SpeedVerdict::Same | SpeedVerdict::Undecided => 0.0,
    };
    let mut sizes: Vec<f64> = pairs.iter().map(|pair| size(pair)).filter(|size| *size > 0.0).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    let least = sizes.get(MOST - 1).or(sizes.last()).copied().unwrap_or(f64::INFINITY);
    pairs.retain(|pair| size(pair) >= least);
    pairs
}

fn group(row: &Row) -> (&str, Dtype, u64, u64, Cache) {
    (&row.family, row.dtype, row.n, row.m, row.cache)
}

fn title(row: &Row) -> String {
    let Row { family, dtype, n, m, cache, .. } = row;
    let size = if *m == 1 { format::count(*n) } else { format!("{n} x {m}") };
    format!("{family}, {dtype}, n = {size}, {} cache", cache_name(*cache))
}

fn cache_name(cache: Cache) -> &'static str {
    match cache {
        Cache::Warm => "warm",
        Cache::Cold => "cold",
    }
}

fn table(pairs: &[&ComparedCase], screen: Screen) -> String {
    let times: Vec<f64> = pairs.iter().flat_map(|pair| pair.seconds).collect();
    let (unit, of_unit) = format::time_unit(times.into_iter());
    let time = |seconds: f64| format::significant(seconds / of_unit, 4);
    let is_alone =
        |pair: &&ComparedCase| pairs.iter().filter(|other| other.before.variant == pair.before.variant).count() == 1;
    let cells = |of: &dyn Fn(&ComparedCase) -> String| pairs.iter().map(|pair| of(pair)).collect::<Vec<_>>();
    let mut columns = vec![GridColumn::texts("rung", cells(&|pair| label(&pair.before)), 0)];
    if !pairs.iter().all(is_alone) {
        let settings = |pair: &ComparedCase| format!("{} {}", pair.before.wg, pair.before.params).trim().to_owned();
        columns.push(GridColumn::texts("group, settings", cells(&settings), 0));
    }
    columns.extend([
        GridColumn::numbers(format!("before\n{unit}"), cells(&|pair| time(pair.seconds[0])), 3),
        GridColumn::numbers(format!("after\n{unit}"), cells(&|pair| time(pair.seconds[1])), 2),
        GridColumn::numbers("time\nratio", cells(&|pair| ratio(pair.interval.ratio)), 0),
        GridColumn::texts("99 % interval", cells(&|pair| interval(&pair.interval)), 1),
        GridColumn::texts("verdict", cells(&|pair| word(pair)), 0),
    ]);
    let lines = TextGrid { columns }.fit(screen.width).lines();
    let first = lines.len() - pairs.len();
    let line = |(at, line): (usize, &String)| match at.checked_sub(first).map(|row| pairs[row].verdict) {
        Some(SpeedVerdict::Slower) if screen.color => paint(line, Tint::Red),
        Some(SpeedVerdict::Faster) if screen.color => paint(line, Tint::Green),
        _ => line.clone(),
    };
    lines.iter().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn ratio(ratio: f64) -> String {
    format::significant(ratio, if ratio < 1.0 { 3 } else { 4 })
}

fn interval(interval: &RatioInterval) -> String {
    format!("{} to {}", ratio(interval.low), ratio(interval.high))
}

fn word(pair: &ComparedCase) -> String {
    let settings = if pair.has_other_settings() { " *" } else { "" };
    let why = match pair.why_not {
        Some(WhyNot::Clocks) => ": other clock",
        Some(WhyNot::Unsteady) => ": unsteady",
        Some(WhyNot::Unwatched) => " ~",
        None => "",
    };
    format!("{}{why}{settings}", pair.verdict.name())
}

/// What all of it comes to, what could not be decided, and what was left out.
fn notes(comparison: &FileComparison, shown: usize, names: [&str; 2], same: f64) -> Vec<String> {
    let FileComparison { pairs, only_before, only_after } = comparison;
    let named = [SpeedVerdict::Slower, SpeedVerdict::Faster, SpeedVerdict::Same, SpeedVerdict::Undecided]
        .map(|verdict| format!("{} {}", comparison.count(verdict), verdict.name()));
    let cases = |count: usize| if count == 1 { "1 case".to_owned() } else { format!("{count} cases") };
    let mut notes = vec![format!("{}: {}", cases(pairs.len()), named.join(", "))];
    notes.push(format!("SAME is less than {} apart, with an interval to show it", format::percent(same)));
    if pairs.iter().any(ComparedCase::has_other_settings) {
        notes.push("* with another work-group or other settings".to_owned());
    }
    if pairs.iter().any(|pair| pair.why_not == Some(WhyNot::Unwatched)) {
        notes
            .push("~ of the CPU's own programs three runs are needed: nothing tells what else the host did".to_owned());
    }
    let undecided = pairs.iter().filter(|pair| pair.verdict == SpeedVerdict::Undecided && pair.why_not.is_none());
    let mut seen: Vec<f64> = undecided.map(|pair| pair.interval.resolution()).collect();
    seen.sort_by(f64::total_cmp);
    if let Some(typical) = seen.get(seen.len() / 2) {
        notes.push(format!(
            "undecided: changes under {} cannot be seen in half of these; run each side three times and more, and give \
             its files joined by commas",
            format::percent(*typical)
        ));
    }
    if shown < pairs.len() {
        notes.push(format!("{} are not shown; -v shows all", cases(pairs.len() - shown)));
    }
    let alone = [(only_before, names[0]), (only_after, names[1])];
    let alone = alone.into_iter().filter(|(count, _)| **count > 0);
    notes.extend(alone.map(|(count, name)| format!("{} only in {name}", cases(*count))));
    notes
}

/// How many times faster each rung is than the one before it, device by device.
pub fn steps(ladders: &[LadderSteps], screen: Screen) -> String {
    let text = ladders.iter().map(|ladder| {
        let LadderSteps { family, dtype, cache, devices, rungs } = ladder;
        let head = format!("{family}, {dtype}, {} cache: gain over the rung before", cache_name(*cache));
        let names = rungs.iter().map(|(number, name, _)| format!("v{number} {name}")).collect();
        let mut columns = vec![GridColumn::texts("rung", names, 0)];
        columns.extend(devices.iter().enumerate().map(|(at, device)| {
            let gains = rungs.iter().map(|(_, _, gains)| gains[at].as_ref().map_or_else(|| "-".into(), gain));
            GridColumn::numbers(device_head(device, devices), gains.collect(), 0)
        }));
        format!("{}{}", format::wrap(&head, screen.width, "  "), TextGrid { columns }.blocks(screen.width))
    });
    let text = text.collect::<Vec<_>>().join("\n");
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

/// What two sides that are the same say: how small a difference shows in one run of each, in so many rounds of `each` seconds,
/// and how long to look for smaller ones.
pub fn noise(noise: &Noise, row: &Row, (rounds, each): (usize, f64), screen: Screen) -> String {
    let [a, b] = noise.seconds.map(format::time);
    let all = &noise.all;
    let head = format!("{}: {}, {} ", title(row), label(row), format::device(&row.device));
    let sides = format!(
        "the same kernel as two sides, {rounds} rounds in turn: A {a}, B {b}, ratio {}, 99 % interval {}: {}",
        ratio(all.ratio),
        interval(all),
        noise.verdict(SAME).name()
    );
    let one = format!("one run of each side shows differences from {} on", format::percent(noise.one.resolution()));
    let several = format!("{rounds} rounds of each show differences from {} on", format::percent(all.resolution()));
    let longer = [0.01, 0.05].map(|share| {
        let needed = noise.rounds_for(share);
        let seconds = needed as f64 * each;
        let time = if seconds < 120.0 { format!("{seconds:.0} s") } else { format!("{:.0} minutes", seconds / 60.0) };
        format!("to see {}: {needed} rounds, about {time}", format::percent(share))
    });
    let lines = [head, sides, one, several].into_iter().chain(longer);
    format::on_screen(&lines.map(|line| format::wrap(line.trim_end(), screen.width, "  ")).collect::<String>(), screen)
}

//! What points say of each other: ratios that count only where they exceed the spread.

use gpulab_model::outcome::Status;
use gpulab_record::Point;
use std::collections::HashMap;

/// A smaller relative difference than this is none.
const LEAST: f64 = 0.05;

/// Fewer timed runs than these have no spread.
const FEWEST_RUNS: u64 = 3;

/// Fewer points than these show no rule that holds for a range of x.
pub(super) const FEWEST_POINTS: usize = 3;

/// What a value whose spread is not known may be off by.
const UNKNOWN_SPREAD: f64 = 0.5;

/// In findings, and there only, what the noise hides.
const UNDECIDED: &str = "undecided";

/// What to do where the noise hides an answer.
const REMEDY: &str =
    "To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.";

/// A finding, and what to do if a part of it is undecided.
pub(super) fn with_remedy(finding: String) -> String {
    if finding.to_lowercase().contains(UNDECIDED) { format!("{finding} {REMEDY}") } else { finding }
}

fn spread(point: &Point) -> f64 {
    match (point.noise, point.runs) {
        (Some(noise), Some(runs)) if runs < FEWEST_RUNS => noise.max(UNKNOWN_SPREAD),
        (noise, _) => noise.unwrap_or(UNKNOWN_SPREAD),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Larger by more than [`LEAST`] and by more than both spreads together.
    Higher,
    /// Smaller by as much.
    Lower,
    /// Neither, and the spreads would not hide more than [`LEAST`].
    Same,
    /// Neither, but the spreads are large.
    Unclear,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    /// The varied parameter's value of the first point.
    pub(super) x: f64,
    /// First value over second.
    pub(super) ratio: f64,
    pub(super) verdict: Comparison,
    /// Both relative spreads together.
    spread: f64,
}

impl Contrast {
    /// Nothing if either has no value.
    pub(super) fn new(a: &Point, b: &Point) -> Option<Contrast> {
        let ratio = a.measured()? / b.measured()?;
        let spread = spread(a) + spread(b);
        let difference = ratio.max(1.0 / ratio) - 1.0;
        let verdict = match difference > LEAST.max(spread) {
            true if ratio > 1.0 => Comparison::Higher,
            true => Comparison::Lower,
            false if spread > LEAST => Comparison::Unclear,
            false => Comparison::Same,
        };
        ratio.is_finite().then_some(Contrast { x: a.x, ratio, verdict, spread })
    }

    /// The second value over the first: of times, how their speeds compare.
    pub(super) fn inverse(&self) -> Contrast {
        let verdict = match self.verdict {
            Comparison::Higher => Comparison::Lower,
            Comparison::Lower => Comparison::Higher,
            same => same,
        };
        Contrast { ratio: 1.0 / self.ratio, verdict, ..*self }
    }

    /// The same, with what a control that ought not to vary differs by, as a ratio, for its spread if that is more.
    pub(super) fn beside_control(&self, varies: f64) -> Contrast {
        Contrast { spread: self.spread.max(varies - 1.0), ..*self }
    }

    /// Whether the ratio is above `factor` times another one; nothing if the spreads hide it.
    pub(super) fn exceeds_other(&self, other: &Contrast, factor: f64) -> Option<bool> {
        Contrast { ratio: self.ratio / other.ratio, spread: self.spread + other.spread, ..*self }.exceeds(factor)
    }

    /// Whether the ratio is above `factor`; nothing if the spread hides it.
    pub(super) fn exceeds(&self, factor: f64) -> Option<bool> {
        let least = self.ratio / (1.0 + self.spread);
        let most = self.ratio * (1.0 + self.spread);
        if (least <= factor) == (most <= factor) { Some(least > factor) } else { None }
    }

    /// The largest difference that the spread leaves possible.
    fn bound(&self) -> f64 {
        (self.ratio.max(1.0 / self.ratio) * (1.0 + self.spread) - 1.0).max(FINEST)
    }

    /// The most by which the first value may exceed the second.
    fn excess(&self) -> f64 {
        (self.most() - 1.0).max(FINEST)
    }

    /// The largest ratio that the spread leaves possible.
    pub(super) fn most(&self) -> f64 {
        self.ratio * (1.0 + self.spread)
    }

    /// Whether the spread lets one tell if the ratio is above `factor`.
    pub(super) fn is_clear(&self, factor: f64) -> bool {
        self.exceeds(factor).is_some()
    }
}

/// No finer resolution is claimed: what repeats within a run may differ in the next one.
const FINEST: f64 = 0.01;

/// Where a speed falls as x doubles: between the stride at which this begins and that at which it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Knee {
    /// Not two doublings of x: a lone one shows no rule.
    Unmeasured,
    /// The spreads hide where it begins or ends, or the last doubling alone costs.
    Unclear,
    /// No doubling costs much.
    Never,
    /// Each doubling from one x to the other costs, and the next one costs little.
    Between { from: f64, to: f64 },
    /// Each doubling from one x to the last one costs.
    Beyond { from: f64, last: f64 },
}

/// A doubling of x costs if the speed falls by more than this: half-way between nothing and all.
pub(super) const FALL: f64 = std::f64::consts::SQRT_2;

/// The speeds of a series beside those at twice the x, ascending in x.
pub(super) fn doublings(points: &[Point], name: &str) -> Vec<Contrast> {
    let by_x = by_x(points, name);
    series(points, name)
        .iter()
        .filter_map(|p: &&Point| by_x.get(&key(2.0 * p.x)).and_then(|next| Contrast::new(p, next)))
        .collect()
}

/// The first run of doublings of x, one after the other, that each make a series of speeds fall. The spread must not hide
/// those at which it begins and ends, nor any of them if there is none.
pub(super) fn knee(points: &[Point], name: &str) -> Knee {
    let steps = doublings(points, name);
    let Some(begin) = steps.iter().position(|step| step.ratio > FALL) else {
        return match steps.len() {
            0 | 1 => Knee::Unmeasured,
            _ if steps.iter().all(|step| step.is_clear(FALL)) => Knee::Never,
            _ => Knee::Unclear,
        };
    };
    if steps.len() < 2 {
        return Knee::Unmeasured;
    }
    let run = steps[begin..].iter().take_while(|step| step.ratio > FALL).count();
    let first = &steps[begin];
    let last = &steps[begin + run - 1];
    let next = steps.get(begin + run);
    match next {
        _ if ![Some(first), Some(last), next].into_iter().flatten().all(|step| step.is_clear(FALL)) => Knee::Unclear,
        None if run == 1 && begin > 0 => Knee::Unclear,
        None => Knee::Beyond { from: first.x, last: 2.0 * last.x },
        Some(_) => Knee::Between { from: first.x, to: 2.0 * last.x },
    }
}

/// Whether the spread hides of no more than half of the contrasts whether they exceed a factor.
pub(super) fn mostly_clear(contrasts: &[Contrast], factor: f64) -> bool {
    2 * contrasts.iter().filter(|c| c.is_clear(factor)).count() >= contrasts.len()
}

/// The points of a series by their x, of each the first: where many are looked for.
fn by_x<'a>(points: &'a [Point], series: &str) -> HashMap<u64, &'a Point> {
    // Of several with one key the last stays.
    points.iter().rev().filter(|p| p.series == series).map(|p| (key(p.x), p)).collect()
}

/// A number as a key: the same for both zeros.
fn key(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

fn at<'a>(points: &'a [Point], series: &str, x: f64) -> Option<&'a Point> {
    points.iter().find(|p| p.series == series && p.x == x)
}

pub(super) fn value(points: &[Point], series: &str, x: f64) -> Option<f64> {
    at(points, series, x)?.measured()
}

/// A series' values with their x, ascending in x.
pub(super) fn values(points: &[Point], series: &str) -> Vec<(f64, f64)> {
    let own = points.iter().filter(|p| p.series == series);
    let mut all: Vec<(f64, f64)> = own.filter_map(|p| Some((p.x, p.measured()?))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    all
}

/// The first place's value over the second's; each is a series and an x. Nothing if either has no value.
pub(super) fn compare(points: &[Point], a: (&str, f64), b: (&str, f64)) -> Option<Contrast> {
    Contrast::new(at(points, a.0, a.1)?, at(points, b.0, b.1)?)
}

/// One series over another, wherever both have a value and `x` is meant; ascending in x.
pub(super) fn compare_series(points: &[Point], a: &str, b: &str, is_meant: fn(f64) -> bool) -> Vec<Contrast> {
    let first = by_x(points, a);
    let second = by_x(points, b);
    let xs = points.iter().filter(|p| p.series == a && is_meant(p.x)).map(|p| key(p.x));
    let mut all: Vec<Contrast> = xs.filter_map(|x| Contrast::new(first.get(&x)?, second.get(&x)?)).collect();
    all.sort_by(|a, b| a.x.total_cmp(&b.x));
    all
}

/// Each point of a series over the last one of the other, which does not depend on x; ascending in x.
pub(super) fn compare_with_last(points: &[Point], a: &str, b: &str) -> Vec<Contrast> {
    let Some(last) = series(points, b).pop() else { return Vec::new() };
    series(points, a).into_iter().filter_map(|p| Contrast::new(p, last)).collect()
}

/// The points of a series that have a value, ascending in x.
pub(super) fn series<'a>(points: &'a [Point], name: &str) -> Vec<&'a Point> {
    let mut all: Vec<&Point> = points.iter().filter(|p| p.series == name && p.measured().is_some()).collect();
    all.sort_by(|a, b| a.x.total_cmp(&b.x));
    all
}

/// The points with the least value and with the most; nothing if none has a value.
pub(super) fn extremes<'a>(points: impl Iterator<Item = &'a Point>) -> Option<(&'a Point, &'a Point)> {
    let mut all: Vec<(f64, &Point)> = points.filter_map(|p| Some((p.measured()?, p))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some((all.first()?.1, all.last()?.1))
}

/// What to say where nothing follows from the points: that none has a value, and why, or else `otherwise`.
pub(super) fn nothing(points: &[Point], otherwise: &str) -> String {
    let all = |status: Status| points.iter().all(|p| p.status == status);
    let why = match points {
        [] => return "Nothing was measured.".to_owned(),
        _ if points.iter().any(|p| p.measured().is_some()) => return otherwise.to_owned(),
        _ if all(Status::WrongResult) => "every result was wrong",
        _ if all(Status::Skipped) => "all were skipped",
        _ => "no case gave a right result",
    };
    format!("No point has a value: {why}.")
}

pub(super) fn any(contrasts: &[Contrast], verdict: Comparison) -> bool {
    contrasts.iter().any(|c| c.verdict == verdict)
}

/// The phrases that there are, with this between them; nothing without any.
pub(super) fn joined(phrases: impl IntoIterator<Item = Option<String>>, between: &str) -> Option<String> {
    let phrases: Vec<String> = phrases.into_iter().flatten().collect();
    (!phrases.is_empty()).then(|| phrases.join(between))
}

/// A factor, in three digits: `1.78 times`.
pub(super) fn times(factor: f64) -> String {
    let decimals = [10.0, 100.0, 1000.0].iter().position(|&end| factor < end).map_or(0, |digits| 2 - digits);
    format!("{factor:.decimals$} times")
}

/// A part of a whole: `12 %`, and `0.40 %` where whole ones would say none.
pub(super) fn percent(part: f64) -> String {
    if part > 0.0 && part < 0.005 { format!("{:.2} %", 100.0 * part) } else { format!("{:.0} %", 100.0 * part) }
}

/// A speed below another: `20 % slower`, or `25.0 times slower` where a percentage would say little.
pub(super) fn slower(ratio: f64) -> String {
    if ratio > 2.0 / 3.0 {
        format!("{} slower", percent(1.0 - ratio.min(1.0)))
    } else {
        format!("{} slower", times(1.0 / ratio))
    }
}

/// What to say where the noise hides the answer of contrasts.
pub(super) fn undecided(contrasts: &[Contrast]) -> String {
    format!("{UNDECIDED}: {}", hidden(contrasts))
}

/// What to say where the noise hides whether contrasts exceed a factor.
pub(super) fn undecided_factor<'a>(contrasts: impl IntoIterator<Item = &'a Contrast>) -> String {
    format!("{UNDECIDED}: {}", unseen(contrasts.into_iter()))
}

/// What to say where the noise hides a difference of up to this part.
pub(super) fn undecided_under(part: f64) -> String {
    format!("{UNDECIDED}: differences under {} cannot be seen in this run", at_most(std::iter::once(part)))
}

/// What to say where too few points have values to show a rule: `undecided: 1 length of runs was measured, and at least 3
/// are needed`.
pub(super) fn undecided_few(count: usize, one: &str, more: &str) -> String {
    let (what, was) = if count == 1 { (one, "was") } else { (more, "were") };
    format!("{UNDECIDED}: {count} {what} {was} measured, and at least {FEWEST_POINTS} are needed")
}

/// By what factor the values of a series that ought to be alike differ; 1 of fewer than two.
pub(super) fn variation(points: &[Point], name: &str) -> f64 {
    let all = values(points, name);
    let (least, most) =
        all.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), (_, value)| (least.min(*value), most.max(*value)));
    if all.len() < 2 { 1.0 } else { most / least }
}

/// Within how much contrasts that show no difference agree: `to within 4 %`.
pub(super) fn within<'a>(contrasts: impl IntoIterator<Item = &'a Contrast>) -> String {
    format!("to within {}", at_most(contrasts.into_iter().map(Contrast::bound)))
}

/// What the first values of contrasts may exceed the second ones by: `4 %`.
pub(super) fn excess<'a>(contrasts: impl IntoIterator<Item = &'a Contrast>) -> String {
    at_most(contrasts.into_iter().map(Contrast::excess))
}

/// The largest part, in whole per cents that are not less.
pub(super) fn at_most(parts: impl Iterator<Item = f64>) -> String {
    // What is a whole number but for its last bits stays it.
    percent((100.0 * parts.fold(FINEST, f64::max) - 1e-9).ceil() / 100.0)
}

fn hidden(contrasts: &[Contrast]) -> String {
    unseen(contrasts.iter().filter(|c| c.verdict == Comparison::Unclear))
}

fn unseen<'a>(contrasts: impl Iterator<Item = &'a Contrast>) -> String {
    let most = contrasts.map(|c| c.spread).fold(0.0, f64::max);
    format!("differences under {} cannot be seen in this run", at_most(std::iter::once(most)))
}

/// How a speed compares with another that was just named, after `is`: `1.78 times as fast`.
pub(super) fn pace(contrast: &Contrast) -> String {
    match contrast.verdict {
        Comparison::Higher => format!("{} as fast", times(contrast.ratio)),
        Comparison::Lower => slower(contrast.ratio),
        Comparison::Same => format!("as fast ({})", within([contrast])),
        Comparison::Unclear => format!("{UNDECIDED} ({})", hidden(&[*contrast])),
    }
}

/// How a speed compares with that of `other`, after `is`: `1.78 times as fast as float`.
pub(super) fn pace_beside(contrast: &Contrast, other: &str) -> String {
    match contrast.verdict {
        Comparison::Higher => format!("{} as {other}", pace(contrast)),
        Comparison::Same => format!("as fast as {other} ({})", within([contrast])),
        Comparison::Lower => format!("{} than {other}", pace(contrast)),
        Comparison::Unclear => format!("not clearly faster or slower than {other} ({})", undecided(&[*contrast])),
    }
}

/// What a change of speeds comes to, as the end of a sentence whose subject is the change: `makes it up to 1.40 times
/// as fast (n = 2048, 4096)`.
pub(super) fn effect(contrasts: &[Contrast], x_name: &str) -> String {
    let extreme = |verdict, pick: fn(f64, f64) -> f64| {
        let selected: Vec<&Contrast> = contrasts.iter().filter(|c| c.verdict == verdict).collect();
        let ratio = selected.iter().map(|c| c.ratio).reduce(pick)?;
        Some((ratio, places(&selected, x_name)))
    };
    match (extreme(Comparison::Higher, f64::max), extreme(Comparison::Lower, f64::min)) {
        (Some((gain, at)), None) => format!("makes it up to {} as fast ({at})", times(gain)),
        (None, Some((loss, at))) => format!("makes it up to {} ({at})", slower(loss)),
        (Some((gain, at)), Some((loss, there))) => {
            format!("makes it up to {} as fast ({at}), but up to {} ({there})", times(gain), slower(loss))
        }
        (None, None) if contrasts.is_empty() => "was not measured".to_owned(),
        (None, None) if any(contrasts, Comparison::Unclear) => {
            let unclear: Vec<&Contrast> = contrasts.iter().filter(|c| c.verdict == Comparison::Unclear).collect();
            format!("has an effect that is undecided at {} ({})", places(&unclear, x_name), hidden(contrasts))
        }
        (None, None) => {
            let at = if let [only] = contrasts { format!(" ({})", places(&[only], x_name)) } else { String::new() };
            format!("changes the speed by less than {}{at}", at_most(contrasts.iter().map(Contrast::bound)))
        }
    }
}

/// Where contrasts say something for certain: `n = 1024, 2048`.
pub(super) fn certain(contrasts: &[&[Contrast]], x_name: &str) -> String {
    let clear = contrasts.iter().flat_map(|c| c.iter()).filter(|c| c.verdict != Comparison::Unclear);
    let mut clear: Vec<&Contrast> = clear.collect();
    clear.sort_by(|a, b| a.x.total_cmp(&b.x));
    clear.dedup_by_key(|c| c.x);
    places(&clear, x_name)
}

/// `n = 1024, 2048`.
pub(super) fn places(contrasts: &[&Contrast], x_name: &str) -> String {
    let xs: Vec<String> = contrasts.iter().map(|c| c.x.to_string()).collect();
    format!("{x_name} = {}", xs.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_record::point;

    fn knee_of(noise: f64, speeds: &[f64]) -> Knee {
        let points: Vec<Point> = (0..).zip(speeds).map(|(log, &speed)| point("s", 1 << log, speed, noise)).collect();
        knee(&points, "s")
    }

    #[test]
    fn knees_are_found_between_doublings_that_cost() {
        assert_eq!(knee_of(0.01, &[64.0, 32.0, 16.0, 15.0]), Knee::Between { from: 1.0, to: 4.0 });
        assert_eq!(knee_of(0.01, &[64.0, 60.0, 30.0, 29.0]), Knee::Between { from: 2.0, to: 4.0 });
        assert_eq!(knee_of(0.01, &[64.0, 32.0, 16.0]), Knee::Beyond { from: 1.0, last: 4.0 });
        assert_eq!(knee_of(0.01, &[64.0, 60.0, 58.0]), Knee::Never);
        assert_eq!(knee_of(0.01, &[64.0, 60.0, 30.0]), Knee::Unclear);
        for few in [&[64.0][..], &[64.0, 60.0], &[64.0, 32.0]] {
            assert_eq!(knee_of(0.01, few), Knee::Unmeasured, "{few:?}");
        }
        assert_eq!(knee_of(0.5, &[64.0, 32.0, 16.0, 15.0]), Knee::Unclear);
        assert_eq!(knee_of(0.3, &[64.0, 60.0, 58.0]), Knee::Unclear);
    }

    #[test]
    fn speeds_are_told_beside_each_other() {
        let paces = |a: f64, noise: f64| {
            let contrast = Contrast::new(&point("s", 1, a, noise), &point("s", 1, 100.0, 0.0)).unwrap();
            [pace_beside(&contrast, "float"), pace_beside(&contrast.inverse(), "float")].join(" | ")
        };
        insta::assert_snapshot!(paces(178.0, 0.01), @"1.78 times as fast as float | 1.78 times slower than float");
        insta::assert_snapshot!(paces(94.0, 0.01), @"6 % slower than float | 1.06 times as fast as float");
        insta::assert_snapshot!(paces(4.0, 0.01), @"25.0 times slower than float | 25.0 times as fast as float");
        insta::assert_snapshot!(paces(0.5, 0.01), @"200 times slower than float | 200 times as fast as float");
        insta::assert_snapshot!(paces(102.0, 0.01), @"as fast as float (to within 4 %) | as fast as float (to within 4 %)");
        insta::assert_snapshot!(paces(110.0, 0.12), @"not clearly faster or slower than float (undecided: differences under 12 % cannot be seen in this run) | not clearly faster or slower than float (undecided: differences under 12 % cannot be seen in this run)");
    }

    #[test]
    fn why_nothing_follows() {
        let of = |statuses: &[Status]| {
            nothing(
                &statuses
                    .iter()
                    .map(|&status: &Status| Point { status, ..point("s", 1, 1.0, 0.0) })
                    .collect::<Vec<_>>(),
                "None can be compared.",
            )
        };
        let wrong = Status::WrongResult;
        let skipped = Status::Skipped;
        assert_eq!(of(&[]), "Nothing was measured.");
        assert_eq!(of(&[Status::Ok, wrong]), "None can be compared.");
        assert_eq!(of(&[wrong, wrong]), "No point has a value: every result was wrong.");
        assert_eq!(of(&[skipped]), "No point has a value: all were skipped.");
        assert_eq!(of(&[skipped, wrong]), "No point has a value: no case gave a right result.");
    }

    #[test]
    fn a_factor_is_exceeded_only_beyond_the_spread() {
        let contrast =
            |a: f64, noise: f64| Contrast::new(&point("s", 1, a, noise), &point("s", 1, 100.0, 0.0)).unwrap();
        assert_eq!(contrast(150.0, 0.01).exceeds(1.4), Some(true));
        assert_eq!(contrast(150.0, 0.1).exceeds(1.4), None);
        assert_eq!(contrast(130.0, 0.01).exceeds(1.4), Some(false));
        assert!(mostly_clear(&[contrast(150.0, 0.1), contrast(150.0, 0.01)], 1.4));
        assert!(!mostly_clear(&[contrast(150.0, 0.1)], 1.4));
    }
}

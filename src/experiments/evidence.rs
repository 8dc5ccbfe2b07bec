//! What points say of each other: ratios that count only where they exceed the spread.

use crate::record::Point;

/// A smaller relative difference than this is none.
pub(super) const LEAST: f64 = 0.05;

/// How one point compares with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Larger by more than [`LEAST`] and by more than both spreads together.
    Higher,
    /// Smaller by as much.
    Lower,
    /// Neither, and the spreads would not hide more than [`LEAST`].
    Same,
    /// Neither, but the spreads are large.
    Unclear,
}

/// One point's value over another's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    /// The varied parameter's value of the first point.
    pub(super) x: f64,
    /// First value over second.
    pub(super) ratio: f64,
    pub(super) verdict: Verdict,
}

impl Contrast {
    fn new(a: &Point, b: &Point) -> Option<Contrast> {
        let ratio = a.measured()? / b.measured()?;
        let spread = a.noise.unwrap_or(0.0) + b.noise.unwrap_or(0.0);
        let difference = ratio.max(1.0 / ratio) - 1.0;
        let verdict = match ratio > 1.0 {
            is_higher if difference > LEAST.max(spread) => {
                if is_higher {
                    Verdict::Higher
                } else {
                    Verdict::Lower
                }
            }
            _ if spread > LEAST => Verdict::Unclear,
            _ => Verdict::Same,
        };
        ratio.is_finite().then_some(Contrast { x: a.x, ratio, verdict })
    }
}

/// The point of a series at `x`.
fn at<'a>(points: &'a [Point], series: &str, x: f64) -> Option<&'a Point> {
    points.iter().find(|p| p.series == series && p.x == x)
}

/// The value of a series at `x`.
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
    let xs = points.iter().filter(|p| p.series == a && is_meant(p.x)).map(|p| p.x);
    let mut all: Vec<Contrast> = xs.filter_map(|x| compare(points, (a, x), (b, x))).collect();
    all.sort_by(|a, b| a.x.total_cmp(&b.x));
    all
}

/// Whether some contrast has this verdict.
pub(super) fn any(contrasts: &[Contrast], verdict: Verdict) -> bool {
    contrasts.iter().any(|c| c.verdict == verdict)
}

/// What a change of speeds comes to, as the end of a sentence whose subject is the change: `makes it up to 1.4 times
/// as fast (n = 2048, 4096)`.
pub(super) fn effect(contrasts: &[Contrast], x_name: &str) -> String {
    let extreme = |verdict, pick: fn(f64, f64) -> f64| {
        let meant: Vec<&Contrast> = contrasts.iter().filter(|c| c.verdict == verdict).collect();
        let ratio = meant.iter().map(|c| c.ratio).reduce(pick)?;
        Some((format!("{ratio:.2}"), places(&meant, x_name)))
    };
    match (extreme(Verdict::Higher, f64::max), extreme(Verdict::Lower, f64::min)) {
        (Some((gain, at)), None) => format!("makes it up to {gain} times as fast ({at})"),
        (None, Some((loss, at))) => format!("makes it down to {loss} times as fast ({at})"),
        (Some((gain, at)), Some((loss, there))) => {
            format!("makes it up to {gain} times as fast ({at}) and down to {loss} times ({there})")
        }
        (None, None) if contrasts.is_empty() => "was not measured".to_owned(),
        (None, None) if any(contrasts, Verdict::Unclear) => "makes no difference beyond the spread".to_owned(),
        (None, None) => format!("makes less than {:.0}% of difference", 100.0 * LEAST),
    }
}

/// Where contrasts say something for certain: `n = 1024, 2048`.
pub(super) fn certain(contrasts: &[&[Contrast]], x_name: &str) -> String {
    let clear = contrasts.iter().flat_map(|c| c.iter()).filter(|c| c.verdict != Verdict::Unclear);
    let mut clear: Vec<&Contrast> = clear.collect();
    clear.sort_by(|a, b| a.x.total_cmp(&b.x));
    clear.dedup_by_key(|c| c.x);
    places(&clear, x_name)
}

/// `n = 1024, 2048`.
fn places(contrasts: &[&Contrast], x_name: &str) -> String {
    let xs: Vec<String> = contrasts.iter().map(|c| c.x.to_string()).collect();
    format!("{x_name} = {}", xs.join(", "))
}

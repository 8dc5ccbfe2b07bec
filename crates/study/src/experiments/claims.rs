//! Claims about an experiment's points, judged and worded by one engine: a difference counts only where it exceeds the spread.
//!
//! Whatever is compared is a speed: of two times the shorter one is the faster.

use super::Experiment;
use gpulab_model::Joined;
use gpulab_model::outcome::Status;
use gpulab_record::{Point, flag};

/// Which points stand beside which.
#[derive(Clone, Copy)]
pub enum Pairs {
    /// One place beside another: a series and an x each.
    Places((&'static str, f64), (&'static str, f64)),
    /// One series beside another, wherever both have an x.
    Over(&'static str, &'static str),
    /// Each point of a series beside one place.
    To(&'static str, (&'static str, f64)),
    /// Each point of a series beside the best of all points in its unit.
    ToBest(&'static str),
    /// Each point of a series beside the one whose x is less by one.
    ToPrevious(&'static str),
}

/// What pairs are about, as the beginning of a phrase that can stand alone: `writes are`.
pub type Part = (&'static str, Pairs);

/// What an experiment asks of its points.
pub enum Claim {
    /// Which is faster, and by how much; `so` is what follows where all are clearly faster, slower, or as fast.
    Speed {
        head: &'static str,
        of: &'static [Part],
        so: [&'static str; 3],
    },
    /// From which x on, or up to which, a part of the other speed is reached, as `head` says; `so` is what follows if it is
    /// reached from an x on, which stands for `{}`, everywhere, or nowhere.
    Reach {
        head: &'static str,
        part: f64,
        of: &'static [Part],
        so: [&'static str; 3],
    },
    /// Between which doublings of x a speed falls, as where a segment of memory or all banks are used up. `unit` times the
    /// end stands for `{}`. No such thing makes `free`, an x beyond the end, as slow as the end.
    Knee {
        what: &'static str,
        series: &'static str,
        shows: &'static str,
        unit: f64,
        free: Option<f64>,
    },
    /// Values as they are.
    Tell {
        head: &'static str,
        of: &'static [(&'static str, &'static str)],
    },
    /// Where a speed is not between these parts of another, there is no conclusion.
    Control {
        what: &'static str,
        of: Pairs,
        least: f64,
        most: f64,
    },
    Own(fn(&[Point]) -> Option<String>),
}

pub const NO_MORE: [&str; 3] = [""; 3];

/// A smaller relative difference than this is none.
const LEAST: f64 = 0.05;

/// Fewer points than these show no rule that holds for a range of x.
const FEWEST: usize = 3;

/// What a value whose spread is not known, or that has fewer than three runs, may be off by.
const UNKNOWN_SPREAD: f64 = 0.5;

/// No finer resolution is claimed: what repeats within a run may differ in the next one.
const FINEST: f64 = 0.01;

const UNDECIDED: &str = "undecided";

/// What to do where the noise hides an answer.
const REMEDY: &str = "A quieter machine, or a longer --sample-time without --quick, may decide it.";

/// The claims' sentences, up to a control that fails, and what to do if a part is undecided.
pub fn finding(experiment: &Experiment, points: &[Point]) -> String {
    let mut sentences = Vec::new();
    for claim in experiment.claims {
        let judged = claim.judge(experiment, points);
        let is_end = matches!((claim, &judged), (Claim::Control { .. }, Some(text)) if !text.starts_with(PASSED));
        sentences.extend(judged);
        if is_end {
            break;
        }
    }
    let finding = if sentences.is_empty() {
        nothing(points)
    } else {
        sentences.join(" ")
    };
    if finding.contains(UNDECIDED) {
        format!("{finding} {REMEDY}")
    } else {
        finding
    }
}

/// What to say where nothing follows from the points.
fn nothing(points: &[Point]) -> String {
    let why = match points {
        [] => return "Nothing was measured.".to_owned(),
        _ if points.iter().any(|p| p.measured().is_some()) => {
            return "No two points can be compared.".to_owned();
        }
        _ if points.iter().all(|p| p.status == Status::WrongResult) => "every result was wrong",
        _ if points.iter().all(|p| p.status == Status::Skipped) => "all were skipped",
        _ => "no case gave a right result",
    };
    format!("No point has a value: {why}.")
}

impl Claim {
    /// Which is faster, without what follows.
    pub const fn speeds(head: &'static str, of: &'static [Part]) -> Claim {
        let so = NO_MORE;
        Claim::Speed { head, of, so }
    }

    /// Values as they are.
    pub const fn values(head: &'static str, of: &'static [(&'static str, &'static str)]) -> Claim {
        Claim::Tell { head, of }
    }

    /// A sentence, if its points were measured.
    fn judge(&self, experiment: &Experiment, points: &[Point]) -> Option<String> {
        let (head, said) = match self {
            Claim::Speed { head, of, so } => (
                (*head).to_owned(),
                said(of, points, |pairs, all| speed(experiment, pairs, all, so))?,
            ),
            Claim::Reach { head, part, of, so } => (
                format!("{head}:"),
                said(of, points, |_, all| reach(experiment, all, *part, so))?,
            ),
            Claim::Tell { head, of } => {
                let told = of
                    .iter()
                    .filter_map(|(what, name)| Some(format!("{} {what}", told(points, name)?)));
                let told: Vec<String> = told.map(|phrase| phrase.trim_end().to_owned()).collect();
                (
                    (*head).to_owned(),
                    (!told.is_empty()).then(|| told.join("; "))?,
                )
            }
            Claim::Knee { .. } => return self.knee(experiment, points),
            Claim::Control { .. } => return self.control(points),
            Claim::Own(judge) => return judge(points),
        };
        Some(format!("{head} {said}."))
    }

    fn knee(&self, experiment: &Experiment, points: &[Point]) -> Option<String> {
        let Claim::Knee {
            what,
            series: name,
            shows,
            unit,
            free,
        } = self
        else {
            return None;
        };
        let all: Vec<&Point> = series(points, name)
            .into_iter()
            .filter(|p| p.x > 0.0 && p.x.log2().fract() == 0.0)
            .collect();
        let steps: Vec<Contrast> = all
            .windows(2)
            .filter_map(|pair| Contrast::new(pair[0], pair[1]))
            .collect();
        let costly: Vec<&Contrast> = steps.iter().filter(|step| step.ratio > FALL).collect();
        let (first, last) = (all.first()?, all.last()?);
        let x_name = experiment.x_name;
        if steps.len() + 1 < FEWEST {
            return None;
        }
        let rule = match (costly.first(), costly.last()) {
            _ if !steps.iter().all(|step| step.exceeds(FALL).is_some()) => {
                format!("where doublings of the {x_name} cost is {}", unseen(&steps))
            }
            (None, _) | (_, None) => format!(
                "no doubling of the {x_name} from {} to {} costs much",
                first.x, last.x
            ),
            (Some(begin), Some(end)) => {
                let to = 2.0 * end.x;
                let in_a_row = (to / begin.x).log2() == costly.len() as f64;
                let is_free = free.is_none_or(|x| {
                    let pair = Pairs::Places((name, x), (name, to)).contrasts(points);
                    pair.first().is_some_and(|c| c.exceeds(2.0) == Some(true))
                });
                let has_gaps = (last.x / first.x).log2() != steps.len() as f64;
                let rises = steps.iter().any(|step| step.ratio < 0.5);
                let each = format!(
                    "each doubling of the {x_name} from {} to {to} costs",
                    begin.x
                );
                match to == last.x {
                    _ if !in_a_row || !is_free || has_gaps || rises => {
                        "doublings that cost follow no rule".to_owned()
                    }
                    true => format!("{each}, and no end of that shows"),
                    false => {
                        format!(
                            "{each}, further ones hardly do: {}",
                            shows.replace("{}", &(unit * to).to_string())
                        )
                    }
                }
            }
        };
        Some(format!("{what}: {rule}."))
    }

    fn control(&self, points: &[Point]) -> Option<String> {
        let Claim::Control {
            what,
            of,
            least,
            most,
        } = self
        else {
            return None;
        };
        let all = of.contrasts(points);
        let shares: Vec<String> = all.iter().map(|c| percent(c.ratio)).collect();
        let is_inside = all
            .iter()
            .map(|c| Some(c.exceeds(*least)? && !c.exceeds(*most)?));
        Some(match is_inside.collect::<Vec<_>>() {
            inside if inside.is_empty() && points.iter().all(|p| p.measured().is_none()) => {
                return None;
            }
            inside if inside.is_empty() => {
                format!("The answer is {UNDECIDED}: {what} was not measured.")
            }
            inside if inside.contains(&Some(false)) => format!(
                "No conclusion: {what} is at {}, and ought to be from {} to {}.",
                shares.join(", "),
                percent(*least),
                percent(*most)
            ),
            inside if inside.contains(&None) => {
                format!("No conclusion: {what} is {}.", unseen(&all))
            }
            _ => format!("{PASSED}: {what} is at {}.", shares.join(", ")),
        })
    }
}

const PASSED: &str = "The control passed";

/// A doubling of x costs if the speed falls by more than this: half-way between nothing and all.
const FALL: f64 = std::f64::consts::SQRT_2;

/// One value over another, as speeds.
#[derive(Clone, Copy, Debug)]
pub struct Contrast {
    /// The varied parameter's value of the first point.
    pub x: f64,
    pub ratio: f64,
    /// Both relative spreads together.
    spread: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Comparison {
    Faster,
    Slower,
    Same,
    /// The spreads hide a difference of more than [`LEAST`].
    Unclear,
}

impl Contrast {
    /// Nothing if either has no value.
    pub fn new(a: &Point, b: &Point) -> Option<Contrast> {
        let [own, other] = [a, b].map(|p| match (p.noise, p.runs) {
            (Some(noise), runs) if runs.is_none_or(|runs| runs >= 3) => noise,
            (noise, _) => noise.unwrap_or(0.0).max(UNKNOWN_SPREAD),
        });
        let ratio = a.measured()? / b.measured()?;
        let ratio = if ["us", "ns"].contains(&a.unit.as_str()) {
            1.0 / ratio
        } else {
            ratio
        };
        ratio.is_finite().then_some(Contrast {
            x: a.x,
            ratio,
            spread: own + other,
        })
    }

    fn verdict(&self) -> Comparison {
        match self.ratio.max(1.0 / self.ratio) - 1.0 > LEAST.max(self.spread) {
            true if self.ratio > 1.0 => Comparison::Faster,
            true => Comparison::Slower,
            false if self.spread > LEAST => Comparison::Unclear,
            false => Comparison::Same,
        }
    }

    /// Whether the ratio is above `factor`; nothing if the spread hides it.
    pub fn exceeds(&self, factor: f64) -> Option<bool> {
        let least = self.ratio / (1.0 + self.spread) > factor;
        (least == (self.ratio * (1.0 + self.spread) > factor)).then_some(least)
    }
}

impl Pairs {
    /// Ascending in x, of those that have values.
    pub fn contrasts(&self, points: &[Point]) -> Vec<Contrast> {
        match *self {
            Pairs::Places(a, b) => at(points, a)
                .zip(at(points, b))
                .and_then(|(a, b)| Contrast::new(a, b))
                .into_iter()
                .collect(),
            Pairs::Over(name, other) => beside(points, name, |p| at(points, (other, p.x))),
            Pairs::To(name, place) => beside(points, name, |p| {
                at(points, place).filter(|base| !std::ptr::eq(p, *base))
            }),
            Pairs::ToPrevious(name) => beside(points, name, |p| at(points, (name, p.x - 1.0))),
            Pairs::ToBest(name) => {
                let unit = series(points, name).first().map(|p| p.unit.as_str());
                let alike = points
                    .iter()
                    .filter(|p| Some(p.unit.as_str()) == unit && p.measured().is_some());
                let best = alike.max_by(|a, b| {
                    a.measured()
                        .unwrap_or(0.0)
                        .total_cmp(&b.measured().unwrap_or(0.0))
                });
                beside(points, name, |_| best)
            }
        }
    }
}

fn at<'a>(points: &'a [Point], (name, x): (&str, f64)) -> Option<&'a Point> {
    series(points, name).into_iter().find(|p| p.x == x)
}

fn beside<'a>(
    points: &'a [Point],
    name: &str,
    other: impl Fn(&Point) -> Option<&'a Point>,
) -> Vec<Contrast> {
    series(points, name)
        .into_iter()
        .filter_map(|p| Contrast::new(p, other(p)?))
        .collect()
}

/// Whether a point is of this series; one that begins with `*` is any that ends so.
fn is_of(point: &Point, name: &str) -> bool {
    name.strip_prefix('*')
        .map_or(point.series == name, |end| point.series.ends_with(end))
}

/// The points of a series that have a value, ascending in x.
pub fn series<'a>(points: &'a [Point], name: &str) -> Vec<&'a Point> {
    let mut all: Vec<&Point> = points
        .iter()
        .filter(|p| is_of(p, name) && p.measured().is_some())
        .collect();
    all.sort_by(|a, b| a.x.total_cmp(&b.x));
    all
}

/// What there is to say of each part: of those alike together, and last of those that are undecided.
fn said(
    of: &[Part],
    points: &[Point],
    word: impl Fn(&Pairs, &[Contrast]) -> Option<String>,
) -> Option<String> {
    let mut phrases: Vec<(Vec<&str>, String)> = Vec::new();
    let (mut hidden, mut contrasts) = (Vec::new(), Vec::new());
    for (what, pairs) in of {
        let all = pairs.contrasts(points);
        if all.is_empty() {
            continue;
        }
        let Some(text) = word(pairs, &all) else {
            hidden.push(subject(what));
            contrasts.extend(all);
            continue;
        };
        match phrases
            .iter_mut()
            .find(|(parts, own)| *own == text && !parts[0].is_empty())
        {
            Some((parts, _)) => parts.push(what),
            None => phrases.push((vec![what], text)),
        }
    }
    let is_all = phrases.len() == 1 && hidden.is_empty();
    let decided = phrases.iter().map(|(parts, text)| match &parts[..] {
        [what] => format!("{what} {text}").trim_start().to_owned(),
        [_, _, _, ..] if is_all && parts.iter().all(|what| subject(what) == *what) => text.clone(),
        [_, _, _, ..] if is_all => format!("all are {text}"),
        [.., last] => {
            let names = parts.iter().map(|what| subject(what)).joined(" and ");
            format!(
                "{names}{} {text}",
                if subject(last) == *last { "" } else { " are" }
            )
        }
        [] => text.clone(),
    });
    let mut all: Vec<String> = decided.collect();
    if !hidden.is_empty() {
        all.push(
            format!("{}: {}", unseen(&contrasts), hidden.join(", "))
                .trim_end_matches(": ")
                .to_owned(),
        );
    }
    (!all.is_empty()).then(|| all.join("; "))
}

/// A part without its verb.
fn subject(what: &'static str) -> &'static str {
    what.trim_end_matches(" is").trim_end_matches(" are")
}

/// `up to 1.40 times as fast (n = 4096), but up to 12 % slower (n = 1024)`.
fn speed(
    experiment: &Experiment,
    pairs: &Pairs,
    all: &[Contrast],
    so: &[&str; 3],
) -> Option<String> {
    let [fast, slow, unclear] =
        [Comparison::Faster, Comparison::Slower, Comparison::Unclear].map(|verdict| {
            all.iter()
                .filter(|c| c.verdict() == verdict)
                .collect::<Vec<_>>()
        });
    // One of several may be chance, and shows no rule.
    let [gain, loss] = [&fast, &slow].map(|own| {
        let most = own
            .iter()
            .rev()
            .max_by(|a, b| a.ratio.ln().abs().total_cmp(&b.ratio.ln().abs()))?;
        let place = places(experiment, &[most]);
        Some(match (all.len(), own.len()) {
            (1, _) => pace(most.ratio),
            (_, 1) => format!("{} at {place} alone", pace(most.ratio)),
            _ => format!("up to {} ({place})", pace(most.ratio)),
        })
    });
    // What is asked of one place needs no second one.
    let so = |own: usize, least: usize, at: usize| {
        if own >= least || matches!(pairs, Pairs::Places(..)) {
            so[at]
        } else {
            ""
        }
    };
    Some(match (gain, loss) {
        (Some(gain), Some(loss)) => format!("{gain}, but {loss}"),
        (Some(gain), None) => format!("{gain}{}", so(fast.len(), 2, 0)),
        (None, Some(loss)) => format!("{loss}{}", so(slow.len(), 2, 1)),
        (None, None) if !unclear.is_empty() => return None,
        (None, None) => {
            let bound = all
                .iter()
                .map(|c| c.ratio.max(1.0 / c.ratio) * (1.0 + c.spread) - 1.0);
            format!(
                "as fast (to within {}){}",
                at_most(bound),
                so(all.len(), FEWEST, 2)
            )
        }
    })
}

/// `from n = 512 on`.
fn reach(experiment: &Experiment, all: &[Contrast], part: f64, so: &[&str; 3]) -> Option<String> {
    let [yes, no, hidden] = [Some(true), Some(false), None].map(|wanted| {
        all.iter()
            .filter(|c| c.exceeds(part) == wanted)
            .collect::<Vec<_>>()
    });
    let at = |own: &[&Contrast]| places(experiment, own);
    let label = |c: &Contrast| (experiment.x_label)(c.x);
    let x_name = experiment.x_name;
    Some(match (yes.as_slice(), no.as_slice()) {
        ([], []) => return None,
        (yes, no) if !hidden.is_empty() || all.len() < FEWEST => {
            let hidden = (!hidden.is_empty()).then(|| format!("{UNDECIDED} at {}", at(&hidden)));
            let yes = (!yes.is_empty()).then(|| format!("at {}", at(yes)));
            let no = (!no.is_empty()).then(|| format!("not at {}", at(no)));
            [yes, no, hidden].into_iter().flatten().joined(", ")
        }
        (_, []) => format!("everywhere{}", so[1]),
        ([], _) => format!("nowhere{}", so[2]),
        ([only], _) => format!("at {} alone", at(&[only])),
        (_, [only]) => format!("everywhere but at {}", at(&[only])),
        ([.., last], [first, ..]) if last.x < first.x => {
            format!("up to {}", at(&[last]))
        }
        ([first, ..], [.., last]) if last.x < first.x => {
            format!(
                "from {x_name} = {0} on{1}",
                label(first),
                so[0].replace("{}", &label(first))
            )
        }
        (yes, no) => format!("at {}, not at {}", at(yes), at(no)),
    })
}

/// The values of a series: `2.00 us`, or the least and the most. What another clock measured than was asked for is not told.
fn told(points: &[Point], name: &str) -> Option<String> {
    let own = series(points, name)
        .into_iter()
        .filter(|p| !p.flags.contains(flag::CLOCK_FALLBACK));
    let mut own: Vec<&Point> = own.collect();
    own.sort_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)));
    let unit = own.first()?.unit.as_str();
    let ends = [own.first()?, own.last()?].map(|p| match (p.measured().unwrap_or(0.0), unit) {
        (value, "1e-6") => figure(1e-6 * value),
        (value, "1") => value.to_string(),
        (value, unit) if value.fract() == 0.0 => format!("{value} {unit}"),
        (value, unit) => format!("{} {unit}", figure(value)),
    });
    Some(if ends[0] == ends[1] {
        ends[0].clone()
    } else {
        ends.join(" to ")
    })
}

/// `n = 1024, 2048`, or `9 values of n from 1024 to 8192`.
fn places(experiment: &Experiment, contrasts: &[&Contrast]) -> String {
    let name = experiment.x_name;
    let xs: Vec<String> = contrasts
        .iter()
        .map(|c| (experiment.x_label)(c.x))
        .collect();
    match &xs[..] {
        [first, _, _, .., last] => format!("{} values of {name} from {first} to {last}", xs.len()),
        _ => format!("{name} = {}", xs.join(", ")),
    }
}

/// Three digits; `0` and whole numbers of more as they are.
pub fn figure(value: f64) -> String {
    let digits = if value == 0.0 {
        0.0
    } else {
        2.0 - value.abs().log10().floor()
    };
    format!("{value:.*}", digits.clamp(0.0, 9.0) as usize)
}

fn times(factor: f64) -> String {
    format!("{} times", figure(factor))
}

/// `1.78 times as fast`, `20 % slower`, or `25.0 times slower` where a percentage would say little.
fn pace(ratio: f64) -> String {
    match ratio {
        ratio if ratio > 1.0 => format!("{} as fast", times(ratio)),
        ratio if ratio > 2.0 / 3.0 => format!("{} slower", percent(1.0 - ratio)),
        ratio => format!("{} slower", times(1.0 / ratio)),
    }
}

/// A part of a whole: `12 %`, and `0.40 %` where whole ones would say none.
pub fn percent(part: f64) -> String {
    if part > 0.0 && part < 0.005 {
        format!("{:.2} %", 100.0 * part)
    } else {
        format!("{:.0} %", 100.0 * part)
    }
}

/// The largest part, in whole per cents that are not less.
fn at_most(parts: impl Iterator<Item = f64>) -> String {
    // What is a whole number but for its last bits stays it.
    percent((100.0 * parts.fold(FINEST, f64::max) - 1e-9).ceil() / 100.0)
}

/// What to say where the noise hides the answer.
pub fn unseen<'a>(contrasts: impl IntoIterator<Item = &'a Contrast>) -> String {
    let most = at_most(contrasts.into_iter().map(|c| c.spread));
    format!("{UNDECIDED} (differences under {most} cannot be seen)")
}

//! Strides: every word of an array is read or written once, in strides of 1 to 64 words.
//!
//! The accesses are `(stride * i) % n`, continued from word 1 where they would begin again, so that the same
//! words are used whatever the stride. A device that fetches whole segments fetches more of them the further apart the
//! words lie, until each word has a segment of its own. The same bytes are also read and written in words of 16 and 8
//! bits: devices of compute capability 1.2 put 16 accesses together into segments of 128, 64 or 32 bytes, by the width of
//! their words.

use super::prelude::*;
use super::walk::{self, READ, READ_CACHED, READ_NARROW, WRITE, WRITE_NARROW};

/// Bytes of the words that are accessed.
const WORD: f64 = 4.0;

const LOGS: [u64; 7] = [0, 1, 2, 3, 4, 5, 6];

pub const STRIDE: Experiment = Experiment {
    name: "stride",
    question: "What do strides cost in reads and writes of global memory, and how many bytes long are its segments?",
    about: Explanation {
        idea: "Every word of an array is read or written once, in strides of powers of two: the words and their number \
               are the same, their order is not.",
        expect: "Bandwidth falls with the stride, as ever more segments are fetched for the same words, until each word \
               has a segment of its own: there the fall ends.",
        but: "Caches that keep a segment until its other words are asked for hide it. On a CPU prefetchers follow \
               short strides.",
        cuda: "Coalescing: a warp's load takes as many memory transactions as it touches segments (sectors).",
    },
    x_name: "stride",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let strides = |logs: &[u64], series: &walk::WalkSeries| -> Vec<Trial> {
        logs.iter().map(|&log| series.trial(scope, 1 << log, log, 0)).collect()
    };
    let narrow = if scope.quick { &LOGS[..1] } else { &LOGS[..] };
    let wide = walk::series(scope.target).flat_map(|series| strides(&LOGS, &series));
    wide.chain(walk::narrow_series().flat_map(|series| strides(narrow, &series))).collect()
}

fn finding(points: &[Point]) -> String {
    let all = [("Reads", READ), ("Reads from cache", READ_CACHED), ("Writes", WRITE)];
    let sentences = joined(all.map(|(what, series)| sentence(points, what, series)), " ");
    sentences.unwrap_or_else(|| nothing(points, "No two strides have values."))
}

/// What the largest stride costs, and the segments that show; nothing unless two strides have values.
fn sentence(points: &[Point], what: &str, name: &str) -> Option<String> {
    let all = series(points, name);
    let (first, rest) = all.split_first()?;
    let last = rest.last()?;
    let by_last = Contrast::new(last, first)?;
    let slowest = rest
        .iter()
        .filter(|p: &&&Point| Contrast::new(p, last).is_some_and(|c| c.verdict == Comparison::Lower))
        .filter_map(|p| Contrast::new(p, first));
    let slowest = slowest.min_by(|a, b| a.ratio.total_cmp(&b.ratio)).filter(|c| c.verdict == Comparison::Lower);
    let slowest = match slowest {
        Some(c) => format!(" (the slowest is stride {}, {})", c.x, slower(c.ratio)),
        None if by_last.verdict == Comparison::Lower => " (no other is clearly slower)".to_owned(),
        None => String::new(),
    };
    Some(format!(
        "{what} at stride {} are {}{}; {}{}.",
        last.x,
        pace_beside(&by_last, &format!("at stride {}", first.x)),
        slowest,
        segments(points, name, &by_last),
        narrow(points, name)
    ))
}

/// How narrower words of the same array compare at stride 1, where they were measured.
fn narrow(points: &[Point], name: &str) -> String {
    let all = match name {
        READ => READ_NARROW,
        WRITE => WRITE_NARROW,
        _ => return String::new(),
    };
    let phrases = all.map(|(series, bits)| {
        let beside = compare(points, (series, 1.0), (name, 1.0))?;
        Some(match beside.verdict {
            Comparison::Unclear => format!("whether {bits}-bit words are slower is {}", undecided_factor([&beside])),
            _ => format!("{bits}-bit words are {}", pace(&beside)),
        })
    });
    let phrases = joined(phrases, ", and ");
    phrases.map_or_else(String::new, |phrases| format!("; compared with 32-bit words at stride 1, {phrases}"))
}

/// What shows of segments where the largest stride has this speed.
fn segments(points: &[Point], name: &str, by_last: &Contrast) -> String {
    let knee = knee(points, name);
    match doubt(&series(points, name), knee) {
        Some(Doubt::Hidden) => {
            return format!("the length of a segment is {}", undecided_factor(&doublings(points, name)));
        }
        Some(Doubt::Because(why)) => return format!("the length of a segment does not show, as {why}"),
        None => {}
    }
    match knee {
        Knee::Between { from, to } => format!(
            "each doubling from {from} to {to} slows them, further ones hardly do: a segment has {} bytes",
            WORD * to
        ),
        Knee::Beyond { from, last } => {
            format!("each doubling from {from} to {last} slows them: a segment's end does not show")
        }
        Knee::Unmeasured => "too few strides were measured for the length of a segment".to_owned(),
        _ if by_last.ratio < 1.0 / FALL => "each doubling slows them only a little: no segments show".to_owned(),
        _ => "no doubling slows them much: no segments show".to_owned(),
    }
}

/// Why speeds do not tell the length of a segment.
enum Doubt {
    /// The noise hides what single doublings cost.
    Hidden,
    Because(&'static str),
}

/// Why these speeds, ascending in stride, do not tell the length of a segment, if they do not.
fn doubt(all: &[&Point], knee: Knee) -> Option<Doubt> {
    let steps: Vec<Contrast> = all.windows(2).filter_map(|pair| Contrast::new(pair[0], pair[1])).collect();
    let end = if let Knee::Between { to, .. } = knee { to } else { f64::INFINITY };
    // A step's x is the smaller stride of the two.
    let anew = steps.iter().find(|step| step.x >= end && step.ratio > FALL);
    if all.windows(2).any(|pair| pair[1].x != 2.0 * pair[0].x) {
        Some(Doubt::Because("some strides between were not measured"))
    } else if rises(all) {
        Some(Doubt::Because("a larger stride is more than twice as fast as a smaller one"))
    } else if let Some(step) = anew {
        Some(match step.is_clear(FALL) {
            true => Doubt::Because("the speed falls in more than one place"),
            false => Doubt::Hidden,
        })
    } else if knee == Knee::Unclear {
        let is_clear = steps.iter().all(|step| step.is_clear(FALL));
        Some(if is_clear { Doubt::Because("only the last doubling slows them") } else { Doubt::Hidden })
    } else {
        None
    }
}

/// Whether a larger stride is more than twice as fast as a smaller one, which segments do not explain.
fn rises(all: &[&Point]) -> bool {
    let is_twice = |p: &Point, q: &Point| Contrast::new(q, p).is_some_and(|c| c.exceeds(2.0) == Some(true));
    (1..all.len()).any(|i| all[..i].iter().any(|p| is_twice(p, all[i])))
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// The sentence on reads where a stride has this speed, and nothing else was measured.
    fn reads(noise: f64, speed: fn(f64) -> f64) -> String {
        let points =
            points_of(&STRIDE, false, noise, |name, stride| if name == READ { speed(stride) } else { f64::NAN });
        sentence(&points, "Reads", READ).unwrap()
    }

    #[test]
    fn each_series_has_its_sentence_and_narrow_words_are_compared_at_stride_1() {
        let speed = |series: &str, stride: f64| {
            let segment = if series == READ { 16.0 } else { 8.0 };
            let width = if series.contains("8-bit") { 0.25 } else { 1.0 };
            4400.0 * width / stride.min(segment) * if stride > segment { 0.9 } else { 1.0 }
        };
        let finding = STRIDE.finding(&points_of(&STRIDE, true, 0.02, speed)).replace(". ", ".\n");
        insta::assert_snapshot!(finding, @r"
        Reads at stride 64 are 17.8 times slower than at stride 1 (no other is clearly slower); each doubling from 1 to 16 slows them, further ones hardly do: a segment has 64 bytes; compared with 32-bit words at stride 1, 16-bit words are as fast (to within 4 %), and 8-bit words are 4.00 times slower.
        Reads from cache at stride 64 are 8.89 times slower than at stride 1 (no other is clearly slower); each doubling from 1 to 8 slows them, further ones hardly do: a segment has 32 bytes.
        Writes at stride 64 are 8.89 times slower than at stride 1 (no other is clearly slower); each doubling from 1 to 8 slows them, further ones hardly do: a segment has 32 bytes; compared with 32-bit words at stride 1, 16-bit words are as fast (to within 4 %), and 8-bit words are 4.00 times slower.
        ");
        let noisy = STRIDE.finding(&points_of(&STRIDE, false, 0.3, |_, _| 20.0));
        assert!(noisy.contains("whether 16-bit words are slower is undecided: differences under 60 %"), "{noisy}");
        insta::assert_snapshot!(STRIDE.finding(&[]), @"Nothing was measured.");
    }

    #[test]
    fn segments_that_show_late_without_end_or_not_at_all() {
        insta::assert_snapshot!(reads(0.02, |stride| 20.0 - stride / 32.0), @"Reads at stride 64 are 10 % slower than at stride 1 (no other is clearly slower); no doubling slows them much: no segments show.");
        insta::assert_snapshot!(reads(0.02, |stride| 20.0 / stride.powf(0.4)), @"Reads at stride 64 are 5.28 times slower than at stride 1 (no other is clearly slower); each doubling slows them only a little: no segments show.");
        insta::assert_snapshot!(reads(0.02, |stride| 20.0 / (stride / 4.0).clamp(1.0, 4.0)), @"Reads at stride 64 are 4.00 times slower than at stride 1 (no other is clearly slower); each doubling from 4 to 16 slows them, further ones hardly do: a segment has 64 bytes.");
        insta::assert_snapshot!(reads(0.02, |stride| 20.0 / stride), @"Reads at stride 64 are 64.0 times slower than at stride 1 (no other is clearly slower); each doubling from 1 to 64 slows them: a segment's end does not show.");
        insta::assert_snapshot!(reads(0.02, |stride| if stride > 32.0 { 1.8 } else { 20.0 / stride.min(16.0) }), @"Reads at stride 64 are 11.1 times slower than at stride 1 (the slowest is stride 16, 16.0 times slower); each doubling from 1 to 16 slows them, further ones hardly do: a segment has 64 bytes.");
        insta::assert_snapshot!(reads(0.02, |stride| if stride > 32.0 { 20.0 } else { 20.0 / stride.min(16.0) }), @"Reads at stride 64 are as fast as at stride 1 (to within 4 %) (the slowest is stride 16, 16.0 times slower); the length of a segment does not show, as a larger stride is more than twice as fast as a smaller one.");
        insta::assert_snapshot!(reads(0.02, |stride| if stride > 16.0 { 1.0 } else { 20.0 / stride.min(4.0) }), @"Reads at stride 64 are 20.0 times slower than at stride 1 (no other is clearly slower); the length of a segment does not show, as the speed falls in more than one place.");
        insta::assert_snapshot!(reads(0.02, |stride| if stride == 8.0 { f64::NAN } else { 20.0 / stride.min(8.0) }), @"Reads at stride 64 are 8.00 times slower than at stride 1 (no other is clearly slower); the length of a segment does not show, as some strides between were not measured.");
        insta::assert_snapshot!(reads(0.3, |stride| 1.99 / stride.powf(0.52)), @"Reads at stride 64 are 8.69 times slower than at stride 1 (no other is clearly slower); the length of a segment is undecided: differences under 60 % cannot be seen in this run.");
        insta::assert_snapshot!(reads(0.5, |stride| 20.0 / stride.min(4.0)), @"Reads at stride 64 are 4.00 times slower than at stride 1 (no other is clearly slower); the length of a segment is undecided: differences under 100 % cannot be seen in this run.");
    }
}

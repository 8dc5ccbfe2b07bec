//! Whether copies and kernels run at the same time, in chunks on several queues; and the host beside the device.

use super::prelude::*;
use gpulab_kernels::exchange::{self, pipeline};

const COPY_IN: &str = "copy in alone";
const KERNEL: &str = "kernel alone";
const COPY_OUT: &str = "copy out alone";
const HOST: &str = "host's work alone";
const BESIDE: &str = "kernel, host's work beside it";
const BESIDE_IN: &str = "copy in, host beside it";
const BESIDE_OUT: &str = "copy out, host beside it";

/// One stage alone, or the host: series and variants, measured where there is one chunk.
const ALONE: [(&str, &str); 7] = [
    (COPY_IN, pipeline::COPY_IN),
    (KERNEL, pipeline::KERNEL),
    (COPY_OUT, pipeline::COPY_OUT),
    (HOST, pipeline::WORK),
    (BESIDE, pipeline::BESIDE),
    (BESIDE_IN, pipeline::BESIDE_IN),
    (BESIDE_OUT, pipeline::BESIDE_OUT),
];

/// What the host works beside: its name, alone, and with the work.
const STAGES: [(&str, &str, &str); 3] =
    [("the kernel", KERNEL, BESIDE), ("a copy in", COPY_IN, BESIDE_IN), ("a copy out", COPY_OUT, BESIDE_OUT)];

const QUEUES: [(&str, u64); 4] = [("1 queue", 1), ("2 queues", 2), ("3 queues", 3), ("4 queues", 4)];

pub const OVERLAP: Experiment = Experiment {
    name: "overlap",
    question: "Do copies to the device, kernels and copies back overlap if the work is cut into chunks on several queues?",
    about: Explanation {
        idea: "Copies in, kernels and copies out, whole and in chunks on one to four queues, from pinned memory; and \
               the host's own work beside each of them.",
        expect: "With several queues the stages run at the same time, and the whole comes near its longest stage.",
        but: "Some drivers run their queues one after the other. Many small chunks cost a launch and two calls each, \
               and on a CPU device all stages use the same cores.",
        cuda: "Streams, and cudaMemcpyAsync() from pinned memory.",
    },
    x_name: "chunks",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let chunks: &[u64] = if scope.quick { &[1, 4, 16] } else { &[1, 2, 4, 8, 16, 32] };
    let alone = ALONE.iter().map(|(series, variant)| trial(scope, series, variant, 1, 1));
    alone
        .chain(QUEUES.iter().flat_map(|&(series, queues): &(&'static str, u64)| {
            // One chunk is on one queue, whatever there is.
            let selected = chunks.iter().filter(move |&&chunks| chunks > 1 || queues == 1);
            selected.map(move |&chunks| trial(scope, series, pipeline::CHUNKS, chunks, queues))
        }))
        .collect()
}

fn finding(points: &[Point]) -> String {
    match joined([chunked(points), beside(points)], " ") {
        Some(sentences) => format!("{sentences} {MEDIANS}"),
        None => nothing(points, "Too few stages have values to compare them with chunks."),
    }
}

fn trial(scope: &Scope<'_>, series: &str, variant: &str, chunks: u64, queues: u64) -> Trial {
    // Stages of about the same length: of a GPU the link's, of a CPU device that of its copies.
    let gpu = scope.target.gpu;
    let less = if scope.quick { 2 } else { 0 };
    let steps = if gpu { 2 * u64::from(scope.target.compute_units.max(8)) } else { 1 };
    let settings = [
        (pipeline::CHUNKS_SET, chunks),
        (pipeline::QUEUES_SET, queues),
        (pipeline::STEPS_SET, steps),
        (pipeline::WORK_SET, if gpu { 500_000 } else { 2_000_000 } >> less),
    ];
    let words = if gpu { 1 << 24 } else { 1 << 22 } >> less;
    let case = exchange::case(&pipeline::EXCHANGE, variant, words, &settings, scope.seed);
    Trial { series: series.into(), x: chunks as f64, metric: TIME, case }
}

const MEDIANS: &str = "These times are medians; a timeline shows one more run, which may be faster or slower.";

/// The fastest way in chunks, beside the serial way and the ideal.
fn chunked(points: &[Point]) -> Option<String> {
    let stages = [COPY_IN, KERNEL, COPY_OUT].map(|series| value(points, series, 1.0));
    let [copy_in, kernel, copy_out] = [stages[0]?, stages[1]?, stages[2]?];
    let serial = value(points, QUEUES[0].0, 1.0)?;
    let all =
        QUEUES.iter().flat_map(|(series, _)| values(points, series).into_iter().map(move |(x, us)| (*series, x, us)));
    let (series, x, us) = all.filter(|(_, x, _)| *x > 1.0).min_by(|a, b| a.2.total_cmp(&b.2))?;
    let gain = compare(points, (QUEUES[0].0, 1.0), (series, x))?;
    let verdict = match gain.verdict {
        Comparison::Higher => format!("{x} chunks on {series} take {}, {} as fast", ms(us), times(gain.ratio)),
        Comparison::Unclear => {
            format!("the fastest chunks ({x} on {series}) take {}, and their gain is {}", ms(us), undecided(&[gain]))
        }
        Comparison::Same => {
            let within = within([&gain]);
            format!("chunks do not help: the fastest ({x} on {series}) take {}, as long {within}", ms(us))
        }
        Comparison::Lower => {
            let slower = slower(gain.ratio);
            format!("chunks do not help: the fastest ({x} on {series}) take {} and are {slower}", ms(us))
        }
    };
    Some(format!(
        "Copy in, kernel and copy out take {}, {} and {} alone, and {} one after the other; {verdict}; {}.",
        ms(copy_in),
        ms(kernel),
        ms(copy_out),
        ms(serial),
        beside_longest(points, (series, x))?
    ))
}

/// The fastest way in chunks beside the longest stage alone, which is the least that overlap can come to.
fn beside_longest(points: &[Point], fastest: (&str, f64)) -> Option<String> {
    let stages = [COPY_IN, KERNEL, COPY_OUT].map(|series| Some((series, value(points, series, 1.0)?)));
    let (stage, us) = stages.into_iter().flatten().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let over = compare(points, fastest, (stage, 1.0))?;
    let longest = format!("the longest stage alone ({}, {})", stage.trim_end_matches(" alone"), ms(us));
    Some(match over.verdict {
        _ if over.ratio >= 1.0 => format!("the ideal is the longest stage alone, {}", ms(us)),
        Comparison::Lower => {
            format!("that is less than {longest}: a chunk may fit a cache where the whole data do not")
        }
        _ => format!("that is less than {longest}, but only within the noise"),
    })
}

/// Whether the host can work while the device works, or while a copy goes on.
fn beside(points: &[Point]) -> Option<String> {
    let host = value(points, HOST, 1.0)?;
    let phrases = joined(STAGES.map(|stage| beside_stage(points, stage)), "; with ")?;
    Some(format!("The host's own work ({}) together with {phrases}.", ms(host)))
}

/// A run that may hide no larger part of the shorter one shows that nothing overlaps.
const NO_OVERLAP: f64 = 0.1;

/// `the kernel takes 1.00 ms: 100 % of the shorter one overlaps the longer`.
fn beside_stage(points: &[Point], (what, alone, both): (&str, &str, &str)) -> Option<String> {
    let all = [alone, HOST, both].map(|name| series(points, name).into_iter().find(|p| p.x == 1.0));
    let [alone, host, both] = all.map(|point| point.and_then(Point::measured));
    let alone = alone?;
    let host = host?;
    let both = both?;
    let spread: f64 = all.iter().flatten().filter_map(|p| Some(p.measured()? * p.noise?)).sum();
    let shorter = alone.min(host);
    // 0: one after the other; 1: the shorter is hidden whole.
    let hidden = ((alone + host - both) / shorter).clamp(0.0, 1.0);
    let resolution = spread / shorter;
    let overlap = if hidden > resolution {
        format!("{} of the shorter one overlaps the longer", percent(hidden))
    } else if hidden + resolution <= NO_OVERLAP {
        format!("no overlap over {} of the shorter one", at_most(std::iter::once(hidden + resolution)))
    } else {
        format!("whether they overlap is {}", undecided_under(resolution))
    };
    Some(format!("{what} ({}) takes {}: {overlap}", ms(alone), ms(both)))
}

fn ms(us: f64) -> String {
    format!("{:.2} ms", us / 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;
    use gpulab_record::point;

    fn points(us: impl Fn(&str, f64) -> f64) -> Vec<Point> {
        points_of(&OVERLAP, false, 0.01, us)
    }

    #[test]
    fn everything_overlaps() {
        let us = |series: &str, chunks: f64| match series {
            "1 queue" => 3000.0,
            _ if series.ends_with("queues") => 1000.0 + 2000.0 / chunks,
            _ => 1000.0,
        };
        insta::assert_snapshot!(OVERLAP.finding(&points(us)).replace("; ", ";\n"), @r"
        Copy in, kernel and copy out take 1.00 ms, 1.00 ms and 1.00 ms alone, and 3.00 ms one after the other;
        32 chunks on 2 queues take 1.06 ms, 2.82 times as fast;
        the ideal is the longest stage alone, 1.00 ms. The host's own work (1.00 ms) together with the kernel (1.00 ms) takes 1.00 ms: 100 % of the shorter one overlaps the longer;
        with a copy in (1.00 ms) takes 1.00 ms: 100 % of the shorter one overlaps the longer;
        with a copy out (1.00 ms) takes 1.00 ms: 100 % of the shorter one overlaps the longer. These times are medians;
        a timeline shows one more run, which may be faster or slower.
        ");
    }

    #[test]
    fn chunks_that_do_not_help_or_beat_the_longest_stage() {
        insta::assert_snapshot!(chunked(&points(|series: &str, chunks: f64| if series.contains("queue") { 3000.0 + 10.0 * chunks } else { 1000.0 })).unwrap(), @"Copy in, kernel and copy out take 1.00 ms, 1.00 ms and 1.00 ms alone, and 3.01 ms one after the other; chunks do not help: the fastest (2 on 1 queue) take 3.02 ms, as long to within 3 %; the ideal is the longest stage alone, 1.00 ms.");
        let on_two = |us: f64| {
            chunked(&points(move |series: &str, _: f64| match series {
                KERNEL => 7630.0,
                COPY_IN | COPY_OUT => 1000.0,
                "2 queues" => us,
                _ => 9000.0,
            }))
            .unwrap()
        };
        insta::assert_snapshot!(on_two(5330.0), @"Copy in, kernel and copy out take 1.00 ms, 7.63 ms and 1.00 ms alone, and 9.00 ms one after the other; 2 chunks on 2 queues take 5.33 ms, 1.69 times as fast; that is less than the longest stage alone (kernel, 7.63 ms): a chunk may fit a cache where the whole data do not.");
        assert!(on_two(7500.0).ends_with("the longest stage alone (kernel, 7.63 ms), but only within the noise."));
    }

    #[test]
    fn what_the_spread_hides_has_no_percentage() {
        let sentence = |noise: f64, both: f64| {
            let times = [(KERNEL, 1000.0), (HOST, 4000.0), (BESIDE, both)];
            beside(&times.map(|(series, us)| point(series, 1, us, noise))).unwrap()
        };
        insta::assert_snapshot!(sentence(0.1, 4500.0), @"The host's own work (4.00 ms) together with the kernel (1.00 ms) takes 4.50 ms: whether they overlap is undecided: differences under 95 % cannot be seen in this run.");
        insta::assert_snapshot!(sentence(0.02, 4500.0), @"The host's own work (4.00 ms) together with the kernel (1.00 ms) takes 4.50 ms: 50 % of the shorter one overlaps the longer.");
        insta::assert_snapshot!(sentence(0.0, 5000.0), @"The host's own work (4.00 ms) together with the kernel (1.00 ms) takes 5.00 ms: no overlap over 1 % of the shorter one.");
    }
}

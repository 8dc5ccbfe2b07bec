//! The reasons of ladders' steps, held against the counts and the times that they are made of.

use gpulab::ceilings::CeilingRow;
use gpulab::count::CountRow;
use gpulab::kernels::Registry;
use gpulab::record::{CsvRecord, Row, clear_factor};
use gpulab::report::why::sentence;
use gpulab::store::{of_csv, shipped};
use gpulab::why::{
    Cause, CountChange, DeviceRates, LadderReasons, RungTime, StepReason, is_counted_of, reasons,
};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data");

/// The devices whose ladders and ceilings are recorded.
const DEVICES: [&str; 3] = ["nvidia-h200", "pocl-epyc-4", "intel-epyc-4"];

const LADDERS: [&str; 4] = ["reduce", "dot", "transpose", "minplus"];

fn read<T: CsvRecord>(device: &str, file: &str) -> Vec<T> {
    let found = shipped()
        .into_iter()
        .find(|one| one.device == device && one.name == file);
    of_csv(
        found.unwrap_or_else(|| panic!("{device}/{file}")).text,
        file,
    )
    .unwrap()
    .0
}

fn counts() -> Vec<CountRow> {
    of_csv(
        &std::fs::read(format!("{DATA}/counts.csv")).unwrap(),
        "counts.csv",
    )
    .unwrap()
    .0
}

/// Each recorded ladder, one problem on one device, with its reasons.
fn ladders(device: &str, counts: &[CountRow]) -> Vec<LadderReasons> {
    let ceilings: Vec<CeilingRow> = read(device, "ceilings");
    LADDERS
        .iter()
        .flat_map(|file| with_reasons(&read::<Row>(device, file), &ceilings, counts))
        .collect()
}

fn with_reasons(rows: &[Row], ceilings: &[CeilingRow], counts: &[CountRow]) -> Vec<LadderReasons> {
    let of_problem = |row: &Row| {
        (
            row.run_id.clone(),
            row.family.clone(),
            row.n,
            row.m,
            row.dtype,
        )
    };
    let reasons_of = |ladder: &[Row]| {
        let row = ladder.iter().find(|row| !row.on_host())?;
        let rates = DeviceRates::new(ceilings, !row.is_on_cpu_device()).unwrap();
        Some(reasons(&Registry::default(), ladder, counts, &rates))
    };
    rows.chunk_by(|a, b| of_problem(a) == of_problem(b))
        .filter_map(reasons_of)
        .collect()
}

/// Rows that only the model is tried on, and the ceilings of their device.
const TRIED: [(&str, &str); 3] = [
    ("h100", "results/nvidia-h100/ceilings"),
    ("pocl", "model/pocl_ceilings"),
    ("intel", "model/intel_ceilings"),
];

/// The ladders of one of [`TRIED`].
fn tried_of(name: &str, ceilings: &str, counts: &[CountRow]) -> Vec<LadderReasons> {
    fn all<T: CsvRecord>(path: String) -> Vec<T> {
        of_csv(&std::fs::read(&path).unwrap(), &path).unwrap().0
    }
    let ceilings = all::<CeilingRow>(format!("{DATA}/{ceilings}.csv"));
    with_reasons(
        &all::<Row>(format!("{DATA}/model/{name}.csv")),
        &ceilings,
        counts,
    )
}

fn steps(ladder: &LadderReasons) -> impl Iterator<Item = (&RungTime, &RungTime, f64, &StepReason)> {
    ladder
        .rungs
        .windows(2)
        .zip(&ladder.steps)
        .map(|(pair, (gain, reason))| (&pair[0], &pair[1], *gain, reason))
}

/// What goes wrong with a reason, if anything does.
fn contradiction(
    before: &RungTime,
    after: &RungTime,
    gain: f64,
    reason: &StepReason,
) -> Option<String> {
    let text = sentence(&before.row, &after.row, gain, reason);
    let measured = before.row.t_median_s? / after.row.t_median_s?;
    let wrong = |what: &str| Some(format!("{what}: {text}"));
    if (measured - gain).abs() > 1e-9 * gain {
        return wrong("the gain is not that of the rows");
    }
    let is_clear = measured.max(1.0 / measured) > clear_factor(Some(&before.row), &after.row);
    match reason {
        StepReason::Undecided(_) if is_clear => wrong("decided by the rows' spreads"),
        StepReason::Undecided(_) => None,
        _ if !is_clear => wrong("within the rows' spreads"),
        StepReason::Explained {
            predicted,
            part,
            change,
        } => {
            let [old, new] = [before, after].map(|rung| rung.model_time().unwrap());
            let is_gain = measured > 1.0;
            if (*predicted > 1.0) != is_gain || (old.whole() > new.whole()) != is_gain {
                return wrong("the model goes the other way");
            }
            if (old.get(*part) > new.get(*part)) != is_gain {
                return wrong("the part goes the other way");
            }
            if (change.after < change.before) != (is_gain ^ (change.cause == Cause::LanesBusy)) {
                return wrong("the count goes the other way");
            }
            let says_fell = text.contains(" fell from ");
            (says_fell != (change.after < change.before)).then(|| format!("the words: {text}"))
        }
        _ => None,
    }
}

#[test]
fn no_reason_is_contradicted_by_its_numbers() {
    let counts = counts();
    let recorded = DEVICES.map(|device| (device, ladders(device, &counts)));
    let tried = TRIED.map(|(name, ceilings)| (name, tried_of(name, ceilings, &counts)));
    let mut explained = 0;
    for (device, ladders) in recorded.iter().chain(&tried) {
        for (before, after, gain, reason) in ladders.iter().flat_map(steps) {
            assert_eq!(contradiction(before, after, gain, reason), None, "{device}");
            explained += u32::from(matches!(reason, StepReason::Explained { .. }));
        }
    }
    assert!(explained > 100, "{explained} reasons");
}

/// A reason that its numbers contradict is seen: each of these is made so.
#[test]
fn contradicted_reasons_are_caught() {
    let counts = counts();
    let mut caught = 0;
    for ladder in ladders("nvidia-h200", &counts) {
        for (before, after, gain, reason) in steps(&ladder) {
            let StepReason::Explained {
                predicted,
                part,
                change,
            } = reason
            else {
                continue;
            };
            let (predicted, part, change) = (*predicted, *part, *change);
            let turned = CountChange {
                before: change.after,
                after: change.before,
                ..change
            };
            for wrong in [
                StepReason::Explained {
                    predicted: 1.0 / predicted,
                    part,
                    change,
                },
                StepReason::Explained {
                    predicted,
                    part,
                    change: turned,
                },
                StepReason::Undecided(1.03),
            ] {
                assert!(
                    contradiction(before, after, gain, &wrong).is_some(),
                    "{wrong:?}"
                );
                caught += 1;
            }
            assert!(
                contradiction(after, before, 1.0 / gain, reason).is_some(),
                "turned round"
            );
        }
    }
    assert!(caught > 80);
}

/// The measured time over the model's, of all rungs: how many they are, the middle of how far they part, and the share within
/// 1.5 times.
fn error(ladders: &[LadderReasons]) -> String {
    let over = ladders
        .iter()
        .flat_map(|ladder| ladder.rungs.iter().filter_map(RungTime::over_model));
    let mut factors: Vec<f64> = over.map(|over| over.max(1.0 / over)).collect();
    factors.sort_by(f64::total_cmp);
    let within = factors.iter().filter(|factor| **factor <= 1.5).count();
    format!(
        "{} {:.2} {:.0}%",
        factors.len(),
        factors[factors.len() / 2],
        100.0 * within as f64 / factors.len() as f64
    )
}

#[test]
fn the_model_is_as_far_from_the_recorded_times_as_is_told() {
    let counts = counts();
    assert_eq!(
        DEVICES.map(|device| error(&ladders(device, &counts))),
        ["232 1.12 91%", "31 1.85 19%", "32 2.32 28%"]
    );
    let tried = TRIED.map(|(name, ceilings)| error(&tried_of(name, ceilings, &counts)));
    assert_eq!(tried, ["114 1.08 90%", "106 1.20 77%", "110 1.34 72%"]);
}

/// The model's time of one rung, by arithmetic on the rows of its files: 2^24 elements are 256 times the 2^16 that were counted.
#[test]
fn a_time_of_the_model_is_its_counts_over_the_measured_rates() {
    let counts = counts();
    let ceilings: Vec<CeilingRow> = read("nvidia-h200", "ceilings");
    let rate = |what: &str, place: &str, element: &str| {
        let is_it = |row: &&CeilingRow| {
            row.what == what && row.place.name() == place && row.element == element
        };
        ceilings.iter().find(is_it).unwrap().value.unwrap()
    };
    let ladders = ladders("nvidia-h200", &counts);
    let is_it = |rung: &&RungTime| {
        rung.row.rung == Some(3) && rung.row.family == "reduce" && rung.row.n == 1 << 24
    };
    let rung = ladders
        .iter()
        .flat_map(|ladder| &ladder.rungs)
        .find(is_it)
        .unwrap();
    let counted = counts
        .iter()
        .find(|count| is_counted_of(count, &rung.row) && count.n == 1 << 16)
        .unwrap();
    let passes = counted.local_read_passes.unwrap() + counted.local_write_passes.unwrap();
    let instructions = 256.0 * 32.0 * counted.warp_instructions.unwrap() as f64
        / (1e9 * rate("add", "unit", "f32"));
    let local = 256.0 * 128.0 * passes as f64 / (1e9 * rate("local", "unit", ""));
    let [launch, groups, sum] = [
        "launch, event time",
        "launch of 65536 groups, event time",
        "launch of a sum, event time",
    ]
    .map(|what| 1e-6 * rate(what, "host", ""));
    // It has 65536 groups, too.
    let by_hand = sum + (instructions + local).hypot(groups - launch);
    let model = rung.model_time().unwrap().whole();
    assert!(
        (model / by_hand - 1.0).abs() < 0.01,
        "{model}, by hand {by_hand}"
    );
}

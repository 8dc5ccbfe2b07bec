use super::*;
use crate::Error;
use crate::kernels::dot;
use crate::outcome::{Clock, DeviceInfo, Measured, Outcome, Sample, fake_info};
use crate::outputs::Paths;
use crate::store::read_rows;
use std::cell::RefCell;
use std::rc::Rc;

/// Gives every case the same times, notes which came, and is interrupted at one of them.
struct ScriptedExecutor {
    info: DeviceInfo,
    seen: Rc<RefCell<Vec<Job>>>,
    interrupted_at: &'static str,
}

impl Executor for ScriptedExecutor {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn run(&mut self, job: &Job) -> Result<Outcome> {
        if job.case.variant == self.interrupted_at {
            return Err(Error::Interrupted);
        }
        self.seen.borrow_mut().push(job.clone());
        let samples = (0..9)
            .map(|i| Sample {
                event: Some(1e-3 + f64::from(i) * 1e-6),
                wall: 2e-3,
            })
            .collect();
        let measured = Measured {
            samples,
            stopped_by: "steady".into(),
            ..Measured::equal()
        };
        let pending = Outcome {
            bytes: 1e6,
            ops: 1e6,
            launches: 1,
            ..Outcome::pending(&job.case, Clock::Event)
        };
        Ok(pending.ended(Ok(measured)))
    }
}

struct Climbed {
    /// Families and variants in the order in which they ran.
    seen: Vec<String>,
    jobs: Vec<Job>,
    rows: Vec<Row>,
    missing: Vec<String>,
    ended: Result<()>,
}

fn climb(n: u64, csv: Option<&str>, interrupted_at: &'static str) -> Climbed {
    let ladder = LadderRun::new(&dot::FAMILY, Shape::vector(n), None, &Params::new());
    let options = Ladder::of(["--budget", "2s", "--wg", "64"].into_iter()).unwrap();
    let seen = Rc::new(RefCell::new(Vec::new()));
    let executor = ScriptedExecutor {
        info: fake_info(),
        seen: Rc::clone(&seen),
        interrupted_at,
    };
    let mut limits = Limits::load(&fake_info(), true, true, true, |_| ());
    let outputs = Outputs::open(&Paths {
        csv,
        ..Paths::default()
    })
    .unwrap();
    let mut climb = Climb::new(&ladder, &options, Dtype::F32, Box::new(executor), outputs);
    let ended = climb.climb(&mut limits, Instant::now());
    climb.outputs.finish(ended.is_ok(), true).unwrap();
    let jobs = seen.borrow().clone();
    let seen = jobs
        .iter()
        .map(|job| format!("{}/{}", job.case.family, job.case.variant))
        .collect();
    Climbed {
        seen,
        rows: climb.rows(),
        missing: climb.missing().to_vec(),
        jobs,
        ended,
    }
}

/// Which of the parts of the work came, each when its first case did.
fn parts(seen: &[String]) -> Vec<&'static str> {
    let part = |name: &String| match name.split_once('/') {
        Some(("dot", variant)) if variant.starts_with("cpu_") => "CPU",
        Some(("dot", _)) => "rungs",
        Some(("launch", _)) => "launches",
        _ => "memory",
    };
    let mut parts: Vec<&str> = seen.iter().map(part).collect();
    parts.dedup();
    parts
}

/// Elements that fit the device's cache, that a cache may hold, and that none holds.
const SMALL: u64 = 1_000;
const MIDDLE: u64 = 1_000_000;
const LARGE: u64 = 1 << 28;

#[test]
fn rungs_come_first_but_after_what_bounds_them() {
    assert_eq!(
        parts(&climb(SMALL, None, "").seen),
        ["rungs", "CPU", "launches"]
    );
    assert_eq!(
        parts(&climb(MIDDLE, None, "").seen),
        ["rungs", "CPU", "memory", "launches"]
    );
    assert_eq!(
        parts(&climb(LARGE, None, "").seen),
        ["memory", "launches", "rungs", "CPU"]
    );
}

#[test]
fn limits_that_come_last_are_in_the_rows_all_the_same() {
    let rungs = |n| {
        climb(n, None, "")
            .rows
            .into_iter()
            .filter(|row| !row.on_host())
            .collect::<Vec<_>>()
    };
    assert!(rungs(MIDDLE).iter().all(|row| row.ceiling_pct.is_some()));
    assert!(
        rungs(SMALL).iter().all(|row| row.ceiling_pct.is_none()),
        "nothing was measured that says nothing of them"
    );
    let rows = climb(MIDDLE, None, "").rows;
    assert!(
        rows.iter()
            .filter(|row| row.rung.is_some())
            .all(|row| row.cpu_seq_x.is_some())
    );
}

#[test]
fn rows_of_a_file_are_those_of_the_table() {
    let dir = tempfile::TempDir::new().unwrap();
    for n in [SMALL, MIDDLE] {
        let path = dir.path().join(format!("{n}.csv"));
        let climbed = climb(n, path.to_str(), "");
        assert_eq!(
            parts(&climbed.seen).last(),
            Some(&"rungs"),
            "what rows are compared with comes before them"
        );
        let written = read_rows(&path).unwrap().rows;
        let alike = |row: &Row| row.clone();
        assert_eq!(written.len(), climbed.rows.len());
        // Those of the CPU are compared with each other as far as they have come.
        for (written, row) in written
            .iter()
            .zip(&climbed.rows)
            .filter(|(_, row)| row.rung.is_some())
        {
            assert_eq!(
                (&written.variant, written.ceiling_pct.is_some()),
                (&row.variant, row.ceiling_pct.is_some())
            );
            assert_eq!(alike(written), alike(row));
        }
    }
}

#[test]
fn an_interrupt_leaves_what_was_measured_and_names_the_rest() {
    let climbed = climb(SMALL, None, "accumulators");
    assert!(matches!(climbed.ended, Err(Error::Interrupted)));
    assert_eq!(
        climbed.rows.iter().map(|row| row.rung).collect::<Vec<_>>(),
        [Some(1), Some(2), Some(3), Some(4)]
    );
    assert!(climbed.rows.iter().all(|row| row.status == Status::Ok));
    let missing = [
        "v5 accumulators",
        "v6 single_pass",
        "v7 wide",
        "cpu_exact",
        "cpu_sequential",
        "cpu_rayon",
    ];
    assert_eq!(climbed.missing[..6], missing);
    assert_eq!(climbed.missing[6..], ["what a launch costs"]);
    assert!(climb(SMALL, None, "").missing.is_empty());
}

#[test]
fn sampling_is_fitted_into_the_time() {
    let jobs = climb(SMALL, None, "").jobs;
    let sampled: Vec<f64> = jobs
        .iter()
        .filter(|job| job.case.family == "dot")
        .map(|job| job.settings.timeout)
        .collect();
    assert!(
        sampled[0] < sampled[1],
        "the first row comes early: {sampled:?}"
    );
    assert!(
        sampled[1] > 0.1 && sampled[1] < 0.25,
        "a tenth of 2 s each: {sampled:?}"
    );
    assert!(
        sampled.iter().all(|&s| s <= 0.5),
        "no more than was asked for: {sampled:?}"
    );
}

#[test]
fn nothing_is_compared_with_no_elements() {
    let climbed = climb(0, None, "");
    assert_eq!(parts(&climbed.seen), ["rungs"]);
    assert!(climbed.missing.is_empty() && climbed.ended.is_ok());
}

//! Right kernels over all kinds of data: none of them may be called anything but `ok`.
//!
//! Every rung and every CPU baseline of every family, in all its types, over vectors and matrices of many sizes and of
//! many kinds, through the whole way of a ladder's row: verified, timed (briefly) and verified again.

mod inputs;

use super::child::{self, Called, Driver, End, call};
use super::{Options, Report};
use gpulab::data::{Array, Dtype, Params, Shape};
use gpulab::kernels::{FAMILIES, Family, Sources};
use gpulab::outcome::{Cache, Clock, Outcome, Settings, Status};
use gpulab::plan::{Case, WorkGroup};
use gpulab::runner::Session;
use inputs::{BITS, FLOATS, SUMS_ONLY, WEIGHTS, WHOLES};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

/// Fewer checks, or fewer kinds of data, are no gate.
const LEAST: usize = 10_000;
const LEAST_QUICK: usize = 1000;
const LEAST_KINDS: usize = 30;

const DEADLINE: Duration = Duration::from_secs(3600);

/// Children that share the work of a family on a driver, so that machines of many cores are of use.
const SHARES: usize = 4;

/// What a child is asked for: every `step`-th set of data of a family, from one on.
#[derive(Serialize, Deserialize)]
struct Question {
    family: String,
    first: usize,
    step: usize,
}

/// What a child found.
#[derive(Default, Serialize, Deserialize)]
struct Answer {
    ok: usize,
    /// Cases that were refused, with how often each reason was given.
    skipped: BTreeMap<String, usize>,
    kinds: BTreeSet<String>,
    /// Each rung with its type that gave a result, and each that was refused, but for what the device lacks.
    ran: BTreeSet<String>,
    refused: BTreeSet<String>,
    alarms: Vec<String>,
}

/// Runs the gate.
pub fn run(options: &Options) -> Result<Report, String> {
    let drivers = if options.quick {
        vec![Driver::Pocl]
    } else {
        child::drivers()?
    };
    let drivers: Vec<Driver> = drivers
        .into_iter()
        .filter(|&driver| driver != Driver::Oclgrind)
        .collect();
    let step = if options.quick { 7 } else { 1 };
    let wanted = |family: &&&Family| {
        options
            .only
            .as_ref()
            .is_none_or(|only| family.name.contains(only.as_str()))
    };
    let jobs: Vec<(Driver, &Family, usize)> = FAMILIES
        .iter()
        .filter(wanted)
        .flat_map(|family| drivers.iter().map(move |&driver| (driver, *family)))
        .flat_map(|(driver, family)| (0..SHARES).map(move |share| (driver, family, share)))
        .collect();
    let all = Mutex::new(Answer::default());
    child::in_parallel(child::ALL_CORES, &jobs, |&(driver, family, share)| {
        let answer = ask(driver, family, share * step, SHARES * step);
        all.lock()
            .map_err(|e| e.to_string())
            .map(|mut all| all.add(driver, family, answer))
    })?
    .into_iter()
    .collect::<Result<(), String>>()?;
    let Answer {
        ok,
        skipped,
        kinds,
        mut alarms,
        ran,
        refused,
    } = all.into_inner().map_err(|e| e.to_string())?;
    let never = refused.difference(&ran);
    alarms.extend(never.map(|what| format!("{what}: every case was refused")));
    skipped
        .iter()
        .for_each(|(why, count)| println!("skipped {count} times: {why}"));
    alarms.iter().for_each(|why| println!("FALSE ALARM  {why}"));
    let (least, least_kinds) = match (options.only.is_some(), options.quick) {
        (true, _) => (1, 1),
        (false, true) => (LEAST_QUICK, LEAST_KINDS),
        (false, false) => (LEAST, LEAST_KINDS),
    };
    Ok(Report {
        passed: alarms.is_empty() && ok >= least && kinds.len() >= least_kinds,
        figure: format!(
            "{ok} right checks (at least {least}) over {} kinds of data (at least {least_kinds}), {} false alarms, {} skipped ({})",
            kinds.len(),
            alarms.len(),
            skipped.values().sum::<usize>(),
            drivers
                .iter()
                .map(|driver| driver.name())
                .collect::<Vec<_>>()
                .join(", "),
        ),
    })
}

fn ask(driver: Driver, family: &Family, first: usize, step: usize) -> Result<Answer, String> {
    let question = Question {
        family: family.name.to_string(),
        first,
        step,
    };
    let question = serde_json::to_string(&question).map_err(|e| e.to_string())?;
    let Called { end, .. } = call("right", driver, &question, DEADLINE)?;
    match end {
        End::Done(answer) => serde_json::from_str(&answer).map_err(|e| e.to_string()),
        End::Died(why) => Err(why),
        End::TimedOut => Err(format!("it did not end within {DEADLINE:?}")),
    }
}

impl Answer {
    fn add(&mut self, driver: Driver, family: &Family, answer: Result<Answer, String>) {
        match answer {
            Ok(answer) => {
                println!("{} {}: {} checks ok", driver.name(), family.name, answer.ok);
                self.ok += answer.ok;
                self.kinds.extend(answer.kinds);
                let of_driver = |what: String| format!("{}: {what}", driver.name());
                self.ran.extend(answer.ran.into_iter().map(of_driver));
                self.refused
                    .extend(answer.refused.into_iter().map(of_driver));
                for (why, count) in answer.skipped {
                    *self
                        .skipped
                        .entry(format!("{}: {why}", driver.name()))
                        .or_default() += count;
                }
                self.alarms.extend(
                    answer
                        .alarms
                        .into_iter()
                        .map(|alarm| format!("{}: {alarm}", driver.name())),
                );
            }
            Err(why) => self
                .alarms
                .push(format!("{} {}: {why}", driver.name(), family.name)),
        }
    }

    /// Counts a verdict.
    fn note(&mut self, outcome: &Outcome, kind: &str) {
        let Case {
            family,
            variant,
            dtype,
            shape,
            ..
        } = &outcome.case;
        match outcome.status() {
            Status::Ok => {
                self.ok += 1;
                self.kinds.insert(kind.to_owned());
                self.ran.insert(format!("{family} {variant} {dtype}"));
            }
            Status::Skipped => {
                if outcome
                    .end
                    .as_ref()
                    .err()
                    .and_then(|stop| stop.refusal.as_ref())
                    .is_none_or(|refusal| refusal.kind() != "feature")
                {
                    self.refused.insert(format!("{family} {variant} {dtype}"));
                }
                *self
                    .skipped
                    .entry(format!("{family} {variant}: {}", outcome.reason()))
                    .or_default() += 1;
            }
            other => self.alarms.push(format!(
                "{family} {variant} {dtype} {}x{} wg {} {:?} over {kind}: {}: {}",
                shape.n,
                shape.m,
                outcome.case.wg,
                outcome.case.params,
                other.name(),
                outcome.reason()
            )),
        }
    }
}

/// Data of one kind and size.
struct Set {
    kind: String,
    arrays: Vec<Array>,
    dtype: Dtype,
    shape: Shape,
    params: &'static [(&'static str, &'static str)],
}

/// The child's part.
pub fn child(driver: Driver, question: &str) -> Result<String, String> {
    let Question {
        family,
        first,
        step,
    } = serde_json::from_str(question).map_err(|e| e.to_string())?;
    let family = *FAMILIES
        .iter()
        .find(|known| known.name == family)
        .ok_or("no such family")?;
    let mut session = Session::new(Box::new(driver.open()?), Sources::default(), None);
    let mut answer = Answer::default();
    for (number, make) in sets(family)
        .into_iter()
        .enumerate()
        .skip(first)
        .step_by(step)
    {
        let Set {
            kind,
            arrays,
            dtype,
            shape,
            params,
        } = make();
        session.replace_inputs(Some(arrays));
        let params: Params = params
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect();
        let case = |variant: &str| Case {
            family: family.name.to_string(),
            variant: variant.into(),
            dtype,
            shape,
            wg: group(family, number),
            params: params.clone(),
            seed: number as u64,
        };
        for rung in family.kernels() {
            answer.note(
                &session.run(&case(rung.variant()), &settings(number)),
                &kind,
            );
        }
        for baseline in family.problem.baselines() {
            answer.note(&session.baseline(&case(baseline.name), &settings(1)), &kind);
        }
    }
    serde_json::to_string(&answer).map_err(|e| e.to_string())
}

/// Work-groups in turn.
fn group(family: &Family, number: usize) -> WorkGroup {
    match &*family.name {
        "transpose" => WorkGroup::linear([256, 128, 64][number % 3]),
        _ => WorkGroup::linear([64, 256, 32, 16][number % 4]),
    }
}

/// Few runs, by one clock after the other; a cold cache costs memory, and now and then must do.
fn settings(number: usize) -> Settings {
    Settings {
        warmup: (number % 2) as u32,
        min_runs: 1,
        max_runs: 1 + (number % 3) as u32,
        min_time: 0.0,
        timeout: 0.0,
        max_noise: 1.0,
        cache: if number % 101 == 50 {
            Cache::Cold
        } else {
            Cache::Warm
        },
        clock: [
            Clock::Event,
            Clock::Event,
            Clock::Wall,
            Clock::Event,
            Clock::Batch,
        ][number % 5],
        ..Settings::default()
    }
}

const SIZES: [usize; 16] = [
    1, 1000, 65, 2, 255, 4097, 7, 64, 257, 31, 10_007, 33, 63, 0, 1024, 65_537,
];
const SHAPES: [(usize, usize); 12] = [
    (1, 1),
    (17, 31),
    (128, 130),
    (1, 1000),
    (64, 64),
    (257, 255),
    (1000, 1),
    (16, 16),
    (7, 3),
    (33, 97),
    (320, 64),
    (0, 5),
];
const SIDES: [usize; 9] = [1, 17, 64, 2, 67, 7, 130, 33, 8];

/// Operations of reductions: of floats and of integers.
const FLOAT_OPS: [&[(&str, &str)]; 3] = [
    &[("op", "sum")],
    &[("op", "min")],
    &[("op", "max"), ("finish", "device")],
];
const WHOLE_OPS: [&[(&str, &str)]; 6] = [
    &[("op", "sum")],
    &[("op", "min")],
    &[("op", "max")],
    &[("op", "and"), ("finish", "device")],
    &[("op", "or")],
    &[("op", "xor")],
];

type Make = Box<dyn Fn() -> Set>;

/// All data of a family: each kind in some sizes, in turn.
fn sets(family: &Family) -> Vec<Make> {
    match &*family.name {
        "transpose" => moved(family),
        "minplus" => graphs(family),
        _ => vectors(family),
    }
}

/// Sizes that a kind of data is tried in.
const EACH: usize = 6;

fn vectors(family: &Family) -> Vec<Make> {
    let is_dot = family.name == "dot";
    let mut sets: Vec<Make> = Vec::new();
    let mut turn = 0;
    for &dtype in &*family.dtypes {
        let kinds = FLOATS.len() + SUMS_ONLY.len();
        for kind in 0..if dtype.is_float() {
            kinds
        } else {
            WHOLES.len()
        } {
            for _ in 0..EACH {
                turn += 1;
                let (n, turn) = (SIZES[turn % SIZES.len()], turn);
                sets.push(Box::new(move || vector(is_dot, dtype, kind, n, turn)));
            }
        }
    }
    sets
}

fn vector(is_dot: bool, dtype: Dtype, kind: usize, n: usize, turn: usize) -> Set {
    let (name, mut arrays, mut params) = if dtype.is_float() {
        let (name, value) = FLOATS
            .iter()
            .chain(SUMS_ONLY)
            .nth(kind)
            .copied()
            .unwrap_or(FLOATS[0]);
        let params = if kind < FLOATS.len() {
            FLOAT_OPS[turn % FLOAT_OPS.len()]
        } else {
            FLOAT_OPS[0]
        };
        (name, vec![inputs::floats(dtype, n, 0, value)], params)
    } else {
        let (name, value) = WHOLES[kind];
        (
            name,
            vec![inputs::wholes(dtype, n, 0, value)],
            WHOLE_OPS[turn % WHOLE_OPS.len()],
        )
    };
    if is_dot {
        // The other vector must not take products out of the range in one order only.
        arrays.push(match dtype.is_float() {
            true if kind >= FLOATS.len() || turn.is_multiple_of(2) => {
                inputs::floats(dtype, n, 1, |_| 1.0)
            }
            true => inputs::floats(dtype, n, 1, |p| 1.0 - 2.0 * (p.random % 2) as f64),
            false => inputs::wholes(dtype, n, 1, WHOLES[(kind + turn) % WHOLES.len()].1),
        });
        params = &[];
    }
    Set {
        kind: name.to_owned(),
        arrays,
        dtype,
        shape: Shape::vector(n as u64),
        params,
    }
}

fn moved(family: &Family) -> Vec<Make> {
    let mut sets: Vec<Make> = Vec::new();
    let mut turn = 0;
    for &dtype in &*family.dtypes {
        for (name, value) in BITS {
            for _ in 0..EACH {
                turn += 1;
                let (n, m) = SHAPES[turn % SHAPES.len()];
                let params: &[(&str, &str)] = if turn.is_multiple_of(5) {
                    &[("nreps", "2")]
                } else {
                    &[]
                };
                sets.push(Box::new(move || Set {
                    kind: format!("bits: {name}"),
                    arrays: vec![inputs::bits(dtype, n * m, *value)],
                    dtype,
                    shape: Shape {
                        n: n as u64,
                        m: m as u64,
                    },
                    params,
                }));
            }
        }
    }
    sets
}

fn graphs(family: &Family) -> Vec<Make> {
    let mut sets: Vec<Make> = Vec::new();
    let mut turn = 0;
    for &dtype in &*family.dtypes {
        for &(name, is_signed, value) in WEIGHTS {
            for _ in 0..EACH / 2 {
                turn += 1;
                let side = SIDES[turn % SIDES.len()];
                let params: &[(&str, &str)] = if is_signed {
                    &[("weights", "signed")]
                } else {
                    &[]
                };
                sets.push(Box::new(move || Set {
                    kind: format!("weights: {name}"),
                    arrays: vec![inputs::weights(dtype, side, value)],
                    dtype,
                    shape: Shape {
                        n: side as u64,
                        m: side as u64,
                    },
                    params,
                }));
            }
        }
    }
    sets
}

//! The gate `faults`: the program on drivers that fail, lie, sleep and crash.
//!
//! A library in the driver's place ([`shim`]) makes the n-th call of one function fail, for each function that a
//! command calls, at its first, second, middle and last call, with two codes that also mean refusals and one that
//! OpenCL does not define. Other drivers lie about times and data, drop work, never return, or end the process.
//!
//! A run is right if it ends by itself in its time, by no signal and without a panic; if every row that it calls ok has
//! the result that the good driver gives and a time that is possible; and if its exit code is not 0, unless all its rows
//! are there and ok, or are skipped because the device refused them before anything ran.

mod judge;
mod shim;
mod trial;

use super::child::{copy_tree, in_parallel};
use super::{Options, Report};
use judge::{KINDS, Wrong, judge};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;
use trial::{Depth, Fault, Job, Ran, Stage};

/// Fewest faults and bad drivers that were met, of all and of a part of them.
const FEWEST: [usize; 2] = [500, 60];
const FEWEST_QUICK: [usize; 2] = [60, 25];

/// Runs of `--quick`.
const QUICK: [usize; 2] = [75, 35];

/// Codes of failure: of resources, of the host's memory, and one that nobody knows.
const CODES: [i32; 3] = [-5, -6, -4321];

/// Longest that a run may take, beside what it takes on a good driver: twice the longest deadline of a command's own, so that
/// what else the machine does makes no hang.
const LIMIT_S: f64 = 120.0;

/// Runs at a time, and those at a time that mostly wait.
const AT_ONCE: usize = 2;
const WAITING_AT_ONCE: usize = 8;

macro_rules! job {
    ($name:literal, $args:expr) => {
        Job {
            name: $name,
            args: $args,
            has_rows: true,
            is_long: false,
            keeps_ceilings: true,
            depth: Depth::Full,
        }
    };
}

macro_rules! brief {
    ($args:literal) => {
        concat!(
            $args,
            " --warmup 0 --min-runs 2 --max-runs 2 --min-time 0 --max-noise 1"
        )
    };
}

/// The commands, each of a part of a second.
#[rustfmt::skip]
const JOBS: &[Job] = &[
    job!("dot", brief!("dot --n 1000 --wg 8 --variant 3,6 --csv rows.csv")),
    Job { depth: Depth::Some, ..job!("dot-cold", brief!("dot --n 1000 --wg 8 --variant 2 --presum device --cache cold --clock batch --csv rows.csv")) },
    Job { depth: Depth::Some, keeps_ceilings: false, ..job!("dot-probing", brief!("dot --quick --n 1000 --wg 8 --variant 7 --csv rows.csv")) },
    Job { depth: Depth::Some, ..job!("dot-in-process", brief!("dot --in-process --n 1000 --wg 8 --variant 1 --csv rows.csv")) },
    job!("reduce", brief!("reduce --n 1000 --wg 8 --variant 3,10 --op max --csv rows.csv")),
    job!("transpose", brief!("transpose --width 40 --height 24 --variant 2,5 --csv rows.csv")),
    job!("minplus", brief!("minplus --n 24 --variant 2,4 --csv rows.csv")),
    job!("graph", "minplus --input graph.csv --closure --paths -o rows.csv"),
    job!("sweep", brief!("sweep --kernel dot --variant 1,5 --n 500,999 --wg 8 -o rows.csv")),
    Job { depth: Depth::One, ..job!("lab-vector", brief!("lab vector --quick --csv rows.csv")) },
    Job { depth: Depth::Some, ..job!("lab-launch", brief!("lab launch --quick --csv rows.csv")) },
    Job { depth: Depth::One, ..job!("lab-image", brief!("lab image --quick --csv rows.csv")) },
    Job { depth: Depth::Some, ..job!("lab-zerocopy", brief!("lab zerocopy --quick --csv rows.csv")) },
    Job { depth: Depth::One, ..job!("lab-overlap", brief!("lab overlap --quick --csv rows.csv")) },
    Job { depth: Depth::One, ..job!("lab-transfer", brief!("lab transfer --quick --csv rows.csv")) },
    Job { depth: Depth::Some, ..job!("ceiling", "ceiling --quick --csv rows.csv") },
    Job { has_rows: false, ..job!("start", "") },
    Job { has_rows: false, ..job!("devices", "devices") },
    Job { has_rows: false, depth: Depth::Some, ..job!("devices-json", "devices --json -") },
    Job { has_rows: false, ..job!("doctor", "doctor") },
];

/// Commands whose kernels take long enough for a wrong time to show.
#[rustfmt::skip]
const LONG: &[Job] = &[
    Job { is_long: true, ..job!("dot-long", "dot --n 4M --variant 2,7 --min-runs 3 --max-runs 10 --csv rows.csv") },
    Job { is_long: true, ..job!("reduce-long", "reduce --n 4M --variant 7,10 --min-runs 3 --max-runs 10 --csv rows.csv") },
    Job { is_long: true, ..job!("transpose-long", "transpose --n 1024 --variant 1,4 --loop kernel --min-runs 3 --max-runs 10 --csv rows.csv") },
    Job { is_long: true, ..job!("minplus-long", "minplus --n 256 --variant 1,4 --min-runs 3 --max-runs 10 --csv rows.csv") },
    Job { is_long: true, ..job!("sweep-long", "sweep --kernel dot --n 4M --variant 2,7 --wg 64 --min-runs 3 --max-runs 10 -o rows.csv") },
];

/// Bad drivers: commands, functions, when, and what they do.
#[rustfmt::skip]
const DRIVERS: &[(&str, &str, &str)] = &[
    // Event times that are wrong.
    ("dot-long minplus-long", "clGetEventProfilingInfo:1+", "constant:12000 constant:1 constant:1000000000 scale:0.001 scale:0.1 scale:10 scale:1000 rate:0.001 rate:0.1 rate:10 rate:1000 short:0.001 random:1000000 random:2000 reversed zero same huge"),
    ("sweep-long reduce-long", "clGetEventProfilingInfo:1+", "constant:12000 scale:0.001 rate:1000 random:100000"),
    ("ceiling lab-vector lab-overlap doctor", "clGetEventProfilingInfo:1+", "constant:12000 scale:0.001 zero"),
    // Reads that give something else.
    ("dot-long transpose-long minplus-long graph", "clEnqueueReadBuffer:1+", "zero ones stale drop half flip"),
    ("dot reduce transpose sweep", "clEnqueueReadBuffer:%2", "zero stale drop"),
    ("doctor lab-vector ceiling", "clEnqueueReadBuffer:1+", "zero drop"),
    // Writes that are lost.
    ("dot reduce transpose minplus graph", "clEnqueueWriteBuffer:1+", "drop flip"),
    ("dot transpose", "clEnqueueWriteBuffer:%2", "drop"),
    ("dot reduce", "clEnqueueFillBuffer:1+", "drop"),
    ("dot-cold transpose", "clEnqueueCopyBuffer:1+", "drop"),
    // Launches that do nothing.
    ("dot-long reduce-long transpose-long minplus-long sweep-long graph doctor", "clEnqueueNDRangeKernel:1+", "drop"),
    ("dot-long reduce-long transpose-long minplus-long sweep-long", "clEnqueueNDRangeKernel:%2", "drop"),
    ("dot-long reduce-long transpose-long minplus-long sweep-long", "clEnqueueNDRangeKernel:MIDDLE+", "drop"),
    ("dot-long transpose-long", "clEnqueueNDRangeKernel:%7", "drop"),
    // Two buffers that are one, programs that are none, failures told late, answers without content.
    ("dot transpose minplus graph", "clCreateBuffer:1+", "alias"),
    ("dot ceiling doctor lab-image", "clBuildProgram:1+", "empty"),
    ("dot transpose sweep", "clGetEventInfo:1+", "negative:-5 negative:-4321"),
    ("dot transpose sweep", "clGetEventInfo:MIDDLE", "negative:-5"),
    ("dot", "clGetProgramBuildInfo:1+", "blank"),
    ("dot start devices doctor", "clGetDeviceInfo:1+", "blank huge"),
    ("dot start devices doctor", "clGetDeviceIDs:1+", "none"),
    ("dot start devices doctor", "clGetPlatformIDs:1+", "none"),
    // Calls that never return.
    ("dot sweep lab-vector graph doctor", "clFinish:MIDDLE", "sleep"),
    ("dot ceiling doctor", "clBuildProgram:1", "sleep"),
    ("dot start devices doctor", "clGetDeviceIDs:1", "sleep"),
    ("dot start devices doctor", "clGetPlatformIDs:1", "sleep"),
    ("dot", "clEnqueueReadBuffer:2", "sleep"),
    ("dot graph", "clReleaseContext:1", "sleep"),
    // Calls that end the process.
    ("dot sweep lab-vector ceiling graph doctor", "clFinish:MIDDLE", "abort exit:0"),
    ("dot transpose doctor", "clBuildProgram:1", "segv exit:0 leave:0"),
    ("dot start devices doctor", "clGetPlatformIDs:1", "abort segv kill exit:0 leave:0"),
    ("start devices doctor", "clGetDeviceInfo:3", "segv exit:0"),
    ("dot minplus", "clEnqueueNDRangeKernel:MIDDLE", "segv kill leave:0"),
    ("dot sweep", "clFinish:3+", "segv"),
    ("dot start devices doctor", "load:0", "abort segv exit:0 leave:0"),
    // Prints among the results.
    ("dot sweep graph devices doctor lab-vector ceiling", "any:%3", "print:x"),
    ("dot", "any:1+", "print:unfinished"),
];

/// Something to run.
struct Trial {
    job: &'static Job,
    fault: Fault,
    /// Whether it is one of [`DRIVERS`].
    is_driver: bool,
}

/// What all trials came to.
#[derive(Default)]
struct Tally {
    /// Faults and bad drivers that were met.
    met: [usize; 2],
    missed: usize,
    wrong: BTreeMap<Wrong, usize>,
}

/// Runs the gate.
pub fn run(options: &Options) -> Result<Report, String> {
    let folder = tempfile::tempdir().map_err(text)?;
    let shim = shim::compile(folder.path())?;
    let stage = Stage {
        shim,
        folder: folder.path().to_owned(),
        data: folder.path().join("ceilings"),
    };

    let is_needed = |job: &Job| {
        options.only.as_ref().is_none_or(|only| {
            job.name
                .contains(only.split_once(' ').map_or(only.as_str(), |(job, _)| job))
        })
    };
    let good = on_the_good_driver(&stage, is_needed)?;
    let is_meant = |trial: &Trial| {
        options
            .only
            .as_ref()
            .is_none_or(|only| trial.name().contains(only))
    };
    let (faults, drivers) = (faults(&stage, &good), drivers(&stage, &good)?);
    let [mut faults, mut drivers] =
        [faults, drivers].map(|trials| trials.into_iter().filter(is_meant).collect());
    if options.quick {
        faults = spread(faults, QUICK[0]);
        drivers = spread(drivers, QUICK[1]);
    }
    let trials: Vec<Trial> = drivers.into_iter().chain(faults).collect();
    let tally = try_all(&stage, &good, &trials)?;
    let fewest = if options.quick { FEWEST_QUICK } else { FEWEST };
    let enough = match options.only {
        Some(_) => tally.met[0] + tally.met[1] >= 1,
        None => tally.met[0] >= fewest[0] && tally.met[1] >= fewest[1],
    };
    let counts: Vec<String> = KINDS
        .iter()
        .map(|(kind, name)| format!("{} {name}", tally.wrong.get(kind).unwrap_or(&0)))
        .collect();
    let lack = match enough {
        true => String::new(),
        false => format!("; at least {} and {} must be met", fewest[0], fewest[1]),
    };
    Ok(Report {
        passed: enough && tally.wrong.is_empty(),
        figure: format!(
            "{} faults and {} bad drivers: {}; {} were never met and do not count{lack}",
            tally.met[0],
            tally.met[1],
            counts.join(", "),
            tally.missed
        ),
    })
}

impl Trial {
    fn name(&self) -> String {
        format!("{} {}", self.job.name, self.fault)
    }
}

type Good = BTreeMap<&'static str, Ran>;

/// Runs every command without a fault: what is called how often, and what is right. The first run keeps ceilings for
/// the others.
fn on_the_good_driver(stage: &Stage, is_needed: impl Fn(&Job) -> bool) -> Result<Good, String> {
    std::fs::create_dir_all(&stage.data).map_err(text)?;
    std::fs::create_dir_all(stage.folder.join("pocl")).map_err(text)?;
    let run = |job: &'static Job| -> Result<Ran, String> {
        let ran = stage.run(job.name, job, None, Duration::from_secs(300))?;
        let calls: u64 = ran.calls.iter().sum();
        println!(
            "{}: {} rows, {calls} calls, {:.1} s on a good driver",
            job.name,
            ran.rows.len(),
            ran.seconds
        );
        match (ran.code(), calls) {
            (Some(0), 0) => Err(format!("{} does not use the shim", job.name)),
            (Some(0), _) => Ok(ran),
            _ => Err(format!(
                "{} fails on a good driver, with {:?}:\n{}",
                job.name, ran.status, ran.stderr
            )),
        }
    };
    let (ceiling, others) = JOBS
        .iter()
        .chain(LONG)
        .partition::<Vec<&Job>, _>(|job| job.name == "ceiling");
    let mut good = BTreeMap::new();
    for job in ceiling {
        good.insert(job.name, run(job)?);
        copy_tree(&stage.folder.join(job.name).join("data"), &stage.data)?;
    }
    let others: Vec<&Job> = others.into_iter().filter(|job| is_needed(job)).collect();
    for ran in in_parallel(AT_ONCE, &others, |job| run(job).map(|ran| (job.name, ran)))? {
        let (name, ran) = ran?;
        good.insert(name, ran);
    }
    Ok(good)
}

/// The first, the second, the middle and the last call of each function under each command: the first and the last
/// fail with every code, those between with one. Of commands that take long, fewer of them.
fn faults(stage: &Stage, good: &Good) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (job, ran) in JOBS
        .iter()
        .filter_map(|job| Some((job, good.get(job.name)?)))
    {
        let calls = &ran.calls;
        let called = stage
            .shim
            .functions
            .iter()
            .zip(calls)
            .filter(|(_, count)| **count > 0);
        for (turn, (function, &count)) in called.enumerate() {
            // Where calls are many their number varies.
            let last = count - count / 4;
            let places = match job.depth {
                Depth::Full => vec![1, 2, last.div_ceil(2), last],
                Depth::Some => vec![1, last],
                Depth::One => vec![[1, last.div_ceil(2), last][turn % 3]],
            };
            let places: BTreeSet<u64> =
                places.into_iter().filter(|&place| place <= count).collect();
            for (index, &place) in places.iter().enumerate() {
                let all =
                    job.depth == Depth::Full && !function.releases && [1, last].contains(&place);
                let codes = CODES
                    .iter()
                    .enumerate()
                    .filter(|(code, _)| all || *code == (turn + index) % CODES.len());
                trials.extend(codes.map(|(_, code)| Trial {
                    job,
                    fault: Fault {
                        function: function.name.clone(),
                        when: place.to_string(),
                        action: format!("fail:{code}"),
                    },
                    is_driver: false,
                }));
            }
        }
    }
    trials
}

fn drivers(stage: &Stage, good: &Good) -> Result<Vec<Trial>, String> {
    let mut trials = Vec::new();
    for (jobs, place, actions) in DRIVERS {
        let (function, when) = place
            .split_once(':')
            .ok_or("a bad driver without a place")?;
        let id = stage.shim.functions.iter().position(|f| f.name == function);
        for name in jobs.split(' ') {
            let job = JOBS.iter().chain(LONG).find(|job| job.name == name);
            let job = job.ok_or_else(|| format!("there is no command {name}"))?;
            let Some(ran) = good.get(name) else { continue };
            let calls = id.map_or(0, |id| ran.calls[id]);
            let when = when.replace("MIDDLE", &calls.div_ceil(2).to_string());
            trials.extend(actions.split(' ').map(|action| Trial {
                job,
                fault: Fault {
                    function: function.into(),
                    when: when.clone(),
                    action: action.into(),
                },
                is_driver: true,
            }));
        }
    }
    Ok(trials)
}

/// So many of them, evenly.
fn spread(trials: Vec<Trial>, count: usize) -> Vec<Trial> {
    let all = trials.len().max(1);
    let is_chosen = |index: usize| index * count / all != (index + 1) * count / all;
    trials
        .into_iter()
        .enumerate()
        .filter(|(index, _)| count >= all || is_chosen(*index))
        .map(|(_, t)| t)
        .collect()
}

/// Tries all of them, some at a time, and says what goes wrong.
fn try_all(stage: &Stage, good: &Good, trials: &[Trial]) -> Result<Tally, String> {
    let tally = Mutex::new(Tally::default());
    let body = |(index, trial): &(usize, &Trial)| {
        let good = &good[trial.job.name];
        let limit = Duration::from_secs_f64(LIMIT_S + 5.0 * good.seconds);
        let ran = stage.run(
            &format!("run-{index}"),
            trial.job,
            Some(&trial.fault),
            limit,
        )?;
        let mut tally = tally.lock().map_err(text)?;
        if ran.hits == 0 {
            tally.missed += 1;
            println!("never met: {}", trial.name());
            return Ok(());
        }
        tally.met[usize::from(trial.is_driver)] += 1;
        if let Err((kind, why)) = judge(trial.job, &trial.fault, good, &ran) {
            *tally.wrong.entry(kind).or_default() += 1;
            println!("{kind:?}: {}: {why}", trial.name());
        }
        let done: usize = tally.met.iter().sum();
        if done.is_multiple_of(100) {
            eprintln!("{done} of {}", trials.len());
        }
        Ok(())
    };
    let (waiting, others): (Vec<_>, Vec<_>) = trials
        .iter()
        .enumerate()
        .partition(|(_, trial)| trial.fault.action.starts_with("sleep"));
    for (at_once, trials) in [(WAITING_AT_ONCE, waiting), (AT_ONCE, others)] {
        in_parallel(at_once, &trials, body)?
            .into_iter()
            .collect::<Result<(), String>>()?;
    }
    tally.into_inner().map_err(text)
}

/// An error in words.
fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

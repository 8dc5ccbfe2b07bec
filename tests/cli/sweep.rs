//! Sweeps: rounds on a scripted device; plans, kills, shards and bad input through the binary.

use crate::binary::{NOWHERE, data};
use crate::fake::{FakeDevice, FakeKernel, Memory};
use gpulab::Error;
use gpulab::data::{Dtype, Shape};
use gpulab::device::DeviceError;
use gpulab::kernels::{Sources, dot};
use gpulab::outcome::{Executor, Job, Outcome, Settings, Status};
use gpulab::plan::{Arg, Launch, WorkGroup};
use gpulab::runner::Session;
use gpulab::store::read_rows;
use gpulab::sweep::{Bench, Configuration, Space, in_rounds, measure};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// What `dot_naive` does.
fn naive(launch: &Launch, memory: &mut Memory) {
    let [x, y, out, Arg::Index(n)] = launch.args.as_slice() else {
        panic!("{:?}", launch.args)
    };
    let (x, y): (Vec<f32>, Vec<f32>) = (memory.get(x), memory.get(y));
    let (n, items) = (*n as usize, launch.global[0]);
    let chunk = n.div_ceil(items);
    for id in 0..items {
        let sum = ((id * chunk).min(n)..((id + 1) * chunk).min(n))
            .map(|i| x[i] * y[i])
            .sum::<f32>();
        memory.set(out, id, sum);
    }
}

/// A bench on the fake device, which remembers in which order work-groups were launched and finished.
struct FakeBench {
    executor: Session,
    finished: Vec<(usize, Outcome)>,
    /// Seconds that those that are finished were sampled for at most.
    sampled: Vec<f64>,
    jobs: Vec<(usize, bool)>,
    /// Jobs after which the user has had enough.
    patience: usize,
}

impl Bench for FakeBench {
    fn settings(&self, _: &Configuration) -> Settings {
        let short = Settings {
            warmup: 2,
            min_runs: 9,
            max_runs: 15,
            min_time: 0.0,
            ..Settings::default()
        };
        Settings {
            timeout: 5.0,
            max_noise: 1e-9,
            ..short
        }
    }

    fn run(&mut self, configuration: &Configuration, job: &Job) -> Result<Outcome, Error> {
        if self.jobs.len() == self.patience {
            return Err(Error::Interrupted);
        }
        self.jobs.push((configuration.wg.size(), job.again));
        Executor::run(&mut self.executor, job)
    }

    fn finished(
        &mut self,
        configuration: &Configuration,
        outcome: Outcome,
        sampled: f64,
    ) -> Result<(), Error> {
        self.finished.push((configuration.wg.size(), outcome));
        self.sampled.push(sampled);
        Ok(())
    }
}

fn sweep_on_fake(wgs: &[usize], script: FakeKernel) -> FakeBench {
    let mut bench = fake_bench(script);
    let plan = plan(&bench, wgs);
    measure(&plan.iter().collect::<Vec<_>>(), &mut bench).unwrap();
    bench
}

fn fake_bench(script: FakeKernel) -> FakeBench {
    let session = Session::new(Box::new(FakeDevice::new(script)), Sources::default(), None);
    let executor = session;
    FakeBench {
        executor,
        finished: Vec::new(),
        sampled: Vec::new(),
        jobs: Vec::new(),
        patience: usize::MAX,
    }
}

fn plan(bench: &FakeBench, wgs: &[usize]) -> Vec<Configuration> {
    let space = Space {
        family: &dot::FAMILY,
        rungs: dot::FAMILY.ladder[..1].iter().collect(),
        dtypes: vec![Dtype::F32],
        shapes: vec![Shape::vector(5000)],
        wgs: wgs.iter().map(|&wg| WorkGroup::linear(wg)).collect(),
        settings: Vec::new(),
        seed: 1,
    };
    space.expand(&bench.executor.info().target)
}

#[test]
fn an_interrupt_hands_over_what_the_rounds_before_it_gave() {
    let steady: FakeKernel = Box::new(|launch, memory| {
        naive(launch, memory);
        Ok(1_000_000)
    });
    let mut bench = FakeBench {
        patience: 3,
        ..fake_bench(steady)
    };
    let plan = plan(&bench, &[32, 64]);
    let ended = measure(&plan.iter().collect::<Vec<_>>(), &mut bench);
    assert!(matches!(ended, Err(Error::Interrupted)));
    let samples: Vec<(usize, usize)> = bench
        .finished
        .iter()
        .map(|(wg, o)| (*wg, o.samples().len()))
        .collect();
    assert!(
        matches!(samples[..], [(32, both), (64, one)] if one > 0 && both > one),
        "{samples:?}"
    );
}

#[test]
fn interleaved_rounds_share_out_the_samples_and_verify_once() {
    let drifting = || -> FakeKernel {
        let mut now = 0;
        Box::new(move |launch, memory| {
            naive(launch, memory);
            now += 1;
            Ok(1_000_000 + 1_000 * now)
        })
    };
    let bench = sweep_on_fake(&[32, 64], drifting());
    let round = |again| [(32, again), (64, again)];
    assert_eq!(
        bench.jobs,
        [round(false), round(true), round(true)].concat()
    );
    assert_eq!(
        bench.finished.iter().map(|(wg, _)| *wg).collect::<Vec<_>>(),
        [32, 64]
    );
    for (wg, outcome) in &bench.finished {
        assert_eq!(
            (outcome.status(), outcome.samples().len()),
            (Status::Ok, 15),
            "{wg}: {}",
            outcome.reason()
        );
    }
    let mut sequential = fake_bench(drifting());
    for one in &plan(&sequential, &[32, 64]) {
        in_rounds(&[one], 1, &mut sequential).unwrap();
    }
    let gap = |bench: &FakeBench| {
        let mean = |i: usize| bench.finished[i].1.times().iter().sum::<f64>() / 15.0;
        mean(1) - mean(0)
    };
    assert!(
        gap(&bench) < 0.7 * gap(&sequential),
        "drift weighs less: {} {}",
        gap(&bench),
        gap(&sequential)
    );
    assert_eq!(sequential.jobs, round(false));
}

#[test]
fn a_configuration_that_goes_wrong_in_a_later_round_costs_its_own_row_only() {
    let mut launches = 0;
    let script: FakeKernel = Box::new(move |launch, memory| {
        naive(launch, memory);
        launches += u64::from(launch.local[0] == 64);
        if launches > 18 && launch.local[0] == 64 {
            return Err(DeviceError::call("clEnqueueNDRangeKernel", -36));
        }
        Ok(1_000_000 + launches)
    });
    let bench = sweep_on_fake(&[32, 64, 128, 4096], script);
    let status = |wg: usize| {
        let all: Vec<&Outcome> = bench
            .finished
            .iter()
            .filter(|(w, _)| *w == wg)
            .map(|(_, o)| o)
            .collect();
        assert_eq!(all.len(), 1, "{wg}");
        all[0].status()
    };
    assert_eq!((status(32), status(128)), (Status::Ok, Status::Ok));
    assert_eq!(
        (status(64), status(4096)),
        (Status::Failed, Status::Skipped)
    );
    let failed = bench.finished.iter().find(|(wg, _)| *wg == 64).unwrap();
    assert!(failed.1.samples().is_empty());
    assert_eq!(bench.jobs.iter().filter(|(wg, _)| *wg == 4096).count(), 0);
}

const TINY: &str =
    "sweep --kernel dot -q --n 1000,2000 --wg 32,64 --variant 1,3,7 --set mad=0,1 --max-runs 3 --min-runs 1
    --min-time 0 --timeout 0.01 --warmup 0";

fn command(extra: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    command
        .args(TINY.split_whitespace())
        .args(extra)
        .env_remove("GPULAB_DEVICE")
        .env("NO_COLOR", "1")
        .env("GPULAB_DATA", data());
    command
}

/// Standard output, standard error and exit code of a tiny sweep with these options added.
fn tiny(extra: &[&str]) -> (String, String, i32) {
    answer(&mut command(extra))
}

fn answer(command: &mut Command) -> (String, String, i32) {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

/// What each row of a file is of, sorted.
fn keys(path: &Path) -> Vec<(Option<u64>, String)> {
    let file = read_rows(path).unwrap();
    assert_eq!(file.torn, None);
    let key = |r: &gpulab::record::Row| {
        format!(
            "{} {} {} {} {}",
            r.variant,
            r.dtype,
            r.n,
            r.wg_text(),
            gpulab::record::params_text(&r.params)
        )
    };
    let mut keys: Vec<_> = file.rows.iter().map(|r| (r.case_index, key(r))).collect();
    keys.sort();
    keys
}

fn path(dir: &TempDir, name: &str) -> String {
    dir.path().join(name).to_str().unwrap().to_owned()
}

#[test]
fn a_killed_sweep_goes_on_and_loses_doubles_and_tears_nothing() {
    let dir = TempDir::new().unwrap();
    let (whole, killed) = (path(&dir, "whole.csv"), path(&dir, "killed.csv"));
    let (_, err, code) = tiny(&["-o", &whole]);
    assert_eq!(code, 0, "{err}");
    let want = keys(Path::new(&whole));
    assert_eq!(want.len(), 2 * (2 * 2 + 2 * 2 + 2));
    for round in (0..10u64).step_by(3) {
        let _ = std::fs::remove_file(&killed);
        let mut child = command(&["-o", &killed])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // In the middle of the sweep, but for the first: after so many rows and a moment more.
        let rows = || {
            std::fs::read_to_string(&killed)
                .unwrap_or_default()
                .lines()
                .count() as u64
        };
        while rows() < 1 + 2 * round && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::thread::sleep(Duration::from_millis(7 * round % 30));
        child.kill().unwrap();
        child.wait().unwrap();
        // Killed in the middle of a row, too.
        let text = std::fs::read(&killed).unwrap_or_default();
        if round % 3 == 0 && text.len() > 30 {
            std::fs::write(&killed, &text[..text.len() - 7]).unwrap();
        }
        let (_, err, code) = tiny(&["-o", &killed, "--resume"]);
        assert_eq!(code, 0, "round {round}: {err}");
        assert_eq!(keys(Path::new(&killed)), want, "round {round}");
    }
    let before = std::fs::read(&whole).unwrap();
    assert_eq!(tiny(&["-o", &whole, "--resume"]).2, 0);
    assert_eq!(
        std::fs::read(&whole).unwrap(),
        before,
        "nothing is run again"
    );
    let (_, err, code) = tiny(&["-o", &whole, "--resume", "--max-noise", "50%"]);
    assert_eq!(code, 2);
    assert!(
        err.contains("max_noise=0.05 in one and max_noise=0.5"),
        "{err}"
    );
    let (_, err, code) = tiny(&["-o", &whole]);
    assert!(code == 2 && err.contains("--resume"), "{err}");
    assert_eq!(
        std::fs::read(&whole).unwrap(),
        before,
        "a refused file is left alone"
    );
}

#[test]
fn an_interrupted_sweep_says_what_it_left_out() {
    let dir = TempDir::new().unwrap();
    let file = path(&dir, "cut.csv");
    let mut loud = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    loud.args(TINY.split_whitespace().filter(|arg| *arg != "-q"))
        .args(["-o", &file])
        .env("GPULAB_DATA", data());
    let child = loud
        .env_remove("GPULAB_DEVICE")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while std::fs::read_to_string(&file)
        .unwrap_or_default()
        .lines()
        .count()
        < 2
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(
        err.contains("not measured: ") && err.contains("--resume continues"),
        "{err}"
    );
    assert_eq!(tiny(&["-o", &file, "--resume"]).2, 0);
    assert_eq!(keys(Path::new(&file)).len(), 2 * (2 * 2 + 2 * 2 + 2));
}

#[test]
fn shards_merge_to_the_whole() {
    let dir = TempDir::new().unwrap();
    let [one, two, whole, all] =
        ["1.csv", "2.csv", "whole.csv", "all.csv"].map(|name| path(&dir, name));
    for (shard, file) in [("1/2", &one), ("2/2", &two)] {
        assert_eq!(tiny(&["--shard", shard, "-o", file]).2, 0);
    }
    let merge = |files: &[&str], to: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
        answer(
            command
                .args(["sweep", "--merge"])
                .args(files)
                .args(["-o", to]),
        )
    };
    let (_, err, code) = merge(&[&one], &all);
    assert!(
        code == 2 && err.contains("shard 2/2") && !Path::new(&all).exists(),
        "{err}"
    );
    assert_eq!(merge(&[&one, &one], &all).2, 2);
    assert_eq!(merge(&[&two, &one], &all).2, 0);
    assert_eq!(tiny(&["-o", &whole]).2, 0);
    assert_eq!(keys(Path::new(&all)), keys(Path::new(&whole)));
    assert_eq!(merge(&[&two, &one], NOWHERE).2, 74);
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        4,
        "no unfinished file stays"
    );
}

#[test]
fn a_dry_run_prints_the_plan_and_rows_go_to_standard_output() {
    let (out, _, code) = tiny(&["--dry-run"]);
    assert_eq!((code, out.lines().count()), (0, 21));
    assert!(
        out.starts_with("dot/naive f32 n=1000 wg=32 items="),
        "{out}"
    );
    assert!(
        out.ends_with("20 configurations; 0 cannot run here\n"),
        "{out}"
    );
    let (out, _, _) = tiny(&["--dry-run", "--shard", "2/3"]);
    assert!(
        out.ends_with("7 of 20 configurations; 0 cannot run here\n"),
        "{out}"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
    let (out, err, code) = answer(
        command.args("sweep --kernel dot --quick --n 500 --wg 32,100000 --variant 1".split(' ')),
    );
    assert_eq!((code, out.lines().count()), (0, 3), "{err}");
    assert!(out.contains(",skipped,work-group 100000"), "{out}");
    assert!(
        err.contains("best: v1 naive, wg 32") && err.contains("1 skipped: work-group 100000"),
        "{err}"
    );
}

#[test]
fn bad_input_is_found_before_anything_runs() {
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
        answer(command.arg("sweep").args(args).env_remove("GPULAB_DEVICE"))
    };
    for (args, code, word) in [
        (vec![], 2, "<FAMILY>"),
        (vec!["--kernel", "nothing"], 2, "there is no family"),
        (vec!["--kernel", "dot", "--n", "10..1+1"], 2, "backwards"),
        (vec!["--kernel", "dot", "--n", "1..10*1"], 2, "never"),
        (vec!["--kernel", "dot", "--wg", "0..4+1"], 2, "work-group"),
        (vec!["--kernel", "dot", "--variant", "99"], 2, "1 naive"),
        (vec!["--kernel", "dot", "--dtype", "i64"], 2, "i64"),
        (vec!["--kernel", "dot", "--set", "itmes=4"], 2, "presum"),
        (
            vec!["--kernel", "dot", "--set", "presum=gpu"],
            2,
            "host, device or none",
        ),
        (vec!["--kernel", "dot", "--shard", "3/2"], 2, "2/4"),
        (vec!["--kernel", "dot", "--resume"], 2, "-o FILE"),
        (vec!["--kernel", "dot", "-o", NOWHERE], 74, "nowhere"),
        (
            vec!["--kernel", "dot", "-d", "no such device", "--dry-run"],
            3,
            "no such device",
        ),
        (vec!["--kernel", "dot", "--cl-dir", NOWHERE], 2, "--cl-dir"),
    ] {
        let (out, err, got) = run(&args);
        assert_eq!(got, code, "{args:?}: {err}");
        assert!(
            err.contains(word) && out.is_empty(),
            "{args:?}: {word:?} is missing in {err}"
        );
    }
}

#[test]
fn rows_that_are_not_of_this_version_or_damaged_are_not_gone_on_with() {
    let dir = TempDir::new().unwrap();
    let file = path(&dir, "a.csv");
    assert_eq!(tiny(&["-o", &file]).2, 0);
    let whole = std::fs::read(&file).unwrap();
    let text = String::from_utf8(whole.clone()).unwrap();
    let version = format!(",{},", env!("CARGO_PKG_VERSION"));
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let other_version = text.replacen(&version, ",99.9.9,", 1).into_bytes();
    std::fs::write(&file, &other_version).unwrap();
    let (_, err, code) = tiny(&["-o", &file, "--resume"]);
    assert!(code == 2 && err.contains("99.9.9"), "{err}");
    assert_eq!(std::fs::read(&file).unwrap(), other_version, "left alone");
    // What a machine that lost its power leaves at the end.
    let cut = whole.len() - lines[lines.len() - 1].len();
    for tail in [&b"\0\0\0\0\0\0\0\0"[..], b"1,r\0\0\0\0\0\n"] {
        std::fs::write(&file, [&whole[..cut], tail].concat()).unwrap();
        let (_, err, code) = tiny(&["-o", &file, "--resume"]);
        assert_eq!(code, 0, "{err}");
        assert_eq!(keys(Path::new(&file)).len(), lines.len() - 1);
        assert!(!std::fs::read(&file).unwrap().contains(&0));
    }
}

#[test]
fn rows_that_failed_stay_when_a_sweep_goes_on() {
    let dir = TempDir::new().unwrap();
    let file = path(&dir, "rows.csv");
    assert_eq!(tiny(&["-o", &file]).2, 0);
    let whole = std::fs::read_to_string(&file).unwrap();
    let broken: Vec<String> = whole
        .lines()
        .enumerate()
        .map(|(i, line)| match i {
            2 => line.replacen(",ok,", ",failed,", 1),
            3 => line.replacen(",ok,", ",timeout,", 1),
            _ => line.to_owned(),
        })
        .collect();
    let broken = broken.join("\n") + "\n";
    std::fs::write(&file, &broken).unwrap();
    let (_, err, code) = tiny(&["-o", &file, "--resume"]);
    assert_eq!(code, 1, "a failed row stays one: {err}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
    assert_eq!(
        std::fs::read_dir(dir.path()).unwrap().count(),
        1,
        "no other file is left"
    );
}

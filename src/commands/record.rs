//! `gpulab record`: all that is worth keeping of a device. It is a list of commands of this program; each runs in a process of its
//! own, so that one that fails takes nothing with it.

use crate::cli::Global;
use crate::cli::environment::VARIABLES;
use crate::console::{print, quoted};
use crate::device::{doctor, select};
use crate::experiments::EXPERIMENTS;
use crate::kernels::{FAMILIES, Form};
use crate::outcome::Cache;
use crate::plan::Target;
use crate::report::format;
use crate::{Error, Result, bench, files, interrupt, processes, usage_error};
use gpulab_model::Joined;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Seconds that `gpulab ceiling` takes, which has no budget: as on a CPU driver of four cores.
const CEILINGS: f64 = 180.0;
const QUICK_CEILINGS: f64 = 10.0;

/// Exit codes of a command that got to its end: rows that are wrong, did not build or cannot be trusted are rows.
const WHOLE: [i32; 4] = [0, 4, 5, 7];

/// Below the folder, where a command writes until it has ended.
const UNFINISHED: &str = "unfinished";

/// How long an interrupted command has to end by itself: at a terminal it is interrupted, too.
const GRACE: Duration = Duration::from_secs(2);

/// A command.
struct RecordStep {
    /// Where its rows go.
    file: String,
    /// The words behind the program's name.
    words: Vec<String>,
    seconds: f64,
}

/// Lists the commands, or runs those whose files are not in the folder yet.
pub fn run(global: &Global, folder: Option<&Path>, quick: bool, budget: Option<f64>) -> Result<()> {
    let platforms = doctor::listing(Instant::now() + doctor::LISTING)
        .map_err(Error::NoDevice)?
        .platforms;
    let info = select::select(&platforms, global.device.as_deref())?;
    let steps = steps(&info.target, global.device_given(), quick, budget);
    let Some(folder) = folder else {
        let lines: String = steps
            .iter()
            .map(|step| format!("  gpulab {}\n", quoted_words(&step.words)))
            .collect();
        let time = format::rough(steps.iter().map(|step| step.seconds).sum());
        let told = "nothing was run; -o DIR runs them, and again those that have no file there yet";
        return print(&format!(
            "{} commands on {}, about {time}:\n{lines}{told}\n",
            steps.len(),
            info.name
        ));
    };
    interrupt::watch();
    bench::announce(global, info);
    let unfinished = folder.join(UNFINISHED);
    fs::create_dir_all(&unfinished).map_err(Error::unwritten(&unfinished))?;
    let (done, missing): (Vec<RecordStep>, Vec<RecordStep>) = steps
        .into_iter()
        .partition(|step| folder.join(&step.file).symlink_metadata().is_ok());
    for file in done.iter().map(|step| folder.join(&step.file)) {
        let text = files::read_to_string(&file).unwrap_or_default();
        if !text.contains(&info.name) || !text.contains(&info.driver) {
            let of = format!(
                "is not of {} with driver {}: give another folder",
                info.name, info.driver
            );
            return usage_error(format!("{} {of}", file.display()));
        }
    }
    let count = done.len() + missing.len();
    let mut odd: Vec<(String, i32)> = Vec::new();
    for (at, step) in missing.iter().enumerate() {
        let command = format!("gpulab {}", quoted_words(&step.words));
        let left = format::rough(missing[at..].iter().map(|step| step.seconds).sum());
        global.note(&format!(
            "[{} of {count}, about {left} left] {command}",
            done.len() + at + 1
        ));
        let status = process(&step.words, &unfinished, global.quiet)
            .map_err(|e| Error::Failed(format!("cannot start a process of gpulab: {e}")))?;
        if interrupt::interrupted() {
            global.note("the results of whole commands are kept: the same command continues");
            return Err(Error::Interrupted);
        }
        // One that the system ended has no code.
        let code = status.code().unwrap_or(1);
        if WHOLE.contains(&code) {
            let file = folder.join(&step.file);
            fs::rename(unfinished.join(&step.file), &file).map_err(Error::unwritten(&file))?;
        }
        if code != 0 {
            odd.push((command, code));
        }
    }
    // It stays where a file is left in it.
    let _ = fs::remove_dir(&unfinished);
    let place = quoted(&format!("{}/", folder.display()));
    print(&format!(
        "{place} has the results of {count} commands; look at them: gpulab report {place}\n"
    ))?;
    let lines: String = odd
        .iter()
        .map(|(command, code)| format!("\n  {command}: exit code {code}"))
        .collect();
    let text = format!("{} of {count} commands did not end well:{lines}", odd.len());
    let codes: Vec<i32> = odd.iter().map(|(_, code)| *code).collect();
    match codes.iter().all(|code| WHOLE.contains(code)) {
        _ if odd.is_empty() => Ok(()),
        false => Err(Error::Failed(format!(
            "{text}\nthe same command repeats those without a file"
        ))),
        _ if codes.contains(&4) => Err(Error::WrongResult(text)),
        _ if codes.contains(&5) => Err(Error::BuildFailed(text)),
        true => Err(Error::Untrusted(text)),
    }
}

fn quoted_words(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).joined(" ")
}

/// All commands for a device like this: its limits first, as ladders are held against them.
fn steps(
    target: &Target,
    device: Option<&str>,
    quick: bool,
    budget: Option<f64>,
) -> Vec<RecordStep> {
    let limits = if quick { QUICK_CEILINGS } else { CEILINGS };
    let mut ladders = Vec::new();
    for family in FAMILIES {
        ladders.extend(
            sizes(family.form, target, quick)
                .into_iter()
                .map(|size| (&family.name, size)),
        );
    }
    let whole = budget.unwrap_or(if quick { 120.0 } else { 900.0 });
    // A ladder has three shares, an experiment two.
    let share = (whole - limits) / (3 * ladders.len() + 2 * EXPERIMENTS.len()) as f64;
    let step = |name: &str, command: &[&str], budget: Option<f64>| {
        let file = format!("{name}.csv");
        let mut words: Vec<String> = device
            .map(|device| ["-d", device])
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        words.extend(
            command
                .iter()
                .copied()
                .chain(quick.then_some("--quick"))
                .map(str::to_owned),
        );
        let seconds = budget.map(|seconds| seconds.round().max(1.0));
        words.extend(
            seconds
                .iter()
                .flat_map(|seconds| ["--budget".to_owned(), format!("{seconds}s")]),
        );
        words.extend(["--csv".to_owned(), file.clone()]);
        RecordStep {
            file,
            words,
            seconds: seconds.unwrap_or(limits),
        }
    };
    let mut steps = vec![step("ceilings", &["ceiling"], None)];
    for (family, size) in ladders {
        let (name, n, cache) = match size {
            None => (family.to_string(), String::new(), Cache::Warm),
            Some((n, cache)) => (format!("{family}-{n}"), n.to_string(), cache),
        };
        let mut command = vec![&**family, "--no-tuned"];
        command.extend(["-n", &n].into_iter().filter(|_| !n.is_empty()));
        command.extend(
            ["--cache", "cold"]
                .into_iter()
                .filter(|_| cache == Cache::Cold),
        );
        steps.push(step(&name, &command, Some(3.0 * share)));
    }
    for experiment in EXPERIMENTS {
        steps.push(step(
            &format!("lab-{}", experiment.name),
            &["lab", experiment.name],
            Some(2.0 * share),
        ));
    }
    steps
}

/// The sizes that tell most: of a GPU one that launching decides, and others that no cache holds; of a CPU driver, which is
/// slower, smaller ones. None is the ladder's own size.
fn sizes(form: Form, target: &Target, quick: bool) -> Vec<Option<(u64, Cache)>> {
    use Cache::{Cold, Warm};
    // Twice the largest vectors, and others beside them.
    let largest = if target.global_mem >= 8 << 30 {
        1 << 28
    } else {
        1 << 26
    };
    let sizes: &[(u64, Cache)] = match (form, target.gpu) {
        _ if quick => return vec![None],
        (Form::Vector, true) => &[(1 << 20, Warm), (1 << 24, Cold), (largest, Cold)],
        (Form::Matrix, true) => &[(2048, Cold), (8192, Cold)],
        (Form::Square, true) => &[(1024, Warm), (4096, Warm)],
        (Form::Vector, false) => &[(1 << 20, Warm), (1 << 24, Warm)],
        (Form::Matrix, false) => &[(1024, Warm), (4096, Warm)],
        (Form::Square, false) => &[(512, Warm), (1024, Warm)],
    };
    sizes.iter().copied().map(Some).collect()
}

/// Runs a command to its end. In the folder, so that no path stands in its rows.
fn process(words: &[String], folder: &Path, quiet: bool) -> std::io::Result<ExitStatus> {
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(words)
        .current_dir(folder)
        .env(bench::PART_OF_RECORD, "1");
    // Variables may name files by paths from here.
    for (name, _) in VARIABLES {
        let path = std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_relative() && path.exists());
        command.envs(path.and_then(|path| Some((name, fs::canonicalize(path).ok()?))));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null());
    if quiet {
        command.stderr(Stdio::null());
    }
    wait(&mut command.spawn()?)
}

/// Waits for a process to end; one that does not after an interrupt is interrupted.
fn wait(child: &mut Child) -> std::io::Result<ExitStatus> {
    let mut since: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt::interrupted() && since.get_or_insert_with(Instant::now).elapsed() > GRACE {
            processes::interrupt(child);
            return child.wait();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

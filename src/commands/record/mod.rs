//! `gpulab record`: all that is worth keeping of a device, in one folder. Each part is a command of this program in a process
//! of its own, so that one that fails takes nothing with it.

mod journal;
mod sheet;
mod steps;

use super::next::{joined, quoted};
use crate::cli::environment::VARIABLES;
use crate::cli::{Global, RecordArgs};
use crate::console::{Out, note};
use crate::device::{doctor, select};
use crate::outcome::{DeviceInfo, PlatformInfo};
use crate::record::Run;
use crate::report::groups::distinct;
use crate::terminal::say;
use crate::{Error, bench, children, files, interrupt, store};
use journal::{Journal, JournalStep};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};
use steps::{RecordStep, Thoroughness, steps};

/// Where a command writes until it has ended.
const UNFINISHED: &str = "unfinished";

/// How long an interrupted command has to end by itself: at a terminal it is interrupted, too.
const GRACE: Duration = Duration::from_secs(2);

/// Records the device in the folder that is given, or says what that would be.
pub fn run(out: &mut Out, global: &Global, options: &RecordArgs) -> Result<(), Error> {
    let platforms = doctor::listing().map_err(Error::NoDevice)?.platforms;
    let info = select::select(&platforms, global.device.as_deref())?;
    let how = Thoroughness { device: global.device_given(), quick: options.quick, budget: options.budget };
    let steps = steps(&info.target, &how);
    let Some(folder) = &options.output else { return out.text(&proposal(info, &steps, &how)) };
    interrupt::watch();
    bench::announce(global, info);
    let lock = FolderLock::take(folder)?;
    let mut journal = Journal::open(folder, command(&folder_name(folder), &how), info, &steps)?;
    begin(folder, &platforms, info, &journal)?;
    let recorded = Recording { folder, quiet: global.quiet, steps: &steps }.run(&mut journal);
    // It stays where a file is left in it.
    let _ = fs::remove_dir(folder.join(UNFINISHED));
    drop(lock);
    recorded?;
    out.text(&summary(folder, journal.steps()))?;
    worst(journal.steps())
}

/// That no other record works in a folder at the same time.
struct FolderLock {
    path: PathBuf,
    file: fs::File,
}

impl FolderLock {
    /// Makes the folder, and waits for nobody.
    fn take(folder: &Path) -> Result<FolderLock, Error> {
        let path = folder.join(".lock");
        let unwritten = |source| Error::Output { what: path.display().to_string(), source };
        fs::create_dir_all(folder).map_err(unwritten)?;
        // What somebody else's file of this name holds stays.
        let file = fs::File::options().append(true).create(true).open(&path).map_err(unwritten)?;
        if files::lock(&file) {
            return Ok(FolderLock { path, file });
        }
        let why = "another gpulab record is using it: wait for it, or give another folder";
        Err(Error::Usage(format!("{}: {why}", folder.display())))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|m| m.len() == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The folder's own name: the path to it is nobody's business.
fn folder_name(folder: &Path) -> String {
    let whole = fs::canonicalize(folder);
    let path = whole.as_deref().unwrap_or(folder);
    path.file_name().map_or_else(|| "record".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// The command that makes a folder.
fn command(folder: &str, how: &Thoroughness<'_>) -> String {
    let words = how.words().into_iter().chain(["-o".to_owned(), folder.to_owned()]);
    format!("gpulab record {}", joined(&words.collect::<Vec<_>>()))
}

/// What would be run, for how long, and a name for the folder.
fn proposal(info: &DeviceInfo, steps: &[RecordStep], how: &Thoroughness<'_>) -> String {
    let name = sheet::folder_name(info, &Run::begin().host.cpu);
    let shared = Path::new("data/results");
    let place = if shared.is_dir() { shared } else { Path::new("") };
    let further = (2..100).map(|number| place.join(format!("{name}-{number}")));
    let mut names = std::iter::once(place.join(&name)).chain(further);
    let folder = names.find(|folder| !folder.exists()).unwrap_or_else(|| place.join(&name));
    let lines: String = steps.iter().map(|step| format!("  gpulab {}\n", joined(&step.words))).collect();
    format!(
        "{} commands on {}, {}; checks are never cut, so a slow device takes longer:\n{lines}nothing was run; this \
         command starts or continues it:\n  {}\n",
        steps.len(),
        info.name,
        minutes(steps.iter().map(|step| step.seconds).sum()),
        command(&folder.display().to_string(), how),
    )
}

fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("about {seconds:.0} s") } else { format!("about {:.0} min", seconds / 60.0) }
}

/// Makes the folder with the device's sheet and what is to be done.
fn begin(folder: &Path, platforms: &[PlatformInfo], info: &DeviceInfo, journal: &Journal) -> Result<(), Error> {
    let unfinished = folder.join(UNFINISHED);
    fs::create_dir_all(&unfinished)
        .map_err(|source| Error::Output { what: unfinished.display().to_string(), source })?;
    let platform = platforms.iter().find(|p| p.devices.iter().any(|d| d.selector == info.selector));
    if let Some(platform) = platform.filter(|_| !folder.join(sheet::FILE).exists()) {
        sheet::write(folder, platform, info)?;
    }
    journal.save()
}

/// A record under way.
struct Recording<'a> {
    folder: &'a Path,
    quiet: bool,
    steps: &'a [RecordStep],
}

impl Recording<'_> {
    /// Runs what is not whole yet, one command after the other, and takes down how each ended.
    fn run(&self, journal: &mut Journal) -> Result<(), Error> {
        // What a run that was killed left.
        self.steps.iter().try_for_each(|step| self.take_in(step))?;
        let missing: Vec<usize> = (0..self.steps.len()).filter(|&at| !journal.steps()[at].is_whole()).collect();
        let began = Instant::now();
        let foreseen = |of: &[usize]| of.iter().map(|&at| self.steps[at].seconds).sum::<f64>();
        // Checks are never cut: what is left takes as many times what was foreseen as what is done did.
        let left = |done: usize| {
            let slower = began.elapsed().as_secs_f64() / foreseen(&missing[..done]).max(1.0);
            minutes(foreseen(&missing[done..]) * slower.max(1.0))
        };
        if !missing.is_empty() && missing.len() < self.steps.len() {
            self.note(&format!(
                "{} of {} commands are done already",
                self.steps.len() - missing.len(),
                self.steps.len()
            ));
        }
        for (done, &at) in missing.iter().enumerate() {
            let step = &self.steps[at];
            self.note(&format!(
                "[{} of {}, {} left] gpulab {}",
                done + 1,
                missing.len(),
                left(done),
                joined(&step.words)
            ));
            self.run_step(step, at, journal)?;
            if interrupt::interrupted() {
                self.note("the results so far are kept: the same command continues");
                return Err(Error::Interrupted);
            }
        }
        Ok(())
    }

    fn run_step(&self, step: &RecordStep, at: usize, journal: &mut Journal) -> Result<(), Error> {
        let (began, run) = (Instant::now(), Run::begin());
        let ended = self.process(step)?;
        self.take_in(step)?;
        let took = (began.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        if let Some(entry) = journal.step(at) {
            entry.ended(run.time_utc, took, ended);
            if !entry.is_whole() {
                say(&format!("gpulab: {} failed: {}", entry.command, entry.end));
            }
        }
        journal.save()
    }

    /// Moves what a command has written to where it belongs.
    fn take_in(&self, step: &RecordStep) -> Result<(), Error> {
        let written = self.folder.join(UNFINISHED).join(&step.file);
        if written.is_file() { store::adopt(&self.folder.join(&step.file), &written) } else { Ok(()) }
    }

    /// Runs a command to its end: its exit code, or what ended it. In the folder, so that no path stands in its rows.
    fn process(&self, step: &RecordStep) -> Result<Result<u8, String>, Error> {
        let failed = |e: std::io::Error| Error::Failed(format!("cannot start a process of gpulab: {e}"));
        let mut command = Command::new(env::current_exe().map_err(failed)?);
        command.args(&step.words).current_dir(self.folder.join(UNFINISHED)).envs(absolute_paths());
        command.env(bench::PART_OF_RECORD, "1");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        if self.quiet {
            command.stderr(Stdio::null());
        }
        let status = wait(&mut command.spawn().map_err(failed)?).map_err(failed)?;
        Ok(match status.code().and_then(|code| u8::try_from(code).ok()) {
            _ if interrupt::interrupted() => Err("interrupted".to_owned()),
            Some(code) => Ok(code),
            None => Err(format!("the system ended it ({status})")),
        })
    }

    fn note(&self, text: &str) {
        if !self.quiet {
            note(text);
        }
    }
}

/// Waits for a process to end; one that does not after an interrupt is interrupted.
fn wait(child: &mut Child) -> std::io::Result<ExitStatus> {
    let mut since: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupt::interrupted() && since.get_or_insert_with(Instant::now).elapsed() > GRACE {
            children::interrupt(child);
            return child.wait();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Variables that name files by paths from here, with paths that lead there from anywhere.
fn absolute_paths() -> Vec<(&'static str, PathBuf)> {
    let names = VARIABLES.iter().map(|variable| variable.name);
    let path = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_relative() && path.exists());
    names.filter_map(|name| Some((name, fs::canonicalize(path(name)?).ok()?))).collect()
}

/// Files of a record that hold no results.
pub(super) const ABOUT: [&str; 2] = [sheet::FILE, journal::FILE];

/// What the folder holds now.
fn summary(folder: &Path, steps: &[JournalStep]) -> String {
    let whole = steps.iter().filter(|step| step.is_whole()).count();
    let files = distinct(steps.iter().map(|step| step.file.as_str()));
    let there = files.into_iter().filter(|file| folder.join(file).exists());
    let there: Vec<&str> = there.chain(ABOUT).collect();
    let place = quoted(&format!("{}/", folder.display()));
    format!(
        "{place}: {whole} of {} commands, in {}\nlook at it: gpulab report {place}\n\
         send it in: \"Sending in a result\" in CONTRIBUTING.md says how\n",
        steps.len(),
        there.join(", ")
    )
}

/// The error of the commands that did not get to their ends or found something wrong; the worst of them decides its kind.
fn worst(steps: &[JournalStep]) -> Result<(), Error> {
    let odd: Vec<&JournalStep> = steps.iter().filter(|step| step.exit_code != Some(0)).collect();
    let lines: String = odd.iter().map(|step| format!("\n  {}: {}", step.command, step.end)).collect();
    let text = format!("{} of {} commands did not end well:{lines}", odd.len(), steps.len());
    let has = |code: u8| odd.iter().any(|step| step.exit_code == Some(code));
    match odd.iter().all(|step| step.is_whole()) {
        _ if odd.is_empty() => Ok(()),
        _ if has(4) => Err(Error::WrongResult(text)),
        _ if has(5) => Err(Error::BuildFailed(text)),
        true => Err(Error::Untrusted(text)),
        false => Err(Error::Failed(format!("{text}\nthe same command repeats the incomplete ones"))),
    }
}

//! A record under way: each of its commands in a process of its own.

use super::journal::Journal;
use super::sheet;
use super::steps::{RecordStep, UNFINISHED};
use super::text::minutes;
use crate::cli::environment::VARIABLES;
use crate::outcome::PlatformInfo;
use crate::prelude::*;
use crate::shell::joined;
use crate::{bench, children, store};
use std::env;
use std::process::{Child, Command, ExitStatus, Stdio};

/// How long an interrupted command has to end by itself: at a terminal it is interrupted, too.
const GRACE: Duration = Duration::from_secs(2);

/// Makes the folder with the device's sheet and what is to be done.
pub(crate) fn begin(
    folder: &Path,
    platforms: &[PlatformInfo],
    info: &DeviceInfo,
    journal: &Journal,
) -> Result<(), Error> {
    // First, as by it a later run knows the others.
    journal.save()?;
    let unfinished = folder.join(UNFINISHED);
    fs::create_dir_all(&unfinished).map_err(Error::unwritten(&unfinished))?;
    let platform = platforms.iter().find(|p| p.devices.iter().any(|d| d.selector == info.selector));
    if let Some(platform) = platform.filter(|_| !folder.join(sheet::FILE).exists()) {
        sheet::write(folder, platform, info)?;
    }
    Ok(())
}

pub(crate) struct Recording<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) quiet: bool,
    pub(crate) steps: &'a [RecordStep],
}

impl Recording<'_> {
    /// Runs what is not whole yet, one command after the other, and takes down how each ended.
    pub(crate) fn run(&self, journal: &mut Journal) -> Result<(), Error> {
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
        let began = Instant::now();
        let run = Run::begin();
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

//! `gpulab try`: a reader's kernel on the ladder of a family.

use crate::adopt::{Brought, described, own};
use crate::bench::judge::{self, JudgedFile, Judging};
use crate::bench::simulate;
use crate::cli::{Ladder, TryArgs};
use crate::count::CheckFinding;
use crate::counting;
use crate::judgement::{Judgement, Ruling};
use crate::kernels::text;
use crate::ladder::{self, LadderRun};
use crate::outputs;
use crate::prelude::*;
use crate::report::hint::{Hint, hint};
use crate::report::landing::{Landing, landing};
use crate::report::{self, judged};
use crate::shell::quoted;
use crate::store::Deferred;
use serde::Serialize;
use std::time::SystemTime;

/// Judges the kernel; one that is right is timed between the family's rungs, and shown where it lands.
pub fn run(out: &mut Out, global: &Global, options: &TryArgs) -> Result<(), Error> {
    if let Some(name) = &options.template {
        return template(out, name);
    }
    let (Some(file), Some(name)) = (&options.file, &options.family) else {
        return Err(Error::Usage("give a kernel and its family, as in gpulab try my.cl --as reduce".into()));
    };
    if described::is_file(name) {
        return Err(Error::Usage(format!(
            "--as {name}: add your kernel to that file as a [[rung]], and run gpulab ladder {name}"
        )));
    }
    let named = file.display().to_string();
    let (file, kernel) = own::split_kernel(&named);
    let output = &options.ladder.output;
    let to_stdout = [&output.json, &output.csv, &output.md, &output.samples].map(Option::as_deref).contains(&Some("-"));
    let tried = TriedFile { options, file, kernel, name, to_stdout };
    if options.watch { tried.watch(out, global) } else { tried.once(out, global) }
}

/// When a file and those that it includes were written, and their sizes.
fn stamps(file: &Path) -> Vec<Option<(SystemTime, u64)>> {
    own::files_of(file)
        .iter()
        .map(|path: &PathBuf| {
            let metadata = std::fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
        .collect()
}

struct TriedFile<'a> {
    options: &'a TryArgs,
    file: &'a Path,
    kernel: Option<&'a str>,
    name: &'a str,
    /// Whether a file takes standard output, so that all else goes to standard error.
    to_stdout: bool,
}

/// What a grading script reads.
#[derive(Default, Serialize)]
struct TryReport {
    /// Of the names below.
    schema: u32,
    gpulab: &'static str,
    file: String,
    family: String,
    /// The kernel's name among the rungs.
    rung: Option<String>,
    device: Option<String>,
    exit_code: u8,
    /// Why it is not 0.
    error: Option<String>,
    hint: Option<Hint>,
    judgement: Option<Judgement>,
    /// None where the simulator did not run it to its end.
    check: Option<Vec<CheckFinding>>,
    landing: Option<Landing>,
    /// Of the kernel and of the rungs beside it, as `gpulab count` has them.
    counts: Vec<CountRow>,
    /// Of the ladder, as `gpulab help columns` says.
    rows: Vec<Row>,
}

impl TriedFile<'_> {
    /// Tries the file again whenever it changes, or what it includes, until an interrupt.
    fn watch(&self, out: &mut Out, global: &Global) -> Result<(), Error> {
        const PAUSE: Duration = Duration::from_millis(200);
        interrupt::watch();
        loop {
            let state = stamps(self.file);
            note(&format!("--- {}, {} ---", format::terminal(&self.file.display().to_string()), Run::begin().time_utc));
            match self.once(out, global) {
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => note(&format!("gpulab: {error}")),
                Ok(()) => {}
            }
            note("waiting for the file to be saved; Ctrl-C ends");
            // An editor may take a file away for a moment before the new one is there.
            while stamps(self.file) == state || !self.file.is_file() {
                if interrupt::interrupted() {
                    return Ok(());
                }
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn once(&self, out: &mut Out, global: &Global) -> Result<(), Error> {
        let mut json = self.options.ladder.output.json.as_deref().map(Deferred::open).transpose()?;
        let mut report = None;
        let done = self.run(out, global, &mut report);
        let Some(json) = &mut json else { return done };
        let mut report = report.unwrap_or_else(|| self.unjudged());
        report.exit_code = done.as_ref().err().map_or(0, Error::exit_code);
        report.error = done.as_ref().err().map(Error::to_string);
        let written = outputs::replace(json, outputs::json(&report)?);
        worst_of([done, written])
    }

    fn run(&self, out: &mut Out, global: &Global, report: &mut Option<TryReport>) -> Result<(), Error> {
        judge::warn_of_trust(global);
        let options = &self.options.ladder;
        let judging = Judging {
            family: self.name,
            lines: self.lines(),
            dtype: options.dtype,
            wg: options.wg,
            n: self.options.n,
            m: self.options.m,
            set: &self.options.set,
            seed: options.seed,
            deadline: options.measure.deadline,
            memory: self.options.memory,
            quick: options.measure.quick,
        };
        let judged = judge::judge_file(global, self.file, &judging)?;
        let is_checked = self.options.check && judged.judgement.ruling != Ruling::NotBuilt;
        let word = if is_checked { None } else { second_opinion(global, &judged)? };
        let is_found = word.as_ref().is_some_and(|(_, is_found)| *is_found);
        self.tell(out, global, |screen| judged::text(&judged.rung.label(), &judged.judgement, is_found, screen))?;
        *report = Some(self.report(&judged, is_found));
        let is_clean = match word {
            Some((word, _)) => self.tell(out, global, |_| word.clone()),
            None if is_checked => self.check(out, global, &judged, report),
            None => Ok(()),
        };
        judge::verdict(&judged)?;
        is_clean?;
        if !is_checked {
            say(simulate::UNCHECKED);
        }
        let mut rows = Vec::new();
        let climbed = self.climb(out, global, &judged, &mut rows);
        let landing = landing(&judged.brought.family, &judged.rung, &rows);
        let counted = match &landing {
            Some(landing) if climbed.is_ok() => self.count(out, global, &judged, landing, &rows)?,
            _ => Vec::new(),
        };
        if let Some(report) = report {
            report.landing = landing;
            report.counts = counted;
            report.rows = rows;
        }
        climbed
    }

    /// What options declare of the kernel.
    fn lines(&self) -> Vec<String> {
        let kernel = self.kernel.map(|kernel| format!("kernel {kernel}"));
        let args = self.options.args.as_ref().map(|args| format!("args {args}"));
        [kernel, args].into_iter().flatten().chain(self.options.declare.iter().cloned()).collect()
    }

    /// The line with the command that plays where the kernel costs most; none of a kernel that options declare more of.
    fn film(&self) -> String {
        if self.options.args.is_some() || !self.options.declare.is_empty() {
            return String::new();
        }
        let stem = self.file.file_stem().unwrap_or_default().display();
        let kernel = self.kernel.map_or_else(String::new, |kernel| format!(":{kernel}"));
        let what = quoted(&format!("{}{kernel}", self.file.display()));
        format!("  gpulab film {what} --as {} --line worst -o {}\n", self.name, quoted(&format!("{stem}.html")))
    }

    /// Counts the kernel and the rungs between which it landed, and says what would pay most; without a simulator, says so.
    fn count(
        &self,
        out: &mut Out,
        global: &Global,
        judged: &JudgedFile,
        at: &Landing,
        measured: &[Row],
    ) -> Result<Vec<CountRow>, Error> {
        let names = [&at.after, &at.before].map(|rung| rung.as_ref().map(|rung| rung.variant.as_str()));
        let rungs: Vec<_> = names.into_iter().flatten().filter_map(|name| judged.brought.family.rung(name)).collect();
        let limit = Duration::from_secs_f64(self.options.ladder.measure.deadline.unwrap_or(judge::SIMULATOR_S));
        let registry = &judged.brought.registry;
        let kernel = (&judged.brought.family, &judged.rung);
        match counting::beside(registry, kernel, &rungs, &judged.judgement.asked, (limit, global.quiet)) {
            Ok(rows) => {
                self.tell(out, global, |screen| format!("\n{}", report::count::table(&rows, false, screen)))?;
                let variant = judged.rung.variant();
                let own: Vec<CountRow> = rows.iter().filter(|row| row.variant == variant).cloned().collect();
                let Some(row) = measured.iter().find(|row| row.variant == variant) else { return Ok(rows) };
                if let Some(payoffs) = counting::payoffs(registry, row, &own, global.quiet)? {
                    let text = |screen| report::payoff::text(&payoffs, &row.family, None, screen);
                    let film = self.film();
                    self.tell(out, global, |screen| format!("\n{}{film}", text(screen)))?;
                }
                Ok(rows)
            }
            Err(Error::Interrupted) => Err(Error::Interrupted),
            Err(why) => {
                note(&format!("counts are skipped: {why}"));
                Ok(Vec::new())
            }
        }
    }

    /// Runs the kernel in the simulator, and says what that found.
    fn check(
        &self,
        out: &mut Out,
        global: &Global,
        judged: &JudgedFile,
        report: &mut Option<TryReport>,
    ) -> Result<(), Error> {
        let checked = judge::check(judged, self.options.ladder.measure.deadline)?;
        let source = judged.rung.text().unwrap_or_default();
        self.tell(out, global, |screen| simulate::told(&checked, source, screen))?;
        let name = judged.rung.label();
        // What nobody looked at has no list of faults, not even an empty one.
        let checked_out = simulate::verdict(&checked, &name, true);
        if let Some(report) = report.as_mut().filter(|_| !matches!(checked_out, Err(Error::Untrusted(_)))) {
            report.check = Some(checked.findings);
        }
        checked_out
    }

    fn climb(&self, out: &mut Out, global: &Global, judged: &JudgedFile, rows: &mut Vec<Row>) -> Result<(), Error> {
        // --json is ours.
        let mut options: Ladder = self.options.ladder.clone();
        options.output.json = None;
        let asked = &judged.judgement.asked;
        let family = &judged.brought.family;
        let is_choice = |name: &String| family.choices.iter().any(|choice| choice.name == name);
        let choices = asked.params.clone().into_iter().filter(|(name, _)| is_choice(name)).collect();
        let mut study = LadderRun::new(family, asked.shape, Some(asked.dtype), &choices);
        study.registry = judged.brought.registry.clone();
        study.own_cases = vec![asked.clone()];
        study.own = Some(&judged.rung);
        study.memory = Some(judged.memory);
        study.to_stderr = self.to_stdout;
        ladder::run_into(out, global, &options, &study, rows)
    }

    /// Of a file that did not get so far that it was judged.
    fn unjudged(&self) -> TryReport {
        TryReport {
            schema: 1,
            gpulab: env!("CARGO_PKG_VERSION"),
            file: self.file.display().to_string(),
            family: self.name.to_owned(),
            ..TryReport::default()
        }
    }

    fn report(&self, judged: &JudgedFile, is_found: bool) -> TryReport {
        TryReport {
            rung: Some(judged.rung.variant().into()),
            device: Some(judged.device.clone()),
            hint: hint(&judged.judgement, is_found),
            judgement: Some(judged.judgement.clone()),
            ..self.unjudged()
        }
    }

    /// Prints a text: on standard error where a file takes standard output.
    fn tell(&self, out: &mut Out, global: &Global, text: impl Fn(Screen) -> String) -> Result<(), Error> {
        if self.to_stdout {
            say(text(Screen::stderr()).trim_end());
            return Ok(());
        }
        out.text(&text(screen(global.color)))
    }
}

/// What the simulator says of a kernel that is wrong, at the smallest size where it is, and whether that is the fault.
fn second_opinion(global: &Global, judged: &JudgedFile) -> Result<Option<(String, bool)>, Error> {
    let kernel = (&judged.rung, &judged.judgement);
    simulate::second_opinion(&judged.brought.registry, kernel, global.device.as_deref(), screen(global.color))
}

/// Prints a kernel to begin with.
fn template(out: &mut Out, name: &str) -> Result<(), Error> {
    let Brought { family, .. } = Brought::new(name, None)?;
    out.text(
        text(&format!("templates/{}.cl", family.name))
            .ok_or_else(|| Error::Usage(format!("there is no template for {}", family.name)))?,
    )
}

//! `gpulab try`: a reader's kernel on the ladder of a family, a ladder that a reader's TOML file describes, an exercise's kernel,
//! a source's kernels as printed; or the beginnings of a file.

mod against;
mod alone;
pub(crate) mod judge;
pub(crate) mod simulate;

use super::count::counter;
use super::ladder::{self, LadderRun};
use super::time;
use crate::brought::{
    Brought, assembled, family_files, family_of_file, is_exercise, is_family_file, kernel_files,
    located, parted, read, shown, written,
};
use crate::cli::{Global, Ladder, PrintedSource, TryArgs};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{note, print, quoted, screen, worst_of};
use crate::count::CountRow;
use crate::data::{Dtype, Params, Shape};
use crate::judgement::{Judgement, Ruling};
use crate::kernels::{self, Family, Registry, Rung, draft, ladders, text, transpose};
use crate::outcome::Status;
use crate::outputs::Paths;
use crate::plan::{Case, WorkGroup};
use crate::record::{REPEATS, Row, Run};
use crate::report::format::Screen;
use crate::report::hint::{Hint, hint};
use crate::report::landing::{Landing, landing};
use crate::report::verdict::{Verdict, Word};
use crate::report::{self, judged, printed};
use crate::store::Sink;
use crate::suggest::{did_you_mean, nearest};
use crate::terminal::say;
use crate::{Error, Result, bench, files, interrupt, outputs, usage_error, values};
use clap::ValueEnum;
use judge::JudgedFile;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Seconds that a case may take by default in the simulator, which is slow.
const CHECK_S: f64 = 120.0;

fn limit(options: &Ladder) -> Duration {
    Duration::from_secs_f64(options.measure.deadline.unwrap_or(CHECK_S))
}

pub fn run(global: &Global, options: &TryArgs) -> Result<()> {
    if let Some(name) = &options.template {
        return template(name);
    }
    if !options.host.program.is_empty() {
        return time::run(global, &options.host, &Paths::from(&options.ladder.output));
    }
    if let Some(source) = options.source {
        return printed_kernels(global, options, source);
    }
    let Some(what) = &options.file else {
        return usage_error("name a file, as in gpulab try mine/family.toml");
    };
    if let Some(old) = &options.against {
        return against::run(global, options, [old, what]);
    }
    if !options.watch {
        return once(global, options, what);
    }
    watched(&located(parted(what).0)?, || once(global, options, what))
}

/// Does something again whenever a file, or one that it names, is saved; Ctrl-C ends it.
pub fn watched(file: &Path, mut once: impl FnMut() -> Result<()>) -> Result<()> {
    const PAUSE: Duration = Duration::from_millis(200);
    interrupt::watch();
    loop {
        let state = stamps(file);
        note(&format!(
            "--- {}, {} ---",
            shown(file),
            Run::begin().time_utc
        ));
        match once() {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => note(&format!("gpulab: {error}")),
            Ok(()) => {}
        }
        note("waiting for the file to be saved; Ctrl-C ends");
        // An editor may take a file away for a moment before the new one is there.
        while stamps(file) == state || !file.is_file() {
            if interrupt::interrupted() {
                return Err(Error::Interrupted);
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// When a file and those that it names were written, and their sizes.
fn stamps(file: &Path) -> Vec<Option<(SystemTime, u64)>> {
    let files = if is_family_file(&file.to_string_lossy()) {
        family_files(file)
    } else {
        kernel_files(file)
    };
    files
        .iter()
        .map(|path| {
            let metadata = fs::metadata(path).ok()?;
            Some((metadata.modified().ok()?, metadata.len()))
        })
        .collect()
}

fn once(global: &Global, options: &TryArgs, what: &str) -> Result<()> {
    let (name, part) = parted(what);
    match &options.family {
        Some(family) if is_family_file(family) || is_family_file(name) => usage_error(format!(
            "--as {family}: a kernel of a family of yours is a [[rung]] of its file, as in gpulab try mine/family.toml"
        )),
        None if is_family_file(name) => {
            let mut registry = Registry::default();
            let family = family_of_file(&mut registry, &located(name)?, global.device.as_deref())?;
            let mut climbed = options.ladder.clone();
            climbed.variant = climbed.variant.or(part.map(str::to_owned));
            climb_family(global, options, &climbed, (registry, &family), None)
        }
        None if !is_exercise(name) && (name.ends_with(".cl") || Path::new(name).is_file()) => {
            if !options.draft {
                return alone::run(global, options, (name, part));
            }
            let path = Path::new(name);
            let text = read(path)?;
            let text = assembled(path, &text, "", &[]).unwrap_or_else(|why| {
                say(&why.to_string());
                text
            });
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            print(&draft(&text, &file, part).map_err(Error::Usage)?)
        }
        None if ladders().any(|family| family.name == name) => usage_error(format!(
            "{what} is a ladder of gpulab's: gpulab {name} runs it"
        )),
        _ => own_kernel(global, options, what),
    }
}

/// Climbs the ladder of a family that a file describes.
fn climb_family(
    global: &Global,
    options: &TryArgs,
    climbed: &Ladder,
    (registry, family): (Registry, &Family),
    source: Option<String>,
) -> Result<()> {
    let shape = judge::shape(family, options)?;
    let dtype = bench::dtype(family, climbed.dtype)?;
    if let Some(described) = family.described() {
        described
            .check(shape, dtype)
            .map_err(|why| Error::Usage(format!("{}: {why}", family.name)))?;
    }
    let rungs: Vec<&Rung> = family.kernels().collect();
    let params = bench::own_settings(family, &rungs, &options.set)?;
    let mut study = LadderRun {
        registry,
        ..LadderRun::new(family, shape, climbed.dtype, &params)
    };
    if let Some(source) = source {
        set_up(&mut study, source);
    }
    if climbed.wg.is_none() {
        let of_group = rungs
            .iter()
            .filter_map(|rung| Some((rung.variant(), rung.work_group()?)));
        study.own_cases = of_group
            .map(|(variant, wg)| study.case(variant, dtype, wg, climbed.given.seed))
            .collect();
    }
    let is_checked = options.check.is_some() || options.faults;
    let is_clean = if is_checked {
        let is_strict = options.check.is_some() || climbed.measure.strict;
        check_rungs(options, climbed, (family, dtype), &study, is_strict)
    } else {
        Ok(())
    };
    // A driver may hide what the simulator found: both are told.
    let mut rows = Vec::new();
    let done = ladder::run(global, climbed, &study, &mut rows);
    let is_wrong = rows.iter().any(|row| row.status == Status::WrongResult);
    if !is_checked && !is_wrong {
        say(simulate::UNCHECKED);
    }
    rungs.iter().for_each(|rung| simulate::remark(family, rung));
    let looked = look_closer(global, options, (family, &study), &rows);
    let ran = match rows
        .iter()
        .filter(|row| !row.on_host())
        .all(|row| row.status == Status::Skipped)
    {
        true if done.is_ok() => usage_error("no rung ran: each was skipped, for the reason above"),
        _ => Ok(()),
    };
    worst_of([is_clean, done, looked, ran])
}

/// A source's kernels as printed, with its table and its faults; NVIDIA's study is the transposition's own ladder in the source's
/// set-up.
fn printed_kernels(global: &Global, options: &TryArgs, source: PrintedSource) -> Result<()> {
    let name = source
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned());
    if source == PrintedSource::Nvidia && !options.faults {
        /// Turns of NVIDIA's loop in the kernel.
        const NREPS: &str = "10";
        let family = &transpose::FAMILY;
        let n = options
            .n
            .unwrap_or_else(|| options.ladder.default_size(family.form));
        let shape = Shape {
            n,
            m: options.m.unwrap_or(n),
        };
        let params =
            bench::own_settings(family, &family.kernels().collect::<Vec<_>>(), &options.set)?;
        let inside = Params::from([(REPEATS.to_owned(), NREPS.to_owned())]);
        let mut study = LadderRun::new(family, shape, options.ladder.dtype, &params);
        study.series.push(inside);
        set_up(&mut study, name);
        return ladder::run(global, &options.ladder, &study, &mut Vec::new());
    }
    let file = if options.faults {
        format!("{name}_faults")
    } else {
        name.clone()
    };
    let Some(shipped) = kernels::brought(&file) else {
        return usage_error(format!(
            "all faults of {name}'s kernels show at its own sizes: leave --faults out"
        ));
    };
    let mut registry = Registry::default();
    let family = family_of_file(&mut registry, &written(shipped)?, global.device.as_deref())?;
    climb_family(
        global,
        options,
        &options.ladder,
        (registry, &family),
        Some(name),
    )
}

/// Gives a ladder what a source's has besides: its table, and its faults.
fn set_up(study: &mut LadderRun<'_>, source: String) {
    let own = study.family.name.to_string();
    let faulty = study
        .family
        .kernels()
        .map(|rung| rung.variant())
        .filter(|rung| printed::is_faulty(&own, rung));
    study.faulty = faulty.map(str::to_owned).collect();
    study.variants = study
        .family
        .described()
        .is_none()
        .then_some("copy,local_copy,1-4");
    study.claim = Some(Box::new(move |rows, units| {
        let table = if own.ends_with("_faults") {
            String::new()
        } else {
            printed::beside(&source, rows, units)
        };
        match printed::faults(&own, rows) {
            faults if faults.is_empty() || table.is_empty() => table + &faults,
            faults => format!("{table}\n{faults}"),
        }
    }));
}

/// Says of the first rung that is wrong at which size it begins, what it looks like, and what the simulator makes of it.
fn look_closer(
    global: &Global,
    options: &TryArgs,
    (family, study): (&Family, &LadderRun<'_>),
    rows: &[Row],
) -> Result<()> {
    let wrong = rows.iter().find(|row| {
        let is_lost = row.status == Status::Failed && row.reason.contains("signal");
        (is_lost || [Status::WrongResult, Status::Timeout].contains(&row.status))
            && !study.faulty.contains(&row.variant)
    });
    let Some((row, rung)) = wrong.and_then(|row| Some((row, family.rung(&row.variant)?))) else {
        return Ok(());
    };
    let case = Case {
        wg: row.wg.unwrap_or(WorkGroup::linear(64)),
        params: row.params.clone(),
        seed: row.seed.unwrap_or_default(),
        ..Case::of(&family.name, rung.variant(), row.dtype, study.shape)
    };
    let mut worker = global.worker(&study.registry, judge::SMALL)?;
    let judgement = judge::judge_rung(&mut worker, (family, rung), &case)?;
    let screen = Screen::stderr();
    let (word, is_found) = simulate::second_opinion(
        global,
        &study.registry,
        (rung, &judgement),
        &drawing(options, rung),
        screen,
    )?;
    let told = judged::text(&rung.label(), &judgement, is_found, screen) + &word;
    say(told.trim_end());
    Ok(())
}

/// Runs each rung in the simulator, and says what that found.
fn check_rungs(
    tried: &TryArgs,
    options: &Ladder,
    (family, dtype): (&Family, Dtype),
    study: &LadderRun<'_>,
    is_strict: bool,
) -> Result<()> {
    let limit = limit(options);
    let mut worker = simulate::open(&study.registry, limit)?;
    let rungs = match options.variant.as_deref() {
        Some(list) => values::variants(family, list).map_err(Error::Usage)?,
        None => family.kernels().collect(),
    };
    let mut verdicts = Vec::new();
    for rung in rungs {
        let wg = options
            .wg
            .or(rung.work_group())
            .unwrap_or(WorkGroup::linear(64));
        let case = study.case(rung.variant(), dtype, wg, options.given.seed);
        let checked = simulate::check(&mut worker, (family, rung), &case, limit)?;
        let told = simulate::told(&checked, rung, &drawing(tried, rung), Screen::stderr());
        // Somebody else's file may take standard output.
        say(format!("{}: {told}", rung.label()).trim_end());
        if checked.findings.is_empty() || !study.faulty.iter().any(|name| name == rung.variant()) {
            verdicts.push(simulate::verdict(&checked, &rung.label(), is_strict));
        }
    }
    worst_of(verdicts)
}

/// What a grading script reads of a kernel that was tried: the verdict, and what it came from.
#[derive(Serialize)]
struct TryReport {
    #[serde(flatten)]
    verdict: Verdict,
    hint: Option<Hint>,
    judgement: Option<Judgement>,
    landing: Option<Landing>,
    /// Of the kernel and of the rungs beside it, as `gpulab count` has them.
    counts: Vec<CountRow>,
    /// Of the ladder, as `gpulab help columns` says.
    rows: Vec<Row>,
}

/// A kernel that solves the problem of a family, judged, and timed between the family's rungs if it is right; `what` is its name,
/// as in `mine.cl:kernel`.
fn own_kernel(global: &Global, options: &TryArgs, what: &str) -> Result<()> {
    let mut json = options
        .ladder
        .output
        .json
        .as_deref()
        .map(Sink::open)
        .transpose()?;
    let mut report = TryReport {
        verdict: Verdict::new("try", what),
        hint: None,
        judgement: None,
        landing: None,
        counts: Vec::new(),
        rows: Vec::new(),
    };
    let done = judge_and_climb(global, options, what, &mut report);
    let Some(json) = &mut json else { return done };
    let verdict = &mut report.verdict;
    if let Err(error) = &done {
        verdict.exit_code = error.exit_code();
        verdict.reason = error.to_string();
        verdict.verdict = match error {
            Error::WrongResult(_) if verdict.findings.is_empty() => Word::Incorrect,
            Error::WrongResult(_) => Word::Found,
            Error::BuildFailed(_) => Word::NotBuilt,
            _ => Word::NotLookedAt,
        };
    }
    let written = outputs::replace(json, outputs::json(&report)?);
    worst_of([done, written])
}

fn judge_and_climb(
    global: &Global,
    options: &TryArgs,
    what: &str,
    report: &mut TryReport,
) -> Result<()> {
    if global.verbose {
        note(
            "OpenCL drivers run a kernel as native code of this user: deadline and memory limit are not a sandbox",
        );
    }
    let judged = judge::judge_own(global, brought(options, what)?, options)?;
    report.verdict.reference = Some(judged.brought.family.name.to_string());
    let is_checked = options.check.is_some() && judged.judgement.ruling != Ruling::NotBuilt;
    let kernel = (&judged.rung, &judged.judgement);
    let (word, is_found) = match is_checked {
        true => (String::new(), false),
        false => simulate::second_opinion(
            global,
            &judged.brought.registry,
            kernel,
            &drawing(options, &judged.rung),
            screen(global.color),
        )?,
    };
    if judged.judgement.ruling != Ruling::Right {
        tell_judgement(global, options, &judged, is_found)?;
    }
    report.verdict.device = Some(judged.device.clone());
    report.hint = hint(&judged.judgement, is_found);
    report.judgement = Some(judged.judgement.clone());
    simulate::remark(&judged.brought.family, &judged.rung);
    let is_clean = match &*word {
        _ if is_checked => check(global, options, &judged, report),
        "" => Ok(()),
        word => tell(global, options, |_| word.to_owned()),
    };
    judge::verdict(&judged)?;
    if is_clean.is_err() {
        tell_judgement(global, options, &judged, is_found)?;
    }
    is_clean?;
    if !is_checked {
        say(simulate::UNCHECKED);
    }
    let climbed = climb(global, options, &judged, &mut report.rows);
    report.landing = landing(&judged.brought.family, &judged.rung, &report.rows);
    if climbed.is_ok() {
        count(global, options, &judged, report)?;
    }
    // Behind all tables, where a reader looks.
    worst_of([climbed, tell_judgement(global, options, &judged, is_found)])
}

fn tell_judgement(
    global: &Global,
    options: &TryArgs,
    judged: &JudgedFile,
    is_found: bool,
) -> Result<()> {
    tell(global, options, |screen| {
        judged::text(&judged.rung.label(), &judged.judgement, is_found, screen)
    })
}

/// The kernel and its family, with what options declare of it.
fn brought(options: &TryArgs, what: &str) -> Result<Brought> {
    let (name, kernel) = parted(what);
    let Some(family) = &options.family else {
        return Ok(Brought::of(what, None)?.0);
    };
    let kernel = kernel.map(|kernel| format!("kernel {kernel}"));
    let args = options.args.as_ref().map(|args| format!("args {args}"));
    let lines: Vec<String> = [kernel, args]
        .into_iter()
        .flatten()
        .chain(options.declare.iter().cloned())
        .collect();
    Brought::with_own(family, Path::new(name), &lines)
}

/// Counts the kernel and the rungs between which it landed, and says what would pay most; without a simulator, says so.
fn count(
    global: &Global,
    options: &TryArgs,
    judged: &JudgedFile,
    report: &mut TryReport,
) -> Result<()> {
    let Some(at) = &report.landing else {
        return Ok(());
    };
    let family = &judged.brought.family;
    let rungs: Vec<_> = at
        .after
        .iter()
        .chain(&at.before)
        .filter_map(|rung| family.rung(&rung.variant))
        .collect();
    let limit = limit(&options.ladder);
    let registry = &judged.brought.registry;
    let kernel = (family, &judged.rung);
    match counter::beside(
        registry,
        kernel,
        &rungs,
        &judged.judgement.asked,
        (limit, global.quiet),
    ) {
        Ok(rows) => report.counts = rows,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(why) => {
            note(&format!("counts are skipped: {why}"));
            return Ok(());
        }
    }
    tell(global, options, |screen| {
        format!("\n{}", report::count::table(&report.counts, false, screen))
    })?;
    let variant = judged.rung.variant();
    let own: Vec<CountRow> = report
        .counts
        .iter()
        .filter(|row| row.variant == variant)
        .cloned()
        .collect();
    let Some(row) = report.rows.iter().find(|row| row.variant == variant) else {
        return Ok(());
    };
    let mut device = String::new();
    let mut payoffs = None;
    if row.is_on_cpu_device() {
        let on = options.ladder.on.as_deref();
        let gpu = RecordedGpu::of(on.unwrap_or(USUAL), family)?;
        let mut case = judged.judgement.asked.clone();
        case.shape = gpu.largest(case.dtype).unwrap_or(case.shape);
        payoffs = gpu.payoffs(registry, family, &case, on.is_none())?;
        device = gpu.name;
    }
    if payoffs.is_none() {
        payoffs = counter::payoffs(registry, row, &own, global.quiet)?;
    }
    let Some(payoffs) = payoffs else {
        return Ok(());
    };
    let film = match &*drawing(options, &judged.rung) {
        "" => String::new(),
        draw => format!("  {draw} --line worst --film\n"),
    };
    tell(global, options, |screen| {
        format!(
            "\n{}{film}",
            report::payoff::text(&payoffs, &device, (&row.family, None), screen)
        )
    })
}

/// The command that draws a reader's rung; nothing where options declare more of it.
fn drawing(options: &TryArgs, rung: &Rung) -> String {
    let file = options.file.as_deref().unwrap_or_default();
    let (name, _) = parted(file);
    let is_declared = options.args.is_some() || !options.declare.is_empty();
    match &options.family {
        _ if file.is_empty() || is_declared || is_exercise(name) => String::new(),
        Some(family) => format!("gpulab draw {} --as {family}", quoted(file)),
        None => format!("gpulab draw {}:{}", quoted(name), rung.variant()),
    }
}

/// Runs the kernel in the simulator, and says what that found.
fn check(
    global: &Global,
    options: &TryArgs,
    judged: &JudgedFile,
    report: &mut TryReport,
) -> Result<()> {
    let limit = limit(&options.ladder);
    let mut worker = simulate::open(&judged.brought.registry, limit)?;
    let kernel = (&judged.brought.family, &judged.rung);
    let checked = simulate::check(&mut worker, kernel, &judged.judgement.asked, limit)?;
    let draw = drawing(options, &judged.rung);
    tell(global, options, |screen| {
        simulate::told(&checked, &judged.rung, &draw, screen)
    })?;
    let name = judged.rung.label();
    simulate::add(&mut report.verdict, &checked, &name);
    simulate::verdict(&checked, &name, true)
}

fn climb(
    global: &Global,
    options: &TryArgs,
    judged: &JudgedFile,
    rows: &mut Vec<Row>,
) -> Result<()> {
    // --json is ours.
    let mut climbed: Ladder = options.ladder.clone();
    climbed.output.json = None;
    let asked = &judged.judgement.asked;
    let family = &judged.brought.family;
    let mut choices = asked.params.clone();
    choices.retain(|name, _| family.choices.iter().any(|choice| choice.name == name));
    let mut study = LadderRun::new(family, asked.shape, Some(asked.dtype), &choices);
    study.registry = judged.brought.registry.clone();
    study.own_cases = vec![asked.clone()];
    study.own = Some(&judged.rung);
    study.memory = Some(judged.memory);
    study.to_stderr = leaves_stdout(options);
    ladder::run(global, &climbed, &study, rows)
}

/// Whether a file takes standard output, so that all else goes to standard error.
fn leaves_stdout(options: &TryArgs) -> bool {
    Paths::from(&options.ladder.output).take_stdout()
}

fn tell(global: &Global, options: &TryArgs, text: impl Fn(Screen) -> String) -> Result<()> {
    if leaves_stdout(options) {
        say(text(Screen::stderr()).trim_end());
        return Ok(());
    }
    print(&text(screen(global.color)))
}

/// Prints a kernel of a family to begin with, or writes a family to begin with into a folder; nothing that is there is
/// overwritten.
fn template(name: &str) -> Result<()> {
    if let Some(text) = text(&format!("templates/{name}.cl")) {
        return print(text);
    }
    let families: Vec<&str> = ladders().map(|family| &*family.name).collect();
    let meant = nearest(name, families, |family| *family);
    if !meant.is_empty() {
        return usage_error(format!(
            "--template {name}: there is no such family{} A folder needs a name that is less like it",
            did_you_mean(&meant)
        ));
    }
    let folder = Path::new(name);
    let beginning = kernels::brought("template")
        .into_iter()
        .flat_map(|(_, folder)| folder.files());
    let paths: Vec<(PathBuf, &[u8])> = beginning
        .filter_map(|file| Some((folder.join(file.path().file_name()?), file.contents())))
        .collect();
    if let Some((path, _)) = paths.iter().find(|(path, _)| path.exists()) {
        return usage_error(format!(
            "{} exists already: choose another folder",
            shown(path)
        ));
    }
    for (path, text) in &paths {
        files::write_whole(path, text).map_err(Error::unwritten(path))?;
        print(&format!("wrote {}\n", path.display()))?;
    }
    print(&format!(
        "run it: gpulab try {}\n",
        folder.join("family.toml").display()
    ))
}

//! `gpulab exercise`: steps to learn by, each with a starter file, hints, checks and a solution; one submission is graded or a
//! class of them. A submission is checked first on the device, whether it is right; then in the simulator, what it does.

use super::draw::stills;
use super::r#try::{judge, simulate, watched};
use crate::bench::WORK_GROUP;
use crate::brought::{Brought, adopt_as, asks};
use crate::cli::{Cli, Command, Global};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{note, print, quoted, screen};
use crate::count::{CountedCase, LockstepModel, TracedLaunch};
use crate::data::Shape;
use crate::exercise::{
    CountMetric, DrawnSizes, Exercise, ExerciseVerdict, Grade, GradedFile, NAMES, Over, Progress,
    Standing, exercise, exercises,
};
use crate::judgement::Ruling;
use crate::judging;
use crate::kernels::{Family, Form, Registry, Rung, built_in};
use crate::outcome::{Status, Stop};
use crate::outputs::TextOrJson;
use crate::plan::Case;
use crate::report::exercise as text;
use crate::report::explain::short_name;
use crate::report::format::Screen;
use crate::report::hint::hint;
use crate::simulator::{Checked, CountingWorker, Simulator};
use crate::suggest::{self, did_you_mean, nearest};
use crate::terminal::{self, say};
use crate::worker::{Setup, WorkerProcess};
use crate::{Error, Result, ceilings, files, interrupt, outputs, report, usage_error, values};
use clap::{Args, Parser, Subcommand};
use std::collections::hash_map::RandomState;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(Debug, Subcommand)]
pub enum ExerciseAction {
    /// List all exercises in the order of a course, and the solved ones
    List,
    /// Show the task of an exercise, and the hints shown so far
    Show {
        /// The exercise, as in `gpulab exercise list`
        #[arg(value_name = "NAME")]
        name: String,
        /// Show the next hint
        #[arg(long)]
        hint: bool,
        /// Print a file that passes
        #[arg(long)]
        solution: bool,
    },
    /// Write the starting file of an exercise
    Start {
        /// The exercise
        #[arg(value_name = "NAME")]
        name: String,
        /// The file to write; - is standard output [default: NAME.cl]
        #[arg(short, long, value_name = "FILE")]
        output: Option<String>,
    },
    /// Check your file: is it right, and do its counts show the step? Or grade the files of a class
    Check(ExerciseCheck),
    /// Write a page to print: the task, the starting file, and a picture of it
    Sheet {
        /// The exercise
        #[arg(value_name = "NAME")]
        name: String,
        /// The file to write: FILE.html, or FILE.md for Markdown; - is Markdown on standard output
        #[arg(short, long, value_name = "FILE", default_value = "-")]
        output: String,
    },
    /// Bet what a step of a ladder gains on a recorded GPU; the answer says why, and the score is kept
    Predict {
        /// The rung to which the step leads, as in reduce:2
        #[arg(value_name = "FAMILY:RUNG")]
        step: String,
        /// How many times as fast the rung is as the one before it, as in 1.5, or 0.8 if it is slower; without it, the question
        #[arg(value_name = "FACTOR", value_parser = values::factor, allow_hyphen_values = true)]
        bet: Option<f64>,
        /// The GPU: a part of the name of one that `gpulab show` lists
        #[arg(long, value_name = "GPU", default_value = USUAL)]
        on: String,
    },
}

#[derive(Debug, Args)]
pub struct ExerciseCheck {
    /// The exercise
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub name: Option<String>,
    /// Your file [default: NAME.cl]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Grade DIR/STUDENT/NAME.cl, or DIR/NAME.cl of a single student
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub all: Option<PathBuf>,
    /// Check again whenever the file is saved, until Ctrl-C
    #[arg(long, conflicts_with = "all")]
    pub watch: bool,
    /// Write verdicts, hints and counts as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Time limit of a size, in seconds; a size that exceeds it ends the check
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "30")]
    pub deadline: f64,
    /// Seed of the sizes and the data, as a check prints it
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// Lists, shows, starts or checks exercises.
pub fn run(global: &Global, action: Option<&ExerciseAction>) -> Result<()> {
    match action {
        None | Some(ExerciseAction::List) => print(&text::list(
            &exercises()?,
            &progress(),
            screen(global.color),
        )),
        Some(ExerciseAction::Show {
            name,
            solution: true,
            ..
        }) => print(&find(name)?.solution()?),
        Some(ExerciseAction::Show {
            name, hint: false, ..
        }) => print(&text::exercise(&find(name)?, &progress().of(name), width())),
        Some(ExerciseAction::Show { name, .. }) => {
            let exercise = find(name)?;
            let all = exercise.hints.len();
            let standing = keep(exercise.name, |standing| {
                standing.hints = (standing.hints + 1).min(all)
            });
            print(&text::hint(
                &exercise,
                standing.hints.clamp(1, all),
                width(),
            ))
        }
        Some(ExerciseAction::Start { name, output }) => start(&find(name)?, output.as_deref()),
        Some(ExerciseAction::Check(options)) => match (&options.all, &options.name) {
            (Some(_), Some(name)) => usage_error(format!(
                "--all grades every file of a folder: leave out {name}, or --all"
            )),
            (Some(folder), None) => grade_class(global, options, folder),
            (None, Some(name)) => check(global, options, &find(name)?),
            (None, None) => usage_error("name an exercise, or grade a folder with --all DIR"),
        },
        Some(ExerciseAction::Sheet { name, output }) => sheet(global, &find(name)?, output),
        Some(ExerciseAction::Predict { step, bet, on }) => predict(global, step, *bet, on),
    }
}

fn find(name: &str) -> Result<Exercise> {
    exercise(&name.to_lowercase())?
        .ok_or_else(|| Error::Usage(suggest::unknown("exercise", name, NAMES)))
}

/// Characters of a line on standard output.
fn width() -> usize {
    Screen::stdout(false).width
}

/// What was done so far. A folder that cannot be read is no reason to stop.
pub fn progress() -> Progress {
    let Ok(folder) = ceilings::folder() else {
        return Progress::default();
    };
    let (kept, why) = Progress::load(&folder);
    why.iter().for_each(|why| note(&format!("note: {why}")));
    kept
}

/// Changes the standing of an exercise and keeps it, if it can be kept; gives it as it is now.
fn keep(name: &str, change: impl FnOnce(&mut Standing)) -> Standing {
    let mut progress = progress();
    change(progress.change(name));
    if let Err(error) = ceilings::folder().and_then(|folder| progress.save(&folder)) {
        note(&format!(
            "note: your progress is not kept: {error}; set GPULAB_DATA to a folder that can be written to"
        ));
    }
    progress.of(name)
}

fn start(exercise: &Exercise, output: Option<&str>) -> Result<()> {
    let starter = exercise.starter()?;
    if output == Some("-") {
        return print(&starter);
    }
    let path = output.map_or_else(|| PathBuf::from(exercise.file_name()), PathBuf::from);
    let shown = path.display();
    // A student's work is never overwritten.
    let made = OpenOptions::new().write(true).create_new(true).open(&path);
    match made.and_then(|mut file| file.write_all(starter.as_bytes())) {
        Ok(()) => print(&text::started(exercise, &path, width())),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => usage_error(format!(
            "{shown} exists and is not overwritten: check it with gpulab exercise check {} {shown}, or start another \
             with -o FILE",
            exercise.name
        )),
        Err(source) => Err(Error::Output {
            what: shown.to_string(),
            source,
        }),
    }
}

fn check(global: &Global, options: &ExerciseCheck, exercise: &Exercise) -> Result<()> {
    let path = options
        .file
        .clone()
        .unwrap_or_else(|| PathBuf::from(exercise.file_name()));
    if !path.exists() {
        return usage_error(format!(
            "there is no file {}: gpulab exercise start {} writes a starting file",
            path.display(),
            exercise.name
        ));
    }
    if options.watch {
        return watched(&path, || check_once(global, options, exercise, &path));
    }
    check_once(global, options, exercise, &path)
}

fn check_once(
    global: &Global,
    options: &ExerciseCheck,
    exercise: &Exercise,
    path: &Path,
) -> Result<()> {
    let answer = TextOrJson::open(options.json.as_deref())?;
    interrupt::watch();
    let grade = grade(global, options, seed(options), exercise, path)?;
    let screen = screen(global.color);
    answer.tell(&grade, || text::grade(exercise, &grade, screen))?;
    let is_passed = grade.verdict == ExerciseVerdict::Passed;
    keep(exercise.name, |standing| {
        standing.checks += 1;
        standing.passed |= is_passed;
    });
    if !global.quiet && options.json.as_deref() != Some("-") {
        let (all, progress) = (exercises()?, progress());
        let next = format!(
            "gpulab's solution: gpulab exercise show {} --solution\n{}",
            exercise.name,
            text::next(&all, &progress)
        );
        let next = if is_passed { &*next } else { "" };
        print(&(text::solved(&all, &progress, screen) + next))?;
    }
    grade.outcome()
}

/// Writes a page to print; without a simulator it has no picture.
fn sheet(global: &Global, exercise: &Exercise, output: &str) -> Result<()> {
    if ![".html", ".md", "-"]
        .iter()
        .any(|end| output.ends_with(end))
    {
        return usage_error(format!("{output}: a sheet is a FILE.html or a FILE.md"));
    }
    let what = format!("exercise:{}", exercise.name);
    let words = ["gpulab", "draw", &what]
        .into_iter()
        .chain(exercise.picture.split_whitespace());
    let picture = match Cli::try_parse_from(words).map(|parsed| parsed.command) {
        Ok(Some(Command::Draw(options))) => stills(&options),
        _ => Err(Error::Failed(format!("{}: --picture", exercise.name))),
    };
    let picture = picture.unwrap_or_else(|why| {
        note(&format!("note: the sheet has no picture: {why}"));
        Vec::new()
    });
    let page = text::sheet(exercise, &picture, output.ends_with(".html"))?;
    outputs::write_told(global, output, page, "")
}

/// Holds a bet on a step against what was recorded on a GPU, or asks for one. The first bet on a step counts.
fn predict(global: &Global, what: &str, bet: Option<f64>, on: &str) -> Result<()> {
    let (brought, list) = Brought::of(what, None)?;
    let family = &brought.family;
    let to = brought.rung(what, list.as_deref())?;
    let gpu = RecordedGpu::of(on, family)?;
    let Some(from) = family.before(to) else {
        return usage_error(format!(
            "{what}: name a rung that has one before it, as in reduce:2"
        ));
    };
    let Some((gain, why)) = gpu.step(family, [from, to])? else {
        return usage_error(format!(
            "{what}: no times of both rungs were recorded on an {}",
            gpu.name
        ));
    };
    let screen = screen(global.color);
    let Some(bet) = bet else {
        let answer = format!("{what} 1.5 --on {on}");
        return print(&text::question(&answer, [from, to], &gpu.name, screen));
    };
    let name = format!("{} {}:{}", gpu.name, family.name, to.variant());
    let standing = keep(&name, |standing| {
        _ = standing.bet.get_or_insert((bet, gain))
    });
    let (bet, gain) = standing.bet.unwrap_or((bet, gain));
    let see = format!(
        "see both at a small size: gpulab draw {} {what}\n",
        short_name(family, from)
    );
    print(&(text::settled(bet, gain, &why, &progress(), screen) + &see))
}

/// Grades all files below a folder, one after the other: DIR/STUDENT/NAME.cl. That some do not pass is no error.
fn grade_class(global: &Global, options: &ExerciseCheck, folder: &Path) -> Result<()> {
    let files = handed_in(folder)?;
    let answer = TextOrJson::open(options.json.as_deref())?;
    interrupt::watch();
    let seed = seed(options);
    let mut rows: Vec<GradedFile> = Vec::new();
    for path in files {
        let file = path.display().to_string();
        global.say(&format!("{}: {}", rows.len() + 1, terminal::line(&file)));
        let student = path
            .parent()
            .filter(|parent| *parent != folder)
            .and_then(Path::file_name)
            .unwrap_or_default();
        // Browsers name a second download `strides (1).cl`.
        let name = path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .to_lowercase();
        let name = name.split([' ', '(']).next().unwrap_or_default();
        let grade = match exercise(name)? {
            Some(exercise) => grade(global, options, seed, &exercise, &path)?,
            None => {
                let meant = did_you_mean(&nearest(name, NAMES.iter().copied(), |n| n));
                let why = format!("there is no exercise of this name{meant}");
                Grade::begin(name, 0).ended(ExerciseVerdict::Refused, why, "")
            }
        };
        rows.push(GradedFile {
            student: student.to_string_lossy().into_owned(),
            file,
            grade,
        });
    }
    answer.tell(&rows, || text::class(&rows, screen(global.color)))
}

/// The files of each student: folders are students, files beside them are those of one more.
fn handed_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in entries(folder)
        .map_err(|e| Error::Usage(format!("cannot read the folder {}: {e}", folder.display())))?
    {
        match fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
            true => files.extend(entries(&path).unwrap_or_default()),
            false => files.push(path),
        }
    }
    files.retain(|file: &PathBuf| file.extension().is_some_and(|ending| ending == "cl"));
    if files.is_empty() {
        return usage_error(format!(
            "{} holds no submissions: they are DIR/STUDENT/NAME.cl, as in {}",
            folder.display(),
            folder.join("ada/transpose-banks.cl").display()
        ));
    }
    Ok(files)
}

fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    all.sort();
    Ok(all)
}

/// The seed of the sizes and the data, which without --seed are drawn anew.
fn seed(options: &ExerciseCheck) -> u64 {
    options
        .seed
        .unwrap_or_else(|| RandomState::new().build_hasher().finish() >> 32)
}

/// The name of the starter among the family's rungs.
const STARTER: &str = "starter";

/// A submission, and what it is checked with.
struct Grader<'a> {
    exercise: &'a Exercise,
    registry: &'a Registry,
    family: &'a Family,
    rung: &'a Rung,
    sizes: DrawnSizes,
    device: Option<String>,
    deadline: Duration,
    seed: u64,
}

/// Grades a file. Whatever the file does is no error.
fn grade(
    global: &Global,
    options: &ExerciseCheck,
    seed: u64,
    exercise: &Exercise,
    path: &Path,
) -> Result<Grade> {
    /// The name of the submission among the family's rungs.
    const SUBMISSION: &str = "submission";
    let grade = Grade::begin(exercise.name, seed);
    let family = built_in(&exercise.family)
        .ok_or_else(|| Error::Failed(format!("{}: no family", exercise.name)))?;
    let mut registry = Registry::default();
    let text = read(path).map_err(Error::Usage);
    let family =
        match text.and_then(|text| adopt_as(&mut registry, SUBMISSION, path, &text, family)) {
            Ok(family) => family,
            Err(Error::Usage(why)) => return Ok(grade.ended(ExerciseVerdict::Refused, why, "")),
            Err(error) => return Err(error),
        };
    let Some(rung) = family.rung(SUBMISSION) else {
        return Ok(grade);
    };
    if let Some(why) = rung.own_text().and_then(asks) {
        return Ok(grade.ended(ExerciseVerdict::Refused, why, ""));
    }
    let sizes = DrawnSizes::new(family.form, seed);
    let grader = Grader {
        exercise,
        registry: &registry,
        family: &family,
        rung,
        sizes,
        device: global.device.clone(),
        deadline: Duration::from_secs_f64(options.deadline),
        seed,
    };
    let mut grade = grader.right(grade)?;
    if grade.verdict == ExerciseVerdict::Passed {
        grade = grader.counted(grade)?;
    }
    if grade.verdict == ExerciseVerdict::Passed {
        let grade = grader.checked(grade)?;
        return match grade.verdict {
            ExerciseVerdict::Passed => grader.elsewhere(grade),
            _ => Ok(grade),
        };
    }
    let file = quoted(&path.display().to_string());
    let film = grade.line().map(|line| {
        format!(
            "gpulab draw {file} --as {} --line {line} --film {}.html",
            family.name, exercise.name
        )
    });
    Ok(Grade { film, ..grade })
}

impl Grader<'_> {
    /// Whether the result is right wherever it is tried: then the verdict is passed, for now.
    fn right(&self, mut grade: Grade) -> Result<Grade> {
        /// Bytes of a check's data, at most.
        const MOST_DATA: u64 = 64 << 20;
        let memory = Some(judge::usual_memory(MOST_DATA));
        let setup = Setup {
            device: self.device.clone(),
            memory,
            ..Setup::of(self.registry)
        };
        // A worker of its own: what one submission breaks is none of the next one's.
        let mut worker =
            WorkerProcess::open(setup, None, self.deadline, interrupt::interrupted, say)?;
        let case = self.case(self.rung, self.sizes.asked);
        let form = self.family.form;
        let judgement = judging::judge(
            &mut worker,
            (self.family, self.rung),
            &case,
            self.deadline,
            self.deadline,
            &mut |_| {},
        )?;
        let right = judgement
            .tried
            .iter()
            .filter(|tried| tried.ruling == Ruling::Right);
        grade.right_at = right.map(|tried| size(form, tried.shape)).collect();
        let verdict = match judgement.ruling {
            Ruling::Right => return Ok(grade.ended(ExerciseVerdict::Passed, "", "")),
            Ruling::Wrong => ExerciseVerdict::Wrong,
            Ruling::NotBuilt => ExerciseVerdict::NotBuilt,
            Ruling::Endless => ExerciseVerdict::Endless,
            Ruling::Refused => ExerciseVerdict::Refused,
            Ruling::Crashed | Ruling::Failed => ExerciseVerdict::Crashed,
        };
        let reason = judgement
            .failed()
            .map(|tried| format!("at n = {}: {}", size(form, tried.shape), tried.reason));
        let hint = hint(&judgement, false).map(|hint| format!("{} {}", hint.looks, hint.next));
        Ok(grade.ended(
            verdict,
            reason.unwrap_or_default(),
            hint.unwrap_or_default(),
        ))
    }

    fn counted(&self, mut grade: Grade) -> Result<Grade> {
        /// More than are counted.
        const MOST_GROUPS: u64 = 1 << 16;
        let Grader {
            exercise,
            family,
            rung,
            sizes,
            ..
        } = self;
        let (registry, with_starter) = self.with_starter()?;
        let needs = exercise.checks.iter().any(|check| check.needs_starter());
        let starter = with_starter.rung(STARTER).filter(|_| needs);
        let traced = exercise
            .checks
            .iter()
            .any(|check| check.metric == CountMetric::TornWarps)
            .then_some(MOST_GROUPS);
        let run = (interrupt::interrupted as fn() -> bool, say as fn(&str));
        let simulator = ceilings::folder().and_then(|folder| Simulator::prepare(&folder));
        let opened = simulator.and_then(|simulator| {
            let setup = Setup::of(&registry);
            CountingWorker::open(
                &simulator,
                LockstepModel::USUAL,
                setup,
                self.deadline,
                traced,
                run,
            )
        });
        let mut worker = match opened {
            Ok(worker) => worker,
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => return Ok(uncounted(grade, &error.to_string())),
        };
        let case = self.case(rung, sizes.counted);
        grade.counted_at = Some(size(family.form, case.shape));
        let (own, traced) = match trace(&mut worker, &case)? {
            Ok(counted) => counted,
            // Only a result shows that a kernel is wrong: what the simulator cannot run, or not in time, proves nothing.
            Err(Stop { status, reason, .. }) if status != Status::WrongResult => {
                return Ok(uncounted(grade, &reason));
            }
            Err(Stop { reason: why, .. }) => {
                let hint = "It is right on the device, but not in the simulator, which sees more: a race, or an access \
                            outside an array?";
                return Ok(grade.ended(
                    ExerciseVerdict::Wrong,
                    format!("in the simulator: {why}"),
                    hint,
                ));
            }
        };
        // In its own group, which its tile may rest on.
        let starter = starter
            .map(|starter| trace(&mut worker, &self.case(starter, sizes.counted)))
            .transpose()?;
        let starter = match starter.transpose() {
            Ok(starter) => starter.map(|(counted, _)| counted),
            Err(stop) => return Ok(uncounted(grade, &format!("the starter: {}", stop.reason))),
        };
        let over = Over {
            shape: case.shape,
            size: case.dtype.size(),
            traced: &traced,
        };
        Ok(grade.counted(exercise, &own, starter.as_ref(), &over))
    }

    /// A registry and the family with the exercise's starter beside the submission.
    fn with_starter(&self) -> Result<(Registry, Family)> {
        let mut registry = self.registry.clone();
        let path = Path::new("starter.cl");
        let text = self.exercise.starter()?;
        let family = adopt_as(&mut registry, STARTER, path, &text, self.family)?;
        Ok((registry, family))
    }

    /// What the step gains on a recorded GPU.
    fn elsewhere(&self, grade: Grade) -> Result<Grade> {
        let (registry, family) = self.with_starter()?;
        let gpu = RecordedGpu::of(USUAL, &family)?;
        let form = family.form;
        let shape = gpu
            .largest(family.dtypes[0])
            .unwrap_or(form.shape(form.ladder_size(false), None));
        let rungs = family.rung(STARTER).into_iter().chain([self.rung]);
        let cases: Vec<Case> = rungs.map(|rung| self.case(rung, shape)).collect();
        let times = gpu.times(&registry, &family, &cases, true)?;
        let elsewhere = match times[..] {
            [Some(starter), Some(own)] => Some(report::elsewhere::step(
                &gpu.name,
                &size(form, shape),
                [starter.seconds, own.seconds],
            )),
            _ => None,
        };
        Ok(Grade { elsewhere, ..grade })
    }

    /// Whether the simulator finds no fault in what passed so far.
    fn checked(&self, grade: Grade) -> Result<Grade> {
        let case = self.case(self.rung, self.sizes.counted);
        let checked = simulate::open(self.registry, self.deadline).and_then(|mut worker| {
            simulate::check(&mut worker, (self.family, self.rung), &case, self.deadline)
        });
        let checked = match checked {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            checked => checked.unwrap_or_else(|error| Checked::stopped(error.to_string())),
        };
        if let Some(found) = checked.findings.first() {
            let hint = "A device may forgive it, and another one not.";
            return Ok(grade.ended(
                ExerciseVerdict::Wrong,
                format!("in the simulator: {}", found.sentence()),
                hint,
            ));
        }
        Ok(match checked.doubt() {
            Some(why) => {
                let why = format!(
                    "the counts are as wanted; whether there is a race was not looked at: {why}"
                );
                grade.ended(ExerciseVerdict::Uncounted, why, "")
            }
            None => grade,
        })
    }

    fn case(&self, rung: &Rung, shape: Shape) -> Case {
        Case {
            wg: rung.work_group().unwrap_or(WORK_GROUP),
            seed: self.seed,
            ..Case::of(
                &self.family.name,
                rung.variant(),
                self.family.dtypes[0],
                shape,
            )
        }
    }
}

fn uncounted(grade: Grade, why: &str) -> Grade {
    grade.ended(
        ExerciseVerdict::Uncounted,
        format!("the result is right; its counts are skipped: {why}"),
        "",
    )
}

fn size(form: Form, Shape { n, m }: Shape) -> String {
    if form == Form::Matrix {
        format!("{n}x{m}")
    } else {
        n.to_string()
    }
}

/// The text of a submission; why there is none.
fn read(path: &Path) -> Result<String, String> {
    /// Largest file that is taken: kernels have a few kilobytes.
    const MOST_BYTES: u64 = 256 << 10;
    let shown = path.display();
    let about = fs::symlink_metadata(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    if !about.is_file() {
        return Err(format!("{shown} is not a regular file"));
    }
    if about.len() > MOST_BYTES {
        return Err(format!(
            "{shown} has {} KiB; the limit is {} KiB",
            about.len() >> 10,
            MOST_BYTES >> 10
        ));
    }
    let text = files::read_to_string(path).map_err(|e| format!("cannot read {shown}: {e}"))?;
    // Some editors put it before a text.
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

fn trace(
    worker: &mut CountingWorker,
    case: &Case,
) -> Result<Result<(CountedCase, Vec<TracedLaunch>), Stop>> {
    match worker.trace(case) {
        Err(Error::Failed(why)) => Ok(Err(Stop::failed(why))),
        other => other,
    }
}

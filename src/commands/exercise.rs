//! `gpulab exercise`: steps to learn by, each with a starter file, hints, checks and a solution; one submission is graded or a
//! class of them. A submission is checked first on the device, whether it is right; then in the simulator, what it does.

use super::draw::stills;
use super::show::records;
use super::r#try::{judge, simulate, watched};
use crate::bench::WORK_GROUP;
use crate::brought::{Brought, adopt_as, asks, find_exercise, read};
use crate::cli::{Cli, Command, Global};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{note, print, quoted, screen};
use crate::count::{CountedCase, LockstepModel, TracedLaunch};
use crate::data::Shape;
use crate::exercise::{
    CountMetric, DrawnSizes, Exercise, ExerciseVerdict, Grade, GradedFile, NAMES, Over, Progress,
    exercise, exercises,
};
use crate::judgement::Ruling;
use crate::judging;
use crate::kernels::{Family, Form, Registry, Rung};
use crate::outcome::{Status, Stop};
use crate::outputs::TextOrJson;
use crate::plan::Case;
use crate::report::exercise as text;
use crate::report::explain::short_name;
use crate::report::format::Screen;
use crate::report::hint::hint;
use crate::simulator::{Checked, CountingWorker, Simulator};
use crate::store::Sink;
use crate::suggest::{did_you_mean, nearest};
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
    /// Bet what a step of a ladder gains on a recorded GPU; the answer says why, and where else it paid. The score is kept
    #[command(
        override_usage = "gpulab exercise predict [OPTIONS] <FAMILY:RUNG> [FACTOR], as in gpulab exercise predict dot:2"
    )]
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
    match action.unwrap_or(&ExerciseAction::List) {
        ExerciseAction::List => print(&text::list(
            &exercises()?,
            &progress(),
            screen(global.color),
        )),
        ExerciseAction::Show {
            name,
            solution: true,
            ..
        } => print(&find_exercise(name)?.solution()?),
        ExerciseAction::Show {
            name, hint: false, ..
        } => print(&text::exercise(
            &find_exercise(name)?,
            &progress().of(name),
            width(),
        )),
        ExerciseAction::Show { name, .. } => {
            let exercise = find_exercise(name)?;
            let all = exercise.hints.len();
            let shown = (progress().of(exercise.name).hints + 1).min(all);
            keep(|progress| progress.change(exercise.name).hints = shown);
            print(&text::hint(&exercise, shown, width()))
        }
        ExerciseAction::Start { name, output } => start(&find_exercise(name)?, output.as_deref()),
        ExerciseAction::Check(options) => match (&options.all, &options.name) {
            (Some(_), Some(name)) => usage_error(format!(
                "--all grades every file of a folder: leave out {name}, or --all"
            )),
            (Some(folder), None) => grade_class(global, options, folder),
            (None, Some(name)) => check(global, options, &find_exercise(name)?),
            (None, None) => usage_error("name an exercise, or grade a folder with --all DIR"),
        },
        ExerciseAction::Sheet { name, output } => sheet(global, &find_exercise(name)?, output),
        ExerciseAction::Predict { step, bet, on } => predict(global, step, *bet, on),
    }
}

/// Characters of a line on standard output.
fn width() -> usize {
    Screen::stdout(false).width
}

/// What was done so far. A folder that cannot be read is no reason to stop.
fn progress() -> Progress {
    let Ok(folder) = ceilings::folder() else {
        return Progress::default();
    };
    let (kept, why) = Progress::load(&folder);
    why.iter().for_each(|why| note(&format!("note: {why}")));
    kept
}

/// Changes the progress and keeps it, if it can be kept; gives it as it is now.
fn keep(change: impl FnOnce(&mut Progress)) -> Progress {
    let mut progress = progress();
    change(&mut progress);
    if let Err(error) = ceilings::folder().and_then(|folder| progress.save(&folder)) {
        note(&format!(
            "note: your progress is not kept: {error}; set GPULAB_DATA to a folder that can be written to"
        ));
    }
    progress
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
        Err(error) => Err(Error::unwritten(&path)(error)),
    }
}

fn check(global: &Global, options: &ExerciseCheck, exercise: &Exercise) -> Result<()> {
    let path = options
        .file
        .clone()
        .unwrap_or_else(|| exercise.file_name().into());
    if !path.exists() {
        return usage_error(format!(
            "there is no file {}: gpulab exercise start {} writes a starting file",
            path.display(),
            exercise.name
        ));
    }
    let once = || check_once(global, options, exercise, &path);
    if options.watch {
        watched(&path, once)
    } else {
        once()
    }
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
    let progress = keep(|progress| {
        let standing = progress.change(exercise.name);
        standing.checks += 1;
        standing.passed |= is_passed;
    });
    if !global.quiet && options.json.as_deref() != Some("-") {
        let all = exercises()?;
        let mut said = text::solved(&all, &progress, screen);
        if is_passed {
            let name = exercise.name;
            said += &format!("gpulab's solution: gpulab exercise show {name} --solution\n");
            said += &text::next(&all, &progress);
        }
        print(&said)?;
    }
    grade.outcome()
}

/// Writes a page to print; without a simulator it has no picture.
fn sheet(global: &Global, exercise: &Exercise, output: &str) -> Result<()> {
    let is_html = output.ends_with(".html");
    if !is_html && !output.ends_with(".md") && output != "-" {
        return usage_error(format!("{output}: a sheet is a FILE.html or a FILE.md"));
    }
    // What cannot be written is refused before the simulator runs.
    Sink::open(output)?;
    let what = format!("exercise:{}", exercise.name);
    let words = ["gpulab", "draw", &what, "--view", &exercise.view];
    let picture = match Cli::try_parse_from(words).map(|parsed| parsed.command) {
        Ok(Some(Command::Draw(options))) => stills(&options),
        _ => Err(Error::Failed(format!("{}: --view", exercise.name))),
    };
    let picture = match picture {
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        picture => picture.unwrap_or_else(|why| {
            note(&format!("note: the sheet has no picture: {why}"));
            Vec::new()
        }),
    };
    let mark = if output == "-" { "" } else { text::SHEET_MARK };
    let page = mark.to_owned() + &text::sheet(exercise, &picture, is_html)?;
    outputs::write_told(global, output, page, "")
}

/// Holds a bet on a step against what was recorded on a GPU, or asks for one. The first bet on a step counts.
fn predict(global: &Global, what: &str, bet: Option<f64>, on: &str) -> Result<()> {
    let (brought, to) = &Brought::with_rung(what, None)?;
    let family = &brought.family;
    let gpu = RecordedGpu::of(on, family)?;
    let Some(from) = family.before(to) else {
        return usage_error(format!(
            "{what}: name a rung that has one before it, as in reduce:2"
        ));
    };
    let Some((at, gain, why)) = gpu.step(family, [from, to])? else {
        return usage_error(format!(
            "{what}: no such step was recorded on an {}; bet on one of reduce, dot, transpose or minplus",
            gpu.name
        ));
    };
    let screen = screen(global.color);
    let Some(gain) = gain else {
        return print(&screen.wrap(&format!("{why}; so there is no bet on it")));
    };
    let Some(bet) = bet else {
        let answer = format!("{what} 1.5 --on {on}");
        return print(&text::question(&answer, [from, to], &at, screen));
    };
    let name = format!("{} {}:{}", gpu.name, family.name, to.variant());
    let mut first = (bet, gain);
    let progress = keep(|progress| first = *progress.bets.entry(name).or_insert(first));
    let see = format!(
        "see both at a small size: gpulab draw {} {what}\n",
        short_name(family, from)
    );
    let all = records::everywhere(&family.name)?;
    let places = text::places(&all, [from, to], family.dtypes[0], first.0, screen);
    print(&(text::settled(first, &why, &progress, screen) + &see + &places))
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
        let own = path.parent().unwrap_or(folder).canonicalize();
        let own = own.unwrap_or_default();
        let student = own.file_name().unwrap_or_default().to_string_lossy();
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
            student: student.into_owned(),
            file,
            grade,
        });
    }
    answer.tell(&rows, || text::class(&rows, screen(global.color)))
}

/// The files of each student: folders are students, files beside them are of one with the folder's name.
fn handed_in(folder: &Path) -> Result<Vec<PathBuf>> {
    fs::read_dir(folder)
        .map_err(|e| Error::Usage(format!("cannot read the folder {}: {e}", folder.display())))?;
    let mut files = files::below_with(folder, &["cl"]);
    files.retain(|file| {
        let mut above = file.ancestors().skip(1).take(2);
        above.any(|above| above == folder)
    });
    if files.is_empty() {
        return usage_error(format!(
            "{} holds no submissions: they are DIR/STUDENT/NAME.cl, as in {}",
            folder.display(),
            folder.join("ada/transpose-banks.cl").display()
        ));
    }
    Ok(files)
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
    let mut grade = Grade::begin(exercise.name, seed);
    let own = Brought::new(&exercise.family)?;
    let text = match fs::symlink_metadata(path) {
        Ok(about) if !about.is_file() => {
            usage_error(format!("{} is not a regular file", path.display()))
        }
        _ => read(path),
    };
    let own = match text.and_then(|text| own.adopting(SUBMISSION, path, &text)) {
        Err(Error::Usage(why)) => return Ok(grade.ended(ExerciseVerdict::Refused, why, "")),
        own => own?,
    };
    let Brought {
        registry,
        family,
        own: Some(rung),
    } = &own
    else {
        return Ok(grade);
    };
    if let Some(why) = rung.own_text().and_then(asks) {
        return Ok(grade.ended(ExerciseVerdict::Refused, why, ""));
    }
    let sizes = DrawnSizes::new(family.form, seed);
    let grader = Grader {
        exercise,
        registry,
        family,
        rung,
        sizes,
        device: global.device.clone(),
        deadline: Duration::from_secs_f64(options.deadline),
        seed,
    };
    for step in [
        Grader::right,
        Grader::counted,
        Grader::checked,
        Grader::elsewhere,
    ] {
        grade = step(&grader, grade)?;
        if grade.verdict != ExerciseVerdict::Passed {
            break;
        }
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

fn trace(
    worker: &mut CountingWorker,
    case: &Case,
) -> Result<Result<(CountedCase, Vec<TracedLaunch>), Stop>> {
    match worker.trace(case) {
        Err(Error::Failed(why)) => Ok(Err(Stop::failed(why))),
        other => other,
    }
}

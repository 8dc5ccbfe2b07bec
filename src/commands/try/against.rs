//! `gpulab try new.cl --against old.cl`: a kernel judged by an older one, and timed with it in turn.

use super::judge::{SMALL_S, judge_rung};
use super::simulate;
use crate::bench;
use crate::brought::{family_of_file, family_of_text, is_family_file, located, parted, read};
use crate::cli::{Global, TryArgs};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::compare::RatioInterval;
use crate::console::{note, quoted, screen};
use crate::count::CheckFinding;
use crate::data::Shape;
use crate::files::ScratchFolder;
use crate::judgement::Ruling;
use crate::kernels::{Family, Registry, Rung, draft_pair};
use crate::outcome::Executor;
use crate::outputs::TextOrJson;
use crate::plan::Case;
use crate::report::format::Screen;
use crate::report::verdict::{Finding, NotLookedAt, Verdict, Word};
use crate::report::{against, format, judged};
use crate::runner::PairJob;
use crate::terminal::say;
use crate::worker::{WorkerProcess, usual_deadline};
use crate::{Error, Result, files, interrupt, usage_error};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Seconds for which both kernels are timed at most, unless a budget is given.
const BUDGET_S: f64 = 10.0;

/// Share of a time by which kernels that are the same may differ.
const SAME: f64 = 0.02;

/// Two kernels of one family, the older one first.
struct Pair {
    registry: Registry,
    family: Family,
    rungs: [Rung; 2],
}

/// Says whether `--against` names a kernel, and not a file of rows.
pub fn is_kernel(old: &str) -> bool {
    let file = parted(old).0;
    !["csv", "json", "jsonl"]
        .iter()
        .any(|end| Path::new(file).extension().is_some_and(|own| own == *end))
}

/// The two kernels: the old one is right, and the new one is what is judged.
pub fn run(global: &Global, options: &TryArgs, kernels: [&str; 2]) -> Result<()> {
    let output = TextOrJson::open(options.ladder.output.json.as_deref())?;
    let mut verdict = Verdict::new("try", kernels[1]);
    verdict.reference = Some(kernels[0].to_owned());
    let told = judged_pair(global, options, &mut verdict)?;
    verdict.exit_code = verdict.verdict.exit_code();
    output.conclude(&verdict, told)
}

/// Fills in the verdict on the kernel of this name, and returns what people read of it.
fn judged_pair(global: &Global, options: &TryArgs, verdict: &mut Verdict) -> Result<String> {
    let new = verdict.subject.clone();
    let old = verdict.reference.clone().unwrap_or_default();
    let pair = pair(global, &old, &new)?;
    let screen = screen(global.color);
    interrupt::watch();
    let mut worker = WorkerProcess::open(
        global.setup(None, &pair.registry),
        None,
        Duration::from_secs_f64(usual_deadline(0, 0.0)),
        interrupt::interrupted,
        say,
    )?;
    bench::announce(global, worker.info());
    verdict.device = Some(format::device(&worker.info().name));
    let job = pair_job(options, &pair, &mut worker)?;
    let [_, rung] = &pair.rungs;
    let [old_case, case] = &job.cases;
    let judgement = judge_rung(global, &pair.registry, (&pair.family, rung), case)?;
    let told = judged::text(&new, &judgement, false, screen);
    let word = match judgement.ruling {
        Ruling::Right => None,
        Ruling::NotBuilt => Some(Word::NotBuilt),
        Ruling::Wrong | Ruling::Crashed | Ruling::Endless => Some(Word::Incorrect),
        Ruling::Refused => return usage_error(told.trim_end()),
        // Of the driver, or of data over which a wrong kernel would pass: no verdict on the kernel.
        Ruling::Failed => return Err(Error::Failed(told.trim_end().to_owned())),
    };
    if let Some(word) = word {
        let older = (&pair.family, &pair.rungs[0]);
        let itself = judge_rung(global, &pair.registry, older, old_case)?;
        if let Some(failed) = itself.failed().filter(|_| word != Word::NotBuilt) {
            verdict.verdict = Word::Undecided;
            verdict.reason = format!(
                "{old} does not agree with itself, so that it cannot say what is right. With {} and the data that were guessed: {}",
                judged::size(&itself, failed.shape),
                failed.reason
            );
            verdict.next = Some(format!("gpulab try {}", quoted(&old)));
            let why = screen.wrap_foreign(&format!("UNDECIDED: {}", verdict.reason));
            return Ok(format!("{why}next: gpulab try {}\n", quoted(&old)));
        }
        verdict.verdict = word;
        verdict.reason = judgement
            .failed()
            .map_or_else(String::new, |failed| failed.reason.clone());
        let device = global.device.as_deref();
        let more =
            simulate::second_opinion(&pair.registry, (rung, &judgement), device, "", screen)?;
        let more = more.map_or_else(String::new, |(more, _)| more);
        return Ok(format!("{}\n{told}{more}", word.name()));
    }
    let code = [worker.binary(old_case)?, worker.binary(case)?]
        .map(|binary| binary.ok().and_then(|binary| binary.code));
    if code[0].is_some() && code[0] == code[1] {
        verdict.verdict = Word::Same;
        verdict.reason = "the driver makes the same instructions of both".to_owned();
        return Ok(screen.wrap(&format!("SAME: {}", verdict.reason)));
    }
    let found = look(&pair, &job, verdict, screen)?;
    if !verdict.findings.is_empty() {
        verdict.verdict = Word::Suspect;
        verdict.reason =
            "right on this device, by luck: the simulator found what the older kernel has not"
                .to_owned();
        return Ok(screen.wrap(&format!("SUSPECT: {}", verdict.reason)) + &found);
    }
    let pairs = worker
        .pair(&job)?
        .map_err(|stop| bench::stopped(case, stop))?;
    let Some(interval) = RatioInterval::of_pairs(&pairs) else {
        return usage_error(format!(
            "{} pairs of runs are too few for a verdict: give them a larger --budget or a smaller -n",
            pairs.len()
        ));
    };
    verdict.decide(interval, SAME);
    let gpu = RecordedGpu::of(USUAL, &pair.family)?;
    verdict.reason = match verdict.verdict {
        Word::Faster | Word::Slower => gpu.pair(&pair.registry, &pair.family, &job.cases)?,
        _ => String::new(),
    };
    let again = match verdict.verdict {
        Word::Undecided => format!(" --against {} --budget {}", quoted(&old), 6.0 * job.limit),
        _ => String::new(),
    };
    verdict.next = Some(format!("gpulab try {}{again}", quoted(&new)));
    let size = judged::size(&judgement, case.shape);
    let told = against::text(verdict, &pairs, Some(&size), SAME, screen);
    let next = verdict.next.as_deref().unwrap_or_default();
    Ok(format!("{told}{found}next: {next}\n"))
}

/// What is timed: both rungs at the size that was asked for, or at one of which runs are short enough for a verdict.
fn pair_job(options: &TryArgs, pair: &Pair, worker: &mut WorkerProcess) -> Result<PairJob> {
    let family = &pair.family;
    let dtype = bench::dtype(family, options.ladder.dtype)?;
    let limit = options.ladder.measure.budget.unwrap_or(BUDGET_S);
    let job = |shape: Shape, limit: f64| PairJob {
        cases: pair.rungs.each_ref().map(|rung| Case {
            wg: options
                .ladder
                .wg
                .or(rung.work_group())
                .unwrap_or(bench::WORK_GROUP),
            seed: options.ladder.given.seed,
            ..Case::of(&family.name, rung.variant(), dtype, shape)
        }),
        same: SAME,
        limit,
    };
    let quick = options.ladder.measure.quick;
    let usual = family.usual_shape(family.form.ladder_size(quick), quick);
    if options.n.is_some() || options.m.is_some() {
        return Ok(job(
            bench::shape(family, options.n, options.m, usual)?,
            limit,
        ));
    }
    /// Pairs that should fit the time, and how many times larger a size may be than the one before.
    const PAIRS: f64 = 200.0;
    const STEP: u64 = 16;
    let multiple = pair.rungs[1].multiple();
    let sized = |n: u64| {
        family
            .form
            .shape(n.clamp(1, usual.n).next_multiple_of(multiple), None)
    };
    let mut shape = sized(usual.n / STEP / STEP);
    for _ in 0..2 {
        let trial = PairJob {
            limit: 0.0,
            ..job(shape, limit)
        };
        // A kernel that works at its own size alone is timed there.
        let Ok(pairs) = worker.pair(&trial)? else {
            return Ok(job(usual, limit));
        };
        let seconds = pairs
            .iter()
            .flatten()
            .fold(0.0f64, |most, run| most.max(*run));
        let growth = (limit / (2.0 * PAIRS) / seconds).min(STEP as f64);
        shape = sized((shape.n as f64 * growth) as u64);
    }
    if shape.n < usual.n {
        note(&format!(
            "n={} in place of {}, so that enough runs fit {limit} s; -n takes others",
            shape.n, usual.n
        ));
    }
    Ok(job(shape, limit))
}

/// Runs the new kernel in the simulator; what it finds there, and not in the old one, goes into the verdict. Returns what people read.
fn look(pair: &Pair, job: &PairJob, verdict: &mut Verdict, screen: Screen) -> Result<String> {
    let limit = Duration::from_secs_f64(SMALL_S);
    let mut simulator = match simulate::open(&pair.registry, limit) {
        Ok(simulator) => simulator,
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(why) => {
            verdict.not_looked_at.push(NotLookedAt {
                what: "races, bounds and unset values".to_owned(),
                why: why.to_string(),
            });
            return Ok(screen.wrap(&format!("check: not looked at: {why}")));
        }
    };
    let [old, new] = [0, 1].map(|side| {
        let rung = &pair.rungs[side];
        simulate::check(
            &mut simulator,
            (&pair.family, rung),
            &job.cases[side],
            limit,
        )
    });
    let mut checked = new?;
    let known = old?.findings;
    checked.findings.retain(|found| {
        let is_alike = |old: &CheckFinding| (old.kind, &old.memory) == (found.kind, &found.memory);
        !known.iter().any(is_alike)
    });
    let kernel = pair.rungs[1].variant();
    let found = checked
        .findings
        .iter()
        .map(|found| Finding::of_check(found, kernel));
    verdict.findings.extend(found);
    verdict
        .not_looked_at
        .extend(checked.doubt().map(|why| NotLookedAt {
            what: "races, bounds and unset values".to_owned(),
            why: why.to_owned(),
        }));
    Ok(simulate::told(&checked, &pair.rungs[1], "", screen))
}

/// The rungs of two files, or of one; of a revision of the new kernel's repository where no file is called so.
fn pair(global: &Global, old: &str, new: &str) -> Result<Pair> {
    let mut registry = Registry::default();
    let [(old_file, old_part), (new_file, new_part)] = [old, new].map(parted);
    let device = global.device.as_deref();
    let is_of_new = is_family_file(new_file) && !Path::new(old_file).is_file();
    if is_of_new || (old_file == new_file && is_family_file(old_file)) {
        let family = family_of_file(&mut registry, &located(new_file)?, device)?;
        let old = if is_of_new {
            old
        } else {
            old_part.unwrap_or_default()
        };
        let rungs = [rung_of(&family, Some(old))?, rung_of(&family, new_part)?];
        return Ok(Pair {
            registry,
            family,
            rungs,
        });
    }
    if is_family_file(old_file) || is_family_file(new_file) {
        let is_old = is_family_file(old_file);
        let (described, part, kernel) = if is_old {
            (old_file, old_part, new)
        } else {
            (new_file, new_part, old)
        };
        let path = located(described)?;
        let mut text = read(&path)?;
        if !text.contains("[[rung]]") {
            text += "\n[[rung]]\n";
        }
        text += &format!(
            "\n[[rung]]\nname = \"{BESIDE}\"\nkernel = {:?}\n",
            whole(kernel)?
        );
        let folder = whole(described)?;
        let folder = Path::new(&folder)
            .parent()
            .unwrap_or(Path::new("/"))
            .to_path_buf();
        let family = family_of_text(
            &mut registry,
            (text, "pair".to_owned(), folder),
            &path,
            device,
        )?;
        let described = match part {
            Some(_) => rung_of(&family, part)?,
            None => family.ladder[0].clone(),
        };
        let beside = rung_of(&family, Some(BESIDE))?;
        let rungs = if is_old {
            [described, beside]
        } else {
            [beside, described]
        };
        return Ok(Pair {
            registry,
            family,
            rungs,
        });
    }
    let scratch = ScratchFolder::new().map_err(|error| Error::Failed(error.to_string()))?;
    let is_revision = !Path::new(old_file).exists();
    let before = if is_revision {
        of_revision(old, new_file, scratch.path())?
    } else {
        PathBuf::from(old_file)
    };
    let text = read(&before)?;
    read(Path::new(new_file))?;
    let part = if is_revision { new_part } else { old_part };
    let kernel = before.to_string_lossy();
    let kernel = part.map_or_else(|| kernel.to_string(), |part| format!("{kernel}:{part}"));
    let names = [whole(&kernel)?, whole(new)?];
    let include = Path::new(&names[1])
        .parent()
        .unwrap_or(Path::new("/"))
        .to_path_buf();
    let described =
        draft_pair(&text, old, part, names.each_ref().map(String::as_str)).map_err(Error::Usage)?;
    let described = format!("include = [{:?}]\n{described}", include.to_string_lossy());
    let text = (described, "pair".to_owned(), PathBuf::from("/"));
    let family = family_of_text(&mut registry, text, Path::new(new), device)?;
    let rungs = [
        rung_of(&family, Some("old"))?,
        rung_of(&family, Some("new"))?,
    ];
    Ok(Pair {
        registry,
        family,
        rungs,
    })
}

/// The name of a kernel that is put beside the rungs of a file.
const BESIDE: &str = "beside";

fn rung_of(family: &Family, name: Option<&str>) -> Result<Rung> {
    let rungs: Vec<&str> = family.kernels().map(Rung::variant).collect();
    let found = name.and_then(|name| family.rung(name));
    found.cloned().ok_or_else(|| {
        Error::Usage(format!(
            "{}: name one of its rungs, which are {}, as in FILE.toml:{}",
            family.name,
            rungs.join(", "),
            rungs.first().unwrap_or(&"")
        ))
    })
}

/// `FILE` or `FILE:KERNEL` with the whole path.
fn whole(name: &str) -> Result<String> {
    let (file, kernel) = parted(name);
    let path = Path::new(file)
        .canonicalize()
        .map_err(|error| Error::Usage(format!("cannot read {file}: {error}")))?;
    let path = path.to_string_lossy().into_owned();
    Ok(kernel.map_or(path.clone(), |kernel| format!("{path}:{kernel}")))
}

/// Puts a file as it was in a revision into a folder.
fn of_revision(revision: &str, file: &str, folder: &Path) -> Result<PathBuf> {
    let path = Path::new(file);
    let name = path.file_name().unwrap_or_default();
    let own = path.parent().filter(|own| !own.as_os_str().is_empty());
    let shown = Command::new("git")
        .arg("-C")
        .arg(own.unwrap_or(Path::new(".")))
        .arg("show")
        .arg(format!("{revision}:./{}", name.to_string_lossy()))
        .output();
    let shown = shown.map_err(|error| {
        Error::Usage(format!(
            "--against {revision}: no file is called so, and git does not start: {error}"
        ))
    })?;
    if !shown.status.success() {
        return usage_error(format!(
            "--against {revision}: no file is called so, and git has no such revision of {file}: {}",
            String::from_utf8_lossy(&shown.stderr).trim()
        ));
    }
    let before = folder.join(name);
    files::write_whole(&before, &shown.stdout).map_err(Error::unwritten(&before))?;
    Ok(before)
}

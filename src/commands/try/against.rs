//! `gpulab try new.cl --against old.cl`: a kernel judged by an older one, and timed with it in turn.

use super::judge::SMALL_S;
use super::{alone, simulate};
use crate::bench;
use crate::brought::{
    drafted, family_of_file, family_of_text, folder_of, is_family_file, located, parted, read,
};
use crate::cli::{Global, TryArgs};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{note, quoted, screen};
use crate::count::CheckFinding;
use crate::data::Shape;
use crate::files::ScratchFolder;
use crate::judgement::Ruling;
use crate::judging::judge;
use crate::kernels::{Family, Form, Registry, Rung};
use crate::outcome::Executor;
use crate::outputs::TextOrJson;
use crate::plan::Case;
use crate::report::format::Screen;
use crate::report::verdict::{Verdict, Word};
use crate::report::{against, format, judged};
use crate::runner::PairJob;
use crate::worker::{WorkerProcess, usual_deadline};
use crate::{Error, Result, files, usage_error};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Seconds for which both kernels are timed at most, unless a budget is given.
const BUDGET_S: f64 = 10.0;

/// Share of a time by which kernels that are the same may differ.
const SAME: f64 = 0.02;

/// What is said of an element that a kernel does not write.
const NOT_WRITTEN: &str = "the value that was there before the run";

/// Two kernels of one family, the older one first.
struct Pair {
    registry: Registry,
    family: Family,
    rungs: [Rung; 2],
    /// Of its data, in words.
    guesses: String,
    /// The same family with other numbers than those that were guessed, and which.
    others: Option<(Family, String)>,
}

/// The two kernels: the old one is right, and the new one is what is judged.
pub fn run(global: &Global, options: &TryArgs, kernels: [&str; 2]) -> Result<()> {
    let output = TextOrJson::open(options.ladder.output.json.as_deref())?;
    let mut verdict = Verdict::new("try", kernels[1]);
    verdict.reference = Some(kernels[0].to_owned());
    let mut told = judged_pair(global, options, (kernels, false), &mut verdict)?;
    if let Some(next) = &verdict.next {
        told += &format!("next: {next}\n");
    }
    output.conclude(verdict, told)
}

/// Fills in the verdict on the new kernel, and returns what people read of it. With `keeps`, outputs whose data are guessed
/// may keep what they held.
fn judged_pair(
    global: &Global,
    options: &TryArgs,
    ([old, new], keeps): ([&str; 2], bool),
    verdict: &mut Verdict,
) -> Result<String> {
    let pair = pair(global, options, ([old, new], keeps))?;
    let Pair {
        registry,
        family,
        rungs,
        guesses,
        others,
    } = &pair;
    let screen = screen(global.color);
    let deadline = Duration::from_secs_f64(usual_deadline(0, 0.0));
    let mut worker = global.worker(registry, deadline)?;
    bench::announce(global, worker.info());
    verdict.device = Some(format::device(&worker.info().name));
    let job = pair_job(options, &pair, &mut worker)?;
    let rung = &rungs[1];
    let [old_case, case] = &job.cases;
    // Kernels are judged in another process than they are timed in.
    let small = Duration::from_secs_f64(SMALL_S);
    let mut apart = global.worker(registry, small)?;
    let mut judged_at = |family: &Family, rung: &Rung, case: &Case| {
        judge(&mut apart, (family, rung), case, small, small, &mut |_| {})
    };
    let judgement = judged_at(family, rung, case)?;
    let told = judged::text(new, &judgement, false, screen);
    verdict.verdict = match judgement.ruling {
        Ruling::Right => Word::Same,
        Ruling::NotBuilt => Word::NotBuilt,
        Ruling::Wrong | Ruling::Crashed | Ruling::Endless => Word::Incorrect,
        Ruling::Refused => return usage_error(told.trim_end()),
        // Of the driver, or of data over which a wrong kernel would pass: no verdict on the kernel.
        Ruling::Failed => return Err(Error::Failed(told.trim_end().to_owned())),
    };
    if let Some(failed) = judgement.failed() {
        verdict.reason.clone_from(&failed.reason);
        let itself = judged_at(family, &rungs[0], old_case)?;
        if let (Word::Incorrect, Some(failed)) = (verdict.verdict, itself.failed()) {
            if !keeps && !guesses.is_empty() && failed.reason.contains(NOT_WRITTEN) {
                return judged_pair(global, options, ([old, new], true), verdict);
            }
            verdict.verdict = Word::Undecided;
            let is_endless = itself.ruling == Ruling::Endless;
            let how = match is_endless {
                true => "has no result either (-n takes a smaller size)",
                false => "does not agree with itself, so that it cannot say what is right",
            };
            verdict.reason = format!(
                "{old} {how}. With {} and the data that were guessed: {}",
                judged::size(&itself, failed.shape),
                failed.reason
            );
            verdict.next = Some(match is_endless {
                true => format!("gpulab try {} --against {} -n 64", quoted(new), quoted(old)),
                false => format!("gpulab try {}", quoted(old)),
            });
            return Ok(against::headline(verdict, screen));
        }
        let kernel = (rung, &judgement);
        let (more, _) = simulate::second_opinion(global, registry, kernel, "", screen)?;
        let mut told = format!("{}\n{told}{more}", verdict.verdict.name());
        if !guesses.is_empty() && verdict.verdict == Word::Incorrect {
            told += &leave_guesses(verdict, guesses, screen);
            verdict.next = Some(format!("gpulab try {} --draft", quoted(old)));
        }
        return Ok(told);
    }
    let code = [worker.binary(old_case)?, worker.binary(case)?]
        .map(|binary| binary.ok().and_then(|binary| binary.code));
    if code[0].is_some() && code[0] == code[1] {
        verdict.reason = "the driver makes the same instructions of both".to_owned();
        return Ok(against::headline(verdict, screen));
    }
    let mut unlike = match guesses.is_empty() {
        true => String::new(),
        false => leave_guesses(verdict, guesses, screen),
    };
    if let Some((family, numbers)) = others {
        let shape = family.usual_shape(family.form.ladder_size(true), true);
        let [of_old, of_new] = job.cases.each_ref().map(|case| Case {
            family: family.name.to_string(),
            shape,
            ..case.clone()
        });
        let of_new = judged_at(family, &family.ladder[1], &of_new)?;
        let is_right = of_new.ruling == Ruling::Right;
        let is_tried =
            is_right || judged_at(family, &family.ladder[0], &of_old)?.ruling == Ruling::Right;
        if is_tried && !is_right {
            let why = of_new.failed().map_or("", |failed| &failed.reason);
            verdict.verdict = Word::Suspect;
            verdict.reason =
                format!("right with the numbers that were guessed, but not with {numbers}: {why}");
            verdict.next = Some(format!("gpulab try {} --draft", quoted(old)));
            return Ok(against::headline(verdict, screen));
        }
        unlike += &match is_right {
            true => screen.wrap(&format!("right with other numbers, too: {numbers}")),
            false => {
                let why = "the old kernel has no right result with them";
                verdict.leave(numbers.clone(), why.to_owned());
                screen.wrap(&format!("not looked at: {numbers}: {why}"))
            }
        };
    }
    let limit = Duration::from_secs_f64(SMALL_S);
    let mut checked = simulate::look(registry, (family, rung), case, limit)?;
    if !checked.findings.is_empty() {
        let known = simulate::look(registry, (family, &rungs[0]), old_case, limit)?.findings;
        checked.findings.retain(|found| {
            let is_alike =
                |old: &CheckFinding| (old.kind, &old.memory) == (found.kind, &found.memory);
            !known.iter().any(is_alike)
        });
    }
    simulate::add(verdict, &checked, rung.variant());
    let found = simulate::told(&checked, rung, "", screen);
    if !checked.findings.is_empty() {
        verdict.verdict = Word::Suspect;
        verdict.reason =
            "right on this device, by luck: the simulator found what the older kernel has not"
                .to_owned();
        return Ok(against::headline(verdict, screen) + &found);
    }
    let pairs = worker.pair(&job)?;
    let pairs = pairs.map_err(|stop| bench::stopped(case, stop))?;
    verdict.decide(&pairs, SAME)?;
    let mut next = format!("gpulab try {}", quoted(new));
    match verdict.verdict {
        Word::Undecided => {
            next += &format!(" --against {} --budget {}", quoted(old), 6.0 * job.limit);
        }
        Word::Same => {}
        _ => {
            let gpu = RecordedGpu::of(USUAL, family)?;
            verdict.reason = gpu.pair((registry, family), &job.cases, SAME)?;
        }
    }
    let size = judged::size(&judgement, case.shape);
    verdict.next = Some(next);
    Ok(against::text(verdict, &pairs, Some(&size), SAME, screen) + &found + &unlike)
}

/// Notes that no other data than guessed ones were tried, and says so.
fn leave_guesses(verdict: &mut Verdict, guesses: &str, screen: Screen) -> String {
    let what = "other data than these, which were guessed";
    verdict.leave(what.to_owned(), guesses.to_owned());
    screen.wrap_foreign(&format!("not looked at: {what}: {guesses}"))
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
    // The work on matrices may grow as fast as the third power of a side.
    let power = match family.form {
        Form::Vector => 1.0,
        Form::Matrix | Form::Square => 1.0 / 3.0,
    };
    for _ in 0..3 {
        // A kernel that works at its own size alone is timed there.
        let Ok(pairs) = worker.pair(&job(shape, 0.0))? else {
            return Ok(job(usual, limit));
        };
        let seconds = pairs
            .iter()
            .flatten()
            .fold(0.0f64, |most, run| most.max(*run));
        let growth = (limit / (2.0 * PAIRS) / seconds)
            .powf(power)
            .min(STEP as f64);
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

/// The rungs of two files, or of one; of a revision of the new kernel's repository where no file is called so.
fn pair(
    global: &Global,
    options: &TryArgs,
    ([old, new], keeps): ([&str; 2], bool),
) -> Result<Pair> {
    /// The name of a kernel that is put beside the rungs of a file.
    const BESIDE: &str = "beside";
    let device = global.device.as_deref();
    let [(old_file, old_part), (new_file, new_part)] = [old, new].map(parted);
    let mut registry = Registry::default();
    let is_of_new = is_family_file(new_file) && !Path::new(old_file).is_file();
    if is_of_new || (old_file == new_file && is_family_file(old_file)) {
        let family = family_of_file(&mut registry, &located(new_file)?, device)?;
        let old = if is_of_new {
            old
        } else {
            old_part.unwrap_or_default()
        };
        return Pair::of(registry, family, [old, new_part.unwrap_or_default()]);
    }
    if let Some(side) = [old_file, new_file]
        .map(is_family_file)
        .iter()
        .position(|is| *is)
    {
        let [described, beside] = [[old, new][side], [old, new][1 - side]];
        let (file, part) = parted(described);
        let path = located(file)?;
        let mut text = read(&path)?;
        if !text.contains("[[rung]]") {
            text += "\n[[rung]]\n";
        }
        text += &rung_lines(BESIDE, beside)?;
        let named = (text, "pair".to_owned(), folder_of(&path));
        let family = family_of_text(&mut registry, named, &path, device)?;
        let first = family.ladder[0].clone();
        let mut names = [BESIDE; 2];
        names[side] = part.unwrap_or(first.variant());
        return Pair::of(registry, family, names);
    }
    let scratch = ScratchFolder::new().map_err(|error| Error::Failed(error.to_string()))?;
    let is_revision = !Path::new(old_file).exists();
    let before = if is_revision {
        of_revision(old, new_file, scratch.path())?
    } else {
        PathBuf::from(old_file)
    };
    let part = if is_revision { new_part } else { old_part };
    let kernel = before.display().to_string();
    let kernel = part.map_or(kernel.clone(), |part| format!("{kernel}:{part}"));
    let besides = format!(
        "include = [{:?}]\ncheck = \"rung: old\"\n{}{}",
        folder_of(Path::new(new_file)),
        rung_lines("old", &kernel)?,
        rung_lines("new", new)?
    );
    let (family, draft) = drafted(
        &mut registry,
        (&read(&before)?, &before, part),
        &alone::defines(&options.define)?,
        (&besides, false),
        ("pair", device),
    )?;
    let family = match keeps {
        true => {
            let named = (
                draft.keeping_outputs(),
                "kept".to_owned(),
                folder_of(&before),
            );
            family_of_text(&mut registry, named, &before, device)?
        }
        false => family,
    };
    match draft.unknown.first() {
        Some(name) => usage_error(format!(
            "{old} does not say all that its host does, such as {name}: say it, as in -D {name}=..., or in a file of your own, with \
             check = \"rung: old\", from gpulab try {old} --draft"
        )),
        None => {
            let others = match draft.with_other_numbers() {
                Some((text, numbers)) => {
                    let named = (text, "numbers".to_owned(), folder_of(&before));
                    let family = family_of_text(&mut registry, named, &before, device)?;
                    Some((family, numbers))
                }
                None => None,
            };
            Ok(Pair {
                guesses: draft.guesses,
                others,
                ..Pair::of(registry, family, ["old", "new"])?
            })
        }
    }
}

/// The lines of a kernel among the rungs of a family's file; `what` is `FILE` or `FILE:KERNEL`.
fn rung_lines(name: &str, what: &str) -> Result<String> {
    let (file, kernel) = parted(what);
    let path = Path::new(file)
        .canonicalize()
        .map_err(|error| Error::Usage(format!("cannot read {file}: {error}")))?;
    let path = path.display().to_string();
    let kernel = kernel.map_or(path.clone(), |kernel| format!("{path}:{kernel}"));
    Ok(format!(
        "\n[[rung]]\nname = \"{name}\"\nkernel = {kernel:?}\n"
    ))
}

impl Pair {
    fn of(registry: Registry, family: Family, names: [&str; 2]) -> Result<Pair> {
        let rung = |name: &str| {
            let rungs: Vec<&str> = family.kernels().map(Rung::variant).collect();
            family.rung(name).cloned().ok_or_else(|| {
                Error::Usage(format!(
                    "{}: name one of its rungs, which are {}, as in FILE.toml:{}",
                    family.name,
                    rungs.join(", "),
                    rungs[0]
                ))
            })
        };
        let rungs = [rung(names[0])?, rung(names[1])?];
        Ok(Pair {
            registry,
            family,
            rungs,
            guesses: String::new(),
            others: None,
        })
    }
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

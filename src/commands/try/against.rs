//! `gpulab try new.cl --against old.cl`: a kernel judged by an older one, and timed with it in turn.

use super::judge::{SMALL, judge_rung};
use super::{alone, simulate};
use crate::bench;
use crate::brought::{
    assembled, family_of_file, family_of_text, folder_of, is_family_file, kernel_draft, located,
    parted, read,
};
use crate::cli::{Global, TryArgs};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{note, quoted, screen};
use crate::count::CheckFinding;
use crate::data::Shape;
use crate::files::ScratchFolder;
use crate::judgement::{Judgement, Ruling};
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
use gpulab_model::Joined;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Seconds for which both kernels are timed at most, unless a budget is given.
const BUDGET_S: f64 = 10.0;

/// Share of a time by which kernels that are the same may differ.
const SAME: f64 = 0.02;

/// The option that keeps drivers from optimising.
const PLAIN: &str = "-cl-opt-disable";

const OTHER_DATA: &str = "other data and launches than these, which were guessed";

/// Two kernels of one family, the older one first.
struct Pair {
    registry: Registry,
    family: Family,
    rungs: [Rung; 2],
    /// Of its data, in words.
    guesses: String,
    /// Whether one of them alone takes any number of groups, so that hosts may launch them otherwise.
    is_unlike: bool,
    /// The same family, whose outputs keep what they held where a kernel does not write them; none of data that are not guessed.
    kept: Option<Family>,
    /// The same family, built without optimisation; none of a reader's own.
    plain: Option<Family>,
    /// The same family, each with another number than one that was guessed, and which.
    others: Vec<(Family, String)>,
}

/// The two kernels: the old one is right, and the new one is what is judged.
pub fn run(global: &Global, options: &TryArgs, [old, new]: [&str; 2]) -> Result<()> {
    let output = TextOrJson::open(options.ladder.output.json.as_deref())?;
    let mut verdict = Verdict::new("try", new);
    verdict.reference = Some(old.to_owned());
    let pair = pair(global, options, [old, new])?;
    let mut told = judged_pair(global, options, ([old, new], &pair), &mut verdict)?;
    if let Some(next) = &verdict.next {
        told += &format!("next: {next}\n");
    }
    output.conclude(verdict, told)
}

/// Fills in the verdict on the new kernel, and returns what people read of it.
fn judged_pair(
    global: &Global,
    options: &TryArgs,
    ([old, new], pair): ([&str; 2], &Pair),
    verdict: &mut Verdict,
) -> Result<String> {
    let Pair {
        registry, rungs, ..
    } = pair;
    let screen = screen(global.color);
    let deadline = Duration::from_secs_f64(usual_deadline(0, 0.0));
    let mut worker = global.worker(registry, deadline)?;
    bench::announce(global, worker.info());
    verdict.device = Some(format::device(&worker.info().name));
    // Kernels are judged in another process than they are timed in.
    let mut apart = global.worker(registry, SMALL)?;
    let mut family = &pair.family;
    let mut job = pair_job(options, (family, rungs), &mut worker)?;
    let (mut judgement, mut itself) = judged(&mut apart, (family, rungs), &job.cases)?;
    if let (Some(Ruling::Wrong), Some(kept)) = (itself.as_ref().map(|old| old.ruling), &pair.kept) {
        family = kept;
        job = pair_job(options, (family, rungs), &mut worker)?;
        (judgement, itself) = judged(&mut apart, (family, rungs), &job.cases)?;
    }
    if let Some(itself) = itself {
        let sides = ([old, new], pair);
        let ran = (&mut apart, &job.cases);
        return not_right(global, sides, ran, [&itself, &judgement], verdict);
    }
    let [old_case, case] = &job.cases;
    let code = [worker.binary(old_case)?, worker.binary(case)?]
        .map(|binary| binary.ok().and_then(|binary| binary.code));
    if code[0].is_some() && code[0] == code[1] {
        verdict.verdict = Word::Same;
        verdict.reason = "the driver makes the same instructions of both".to_owned();
        return Ok(against::headline(verdict, screen));
    }
    let mut unlike = String::new();
    if !pair.guesses.is_empty() {
        unlike += &leave(verdict, (OTHER_DATA, &pair.guesses), screen);
    }
    unlike += &with_other_numbers(&mut apart, pair, &job.cases, (verdict, screen))?;
    let [old_rung, rung] = rungs;
    let mut checked = simulate::look(registry, (family, rung), case, SMALL)?;
    if !checked.findings.is_empty() {
        let known = simulate::look(registry, (family, old_rung), old_case, SMALL)?.findings;
        checked.findings.retain(|found| {
            let is_alike =
                |old: &CheckFinding| (old.kind, &old.memory) == (found.kind, &found.memory);
            !known.iter().any(is_alike)
        });
    }
    simulate::add(verdict, &checked, rung.variant());
    let found = simulate::told(&checked, rung, "", screen);
    if !checked.findings.is_empty() && verdict.reason.is_empty() {
        verdict.verdict = Word::Suspect;
        verdict.reason =
            "right on this device, by luck: the simulator found what the older kernel has not"
                .to_owned();
    }
    if verdict.verdict == Word::Suspect {
        return Ok(against::headline(verdict, screen) + &found);
    }
    let pairs = worker.pair(&job)?;
    let pairs = pairs.map_err(|stop| bench::stopped(case, stop))?;
    verdict.decide(&pairs, SAME)?;
    let mut next = format!("gpulab try {}", quoted(new));
    if pair.is_unlike && verdict.verdict == Word::Slower {
        verdict.verdict = Word::Undecided;
        let ratio = verdict.ratio.map_or(1.0, |interval| interval.ratio);
        verdict.reason = format!(
            "{} times slower where both are launched alike; but one of them takes any number of groups, so that its host may start others: say its launch in a file",
            format::significant(ratio, 4)
        );
        verdict.next = Some(format!("gpulab try {} --draft", quoted(new)));
        return Ok(against::headline(verdict, screen) + &found + &unlike);
    }
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

/// What came of the new kernel, and where that is not right, of the old one.
fn judged(
    apart: &mut WorkerProcess,
    (family, rungs): (&Family, &[Rung; 2]),
    cases: &[Case; 2],
) -> Result<(Judgement, Option<Judgement>)> {
    let new = judge_rung(apart, (family, &rungs[1]), &of_family(family, &cases[1]))?;
    let old = match new.ruling {
        Ruling::Right => None,
        _ => Some(judge_rung(
            apart,
            (family, &rungs[0]),
            &of_family(family, &cases[0]),
        )?),
    };
    Ok((new, old))
}

fn of_family(family: &Family, case: &Case) -> Case {
    Case {
        family: family.name.to_string(),
        ..case.clone()
    }
}

/// The verdict on a new kernel that is not right, if the old one is; what came of the old one stands first.
fn not_right(
    global: &Global,
    ([old, new], pair): ([&str; 2], &Pair),
    (apart, cases): (&mut WorkerProcess, &[Case; 2]),
    [itself, judgement]: [&Judgement; 2],
    verdict: &mut Verdict,
) -> Result<String> {
    let screen = screen(global.color);
    let told = judged::text(new, judgement, false, screen);
    let how = match (judgement.ruling, itself.ruling) {
        (Ruling::Refused, _) => return usage_error(told.trim_end()),
        (Ruling::NotBuilt, _) | (_, Ruling::Right) => "",
        (_, Ruling::NotBuilt) => "does not build here, so that it cannot say what is right",
        (_, Ruling::Endless) => "has no result either (-n takes a smaller size)",
        // Of the driver, or of data over which a wrong kernel would pass: no verdict on the kernel.
        (Ruling::Failed, _) => return Err(Error::Failed(told.trim_end().to_owned())),
        _ => "does not agree with itself over these data, so that it cannot say what is right",
    };
    if how.is_empty() {
        let failed = judgement.failed();
        verdict.reason = failed.map_or_else(String::new, |failed| failed.reason.clone());
        if judgement.ruling == Ruling::NotBuilt {
            verdict.verdict = Word::NotBuilt;
            verdict.next = Some(format!("gpulab try {}", quoted(new)));
            return Ok(format!("NOT BUILT\n{told}"));
        }
        if let Some(plain) = &pair.plain
            && let (_, None) = judged(apart, (plain, &pair.rungs), cases)?
        {
            verdict.verdict = Word::Undecided;
            verdict.reason = format!(
                "they agree where the driver does not optimise ({PLAIN}), so that it may compile one of them wrongly, which a check by \
                 --check=\"numpy: ...\" of each would tell: {}",
                verdict.reason
            );
            verdict.next = Some(format!("gpulab try {}", quoted(old)));
            return Ok(against::headline(verdict, screen));
        }
        verdict.verdict = Word::Incorrect;
        let kernel = (&pair.rungs[1], judgement);
        let (more, _) = simulate::second_opinion(global, &pair.registry, kernel, "", screen)?;
        let mut told = format!("INCORRECT\n{told}{more}");
        if !pair.guesses.is_empty() {
            told += &leave(verdict, (OTHER_DATA, &pair.guesses), screen);
            verdict.next = Some(format!("gpulab try {} --draft", quoted(old)));
        }
        return Ok(told);
    }
    verdict.verdict = Word::Undecided;
    let reasons = itself.failed().into_iter();
    let lines = reasons.flat_map(|failed| failed.reason.lines().take(2));
    verdict.reason = format!("{old} {how}: {}", lines.joined(" "));
    verdict.next = Some(format!("gpulab try {}", quoted(old)));
    Ok(against::headline(verdict, screen))
}

/// Judges the new kernel with other numbers than those that were guessed, and says with which it is right. Where it is not, and the old one is,
/// the verdict is SUSPECT.
fn with_other_numbers(
    apart: &mut WorkerProcess,
    pair: &Pair,
    cases: &[Case; 2],
    (verdict, screen): (&mut Verdict, Screen),
) -> Result<String> {
    let Pair {
        registry, rungs, ..
    } = pair;
    let mut right: Vec<&str> = Vec::new();
    let mut said = String::new();
    for (family, number) in &pair.others {
        let (of_new, Some(of_old)) = judged(apart, (family, rungs), cases)? else {
            right.push(number);
            continue;
        };
        // What the old kernel reads outside of its data says nothing.
        let is_known = of_old.ruling == Ruling::Right
            && simulate::look(
                registry,
                (family, &rungs[0]),
                &of_family(family, &cases[0]),
                SMALL,
            )?
            .findings
            .is_empty();
        if is_known {
            verdict.verdict = Word::Suspect;
            verdict.reason = format!(
                "right with the numbers that were guessed, but not with {number}: {}",
                of_new.failed().map_or("", |failed| &failed.reason)
            );
            let old = verdict.reference.as_deref().unwrap_or_default();
            verdict.next = Some(format!("gpulab try {} --draft", quoted(old)));
            return Ok(said);
        }
        let why = "the old kernel has no right result with it, or leaves its data";
        said += &leave(verdict, (number, why), screen);
    }
    if !right.is_empty() {
        let right = right.join(", ");
        said += &screen.wrap(&format!("right with other numbers, too: {right}"));
    }
    Ok(said)
}

/// Notes that nobody looked at something, and says so.
fn leave(verdict: &mut Verdict, (what, why): (&str, &str), screen: Screen) -> String {
    verdict.leave(what.to_owned(), why.to_owned());
    screen.wrap_foreign(&format!("not looked at: {what}: {why}"))
}

/// What is timed: both rungs at the size that was asked for, or at one of which runs are short enough for a verdict.
fn pair_job(
    options: &TryArgs,
    (family, rungs): (&Family, &[Rung; 2]),
    worker: &mut WorkerProcess,
) -> Result<PairJob> {
    let dtype = bench::dtype(family, options.ladder.dtype)?;
    let limit = options.ladder.measure.budget.unwrap_or(BUDGET_S);
    let job = |shape: Shape, limit: f64| PairJob {
        cases: rungs.each_ref().map(|rung| Case {
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
    if options.n.or(options.m).is_some() {
        let shape = bench::shape(family, options.n, options.m, usual)?;
        return Ok(job(shape, limit));
    }
    /// Pairs that should fit the time, and how many times larger a size may be than the one before.
    const PAIRS: f64 = 200.0;
    const STEP: u64 = 16;
    let multiple = rungs[1].multiple();
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
        let seconds = pairs.into_iter().flatten().fold(0.0, f64::max);
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
fn pair(global: &Global, options: &TryArgs, [old, new]: [&str; 2]) -> Result<Pair> {
    /// The name of a kernel that is put beside the rungs of a file.
    const BESIDE: &str = "beside";
    let device = global.device.as_deref();
    let sides = [old, new].map(parted);
    let [(old_file, old_part), (new_file, new_part)] = sides;
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
    if let Some(side) = sides.iter().position(|(file, _)| is_family_file(file)) {
        let (file, part) = sides[side];
        let (beside, kernel) = sides[1 - side];
        let path = located(file)?;
        let mut text = read(&path)?;
        if !text.contains("[[rung]]") {
            text += "\n[[rung]]\n";
        }
        text += &rung_lines(BESIDE, (Path::new(beside), kernel))?;
        let named = (text, "pair".to_owned(), folder_of(&path));
        let family = family_of_text(&mut registry, named, &path, device)?;
        let first = family.ladder[0].clone();
        let mut names = [BESIDE; 2];
        names[side] = part.unwrap_or(first.variant());
        return Pair::of(registry, family, names);
    }
    let scratch = ScratchFolder::new().map_err(|error| Error::Failed(error.to_string()))?;
    let is_revision = !Path::new(old_file).exists();
    let (before, part) = match is_revision {
        true => (of_revision(old, new_file, scratch.path())?, new_part),
        false => (PathBuf::from(old_file), old_part),
    };
    let besides = format!(
        "include = [{:?}]\ncheck = \"rung: old\"\n{}{}",
        folder_of(Path::new(new_file)),
        rung_lines("old", (&before, part))?,
        rung_lines("new", (Path::new(new_file), new_part))?
    );
    let defines = alone::defines(&options.define)?;
    let older = (&*read(&before)?, &*before, part);
    let mut draft = kernel_draft(older, &defines, (&besides, false))?;
    let path = Path::new(new_file);
    let text = assembled(path, &read(path)?, "", &[])?;
    // Of one that does not compile nothing is known.
    let newer = kernel_draft((&text, path, new_part), &defines, ("", false)).ok();
    if let Some(newer) = &newer {
        draft
            .take_args_of(newer)
            .map_err(|why| Error::Usage(format!("{new}: {why}, from gpulab try {old} --draft")))?;
    }
    if let Some(name) = draft.unknown.first() {
        return usage_error(format!(
            "{old} does not say all that its host does, such as {name}: say it, as in -D {name}=..., or in a file of your own, with check = \"rung: old\", from gpulab try {old} --draft"
        ));
    }
    let mut declared = |text: String, name: String| {
        let named = (text, name, folder_of(&before));
        family_of_text(&mut registry, named, &before, device)
    };
    let family = declared(draft.text(), "pair".to_owned())?;
    let kept = declared(draft.keeping_outputs().text(), "kept".to_owned())?;
    let plain = format!("options = {PLAIN:?}\n{}", draft.text());
    let plain = declared(plain, "plain".to_owned())?;
    let mut others = Vec::new();
    for (at, (text, numbers)) in draft.with_other_numbers().into_iter().enumerate() {
        others.push((declared(text, format!("numbers{at}"))?, numbers));
    }
    Ok(Pair {
        is_unlike: newer.is_some_and(|newer| newer.strides != draft.strides),
        guesses: draft.guesses,
        kept: Some(kept),
        plain: Some(plain),
        others,
        ..Pair::of(registry, family, ["old", "new"])?
    })
}

/// The lines of a kernel among the rungs of a family's file.
fn rung_lines(name: &str, (file, kernel): (&Path, Option<&str>)) -> Result<String> {
    let path = file
        .canonicalize()
        .map_err(|error| Error::Usage(format!("cannot read {}: {error}", file.display())))?;
    let mut path = path.display().to_string();
    path.extend(kernel.map(|kernel| format!(":{kernel}")));
    Ok(format!(
        "\n[[rung]]\nname = \"{name}\"\nkernel = {path:?}\n"
    ))
}

impl Pair {
    fn of(registry: Registry, family: Family, names: [&str; 2]) -> Result<Pair> {
        let rung = |name: &str| {
            family.rung(name).cloned().ok_or_else(|| {
                Error::Usage(format!(
                    "{}: name one of its rungs behind a colon, which are {}",
                    family.name,
                    family.kernels().map(Rung::variant).joined(", ")
                ))
            })
        };
        let rungs = [rung(names[0])?, rung(names[1])?];
        Ok(Pair {
            registry,
            family,
            rungs,
            guesses: String::new(),
            is_unlike: false,
            kept: None,
            plain: None,
            others: Vec::new(),
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
    let why = match shown {
        Ok(shown) if shown.status.success() => {
            let before = folder.join(name);
            files::write_whole(&before, &shown.stdout).map_err(Error::unwritten(&before))?;
            return Ok(before);
        }
        Ok(shown) => String::from_utf8_lossy(&shown.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    usage_error(format!(
        "--against {revision}: no file is called so, and git has no such revision of {file}: {why}"
    ))
}

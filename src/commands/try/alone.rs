//! `gpulab try FILE.cl`: kernels whose data are guessed, and that are compared with nothing, or with lines for NumPy.

use super::simulate;
use crate::bench;
use crate::brought::{assembled, drafted, family_name, folder_of, read};
use crate::cli::{Global, TryArgs};
use crate::commands::check;
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{quoted, screen};
use crate::count::FindingKind;
use crate::judgement::{Judgement, Ruling};
use crate::judging::judge;
use crate::kernels::signature::CSource;
use crate::kernels::{Family, ITSELF, Registry, UNNAMED};
use crate::outcome::{Executor, Job, Settings};
use crate::outputs::TextOrJson;
use crate::plan::Case;
use crate::report::format::{self, Screen};
use crate::report::moment::FilmLine;
use crate::report::progress::StatusLine;
use crate::report::verdict::{Finding, Level, NotLookedAt, Verdict, Word};
use crate::report::{alone, payoff};
use crate::{Error, Result, usage_error};
use gpulab_model::Joined;
use std::collections::BTreeMap;
use std::path::Path;
use std::slice::from_ref;
use std::time::{Duration, Instant};

/// How long a kernel may take over one size.
const SHORT: Duration = Duration::from_secs(5);

/// Seconds after which no other kernel of a file is begun with, unless a budget is given.
const BUDGET_S: f64 = 60.0;

/// Seconds for which a kernel is timed.
const TIMED_S: f64 = 1.0;

pub fn run(global: &Global, options: &TryArgs, (file, kernel): (&str, Option<&str>)) -> Result<()> {
    let output = TextOrJson::open(options.ladder.output.json.as_deref())?;
    let defines = defines(&options.define)?;
    let path = Path::new(file);
    let text = assembled(path, &read(path)?, "", &[])?;
    let mut kernels = CSource::new(&text, &Vec::from_iter(defines.clone())).kernels();
    kernels.retain(|known| kernel.is_none_or(|kernel| kernel == known));
    if kernels.is_empty() {
        let named = kernel.map_or_else(String::new, |kernel| format!(" {kernel}"));
        return usage_error(format!(
            "{file} has no kernel{named}: a kernel begins with \"kernel void\", in the file itself or in what it includes"
        ));
    }
    let mut verdict = Verdict::new("try", file);
    verdict.reference = options.check.clone().filter(|check| !check.is_empty());
    let screen = screen(global.color);
    let mut looking = Looking {
        global,
        options,
        path,
        text: &text,
        defines: &defines,
        screen,
        kernel: String::new(),
        stray: None,
        is_looked: false,
        details: String::new(),
        verdict,
    };
    let mut left_out = Vec::new();
    let mut status = StatusLine::new(global.quiet);
    let begin = Instant::now();
    let limit = options.ladder.measure.budget.unwrap_or(BUDGET_S);
    let count = kernels.len();
    for (at, kernel) in kernels.iter().enumerate() {
        if at > 0 && begin.elapsed().as_secs_f64() > limit {
            left_out.push(NotLookedAt {
                what: kernel.clone(),
                why: format!("{limit} s were over (--budget gives more)"),
            });
            continue;
        }
        status.case_started(at, count, &format!("looking at {kernel}"));
        looking.kernel.clone_from(kernel);
        match looking.look(count == 1) {
            Err(Error::Usage(why)) => left_out.push(NotLookedAt {
                what: kernel.clone(),
                why,
            }),
            looked => looked?,
        }
    }
    drop(status);
    // Where nothing was looked at there is no verdict.
    if left_out.len() == kernels.len() {
        return usage_error(left_out.remove(0).why);
    }
    kernels.retain(|kernel| left_out.iter().all(|left| left.what != *kernel));
    let next = left_out.first().map(|left| left.what.clone());
    let mut findings = looking.verdict.findings.iter();
    let is_built = findings.all(|finding| finding.rule != alone::BUILD);
    // Who else builds it is of interest where this device does.
    if is_built {
        let compiled = check::compiled(file, &defines, &mut looking.verdict)?;
        looking.tell(&alone::compiled(&compiled));
    }
    let mut verdict = looking.verdict;
    verdict.not_looked_at.extend(left_out);
    alone::conclude(&mut verdict, &kernels, looking.is_looked);
    let mut errors = verdict.findings.iter();
    let faulty = errors.find(|finding| finding.level == Level::Error);
    verdict.next = match &kernels[..] {
        _ if !is_built => Some(format!("gpulab check {}", quoted(file))),
        [first, ..] if count > 1 => {
            let kernel = faulty.and_then(|finding| finding.kernel.as_ref());
            let kernel = kernel.or(next.as_ref()).unwrap_or(first);
            Some(format!(
                "gpulab try {}",
                quoted(&format!("{file}:{kernel}"))
            ))
        }
        _ if verdict.verdict == Word::NothingFound => {
            Some(format!("gpulab check {}", quoted(file)))
        }
        _ if verdict.verdict == Word::Undecided => {
            Some(format!("gpulab try {} --draft", quoted(file)))
        }
        _ => None,
    };
    let text = alone::text(&verdict, &looking.details, screen);
    output.conclude(verdict, text)
}

/// Macros that options define.
pub fn defines(options: &[String]) -> Result<BTreeMap<String, String>> {
    let parted = options.iter().map(|text| match text.split_once('=') {
        Some((name, value)) => Ok((name.trim().to_owned(), value.trim().to_owned())),
        None => usage_error(format!("-D {text}: give its value, as in -D {text}=1")),
    });
    parted.collect()
}

/// What looks at the kernels of a file, one after the other.
#[derive(Clone)]
struct Looking<'a> {
    global: &'a Global,
    options: &'a TryArgs,
    path: &'a Path,
    text: &'a str,
    defines: &'a BTreeMap<String, String>,
    screen: Screen,
    /// The one that is looked at.
    kernel: String,
    /// What an access behind the end of its data did.
    stray: Option<String>,
    /// Whether a kernel ran anywhere.
    is_looked: bool,
    /// What is to be said beside the verdict.
    details: String,
    verdict: Verdict,
}

impl Looking<'_> {
    fn find(&mut self, rule: &str, message: String) -> &mut Finding {
        let tool = self.verdict.device.as_deref().unwrap_or_default();
        let finding = Finding {
            kernel: Some(self.kernel.clone()),
            ..Finding::new(rule, message, tool)
        };
        let findings = &mut self.verdict.findings;
        findings.push(finding);
        let last = findings.len() - 1;
        &mut findings[last]
    }

    fn tell(&mut self, text: &str) {
        self.details += &self.screen.wrap(text);
    }

    /// Looks at the kernel; the only one of a file is timed as well. What strays from buffers of guessed lengths is looked at again: at multiples
    /// of its group, which may be all that its host asks of it, and with room behind buffers.
    ///
    /// Errors: `Usage` if it strays far from them, so that they are guessed wrong.
    fn look(&mut self, is_only: bool) -> Result<()> {
        let clean = self.clone();
        let before = clean.verdict.findings.len();
        let side = self.attempt(is_only, ("", false))?;
        let Some(first) = self.stray.take() else {
            return Ok(());
        };
        let multiple = side.map_or(String::new(), |side| format!("multiple = {side}\n"));
        let mut again = clean.clone();
        if side.is_some() {
            again.attempt(is_only, (&multiple, false))?;
            let mut found = again.verdict.findings[before..].iter();
            if found.all(|finding| finding.level == Level::Note) {
                again.tell(&format!(
                    "note: only with {}nothing was found; {first}",
                    multiple.replace('\n', " ")
                ));
                *self = again;
                return Ok(());
            }
        }
        again = clean;
        again.attempt(false, (&multiple, true))?;
        let Some(far) = again.stray else {
            return Ok(());
        };
        self.verdict.findings.truncate(before);
        usage_error(format!(
            "{}: it leaves the data that were guessed, far behind their ends, so that the guesses are wrong: {far}. Say its lengths and \
             numbers in a file: gpulab try {}:{0} --draft > mine.toml",
            self.kernel, self.verdict.subject
        ))
    }

    /// Looks at the kernel with these lines besides in its family's file: the side of its group, if other sizes than multiples of it were
    /// tried.
    fn attempt(&mut self, is_only: bool, (besides, room): (&str, bool)) -> Result<Option<usize>> {
        let check = self.verdict.reference.as_deref().unwrap_or(ITSELF);
        let besides = format!("{besides}check = {check:?}\n");
        let mut registry = Registry::default();
        let name = family_name(Path::new(&self.kernel), &folder_of(self.path));
        let (family, draft) = drafted(
            &mut registry,
            (self.text, self.path, Some(&self.kernel)),
            self.defines,
            (&besides, room),
            (&name, self.global.device.as_deref()),
        )?;
        let (registry, family) = (&registry, &family);
        let rung = &family.ladder[0];
        let mut worker = self.global.worker(registry, SHORT)?;
        let info = worker.info().clone();
        self.verdict.device = Some(format::device(&info.name));
        let TryArgs { n, m, ladder, .. } = self.options;
        let quick = ladder.measure.quick || info.kind == "cpu";
        let usual = family.usual_shape(family.form.ladder_size(quick), quick);
        let shape = n.map_or(usual, |n| family.form.shape(n, *m));
        let group = ladder.wg.or(rung.work_group());
        let case = Case {
            wg: group.unwrap_or_else(|| bench::default_work_group(&info)),
            seed: ladder.given.seed,
            ..Case::of(
                &family.name,
                rung.variant(),
                bench::dtype(family, None)?,
                shape,
            )
        };
        self.tell(&format!(
            "{} guessed (--draft writes it out): {}",
            self.kernel, draft.guesses
        ));
        let before = self.verdict.findings.len();
        let judgement = judge(
            &mut worker,
            (family, rung),
            &case,
            SHORT,
            SHORT,
            &mut |_| {},
        )?;
        if judgement.ruling == Ruling::NotBuilt && !draft.unknown.is_empty() {
            let macros = draft.unknown.join("=... -D ");
            return usage_error(format!(
                "{}: it does not build with {UNNAMED} for the macros of its host: say what they are, as in -D {macros}=...",
                self.kernel
            ));
        }
        // What the reader says is right has no answer.
        if let (Ruling::Failed, Some(_)) = (judgement.ruling, &self.verdict.reference) {
            let failed = judgement.failed().into_iter();
            return Err(Error::Failed(
                failed.map(|failed| &*failed.reason).collect(),
            ));
        }
        self.judged(&judgement);
        for says in simulate::remarks_of(family, rung) {
            self.tell(&format!("note: {says}"));
        }
        if judgement.ruling == Ruling::NotBuilt {
            return Ok(None);
        }
        let checked = simulate::look(registry, (family, rung), &case, SHORT)?;
        for finding in &mut self.verdict.findings[before..] {
            let guess = match &*finding.rule {
                // The reader says what is right.
                "wrong_result" => None,
                "unsteady_result" if checked.findings.is_empty() => Some("a number"),
                "unsteady_result" => draft.guess_behind(true, Some("global")),
                _ => draft.guess_behind(false, None),
            };
            finding.doubt(guess);
        }
        let at_device = self.verdict.findings.len();
        simulate::add(&mut self.verdict, &checked, &self.kernel);
        let findings = self.verdict.findings[at_device..].iter_mut();
        for (finding, found) in findings.zip(&checked.findings) {
            let memory = found.memory.as_deref();
            finding.doubt(draft.guess_behind(found.kind == FindingKind::Race, memory));
        }
        let mut findings = checked.findings.iter();
        if let Some(found) = findings.find(|found| found.is_behind_end(draft.has_local())) {
            self.stray.get_or_insert(found.sentence());
        }
        self.is_looked |= checked.doubt().is_none();
        if checked.findings.is_empty() && checked.doubt().is_none() {
            self.details += &simulate::told(&checked, rung, "", self.screen);
        }
        if is_only && self.verdict.findings.len() == before {
            let settings = Settings {
                timeout: TIMED_S,
                ..Settings::default()
            };
            let here = worker.run(&Job::new(case.clone(), settings))?;
            self.time((registry, family), &case, here.median())?;
        }
        Ok(draft.is_ragged().then(|| case.wg.0[0].max(case.wg.0[1])))
    }

    /// What the device made of it.
    fn judged(&mut self, judgement: &Judgement) {
        let all = judgement.tried.iter();
        let passed = all.filter(|tried| tried.ruling == Ruling::Right);
        let sizes = passed
            .map(|tried| format::size(tried.shape.n, tried.shape.m))
            .joined(", ");
        let device = self.verdict.device.clone().unwrap_or_default();
        self.is_looked |= !sizes.is_empty();
        if !sizes.is_empty() {
            let said = match self.verdict.reference {
                Some(_) => "right",
                None => "the same result in each run",
            };
            self.tell(&format!("{device}: {said} with n = {sizes}"));
        }
        let Some(failed) = judgement.failed() else {
            return;
        };
        let reason = &failed.reason;
        let size = format::size(failed.shape.n, failed.shape.m);
        let rule = match failed.ruling {
            Ruling::NotBuilt => {
                self.find(alone::BUILD, reason.clone());
                return;
            }
            Ruling::Crashed => "crash",
            Ruling::Endless if sizes.is_empty() => "endless",
            Ruling::Wrong if reason.contains("changed its input") => "input_changed",
            Ruling::Wrong if reason.contains("writes outside") => "write_outside",
            Ruling::Wrong if self.verdict.reference.is_some() => "wrong_result",
            Ruling::Wrong => "unsteady_result",
            _ => {
                let what = format!("{}: n = {size}", self.kernel);
                return self.verdict.leave(what, reason.clone());
            }
        };
        let reason = match rule {
            "unsteady_result" => reason.replace(", want ", ", and in another run "),
            _ => reason.clone(),
        };
        let message = format!("with n = {size}, work-group {}: {reason}", failed.wg);
        if rule == "crash" || rule == "write_outside" {
            self.stray = Some(message.clone());
        }
        self.find(rule, message);
    }

    /// Its time in seconds here, that on a recorded GPU, and what would pay most there.
    fn time(
        &mut self,
        (registry, family): (&Registry, &Family),
        case: &Case,
        here: Option<f64>,
    ) -> Result<()> {
        let gpu = RecordedGpu::of(self.options.ladder.on.as_deref().unwrap_or(USUAL), family)?;
        let there = gpu.times(registry, family, from_ref(case), true)?;
        let there = there.into_iter().flatten().next();
        let size = format::size(case.shape.n, case.shape.m);
        let times = [
            here.map(|here| format!("{} here, measured", format::time(here))),
            there.map(|there| {
                format!(
                    "{} on an {}, by the model",
                    format::time(there.seconds),
                    gpu.name
                )
            }),
        ];
        let times = times.into_iter().flatten().joined("; ");
        if times.is_empty() {
            return Ok(());
        }
        let guess = match self.options.n {
            Some(_) => "",
            None => ", which is a guess (-n says another)",
        };
        let times = format!("time with n = {size}{guess}: {times}");
        self.tell(&times);
        self.find("time", times).level = Level::Note;
        let Some(payoffs) = gpu.payoffs(registry, family, case, true)? else {
            return Ok(());
        };
        self.details += &payoff::text(&payoffs, &gpu.name, (&family.name, None), self.screen);
        for one in payoff::sentences(&payoffs, &family.name, None) {
            let note = self.find("would_pay", one.text);
            note.level = Level::Note;
            if let Some(FilmLine::At { file, line }) = one.line {
                note.file = Some(file);
                note.line = Some(line);
            }
        }
        Ok(())
    }
}

//! `gpulab try FILE.cl`: kernels whose data are guessed, and that are compared with nothing, or with lines for NumPy.

use super::simulate;
use crate::bench;
use crate::brought::{drafted, kernels_of};
use crate::cli::{Global, TryArgs};
use crate::commands::count::counter;
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{print, quoted, screen};
use crate::judgement::{Judgement, Ruling};
use crate::judging::judge;
use crate::kernels::{Family, ITSELF, Registry, Rung};
use crate::outcome::{Executor, Job, Settings};
use crate::plan::Case;
use crate::report::format::{self, Screen};
use crate::report::verdict::{Finding, Level, NotLookedAt, SCHEMA, Verdict, Word};
use crate::report::{alone, count, payoff};
use crate::store::Sink;
use crate::terminal::say;
use crate::worker::WorkerProcess;
use crate::{Error, Result, interrupt, outputs, usage_error};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// How long one size may take on the device, and a kernel in the simulator.
const SHORT: Duration = Duration::from_secs(5);

/// Seconds for which a kernel is timed.
const TIMED_S: f64 = 1.0;

pub fn run(global: &Global, options: &TryArgs, (file, kernel): (&str, Option<&str>)) -> Result<()> {
    let json = options.ladder.output.json.as_deref();
    let mut sink = json.map(Sink::open).transpose()?;
    let path = Path::new(file);
    let defines = defines(options)?;
    let (mut kernels, _) = kernels_of(path, &defines)?;
    if let Some(one) = kernel {
        kernels.retain(|known| known == one);
    }
    if kernels.is_empty() {
        return usage_error(format!(
            "{file} has no kernel {}",
            kernel.unwrap_or("at all")
        ));
    }
    let mut verdict = Verdict {
        schema: SCHEMA,
        gpulab: env!("CARGO_PKG_VERSION"),
        command: "try",
        verdict: Word::NothingFound,
        exit_code: 0,
        subject: file.to_owned(),
        reference: options.check.clone().filter(|check| !check.is_empty()),
        device: None,
        ratio: None,
        reason: String::new(),
        findings: Vec::new(),
        not_looked_at: Vec::new(),
        next: None,
    };
    let screen = if json == Some("-") {
        Screen::stderr()
    } else {
        screen(global.color)
    };
    let mut details = String::new();
    for kernel in &kernels {
        let mut looking = Looking {
            global,
            options,
            kernel,
            is_only: kernels.len() == 1,
            screen,
            verdict: &mut verdict,
        };
        match looking.look(path, &defines) {
            Ok(text) => details += &text,
            Err(Error::Usage(why)) if kernels.len() > 1 => looking.not_looked_at("all of it", why),
            Err(error) => return Err(error),
        }
    }
    conclude(&mut verdict, &kernels);
    let text = alone::text(&verdict, &details, screen);
    if json == Some("-") {
        say(text.trim_end());
    } else {
        print(&text)?;
    }
    if let Some(sink) = &mut sink {
        outputs::replace(sink, outputs::json(&verdict)?)?;
    }
    match verdict.exit_code {
        0 => Ok(()),
        code => Err(Error::Told(code)),
    }
}

/// Macros that options define.
fn defines(options: &TryArgs) -> Result<BTreeMap<String, String>> {
    let parted = options.define.iter().map(|text| {
        let (name, value) = text.split_once('=').unwrap_or((text, "1"));
        match name.trim().is_empty() {
            true => usage_error(format!("-D {text}: name a macro, as in -D TILE=16")),
            false => Ok((name.trim().to_owned(), value.trim().to_owned())),
        }
    });
    parted.collect()
}

/// The word, its reason and what leads on, from what was found.
fn conclude(verdict: &mut Verdict, kernels: &[String]) {
    let faults = verdict
        .findings
        .iter()
        .filter(|finding| finding.level != Level::Note);
    let rules: Vec<&str> = faults.map(|finding| finding.rule.as_str()).collect();
    let file = &verdict.subject;
    let is_built = rules.iter().any(|rule| *rule != BUILD);
    (verdict.verdict, verdict.exit_code) = match rules.len() {
        0 => (Word::NothingFound, 0),
        _ if is_built && verdict.reference.is_some() => (Word::Incorrect, 4),
        _ if is_built => (Word::Found, 4),
        _ => (Word::NotBuilt, 5),
    };
    verdict.reason = match (rules.len(), kernels) {
        (0, [only]) => format!("{file}, kernel {only}"),
        (0, all) => format!("{file}, {} kernels", all.len()),
        (count, _) => format!("{file}, {count} of {}", rules.join(", ")),
    };
    let kernel = kernels.first().map_or("", String::as_str);
    let name = quoted(&format!("{file}:{kernel}"));
    verdict.next = Some(match kernels {
        [_] if verdict.reference.is_some() => format!("gpulab try {name} --draft > mine.toml"),
        [_] => format!("gpulab try {name} --check=\"numpy: ...\", or --against OLD.cl"),
        _ => format!("gpulab try {name}"),
    });
}

/// The rule of what does not build.
const BUILD: &str = "build_error";

/// A kernel that is looked at.
struct Looking<'a> {
    global: &'a Global,
    options: &'a TryArgs,
    kernel: &'a str,
    /// Whether it is the only one, so that it is timed and counted.
    is_only: bool,
    screen: Screen,
    verdict: &'a mut Verdict,
}

impl Looking<'_> {
    fn found(&mut self, rule: &str, message: String, tool: &str) {
        self.verdict.findings.push(Finding {
            rule: rule.to_owned(),
            level: Level::Error,
            message,
            tool: tool.to_owned(),
            kernel: Some(self.kernel.to_owned()),
            file: None,
            line: None,
        });
    }

    fn not_looked_at(&mut self, what: &str, why: impl Into<String>) {
        self.verdict.not_looked_at.push(NotLookedAt {
            what: format!("{}: {what}", self.kernel),
            why: why.into(),
        });
    }

    /// What is to be said beside findings.
    fn look(&mut self, path: &Path, defines: &BTreeMap<String, String>) -> Result<String> {
        let device = self.global.device.as_deref();
        let check = self.verdict.reference.clone();
        let check = check.as_deref();
        let on_device = Some(check.unwrap_or(ITSELF));
        let (brought, guesses) = drafted(path, self.kernel, defines, on_device, device)?;
        let Some(rung) = brought.family.ladder.first() else {
            return usage_error("it is no kernel");
        };
        let mut text = self.screen.wrap(&format!("guessed: {guesses}"));
        let kernel = (&brought.registry, &brought.family, rung);
        let Some((case, seconds)) = self.run(kernel, &mut text)? else {
            return Ok(text);
        };
        let (simulated, _) = drafted(path, self.kernel, defines, check, device)?;
        self.simulate(
            (&simulated.registry, &simulated.family, rung),
            &case,
            &mut text,
        )?;
        if self.is_only {
            self.count(kernel, &case, seconds, &mut text)?;
        }
        Ok(text)
    }

    /// Runs it on the device at sizes from 1 up: the case and its time in seconds, if it builds.
    fn run(
        &mut self,
        (registry, family, rung): (&Registry, &Family, &Rung),
        text: &mut String,
    ) -> Result<Option<(Case, Option<f64>)>> {
        interrupt::watch();
        let setup = self.global.setup(None, registry);
        let mut worker = WorkerProcess::open(setup, None, SHORT, interrupt::interrupted, say)?;
        let info = worker.info().clone();
        let device = format::device(&info.name);
        self.verdict.device = Some(device.clone());
        let options = &self.options.ladder;
        let quick = options.measure.quick;
        let usual = family.usual_shape(family.form.ladder_size(quick), quick);
        let shape = bench::shape(family, self.options.n, self.options.m, usual)?;
        let group = options.wg.or(rung.work_group());
        let case = Case {
            wg: group.unwrap_or_else(|| bench::default_work_group(&info)),
            seed: options.given.seed,
            ..Case::of(
                &family.name,
                rung.variant(),
                bench::dtype(family, None)?,
                shape,
            )
        };
        let judgement = judge(
            &mut worker,
            (family, rung),
            &case,
            SHORT,
            SHORT,
            &mut |_| {},
        )?;
        self.judged(&judgement, &device, text);
        let settings = Settings {
            timeout: TIMED_S,
            ..Settings::default()
        };
        let seconds = match judgement.ruling {
            Ruling::NotBuilt => return Ok(None),
            Ruling::Right if self.is_only => {
                worker.run(&Job::new(case.clone(), settings))?.median()
            }
            _ => None,
        };
        Ok(Some((case, seconds)))
    }

    /// What the device made of it.
    fn judged(&mut self, judgement: &Judgement, device: &str, text: &mut String) {
        let sizes: Vec<String> = judgement
            .tried
            .iter()
            .filter(|tried| tried.ruling == Ruling::Right)
            .map(|tried| format::size(tried.shape.n, tried.shape.m))
            .collect();
        if !sizes.is_empty() {
            let said = match &self.verdict.reference {
                Some(_) => "right",
                None => "the same result in each run",
            };
            *text += &self
                .screen
                .wrap(&format!("{device}: {said}, with n = {}", sizes.join(", ")));
        }
        let Some(failed) = judgement.failed() else {
            return;
        };
        let size = format::size(failed.shape.n, failed.shape.m);
        let message = format!(
            "with n = {size}, work-group {}: {}",
            failed.wg, failed.reason
        );
        match failed.ruling {
            Ruling::NotBuilt => self.found(BUILD, failed.reason.clone(), device),
            Ruling::Crashed => self.found("crash", message, device),
            Ruling::Endless if sizes.is_empty() => self.found("endless", message, device),
            Ruling::Wrong if failed.reason.contains("changed its input") => {
                self.found("input_changed", message, device);
            }
            Ruling::Wrong if failed.reason.contains("writes outside") => {
                self.found("write_outside", message, device);
            }
            Ruling::Wrong if self.verdict.reference.is_some() => {
                self.found("wrong_result", message, device);
            }
            Ruling::Wrong => {
                let message = message.replace(", want ", ", and in another run ");
                self.found("unsteady_result", message, device);
            }
            _ => self.not_looked_at(&format!("n = {size}"), failed.reason.clone()),
        }
    }

    fn simulate(
        &mut self,
        (registry, family, rung): (&Registry, &Family, &Rung),
        case: &Case,
        text: &mut String,
    ) -> Result<()> {
        const SIMULATOR: &str = "simulator Oclgrind";
        let checked = simulate::open(registry, SHORT)
            .and_then(|mut worker| simulate::check(&mut worker, (family, rung), case, SHORT));
        let checked = match checked {
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(why) => {
                self.not_looked_at("races, bounds, values never set", why.to_string());
                return Ok(());
            }
            Ok(checked) => checked,
        };
        for found in &checked.findings {
            let rule = serde_json::to_value(found.kind).unwrap_or_default();
            let rule = rule.as_str().unwrap_or("other").to_owned();
            self.found(&rule, found.meaning(), SIMULATOR);
            if let Some(finding) = self.verdict.findings.last_mut() {
                finding.file.clone_from(&found.file);
                finding.line = found.line;
            }
        }
        for remark in simulate::remarks_of(family, rung) {
            self.found("remark", remark.says, "gpulab");
            if let Some(finding) = self.verdict.findings.last_mut() {
                finding.level = Level::Note;
                finding.file = Some(remark.file);
                finding.line = Some(remark.line);
            }
        }
        match checked.doubt() {
            Some(why) => self.not_looked_at("races, bounds, values never set", why),
            None if checked.findings.is_empty() => {
                *text += &simulate::told(&checked, rung, "", self.screen);
            }
            None => {}
        }
        Ok(())
    }

    /// Counts, times here and elsewhere, and what would pay most.
    fn count(
        &mut self,
        (registry, family, rung): (&Registry, &Family, &Rung),
        case: &Case,
        seconds: Option<f64>,
        text: &mut String,
    ) -> Result<()> {
        let gpu = RecordedGpu::of(self.options.ladder.on.as_deref().unwrap_or(USUAL), family)?;
        let there = gpu.times(registry, family, std::slice::from_ref(case), true)?;
        let payoffs = gpu.payoffs(registry, family, case, true)?;
        let rows = counter::beside(registry, (family, rung), &[], case, (SHORT, true))?;
        *text += &alone::times(seconds, there[0].as_ref(), &gpu.name, self.screen);
        *text += &count::table(&rows, false, self.screen);
        if let Some(payoffs) = payoffs {
            *text += &payoff::text(&payoffs, &gpu.name, (&family.name, None), self.screen);
        }
        Ok(())
    }
}

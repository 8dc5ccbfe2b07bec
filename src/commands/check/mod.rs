//! `gpulab check`: the kernels of a repository, built by every compiler at hand and looked at in the simulator.

mod simulated;
mod sources;
mod tools;

use crate::check::fingerprint;
use crate::cli::{CheckArgs, Global};
use crate::console::{print, screen, worst_of};
use crate::device::doctor;
use crate::kernels::Registry;
use crate::outcome::DeviceInfo;
use crate::outputs::{json, write_told};
use crate::report::check::{self, CheckedFile};
use crate::report::format::{Screen, counted, file_name};
use crate::report::verdict::{Finding, Level, NotLookedAt, Verdict, Word};
use crate::{Error, Result, bench, files, interrupt};
use serde::{Deserialize, Serialize};
use simulated::Simulators;
pub use sources::matching;
use sources::{CheckSettings, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::{env, fs, thread};
use tools::{Clang, Driver};

/// What a repository says of its kernels, at its root.
const SETTINGS: &str = "gpulab.toml";

/// Begins the tool of what the simulator finds.
const SIMULATOR: &str = "Oclgrind";

/// The same, where kernels have sub-groups.
const WITH_WIDTH: &str = "Oclgrind with sub-groups of ";

/// What one tool says of one file.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Look {
    findings: Vec<Finding>,
    not_looked_at: Vec<NotLookedAt>,
    /// Of a compiler.
    is_built: Option<bool>,
    seconds: Option<[f64; 2]>,
}

/// A folder of answers that were given before, if they are kept.
struct Cache<'a>(Option<&'a Path>);

impl Cache<'_> {
    /// The answer to the same question, or a new one, which is kept if it is whole.
    fn look(&self, tool: &str, source: &Source, ask: impl FnOnce() -> Look) -> Look {
        let Some(folder) = self.0 else {
            return ask();
        };
        let question = format!(
            "{} {tool} {} {:?} {:?}\n{}",
            env!("CARGO_PKG_VERSION"),
            source.file,
            source.options,
            source.n,
            source.text
        );
        let name = fingerprint(question.as_bytes());
        let path = folder.join(format!("{name:032x}.json"));
        files::read_json(&path).unwrap_or_else(|_| {
            let look = ask();
            if look.not_looked_at.is_empty() {
                // Without it, the next run asks again.
                let _ = files::write_json(&path, &look);
            }
            look
        })
    }
}

pub fn run(global: &Global, options: &CheckArgs) -> Result<()> {
    interrupt::watch();
    let settings = CheckSettings::read()?;
    let mut verdict = Verdict::new("check", &options.files.join(" "));
    let mut registry = Registry::default();
    let mut sources = Vec::new();
    for file in matching(&options.files)? {
        match Source::read(&file, &settings, &mut registry) {
            Ok(source) => sources.push(source),
            Err(why) => verdict.leave(file, why.to_string()),
        }
    }
    if options.init {
        return sources::begin(&sources);
    }
    // What has no kernel is looked at where it is included.
    let all: String = sources.iter().map(|source| source.text.as_str()).collect();
    sources.retain(|source| {
        let begin = format!("#line 1 \"{}\"\n", file_name(&source.file));
        !source.kernels.is_empty() || all.matches(&begin).count() == 1
    });
    if let Some(folder) = &options.cache {
        fs::create_dir_all(folder).map_err(Error::unwritten(folder))?;
    }
    let cache = &Cache(options.cache.as_deref());
    let looks = look(cache, (&mut sources, &registry), &mut verdict);
    bench::go_on()?;
    let files: Vec<CheckedFile> = sources
        .iter()
        .zip(looks)
        .map(|(source, looks)| told(source, &looks, &mut verdict))
        .collect();
    conclude(&files, &mut verdict, options.strict);
    tell(global, options, &files, &verdict)?;
    verdict.end()
}

/// The compilers at hand.
struct Compilers {
    clang: Option<Clang>,
    devices: Vec<DeviceInfo>,
}

impl Compilers {
    fn find(verdict: &mut Verdict) -> Compilers {
        let clang = Clang::find()
            .map_err(|why| verdict.leave(tools::TARGETS.join(", "), why))
            .ok();
        let platforms = doctor::platforms().unwrap_or_else(|why| {
            verdict.leave("drivers".to_owned(), why.to_string());
            Vec::new()
        });
        let devices = platforms.into_iter().flat_map(|platform| platform.devices);
        let devices = devices.filter(|device| !device.is_simulator()).collect();
        Compilers { clang, devices }
    }

    fn drivers(&self) -> Vec<Driver<'_>> {
        self.devices.iter().map(Driver::new).collect()
    }

    fn look(
        &self,
        drivers: &mut [Driver<'_>],
        source: &mut Source,
        cache: &Cache<'_>,
    ) -> Vec<Look> {
        let mut looks = match &self.clang {
            Some(clang) => clang.look(source, cache),
            None => Vec::new(),
        };
        looks.extend(drivers.iter_mut().map(|driver| driver.look(source, cache)));
        looks
    }
}

/// What compilers make of a file with these macros, for a verdict on its kernels: what others than its device's driver object to is no
/// fault.
pub fn compiled(
    file: &str,
    define: &BTreeMap<String, String>,
    verdict: &mut Verdict,
) -> Result<CheckedFile> {
    let settings = CheckSettings::of_macros(define);
    let mut source = Source::read(file, &settings, &mut Registry::default())?;
    let compilers = Compilers::find(verdict);
    let looks = compilers.look(&mut compilers.drivers(), &mut source, &Cache(None));
    let mut found = Verdict::new(verdict.command, file);
    let checked = told(&source, &looks, &mut found);
    for finding in &mut found.findings {
        if finding.level == Level::Error {
            finding.level = Level::Warning;
        }
    }
    verdict.findings.append(&mut found.findings);
    Ok(checked)
}

/// Most files that are looked at in one moment: each has workers of its own.
const MOST_AT_ONCE: usize = 8;

/// What every tool says of every file: a list for each file.
fn look(
    cache: &Cache<'_>,
    (sources, registry): (&mut [Source], &Registry),
    verdict: &mut Verdict,
) -> Vec<Vec<Look>> {
    let compilers = Compilers::find(verdict);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at_once = cores.min(MOST_AT_ONCE).min(sources.len());
    let looks = Mutex::new(vec![Vec::new(); sources.len()]);
    let queue = Mutex::new(sources.iter_mut().enumerate());
    let next = || queue.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                let mut drivers = compilers.drivers();
                let mut simulators = Simulators::new(registry);
                while let Some((at, source)) = next() {
                    let mut of_file = compilers.look(&mut drivers, source, cache);
                    of_file.extend(simulators.look(source, cache));
                    if let Ok(mut looks) = looks.lock() {
                        looks[at] = of_file;
                    }
                }
            });
        }
    });
    looks.into_inner().unwrap_or_default()
}

fn is_of_simulator(found: &Finding) -> bool {
    found.tool.starts_with(SIMULATOR)
}

/// A file's row; what was found in it goes to the verdict, each finding once with all tools that say it.
fn told(source: &Source, looks: &[Look], verdict: &mut Verdict) -> CheckedFile {
    let tried = looks.iter().filter_map(|look| look.is_built);
    let built = tried.clone().filter(|is_built| *is_built).count();
    // Where guesses build nowhere, they are to blame.
    let is_open = built == 0 && (!source.guessed.is_empty() || source.kernels.is_empty());
    if is_open || !source.guessed.is_empty() {
        let guessed = match &source.guessed[..] {
            [] => "it has macros of its host".to_owned(),
            guessed => format!("{} were guessed", guessed.join(", ")),
        };
        let how = if is_open {
            ", and it does not build"
        } else {
            ""
        };
        verdict.leave(
            format!("{} with macros of its host", source.file),
            format!("{guessed}{how}; name them in {SETTINGS}, which gpulab check --init begins"),
        );
    }
    let mut findings: Vec<Finding> = Vec::new();
    for found in looks.iter().flat_map(|look| &look.findings) {
        if is_open && !is_of_simulator(found) && found.level == Level::Error {
            continue;
        }
        let tool = found.tool.trim_start_matches(WITH_WIDTH);
        let mut known = findings.iter_mut();
        match known.find(|known| known.is_like(found)) {
            Some(known) if known.tool.contains(tool) => {}
            Some(known) => known.tool += &format!(", {tool}"),
            None => findings.push(found.clone()),
        }
    }
    let left = looks.iter().flat_map(|look| &look.not_looked_at);
    let is_left = left.clone().any(|left| left.what.ends_with(SIMULATOR));
    for left in left {
        if !verdict.not_looked_at.contains(left) {
            verdict.not_looked_at.push(left.clone());
        }
    }
    let faults = findings.iter().filter(|found| is_of_simulator(found));
    let simulator = match (faults.count(), is_left) {
        (0, false) => "nothing".to_owned(),
        (0, true) => "not looked at".to_owned(),
        (faults, _) => counted(faults, "finding"),
    };
    verdict.findings.extend(findings);
    let times = looks.iter().filter_map(|look| look.seconds);
    CheckedFile {
        file: source.file.clone(),
        kernels: source.kernels.len(),
        built: format!("{built} of {}", tried.count()),
        simulator,
        needs: source.needs.clone(),
        seconds: times.max_by(|one, other| one[0].total_cmp(&other[0])),
    }
}

fn conclude(files: &[CheckedFile], verdict: &mut Verdict, strict: bool) {
    let findings = verdict.findings.iter();
    let mut errors = findings
        .filter(|found| found.level == Level::Error || strict && found.level == Level::Warning);
    let is_all_left = files.iter().all(|file| file.built.starts_with("0 "));
    verdict.exit_code = match () {
        () if errors.clone().any(is_of_simulator) => 4,
        () if errors.next().is_some() => 5,
        () if is_all_left || strict && !verdict.not_looked_at.is_empty() => 7,
        () => 0,
    };
    let mut findings = verdict.findings.iter();
    if findings.any(|found| found.level != Level::Note) {
        verdict.verdict = Word::Found;
    } else if is_all_left {
        verdict.verdict = Word::NotLookedAt;
    }
    verdict.reason = check::reason(files, verdict);
}

fn tell(
    global: &Global,
    options: &CheckArgs,
    files: &[CheckedFile],
    verdict: &Verdict,
) -> Result<()> {
    let outputs = [
        (&options.json, json(verdict)?),
        (&options.md, check::md(files, verdict)),
        (&options.sarif, json(&check::sarif(verdict))?),
        (&options.junit, check::junit(files, verdict)),
    ];
    let is_taken = outputs.iter().any(|(path, _)| path.as_deref() == Some("-"));
    let mut told = Vec::new();
    if is_taken {
        global.say(check::text(files, verdict, Screen::stderr()).trim_end());
    } else {
        told.push(print(&check::text(files, verdict, screen(global.color))));
        if options.github || env::var_os("GITHUB_ACTIONS").is_some() {
            told.push(print(&check::annotations(verdict)));
        }
    }
    for (path, text) in outputs {
        told.extend(path.iter().map(|path| write_told(global, path, &text, "")));
    }
    worst_of(told)
}

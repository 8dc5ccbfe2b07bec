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
use sources::{CheckSettings, FileSettings, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;
use std::{env, fs, thread};
use tools::{Clang, Driver};

/// What a repository says of its kernels, at its root.
const SETTINGS: &str = "gpulab.toml";

/// Begins what is said of a kernel that took too long.
const LATE: &str = "no result within ";

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
    /// The answer to the same question, or a new one, which is kept if it is whole, or as much as its time allows.
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
            let mut left = look.not_looked_at.iter();
            if left.all(|left| left.why.starts_with(LATE)) && !interrupt::interrupted() {
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
    let mut files = BTreeSet::new();
    for pattern in &options.files {
        files.append(&mut matching(pattern)?);
    }
    settings.leave_unmatched(&mut verdict);
    for file in files {
        match Source::read(&file, settings.of(&file), &mut registry) {
            Ok(source) => sources.push(source),
            Err(why) => verdict.leave(file, why.to_string()),
        }
    }
    // What has no kernel is looked at where it is included.
    let all: String = sources.iter().map(|source| source.text.as_str()).collect();
    sources.retain(|source| {
        let begin = format!("#line 1 \"{}\"\n", file_name(&source.file));
        !source.kernels.is_empty() || all.matches(&begin).count() == 1
    });
    if options.init {
        return sources::begin(&sources);
    }
    if let Some(folder) = &options.cache {
        fs::create_dir_all(folder).map_err(Error::unwritten(folder))?;
    }
    let cache = &Cache(options.cache.as_deref());
    look(cache, (&mut sources, &registry), &mut verdict);
    let files = sources.iter().map(|source| told(source, &mut verdict));
    let files: Vec<CheckedFile> = files.collect();
    conclude(&files, &mut verdict, options.strict);
    tell(global, options, &files, &verdict)?;
    bench::go_on()?;
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
            .map_err(|why| verdict.leave(tools::TARGETS.join(", "), why.to_owned()))
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

    fn look(&self, drivers: &mut [Driver<'_>], source: &mut Source, cache: &Cache<'_>) {
        if let Some(clang) = &self.clang {
            clang.look(source, cache);
        }
        for driver in drivers {
            driver.look(source, cache);
        }
    }
}

/// What compilers make of a file with these macros, for a verdict on its kernels: what others than its device's driver object to is no
/// fault.
pub fn compiled(
    file: &str,
    define: &BTreeMap<String, String>,
    verdict: &mut Verdict,
) -> Result<CheckedFile> {
    let define = define.iter();
    let mut settings = FileSettings::default();
    settings.define = define
        .map(|(name, value)| (name.clone(), value.as_str().into()))
        .collect();
    let mut source = Source::read(file, settings, &mut Registry::default())?;
    let compilers = Compilers::find(verdict);
    compilers.look(&mut compilers.drivers(), &mut source, &Cache(None));
    let mut found = Verdict::new(verdict.command, file);
    let checked = told(&source, &mut found);
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

/// Has every tool look at every file, until an interrupt.
fn look(cache: &Cache<'_>, (sources, registry): (&mut [Source], &Registry), verdict: &mut Verdict) {
    let compilers = Compilers::find(verdict);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let at_once = cores.min(MOST_AT_ONCE).min(sources.len());
    let queue = Mutex::new(sources.iter_mut());
    let next = || queue.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                let mut drivers = compilers.drivers();
                let mut simulators = Simulators::new(registry);
                while let Some(source) = next() {
                    compilers.look(&mut drivers, source, cache);
                    simulators.look(source, cache);
                    if interrupt::interrupted() {
                        // What was ended says nothing.
                        source.looks.clear();
                        return;
                    }
                }
            });
        }
    });
}

fn is_of_simulator(found: &Finding) -> bool {
    found.tool.starts_with(SIMULATOR)
}

/// Whether a compiler misses a type in capitals, as hosts define them.
fn is_of_host_type(found: &Finding) -> bool {
    let name = found.message.strip_prefix("unknown type name '");
    name.and_then(|name| name.split('\'').next())
        .is_some_and(|name| !name.contains(char::is_lowercase))
}

/// A file's row; what was found in it goes to the verdict, each finding once with all tools that say it.
fn told(source: &Source, verdict: &mut Verdict) -> CheckedFile {
    let looks = &source.looks;
    let tried = looks.iter().filter_map(|look| look.is_built);
    let built = tried.clone().filter(|is_built| *is_built).count();
    if looks.is_empty() {
        verdict.leave(source.file.clone(), "gpulab was interrupted".to_owned());
    }
    let all = looks.iter().flat_map(|look| &look.findings);
    // Where guesses build nowhere, they may be to blame; or a type that the host defines.
    let is_open = built == 0
        && (!source.guessed.is_empty()
            || source.kernels.is_empty()
            || all.clone().any(is_of_host_type));
    let is_blamed =
        |found: &&Finding| is_open && !is_of_simulator(found) && found.level == Level::Error;
    let open = all.clone().find(is_blamed);
    let open = open.map_or(String::new(), |found| {
        format!(", and it does not build: {}", found.message)
    });
    let why = match &source.guessed[..] {
        [] if source.kernels.is_empty() => format!("no kernel is seen in it{open}"),
        [] => format!("it has types of its host{open}"),
        guessed => format!(
            "guessed: {}{open}; name them in {SETTINGS}, which gpulab check --init begins",
            guessed.join(", ")
        ),
    };
    if is_open || !source.guessed.is_empty() {
        verdict.leave(source.file.clone(), why);
    }
    let mut findings: Vec<Finding> = Vec::new();
    for found in all.filter(|found| !is_blamed(found)) {
        let mut found = found.clone();
        // Of sizes, which no line of the text is to blame for.
        if found.rule == "build_error" && found.line.is_none() && !source.guessed.is_empty() {
            found.doubt(Some("a macro"));
        }
        let tool = found.tool.trim_start_matches(WITH_WIDTH);
        let mut known = findings.iter_mut();
        match known.find(|known| known.is_like(&found)) {
            Some(known) if known.tool.contains(tool) => {}
            Some(known) => known.tool += &format!(", {tool}"),
            None => findings.push(found),
        }
    }
    let left = looks.iter().flat_map(|look| &look.not_looked_at);
    let is_left = looks.is_empty() || left.clone().any(|left| left.what.ends_with(SIMULATOR));
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
        (&options.junit, check::junit(files, verdict, options.strict)),
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

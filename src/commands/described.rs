//! `gpulab ladder`: a ladder that a reader's TOML file describes.

use super::ladder::LadderRun;
use super::{Out, bench, interrupt, ladder, own, say};
use crate::cli::{Global, LadderArgs};
use crate::count::{CheckingWorker, PLUGINS_FOLDER};
use crate::data::Dtype;
use crate::judging::ragged;
use crate::kernels::{
    Checker, DeclarationError, Description, Family, FamilyFile, Rung, check_described, declared_work_group,
    text as text_of, tile_of_a_group,
};
use crate::plan::{Case, Target, WorkGroup};
use crate::report::{findings, format};
use crate::suggest::{did_you_mean, nearest};
use crate::terminal::Screen;
use crate::worker::Setup;
use crate::{Error, ceilings, files, input, oracle, values};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What `--template` writes, by its names.
const TEMPLATE: [(&str, &str); 4] = [
    ("family.toml", include_str!("../../data/examples/template/family.toml")),
    ("naive.cl", include_str!("../../data/examples/template/naive.cl")),
    ("tiled.cl", include_str!("../../data/examples/template/tiled.cl")),
    ("reference.cl", include_str!("../../data/examples/template/reference.cl")),
];

/// Whether a family's name is that of a file.
pub(super) fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// Climbs the ladder that a file describes, or writes one to begin with.
///
/// # Errors
/// A file that describes no family, and as of every ladder.
pub fn run(out: &mut Out, global: &Global, options: &LadderArgs) -> Result<(), Error> {
    if let Some(folder) = &options.template {
        return template(out, folder);
    }
    let Some(file) = &options.file else {
        return Err(Error::Usage("name a file, as in gpulab ladder mine/family.toml".into()));
    };
    let family = family(file, global.device.as_deref())?;
    let quick = options.ladder.measure.quick;
    let usual = family.usual_shape(family.form.ladder_size(quick), quick);
    let shape = bench::shape(family, options.n, options.m, usual)?;
    let dtype = options.ladder.dtype.or(family.dtypes.first().copied()).unwrap_or(Dtype::F32);
    bench::check_dtype(family, dtype)?;
    if shape.elements() > 0 {
        let refused = check_described(family, shape, dtype);
        refused.map_err(|why| Error::Usage(format!("{}: {why}", shown(file))))?;
    }
    let rungs: Vec<&'static Rung> = family.kernels().collect();
    let lower = |text: &String| text.split_once('=').map(|(name, value)| format!("{}={value}", name.to_lowercase()));
    let set: Vec<String> = options.set.iter().map(|text| lower(text).unwrap_or_else(|| text.clone())).collect();
    let params = bench::single_settings(family, &rungs, &set)?;
    let mut study = LadderRun::new(family, shape, &options.ladder, &params);
    if options.ladder.wg.is_none() {
        let case = |rung: &&Rung, wg: WorkGroup| Case {
            family: family.name.into(),
            variant: rung.variant().into(),
            dtype,
            shape,
            wg,
            params: params.clone(),
            seed: options.ladder.seed,
        };
        let cases = rungs.iter().filter_map(|rung| Some(case(rung, declared_work_group(rung)?)));
        study.own_cases = cases.collect();
    }
    let is_clean = if options.check { check(options, family, dtype, &study) } else { Ok(()) };
    // A driver may hide what the simulator found: both are told.
    let climbed = ladder::run(out, global, &options.ladder, &study);
    bench::worst_of([is_clean, climbed].into_iter().filter_map(Result::err))
}

/// Runs each rung in the simulator, over some groups and a rest, and says what that found.
fn check(options: &LadderArgs, family: &'static Family, dtype: Dtype, study: &LadderRun) -> Result<(), Error> {
    /// Seconds, if nobody says: a simulator is slow.
    const PATIENCE_S: f64 = 120.0;
    let limit = Duration::from_secs_f64(options.ladder.measure.deadline.unwrap_or(PATIENCE_S));
    let folder = ceilings::folder()?.join(PLUGINS_FOLDER);
    interrupt::watch();
    let mut worker = CheckingWorker::open(&folder, Setup::default(), limit, (interrupt::interrupted, say))?;
    let rungs = match options.ladder.variant.as_deref() {
        Some(list) => values::variants(family, list).map_err(Error::Usage)?,
        None => family.kernels().collect(),
    };
    let mut faulty = Vec::new();
    for rung in rungs {
        let case = Case {
            family: family.name.into(),
            variant: rung.variant().into(),
            dtype,
            shape: study.shape,
            wg: options.ladder.wg.or(declared_work_group(rung)).unwrap_or(WorkGroup::linear(64)),
            params: study.params.clone(),
            seed: options.ladder.seed,
        };
        let Some(case) = small(family, case, worker.target()) else { continue };
        let (findings, ended) = worker.check(&case, limit)?;
        let source = text_of(rung.path).unwrap_or_default();
        let line_of = |file: &str, line| own::line_of(source, file, line);
        let told = |screen| format!("{}: {}", rung.label(), findings::text(&findings, &line_of, screen));
        // Somebody else's file may take standard output.
        say(told(Screen::stderr()).trim_end());
        if !findings.is_empty() {
            faulty.push(rung.label());
        } else if let Some(why) = ended {
            say(&format!("{}: it did not run to its end in the simulator: {why}", rung.label()));
        }
    }
    match faulty.is_empty() {
        true => Ok(()),
        false => Err(Error::WrongResult(format!("{}: the simulator found faults: see above", faulty.join(", ")))),
    }
}

/// The case over some groups and a rest, if the family can have so few.
fn small(family: &Family, case: Case, target: &Target) -> Option<Case> {
    let rung = family.rung(&case.variant)?;
    let tile = tile_of_a_group(family, rung, &case, target).ok()?;
    let least = ragged(family.form, tile);
    let sizes =
        [least, family.form.shape(least.n.next_multiple_of(16), Some(least.m.next_multiple_of(16))), case.shape];
    let cases = sizes.map(|shape| Case { shape, ..case.clone() });
    cases.into_iter().find(|case| family.plan(rung, case, target).is_ok())
}

/// The family that a file describes; a reference kernel runs on the device of this name where there is no CPU's.
///
/// # Errors
/// [`Error::Usage`] for what is wrong in the file, with its line, or in a file that it names.
pub(super) fn family(path: &Path, device: Option<&str>) -> Result<&'static Family, Error> {
    let wrong = |why: String| Error::Usage(format!("{}: {why}", shown(path)));
    let text = text(path).map_err(wrong)?;
    let description = Description::parse(&text).map_err(|error| wrong(with_suggestion(&error)))?;
    let folder = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf)).unwrap_or_default();
    if folder.to_str().is_none() {
        return Err(wrong("its folder's name is not UTF-8: move it to another folder".into()));
    }
    let mut sources = BTreeMap::new();
    for name in description.files() {
        let source = own::assembled(&folder.join(&name), &description.name);
        sources.insert(name, source.map_err(|error| wrong(error.to_string()))?);
    }
    let file = FamilyFile { text, folder, sources };
    oracle::declare(&file, device).map_err(|error| wrong(error.to_string()))
}

/// The file and those that it names: kernels with what they include, data, and what its program's words lead to.
pub(super) fn files_of(path: &Path) -> Vec<PathBuf> {
    let description = text(path).ok().and_then(|text| Description::parse(&text).ok());
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut all = vec![path.to_owned()];
    if let Some(description) = description {
        all.extend(description.files().iter().flat_map(|name| own::files_of(&folder.join(name))));
        all.extend(description.data_files().iter().map(|name| folder.join(input::path(name))));
        if let Ok(Checker::Program { command, .. }) = description.checker() {
            all.extend(command.iter().map(|word| folder.join(word)));
        }
    }
    all
}

fn text(path: &Path) -> Result<String, String> {
    /// Far more than any family has.
    const MOST: u64 = 1 << 20;
    let metadata =
        fs::metadata(path).map_err(|error| format!("{error}; gpulab ladder --template DIR writes a starting file"))?;
    match metadata.len() {
        _ if metadata.is_dir() => Err("it is a folder: name the TOML file in it".into()),
        bytes if bytes > MOST => Err(format!("it has {bytes} bytes, and a family has at most {MOST}")),
        _ => files::read_to_string(path).map_err(|error| error.to_string()),
    }
}

/// What is wrong, and which of the words that the message lists may have been meant.
fn with_suggestion(error: &DeclarationError) -> String {
    let mut words = error.why.split('`').skip(1).step_by(2);
    let Some(word) = words.next().filter(|_| error.why.starts_with("unknown")) else { return error.to_string() };
    let meant: Vec<&str> = nearest(word, words, |word| *word);
    format!("{error}{}", did_you_mean(&meant))
}

fn shown(path: &Path) -> String {
    format::terminal(&path.display().to_string())
}

/// Writes a family to begin with; nothing that is there is overwritten.
fn template(out: &mut Out, folder: &Path) -> Result<(), Error> {
    let output = |path: &Path, source| Error::Output { what: path.display().to_string(), source };
    let paths: Vec<(PathBuf, &str)> = TEMPLATE.iter().map(|(name, text)| (folder.join(name), *text)).collect();
    if let Some((path, _)) = paths.iter().find(|(path, _)| path.exists()) {
        return Err(Error::Usage(format!("{} exists already: choose another folder", shown(path))));
    }
    for (path, text) in &paths {
        files::write_whole(path, text).map_err(|source| output(path, source))?;
        out.text(&format!("wrote {}\n", path.display()))?;
    }
    out.text(&format!("run it: gpulab ladder {}\n", folder.join("family.toml").display()))
}

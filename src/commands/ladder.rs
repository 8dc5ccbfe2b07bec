//! `gpulab ladder`: a ladder that a reader's TOML file describes.

use crate::adopt::{cited, described, own};
use crate::bench;
use crate::bench::{judge, simulate};
use crate::cli::{CitedLadder, LadderArgs};
use crate::kernels::{draft, transpose};
use crate::ladder::{self, LadderRun};
use crate::prelude::*;
use crate::record::REPEATS;
use crate::report::judged;

/// What `--template` writes, by its names.
const TEMPLATE: [(&str, &str); 4] = [
    ("family.toml", include_str!("../../data/examples/template/family.toml")),
    ("naive.cl", include_str!("../../data/examples/template/naive.cl")),
    ("tiled.cl", include_str!("../../data/examples/template/tiled.cl")),
    ("reference.cl", include_str!("../../data/examples/template/reference.cl")),
];

/// Turns of NVIDIA's loop in the kernel.
const NREPS: &str = "10";

/// Climbs the ladder that a file describes, or writes one to begin with.
pub fn run(out: &mut Out, global: &Global, options: &LadderArgs) -> Result<(), Error> {
    if let Some(folder) = &options.template {
        return template(out, folder);
    }
    if let Some(from) = &options.from {
        let (path, kernel) = own::split_kernel(from);
        let text = own::assembled(path, "")?;
        let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        return out.text(&draft(&text, &file, kernel).map_err(Error::Usage)?);
    }
    let mut registry = Registry::default();
    let family = &match (&options.file, options.source) {
        (Some(file), _) => described::family(&mut registry, file, global.device.as_deref())?.clone(),
        (None, Some(CitedLadder::Nvidia)) if !options.faults => return transposition(out, global, options),
        (None, Some(source)) => cited::family(&mut registry, source, options.faults, global.device.as_deref())?.clone(),
        (None, None) => return Err(Error::Usage("name a file, as in gpulab ladder mine/family.toml".into())),
    };
    let quick = options.ladder.measure.quick;
    let usual = family.usual_shape(family.form.ladder_size(quick), quick);
    let shape = bench::shape(family, options.n, options.m, usual)?;
    let dtype = options.ladder.dtype.or(family.dtypes.first().copied()).unwrap_or(Dtype::F32);
    bench::check_dtype(family, dtype)?;
    if let Some(described) = family.described().filter(|_| shape.elements() > 0) {
        let refused = described.check(shape, dtype);
        let name = options.file.as_deref().map_or_else(|| family.name.to_string(), own::shown);
        refused.map_err(|why| Error::Usage(format!("{name}: {why}")))?;
    }
    let rungs: Vec<&Rung> = family.kernels().collect();
    let params = bench::own_settings(family, &rungs, &options.set)?;
    let mut study = LadderRun { registry, ..LadderRun::new(family, shape, options.ladder.dtype, &params) };
    study.source = options.source.map(|source| cited::set_up(source, family));
    if options.ladder.wg.is_none() {
        let case = |rung: &Rung| Some(study.case(rung.variant(), dtype, rung.work_group()?, options.ladder.seed));
        study.own_cases = rungs.iter().filter_map(|rung| case(rung)).collect();
    }
    let is_clean = if options.check || options.faults {
        check(options, family, dtype, &study)
    } else {
        global.say(simulate::UNCHECKED);
        Ok(())
    };
    // A driver may hide what the simulator found: both are told.
    let mut rows = Vec::new();
    let climbed = ladder::run_into(out, global, &options.ladder, &study, &mut rows);
    let looked = look_closer(global, family, &study, &rows);
    worst_of([is_clean, climbed, looked].into_iter().filter_map(Result::err))
}

/// NVIDIA's study is the transposition's own ladder in the source's set-up.
fn transposition(out: &mut Out, global: &Global, options: &LadderArgs) -> Result<(), Error> {
    let family = &transpose::FAMILY;
    let n = options.n.unwrap_or_else(|| options.ladder.default_size(family.form));
    let shape = Shape { n, m: options.m.unwrap_or(n) };
    let params = bench::own_settings(family, &family.kernels().collect::<Vec<_>>(), &options.set)?;
    let inside = Params::from([(REPEATS.to_owned(), NREPS.to_owned())]);
    let study = LadderRun {
        series: vec![Params::new(), inside],
        source: Some(cited::set_up(CitedLadder::Nvidia, family)),
        ..LadderRun::new(family, shape, options.ladder.dtype, &params)
    };
    ladder::run(out, global, &options.ladder, &study)
}

/// Says of the first rung that is wrong what `gpulab try` says: at which size it begins, what it looks like, and what the
/// simulator makes of it.
fn look_closer(global: &Global, family: &Family, study: &LadderRun<'_>, rows: &[Row]) -> Result<(), Error> {
    let wrong = rows.iter().find(|row| row.status == Status::WrongResult && !study.is_faulty(&row.variant));
    let Some((row, rung)) = wrong.and_then(|row| Some((row, family.rung(&row.variant)?))) else { return Ok(()) };
    let case = Case {
        wg: row.wg.unwrap_or(WorkGroup::linear(64)),
        params: row.params.clone(),
        seed: row.seed.unwrap_or_default(),
        ..Case::of(&family.name, rung.variant(), row.dtype, study.shape)
    };
    let judgement = judge::judge_rung(global, &study.registry, (family, rung), &case)?;
    let screen = Screen::stderr();
    let word = simulate::second_opinion(&study.registry, (rung, &judgement), global.device.as_deref(), screen)?;
    let is_found = word.as_ref().is_some_and(|(_, is_found)| *is_found);
    say(judged::text(&rung.label(), &judgement, is_found, screen).trim_end());
    word.iter().for_each(|(word, _)| say(word.trim_end()));
    Ok(())
}

/// Runs each rung in the simulator, and says what that found.
fn check(options: &LadderArgs, family: &Family, dtype: Dtype, study: &LadderRun<'_>) -> Result<(), Error> {
    /// Seconds by default: a simulator is slow.
    const PATIENCE_S: f64 = 120.0;
    let limit = Duration::from_secs_f64(options.ladder.measure.deadline.unwrap_or(PATIENCE_S));
    let mut worker = simulate::open(&study.registry, limit)?;
    let rungs = match options.ladder.variant.as_deref() {
        Some(list) => values::variants(family, list).map_err(Error::Usage)?,
        None => family.kernels().collect(),
    };
    let mut errors = Vec::new();
    for rung in rungs {
        let wg = options.ladder.wg.or(rung.work_group()).unwrap_or(WorkGroup::linear(64));
        let case = study.case(rung.variant(), dtype, wg, options.ladder.seed);
        let checked = simulate::check(&mut worker, (family, rung), &case, limit)?;
        let told = simulate::told(&checked, rung.text().unwrap_or_default(), Screen::stderr());
        // Somebody else's file may take standard output.
        say(format!("{}: {told}", rung.label()).trim_end());
        if checked.findings.is_empty() || !study.is_faulty(rung.variant()) {
            errors.extend(simulate::verdict(&checked, &rung.label(), options.ladder.measure.strict).err());
        }
    }
    worst_of(errors)
}

/// Writes a family to begin with; nothing that is there is overwritten.
fn template(out: &mut Out, folder: &Path) -> Result<(), Error> {
    let output = |path: &Path, source| Error::Output { what: path.display().to_string(), source };
    let paths: Vec<(PathBuf, &str)> = TEMPLATE.iter().map(|(name, text)| (folder.join(name), *text)).collect();
    if let Some((path, _)) = paths.iter().find(|(path, _)| path.exists()) {
        return Err(Error::Usage(format!("{} exists already: choose another folder", own::shown(path))));
    }
    for (path, text) in &paths {
        files::write_whole(path, text).map_err(|source| output(path, source))?;
        out.text(&format!("wrote {}\n", path.display()))?;
    }
    out.text(&format!("run it: gpulab ladder {}\n", folder.join("family.toml").display()))
}

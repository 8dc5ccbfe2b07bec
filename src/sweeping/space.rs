//! What a sweep tries: the space that its options span, and the plan of a device.

use crate::adopt::Brought;
use crate::bench::{self, Input, tuning};
use crate::cli::Sweep;
use crate::plan::Refusal;
use crate::prelude::*;
use crate::sweep::{self, Configuration, Narrowing, Space};
use crate::tuning::narrowed;
use crate::values::List;

/// What the options ask for; the default work-groups are left to the device.
pub(crate) fn space<'a>(options: &Sweep, brought: &'a Brought) -> Result<Space<'a>, Error> {
    let family = &brought.family;
    let rungs = brought.rungs(options.rungs.variant.as_deref())?;
    let settings = sweep::settings(family, &rungs, &options.set).map_err(Error::Usage)?;
    let mut dtypes: Vec<Dtype> = Vec::new();
    for &dtype in &options.dtype {
        bench::check_dtype(family, dtype)?;
        if !dtypes.contains(&dtype) {
            dtypes.push(dtype);
        }
    }
    if dtypes.is_empty() {
        dtypes.extend(family.dtypes.first());
    }
    let usual = family.usual_shape(family.form.default_size(), options.measure.quick);
    let shapes = shapes(family, options.n.as_ref(), options.m.as_ref(), usual)?;
    let wgs = options.wg.as_ref().map(|list| list.0.clone()).unwrap_or_default();
    let space = Space { family, rungs, dtypes, shapes, wgs, settings, seed: options.data.seed, remembered: Vec::new() };
    space.check_settings().map_err(Error::Usage)?;
    Ok(space)
}

/// The usual shape, square matrices, or every combination of columns and rows.
fn shapes(family: &Family, n: Option<&List<u64>>, m: Option<&List<u64>>, usual: Shape) -> Result<Vec<Shape>, Error> {
    if n.is_none() && m.is_none() {
        return Ok(vec![bench::shape(family, None, None, usual)?]);
    }
    let default = List(vec![usual.n]);
    let n = n.unwrap_or(&default);
    match (family.form, m) {
        (Form::Vector, Some(_)) => {
            Err(Error::Usage(format!("--m: {} works on vectors, which have no rows", family.name)))
        }
        (Form::Square, Some(_)) => {
            Err(Error::Usage(format!("--m: {} works on square matrices: --n is enough", family.name)))
        }
        (form, None) => Ok(n.0.iter().map(|&n| form.shape(n, None)).collect()),
        (form, Some(m)) => Ok(n.0.iter().flat_map(|&n| m.0.iter().map(move |&m| form.shape(n, Some(m)))).collect()),
    }
}

/// The largest data of any size and type, in bytes, before settings that make them larger; and the most operations.
pub(crate) fn largest_input(space: &Space) -> Result<(u64, f64), Error> {
    let family = space.family;
    let params = &Params::new();
    let mut bytes = 0;
    let mut ops = 0.0_f64;
    for (&dtype, &shape) in space.dtypes.iter().flat_map(|d| space.shapes.iter().map(move |s| (d, s))) {
        let input = Input { family, shape, dtype, params };
        (bytes, ops) = (bytes.max(input.bytes()?), ops.max(input.ops()));
    }
    Ok((bytes, ops))
}

/// Settings that are remembered of rungs none of whose tunables is swept; says so.
pub(crate) fn remembered(
    space: &Space<'_>,
    options: &Sweep,
    global: &Global,
    executor: &dyn Executor,
) -> Vec<sweep::RememberedSettings> {
    let mut found = Vec::new();
    // What a reader's file lists is swept.
    let loaded = (!options.no_tuned && space.family.described().is_none())
        .then(|| tuning::load(space.family, executor.info(), options.kernels.cl_dir.as_deref(), global.quiet))
        .flatten();
    let Some(known) = loaded else { return found };
    let is_swept = |rung: &Rung| rung.tunables().any(|t| space.settings.iter().any(|s| s.name == t.name));
    let is_choice = |name: &str| space.family.choices.iter().any(|choice| choice.name == name);
    let is_other_problem = space.settings.iter().any(|setting| is_choice(&setting.name));
    let rungs = space.rungs.iter().filter(|rung| !is_swept(rung) && !is_other_problem);
    for rung in rungs {
        for (&dtype, &shape) in space.dtypes.iter().flat_map(|d| space.shapes.iter().map(move |s| (d, s))) {
            let case = Case {
                wg: tuning::default_work_group(executor.info()),
                seed: space.seed,
                ..Case::of(&space.family.name, rung.variant(), dtype, shape)
            };
            let tuned = known.tuned(&case).filter(|tuned| !tuned.params.is_empty());
            let variant = rung.variant().to_owned();
            found.extend(tuned.map(|t| sweep::RememberedSettings { variant, dtype, shape, params: t.params }));
        }
    }
    let mut variants: Vec<&str> = found.iter().map(|settings| settings.variant.as_str()).collect();
    variants.dedup();
    tuning::announce(space.family, &variants, global.quiet);
    found
}

/// The plan; configurations whose data do not fit this machine or device are refused in it. What a reader's file excludes and,
/// unless work-groups were asked for, what the device is too small for is left out: `tell` hears of how many.
pub(crate) fn plan(
    space: &Space<'_>,
    executor: &dyn Executor,
    tell: &dyn Fn(&str),
) -> Result<Vec<Configuration>, Error> {
    let info = executor.info();
    let mut plan = space.expand(&info.target);
    if space.family.described().is_some() {
        let mut narrowings: Vec<(&Rung, Narrowing)> =
            space.rungs.iter().map(|rung| (*rung, Narrowing::default())).collect();
        plan.retain(|configuration| {
            let of = narrowings.iter_mut().find(|(rung, _)| rung.variant() == configuration.case.variant);
            let is_asked = !space.wgs.is_empty() && !matches!(configuration.refusal, Some(Refusal::Excluded(_)));
            is_asked || !of.is_some_and(|(_, narrowing)| narrowing.drops(configuration.refusal.as_ref()))
        });
        (0..).zip(&mut plan).for_each(|(index, configuration)| configuration.index = index);
        let texts: Vec<String> = narrowings.iter().filter_map(narrowed).collect();
        if plan.is_empty() {
            return Err(Error::Usage(texts.join("\n")));
        }
        texts.iter().for_each(|text| tell(text));
    }
    for configuration in &mut plan {
        let Case { dtype, shape, params, .. } = &configuration.case;
        let input = Input { family: space.family, shape: *shape, dtype: *dtype, params };
        if let Err(error) = input.check(info) {
            configuration.refusal = Some(Refusal::Memory(error.to_string()));
        }
    }
    Ok(plan)
}

/// The kernels' texts, fragments included.
pub(crate) fn sources(rungs: &[&Rung], dir: Option<&Path>) -> Result<Vec<String>, Error> {
    let sources = Sources { dir: dir.map(Path::to_owned) };
    rungs.iter().map(|rung| sources.assemble_rung(rung).map_err(|stop| Error::Usage(stop.reason))).collect()
}

pub(crate) fn listing(mine: &[&Configuration], all: usize) -> String {
    let line = |c: &&Configuration| match &c.refusal {
        Some(why) => format!("{}: skipped: {why}\n", c.label()),
        None => c.label() + "\n",
    };
    let refused = mine.iter().filter(|c| c.refusal.is_some()).count();
    let of = if mine.len() == all { String::new() } else { format!(" of {all}") };
    mine.iter().map(line).collect::<String>()
        + &format!("{}{of} configurations; {refused} cannot run here\n", mine.len())
}

//! What a search is asked for, and the space that it searches.

use crate::adopt::Brought;
use crate::bench;
use crate::cli::TuneArgs;
use crate::prelude::*;
use crate::sweep::{self, Identity, Narrowing, Order, Setting, Shard, Space};
use crate::tune::TuningSpace;

pub(crate) struct AskedTuning<'a> {
    pub(crate) family: &'a Family,
    /// The file that describes the family, from the root.
    pub(crate) file: Option<String>,
    pub(crate) rungs: Vec<&'a Rung>,
    pub(crate) shape: Shape,
    pub(crate) dtype: Dtype,
    /// Settings that the answer depends on.
    pub(crate) choices: Params,
    /// Values to try in place of tunables' own.
    pub(crate) settings: Vec<Setting>,
}

impl<'a> AskedTuning<'a> {
    pub(crate) fn new(options: &TuneArgs, brought: &'a Brought) -> Result<AskedTuning<'a>, Error> {
        let family = &brought.family;
        let rungs = brought.rungs(options.rungs.variant.as_deref())?;
        let dtype = bench::dtype(family, options.element.dtype)?;
        let usual = family.usual_shape(family.form.ladder_size(options.quick), options.quick);
        let shape = bench::shape(family, options.n, options.m, usual)?;
        if shape.elements() == 0 {
            return Err(Error::Usage("--n 0: no elements, so no launch to tune".into()));
        }
        let all = sweep::settings(family, &rungs, &options.set).map_err(Error::Usage)?;
        let wgs = options.wg.as_ref().map(|list| list.0.clone()).unwrap_or_default();
        let dtypes = vec![dtype];
        let shapes = vec![shape];
        let checked = Space { family, rungs, dtypes, shapes, wgs, settings: all, seed: 1, remembered: Vec::new() };
        checked.check_settings().map_err(Error::Usage)?;
        let Space { rungs, settings, .. } = checked;
        let is_choice = |setting: &Setting| family.choices.iter().any(|choice| choice.name == setting.name);
        let (chosen, settings): (Vec<Setting>, Vec<Setting>) = settings.into_iter().partition(is_choice);
        let choices = chosen.into_iter().map(one_choice).collect::<Result<Params, Error>>()?;
        let file = options.subject.name().map(Path::new).filter(|_| family.described().is_some());
        let file = file.and_then(|file| Some(file.canonicalize().ok()?.display().to_string()));
        Ok(AskedTuning { family, file, rungs, shape, dtype, choices, settings })
    }

    pub(crate) fn space(&self, options: &TuneArgs, executor: &dyn Executor) -> Result<TuningSpace<'a>, Error> {
        let target = &executor.info().target;
        let wgs = options.wg.as_ref().map(|list| list.0.as_slice());
        let base = Case {
            params: self.choices.clone(),
            seed: options.data.seed,
            ..Case::of(&self.family.name, "", self.dtype, self.shape)
        };
        let space = TuningSpace::new(self.family, &self.rungs, &base, wgs, &self.settings, target);
        let narrowed: Vec<String> = space.narrowings.iter().filter_map(narrowed).collect();
        match (space.candidates.is_empty(), &narrowed[..], space.refused.first()) {
            (true, [_, ..], _) => Err(Error::Usage(narrowed.join("\n"))),
            (true, [], Some((rung, why))) => {
                Err(Error::Usage(format!("no configuration can run here; {}: {why}", rung.label())))
            }
            _ => Ok(space),
        }
    }

    pub(crate) fn identity(
        &self,
        options: &TuneArgs,
        space: &TuningSpace<'_>,
        executor: &dyn Executor,
        settings: &Settings,
    ) -> Result<Identity, Error> {
        let sources = crate::kernels::Sources { dir: options.kernels.cl_dir.clone() };
        let texts = self.rungs.iter().map(|rung| sources.assemble_rung(rung));
        let texts = texts.collect::<Result<Vec<_>, _>>().map_err(|stop| Error::Usage(stop.reason))?;
        let order = Order::Sequential;
        Ok(Identity::new(&space.candidates, Shard::ALL, executor.info(), settings, order, None, &texts))
    }
}

/// What the settings of a rung came to, if they are fewer than its file spans.
pub(crate) fn narrowed((rung, narrowing): &(&Rung, Narrowing)) -> Option<String> {
    Some(format!("{}: {}", rung.label(), narrowing.text()?))
}

/// The one value of a choice: others are other problems.
fn one_choice(setting: Setting) -> Result<(String, String), Error> {
    match &setting.values[..] {
        [value] => Ok((setting.name.to_owned(), value.clone())),
        _ => Err(Error::Usage(format!(
            "--set {}: each value is a different problem with its own optimum: give one",
            setting.name
        ))),
    }
}

/// A line for each rung, with how many configurations it has.
pub(crate) fn listing(space: &TuningSpace<'_>) -> String {
    let count = |rung: &Rung| space.candidates.iter().filter(|c| c.case.variant == rung.variant()).count();
    space
        .rungs
        .iter()
        .map(|rung: &&Rung| format!("{}: {} configurations\n", rung.label(), count(rung)))
        .collect::<String>()
        + &space
            .refused
            .iter()
            .map(|(rung, why): &(&Rung, crate::plan::Refusal)| format!("{}: none: {why}\n", rung.label()))
            .collect::<String>()
        + &format!("{} configurations\n", space.candidates.len())
}

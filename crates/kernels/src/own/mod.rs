//! Kernels that a reader wrote, as rungs of a family.
//!
//! [`super::Registry::adopt`] makes a file the last rung of its family, so that whatever works on rungs works on it: ladders,
//! sweeps, tuning, counting.

mod args;
mod declaration;
mod planner;
mod traits;

pub use declaration::DeclarationError;
pub use traits::SourceTraits;

use super::builder::RESTORE;
use super::family::BroughtKernel;
use super::signature::{CSource, hidden_macros, without_definitions};
use super::{Family, Form, Rung};
use args::OwnArg;
use declaration::Declaration;
pub(super) use declaration::kernel_names;
use gpulab_model::data::{Params, Shape};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A reader's kernel: what a worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKernel {
    pub family: String,
    pub name: String,
    /// Its text, with what it includes.
    pub text: String,
}

pub(super) fn rung(own: &OwnKernel, family: &Family) -> Result<Rung, DeclarationError> {
    let mut declaration = Declaration::read(&own.text, family.form)?;
    let dimensions = if family.form == Form::Vector { 1 } else { 2 };
    let guesses = CSource::new(&own.text, &declaration.defines).guesses(dimensions, "T");
    declaration.defines.extend(guesses.clone());
    let source = CSource::new(&own.text, &declaration.defines);
    let inputs = family.problem.inputs(Shape { n: 1, m: 1 }, &Params::new()).len();
    let said = declaration.args.as_deref();
    let has_local = declaration.local.is_some();
    let args = args::of(&source, &declaration.kernel, (family.form, inputs), said, has_local)
        .map_err(|why| DeclarationError { line: None, why })?;
    if let (Some(args), false) = (&args, declaration.says_work) {
        declaration.take_lanes(args.lanes, family.form);
    }
    if args.as_ref().is_some_and(|args| args.is_of_items) && !declaration.says_results && family.form == Form::Vector {
        declaration.take_items();
    }
    let hidden = hidden_macros(&own.text);
    let is_restored = args.as_ref().is_some_and(|args| args.args.contains(&OwnArg::Out { is_zeroed: true }));
    let restoring = if is_restored { crate::text(RESTORE).unwrap_or_default() } else { "" };
    let kernel = BroughtKernel {
        text: format!(
            "{}{restoring}",
            without_definitions(&own.text, |name: &str| declaration.defines.iter().any(|(given, _)| given == name))
        ),
        work_group: declaration.wg,
        work_groups: Vec::new(),
        declaration: String::new(),
        macros: declaration.tunables.clone(),
        traits: (
            SourceTraits { left_to_host: source.host_names(), ..SourceTraits::of(&own.text, &declaration.kernel) },
            declaration.parameters(family),
        ),
        multiple: declaration.multiple,
        dtype: args.as_ref().and_then(|args| args.dtype),
        guess: guess_in_words(args.as_ref().and_then(|args| args.guess.as_deref()), &guesses),
        plan: Box::new(move |ask| {
            let mut plan = planner::plan(&declaration, args.as_ref().map(|args| &args.args[..]), ask)?;
            plan.defines.retain(|(name, _)| !hidden.contains(&name.as_str()));
            Ok(plan)
        }),
    };
    Ok(Rung::brought(&format!("{}/{}", family.name, own.name), None, kernel))
}

/// What was guessed of the arguments and of the macros that its host would define.
fn guess_in_words(args: Option<&str>, macros: &BTreeMap<String, String>) -> Option<String> {
    let all: Vec<String> = macros.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let macros = format!("its host's macros are taken for {} (--declare says others)", all.join(", "));
    match (args, all.is_empty()) {
        (None, true) => None,
        (Some(args), true) => Some(args.to_owned()),
        (None, false) => Some(macros),
        (Some(args), false) => Some(format!("{args}; {macros}")),
    }
}

//! Kernels of exercises, named as `exercise:strides` and `solution:strides`: rungs of the family whose problem they solve.

use super::{Brought, own, parted};
use crate::kernels::{Registry, built_in};
use crate::{Error, words};
use gpulab_study::exercise::{NAMES, exercise};
use std::path::Path;

/// The names of the rungs: of the starting file, and of a file that passes.
const STARTER: &str = "starter";
const SOLUTION: &str = "solution";

/// The kernel that a word names; none if it names no exercise's.
pub(super) fn brought(what: &str) -> Result<Option<Brought>, Error> {
    let (rung, name) = match parted(what) {
        ("exercise", Some(name)) => (STARTER, name),
        ("solution", Some(name)) => (SOLUTION, name),
        _ => return Ok(None),
    };
    let exercise =
        exercise(&name.to_lowercase())?.ok_or_else(|| Error::Usage(words::unknown("exercise", name, NAMES)))?;
    let Some(family) = exercise.family.as_deref().and_then(built_in) else {
        return Err(Error::Usage(format!("{what}: it asks questions, and has no kernel to look at")));
    };
    let text = if rung == STARTER { exercise.starter()? } else { exercise.solution()? };
    let mut registry = Registry::default();
    let family = own::adopt_as(&mut registry, rung, (Path::new(&exercise.file_name()), &text), family)?.clone();
    let own = family.rung(rung).cloned();
    Ok(Some(Brought { registry, family, own }))
}

/// Whether a word names an exercise's kernel.
pub(crate) fn is_named(what: &str) -> bool {
    matches!(parted(what), ("exercise" | "solution", Some(_)))
}

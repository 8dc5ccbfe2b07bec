//! Kernels of exercises, named as `exercise:strides` and `solution:strides`: rungs of the family whose problem they solve.

use super::own;
use crate::prelude::*;
use crate::suggest;
use gpulab_study::exercise::{NAMES, exercise};

/// What stands before the colon: for the starting file, and for a file that passes.
const STARTER: &str = "exercise";
const SOLUTION: &str = "solution";

/// Whether a word before a colon is one of these.
pub(crate) fn is_kind(word: &str) -> bool {
    [STARTER, SOLUTION].contains(&word)
}

/// The family with the kernel of an exercise as its last rung, and a registry that has it.
pub(super) fn adopt(kind: &str, name: &str) -> Result<(Registry, Family), Error> {
    let exercise =
        exercise(&name.to_lowercase())?.ok_or_else(|| Error::Usage(suggest::unknown("exercise", name, NAMES)))?;
    let Some(family) = exercise.family.as_deref().and_then(built_in) else {
        return Err(Error::Usage(format!("{kind}:{name}: it asks questions, and has no kernel to look at")));
    };
    let (rung, text) = match kind {
        SOLUTION => (SOLUTION, exercise.solution()?),
        _ => ("starter", exercise.starter()?),
    };
    let mut registry = Registry::default();
    let family = own::adopt_as(&mut registry, rung, (Path::new(&exercise.file_name()), &text), family)?.clone();
    Ok((registry, family))
}

//! `gpulab minplus`: the ladder of the shortcut step, or its use on a graph.

use crate::cli::MinPlusArgs;
use crate::distances;
use crate::kernels;
use crate::ladder::{self, LadderRun};
use crate::prelude::*;

/// Runs the ladder, or the job on the graph that was given.
pub fn run(out: &mut Out, global: &Global, options: &MinPlusArgs) -> Result<(), Error> {
    if let Some(file) = &options.graph.input {
        return distances::run(global, options, file);
    }
    let n = options.n.unwrap_or_else(|| options.ladder.default_size(Form::Square));
    let shape = Form::Square.shape(n, None);
    let study = LadderRun::new(&kernels::minplus::FAMILY, shape, options.ladder.dtype, &options.tunables.params);
    ladder::run(out, global, &options.ladder, &study)
}

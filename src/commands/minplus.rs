//! `gpulab minplus`: the ladder of the shortcut step, or its use on a graph.

use super::{Out, graph, ladder};
use crate::Error;
use crate::cli::{Global, MinPlusArgs};
use crate::data::Params;
use crate::kernels::{self, Form};

/// Runs the ladder, or the job on the graph that was given.
///
/// # Errors
/// Bad options and graphs, no device, a wrong result, a failed build, an output that cannot be written.
pub fn run(out: &mut Out, global: &Global, options: &MinPlusArgs) -> Result<(), Error> {
    if let Some(file) = &options.graph.input {
        return graph::run(global, &options.ladder, &options.graph, file);
    }
    let study = ladder::LadderRun {
        family: &kernels::minplus::FAMILY,
        shape: Form::Square.shape(options.n, None),
        dtype: options.ladder.dtype,
        params: options.tunables.params.clone(),
        series: vec![Params::new()],
        source: None,
        inputs: Vec::new(),
    };
    ladder::run(out, global, &options.ladder, &study)
}

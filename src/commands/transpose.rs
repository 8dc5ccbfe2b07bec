//! `gpulab transpose`: the transposition's ladder.

use super::{Out, ladder};
use crate::cli::{Global, Loop, TransposeArgs};
use crate::data::{Params, Shape};
use crate::kernels;
use crate::{Error, record};

/// Runs the ladder.
///
/// # Errors
/// Bad options, no device, a wrong result, a failed build, an output that cannot be written.
pub fn run(out: &mut Out, global: &Global, options: &TransposeArgs) -> Result<(), Error> {
    let n = options.n.unwrap_or(2048);
    let study = ladder::LadderRun {
        family: &kernels::transpose::FAMILY,
        shape: Shape { n: options.width.unwrap_or(n), m: options.height.unwrap_or(n) },
        dtype: options.ladder.dtype,
        params: options.tunables.params.clone(),
        series: series(options),
        source: None,
        inputs: Vec::new(),
    };
    ladder::run(out, global, &options.ladder, &study)
}

/// A set of settings for each kind of loop.
fn series(options: &TransposeArgs) -> Vec<Params> {
    let nreps = |inside: bool| inside.then(|| (record::REPEATS.to_owned(), options.nreps.to_string()));
    let kinds = [Loop::Kernel, Loop::Inside].into_iter().filter(|kind| options.loops.contains(kind));
    kinds.map(|kind| nreps(kind == Loop::Inside).into_iter().collect()).collect()
}

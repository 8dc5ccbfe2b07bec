//! `gpulab transpose`: the transposition's ladder.

use super::ladder::{self, LadderRun};
use crate::cli::{Global, Loop, TransposeArgs};
use crate::data::{Params, Shape};
use crate::kernels::{self, Form};
use crate::{Result, record};

pub fn run(global: &Global, options: &TransposeArgs) -> Result<()> {
    let n = options
        .n
        .unwrap_or_else(|| options.ladder.default_size(Form::Matrix));
    let shape = Shape {
        n: options.width.unwrap_or(n),
        m: options.height.unwrap_or(n),
    };
    let study = LadderRun::new(
        &kernels::transpose::FAMILY,
        shape,
        options.ladder.dtype,
        &options.tunables.params,
    );
    let study = LadderRun {
        series: series(options),
        ..study
    };
    ladder::run(global, &options.ladder, &study, &mut Vec::new())
}

/// A set of settings for each kind of loop.
fn series(options: &TransposeArgs) -> Vec<Params> {
    let kinds = [Loop::Kernel, Loop::Inside]
        .into_iter()
        .filter(|kind| options.loops.contains(kind));
    kinds
        .map(|kind| match kind {
            Loop::Kernel => Params::new(),
            Loop::Inside => Params::from([(record::REPEATS.to_owned(), options.nreps.to_string())]),
        })
        .collect()
}

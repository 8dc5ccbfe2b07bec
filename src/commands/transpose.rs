//! `gpulab transpose`: the transposition's ladder.

use crate::cli::{Loop, TransposeArgs};
use crate::kernels;
use crate::ladder::{self, LadderRun};
use crate::prelude::*;
use crate::record;

pub fn run(out: &mut Out, global: &Global, options: &TransposeArgs) -> Result<(), Error> {
    let n = options.n.unwrap_or_else(|| options.ladder.default_size(Form::Matrix));
    let shape = Shape { n: options.width.unwrap_or(n), m: options.height.unwrap_or(n) };
    let study = LadderRun::new(&kernels::transpose::FAMILY, shape, options.ladder.dtype, &options.tunables.params);
    let study = LadderRun { series: series(options), stream: options.memory, ..study };
    if study.stream.is_some() && study.series.is_empty() {
        return Err(Error::Usage(
            "--memory: what is streamed is not repeated inside a launch; leave --loop out".into(),
        ));
    }
    ladder::run(out, global, &options.ladder, &study)
}

/// A set of settings for each kind of loop.
fn series(options: &TransposeArgs) -> Vec<Params> {
    let nreps = |inside: bool| inside.then(|| (record::REPEATS.to_owned(), options.nreps.to_string()));
    let kinds = [Loop::Kernel, Loop::Inside].into_iter().filter(|kind| options.loops.contains(kind));
    let kinds = kinds.filter(|kind| options.memory.is_none() || *kind == Loop::Kernel);
    kinds.map(|kind| nreps(kind == Loop::Inside).into_iter().collect()).collect()
}

//! Distances in a graph, by the kernels of the min-plus ladder.

use super::graph::{check_memory, describe, graph, size, wanted};
use super::stepper::{Stepper, preferred};
use crate::bench::{self, tuning};
use crate::cli::{Global, GraphJob, Ladder};
use crate::console::Out;
use crate::data::Array;
use crate::graph::{self, Distances, Graph, NextHops, Wanted};
use crate::input::{self, GraphFile};
use crate::kernels::Rung;
use crate::kernels::minplus::FAMILY;
use crate::store::Deferred;
use crate::terminal::say;
use crate::worker::{Setup, apart, open_session, usual_deadline, within};
use crate::{Error, interrupt, values};
use std::time::Duration;

/// Reads a graph, works out its distances on the device, checks them, and writes the table.
pub(crate) fn run(global: &Global, options: &Ladder, job: &GraphJob, file: &str) -> Result<(), Error> {
    // The child could not tell a closed standard output.
    if matches!(job.output.as_deref(), None | Some("-")) {
        Out::check()?;
    }
    interrupt::watch();
    apart(interrupt::interrupted, || work(global, options, job, file))
}

fn work(global: &Global, options: &Ladder, job: &GraphJob, file: &str) -> Result<(), Error> {
    let asked = asked(options.variant.as_deref())?;
    let rungs = |gpu: bool| asked.map_or_else(|| preferred(gpu), |rung| vec![rung]);
    options.dtype.map_or(Ok(()), |dtype| bench::check_dtype(&FAMILY, dtype))?;
    bench::check_sources(&rungs(true), options.kernels.cl_dir.as_deref(), global.quiet)?;
    let path = job.output.as_deref().unwrap_or("-");
    let mut output = Deferred::open(path)?;
    let input = input::graph(file, options.dtype)?;
    let wanted = wanted(&input, job)?;
    let note = |text: &str| {
        if !global.quiet {
            say(text)
        }
    };
    let setup = Setup { device: global.device.clone(), cl_dir: options.kernels.cl_dir.clone(), ..Setup::default() };
    let limit = deadline(options, &input);
    let session = within(limit, "opening the device", || open_session(&setup))?;
    let info = session.device().info();
    check_memory(&input, job, info.target.gpu)?;
    let (graph, kind) = graph(input, job.undirected);
    describe(file, &kind, &graph, &note);
    bench::announce(global, info);
    let rungs = rungs(info.target.gpu);
    let known = (!options.no_tuned)
        .then(|| tuning::load(&FAMILY, info, options.kernels.cl_dir.as_deref(), global.quiet))
        .flatten();
    let mut device = Stepper::new(session, limit, rungs, &graph);
    if let Some(known) = known {
        device.use_tuned(&known, asked.is_none(), global.quiet);
    }
    let (distances, next) = distances(job, &graph, &wanted, &mut device)?;
    device.report(&note);
    within(limit, "closing the device", || drop(device));
    let table = Distances {
        names: &graph.names,
        distances: &distances,
        next: next.as_ref(),
        wanted: &wanted,
        decimals: graph.decimals,
    };
    let written = output.replace(|out| table.write(out))?;
    note(&format!("pairs with a path: {written}, without: {}", wanted.pairs() - written));
    Ok(())
}

/// The rung that was asked for.
fn asked(variant: Option<&str>) -> Result<Option<&'static Rung>, Error> {
    let Some(list) = variant else { return Ok(None) };
    match values::variants(&FAMILY, list).map_err(Error::Usage)?[..] {
        [rung] => Ok(Some(rung)),
        ref several => {
            let count = several.len();
            Err(Error::Usage(format!("--variant: choose one rung to compute distances, not {count}")))
        }
    }
}

/// Longest that opening the device and each step may take.
fn deadline(options: &Ladder, input: &GraphFile) -> Duration {
    let (n, dtype) = size(input);
    let usual = || usual_deadline(graph::step_bytes(n, dtype), graph::step_operations(n));
    Duration::from_secs_f64(options.measure.deadline.unwrap_or_else(usual))
}

/// The distances, and the next nodes on the way if they are asked for.
fn distances(
    job: &GraphJob,
    graph: &Graph,
    wanted: &Wanted,
    device: &mut Stepper,
) -> Result<(Array, Option<NextHops>), Error> {
    let mut step = |d: &Array| device.step(d);
    if !job.closure {
        let distances = graph::one_stop(&graph.weights, &mut step).map_err(|stopped| graph::refusal(stopped, graph))?;
        return Ok((distances, None));
    }
    let found = graph::closure(graph.len(), graph.weights.clone(), &mut step);
    let found = found.map_err(|stopped| graph::refusal(stopped, graph))?;
    let next = if job.paths { Some(graph::checked_hops(graph, &found, wanted)?) } else { None };
    Ok((found.distances, next))
}

//! Distances in a graph, by a rung of the min-plus product or of the closure.

use super::computer::Computer;
use super::graph::{check_memory, describe, graph, size, wanted};
use crate::bench::{self, tuning};
use crate::cli::{Global, GraphJob, Ladder, MinPlusArgs};
use crate::console::Out;
use crate::cpu::minplus::Semiring;
use crate::data::Array;
use crate::graph::{self, CheckedRows, Distances, Graph, NextHops, Wanted};
use crate::input::{self, GraphFile};
use crate::kernels::minplus::{CLOSURE, FAMILY, MOST_SOURCES, SOME_ROWS};
use crate::kernels::{Family, Rung};
use crate::report::progress::{Observer, StatusLine};
use crate::store::Deferred;
use crate::terminal::say;
use crate::worker::{Setup, apart, end_when_interrupted, open_session, usual_deadline, within};
use crate::{Error, interrupt, values};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Farthest that paths may go, one edge a launch, before the work of all pairs is less.
const MOST_STEPS: usize = 64;

/// Reading, computing, proving, writing.
const STEPS: usize = 4;

/// Reads a graph, works out its distances on the device, checks them, and writes the table.
pub(crate) fn run(global: &Global, options: &MinPlusArgs, file: &str) -> Result<(), Error> {
    let job = &options.graph;
    // The child could not tell a closed standard output.
    if matches!(job.output.as_deref(), None | Some("-")) {
        Out::check()?;
    }
    interrupt::watch();
    apart(interrupt::interrupted, || work(global, &options.ladder, job, Semiring::of(&options.tunables.params), file))
}

fn work(global: &Global, options: &Ladder, job: &GraphJob, semiring: Semiring, file: &str) -> Result<(), Error> {
    let family = if job.closure { &CLOSURE } else { &FAMILY };
    let asked = asked(family, options.variant.as_deref())?;
    // Whether so few rows are wanted that their paths are followed one edge at a time.
    let is_few = job.closure && !job.paths && asked.is_none() && semiring != Semiring::MaxPlus;
    let rungs = |gpu: bool| asked.map_or_else(|| family.preferred(gpu), |rung| vec![rung]);
    options.dtype.map_or(Ok(()), |dtype| bench::check_dtype(family, dtype))?;
    bench::check_sources(&rungs(true), options.kernels.cl_dir.as_deref(), global.quiet)?;
    let path = job.output.as_deref().unwrap_or("-");
    let is_npy = is_npy(path);
    let ending = Path::new(path).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    if let Some(ending) = ending.filter(|ending| ending != "csv" && !is_npy) {
        return Err(Error::Usage(format!("-o {path}: .{ending} is not written; end the name in .csv or .npy")));
    }
    let next_path = next_path(job);
    let next_output = next_path.as_deref().map(Deferred::open).transpose()?;
    let output = Arc::new(Mutex::new(Some((Deferred::open(path)?, next_output))));
    let opened = || output.lock().unwrap_or_else(PoisonError::into_inner);
    // A file that holds nothing yet goes again, as it does where this ends otherwise.
    let tidied = Arc::downgrade(&output);
    end_when_interrupted(interrupt::interrupted, move || {
        if let Some(output) = tidied.upgrade() {
            output.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    });
    let status = RefCell::new(StatusLine::new(global.quiet));
    let begun = Cell::new(0);
    let step = |what: &str| status.borrow_mut().case_started(begun.replace(begun.get() + 1), STEPS, what);
    let note = |text: &str| {
        if !global.quiet {
            status.borrow().suspend(|| say(text))
        }
    };
    step("reading the graph");
    let input = input::graph(file, options.dtype)?;
    let wanted = wanted(&input, job)?;
    let limit = deadline(options, &input, job.closure);
    let cl_dir = options.kernels.cl_dir.clone();
    let setup = Setup { device: global.device.clone(), cl_dir, ..Setup::default() };
    let session = within(limit, "opening the device", || open_session(&setup))?;
    let info = session.device().info().clone();
    check_memory(&input, job, info.target.gpu)?;
    let (mut graph, kind, notes) = graph(semiring, input, job.undirected);
    describe(file, &kind, &notes, &graph, &note);
    status.borrow().suspend(|| bench::announce(global, &info));
    let is_few = is_few
        && !job.from.is_empty()
        && wanted.from.len() <= MOST_SOURCES
        && !graph.has_negative()
        && graph.depth(&wanted.from) <= MOST_STEPS;
    let sources = is_few.then_some(&wanted.from);
    let (family, rungs) = match is_few {
        true => (&SOME_ROWS, SOME_ROWS.preferred(info.target.gpu)),
        false => (family, rungs(info.target.gpu)),
    };
    let known = (!options.no_tuned)
        .then(|| tuning::load(family, &info, options.kernels.cl_dir.as_deref(), global.quiet))
        .flatten();
    let mut solver = Computer::new(session, family, limit, rungs, &graph);
    if is_few {
        solver.start_from(wanted.from.len());
    }
    if let Some(known) = known {
        solver.use_tuned(&known, asked.is_none(), global.quiet);
    }
    let all: Vec<usize> = (0..graph.len()).collect();
    let (rows, (distances, next)) = match sources {
        Some(sources) => (sources, (few(&mut graph, sources, &mut solver, &note, &step)?, None)),
        None => (&all, distances(job, &mut graph, &wanted, &mut solver, &note, &step)?),
    };
    within(limit, "closing the device", || drop(solver));
    let table = Distances {
        names: &graph.names,
        distances: &distances,
        rows,
        next: next.as_ref(),
        wanted: &wanted,
        decimals: graph.decimals,
        semiring,
    };
    let write = || match &mut *opened() {
        Some((output, next_output)) => {
            if let Some(output) = next_output {
                output.replace(|out| table.write_next_npy(out))?;
            }
            output.replace(|out| if is_npy { table.write_npy(out) } else { table.write(out) })
        }
        None => Err(Error::Interrupted),
    };
    let written = if path == "-" {
        status.borrow().suspend(write)?
    } else {
        step("writing");
        write()?
    };
    note(&format!("pairs with a path: {written}, without: {}", wanted.pairs() - written));
    if let Some(path) = next_path {
        note(&format!("next nodes: {path}"));
    }
    Ok(())
}

fn is_npy(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("npy"))
}

/// Where the next nodes go, beside a matrix of distances.
pub(crate) fn next_path(job: &GraphJob) -> Option<String> {
    let path = job.output.as_deref().filter(|path| job.paths && is_npy(path))?;
    Some(Path::new(path).with_extension("next.npy").display().to_string())
}

fn asked(family: &'static Family, variant: Option<&str>) -> Result<Option<&'static Rung>, Error> {
    let Some(list) = variant else { return Ok(None) };
    match values::variants(family, list).map_err(Error::Usage)?[..] {
        [rung] => Ok(Some(rung)),
        ref several => {
            let count = several.len();
            Err(Error::Usage(format!("--variant: choose one rung to compute distances, not {count}")))
        }
    }
}

/// Longest that opening the device and computing may take: of distances with any number of stops as long as n / 32 passes
/// over the matrices.
fn deadline(options: &Ladder, input: &GraphFile, any_stops: bool) -> Duration {
    let (n, dtype) = size(input);
    let launches = if any_stops { n.div_ceil(32) as u64 } else { 1 };
    Duration::from_secs_f64(options.measure.deadline.unwrap_or_else(|| {
        usual_deadline(graph::step_bytes(n, dtype).saturating_mul(launches), graph::step_operations(n))
    }))
}

/// The distances from a few nodes, proved.
fn few(
    graph: &mut Graph,
    sources: &[usize],
    device: &mut Computer,
    note: &dyn Fn(&str),
    step: &dyn Fn(&str),
) -> Result<Array, Error> {
    step("computing");
    let mut compute = |inputs: &[Array]| device.compute(inputs);
    let found = graph::from_some(graph.semiring, graph.len(), graph.take_weights(), sources, &mut compute);
    device.report(note);
    let found = found.map_err(|stopped| graph::refusal(stopped, graph))?;
    step("proving on the CPU");
    let bound = graph::proved_rows(graph, &found, sources)?;
    let [_, what] = graph::semiring::words(graph.semiring);
    let count = sources.len();
    let nodes = if count == 1 { "node" } else { "nodes" };
    note(&format!("proved on the CPU: the {what} from {count} {nodes}, {}", nearness(bound)));
    Ok(found.distances)
}

/// The distances, proved, and the next nodes on the way if they are asked for.
fn distances(
    job: &GraphJob,
    graph: &mut Graph,
    wanted: &Wanted,
    device: &mut Computer,
    note: &dyn Fn(&str),
    step: &dyn Fn(&str),
) -> Result<(Array, Option<NextHops>), Error> {
    let n = graph.len();
    let share = |some: usize| if some == n { "all".to_owned() } else { format!("{some} of {n}") };
    step("computing");
    let mut compute = |d: &Array| device.compute(std::slice::from_ref(d));
    if !job.closure {
        let distances =
            graph::one_stop(&graph.weights, &mut compute).map_err(|stopped| graph::refusal(stopped, graph))?;
        device.report(note);
        step("proving on the CPU");
        let rows = CheckedRows::new(n, 1);
        let wrong = |why: String| {
            let name = device.name();
            Error::WrongResult(format!("{name} gave a wrong result: {why}; choose another rung with --variant"))
        };
        rows.check(graph.semiring.join(), &graph.weights, &distances).map_err(wrong)?;
        let next = job
            .paths
            .then(|| graph::stops(graph.semiring, n, &graph.weights, &distances, wanted).map_err(wrong))
            .transpose()?;
        note(&format!("checked on the CPU: {} rows", share(rows.rows())));
        return Ok((distances, next));
    }
    let found = graph::closure(graph.semiring, n, graph.take_weights(), &mut compute);
    device.report(note);
    let found = found.map_err(|stopped| graph::refusal(stopped, graph))?;
    step("proving on the CPU");
    let proof = graph::proved(graph, &found, if job.paths { &wanted.to } else { &[] })?;
    let [_, what] = graph::semiring::words(graph.semiring);
    note(&format!("proved on the CPU: the {what} to {} nodes, {}", share(proof.targets), nearness(proof.bound)));
    Ok((found.distances, job.paths.then_some(proof.next)))
}

/// How near distances are proved to be; a number is rounded up.
fn nearness(bound: f64) -> String {
    if bound == 0.0 { "exactly".to_owned() } else { format!("each to within {:.1e}", 1.06 * bound) }
}

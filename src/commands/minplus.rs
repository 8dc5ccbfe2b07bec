//! `gpulab minplus`: the ladder of the shortcut step; or distances in a graph, by a rung of the min-plus product or of the closure.

use super::ladder::{self, LadderRun};
use crate::cli::{Global, GraphJob, Ladder, MinPlusArgs};
use crate::console::check_stdout;
use crate::data::{Array, Dtype, Shape};
use crate::graph::{self, Distances, Graph};
use crate::kernels::minplus::{self, WEIGHTS};
use crate::kernels::{Family, Form, Registry, Rung, closure};
use crate::outcome::Status;
use crate::plan::{Case, WorkGroup};
use crate::report::progress::StatusLine;
use crate::runner::Session;
use crate::store::Sink;
use crate::terminal::say;
use crate::tune::Remembered;
use crate::worker::{apart, end_when_interrupted, open_session, usual_deadline, within};
use crate::{Error, Result, bench, brought, input, interrupt, processes, usage_error, values};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Runs the ladder, or the job on the graph that was given.
pub fn run(global: &Global, options: &MinPlusArgs) -> Result<()> {
    if let Some(file) = &options.graph.input {
        return distances(global, options, file);
    }
    let n = options
        .n
        .unwrap_or_else(|| options.ladder.default_size(Form::Square));
    let shape = Form::Square.shape(n, None);
    let study = LadderRun::new(
        &minplus::FAMILY,
        shape,
        options.ladder.dtype,
        &options.tunables.params,
    );
    ladder::run(global, &options.ladder, &study, &mut Vec::new())
}

/// Reading, computing, proving, writing.
const STEPS: usize = 4;

/// Reads a graph, works out its distances on the device, checks them, and writes the table.
fn distances(global: &Global, options: &MinPlusArgs, file: &str) -> Result<()> {
    // The child could not tell a closed standard output.
    if matches!(options.graph.output.as_deref(), None | Some("-")) {
        check_stdout()?;
    }
    interrupt::watch();
    apart(interrupt::interrupted, || {
        work(
            global,
            &options.ladder,
            &options.graph,
            &brought::located_input(file)?,
        )
    })
}

fn work(global: &Global, options: &Ladder, job: &GraphJob, file: &str) -> Result<()> {
    let family = if job.closure {
        &closure::FAMILY
    } else {
        &minplus::FAMILY
    };
    let asked = asked(family, options.variant.as_deref())?;
    options
        .dtype
        .map_or(Ok(()), |dtype| bench::check_dtype(family, dtype))?;
    let cl_dir = options.given.cl_dir.as_deref();
    bench::check_sources(&rungs(family, asked, true), cl_dir, global.quiet)?;
    let path = job.output.as_deref().unwrap_or("-");
    let ending = Path::new(path)
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let is_npy = ending.as_deref() == Some("npy");
    if let Some(ending) = ending.filter(|ending| ending != "csv" && !is_npy) {
        return usage_error(format!(
            "-o {path}: .{ending} is not written; end the name in .csv or .npy"
        ));
    }
    if is_npy && job.paths {
        return usage_error(format!(
            "-o {path}: --paths adds a column; end the name in .csv"
        ));
    }
    let output = Arc::new(Mutex::new(Some(Sink::open(path)?)));
    // A file that holds nothing yet goes again, as it does where this ends otherwise.
    let tidied = Arc::downgrade(&output);
    end_when_interrupted(interrupt::interrupted, move || {
        if let Some(output) = tidied.upgrade() {
            output.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    });
    let status = RefCell::new(StatusLine::new(global.quiet));
    let begun = Cell::new(0);
    let step = |what: &str| {
        status
            .borrow_mut()
            .case_started(begun.replace(begun.get() + 1), STEPS, what)
    };
    let note = |text: &str| {
        if !global.quiet {
            status.borrow().suspend(|| say(text))
        }
    };
    step("reading the graph");
    let mut input = input::graph(file, options.dtype)?;
    input.take_zeros(job.zero_is_none);
    let n = input.names.list().len();
    let dtype = input.weights.dtype();
    let from = input.names.find_all(&job.from)?;
    let to = input.names.find_all(&job.to)?;
    let limit = deadline(options, n, dtype, job.closure);
    let setup = global.setup(options.given.cl_dir.as_ref(), &Registry::default());
    let mut session = within(limit, "opening the device", || open_session(&setup))?;
    let info = session.device().info().clone();
    check_memory(n, dtype, job.paths, info.target.gpu)?;
    note(&format!("{file}: {}, {dtype}", input.kind));
    let mut graph = Graph::new(input, job.undirected);
    graph.notes.iter().for_each(|text| note(text));
    status.borrow().suspend(|| bench::announce(global, &info));
    let case = Case {
        wg: WorkGroup::linear(info.target.max_wg.min(256)),
        params: graph
            .has_negative()
            .then(|| (WEIGHTS.name.into(), "signed".into()))
            .into_iter()
            .collect(),
        ..Case::of(
            &family.name,
            "",
            dtype,
            Shape {
                n: n as u64,
                m: n as u64,
            },
        )
    };
    let mut cases: Vec<Case> = rungs(family, asked, info.target.gpu)
        .iter()
        .map(|rung| Case {
            variant: rung.variant().into(),
            ..case.clone()
        })
        .collect();
    if !options.no_tuned {
        use_tuned(
            &mut cases,
            family,
            asked.is_none(),
            bench::remembered(family, &info, cl_dir, global.quiet),
            global.quiet,
        );
    }
    step("computing");
    let mut compute = |weights: &Array| compute(&mut session, limit, &cases, weights, &note);
    let distances = match job.closure {
        true => graph::closure(&mut graph, &mut compute)?,
        false => graph::one_stop(&graph, &mut compute)?,
    };
    within(limit, "closing the device", || drop(session));
    step("proving on the CPU");
    let next = if job.closure {
        let proof = graph::prove(&graph, &distances, if job.paths { &to } else { &[] })?;
        // A number is rounded up.
        let nearness = match proof.bound {
            0.0 => "exactly".to_owned(),
            bound => format!("each to within {:.1e}", 1.06 * bound),
        };
        note(&format!(
            "proved on the CPU: the distances to {} nodes, {nearness}",
            share(proof.targets, n)
        ));
        job.paths.then_some(proof)
    } else {
        let rows = graph::check_step(&graph, &distances)?;
        note(&format!("checked on the CPU: {} rows", share(rows, n)));
        None
    };
    let table = Distances {
        graph: &graph,
        distances: &distances,
        next: next.as_ref(),
        from: &from,
        to: &to,
    };
    if path == "-" {
        status.borrow().suspend(|| write(&output, &table, is_npy))?;
    } else {
        step("writing");
        write(&output, &table, is_npy)?;
    }
    let [asked, found] = table.pairs();
    note(&format!(
        "pairs with a path: {found}, without: {}",
        asked - found
    ));
    Ok(())
}

fn write(output: &Mutex<Option<Sink>>, table: &Distances<'_>, is_npy: bool) -> Result<()> {
    match &mut *output.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(output) => output.replace(|out| {
            if is_npy {
                table.write_npy(out)
            } else {
                table.write(out)
            }
        }),
        None => Err(Error::Interrupted),
    }
}

/// The rung that was asked for, or those that suit such a device, the best first.
fn rungs(family: &'static Family, asked: Option<&'static Rung>, gpu: bool) -> Vec<&'static Rung> {
    asked.map_or_else(|| family.preferred(gpu), |rung| vec![rung])
}

fn share(some: usize, all: usize) -> String {
    if some == all {
        "all".to_owned()
    } else {
        format!("{some} of {all}")
    }
}

fn asked(family: &'static Family, variant: Option<&str>) -> Result<Option<&'static Rung>> {
    let Some(list) = variant else { return Ok(None) };
    match values::variants(family, list).map_err(Error::Usage)?[..] {
        [rung] => Ok(Some(rung)),
        ref several => {
            let count = several.len();
            usage_error(format!(
                "--variant: choose one rung to compute distances, not {count}"
            ))
        }
    }
}

/// Takes the settings that rungs were tuned to, and where no rung was asked for, the fastest of all first; says so.
fn use_tuned(
    cases: &mut [Case],
    family: &Family,
    is_free: bool,
    known: Option<Remembered<'_>>,
    quiet: bool,
) {
    let (Some(known), Some(first)) = (known, cases.first()) else {
        return;
    };
    let best = known.best(first).filter(|_| is_free);
    let mut is_used = false;
    if let Some(best) = best {
        // Behind it the others, as they were.
        cases.sort_by_key(|case| case.variant != best.variant);
        cases[0] = best;
        is_used = true;
    }
    for (at, case) in cases.iter_mut().enumerate().skip(usize::from(is_used)) {
        if let Some(tuned) = known.tuned(case) {
            is_used |= at == 0;
            *case = tuned;
        }
    }
    let used = if is_used {
        vec![&*cases[0].variant]
    } else {
        Vec::new()
    };
    bench::announce_tuned(family, &used, quiet);
}

/// The result of the first rung that this device can run, the best first, each within the limit.
fn compute(
    session: &mut Session,
    limit: Duration,
    cases: &[Case],
    weights: &Array,
    note: &dyn Fn(&str),
) -> Result<Array> {
    for (at, case) in cases.iter().enumerate() {
        let name = format!("{}/{}", case.family, case.variant);
        match within(limit, "computing distances", || {
            session.compute(case, std::slice::from_ref(weights))
        }) {
            Ok(found) => {
                note(&format!(
                    "{name}: {:.4} s of kernels, {:.4} s with transfers",
                    found.launches, found.seconds
                ));
                return Ok(found.output);
            }
            Err(stop) if stop.status == Status::Skipped && at + 1 < cases.len() => {
                note(&format!("{name} cannot run here: {}", stop.reason));
            }
            Err(stop) => return Err(bench::stopped(case, stop)),
        }
    }
    Err(Error::Failed("no rung runs on this device".into()))
}

/// Longest that opening the device and computing may take: of distances with any number of stops as long as n / 32 passes
/// over the matrices.
fn deadline(options: &Ladder, n: usize, dtype: Dtype, any_stops: bool) -> Duration {
    let elements = (n as u64).saturating_mul(n as u64);
    let launches = if any_stops { n.div_ceil(32) as u64 } else { 1 };
    let bytes = elements.saturating_mul(3 * dtype.size() as u64 * launches);
    let seconds = options
        .measure
        .deadline
        .unwrap_or_else(|| usual_deadline(bytes, 2.0 * (n as f64).powi(3)));
    Duration::from_secs_f64(seconds)
}

/// Refuses more nodes than this machine has memory for.
fn check_memory(n: usize, dtype: Dtype, paths: bool, gpu: bool) -> Result<()> {
    // The edges, the distances before and after a step, their copies on the way to the device, and a check's; and a CPU device's
    // buffers.
    let matrices = if gpu { 6 } else { 10 };
    let size = dtype.size() as u64;
    // An edge with where it starts, as aligned as its weight; and the next node.
    let hops = if paths { 2 * size + 4 } else { 0 };
    let needed = (n as u64)
        .saturating_mul(n as u64)
        .saturating_mul(matrices * size + hops);
    match processes::available_memory() {
        Some(available) if needed > available => usage_error(format!(
            "the distances of {n} nodes need {} of memory, and {} is available: leave nodes out, or use a machine with \
             more memory",
            bench::gib(needed),
            bench::gib(available)
        )),
        _ => Ok(()),
    }
}

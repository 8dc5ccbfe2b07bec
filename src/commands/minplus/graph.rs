//! `gpulab minplus --input`: distances in a graph, by the ladder's kernels.

use crate::bench::{self, tuning};
use crate::cli::{Global, GraphJob, Ladder};
use crate::console::Out;
use crate::data::{Array, Dtype, Shape};
use crate::graph::{self, CheckedRows, Closure, Distances, Graph, Length, Names, NextHops, Stopped, Wanted};
use crate::input::{self, GraphFile};
use crate::kernels::Rung;
use crate::kernels::minplus::{FAMILY, WEIGHTS};
use crate::outcome::Status;
use crate::plan::{Case, WorkGroup};
use crate::runner::Session;
use crate::store::Deferred;
use crate::terminal::say;
use crate::tune::Remembered;
use crate::worker::{Setup, apart, open_session, usual_deadline, within};
use crate::{Error, interrupt, memory, values};
use std::time::Duration;

/// Reads a graph, works out its distances on the device, checks them, and writes the table.
pub(super) fn run(global: &Global, options: &Ladder, job: &GraphJob, file: &str) -> Result<(), Error> {
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
    note(&format!("pairs with a path: {written}, without: {}", pairs(&wanted) - written));
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

/// The pairs that are asked for.
fn wanted(input: &GraphFile, job: &GraphJob) -> Result<Wanted, Error> {
    let wanted = match input {
        GraphFile::Edges(list) => Wanted::new(&list.names, &job.from, &job.to),
        GraphFile::Matrix(matrix) => Wanted::new(&Names::numbered(matrix.n), &job.from, &job.to),
    };
    wanted.map_err(Error::Usage)
}

/// The graph of a file, and what kind of file that is.
fn graph(input: GraphFile, undirected: bool) -> (Graph, String) {
    match input {
        GraphFile::Edges(list) => {
            let (edges, nodes) = (list.ends.len(), list.names.len());
            let kind = format!("a list of {edges} edge{} between {nodes} node{}", plural(edges), plural(nodes));
            (Graph::from_edges(&list, undirected), kind)
        }
        GraphFile::Matrix(matrix) => {
            let n = matrix.n;
            let graph = Graph::from_matrix(matrix, undirected);
            let kind = format!("a matrix of {n} x {n} weights with {} edge{}", graph.edges, plural(graph.edges));
            (graph, kind)
        }
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Longest that opening the device and each step may take.
fn deadline(options: &Ladder, input: &GraphFile) -> Duration {
    let (n, dtype) = size(input);
    let usual = || usual_deadline(graph::step_bytes(n, dtype), graph::step_operations(n));
    Duration::from_secs_f64(options.measure.deadline.unwrap_or_else(usual))
}

fn size(input: &GraphFile) -> (usize, Dtype) {
    match input {
        GraphFile::Edges(list) => (list.names.len(), list.weights.dtype()),
        GraphFile::Matrix(matrix) => (matrix.n, matrix.weights.dtype()),
    }
}

/// Refuses more nodes than this machine has memory for.
fn check_memory(input: &GraphFile, job: &GraphJob, gpu: bool) -> Result<(), Error> {
    let (n, dtype) = size(input);
    let needed = graph::memory_needed(n, dtype, job.paths, gpu);
    match memory::available() {
        Some(available) if needed > available => Err(Error::Usage(format!(
            "the distances of {n} nodes need {} of memory, and {} is available: leave nodes out, or use a machine with \
             more memory",
            bench::gib(needed),
            bench::gib(available)
        ))),
        _ => Ok(()),
    }
}

/// Says what the file holds, and what of it does not count.
fn describe(file: &str, kind: &str, graph: &Graph, note: &dyn Fn(&str)) {
    note(&format!("{file}: {kind}, {}", graph.weights.dtype()));
    if graph.duplicates > 0 {
        note(&format!("duplicate edges: {}; the smallest weight counts", graph.duplicates));
    }
    if graph.idle_loops > 0 {
        note(&format!("edges from a node to itself: {}, left out as they shorten no path", graph.idle_loops));
    }
}

/// Pairs of different nodes.
fn pairs(wanted: &Wanted) -> u64 {
    let same = wanted.from.iter().filter(|from| wanted.to.binary_search(from).is_ok()).count();
    (wanted.from.len() * wanted.to.len() - same) as u64
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
        let distances = graph::one_stop(&graph.weights, &mut step).map_err(|stopped| refusal(stopped, graph))?;
        return Ok((distances, None));
    }
    let found = graph::closure(graph.len(), graph.weights.clone(), &mut step);
    let found = found.map_err(|stopped| refusal(stopped, graph))?;
    let next = if job.paths { Some(paths(graph, &found, wanted)?) } else { None };
    Ok((found.distances, next))
}

fn refusal(stopped: Stopped<Error>, graph: &Graph) -> Error {
    let dtype = graph.weights.dtype();
    match stopped {
        Stopped::Step(error) => error,
        Stopped::TooFar(length) => Error::Usage(format!(
            "a distance has become {}, too large for another step in {dtype}: choose {}",
            // In the digits of its type.
            if dtype == Dtype::F32 { (length as f32).text() } else { length.text() },
            if dtype == Dtype::F64 { "a larger unit" } else { "--dtype f64" }
        )),
        Stopped::Negative(cycle) => {
            const MOST: usize = 10;
            let around = cycle.nodes.iter().chain(cycle.nodes.first()).map(|&node| graph.names.name(node));
            let mut names: Vec<&str> = around.collect();
            if names.len() > MOST {
                names.splice(MOST - 2..names.len() - 1, ["..."]);
            }
            let doubt = match (cycle.doubtful, dtype) {
                (false, _) => "",
                (true, Dtype::F64) => ". Rounding may have made it negative: choose whole weights and --dtype i32",
                (true, _) => {
                    ". Rounding may have made it negative: choose --dtype f64, or whole weights and --dtype i32"
                }
            };
            Error::Usage(format!(
                "there are no shortest distances, as a negative cycle makes paths ever shorter: {} has length \
                 {}{doubt}",
                names.join(" -> "),
                cycle.length.text()
            ))
        }
    }
}

fn paths(graph: &Graph, found: &Closure, wanted: &Wanted) -> Result<NextHops, Error> {
    let hops = graph::next_hops(graph.len(), &found.weights, &found.distances, &wanted.to);
    hops.map_err(|mismatch| {
        let name = |node| graph.names.name(node);
        Error::WrongResult(format!(
            "the distance from {} to {} belongs to no path: the device's result is wrong; choose another rung with \
             --variant",
            name(mismatch.0),
            name(mismatch.1)
        ))
    })
}

/// The device, and the rung that makes its steps.
struct Stepper {
    session: Session,
    /// Longest that a step may take.
    limit: Duration,
    /// Rungs to try, the best first.
    rungs: Vec<&'static Rung>,
    /// Those that cannot run here, with the reasons.
    given_up: Vec<String>,
    case: Case,
    /// The rungs' cases as they were tuned.
    tuned: Vec<Case>,
    steps: u64,
    seconds: f64,
    checked: usize,
}

impl Stepper {
    fn new(session: Session, limit: Duration, rungs: Vec<&'static Rung>, graph: &Graph) -> Stepper {
        let target = &session.device().info().target;
        let signed = graph.has_negative().then(|| (WEIGHTS.name.to_owned(), "signed".to_owned()));
        let n = graph.len() as u64;
        let case = Case {
            wg: WorkGroup::linear(target.max_wg.min(256)),
            params: signed.into_iter().collect(),
            ..Case::of(&FAMILY.name, "", graph.weights.dtype(), Shape { n, m: n })
        };
        let (tuned, given_up) = (Vec::new(), Vec::new());
        Stepper { session, limit, rungs, given_up, case, tuned, steps: 0, seconds: 0.0, checked: 0 }
    }

    /// Takes the settings that rungs were tuned to, and where no rung was asked for, the fastest of all first; says so.
    fn use_tuned(&mut self, known: &Remembered<'_>, is_free: bool, quiet: bool) {
        let of = |rung: &Rung| Case { variant: rung.variant().into(), ..self.case.clone() };
        let tuned: Vec<Case> = self.rungs.iter().filter_map(|rung| known.tuned(&of(rung))).collect();
        let best = self.rungs.first().filter(|_| is_free).and_then(|rung| known.best(&of(rung)));
        if let Some(best) = &best {
            // Behind it the others, as they were.
            self.rungs.sort_by_key(|rung| rung.variant() != best.variant);
        }
        self.tuned = best.into_iter().chain(tuned).collect();
        let first = self.rungs.first().map(|rung| rung.variant());
        let used = first.filter(|first| self.tuned.iter().any(|case| case.variant == *first));
        tuning::announce(&FAMILY, &used.into_iter().collect::<Vec<_>>(), quiet);
    }

    /// One step, checked.
    fn step(&mut self, d: &Array) -> Result<Array, Error> {
        if interrupt::interrupted() {
            return Err(Error::Interrupted);
        }
        let result = self.compute(d)?;
        self.steps += 1;
        let sample = CheckedRows::new(self.case.shape.n as usize, self.steps);
        self.checked = sample.rows();
        sample.check(d, &result).map_err(|why| {
            Error::WrongResult(format!(
                "{}/{} gave a wrong result in step {}: {why}; choose another rung with --variant",
                self.case.family, self.case.variant, self.steps
            ))
        })?;
        Ok(result)
    }

    /// The result of the first rung that this device can run.
    fn compute(&mut self, d: &Array) -> Result<Array, Error> {
        loop {
            let Some(rung) = self.rungs.first() else {
                return Err(Error::Failed("no rung runs on this device".into()));
            };
            self.case.variant = rung.variant().into();
            let case = self.tuned.iter().find(|case| case.variant == self.case.variant).unwrap_or(&self.case);
            let compute = || self.session.compute(case, std::slice::from_ref(d));
            match within(self.limit, "computing distances", compute) {
                Ok(computed) => {
                    self.seconds += computed.seconds;
                    return Ok(computed.output);
                }
                Err(stop) if stop.status == Status::Skipped && self.steps == 0 && self.rungs.len() > 1 => {
                    self.given_up.push(format!("{} cannot run here: {}", rung.variant(), stop.reason));
                    self.rungs.remove(0);
                }
                Err(stop) => return Err(bench::stopped(&self.case, stop.after(self.steps > 0))),
            }
        }
    }

    fn report(&self, note: &dyn Fn(&str)) {
        self.given_up.iter().for_each(|why| note(why));
        let n = self.case.shape.n;
        let rows = if self.checked as u64 == n { "all rows".into() } else { format!("{} of {n} rows", self.checked) };
        note(&match self.steps {
            0 => "no step was needed".to_owned(),
            1 => format!("1 step of {} took {:.4} s; {rows} checked on the CPU", self.case.variant, self.seconds),
            steps => format!(
                "{steps} steps of {} took {:.4} s each; {rows} of each checked on the CPU",
                self.case.variant,
                self.seconds / steps as f64
            ),
        });
    }
}

/// All rungs, the best for a device first: GPUs' from the end of the ladder, or that of CPUs.
fn preferred(gpu: bool) -> Vec<&'static Rung> {
    let (wide, others): (Vec<_>, Vec<_>) = FAMILY.ladder.iter().rev().partition(|rung| rung.variant() == "wide");
    if gpu { [others, wide].concat() } else { [wide, others].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_device_has_its_fastest_rung_and_all_others_behind_it() {
        let names = |gpu| preferred(gpu).iter().map(|rung| rung.variant()).collect::<Vec<_>>();
        assert_eq!((names(true)[0], names(false)[0]), ("three_way", "wide"));
        assert_eq!((names(true).len(), names(false).len()), (FAMILY.ladder.len(), FAMILY.ladder.len()));
        assert_eq!(names(true).last(), Some(&"wide"));
    }
}

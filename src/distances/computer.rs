//! The device that computes a graph's distances, and holds all of its matrix.

use crate::Error;
use crate::bench::{self, tuning};
use crate::cpu::minplus::Semiring;
use crate::data::{Array, Shape};
use crate::graph::{self, Graph};
use crate::kernels::minplus::{FAMILY, LARGEST_SMALL, SOURCES, WEIGHTS};
use crate::kernels::{Family, Rung};
use crate::outcome::Status;
use crate::plan::{Case, WorkGroup};
use crate::runner::Session;
use crate::tune::Remembered;
use crate::worker::within;
use std::time::Duration;

/// The case of all rungs that compute these distances.
fn case(family: &Family, graph: &Graph) -> Case {
    let weights = match graph.has_negative() {
        true => Some("signed"),
        // The closure's kernels add up more than two weights.
        false if family.name == FAMILY.name && graph.is_whole_up_to(LARGEST_SMALL) => Some("small"),
        false => None,
    };
    let weights = weights.map(|kind| (WEIGHTS.name.to_owned(), kind.to_owned()));
    let semiring = graph.semiring;
    let named = (semiring != Semiring::MinPlus).then(|| (Semiring::NAME.to_owned(), semiring.name().to_owned()));
    let n = graph.len() as u64;
    let case = Case::of(&family.name, "", graph.weights.dtype(), Shape { n, m: n });
    Case { params: weights.into_iter().chain(named).collect(), ..case }
}

/// The device, and the rung that computes.
pub(crate) struct Computer {
    session: Session,
    family: &'static Family,
    /// Longest that a rung may take.
    limit: Duration,
    /// Rungs to try, the best first.
    rungs: Vec<&'static Rung>,
    /// Those that cannot run here, with the reasons.
    given_up: Vec<String>,
    case: Case,
    /// The rungs' cases as they were tuned.
    tuned: Vec<Case>,
    semiring: Semiring,
    /// Seconds of the whole, and of the launches.
    seconds: Option<(f64, f64)>,
}

impl Computer {
    pub(crate) fn new(
        session: Session,
        family: &'static Family,
        limit: Duration,
        rungs: Vec<&'static Rung>,
        graph: &Graph,
    ) -> Computer {
        let wg = WorkGroup::linear(session.device().info().target.max_wg.min(256));
        let case = Case { wg, ..case(family, graph) };
        let semiring = graph.semiring;
        let tuned = Vec::new();
        let given_up = Vec::new();
        Computer { session, family, limit, rungs, given_up, case, tuned, semiring, seconds: None }
    }

    /// Says how many rows are computed at once, of a family that computes some.
    pub(crate) fn start_from(&mut self, sources: usize) {
        self.case.params.insert(SOURCES.name.to_owned(), sources.to_string());
    }

    /// Takes the settings that rungs were tuned to, and where no rung was asked for, the fastest of all first; says so.
    pub(crate) fn use_tuned(&mut self, known: &Remembered<'_>, is_free: bool, quiet: bool) {
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
        tuning::announce(self.family, &used.into_iter().collect::<Vec<_>>(), quiet);
    }

    /// The result of the first rung that this device can run.
    pub(super) fn compute(&mut self, inputs: &[Array]) -> Result<Array, Error> {
        let semiring = self.semiring;
        let converted: Vec<Array>;
        let inputs = if semiring.is_greatest() {
            converted = inputs.iter().map(|d| graph::on_device(semiring, d).into_owned()).collect();
            &converted
        } else {
            inputs
        };
        loop {
            let Some(rung) = self.rungs.first() else {
                return Err(Error::Failed("no rung runs on this device".into()));
            };
            self.case.variant = rung.variant().into();
            let case = self.tuned.iter().find(|case| case.variant == self.case.variant).unwrap_or(&self.case);
            match within(self.limit, "computing distances", || self.session.compute(case, inputs)) {
                Ok(computed) => {
                    self.seconds = Some((computed.seconds, computed.launches));
                    return Ok(graph::from_device(self.semiring, computed.output));
                }
                Err(stop) if stop.status == Status::Skipped && self.rungs.len() > 1 => {
                    self.given_up.push(format!("{} cannot run here: {}", rung.variant(), stop.reason));
                    self.rungs.remove(0);
                }
                Err(stop) => return Err(bench::stopped(&self.case, stop)),
            }
        }
    }

    /// What computes, as in messages.
    pub(super) fn name(&self) -> String {
        format!("{}/{}", self.case.family, self.case.variant)
    }

    /// Says how it was done.
    pub(super) fn report(&self, note: &dyn Fn(&str)) {
        self.given_up.iter().for_each(|why| note(why));
        if let Some((whole, launches)) = self.seconds {
            note(&format!("{}: {launches:.4} s of kernels, {whole:.4} s with transfers", self.name()));
        }
    }
}

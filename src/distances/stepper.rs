//! The device and the rung that make the steps of a graph.

use crate::bench::{self, tuning};
use crate::data::{Array, Shape};
use crate::graph::{CheckedRows, Graph};
use crate::kernels::Rung;
use crate::kernels::minplus::{FAMILY, WEIGHTS};
use crate::outcome::Status;
use crate::plan::{Case, WorkGroup};
use crate::runner::Session;
use crate::tune::Remembered;
use crate::worker::within;
use crate::{Error, interrupt};
use std::time::Duration;

/// The device, and the rung that makes its steps.
pub(crate) struct Stepper {
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
    pub(crate) fn new(session: Session, limit: Duration, rungs: Vec<&'static Rung>, graph: &Graph) -> Stepper {
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
        tuning::announce(&FAMILY, &used.into_iter().collect::<Vec<_>>(), quiet);
    }

    /// One step, checked.
    pub(crate) fn step(&mut self, d: &Array) -> Result<Array, Error> {
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

    pub(crate) fn report(&self, note: &dyn Fn(&str)) {
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
pub(crate) fn preferred(gpu: bool) -> Vec<&'static Rung> {
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

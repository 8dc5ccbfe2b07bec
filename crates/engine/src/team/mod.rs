//! A case that several devices share, each in a worker process of its own.
//!
//! Members get portions ([`split()`]), begin at one time of the host's clock, and put their results into one file. The joined
//! result is compared with that of the CPU before the first time is taken and after the last ([`Goal`]). A member that fails,
//! ends or hangs is named, so that others can do its portion.

mod closure;
mod goal;
mod split;

pub use closure::{Hand, TiledClosure, TilesDone, close};
pub use goal::Goal;
pub use split::split;

use crate::runner::sampling;
use crate::runner::{Portion, PortionFacts, PortionRun, PortionTimes, PortionWork, host_clock, nothing};
use crate::worker::WorkerProcess;
use gpulab_model::Error;
use gpulab_model::outcome::{Judged, Measured, Outcome, Sample, Settings, Stop};
use gpulab_model::plan::Case;
use gpulab_model::stats;
use std::thread;

/// A device's part in a case.
pub struct Member<'w> {
    pub worker: &'w mut WorkerProcess,
    /// The whole case with the rung and the settings of this device.
    pub case: Case,
    /// Never empty.
    pub portion: Portion,
}

/// Why a team has no times.
#[derive(Debug)]
pub enum Failure {
    /// These members did not do their portions, and why.
    Lost(Vec<(usize, Stop)>),
    /// The joined result is not right, or could not be joined.
    Wrong(Stop),
    Ended(Error),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Wrong(stop)
    }
}

/// Nanoseconds from asking members to begin until they do: far longer than a message takes.
const NOTICE: u64 = 2_000_000;

/// Most runs from end to end.
const MOST_WHOLE: usize = 3;

/// Has the members do their portions at once: checks the joined result, times the kernels, checks what the last run left, and
/// times runs from end to end.
pub fn measure(goal: &Goal<'_>, members: &mut [Member<'_>], settings: &Settings) -> Result<Outcome, Failure> {
    let cost = goal.family.problem.cost(&goal.case);
    let mut outcome = Outcome::pending(&goal.case, settings.clock);
    (outcome.bytes, outcome.ops) = (cost.bytes, cost.ops);
    if members.is_empty() {
        return Ok(outcome.ended(Ok(nothing(goal.family, &goal.case, settings.clock))));
    }
    let mut team = Team { goal, members, depth: 0 };
    if goal.has_exact() {
        team.hold(true)?;
        team.run(false)?;
        team.judged(true, "over small numbers, whose sums are exact")?;
    }
    let facts = team.hold(false)?;
    team.run(false)?;
    let judged = team.judged(false, "before timing")?;
    let mut measured = Measured::of(judged, settings.clock);
    team.time(settings, &mut measured)?;
    team.judged(false, "after timing")?;
    team.end_to_end(settings, &mut measured)?;
    if let Some(first) = facts.first() {
        (outcome.wg, outcome.params) = (first.wg, first.params.clone());
    }
    outcome.launches = facts.iter().map(|facts| facts.launches).sum();
    outcome.working_set = facts.iter().map(|facts| facts.bytes).sum();
    Ok(outcome.ended(Ok(measured)))
}

struct Team<'t, 'g, 'w> {
    goal: &'t Goal<'g>,
    members: &'t mut [Member<'w>],
    /// Most roundings of a term in any member's result.
    depth: u64,
}

impl Team<'_, '_, '_> {
    /// Asks all members at once, and waits for all of them.
    fn each<T: Send>(
        &mut self,
        ask: impl Fn(usize, &mut Member<'_>) -> Result<Result<T, Stop>, Error> + Sync,
    ) -> Result<Vec<T>, Failure> {
        let ask = &ask;
        let answers: Vec<Result<Result<T, Stop>, Error>> = thread::scope(|scope| {
            let members = self.members.iter_mut().enumerate();
            let asked: Vec<_> = members.map(|(index, member)| scope.spawn(move || ask(index, member))).collect();
            asked
                .into_iter()
                .map(|thread| {
                    thread.join().unwrap_or_else(|_| Err(Error::Failed("a device could not be asked".into())))
                })
                .collect()
        });
        let mut all = Vec::new();
        let mut lost = Vec::new();
        for (index, answer) in answers.into_iter().enumerate() {
            match answer {
                Ok(Ok(one)) => all.push(one),
                Ok(Err(stop)) => lost.push((index, stop)),
                Err(Error::Interrupted) => return Err(Failure::Ended(Error::Interrupted)),
                // A worker that could not be started anew.
                Err(error) => lost.push((index, Stop::failed(error.to_string()))),
            }
        }
        if lost.is_empty() { Ok(all) } else { Err(Failure::Lost(lost)) }
    }

    fn hold(&mut self, exact: bool) -> Result<Vec<PortionFacts>, Failure> {
        let facts = self.each(|_, Member { worker, case, portion }| {
            worker.hold_portion(&PortionWork { case: case.clone(), portion: *portion, exact })
        })?;
        self.depth = facts.iter().map(|facts| facts.depth).max().unwrap_or(0);
        Ok(facts)
    }

    /// Runs all portions from the same moment on: by the host's clock, from the first's begin to the last's end; by the
    /// driver's events, as long as the slowest's kernels.
    fn run(&mut self, whole: bool) -> Result<Sample, Failure> {
        let at = host_clock() + NOTICE;
        let goal = self.goal;
        let times: Vec<PortionTimes> = self.each(|index, Member { worker, portion, .. }| {
            worker.run_portion(&PortionRun { at, whole: whole.then(|| goal.place(index, *portion)) })
        })?;
        let begin = times.iter().map(|times| times.begin).min().unwrap_or(0);
        let end = times.iter().map(|times| times.end).max().unwrap_or(0);
        let events: Option<Vec<f64>> = times.iter().map(|times| times.event).collect();
        let event = events.map(|events| events.into_iter().fold(0.0, f64::max));
        Ok(Sample { event, wall: end.saturating_sub(begin) as f64 * 1e-9 })
    }

    fn portions(&self) -> Vec<Portion> {
        self.members.iter().map(|member| member.portion).collect()
    }

    /// Joins what the last run left, and judges it.
    fn judged(&mut self, exact: bool, when: &str) -> Result<Judged, Failure> {
        let goal = self.goal;
        goal.begin()?;
        self.each(|index, Member { worker, portion, .. }| worker.give_portion(&goal.place(index, *portion)))?;
        Ok(goal.judge(&goal.join(&self.portions())?, exact, self.depth, when)?)
    }

    fn time(&mut self, settings: &Settings, measured: &mut Measured) -> Result<(), Failure> {
        let mut failure = None;
        let sampled = sampling::sample(settings, &mut |_| {
            self.run(false).map_err(|why| {
                failure = Some(why);
                Stop::failed("a device was lost")
            })
        });
        match (sampled, failure) {
            (Ok((samples, stopped_by)), _) => (measured.samples, measured.stopped_by) = (samples, stopped_by.into()),
            (Err(_), Some(why)) => return Err(why),
            (Err(stop), None) => return Err(stop.into()),
        }
        measured.judge_events(settings);
        Ok(())
    }

    /// Runs from no buffers to the joined result, again while that takes no more than a fifth of what sampling may.
    fn end_to_end(&mut self, settings: &Settings, measured: &mut Measured) -> Result<(), Failure> {
        let mut seconds: Vec<f64> = Vec::new();
        while seconds.is_empty() || (seconds.len() < MOST_WHOLE && seconds.iter().sum::<f64>() < settings.timeout / 5.0)
        {
            self.goal.begin()?;
            seconds.push(self.run(true)?.wall);
            let joined = self.goal.join(&self.portions())?;
            self.goal.judge(&joined, false, self.depth, "in the run from end to end")?;
        }
        let times = stats::summarise(&seconds);
        measured.end_to_end = times.map(|times| times.median);
        measured.end_to_end_noise =
            times.filter(|times| times.runs > 1).and_then(|times| stats::ratio(times.max - times.min, times.median));
        Ok(())
    }
}

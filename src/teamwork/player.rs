//! A device of several, with the rung that it runs.

use super::options::SharedRung;
use crate::bench::tuning;
use crate::cli::Ladder;
use crate::ladder::LadderRun;
use crate::outcome::Clock;
use crate::plan::Refusal;
use crate::prelude::*;
use crate::runner::Portion;
use crate::team::Member;

pub(super) struct Player<'a> {
    pub(super) info: DeviceInfo,
    /// Or why there is none.
    worker: Result<WorkerProcess, Stop>,
    pub(super) rung: Option<&'a Rung>,
    pub(super) case: Case,
    pub(super) tuned: bool,
    /// Elements or rows that it makes at a time.
    pub(super) grain: u64,
    /// Whether it did the whole alone, and every share since.
    pub(super) is_able: bool,
    clock: Clock,
    /// Seconds that the whole took alone: kernels, with their clock, and from end to end.
    pub(super) seconds: Option<(f64, Clock)>,
    pub(super) end_to_end: Option<f64>,
}

impl<'a> Player<'a> {
    /// Opens a device in a worker of its own, and chooses what it runs. A device that does not open takes no part.
    pub(super) fn open(
        info: DeviceInfo,
        study: &LadderRun<'a>,
        options: &Ladder,
        asked: &SharedRung<'a>,
        deadline: f64,
        quiet: bool,
    ) -> Result<Player<'a>, Error> {
        let setup = Setup {
            device: Some(info.selector.clone()),
            cl_dir: options.kernels.cl_dir.clone(),
            inputs: study.inputs.clone(),
            dtype: study.dtype,
            ..Setup::of(&study.registry)
        };
        let opened = WorkerProcess::open(setup, None, Duration::from_secs_f64(deadline), interrupt::interrupted, say);
        let worker = match opened {
            Ok(worker) => Ok(worker),
            Err(Error::Interrupted) => return Err(Error::Interrupted),
            Err(error) => Err(Stop::failed(error.to_string())),
        };
        let mut player = Player {
            case: asked.case(study, options, None),
            info,
            worker,
            rung: asked.rung,
            tuned: false,
            grain: 1,
            is_able: false,
            clock: options.measure.settings().clock,
            seconds: None,
            end_to_end: None,
        };
        if study.shape.elements() > 0 {
            player.choose(study, options, asked, quiet);
        }
        Ok(player)
    }

    /// Chooses the rung that was named, the one that tuning found best, or the first that this device can run.
    fn choose(&mut self, study: &LadderRun<'a>, options: &Ladder, asked: &SharedRung<'a>, quiet: bool) {
        let family = study.family;
        let target = &self.info.target;
        let case = |rung: &Rung| {
            let wg = options.wg.unwrap_or_else(|| tuning::default_work_group(&self.info));
            Case { wg, ..asked.case(study, options, Some(rung)) }
        };
        let known = (!options.no_tuned && options.wg.is_none())
            .then(|| tuning::load(family, &self.info, options.kernels.cl_dir.as_deref(), quiet))
            .flatten();
        let rungs = asked.rung.map_or_else(|| family.preferred(target.gpu), |rung| vec![rung]);
        let is_free = asked.rung.is_none()
            && study.params.keys().all(|name| family.choices.iter().any(|choice| choice.name == name));
        let best = known.as_ref().filter(|_| is_free).and_then(|known| known.best(&case(rungs.first()?)));
        let usual = |rung: &&'a Rung| {
            let tuned = known.as_ref().and_then(|known| tuning::tuned(known, rung, &case(rung)));
            let is_tuned = tuned.is_some();
            (*rung, tuned.unwrap_or_else(|| case(rung)), is_tuned)
        };
        let best = best.and_then(|case| Some((family.rung(&case.variant)?, case, true)));
        let mut last = None;
        for (rung, case, is_tuned) in best.into_iter().chain(rungs.iter().map(usual)) {
            match family.plan(rung, &case, target).and_then(|plan| plan.check_local(target).map(|()| plan)) {
                Ok(plan) => {
                    // Whole groups of a vector, whose kernels read up to 4 elements at once.
                    let grain = plan.rows.map_or(4 * plan.wg.size() as u64, |rows| rows.rows);
                    (self.grain, self.rung, self.case, self.tuned) = (grain, Some(rung), case, is_tuned);
                    let variants: &[&str] = if is_tuned { &[rung.variant()] } else { &[] };
                    return tuning::announce(family, variants, quiet);
                }
                Err(refusal) => last = Some((rung, case, refusal)),
            }
        }
        if let Some((rung, case, refusal)) = last {
            (self.rung, self.case) = (Some(rung), case);
            self.worker = Err(refusal.into());
        }
    }

    /// Has it take no part, as the whole does not fit it.
    pub(super) fn refuse(&mut self, why: Error) {
        self.worker = Err(Refusal::Memory(why.to_string()).into());
    }

    /// Its part in the work, with this portion.
    pub(super) fn member(&mut self, portion: Portion) -> Result<Member<'_>, Stop> {
        match &mut self.worker {
            Ok(worker) => Ok(Member { worker, case: self.case.clone(), portion }),
            Err(stop) => Err(stop.clone()),
        }
    }

    /// What is known of its case if that ended so.
    pub(super) fn failed(&self, stop: Stop) -> Outcome {
        Outcome::pending(&self.case, self.clock).ended(Err(stop))
    }

    /// Notes how long the whole took alone.
    pub(super) fn took(&mut self, record: &Record) {
        self.is_able = record.outcome.status() == Status::Ok;
        let measured = record.outcome.measured();
        self.seconds = record.times.map(|times| times.median).zip(measured.map(|measured| measured.clock));
        self.end_to_end = measured.and_then(|measured| measured.end_to_end);
    }

    /// Wholes in a second; 0 of a device that takes no part.
    pub(super) fn speed(&self) -> f64 {
        self.seconds.filter(|_| self.is_able).map_or(0.0, |(seconds, _)| 1.0 / seconds)
    }
}

//! A portion of a case's work on this session's device: held, run at a given time, and given away.

use super::clock;
use super::inputs::make_inputs;
use super::judge::{demand_guards, demand_inputs, finished};
use super::portion::{
    HeldPortion, Portion, PortionFacts, PortionPlace, PortionRun, PortionTimes, PortionWork, host_clock, part_of,
    portion_fill,
};
use super::prelude::*;
use super::session::{demand_bound, place};
use super::verdict::tails;

impl Session {
    /// Takes a portion on, in place of the last one: builds its kernels and puts its data on the device.
    pub fn hold_portion(&mut self, work: &PortionWork) -> Result<PortionFacts, Stop> {
        /// An offset moves a work-item's global id, but not its group's: with this, kernels that go by their group move, too.
        const GROUPS_MOVE: &str = "#define get_group_id(d) (get_global_id(d) / get_local_size(d))\n";
        if let Some(mut last) = self.portion.take() {
            last.release(&mut *self.device);
        }
        let registry = self.registry.clone();
        let family = registry.find(&work.case.family)?;
        let is_vector = family.form == Form::Vector;
        let shape = if is_vector { Shape::vector(work.portion.len) } else { work.case.shape };
        let case = Case { shape, ..work.case.clone() };
        let (rung, plan) = self.plan(family, &case)?;
        if !is_vector && plan.rows.is_none() {
            return Err(Refusal::Feature(format!("{} cannot make some rows alone", rung.variant())).into());
        }
        demand_bound(family, &case, &plan)?;
        let mut unit = self.unit(rung, &plan)?;
        if !is_vector {
            unit.text.insert_str(0, GROUPS_MOVE);
        }
        let program = self.device.build(&unit)?;
        let data = Data::unjudged(family, &case, Inputs::Held(self.portion_inputs(family, work, &case)));
        let facts = PortionFacts {
            wg: plan.wg,
            params: plan.params.clone(),
            launches: plan.passes.len() as u64,
            bytes: plan.bytes(),
            depth: plan.depth,
        };
        let mut held = HeldPortion { case, portion: work.portion, plan, program, data, bound: None };
        let fence = Fence::of(&*self.device, family, &held.case);
        place(&mut *self.device, &self.sources, fence, &mut held.data)?;
        match BoundPlan::new(&mut *self.device, fence, &held.plan, &held.data.device) {
            Ok(bound) => held.bound = Some(bound),
            Err(error) => {
                held.release(&mut *self.device);
                return Err(error.into());
            }
        }
        self.portion = Some(held);
        Ok(facts)
    }

    fn portion_inputs(&self, family: &Family, work: &PortionWork, case: &Case) -> Vec<Array> {
        let (fill, seed) = portion_fill(family, &work.case, work.exact);
        let Portion { from, len } = work.portion;
        match &self.files {
            _ if family.form != Form::Vector => make_inputs(family, case, fill, seed),
            Some(files) if !work.exact => {
                files.iter().map(|array| part_of(array, from as usize, len as usize)).collect()
            }
            _ => {
                let lens = family.problem.inputs(case.shape, &case.params).into_iter();
                (0..).zip(lens).map(|(stream, len)| data::generate(fill, case.dtype, seed, stream, from, len)).collect()
            }
        }
    }

    pub fn run_portion(&mut self, run: &PortionRun) -> Result<PortionTimes, Stop> {
        self.with_portion(|session, held, family| match &run.whole {
            None => session.run_kernels(held, run.at),
            Some(place) => session.run_end_to_end(held, family, run.at, place),
        })
    }

    /// Puts what the last run of the kernels left into its place, if nothing was written beside it.
    pub fn give_portion(&mut self, place: &PortionPlace) -> Result<(), Stop> {
        self.with_portion(|session, held, family| {
            let device = &mut *session.device;
            let second_seed = session.second_seed;
            let Some(bound) = &held.bound else { return Err(nothing_held()) };
            let case = &held.case;
            let plan = held.plan.clone();
            let job = ReadyCase { case, family, plan, program: held.program, second_seed, again: None };
            let result = match held.is_rows() {
                true => demand_guards(device, bound).and_then(|()| held.rows(device, bound)),
                false => finished(device, &job, bound, &tails(&held.plan, &held.data.host)),
            }?;
            demand_inputs(device, bound, &held.data)?;
            place.put(&result)
        })
    }

    fn with_portion<T>(
        &mut self,
        go: impl FnOnce(&mut Session, &mut HeldPortion, &Family) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let Some(mut held) = self.portion.take() else { return Err(nothing_held()) };
        let registry = self.registry.clone();
        let family = registry.find(&held.case.family)?;
        let gone = go(self, &mut held, family);
        self.portion = Some(held);
        // What a device says once kernels ran is no refusal.
        gone.map_err(|stop| stop.after(true))
    }

    /// Runs the kernels into poisoned outputs. What prepares the data is launched before the time that was set.
    fn run_kernels(&mut self, held: &HeldPortion, at: u64) -> Result<PortionTimes, Stop> {
        let Some(bound) = &held.bound else { return Err(nothing_held()) };
        bound.poison(&mut *self.device)?;
        let launches = held.launches(bound);
        let timed: Vec<bool> = held.plan.passes.iter().map(|pass| pass.timed).collect();
        let before = timed.iter().position(|&timed| timed).unwrap_or(0);
        if before > 0 {
            self.device.run(held.program, &launches[..before])?;
        }
        wait_until(at);
        let begin = host_clock();
        let timing = self.device.run(held.program, &launches[before..])?;
        Ok(PortionTimes { begin, end: host_clock(), event: clock::sample(&timing, &timed[before..]).event })
    }

    /// From nothing on the device to the result in its place. Nothing is left there, and nothing is fenced.
    fn run_end_to_end(
        &mut self,
        held: &mut HeldPortion,
        family: &Family,
        at: u64,
        place: &PortionPlace,
    ) -> Result<PortionTimes, Stop> {
        let device = &mut *self.device;
        held.release(device);
        wait_until(at);
        let begin = host_clock();
        let inputs = Fence::none().upload(device, held.data.host.held())?;
        let bound = BoundPlan::new(device, Fence::none(), &held.plan, &inputs).map_err(Stop::from);
        let result = bound.and_then(|bound| {
            let ran = device.batch(held.program, &held.launches(&bound), 1).map_err(Stop::from);
            let result = ran.and_then(|_| match held.is_rows() {
                true => held.rows(device, &bound),
                false => {
                    let output = bound.output(device)?;
                    Ok(family.problem.finish(&held.case, output, &tails(&held.plan, &held.data.host)))
                }
            });
            bound.free(device);
            result
        });
        let put = result.and_then(|result| place.put(&result));
        let end = host_clock();
        inputs.into_iter().for_each(|input| input.free(device));
        put.map(|()| PortionTimes { begin, end, event: None })
    }
}

fn nothing_held() -> Stop {
    Stop::failed("this worker holds no portion")
}

fn wait_until(at: u64) {
    while host_clock() < at {
        std::hint::spin_loop();
    }
}

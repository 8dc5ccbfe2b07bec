//! A wrong kernel run over data of our choice.

use super::super::buffers::{BoundPlan, Fence};
use super::super::inputs::{Data, ReadyCase, single};
use super::super::session::Session;
use gpulab_kernels::{Family, tile_of_a_group};
use gpulab_model::check::{self};
use gpulab_model::data::{Array, Inputs};
use gpulab_model::outcome::{Number, Stop, Symptoms};
use gpulab_model::plan::Case;

impl Session {
    /// Has a case's kernels ready over these inputs for as long as `go` runs.
    pub(super) fn probe<T>(
        &mut self,
        family: &Family,
        case: &Case,
        inputs: Vec<Array>,
        go: impl FnOnce(&mut ProbedKernel<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut data = Data::unjudged(family, case, Inputs(inputs));
        let fence = Fence::of(&*self.device, family, case);
        let job = self.companion(family, case, fence, &mut data)?;
        let bound = self.bind(&job, &data.device)?;
        go(&mut ProbedKernel { session: self, job: &job, bound: &bound, data: &mut data })
    }
}

/// What a work-group of the case's rung has of the data.
pub(super) fn tile(session: &Session, family: &Family, case: &Case) -> Result<[u64; 2], Stop> {
    let rung = family.rung(&case.variant).ok_or_else(|| Stop::failed("there is no such rung"))?;
    Ok(tile_of_a_group(family, rung, case, &session.device.info().target)?)
}

/// A case's kernels and buffers, ready to be run over any inputs.
pub(super) struct ProbedKernel<'a> {
    pub(super) session: &'a mut Session,
    pub(super) job: &'a ReadyCase<'a>,
    pub(super) bound: &'a BoundPlan,
    pub(super) data: &'a mut Data,
}

impl ProbedKernel<'_> {
    /// Takes other inputs, of the same lengths.
    pub(super) fn set(&mut self, inputs: Vec<Array>) -> Result<(), Stop> {
        self.data.host = Inputs(inputs);
        self.session.overwrite(self.data)
    }

    /// Runs the kernels over what all outputs hold before, element by element; the output as the device left it.
    pub(super) fn run(&mut self, before: &Array) -> Result<Array, Stop> {
        let device = &mut *self.session.device;
        self.bound.poison_with(device, |_| before.as_bytes().to_vec())?;
        device.run(self.job.program, &self.bound.launches())?;
        Ok(self.bound.output(device)?)
    }

    /// As [`ProbedKernel::run`], over scrubbed local memory.
    pub(super) fn run_scrubbed(&mut self, before: &Array) -> Result<Array, Stop> {
        self.session.scrub_local()?;
        self.run(before)
    }

    /// The single number that the host makes of an output.
    pub(super) fn number(&self, output: Array) -> Option<Number> {
        let ReadyCase { family, case, .. } = self.job;
        single(&family.problem.finish(case, output, &[]))
    }
}

/// What every kernel is looked at for, over data that tell its results apart.
pub(super) fn survey(
    probe: &mut ProbedKernel<'_>,
    group: usize,
    is_right: impl Fn(&Array) -> bool,
) -> Result<Symptoms, Stop> {
    const RUNS: usize = 8;
    let dtype = probe.job.case.dtype;
    let [poison, other] = [check::poison(dtype), check::other_poison(dtype)].map(|bytes| {
        let mut one = Array::zeros(dtype, 1);
        one.as_bytes_mut().copy_from_slice(&bytes);
        one
    });
    let first = probe.run_scrubbed(&poison)?;
    let outside = probe.bound.overrun(&mut *probe.session.device)?;
    let changed_input = probe.bound.changed_input(&mut *probe.session.device, probe.data.prints())?;
    let right = is_right(&first);
    let mut differs = false;
    for _ in 1..RUNS {
        differs |= probe.run_scrubbed(&poison)?.as_bytes() != first.as_bytes();
    }
    let second = probe.run_scrubbed(&other)?;
    let holds = |array: &Array, value: &Array| -> Vec<bool> {
        array.as_bytes().chunks(dtype.size()).map(|element| element == value.as_bytes()).collect()
    };
    let both = holds(&first, &poison).into_iter().zip(holds(&second, &other));
    let unwritten: Vec<bool> = both.map(|(first, second)| first && second).collect();
    let count = unwritten.iter().filter(|is| **is).count() as u64;
    Ok(Symptoms {
        shape: probe.job.case.shape,
        wg: probe.job.plan.wg,
        is_right: right && !differs && outside.is_none() && changed_input.is_none() && count == 0,
        outside,
        changed_input,
        differs,
        unwritten: check::share(&unwritten, group),
        unwritten_count: [count, unwritten.len() as u64],
        first_unwritten: unwritten.iter().position(|is| *is).map(|at| at as u64),
        counts: None,
        cells: None,
    })
}

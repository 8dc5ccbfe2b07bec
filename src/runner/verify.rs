//! Is a rung's result right? Poisoned outputs, guard zones, scrubbed local memory, exact and real data.

use super::buffers::{self, Bound};
use super::outcome::{Outcome, Status, Stop};
use super::session::{Data, Job, Session, make_inputs, single};
use crate::check::{self, Verdict};
use crate::data::{Array, Dtype, Fill};
use crate::device::{BufferId, Device, Launch, Unit};
use crate::kernels::{Arg, Case, Family, Movement, Plan, Reference};

impl Session {
    /// Checks a rung over exact data of three seeds, all ones and a single one at the places where rungs go
    /// wrong, then over the real data. Where the results over these are exact, they show every mistake.
    pub(super) fn verify_thoroughly(&mut self, job: &Job<'_>, outcome: &mut Outcome) -> Result<(), Stop> {
        if !job.family.problem.is_exact(job.case) {
            self.verify_exact(job, &exact_data(job))?;
        }
        outcome.judged(&self.verify_real(job, "over real data")?);
        Ok(())
    }

    /// Checks one run over the real data.
    pub(super) fn verify_real(&mut self, job: &Job<'_>, when: &str) -> Result<Judged, Stop> {
        let inputs = self.inputs();
        let bound = Bound::new(&mut *self.device, &job.plan, &inputs)?;
        let judged = self.run_poisoned(job, &bound).and_then(|()| self.judge(job, &bound, when));
        bound.free(&mut *self.device);
        judged
    }

    /// Runs once over each of these data, whose results are exact in every order. They take the place of the
    /// timed data for that long, here and on the device, so that no more than both is ever held.
    pub(super) fn verify_exact(&mut self, job: &Job<'_>, data: &[(Fill, u64)]) -> Result<(), Stop> {
        if let Some(timed) = &mut self.data {
            timed.host.clear();
        }
        let verified = data.iter().try_for_each(|&(fill, seed)| self.verify_over(job, fill, seed));
        let Some(mut timed) = self.data.take() else { return Err(Stop::failed("the inputs are gone")) };
        timed.host = self.real_inputs(job.family, job.case);
        // Kept only if it could be put back: else the next case makes it anew.
        overwrite(&mut *self.device, &timed.device, &timed.host)?;
        self.data = Some(timed);
        verified
    }

    fn verify_over(&mut self, job: &Job<'_>, fill: Fill, seed: u64) -> Result<(), Stop> {
        let inputs = make_inputs(job.family, job.case, fill, seed);
        let want = exact_result(&job.family.problem.reference(job.case, &inputs), job.case.dtype);
        let tails = tails(&job.plan, &inputs);
        let ids = self.inputs();
        overwrite(&mut *self.device, &ids, &inputs)?;
        drop(inputs);
        let bound = Bound::new(&mut *self.device, &job.plan, &ids)?;
        let result = self.run_poisoned(job, &bound).and_then(|()| {
            let got = self.result(job, &bound, &tails)?;
            demand(check::check_exact(&got, &want), &format!("over {fill:?} data")).map(|_| ())
        });
        bound.free(&mut *self.device);
        result
    }

    /// One run into poisoned outputs, over scrubbed local memory.
    pub(super) fn run_poisoned(&mut self, job: &Job<'_>, bound: &Bound) -> Result<(), Stop> {
        bound.poison(&mut *self.device, &job.plan)?;
        self.scrub_local()?;
        self.device.run(job.program, &bound.launches(&job.plan))?;
        self.launched = true;
        Ok(())
    }

    /// Fills every compute unit's local memory with NaN; not under Oclgrind, which finds such reads itself.
    fn scrub_local(&mut self) -> Result<(), Stop> {
        if buffers::guard_bytes(&*self.device) == 0 {
            return Ok(());
        }
        let program = match self.scrub {
            Some(program) => program,
            None => {
                let text = self.sources.assemble("common/scrub.cl")?;
                let kernels = vec!["scrub".to_owned()];
                self.device.build(&Unit { path: "common/scrub.cl".into(), text, defines: Vec::new(), kernels })?
            }
        };
        self.scrub = Some(program);
        let target = &self.device.info().target;
        let bytes = target.local_mem.min(32 << 10) as usize;
        let wg = target.max_wg.min(64);
        let groups = 4 * target.compute_units as usize;
        let launch = Launch {
            kernel: "scrub".into(),
            global: [groups * wg, 1, 1],
            local: [wg, 1, 1],
            args: vec![Arg::Local(bytes), Arg::Uint((bytes / 4) as u32)],
        };
        self.device.run(program, &[launch])?;
        Ok(())
    }

    /// Reads the output, looks at the guard zones, and completes the result on the host.
    pub(super) fn result(&mut self, job: &Job<'_>, bound: &Bound, tails: &[Array]) -> Result<Array, Stop> {
        let output = bound.output(&mut *self.device, &job.plan)?;
        if let Some(what) = bound.overrun(&mut *self.device, &job.plan)? {
            return Err(wrong(what));
        }
        // Of moved elements the check itself finds those that were not written, and skips what lies between rows.
        if job.family.problem.movement(job.case).is_none()
            && let Some(index) = check::still_poisoned(&output)
        {
            return Err(wrong(format!("element {index} of the output was never written")));
        }
        Ok(job.family.problem.finish(job.case, output, tails))
    }

    /// Checks the output over the timed data against its reference.
    pub(super) fn judge(&mut self, job: &Job<'_>, bound: &Bound, when: &str) -> Result<Judged, Stop> {
        let Some(data) = self.data.take() else { return Err(Stop::failed("the inputs are gone")) };
        let result = self.result(job, bound, &tails(&job.plan, &data.host));
        let judged = result.and_then(|got| data.judge(&got, job.family, job.case, job.plan.depth, when));
        self.data = Some(data);
        judged
    }
}

impl Data {
    /// Judges a result over these data.
    pub(super) fn judge(
        &self,
        got: &Array,
        family: &Family,
        case: &Case,
        depth: u64,
        when: &str,
    ) -> Result<Judged, Stop> {
        match (family.problem.movement(case), &self.reference) {
            (Some(movement), _) => judge_moved(got, &self.host, &movement, when),
            (None, Some(reference)) => judge_real(got, reference, depth, when),
            (None, None) => Err(Stop::failed("there is no reference")),
        }
    }
}

/// A result over real data that passed its check.
pub(super) struct Judged {
    verdict: Verdict,
    value: Option<f64>,
}

impl Outcome {
    /// The case is right.
    pub(super) fn judged(&mut self, judged: &Judged) {
        self.max_err = Some(judged.verdict.max_err);
        self.tol = Some(judged.verdict.tol);
        self.result = judged.value;
        self.status = Status::Ok;
    }
}

fn overwrite(device: &mut dyn Device, ids: &[BufferId], arrays: &[Array]) -> Result<(), Stop> {
    for (&id, array) in ids.iter().zip(arrays) {
        device.write(id, 0, array.as_bytes())?;
    }
    Ok(())
}

/// What exact data to check a rung over, with their seeds.
fn exact_data(job: &Job<'_>) -> Vec<(Fill, u64)> {
    let (n, wg, seed) = (job.case.shape.n, job.plan.wg.size() as u64, job.case.seed);
    let exact = job.family.problem.exact_fill(job.case);
    let edges = [0, 1, wg - 1, wg, n / 2, n - n % (4 * wg), n - 1].map(|at| (Fill::Unit(at.min(n - 1)), 0));
    let seeds = (1..=3).map(|k| (exact, (!seed).wrapping_sub(k)));
    seeds.chain([(Fill::Ones, 0)]).chain(edges).collect()
}

pub(super) fn tails(plan: &Plan, inputs: &[Array]) -> Vec<Array> {
    plan.host_tail.map_or_else(Vec::new, |start| inputs.iter().map(|a| a.tail(start as usize)).collect())
}

/// The one result that exact data has, in the element type.
pub(super) fn exact_result(reference: &Reference, dtype: Dtype) -> Array {
    match (&reference.exact, dtype) {
        (Some(exact), _) => exact.clone(),
        (None, Dtype::F32) => Array::F32(vec![reference.value as f32]),
        (None, _) => Array::F64(vec![reference.value]),
    }
}

fn judge_moved(got: &Array, inputs: &[Array], movement: &Movement, when: &str) -> Result<Judged, Stop> {
    let [input] = inputs else { return Err(Stop::failed("elements are moved from one input")) };
    Ok(Judged { verdict: demand(check::check_moved(got, input, movement), when)?, value: None })
}

/// Judges a result over real data. So many roundings that no bound is left make S itself the bound: then
/// only the exact data, which every case is checked over as well, can tell right from wrong.
fn judge_real(got: &Array, reference: &Reference, depth: u64, when: &str) -> Result<Judged, Stop> {
    let most = (0.09 / got.dtype().unit_roundoff()) as u64;
    let mut verdict = check::check_result(got, reference, depth.min(most));
    if depth > most && verdict.max_err <= reference.magnitude {
        verdict = Verdict { ok: true, tol: reference.magnitude, why: None, ..verdict };
    }
    Ok(Judged { verdict: demand(verdict, when)?, value: single(got) })
}

pub(super) fn demand(verdict: Verdict, when: &str) -> Result<Verdict, Stop> {
    if verdict.ok { Ok(verdict) } else { Err(wrong(format!("{} ({when})", verdict.why.unwrap_or_default()))) }
}

fn wrong(reason: String) -> Stop {
    Stop { status: Status::WrongResult, reason }
}

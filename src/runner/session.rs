//! One device, the data of the case at hand, and the steps that every case goes through.

use super::buffers::{self, Bound};
use super::clock;
use super::outcome::{Cache, Clock, Outcome, Sample, Settings, Status, Stop};
use super::sampling;
use crate::check::{self, Verdict};
use crate::data::{self, Array, Dtype, Fill};
use crate::device::{BufferId, Device, DeviceError, Launch, ProgramId, Unit};
use crate::kernels::{self, Arg, Ask, Baseline, Case, Family, Plan, Reference, Rung, assemble};
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Instant;

/// Where kernel sources come from.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A folder laid out like `cl/`; `None` for the sources built into the binary.
    pub dir: Option<PathBuf>,
}

impl Sources {
    fn assemble(&self, path: &str) -> Result<String, Stop> {
        let result = match &self.dir {
            None => assemble(path, &kernels::EMBEDDED),
            Some(dir) => assemble(path, &|p| std::fs::read_to_string(dir.join(p)).ok().map(Cow::Owned)),
        };
        result.map(|a| a.text).map_err(|missing| {
            let place = self.dir.as_ref().map_or("the binary".into(), |d| d.display().to_string());
            Stop::failed(format!("no readable kernel source {missing} in {place}"))
        })
    }
}

/// Runs cases on one device.
pub struct Session {
    device: Box<dyn Device>,
    sources: Sources,
    /// Real inputs that take the place of seeded random ones.
    files: Option<Vec<Array>>,
    data: Option<Data>,
    scrub: Option<ProgramId>,
}

/// The inputs that are timed over, kept from case to case of the same problem.
struct Data {
    key: (String, Dtype, kernels::Shape, u64),
    host: Vec<Array>,
    /// Empty until a device needs them.
    device: Vec<BufferId>,
    reference: Reference,
}

/// A case on its way: what was asked, and what it was turned into.
struct Job<'a> {
    case: &'a Case,
    settings: &'a Settings,
    family: &'static Family,
    plan: Plan,
    program: ProgramId,
}

impl Session {
    /// A session on a device; `files` replace the random inputs of every case.
    pub fn new(device: Box<dyn Device>, sources: Sources, files: Option<Vec<Array>>) -> Session {
        Session { device, sources, files, data: None, scrub: None }
    }

    /// The device.
    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// Verifies, times and verifies a rung.
    pub fn run(&mut self, case: &Case, settings: &Settings) -> Outcome {
        let mut outcome = Outcome::pending(case, settings.clock);
        match self.try_run(case, settings, &mut outcome) {
            Ok(()) => outcome,
            Err(stop) => outcome.stopped(stop),
        }
    }

    /// Verifies and times a CPU baseline.
    pub fn baseline(&mut self, case: &Case, settings: &Settings) -> Outcome {
        let mut outcome = Outcome::pending(case, Clock::Wall);
        match self.try_baseline(case, settings, &mut outcome) {
            Ok(()) => outcome,
            Err(stop) => outcome.stopped(stop),
        }
    }

    fn try_run(&mut self, case: &Case, settings: &Settings, outcome: &mut Outcome) -> Result<(), Stop> {
        let family = find_family(&case.family)?;
        let Some(rung) = family.rung(&case.variant) else {
            return Err(Stop::failed(format!("{} has no rung {}", family.name, case.variant)));
        };
        if case.shape.n == 0 || case.shape.m == 0 {
            return answer_empty(family, case, outcome);
        }
        let plan = self.plan(rung, case)?;
        (outcome.wg, outcome.params) = (plan.wg, plan.params.clone());
        let cost = family.problem.cost(case.shape, case.dtype, plan.wg);
        (outcome.bytes, outcome.ops, outcome.working_set) = (cost.bytes, cost.ops, plan.bytes());
        let program = self.build(rung, &plan)?;
        let job = Job { case, settings, family, plan, program };
        self.load(&job)?;
        self.verify_exact(&job)?;
        outcome.end_to_end = Some(self.end_to_end(&job)?);
        let inputs = self.inputs();
        let bound = Bound::new(&mut *self.device, &job.plan, &inputs)?;
        let result = self.measure(&job, &bound, outcome);
        bound.free(&mut *self.device);
        result
    }

    /// Makes the plan, and refuses what would not fit the device.
    fn plan(&self, rung: &'static Rung, case: &Case) -> Result<Plan, Stop> {
        let target = &self.device.info().target;
        if case.dtype == Dtype::F64 && !target.fp64 {
            return Err(Stop::skipped("this device has no fp64"));
        }
        let plan = (rung.plan)(&Ask { rung, case, target })?;
        if plan.local_bytes > target.local_mem {
            return Err(Stop::skipped(format!(
                "needs {} bytes of local memory for a work-group, this device has {}",
                plan.local_bytes, target.local_mem
            )));
        }
        if plan.bytes() > target.global_mem {
            return Err(Stop::skipped(format!(
                "needs {} bytes of global memory, this device has {}",
                plan.bytes(),
                target.global_mem
            )));
        }
        Ok(plan)
    }

    fn build(&mut self, rung: &Rung, plan: &Plan) -> Result<ProgramId, Stop> {
        let mut kernels: Vec<String> = plan.passes.iter().map(|p| p.kernel.clone()).collect();
        kernels.dedup();
        let text = self.sources.assemble(rung.path)?;
        let unit = Unit { path: rung.path.into(), text, defines: plan.defines.clone(), kernels };
        Ok(self.device.build(&unit)?)
    }

    /// Makes the inputs and their reference, unless the last case had the same.
    fn load(&mut self, job: &Job<'_>) -> Result<(), Stop> {
        self.load_host(job.case, job.family)?;
        let Some(data) = &mut self.data else { return Ok(()) };
        if data.device.is_empty() {
            data.device = buffers::upload(&mut *self.device, &data.host)?;
        }
        Ok(())
    }

    fn load_host(&mut self, case: &Case, family: &Family) -> Result<(), Stop> {
        let key = (case.family.clone(), case.dtype, case.shape, case.seed);
        if self.data.as_ref().is_some_and(|d| d.key == key) {
            return Ok(());
        }
        for id in self.data.take().map(|d| d.device).unwrap_or_default() {
            self.device.free(id);
        }
        let host = match &self.files {
            Some(files) if kernels::FAMILIES.iter().any(|f| f.name == family.name) => files.clone(),
            _ => make_inputs(family, case, Fill::Real, case.seed),
        };
        let reference = family.problem.reference(&host);
        self.data = Some(Data { key, host, device: Vec::new(), reference });
        Ok(())
    }

    /// Runs once over data whose result is exact in every order. It takes the place of the timed data for
    /// that long: three times the data is the most that host and CPU device hold together.
    fn verify_exact(&mut self, job: &Job<'_>) -> Result<(), Stop> {
        let fill = job.family.problem.exact_fill(job.case.shape);
        let inputs = make_inputs(job.family, job.case, fill, !job.case.seed);
        let want = exact_result(&job.family.problem.reference(&inputs), job.case.dtype);
        let tails = tails(&job.plan, &inputs);
        self.overwrite(&inputs)?;
        drop(inputs);
        let verified = self.verify_against(job, &tails, &want);
        let Some(data) = self.data.take() else { return Err(Stop::failed("the inputs are gone")) };
        // Kept only if it could be put back: else the next case uploads it anew.
        overwrite(&mut *self.device, &data.device, &data.host)?;
        self.data = Some(data);
        verified
    }

    fn overwrite(&mut self, arrays: &[Array]) -> Result<(), Stop> {
        let ids = self.inputs();
        overwrite(&mut *self.device, &ids, arrays)
    }

    fn verify_against(&mut self, job: &Job<'_>, tails: &[Array], want: &Array) -> Result<(), Stop> {
        let inputs = self.inputs();
        let bound = Bound::new(&mut *self.device, &job.plan, &inputs)?;
        let result = self.run_poisoned(job, &bound).and_then(|()| {
            let got = self.result(job, &bound, tails)?;
            demand(check::check_exact(&got, want), "over exact data").map(|_| ())
        });
        bound.free(&mut *self.device);
        result
    }

    /// The timed inputs on the device.
    fn inputs(&self) -> Vec<BufferId> {
        self.data.as_ref().map(|d| d.device.clone()).unwrap_or_default()
    }

    /// One run into poisoned outputs, over scrubbed local memory.
    fn run_poisoned(&mut self, job: &Job<'_>, bound: &Bound) -> Result<(), Stop> {
        bound.poison(&mut *self.device, &job.plan)?;
        self.scrub_local()?;
        self.device.run(job.program, &bound.launches(&job.plan))?;
        Ok(())
    }

    /// Fills every compute unit's local memory with NaN.
    fn scrub_local(&mut self) -> Result<(), Stop> {
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
    fn result(&mut self, job: &Job<'_>, bound: &Bound, tails: &[Array]) -> Result<Array, Stop> {
        let output = bound.output(&mut *self.device, &job.plan)?;
        if let Some(what) = bound.overrun(&mut *self.device, &job.plan)? {
            return Err(wrong(what));
        }
        if let Some(index) = check::still_poisoned(&output) {
            return Err(wrong(format!("element {index} of the output was never written")));
        }
        Ok(job.family.problem.finish(output, tails))
    }

    /// Checks the output over the timed data against its reference.
    fn judge(&mut self, job: &Job<'_>, bound: &Bound, when: &str) -> Result<(Verdict, Array), Stop> {
        let Some(data) = self.data.take() else { return Err(Stop::failed("the inputs are gone")) };
        let result = self.result(job, bound, &tails(&job.plan, &data.host));
        let verdict = result.and_then(|got| {
            let verdict = check::check_result(&got, &data.reference, job.plan.depth);
            demand(verdict, when).map(|verdict| (verdict, got))
        });
        self.data = Some(data);
        verdict
    }

    /// Verifies, times and verifies over the real data.
    fn measure(&mut self, job: &Job<'_>, bound: &Bound, outcome: &mut Outcome) -> Result<(), Stop> {
        self.run_poisoned(job, bound)?;
        self.judge(job, bound, "before timing")?;
        bound.poison(&mut *self.device, &job.plan)?;
        let copies = self.rotation(job, bound)?;
        let bindings: Vec<&Bound> = std::iter::once(bound).chain(&copies).collect();
        let judged = self.time_and_judge(job, &bindings, outcome);
        copies.into_iter().for_each(|copy| copy.free(&mut *self.device));
        judged
    }

    /// Times over each binding in turn, then checks what the last run left.
    fn time_and_judge(&mut self, job: &Job<'_>, bindings: &[&Bound], outcome: &mut Outcome) -> Result<(), Stop> {
        let sets: Vec<Vec<Launch>> = bindings.iter().map(|b| b.launches(&job.plan)).collect();
        self.time(job, &sets, outcome)?;
        let last = (outcome.samples.len() - 1) % bindings.len();
        let (verdict, got) = self.judge(job, bindings[last], "after timing")?;
        outcome.max_err = Some(verdict.max_err);
        outcome.tol = Some(verdict.tol);
        outcome.result = single(&got);
        outcome.status = Status::Ok;
        Ok(())
    }

    /// For a cold cache: copies that together with the original are twice the size of any cache in sight.
    fn rotation(&mut self, job: &Job<'_>, bound: &Bound) -> Result<Vec<Bound>, Stop> {
        const SHARED_BELOW: usize = 1 << 20;
        let mut copies = Vec::new();
        if job.settings.cache == Cache::Warm {
            return Ok(copies);
        }
        let target = &self.device.info().target;
        // Some drivers report a part of their last-level cache only.
        let wanted = 2 * target.cache.max(128 << 20);
        let room = target.global_mem / 2;
        let set = job.plan.bytes().max(1);
        let sets = wanted.div_ceil(set).max(2).min(room / set).min(256);
        let share = if set < 4 * SHARED_BELOW as u64 { 0 } else { SHARED_BELOW };
        for _ in 1..sets {
            match bound.copy(&mut *self.device, &job.plan, share) {
                Ok(copy) => copies.push(copy),
                Err(error) => {
                    copies.into_iter().for_each(|copy| copy.free(&mut *self.device));
                    return Err(error.into());
                }
            }
        }
        Ok(copies)
    }

    fn time(&mut self, job: &Job<'_>, sets: &[Vec<Launch>], outcome: &mut Outcome) -> Result<(), Stop> {
        let all: Vec<Launch> = sets.concat();
        let per_run = 1.0 / sets.len() as f64;
        let batch = |device: &mut dyn Device, seconds: f64| -> Result<f64, DeviceError> {
            let repeat = sampling::batch_size(seconds).div_ceil(sets.len());
            Ok(device.batch(job.program, &all, repeat)? / repeat as f64 * per_run)
        };
        let device = &mut *self.device;
        let first = device.batch(job.program, &sets[0], 1)?;
        let timed: Vec<bool> = job.plan.passes.iter().map(|p| p.timed).collect();
        let (samples, why) = sampling::sample(job.settings, &mut |i| {
            let launches = &sets[i % sets.len()];
            Ok(match job.settings.clock {
                Clock::Event => clock::sample(&device.run(job.program, launches)?, &timed),
                Clock::Wall => Sample { event: None, wall: device.batch(job.program, launches, 1)? },
                Clock::Batch => Sample { event: None, wall: batch(device, first)? },
            })
        })?;
        outcome.samples = samples;
        outcome.stopped_by = why.into();
        if job.settings.clock == Clock::Event {
            let fastest = job.settings.ceiling.map(|ceiling| outcome.bytes / ceiling);
            outcome.clock_note = clock::objection(&outcome.samples, fastest);
            outcome.clock = if outcome.clock_note.is_some() { Clock::Wall } else { Clock::Event };
        }
        let shortest = outcome.times().into_iter().fold(f64::INFINITY, f64::min);
        if shortest < sampling::SHORT_S {
            outcome.batch = Some(batch(device, shortest)?);
        }
        Ok(())
    }

    /// Seconds from nothing to the result: allocation, inputs to the device, kernels, output to the host
    /// and the host's part.
    fn end_to_end(&mut self, job: &Job<'_>) -> Result<f64, Stop> {
        let Some(data) = &self.data else { return Err(Stop::failed("the inputs are gone")) };
        let device = &mut *self.device;
        let started = Instant::now();
        let ids = buffers::upload(device, &data.host)?;
        let result = Bound::new(device, &job.plan, &ids).and_then(|bound| {
            let ran = device.batch(job.program, &bound.launches(&job.plan), 1);
            let output = ran.and_then(|_| bound.output(device, &job.plan));
            bound.free(device);
            output
        });
        let seconds = result.map(|output| {
            std::hint::black_box(job.family.problem.finish(output, &tails(&job.plan, &data.host)));
            started.elapsed().as_secs_f64()
        });
        ids.iter().for_each(|&id| self.device.free(id));
        Ok(seconds?)
    }

    fn try_baseline(&mut self, case: &Case, settings: &Settings, outcome: &mut Outcome) -> Result<(), Stop> {
        let family = find_family(&case.family)?;
        let Some(baseline) = family.problem.baselines().iter().find(|b| b.name == case.variant) else {
            return Err(Stop::failed(format!("{} has no CPU baseline {}", family.name, case.variant)));
        };
        if case.shape.n == 0 || case.shape.m == 0 {
            return answer_empty(family, case, outcome);
        }
        self.load_host(case, family)?;
        let Some(data) = &self.data else { return Err(Stop::failed("the inputs are gone")) };
        let cost = family.problem.cost(case.shape, case.dtype, case.wg);
        (outcome.bytes, outcome.ops) = (cost.bytes, cost.ops);
        outcome.working_set = data.host.iter().map(|a| a.as_bytes().len() as u64).sum();
        outcome.wg = kernels::WorkGroup::linear(1);
        let verdict = judge_baseline(baseline, data, case)?;
        let (samples, why) = sampling::sample(settings, &mut |_| {
            let started = Instant::now();
            std::hint::black_box((baseline.run)(std::hint::black_box(&data.host)));
            Ok(Sample { event: None, wall: started.elapsed().as_secs_f64() })
        })?;
        (outcome.samples, outcome.stopped_by) = (samples, why.into());
        let (after, got) = judge_baseline(baseline, data, case).map(|v| (v, (baseline.run)(&data.host)))?;
        outcome.max_err = Some(verdict.max_err.max(after.max_err));
        outcome.tol = Some(verdict.tol);
        outcome.result = single(&got);
        outcome.status = Status::Ok;
        Ok(())
    }
}

fn overwrite(device: &mut dyn Device, ids: &[BufferId], arrays: &[Array]) -> Result<(), Stop> {
    for (&id, array) in ids.iter().zip(arrays) {
        device.write(id, 0, array.as_bytes())?;
    }
    Ok(())
}

fn find_family(name: &str) -> Result<&'static Family, Stop> {
    kernels::family(name).ok_or_else(|| Stop::failed(format!("there is no family {name}")))
}

/// Nothing to launch: the host's finish of no partial results is the answer.
fn answer_empty(family: &Family, case: &Case, outcome: &mut Outcome) -> Result<(), Stop> {
    outcome.result = single(&family.problem.finish(Array::zeros(case.dtype, 0), &[]));
    outcome.status = Status::Ok;
    outcome.reason = "no elements: answered without a launch".into();
    Ok(())
}

fn make_inputs(family: &Family, case: &Case, fill: Fill, seed: u64) -> Vec<Array> {
    let lens = family.problem.inputs(case.shape);
    (0..).zip(lens).map(|(stream, len)| data::generate(fill, case.dtype, seed, stream, 0, len)).collect()
}

fn tails(plan: &Plan, inputs: &[Array]) -> Vec<Array> {
    plan.host_tail.map_or_else(Vec::new, |start| inputs.iter().map(|a| a.tail(start as usize)).collect())
}

/// The one result that exact data has, in the element type.
fn exact_result(reference: &Reference, dtype: Dtype) -> Array {
    match (&reference.exact, dtype) {
        (Some(exact), _) => exact.clone(),
        (None, Dtype::F32) => Array::F32(vec![reference.value as f32]),
        (None, _) => Array::F64(vec![reference.value]),
    }
}

fn judge_baseline(baseline: &Baseline, data: &Data, case: &Case) -> Result<Verdict, Stop> {
    let got = (baseline.run)(&data.host);
    let depth = (baseline.depth)(case.shape.n, rayon::current_num_threads());
    demand(check::check_result(&got, &data.reference, depth), "on the CPU")
}

/// The value of an array of one element.
fn single(array: &Array) -> Option<f64> {
    if array.len() != 1 {
        return None;
    }
    Some(match array {
        Array::F32(v) => f64::from(v[0]),
        Array::F64(v) => v[0],
        Array::I32(v) => f64::from(v[0]),
        Array::I64(v) => v[0] as f64,
    })
}

fn demand(verdict: Verdict, when: &str) -> Result<Verdict, Stop> {
    if verdict.ok { Ok(verdict) } else { Err(wrong(format!("{} ({when})", verdict.why.unwrap_or_default()))) }
}

fn wrong(reason: String) -> Stop {
    Stop { status: Status::WrongResult, reason }
}

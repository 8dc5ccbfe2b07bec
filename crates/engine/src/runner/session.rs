//! One device, the data of the case at hand, and the steps that every case goes through.

use super::buffers::Fence;
use super::clock::{Gauge, sampled};
use super::inputs::{Data, ReadyCase, choices, demand, exactly, make_inputs, single};
use crate::device::{BuildUnit, Device, ProgramId, TriedBuild, generation, instructions};
use gpulab_kernels::exchange::exchange;
use gpulab_kernels::occupancy;
use gpulab_kernels::{
    Baseline, FAMILIES, Family, Fold, Form, Registry, Rung, Sources, used_defines,
};
use gpulab_model::check;
use gpulab_model::data::{Array, Dtype, Fill};
use gpulab_model::outcome::{
    Clock, Inspected, LaunchedOnce, Measured, Outcome, ProgramBinary, Sample, Settings, Status,
    Stop,
};
use gpulab_model::plan::{Arg, Case, Plan, Reference, Refusal, TOLD, WorkGroup};
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;
use std::time::Instant;

/// Runs cases on one device.
pub struct Session {
    pub(super) device: Box<dyn Device>,
    pub registry: Arc<Registry>,
    pub(super) sources: Sources,
    /// Real inputs that take the place of seeded random ones.
    pub(super) files: Option<Vec<Array>>,
    /// In place of the problem's own random numbers.
    pub fill: Option<Fill>,
    pub may_be_wrong: bool,
    pub(super) data: Option<Data>,
    /// Exact data that the last rung of the same problem was checked over, with their seeds; their copies on the device are
    /// gone.
    pub(super) exact: Vec<(Fill, u64, Data)>,
    pub(super) scrub: Option<ProgramId>,
    /// None before the first timing, and under a simulator.
    pub(super) gauge: Option<Gauge>,
    /// The seed of data that no kernel can know, as the operating system drew it.
    pub second_seed: u64,
    /// Whether a launch of the case at hand has ended well.
    pub(super) launched: bool,
    /// Places of the launches that a flag left out of the last checked run.
    pub(super) left_out: Vec<usize>,
    /// The last cases that were found right, newest last.
    verified: VecDeque<(Case, Measured)>,
}

const MOST_VERIFIED: usize = 128;

impl Session {
    /// A session on a device; `files` replace the random inputs of every case.
    pub fn new(device: Box<dyn Device>, sources: Sources, files: Option<Vec<Array>>) -> Session {
        Session {
            device,
            registry: Arc::default(),
            sources,
            files,
            fill: None,
            may_be_wrong: false,
            data: None,
            exact: Vec::new(),
            scrub: None,
            gauge: None,
            // Few digits, to be copied; far more seeds than a kernel could hold data of.
            second_seed: RandomState::new().build_hasher().finish() >> 32,
            launched: false,
            left_out: Vec::new(),
            verified: VecDeque::new(),
        }
    }

    /// From here on, these take the place of random inputs; `None` for random ones again.
    pub fn replace_inputs(&mut self, files: Option<Vec<Array>>) {
        self.data = None;
        self.exact.clear();
        self.verified.clear();
        self.files = files;
    }

    pub fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// Makes a case's inputs and asks what is right for them, which the next cases need as well. Who says it, in a reader's own
    /// family.
    pub fn ask_reference(&mut self, case: &Case) -> Result<Option<String>, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        self.load_host(case, family)?;
        self.demand_answer()?;
        Ok(family.described().map(|described| described.oracle()))
    }

    /// Somebody must say what is right.
    fn demand_answer(&self) -> Result<(), Stop> {
        match self.data.as_ref().and_then(|data| data.reference()) {
            Some(Reference::Unknown(why)) => Err(Stop::failed(why.clone())),
            Some(Reference::Parts(parts)) if parts.is_empty() => Err(Stop::failed(
                r#"the file does not say what is right: write it, as in check = "numpy: C = A + B" (count, draw and asm need none)"#,
            )),
            _ => Ok(()),
        }
    }

    /// Verifies, times and verifies a rung.
    pub fn run(&mut self, case: &Case, settings: &Settings) -> Outcome {
        self.run_case(case, settings, None)
    }

    /// Times a rung once more and looks at its last result, without the verification before it. A case
    /// that this session has not verified, or has forgotten, is [`Session::run`].
    pub fn run_again(&mut self, case: &Case, settings: &Settings) -> Outcome {
        let again = self
            .verified
            .iter()
            .find(|(known, _)| known == case)
            .map(|(_, judged)| judged.clone());
        self.run_case(case, settings, again)
    }

    fn run_case(&mut self, case: &Case, settings: &Settings, again: Option<Measured>) -> Outcome {
        if let Some(exchange) = exchange(&case.family) {
            return self.exchange(exchange, case, settings);
        }
        self.verified.retain(|(known, _)| known != case);
        self.launched = again.is_some();
        self.prepared(case, settings.clock, |session, job, outcome| {
            session.verify_and_time(&ReadyCase { again, ..job }, settings, outcome)
        })
    }

    /// Prepares a case, has `go` measure it, and ends it. No elements are an answer too, without a launch.
    fn prepared(
        &mut self,
        case: &Case,
        clock: Clock,
        go: impl FnOnce(&mut Session, ReadyCase<'_>, &mut Outcome) -> Result<Measured, Stop>,
    ) -> Outcome {
        let mut outcome = Outcome::pending(case, clock);
        let registry = self.registry.clone();
        let end = registry.find(&case.family).and_then(|family| {
            outcome.params = choices(family, case);
            if case.shape.n == 0 || case.shape.m == 0 {
                return Ok(nothing(family, case, clock));
            }
            let job = self.prepare(case, family, &mut outcome)?;
            self.demand_answer()?;
            go(self, job, &mut outcome)
        });
        self.device.free_gone();
        outcome.ended(end.map_err(|stop| self.stopped(stop)))
    }

    /// Whether this session found a case right before, as far as it remembers.
    pub(super) fn has_verified(&self, case: &Case) -> bool {
        self.verified.iter().any(|(known, _)| known == case)
    }

    /// Notes that a case was found right.
    pub(super) fn remember(&mut self, case: &Case, judged: Measured) {
        self.verified.push_back((case.clone(), judged));
        if self.verified.len() > MOST_VERIFIED {
            self.verified.pop_front();
        }
    }

    /// Verifies a rung without timing it, over more kinds of data than [`Session::run`] does.
    pub fn verify(&mut self, case: &Case) -> Outcome {
        self.launched = false;
        self.prepared(case, Clock::Event, |session, job, _| {
            session.verify_companions(&job)?;
            session.verify_thoroughly(&job)
        })
    }

    /// As [`Session::verify`], at the case's own size alone.
    pub(crate) fn verify_without_companions(&mut self, case: &Case) -> Outcome {
        self.launched = false;
        self.prepared(case, Clock::Event, |session, job, _| {
            session.verify_thoroughly(&job)
        })
    }

    /// Ends a case that did not come to its end. What it left on the device may not be the data any more, unless nothing was
    /// run: the next case uploads them anew.
    pub(super) fn stopped(&mut self, stop: Stop) -> Stop {
        let stop = stop.after(self.launched);
        if stop.status != Status::Skipped
            && let Some(data) = &mut self.data
        {
            data.device.clear();
        }
        stop
    }

    /// Makes the plan, the program and the data.
    pub(super) fn prepare<'a>(
        &mut self,
        case: &'a Case,
        family: &'a Family,
        outcome: &mut Outcome,
    ) -> Result<ReadyCase<'a>, Stop> {
        let (rung, plan) = self.plan(family, case)?;
        (outcome.wg, outcome.params, outcome.launches) =
            (plan.wg, plan.params.clone(), plan.passes.len() as u64);
        demand_bound(family, case, &plan)?;
        let cost = family.problem.cost(case);
        (outcome.bytes, outcome.ops, outcome.working_set) = (cost.bytes, cost.ops, plan.bytes());
        let started = Instant::now();
        let unit = self.unit(rung, &plan)?;
        let program = self.device.build(&unit)?;
        outcome.spent.build = started.elapsed().as_secs_f64();
        let job = ReadyCase {
            case,
            family,
            plan,
            program,
            second_seed: self.second_seed,
            again: None,
        };
        self.load(&job)?;
        outcome.spent.data = started.elapsed().as_secs_f64() - outcome.spent.build;
        Ok(job)
    }

    /// Finds the rung and makes its plan; refuses what would not fit the device.
    pub(super) fn plan<'a>(
        &self,
        family: &'a Family,
        case: &Case,
    ) -> Result<(&'a Rung, Plan), Stop> {
        let Some(rung) = family.rung(&case.variant) else {
            return Err(Stop::failed(format!(
                "{} has no rung {}",
                family.name, case.variant
            )));
        };
        let target = &self.device.info().target;
        if case.dtype == Dtype::F64 && !target.fp64 {
            return Err(Refusal::Feature("this device has no fp64".into()).into());
        }
        let plan = family.plan(rung, case, target)?;
        plan.check_local(target)?;
        if plan.bytes() > target.global_mem {
            let part = target.global_mem as f64 / plan.bytes() as f64;
            let side = if family.form == Form::Vector {
                part
            } else {
                part.sqrt()
            };
            return Err(Refusal::Memory(format!(
                "needs {} GiB of global memory, this device has {} GiB: about -n {:.0} fits",
                gib(plan.bytes()),
                gib(target.global_mem),
                case.shape.n as f64 * side
            ))
            .into());
        }
        Ok((rung, plan))
    }

    /// Plans and builds a case.
    pub(super) fn ready<'a>(
        &mut self,
        family: &'a Family,
        case: &'a Case,
    ) -> Result<ReadyCase<'a>, Stop> {
        let (rung, plan) = self.plan(family, case)?;
        let unit = self.unit(rung, &plan)?;
        let program = self.device.build(&unit)?;
        Ok(ReadyCase {
            case,
            family,
            plan,
            program,
            second_seed: self.second_seed,
            again: None,
        })
    }

    fn unit(&self, rung: &Rung, plan: &Plan) -> Result<BuildUnit, Stop> {
        let mut kernels: Vec<String> = plan.passes.iter().map(|p| p.kernel.clone()).collect();
        kernels.dedup();
        let text = self.sources.for_plan(rung, plan)?;
        let mut defines = used_defines(&plan.defines, &text);
        // Oclgrind has no later version.
        let later = defines.iter_mut().find(|(name, _)| name == "-cl-std=CL3.0");
        if let Some((option, _)) = later.filter(|_| self.device.info().is_simulator()) {
            "-cl-std=CL2.0".clone_into(option);
        }
        Ok(BuildUnit {
            path: rung.path.to_string(),
            text,
            defines,
            kernels,
        })
    }

    /// Makes the inputs and their reference, unless the last case had the same.
    pub(super) fn load(&mut self, job: &ReadyCase<'_>) -> Result<(), Stop> {
        self.load_host(job.case, job.family)?;
        let Some(data) = &mut self.data else {
            return Ok(());
        };
        if let Some(Reference::Unknown(why)) = data.reference() {
            return Err(Stop::failed(why.clone()));
        }
        if data.device.is_empty() {
            let fence = Fence::of(&*self.device, job.family, job.case);
            data.device = fence.upload(&mut *self.device, &data.host)?;
        }
        Ok(())
    }

    /// Puts these data into their buffers, in place of others of their size.
    pub(super) fn overwrite(&mut self, data: &mut Data) -> Result<(), Stop> {
        for (fenced, array) in data.device.iter().zip(&data.host) {
            self.device.write(fenced.id, 0, array.as_bytes())?;
        }
        Ok(())
    }

    pub(super) fn load_host(&mut self, case: &Case, family: &Family) -> Result<(), Stop> {
        if self
            .data
            .as_ref()
            .is_some_and(|data| data.is_of(family, case))
        {
            return Ok(());
        }
        self.exact.clear();
        let data = match self.data.take() {
            // What is asked of them may differ, and then only the answer is another.
            Some(data) if data.is_made_as(family, case) => data.judged_for(family, case),
            known => {
                drop(known);
                let mut data = Data::of(family, case, self.real_inputs(family, case));
                data.is_random = self.files.is_none();
                data
            }
        };
        self.data = Some(data);
        Ok(())
    }

    /// The data that are timed over: the files', or seeded random ones.
    pub(super) fn real_inputs(&self, family: &Family, case: &Case) -> Vec<Array> {
        match &self.files {
            Some(files) if FAMILIES.iter().any(|f| f.name == family.name) => files.clone(),
            _ => {
                let fill = self.fill.unwrap_or_else(|| family.problem.fill(case));
                make_inputs(family, case, fill, case.seed)
            }
        }
    }

    /// Launches a case's kernels once each, over the data that are timed, and checks the result. No other kernel runs
    /// between or behind them; before them that of a reader's family which says what is right may.
    pub fn launch_once(&mut self, case: &Case) -> Result<LaunchedOnce, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        if case.shape.n == 0 || case.shape.m == 0 {
            return Err(Stop::new(
                Status::Skipped,
                "there are no elements, and so no launch",
            ));
        }
        let mut outcome = Outcome::pending(case, Clock::Event);
        let job = self.prepare(case, family, &mut outcome)?;
        self.launched = false;
        let checked =
            self.with_data(|session, data| session.verify_once(&job, data, "launched once"));
        let wrong = match checked {
            Err(stop) if self.may_be_wrong && stop.status == Status::WrongResult => {
                Some(stop.reason)
            }
            checked => checked.map(|_| None).map_err(|stop| self.stopped(stop))?,
        };
        let plan = &job.plan;
        let ran = plan
            .passes
            .iter()
            .enumerate()
            .filter(|(place, _)| !self.left_out.contains(place));
        let launches = ran
            .map(|(_, pass)| (pass.kernel.clone(), pass.timed))
            .collect();
        let params = choices(family, case)
            .into_iter()
            .chain(plan.params.clone())
            .collect();
        Ok(LaunchedOnce {
            wg: plan.wg,
            params,
            launches,
            wrong,
        })
    }

    /// Notes what the driver tells of a case's last kernel, if the case asks for it.
    pub(super) fn note_build(&mut self, case: &Case, measured: &mut Measured) -> Result<(), Stop> {
        if !case.params.contains_key(TOLD) {
            return Ok(());
        }
        let Some(kernel) = self.inspect(case)?.pop() else {
            return Ok(());
        };
        measured.registers = kernel.registers;
        measured.spilled = kernel
            .spills
            .map(|[stores, loads]| stores.saturating_add(loads));
        if let Some(registers) = kernel.registers
            && let Some(unit) =
                generation(self.device.info()).and_then(|name| occupancy::unit(&name).ok())
            && let Ok(resident) = unit.resident(registers, kernel.local, kernel.wg)
        {
            measured.occupancy = Some(100.0 * resident.warps as f64 / resident.most_warps as f64);
        }
        Ok(())
    }

    /// Plans and builds a rung: the program as the driver gives it. Nothing runs.
    pub fn binary(&mut self, case: &Case) -> Result<ProgramBinary, Stop> {
        let registry = self.registry.clone();
        let planned = self.plan(registry.find(&case.family)?, case)?;
        let unit = self.unit(planned.0, &planned.1)?;
        let mut binary = self.device.binary(&unit)?;
        let bytes = binary.len() as u64;
        let code = instructions(&binary, &unit.kernels);
        binary.truncate(
            binary
                .iter()
                .rposition(|byte| *byte != 0)
                .map_or(0, |last| last + 1),
        );
        let text = String::from_utf8(binary)
            .ok()
            .filter(|text| !text.contains('\0'));
        Ok(ProgramBinary { text, bytes, code })
    }

    /// Builds a text twice; nothing of it runs.
    pub fn try_build(&mut self, unit: &BuildUnit) -> Result<TriedBuild, Stop> {
        Ok(self.device.try_build(unit)?)
    }

    /// Plans and builds a rung, and looks at each of its kernels. Nothing runs, and later runs are built as ever.
    pub fn inspect(&mut self, case: &Case) -> Result<Vec<Inspected>, Stop> {
        let registry = self.registry.clone();
        let (rung, plan) = self.plan(registry.find(&case.family)?, case)?;
        let unit = self.unit(rung, &plan)?;
        let told = self.device.inspect(&unit)?;
        let mut all: Vec<Inspected> = Vec::new();
        for pass in &plan.passes {
            let found = unit
                .kernels
                .iter()
                .zip(&told)
                .find(|(name, _)| **name == pass.kernel);
            let told = found.map(|(_, told)| told.clone()).unwrap_or_default();
            let given = pass.args.iter().map(|arg| {
                if let Arg::Local(bytes) = arg {
                    *bytes as u64
                } else {
                    0
                }
            });
            let given = given.fold(0, u64::saturating_add);
            let local = told
                .own_local
                .map_or(plan.local_bytes, |own| own.saturating_add(given));
            let wg = pass.local.iter().product::<usize>() as u64;
            let inspected = Inspected {
                kernel: pass.kernel.clone(),
                local,
                wg,
                ..told
            };
            if !all.contains(&inspected) {
                all.push(inspected);
            }
        }
        Ok(all)
    }

    pub fn baseline(&mut self, case: &Case, settings: &Settings) -> Outcome {
        let mut outcome = Outcome::pending(case, Clock::Wall);
        let end = self.try_baseline(case, settings, &mut outcome);
        outcome.ended(end)
    }

    fn try_baseline(
        &mut self,
        case: &Case,
        settings: &Settings,
        outcome: &mut Outcome,
    ) -> Result<Measured, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        let Some(baseline) = family
            .problem
            .baselines()
            .iter()
            .find(|b| b.name == case.variant)
        else {
            return Err(Stop::failed(format!(
                "{} has no CPU baseline {}",
                family.name, case.variant
            )));
        };
        if case.shape.n == 0 || case.shape.m == 0 {
            outcome.params = choices(family, case);
            return Ok(nothing(family, case, Clock::Wall));
        }
        if let Some(why) = family.problem.spared(baseline, case.shape) {
            return Err(Refusal::Size(why).into());
        }
        let elements: usize = family
            .problem
            .inputs(case.shape, &case.params)
            .into_iter()
            .sum();
        outcome.working_set = elements as u64 * case.dtype.size() as u64;
        if outcome.working_set > MOST_BYTES {
            return Err(Refusal::Size(spared(outcome.working_set)).into());
        }
        self.load_host(case, family)?;
        let Some(data) = &self.data else {
            return Err(Stop::failed("the inputs are gone"));
        };
        let cost = family.problem.cost(case);
        (outcome.bytes, outcome.ops) = (cost.bytes, cost.ops);
        (outcome.wg, outcome.params) = (WorkGroup::linear(1), choices(family, case));
        if let Some(fold) = family.problem.fold() {
            verify_baseline(baseline, fold, family, case)?;
        }
        let inputs = &data.host;
        let mut last = check::poisoned(case.dtype, family.problem.result(case.shape, &case.params));
        let (samples, why) = sampled(settings, &mut |_| {
            let started = Instant::now();
            (baseline.run)(
                case.shape,
                &case.params,
                std::hint::black_box(inputs),
                &mut last,
            );
            Ok(Sample {
                event: None,
                wall: started.elapsed().as_secs_f64(),
            })
        })?;
        let depth = (baseline.depth)(case.shape.n, rayon::current_num_threads());
        let judged = data.judge(&last, family, case, depth, "on the CPU")?;
        Ok(Measured {
            samples,
            stopped_by: why.into(),
            clock: Clock::Wall,
            ..judged
        })
    }
}

/// Most bytes of inputs that a baseline is timed over: more take many seconds to make, and tell nothing new of a CPU.
const MOST_BYTES: u64 = 4 << 30;

fn spared(bytes: u64) -> String {
    format!(
        "inputs of {} GiB: choose a size with at most {} GiB to time the CPU",
        gib(bytes),
        gib(MOST_BYTES)
    )
}

fn verify_baseline(
    baseline: &Baseline,
    fold: &dyn Fold,
    family: &Family,
    case: &Case,
) -> Result<(), Stop> {
    let inputs = make_inputs(family, case, fold.exact_fill(case), !case.seed);
    let want = exactly(fold.reference(case, &inputs), case.dtype);
    let mut got = check::poisoned(case.dtype, fold.result(case.shape, &case.params));
    (baseline.run)(case.shape, &case.params, &inputs, &mut got);
    demand(
        check::check_result(&got, &want, 0),
        "over exact data, on the CPU",
    )
    .map(|_| ())
}

/// Refuses floats that are rounded so often that the bound of their error would hide mistakes.
fn demand_bound(family: &Family, case: &Case, plan: &Plan) -> Result<(), Refusal> {
    if family.problem.fold().is_none()
        || check::gamma(plan.depth, case.dtype.unit_roundoff()).is_some()
    {
        return Ok(());
    }
    let Plan { depth, .. } = plan;
    let what = format!(
        "{depth} successive roundings of {} leave no bound that shows mistakes",
        case.dtype
    );
    Err(Refusal::Size(format!(
        "{what}: choose more work-items, a smaller size or another --dtype"
    )))
}

fn gib(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / (1u64 << 30) as f64)
}

/// Nothing to launch: the host's finish of no partial results is the answer.
pub(crate) fn nothing(family: &Family, case: &Case, clock: Clock) -> Measured {
    let answer = single(
        &family
            .problem
            .finish(case, Array::zeros(case.dtype, 0), &[]),
    );
    let note = "no elements: answered without a launch".into();
    Measured {
        note,
        clock,
        result: answer,
        ..Measured::equal()
    }
}

//! Is a rung's result right? Poisoned outputs, guard zones, scrubbed local memory, exact and real data.

use super::buffers::{BoundPlan, Fence, Fenced};
use super::outcome::{Number, Status, Stop};
use super::session::{Data, ReadyCase, Session, make_inputs, single};
use crate::check::{self, Verdict};
use crate::data::{self, Array, Change, Dtype, Fill, Shape};
use crate::device::{BuildUnit, Device};
use crate::kernels::{Changed, Family, Spot};
use crate::plan::{Arg, Case, Launch, Movement, Plan, Reference, Role};

/// Most bytes of exact data that are kept for the next rung, little beside any machine's memory.
const MOST_KEPT: usize = 256 << 20;

impl Session {
    /// Checks a rung over exact data of four seeds, all ones and values that decide by themselves, then over the real data.
    /// Where the results over these are exact, they show every mistake.
    pub(super) fn verify_thoroughly(&mut self, job: &ReadyCase<'_>) -> Result<Judged, Stop> {
        self.verify_companions(job)?;
        if !job.family.problem.is_exact(job.case) {
            self.verify_exact(job, &[timed_exact_data(job), exact_data(job)].concat())?;
        }
        let judged = self.verify_real(job, "over real data")?;
        // Timing ends with this, too.
        self.with_data(|session, data| {
            session.with_bound(job, &data.device, |session, bound| {
                session.run_poisoned(job, bound)?;
                demand_inputs(&mut *session.device, job, bound, data)
            })
        })?;
        Ok(judged)
    }

    /// Checks the same kernels over what the case's own data cannot show. Not under a simulator, which looks at accesses:
    /// the case's own are the same.
    pub(super) fn verify_companions(&mut self, job: &ReadyCase<'_>) -> Result<(), Stop> {
        if self.device.info().is_simulator() {
            return Ok(());
        }
        let problem = job.family.problem;
        for case in problem.companions(job.case, &job.plan) {
            let fill = if problem.is_exact(&case) { problem.fill(&case) } else { problem.exact_fill(&case) };
            let when = companion_of(job, &case);
            let data = exact_data_of(job.family, &case, fill, case.seed);
            self.with_companion(job, &case, data, |session, companion, data| {
                session.verify_once(companion, data, &when).map(drop)
            })?;
        }
        Ok(())
    }

    /// Has another case of the job's rung ready, with its data on the device, for as long as `go` runs.
    fn with_companion(
        &mut self,
        job: &ReadyCase<'_>,
        case: &Case,
        mut data: Data,
        go: impl FnOnce(&mut Session, &ReadyCase<'_>, &mut Data) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let (rung, plan) = self.plan(job.family, case)?;
        let program = self.build(rung, &plan)?;
        let companion = ReadyCase { case, family: job.family, plan, program, again: None };
        let fence = Fence::of(&*self.device, job.family, case);
        let uploaded = fence.upload(&mut *self.device, &data.host);
        let gone = uploaded.map_err(Stop::from).and_then(|device| {
            data.device = device;
            go(self, &companion, &mut data)
        });
        data.unload(&mut *self.device);
        gone
    }

    /// Checks one run over the real data.
    pub(super) fn verify_real(&mut self, job: &ReadyCase<'_>, when: &str) -> Result<Judged, Stop> {
        self.with_data(|session, data| session.verify_over(job, data, when))
    }

    /// Lends the timed data out.
    pub(super) fn with_data<T>(
        &mut self,
        go: impl FnOnce(&mut Session, &mut Data) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let Some(mut data) = self.data.take() else { return Err(Stop::failed("the inputs are gone")) };
        let gone = go(self, &mut data);
        self.data = Some(data);
        gone
    }

    /// Runs once over each of these data, whose results are exact in every order, and over single values. The first take the
    /// place of the timed data for that long, here and on the device, so that no more than both is ever held.
    pub(super) fn verify_exact(&mut self, job: &ReadyCase<'_>, fills: &[(Fill, u64)]) -> Result<(), Stop> {
        let Some(mut timed) = self.data.take() else { return Err(Stop::failed("the inputs are gone")) };
        let is_small = timed.bytes() <= MOST_KEPT / 2;
        if !is_small {
            timed.host.clear();
        }
        let verified = fills.iter().enumerate().try_for_each(|(index, &(fill, seed))| {
            let mut data = self.take_exact(job, fill, seed);
            data.device.clone_from(&timed.device);
            overwrite(&mut *self.device, &data)?;
            self.verify_over_exact(job, &mut data, fill, index == 0)?;
            data.device.clear();
            self.keep_exact(fill, seed, data);
            Ok(())
        });
        if !is_small {
            timed.host = self.real_inputs(job.family, job.case);
        }
        // Kept only if it could be put back: else the next case makes it anew.
        match overwrite(&mut *self.device, &timed) {
            Ok(()) => self.data = Some(timed),
            Err(stop) => {
                timed.unload(&mut *self.device);
                return verified.and(Err(stop));
            }
        }
        verified?;
        self.verify_lone(job)
    }

    /// These exact data of the job: those that another rung was checked over, or new ones.
    fn take_exact(&mut self, job: &ReadyCase<'_>, fill: Fill, seed: u64) -> Data {
        // The case's own seed does not matter to them, but `seed` follows from it.
        let known = self.exact.iter().position(|(f, s, data)| (*f, *s) == (fill, seed) && data.is_of(job));
        known.map_or_else(|| exact_data_of(job.family, job.case, fill, seed), |place| self.exact.swap_remove(place).2)
    }

    /// Keeps exact data for the next rung, if they are few.
    fn keep_exact(&mut self, fill: Fill, seed: u64, data: Data) {
        let kept: usize = self.exact.iter().map(|(_, _, data)| data.bytes()).sum();
        if kept + data.bytes() <= MOST_KEPT {
            self.exact.push((fill, seed, data));
        }
    }

    /// Checks runs over exact data, which are on the device; over the first of them also changes of single elements.
    fn verify_over_exact(
        &mut self,
        job: &ReadyCase<'_>,
        data: &mut Data,
        fill: Fill,
        is_first: bool,
    ) -> Result<(), Stop> {
        let when = format!("over {fill}");
        match fill {
            // What changes would not be exact.
            Fill::Scaled(_) => self.verify_once(job, data, &when).map(drop),
            _ if is_first => self.verify_over(job, data, &when).and_then(|_| self.verify_alone(job, data, &when)),
            _ => self.verify_over(job, data, &when).map(drop),
        }
    }

    /// Checks one run over each of some values that decide by themselves, at places where rungs go wrong: each bit of them
    /// counts. Over fewer elements than the case has, if it has many: that all of them are read is seen over other data. Not
    /// under a simulator, to which changed data are uninitialised.
    fn verify_lone(&mut self, job: &ReadyCase<'_>) -> Result<(), Stop> {
        let problem = job.family.problem;
        let lone = problem.lone(job.case, job.case.seed).filter(|_| !self.device.info().is_simulator());
        let Some(lone) = lone else { return Ok(()) };
        let (n, few) = (job.case.shape.n, few_elements(job));
        let shape = Shape { n: if n < 2 * few { n } else { few + n % few }, ..job.case.shape };
        let case = Case { shape, params: job.plan.params.clone(), ..job.case.clone() };
        let lens = problem.inputs(shape, &case.params);
        let host = lone.neutral.iter().zip(lens).map(|(one, len)| one.repeated(len)).collect();
        self.with_companion(job, &case, Data::unjudged(job.family, &case, host), |session, job, data| {
            let places: Vec<usize> = places(job, data).into_iter().map(|spot| spot.at).collect();
            let (Some(&first), Some(&last)) = (places.first(), places.last()) else { return Ok(()) };
            let count = places.len().max(lone.values.len());
            // Of one work-item, and of the first and the last.
            let together = [[first, (first + 1).min(last)], [first, last]].into_iter().filter(|[a, b]| a != b);
            let together: Vec<[usize; 2]> = together.collect();
            session.with_bound(job, &data.device.clone(), |session, bound| {
                for (&at, values) in places.iter().cycle().zip(lone.values.iter().cycle()).take(count) {
                    session.verify_few(job, bound, data, &[(at, values)])?;
                }
                for ([a, b], [one, other]) in together.iter().flat_map(|at| lone.pairs.iter().map(move |two| (at, two)))
                {
                    session.verify_few(job, bound, data, &[(*a, one), (*b, other)])?;
                }
                demand_guards(&mut *session.device, job, bound)
            })
        })
    }

    /// Checks one run in which only the elements at these places count, which are these: each place once, with an element of
    /// each input. What was written beside a buffer stays there: the caller looks at the guard zones after the last of many.
    fn verify_few(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &mut Data,
        few: &[(usize, &Vec<Array>)],
    ) -> Result<(), Stop> {
        let change = |index: usize, (input, value): (usize, &Array)| Change { input, index, value: value.clone() };
        let changes = few.iter().flat_map(|(at, values)| values.iter().enumerate().map(|value| change(*at, value)));
        let changes: Vec<Change> = changes.collect();
        let nothing = job.family.problem.inputs(Shape { n: 0, ..job.case.shape }, &job.case.params);
        let counting = (0..nothing.len()).map(|input| {
            let none = Array::zeros(job.case.dtype, 0);
            few.iter().filter_map(|(_, values)| values.get(input)).fold(none, |all, value| all.followed_by(value))
        });
        let reference = job.family.problem.reference(job.case, &counting.collect::<Vec<_>>());
        let before = data.reference.replace(exactly(reference, job.case.dtype));
        bound.change(&mut *self.device, &job.plan, &changes)?;
        self.run_poisoned(job, bound)?;
        let undo: Vec<Change> = changes.iter().map(|change| change.apply(&mut data.host)).collect();
        let places: Vec<String> = few.iter().map(|(at, _)| at.to_string()).collect();
        let when = format!("where only element {} counts", places.join(" and "));
        let got = completed(&mut *self.device, job, bound, &data.host);
        let judged = got.and_then(|got| data.judge(&got, job.family, job.case, job.plan.depth, &when));
        undo.iter().for_each(|change| _ = change.apply(&mut data.host));
        bound.change(&mut *self.device, &job.plan, &undo)?;
        data.reference = before;
        judged.map(drop)
    }

    /// Checks one run over these data with each infinity and NaN in them, beside which no number counts. Where numbers are
    /// added alone, and no sum of them can be too large.
    fn verify_not_finite(&mut self, job: &ReadyCase<'_>, bound: &BoundPlan, data: &mut Data) -> Result<(), Stop> {
        let largest = if job.case.dtype == Dtype::F32 { f64::from(f32::MAX) } else { f64::MAX };
        let is_finite = matches!(&data.reference, Some(Reference::Rounded(sum)) if sum.magnitude < largest);
        if !is_finite || self.device.info().is_simulator() {
            return Ok(());
        }
        for (value, spot) in data::not_finite(job.case.dtype).into_iter().zip(places(job, data).into_iter().rev()) {
            let others = data.host.iter().skip(1).filter_map(|input| input.at(spot.at));
            let values: Vec<Array> = std::iter::once(value).chain(others).collect();
            self.verify_few(job, bound, data, &[(spot.at, &values)])?;
        }
        demand_guards(&mut *self.device, job, bound)
    }

    /// Checks one run over these data, and one after some of them were changed.
    fn verify_over(&mut self, job: &ReadyCase<'_>, data: &mut Data, when: &str) -> Result<Judged, Stop> {
        self.with_bound(job, &data.device.clone(), |session, bound| {
            let judged = session.verify_bound(job, bound, data, when)?;
            session.verify_changed(job, bound, data, &places(job, data), when)?;
            session.verify_not_finite(job, bound, data)?;
            Ok(judged)
        })
    }

    /// Checks one run over these data.
    fn verify_once(&mut self, job: &ReadyCase<'_>, data: &Data, when: &str) -> Result<Judged, Stop> {
        self.with_bound(job, &data.device, |session, bound| session.verify_bound(job, bound, data, when))
    }

    fn verify_bound(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &Data,
        when: &str,
    ) -> Result<Judged, Stop> {
        self.run_poisoned(job, bound)?;
        let judged = self.judge(job, bound, data, when)?;
        demand_inputs(&mut *self.device, job, bound, data)?;
        Ok(judged)
    }

    /// Has these inputs bound, with buffers for all else, for as long as `go` runs.
    pub(super) fn with_bound<T>(
        &mut self,
        job: &ReadyCase<'_>,
        inputs: &[Fenced],
        go: impl FnOnce(&mut Session, &BoundPlan) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let fence = Fence::of(&*self.device, job.family, job.case);
        let bound = BoundPlan::new(&mut *self.device, fence, &job.plan, inputs)?;
        let gone = go(self, &bound);
        bound.free(&mut *self.device);
        gone
    }

    /// Checks one run after a change of the first element alone, one of the last, and one of an element in each of some equal
    /// parts, where one can decide.
    fn verify_alone(&mut self, job: &ReadyCase<'_>, data: &mut Data, when: &str) -> Result<(), Stop> {
        if !job.family.problem.is_decided_by_one(job.case) {
            return Ok(());
        }
        self.with_bound(job, &data.device.clone(), |session, bound| {
            let spots = places(job, data);
            let ends = [spots.first(), spots.last()].into_iter().flatten().copied();
            let alone: Vec<Spot> = ends.chain(spread(job, data)).collect();
            alone.iter().try_for_each(|&spot| session.verify_changed(job, bound, data, &[spot], when))
        })
    }

    /// Checks one run over changed data, into outputs that hold in part the right results of the data before, in part
    /// anything: a kernel that only works where it finds poison leaves some of that. Not under a simulator, which finds what
    /// was not written itself.
    fn verify_changed(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &mut Data,
        spots: &[Spot],
        when: &str,
    ) -> Result<(), Stop> {
        if self.device.info().is_simulator() {
            return Ok(());
        }
        let mut changes: Vec<Change> = Vec::new();
        for change in spots.iter().flat_map(|&spot| data.deciding(&*self.device, job, spot)) {
            if changes.iter().all(|c| (c.input, c.index) != (change.input, change.index)) {
                changes.push(change);
            }
        }
        bound.soil(&mut *self.device, &job.plan, job.case.seed)?;
        bound.change(&mut *self.device, &job.plan, &changes)?;
        self.device.run(job.program, &bound.launches(&job.plan))?;
        let when = format!("{when}, after a change of the data");
        let (judged, undo) = data.changed(job, &changes, |data| self.judge(job, bound, data, &when));
        bound.change(&mut *self.device, &job.plan, &undo)?;
        judged.map(drop)
    }

    /// One run into poisoned outputs, over scrubbed local memory.
    pub(super) fn run_poisoned(&mut self, job: &ReadyCase<'_>, bound: &BoundPlan) -> Result<(), Stop> {
        bound.poison(&mut *self.device, &job.plan)?;
        self.scrub_local()?;
        self.device.run(job.program, &bound.launches(&job.plan))?;
        self.launched = true;
        Ok(())
    }

    /// Fills every compute unit's local memory with NaN; not under Oclgrind, which finds such reads itself.
    fn scrub_local(&mut self) -> Result<(), Stop> {
        if self.device.info().is_simulator() {
            return Ok(());
        }
        let program = match self.scrub {
            Some(program) => program,
            None => {
                let text = self.sources.assemble("runner/scrub.cl")?;
                let kernels = vec!["scrub".to_owned()];
                self.device.build(&BuildUnit { path: "runner/scrub.cl".into(), text, defines: Vec::new(), kernels })?
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
    pub(super) fn result(&mut self, job: &ReadyCase<'_>, bound: &BoundPlan, inputs: &[Array]) -> Result<Array, Stop> {
        finished(&mut *self.device, job, bound, inputs)
    }

    /// Checks the output over these data against its reference.
    pub(super) fn judge(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &Data,
        when: &str,
    ) -> Result<Judged, Stop> {
        judge(&mut *self.device, job, bound, data, when)
    }
}

/// What a run left: its output, if all of it was written and nothing beside it, completed on the host.
fn finished(device: &mut dyn Device, job: &ReadyCase<'_>, bound: &BoundPlan, inputs: &[Array]) -> Result<Array, Stop> {
    demand_guards(device, job, bound)?;
    completed(device, job, bound, inputs)
}

/// As [`finished`], without a look beside the buffers.
fn completed(device: &mut dyn Device, job: &ReadyCase<'_>, bound: &BoundPlan, inputs: &[Array]) -> Result<Array, Stop> {
    let output = bound.output(device, &job.plan)?;
    if let Some(what) = bound.left_over(device, &job.plan)? {
        return Err(wrong(what));
    }
    // Of moved elements the check itself finds those that were not written, and skips what lies between rows.
    if job.family.problem.movement(job.case).is_none()
        && let Some(index) = check::still_poisoned(&output)
        && is_unwritten(device, job, bound, index)?
    {
        return Err(wrong(format!("element {index} of the output was never written")));
    }
    Ok(job.family.problem.finish(job.case, output, &tails(&job.plan, inputs)))
}

/// Whether an element of the output that holds the poison was not written. It may have that value and be right: then it has
/// it again after a run into another poison.
pub(super) fn is_unwritten(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    index: usize,
) -> Result<bool, Stop> {
    bound.poison_with(device, &job.plan, check::other_poison)?;
    device.run(job.program, &bound.launches(&job.plan))?;
    let again = bound.output_part(device, &job.plan, index, 1)?;
    let is_unwritten = check::still_poisoned(&again).is_none();
    if !is_unwritten {
        // As it was: what else holds the first poison is looked at, too.
        bound.poison(device, &job.plan)?;
        device.run(job.program, &bound.launches(&job.plan))?;
    }
    Ok(is_unwritten)
}

/// Checks what a run over these data left.
pub(super) fn judge(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    data: &Data,
    when: &str,
) -> Result<Judged, Stop> {
    let got = finished(device, job, bound, &data.host)?;
    data.judge(&got, job.family, job.case, job.plan.depth, when)
}

/// Nothing is to be written beside a buffer.
pub(super) fn demand_guards(device: &mut dyn Device, job: &ReadyCase<'_>, bound: &BoundPlan) -> Result<(), Stop> {
    bound.overrun(device, &job.plan)?.map_or(Ok(()), |what| Err(wrong(what)))
}

/// Inputs are only to be read.
pub(super) fn demand_inputs(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    data: &Data,
) -> Result<(), Stop> {
    match bound.changed_input(device, &job.plan, data.prints())? {
        Some(input) => Err(wrong(format!("the kernel changed its input {input}"))),
        None => Ok(()),
    }
}

/// Places where rungs go wrong, and some random ones.
fn places(job: &ReadyCase<'_>, data: &Data) -> Vec<Spot> {
    const RANDOM: u64 = 8;
    let len = data.host.first().map_or(0, Array::len);
    if len == 0 {
        return Vec::new();
    }
    let wg = job.plan.wg.size();
    let items = job.plan.passes.first().map_or(1, |pass| pass.global.iter().product());
    let edges = [0, 1, wg - 1, wg, items - 1, items, len / 2, len - len % (4 * wg), len.saturating_sub(2), len - 1];
    let draw = |number: u64| data::draw(job.case.seed, number);
    let random = (0..RANDOM).map(|number| (draw(number) % len as u64) as usize);
    let mut places: Vec<usize> = edges.into_iter().map(|at| at.min(len - 1)).chain(random).collect();
    places.sort_unstable();
    places.dedup();
    (RANDOM..).zip(places).map(|(number, at)| Spot { at, draw: draw(number) }).collect()
}

/// A random place in each of some equal parts.
fn spread(job: &ReadyCase<'_>, data: &Data) -> Vec<Spot> {
    const PARTS: usize = 16;
    let len = data.host.first().map_or(0, Array::len);
    let draw = |part: usize| data::draw(!job.case.seed, part as u64);
    let at = |part: usize| part * (len / PARTS) + (draw(part) % (len / PARTS) as u64) as usize;
    if len < PARTS { Vec::new() } else { (0..PARTS).map(|part| Spot { at: at(part), draw: draw(part) }).collect() }
}

impl Data {
    fn bytes(&self) -> usize {
        self.host.iter().map(|array| array.as_bytes().len()).sum()
    }

    /// What the inputs must still be after each run, made once.
    fn prints(&self) -> &[u128] {
        self.prints.get_or_init(|| self.host.iter().map(|array| check::fingerprint(array.as_bytes())).collect())
    }

    /// Changes after which another result is right; none under a simulator, which looks at accesses and would take all that
    /// is not written anew for uninitialised.
    pub(super) fn deciding(&self, device: &dyn Device, job: &ReadyCase<'_>, spot: Spot) -> Vec<Change> {
        // An image of an input would not change with it.
        if device.info().is_simulator() || job.plan.buffers.iter().any(|spec| matches!(spec.role, Role::Image { .. })) {
            return Vec::new();
        }
        let margin = match &self.reference {
            Some(Reference::Rounded(sum)) => {
                match check::tolerance(sum, job.plan.depth, job.case.dtype) {
                    Some(bound) => bound,
                    // No change is larger than what so many roundings may hide.
                    None => return Vec::new(),
                }
            }
            _ => 0.0,
        };
        job.family.problem.decide(job.case, &self.host, self.reference.as_ref(), margin, spot)
    }

    /// Has these changes for as long as `go` runs; returns what undoes them elsewhere, too.
    pub(super) fn changed<T>(
        &mut self,
        job: &ReadyCase<'_>,
        changes: &[Change],
        go: impl FnOnce(&Data) -> T,
    ) -> (T, Vec<Change>) {
        if changes.is_empty() {
            return (go(self), Vec::new());
        }
        let mut undo: Vec<Change> = changes.iter().map(|change| change.apply(&mut self.host)).collect();
        let made = changes.iter().zip(&undo);
        let made = made.map(|(change, undo)| Changed { change: change.clone(), old: undo.value.clone() });
        let made: Vec<Changed> = made.collect();
        undo.reverse();
        let before = self.reference.take();
        self.reference = before.as_ref().map(|before| {
            let amended = job.family.problem.amended(job.case, &self.host, &made, before);
            // Over exact data the result is exact after a change, too.
            if matches!(before, Reference::Exact(_)) { exactly(amended, job.case.dtype) } else { amended }
        });
        let gone = go(self);
        undo.iter().for_each(|change| _ = change.apply(&mut self.host));
        self.reference = before;
        (gone, undo)
    }

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
            (None, Some(reference)) => {
                let error = family.problem.error(case, got, &self.host);
                judge_real(error.as_ref().unwrap_or(got), reference, depth, when)
            }
            (None, None) => Err(Stop::failed("there is no reference")),
        }
    }
}

/// A result over real data that passed its check.
#[derive(Clone, Copy)]
pub(super) struct Judged {
    /// The largest error, and the error allowed; none where it has no size, as beside an infinite input.
    pub(super) max_err: Option<f64>,
    pub(super) tol: Option<f64>,
    /// The result, if it is a single number.
    pub(super) value: Option<Number>,
}

impl Judged {
    /// What a script's runs left, all of which was compared and found equal.
    pub(super) fn equal() -> Judged {
        Judged { max_err: Some(0.0), tol: Some(0.0), value: None }
    }

    /// The answer to no elements, of which there is nothing to check.
    pub(super) fn of_nothing(value: Option<Number>) -> Judged {
        Judged { value, ..Judged::equal() }
    }
}

/// Puts the data on the device, in place of others of their size.
fn overwrite(device: &mut dyn Device, data: &Data) -> Result<(), Stop> {
    for (fenced, array) in data.device.iter().zip(&data.host) {
        device.write(fenced.id, 0, array.as_bytes())?;
    }
    Ok(())
}

/// In what a companion is another case than the job's.
fn companion_of(job: &ReadyCase<'_>, case: &Case) -> String {
    let differs = |name: &String, value: &String| job.plan.params.get(name) != Some(value);
    let settings = case.params.iter().filter(|(name, value)| differs(name, value));
    let mut what: Vec<String> = settings.map(|(name, value)| format!("{name}={value}")).collect();
    if case.shape != job.case.shape {
        let Shape { n, m } = case.shape;
        what.push(if m == 1 { format!("n={n}") } else { format!("n={n} m={m}") });
    }
    format!("the same kernel with {}", what.join(" "))
}

/// Fewer elements than the job's case may have, but so many that each work-item that goes through a loop still does.
fn few_elements(job: &ReadyCase<'_>) -> u64 {
    const LEAST: u64 = 1 << 16;
    /// Elements of a work-item that need no loop, and enough for some turns of any.
    const WITHOUT_A_LOOP: u64 = 8;
    const SOME_TURNS: u64 = 128;
    let items = job.plan.passes.first().map_or(1, |pass| pass.global.iter().product::<usize>() as u64).max(1);
    let of_an_item = job.case.shape.n / items;
    let looped = if of_an_item > WITHOUT_A_LOOP { items * of_an_item.min(SOME_TURNS) } else { 0 };
    looped.max(LEAST)
}

/// These data of a case, over which its result is exact in any order.
fn exact_data_of(family: &'static Family, case: &Case, fill: Fill, seed: u64) -> Data {
    let mut data = Data::of(family, case, make_inputs(family, case, fill, seed));
    data.reference = data.reference.map(|reference| exactly(reference, case.dtype));
    data
}

/// The reference of data over which the result is exact in any order.
pub(super) fn exactly(reference: Reference, dtype: Dtype) -> Reference {
    match (reference, dtype) {
        (Reference::Rounded(sum), Dtype::F32) => Reference::Exact(Array::F32(vec![sum.value as f32])),
        (Reference::Rounded(sum), _) => Reference::Exact(Array::F64(vec![sum.value])),
        (other, _) => other,
    }
}

/// What exact data to check a rung over that is timed, with their seeds.
pub(super) fn timed_exact_data(job: &ReadyCase<'_>) -> Vec<(Fill, u64)> {
    let problem = job.family.problem;
    let more = problem.more_exact_fills(job.case);
    std::iter::once(problem.exact_fill(job.case)).chain(more).map(|fill| (fill, !job.case.seed)).collect()
}

/// What more exact data to check a rung over that is only verified, with their seeds.
fn exact_data(job: &ReadyCase<'_>) -> Vec<(Fill, u64)> {
    let exact = job.family.problem.exact_fill(job.case);
    let seeds = (1..=3).map(|k| (exact, (!job.case.seed).wrapping_sub(k)));
    seeds.chain([(Fill::Ones, 0)]).collect()
}

pub(super) fn tails(plan: &Plan, inputs: &[Array]) -> Vec<Array> {
    plan.host_tail.map_or_else(Vec::new, |start| inputs.iter().map(|a| a.tail(start as usize)).collect())
}

fn judge_moved(got: &Array, inputs: &[Array], movement: &Movement, when: &str) -> Result<Judged, Stop> {
    let [input] = inputs else { return Err(Stop::failed("elements are moved from one input")) };
    demand(check::check_moved(got, input, movement), when).map(|verdict| judged(verdict, None))
}

/// Judges a result. Over real data, so many roundings that no bound is left make S itself the bound: then only the exact
/// data, which every case is checked over as well, can tell right from wrong.
fn judge_real(got: &Array, reference: &Reference, depth: u64, when: &str) -> Result<Judged, Stop> {
    let most = (0.09 / got.dtype().unit_roundoff()) as u64;
    let mut verdict = check::check_result(got, reference, depth.min(most));
    if let Reference::Rounded(sum) = reference
        && depth > most
        && sum.magnitude.is_finite()
        && verdict.max_err <= sum.magnitude
    {
        verdict = Verdict { ok: true, tol: sum.magnitude, why: None, ..verdict };
    }
    demand(verdict, when).map(|verdict| judged(verdict, single(got)))
}

fn judged(Verdict { max_err, tol, .. }: Verdict, value: Option<Number>) -> Judged {
    let sized = |error: f64| Some(error).filter(|error| error.is_finite());
    Judged { max_err: sized(max_err), tol: sized(tol), value }
}

pub(super) fn demand(verdict: Verdict, when: &str) -> Result<Verdict, Stop> {
    if verdict.ok { Ok(verdict) } else { Err(wrong(format!("{} ({when})", verdict.why.unwrap_or_default()))) }
}

pub(super) fn wrong(reason: String) -> Stop {
    Stop::new(Status::WrongResult, reason)
}

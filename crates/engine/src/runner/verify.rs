//! Is a rung's result right? Poisoned outputs, guard zones, scrubbed local memory, exact and real data.

use super::buffers::{BoundPlan, Fence, Fenced, joined};
use super::inputs::{
    Data, ReadyCase, exact_data, exact_data_of, exactly, make_inputs, tails, timed_exact_data,
    wrong,
};
use super::session::Session;
use crate::device::{BuildUnit, Device, Timing};
use gpulab_kernels::{Changed, Family, Form, Spot};
use gpulab_model::check;
use gpulab_model::data::{self, Array, Change, Dtype, Fill, Shape};
use gpulab_model::outcome::{Measured, Stop};
use gpulab_model::plan::{Arg, Case, Launch, Reference, Target};

/// Numbers among a reader's data that kernels may treat apart: they divide by 0; the exponential of the other is infinite
/// in f32, and half precision has no such number; or they hold numbers to a limit.
const SELDOM: [f32; 3] = [0.0, 100.3, -5000.3];

/// Most bytes of exact data that are kept for the next rung, little beside any machine's memory.
const MOST_KEPT: usize = 256 << 20;

impl Session {
    /// Checks a rung over exact data of four seeds, all ones and values that decide by themselves, then over the real data.
    /// Where the results over these are exact, they show every mistake, and data of one more seed suffice.
    pub fn verify_thoroughly(&mut self, job: &ReadyCase<'_>) -> Result<Measured, Stop> {
        let others = [timed_exact_data(job), exact_data(job)].concat();
        let judged = self.verify_seeds(job, &others, "over real data")?;
        // To a simulator one more run is the same accesses once more.
        if self.device.info().is_simulator() {
            return Ok(judged);
        }
        // Timing ends with this, too.
        self.with_data(|session, data| {
            let bound = session.bind(job, &data.device)?;
            session.run_poisoned(job, &bound)?;
            demand_inputs(&mut *session.device, &bound, data)
        })?;
        Ok(judged)
    }

    /// Checks a rung over its own data and over others. First those that are the same in each run, so that most mistakes are told
    /// in the same words.
    pub fn verify_seeds(
        &mut self,
        job: &ReadyCase<'_>,
        others: &[(Fill, u64)],
        when: &str,
    ) -> Result<Measured, Stop> {
        if job.family.problem.fold().is_none() {
            let judged = self.verify_real(job, when)?;
            return self.verify_exact(job, others).map(|()| judged);
        }
        self.verify_exact(job, others)?;
        self.verify_real(job, when)
    }

    /// Checks the same kernels over what the case's own data cannot show, of the second seed. Not under a simulator, which
    /// looks at accesses: the case's own are the same.
    pub fn verify_companions(&mut self, job: &ReadyCase<'_>) -> Result<(), Stop> {
        if self.device.info().is_simulator() {
            return Ok(());
        }
        let problem = &job.family.problem;
        // Without any a case that is timed is refused.
        let target = &self.device.info().target;
        let known = job.family.companions(job.case, &job.plan, target);
        let mut cases = known.unwrap_or_default();
        cases.extend(unforeseen(job, &cases, target));
        for case in cases {
            let fill = problem
                .fold()
                .map_or_else(|| problem.fill(&case), |fold| fold.exact_fill(&case));
            let when = job.repeatable(&companion_of(job, &case));
            let case = Case {
                seed: job.second_seed,
                ..case
            };
            let beside = Fence::of(&*self.device, job.family, &case);
            let fences = [
                Some(beside),
                job.family.described().map(|_| beside.poisoned()),
            ];
            for fence in fences.into_iter().flatten() {
                let mut data = exact_data_of(
                    job.family,
                    &case,
                    make_inputs(job.family, &case, fill, case.seed),
                );
                let companion = self.companion(job.family, &case, fence, &mut data)?;
                self.verify_within(&companion, fence, &data, &when)?;
            }
        }
        Ok(())
    }

    /// A case that is ready to run, with its data on the device between these zones.
    pub fn companion<'a>(
        &mut self,
        family: &'a Family,
        case: &'a Case,
        fence: Fence,
        data: &mut Data,
    ) -> Result<ReadyCase<'a>, Stop> {
        let job = self.ready(family, case)?;
        data.device = fence.upload(&mut *self.device, &data.host)?;
        Ok(job)
    }

    /// Checks one run over the real data.
    fn verify_real(&mut self, job: &ReadyCase<'_>, when: &str) -> Result<Measured, Stop> {
        self.with_data(|session, data| session.verify_over(job, data, when))
    }

    /// Lends the timed data out.
    pub fn with_data<T>(
        &mut self,
        go: impl FnOnce(&mut Session, &mut Data) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let Some(mut data) = self.data.take() else {
            return Err(Stop::failed("the inputs are gone"));
        };
        let gone = go(self, &mut data);
        self.data = Some(data);
        gone
    }

    /// Runs once over each of these data, whose results are exact in every order, and over single values. The first take the
    /// place of the timed data for that long, here and on the device, so that no more than both is ever held.
    pub fn verify_exact(&mut self, job: &ReadyCase<'_>, fills: &[(Fill, u64)]) -> Result<(), Stop> {
        let is_simulated = self.device.info().is_simulator();
        if fills.is_empty() || (is_simulated && job.family.problem.fold().is_none()) {
            return Ok(());
        }
        let Some(mut timed) = self.data.take() else {
            return Err(Stop::failed("the inputs are gone"));
        };
        let is_small = bytes(&timed.host) <= MOST_KEPT / 2;
        if !is_small {
            timed.host = Vec::new();
        }
        let verified = fills
            .iter()
            .enumerate()
            .try_for_each(|(index, &(fill, seed))| {
                let mut data = self.take_exact(job, fill, seed);
                demand_dependence(job, &timed, &data)?;
                data.device.clone_from(&timed.device);
                self.overwrite(&mut data)?;
                let when = format!("over {fill}");
                let when = if seed == job.second_seed {
                    job.repeatable(&when)
                } else {
                    when
                };
                match fill {
                    // What changes would not be exact.
                    Fill::Scaled(_) => self.verify_once(job, &data, &when).map(drop),
                    // The changes of the timed data show as much.
                    _ if job.family.problem.fold().is_none() => {
                        self.verify_once(job, &data, &when).map(drop)
                    }
                    _ if index == 0 => self
                        .verify_over(job, &mut data, &when)
                        .and_then(|_| self.verify_alone(job, &mut data, &when)),
                    _ => self.verify_over(job, &mut data, &when).map(drop),
                }?;
                data.device.clear();
                self.keep_exact(fill, seed, data);
                Ok(())
            });
        if !is_small {
            timed.host = self.real_inputs(job.family, job.case);
        }
        // Kept only if it could be put back: else the next case makes it anew.
        let put_back = self.overwrite(&mut timed);
        if put_back.is_ok() {
            self.data = Some(timed);
        }
        verified.and(put_back)?;
        self.verify_lone(job)
    }

    /// These exact data of the job: those that another rung was checked over, or new ones.
    fn take_exact(&mut self, job: &ReadyCase<'_>, fill: Fill, seed: u64) -> Data {
        // The case's own seed does not matter to them, but `seed` follows from it.
        let known = self
            .exact
            .iter()
            .position(|(f, s, data)| (*f, *s) == (fill, seed) && data.is_of(job.family, job.case));
        match known {
            Some(place) => self.exact.swap_remove(place).2,
            None => exact_data_of(
                job.family,
                job.case,
                make_inputs(job.family, job.case, fill, seed),
            ),
        }
    }

    /// Keeps exact data for the next rung, if they are few.
    fn keep_exact(&mut self, fill: Fill, seed: u64, data: Data) {
        let kept: usize = self
            .exact
            .iter()
            .map(|(_, _, data)| bytes(&data.host))
            .sum();
        if kept + bytes(&data.host) <= MOST_KEPT {
            self.exact.push((fill, seed, data));
        }
    }

    /// Checks one run over each of some values that decide by themselves, at places where rungs go wrong: each bit of them
    /// counts. Over fewer elements than the case has, if it has many: that all of them are read is seen over other data. Not
    /// under a simulator, to which changed data are uninitialised.
    fn verify_lone(&mut self, job: &ReadyCase<'_>) -> Result<(), Stop> {
        let problem = &job.family.problem;
        let Some(fold) = problem
            .fold()
            .filter(|_| !self.device.info().is_simulator())
        else {
            return Ok(());
        };
        let lone = fold.lone(job.case, job.case.seed);
        let n = job.case.shape.n;
        let few = few_elements(job);
        let shape = Shape {
            n: if n < 2 * few { n } else { few + n % few },
            ..job.case.shape
        };
        let case = Case {
            shape,
            params: job.plan.params.clone(),
            ..job.case.clone()
        };
        let lens = problem.inputs(shape, &case.params);
        let host = lone
            .neutral
            .iter()
            .zip(lens)
            .map(|(one, len)| one.repeated(len))
            .collect();
        let mut data = Data::unjudged(&case, host);
        let fence = Fence::of(&*self.device, job.family, &case);
        let job = &self.companion(job.family, &case, fence, &mut data)?;
        let places: Vec<usize> = places(job, &data).into_iter().map(|spot| spot.at).collect();
        let Some(&first) = places.first() else {
            return Ok(());
        };
        let last = places[places.len() - 1];
        let count = places.len().max(lone.values.len());
        let bound = self.bind(job, &data.device)?;
        for (&at, values) in places
            .iter()
            .cycle()
            .zip(lone.values.iter().cycle())
            .take(count)
        {
            self.verify_few(job, &bound, &mut data, &[(at, values)])?;
        }
        // Of one work-item, and of the first and the last.
        for [a, b] in [[first, (first + 1).min(last)], [first, last]]
            .into_iter()
            .filter(|[a, b]| a != b)
        {
            for [one, other] in &lone.pairs {
                self.verify_few(job, &bound, &mut data, &[(a, one), (b, other)])?;
            }
        }
        demand_guards(&mut *self.device, &bound)
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
        let mut changes = Vec::new();
        for &(index, values) in few {
            changes.extend((0..).zip(values).map(|(input, value)| Change {
                input,
                index,
                value: value.clone(),
            }));
        }
        let nothing = job.family.problem.inputs(
            Shape {
                n: 0,
                ..job.case.shape
            },
            &job.case.params,
        );
        let counting = (0..nothing.len()).map(|input| {
            let none = Array::zeros(job.case.dtype, 0);
            few.iter()
                .filter_map(|(_, values)| values.get(input))
                .fold(none, |all, value| all.followed_by(value))
        });
        let reference = job
            .family
            .problem
            .reference(job.case, &counting.collect::<Vec<_>>());
        bound.change(&mut *self.device, &changes)?;
        self.run_poisoned(job, bound)?;
        let places: Vec<String> = few.iter().map(|(at, _)| at.to_string()).collect();
        let when = job.repeatable(&format!(
            "where only element {} counts",
            places.join(" and ")
        ));
        let (judged, undo) = data.changed(
            &changes,
            |_: &Data, _: &[Changed]| Some(exactly(reference, job.case.dtype)),
            |data| {
                let got = completed(&mut *self.device, job, bound, &tails(&job.plan, &data.host))?;
                data.judge(&got, job.family, job.case, job.plan.depth, &when)
            },
        );
        bound.change(&mut *self.device, &undo)?;
        judged.map(drop)
    }

    /// Checks one run over these data with each infinity and NaN in them, beside which no number counts. Where numbers are
    /// added alone, and no sum of them can be too large.
    fn verify_not_finite(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &mut Data,
    ) -> Result<(), Stop> {
        let largest = if job.case.dtype == Dtype::F32 {
            f64::from(f32::MAX)
        } else {
            f64::MAX
        };
        let is_finite =
            matches!(data.reference(), Some(Reference::Rounded(sum)) if sum.magnitude < largest);
        if !is_finite || self.device.info().is_simulator() {
            return Ok(());
        }
        for (value, spot) in data::not_finite(job.case.dtype)
            .into_iter()
            .zip(places(job, data).into_iter().rev())
        {
            let others = data
                .host
                .iter()
                .skip(1)
                .filter_map(|input| input.at(spot.at));
            let values: Vec<Array> = std::iter::once(value).chain(others).collect();
            self.verify_few(job, bound, data, &[(spot.at, &values)])?;
        }
        demand_guards(&mut *self.device, bound)
    }

    /// Checks one run over these data, and one after some of them were changed.
    fn verify_over(
        &mut self,
        job: &ReadyCase<'_>,
        data: &mut Data,
        when: &str,
    ) -> Result<Measured, Stop> {
        let bound = &self.bind(job, &data.device)?;
        let judged = self.verify_bound(job, bound, data, when)?;
        self.verify_changed(job, bound, data, &places(job, data), when)?;
        for value in SELDOM {
            self.verify_seldom(job, bound, data, (value, when))?;
        }
        self.verify_not_finite(job, bound, data)?;
        Ok(judged)
    }

    /// Checks one run over these data; in a reader's family with a poison beside what the kernels write.
    pub fn verify_once(
        &mut self,
        job: &ReadyCase<'_>,
        data: &Data,
        when: &str,
    ) -> Result<Measured, Stop> {
        let fence = Fence::of(&*self.device, job.family, job.case);
        let fence = if job.family.described().is_some() {
            fence.poisoned()
        } else {
            fence
        };
        self.verify_within(job, fence, data, when)
    }

    /// Checks one run over these data, with buffers between these zones for all but the inputs.
    fn verify_within(
        &mut self,
        job: &ReadyCase<'_>,
        fence: Fence,
        data: &Data,
        when: &str,
    ) -> Result<Measured, Stop> {
        let bound = self.bind_within(job, fence, &data.device)?;
        self.verify_bound(job, &bound, data, when)
    }

    fn verify_bound(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &Data,
        when: &str,
    ) -> Result<Measured, Stop> {
        self.run_poisoned(job, bound)?;
        let judged = judge(&mut *self.device, job, bound, data, when)?;
        demand_inputs(&mut *self.device, bound, data)?;
        Ok(judged)
    }

    /// These inputs bound, with buffers for all else.
    pub fn bind(&mut self, job: &ReadyCase<'_>, inputs: &[Fenced]) -> Result<BoundPlan, Stop> {
        let fence = Fence::of(&*self.device, job.family, job.case);
        self.bind_within(job, fence, inputs)
    }

    /// As [`Session::bind`], between these zones.
    fn bind_within(
        &mut self,
        job: &ReadyCase<'_>,
        fence: Fence,
        inputs: &[Fenced],
    ) -> Result<BoundPlan, Stop> {
        Ok(BoundPlan::new(
            &mut *self.device,
            fence.of_written(job.family),
            &job.plan,
            inputs,
        )?)
    }

    /// Checks one run after a change of the first element alone, one of the last, and one of an element in each of some equal
    /// parts, where one can decide.
    fn verify_alone(
        &mut self,
        job: &ReadyCase<'_>,
        data: &mut Data,
        when: &str,
    ) -> Result<(), Stop> {
        if !job
            .family
            .problem
            .fold()
            .is_some_and(|fold| fold.is_decided_by_one(job.case))
        {
            return Ok(());
        }
        let bound = &self.bind(job, &data.device)?;
        let spots = places(job, data);
        let ends = [spots.first(), spots.last()].into_iter().flatten().copied();
        let alone: Vec<Spot> = ends.chain(spread(job, data)).collect();
        alone
            .iter()
            .try_for_each(|&spot| self.verify_changed(job, bound, data, &[spot], when))
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
        for change in spots
            .iter()
            .flat_map(|&spot| data.deciding(&*self.device, job, spot))
        {
            if changes
                .iter()
                .all(|c| (c.input, c.index) != (change.input, change.index))
            {
                changes.push(change);
            }
        }
        bound.soil(&mut *self.device, job.case.seed)?;
        bound.change(&mut *self.device, &changes)?;
        self.device.run(job.program, &bound.launches())?;
        let when = job.repeatable(&format!("after a change of the data, {when}"));
        let (judged, undo) = data.changed(
            &changes,
            |data: &Data, made: &[Changed]| data.amended(job, made),
            |data| judge(&mut *self.device, job, bound, data, &when),
        );
        bound.change(&mut *self.device, &undo)?;
        judged.map(drop)
    }

    /// Checks one run with this number among data that do not have it, where there is a finite answer.
    fn verify_seldom(
        &mut self,
        job: &ReadyCase<'_>,
        bound: &BoundPlan,
        data: &mut Data,
        (value, when): (f32, &str),
    ) -> Result<(), Stop> {
        let Some(described) = job.family.described() else {
            return Ok(());
        };
        let seldom = described.seldom(job.case, &data.host, value);
        if seldom.is_empty() || self.device.info().is_simulator() {
            return Ok(());
        }
        bound.change(&mut *self.device, &seldom)?;
        self.run_poisoned(job, bound)?;
        let when = job.repeatable(&format!("with {value} here and there in the data, {when}"));
        let (judged, undo) = data.changed(
            &seldom,
            |data: &Data, made: &[Changed]| data.amended(job, made),
            |data| match data.reference() {
                Some(Reference::Unknown(_)) => Ok(()),
                Some(Reference::Near { values, .. })
                    if !values.widened().iter().all(|value| value.is_finite()) =>
                {
                    Ok(())
                }
                _ => judge(&mut *self.device, job, bound, data, &when).map(drop),
            },
        );
        bound.change(&mut *self.device, &undo)?;
        judged
    }

    /// One run into poisoned outputs, over scrubbed local memory.
    pub fn run_poisoned(&mut self, job: &ReadyCase<'_>, bound: &BoundPlan) -> Result<Timing, Stop> {
        bound.poison(&mut *self.device)?;
        self.scrub_local()?;
        let timing = self.device.run(job.program, &bound.launches())?;
        self.left_out.clone_from(&timing.left_out);
        self.launched = true;
        Ok(timing)
    }

    /// Fills every compute unit's local memory with NaN; not under Oclgrind, which finds such reads itself.
    pub fn scrub_local(&mut self) -> Result<(), Stop> {
        if self.device.info().is_simulator() {
            return Ok(());
        }
        let program = match self.scrub {
            Some(program) => program,
            None => {
                let text = self.sources.assemble("runner/scrub.cl")?;
                let kernels = vec!["scrub".to_owned()];
                self.device.build(&BuildUnit {
                    path: "runner/scrub.cl".into(),
                    text,
                    defines: Vec::new(),
                    kernels,
                })?
            }
        };
        self.scrub = Some(program);
        let target = &self.device.info().target;
        let bytes = target.local_mem.min(32 << 10) as usize;
        let wg = target.max_wg.min(64);
        let groups = 4 * target.compute_units as usize;
        let args = vec![Arg::Local(bytes), Arg::Uint((bytes / 4) as u32)];
        self.device
            .run(program, &[Launch::linear("scrub", groups * wg, wg, args)])?;
        Ok(())
    }
}

/// Bytes that the host holds of these.
fn bytes(arrays: &[Array]) -> usize {
    arrays.iter().map(|array| array.as_bytes().len()).sum()
}

/// A reader's family whose answer does not depend on the data proves nothing of a kernel: one that reads nothing would pass.
fn demand_dependence(job: &ReadyCase<'_>, timed: &Data, other: &Data) -> Result<(), Stop> {
    /// Elements of the inputs that make it no accident if the answers are the same.
    const MANY: usize = 256;
    let inputs: usize = job
        .family
        .problem
        .inputs(job.case.shape, &job.case.params)
        .into_iter()
        .sum();
    let described = job.family.described();
    match described.is_some_and(|described| described.is_compared())
        && inputs >= MANY
        && timed.reference() == other.reference()
    {
        true => Err(Stop::failed(
            "the right answer over other data is the same, so a kernel that reads nothing would pass: choose another \
             fill, or sizes at which the answer depends on the data",
        )),
        false => Ok(()),
    }
}

/// Places where rungs go wrong, and some random ones.
fn places(job: &ReadyCase<'_>, data: &Data) -> Vec<Spot> {
    const RANDOM: u64 = 8;
    let len = data.first_len();
    if len == 0 {
        return Vec::new();
    }
    let wg = job.plan.wg.size();
    let items = job
        .plan
        .passes
        .first()
        .map_or(1, |pass| pass.global.iter().product());
    let edges = [
        0,
        1,
        wg - 1,
        wg,
        items - 1,
        items,
        len / 2,
        len - len % (4 * wg),
        len.saturating_sub(2),
        len - 1,
    ];
    let random =
        (0..RANDOM).map(|number| (data::draw(job.second_seed, number) % len as u64) as usize);
    let mut places: Vec<usize> = edges
        .into_iter()
        .map(|at| at.min(len - 1))
        .chain(random)
        .collect();
    places.sort_unstable();
    places.dedup();
    (RANDOM..)
        .zip(places)
        .map(|(number, at)| Spot {
            at,
            draw: data::draw(job.second_seed, number),
        })
        .collect()
}

/// A random place in each of some equal parts.
fn spread(job: &ReadyCase<'_>, data: &Data) -> Vec<Spot> {
    const PARTS: usize = 16;
    let len = data.first_len();
    let mut spots = Vec::new();
    for part in 0..if len < PARTS { 0 } else { PARTS } {
        let draw = data::draw(!job.second_seed, part as u64);
        spots.push(Spot {
            at: part * (len / PARTS) + (draw % (len / PARTS) as u64) as usize,
            draw,
        });
    }
    spots
}

/// A companion of a size that no kernel can know, if the case has others.
fn unforeseen(job: &ReadyCase<'_>, known: &[Case], target: &Target) -> Option<Case> {
    let described = job.family.described().filter(|_| !known.is_empty())?;
    let rung = job.family.rung(&job.case.variant)?;
    let form = job.family.form;
    let most = if form == Form::Vector {
        1 << 18
    } else {
        1 << 9
    };
    let side = |usual: u64, number| {
        let draw = data::draw(job.second_seed, number);
        let size = 1 + draw % (usual >> (draw >> 61)).clamp(1, most);
        size.next_multiple_of(rung.multiple())
    };
    let shape = job.case.shape;
    let shape = form.shape(
        side(shape.n, 0),
        (form == Form::Matrix).then(|| side(shape.m, 1)),
    );
    let case = Case {
        shape,
        ..job.case.clone()
    };
    let is_possible =
        described.check(shape, case.dtype).is_ok() && job.family.plan(rung, &case, target).is_ok();
    is_possible.then_some(case)
}

fn companion_of(job: &ReadyCase<'_>, case: &Case) -> String {
    let settings = case
        .params
        .iter()
        .filter(|(name, value)| job.plan.params.get(*name) != Some(value));
    let mut what: Vec<String> = settings
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if case.shape != job.case.shape {
        let Shape { n, m } = case.shape;
        what.push(if m == 1 {
            format!("n={n}")
        } else {
            format!("n={n} m={m}")
        });
    }
    format!("the same kernel with {}", what.join(" "))
}

/// Fewer elements than the job's case may have, but so many that each work-item that goes through a loop still does.
fn few_elements(job: &ReadyCase<'_>) -> u64 {
    const LEAST: u64 = 1 << 16;
    /// Elements of a work-item that need no loop, and enough for some turns of any.
    const WITHOUT_A_LOOP: u64 = 8;
    const SOME_TURNS: u64 = 128;
    let items = job
        .plan
        .passes
        .first()
        .map_or(1, |pass| pass.global.iter().product::<usize>() as u64)
        .max(1);
    let of_an_item = job.case.shape.n / items;
    let looped = if of_an_item > WITHOUT_A_LOOP {
        items * of_an_item.min(SOME_TURNS)
    } else {
        0
    };
    looped.max(LEAST)
}

/// What a run left: its output, if all of it was written and nothing beside it, completed on the host with the inputs' tails.
pub fn finished(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    tails: &[Array],
) -> Result<Array, Stop> {
    demand_guards(device, bound)?;
    completed(device, job, bound, tails)
}

/// As [`finished`], without a look beside the buffers.
fn completed(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    tails: &[Array],
) -> Result<Array, Stop> {
    let outputs = bound.outputs(device)?;
    if let Some(what) = bound.left_over(device)? {
        return Err(wrong(what));
    }
    // Of moved elements the check itself finds those that were not written, and skips what lies between rows.
    if job.family.problem.movement(job.case).is_none() {
        for (buffer, output) in job.plan.outputs().zip(&outputs) {
            if let Some(index) = check::still_poisoned(output)
                && let Some(what) = unwritten(device, job, bound, (buffer, index))?
            {
                return Err(wrong(what));
            }
        }
    }
    Ok(job.family.problem.finish(job.case, joined(outputs), tails))
}

/// What is seen of an element of this output buffer that holds the poison, after a run into another poison as well. It may have that
/// value and be right: then it has it again, and there is nothing to say.
pub fn unwritten(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    (buffer, index): (usize, usize),
) -> Result<Option<String>, Stop> {
    bound.poison_with(device, check::other_poison)?;
    device.run(job.program, &bound.launches())?;
    let again = bound.part(device, buffer, index, 1)?;
    if check::still_poisoned(&again).is_some() {
        // As it was: what else holds the first poison is looked at, too.
        bound.poison(device)?;
        device.run(job.program, &bound.launches())?;
        return Ok(None);
    }
    Ok(Some(
        match again.as_bytes() == check::other_poison(again.dtype()) {
            true => format!(
                "element {index} of the output holds the value that was there before the run"
            ),
            // It was computed with the poison, which is NaN.
            false if again.dtype().is_float() => {
                format!("element {index} of the output: {}", check::NAN_COMPUTED)
            }
            false => format!(
                "element {index} of the output changes with the value that was there before the run"
            ),
        },
    ))
}

/// Checks what a run over these data left.
pub fn judge(
    device: &mut dyn Device,
    job: &ReadyCase<'_>,
    bound: &BoundPlan,
    data: &Data,
    when: &str,
) -> Result<Measured, Stop> {
    let got = finished(device, job, bound, &tails(&job.plan, &data.host))?;
    data.judge(&got, job.family, job.case, job.plan.depth, when)
}

/// Nothing is to be written beside a buffer.
pub fn demand_guards(device: &mut dyn Device, bound: &BoundPlan) -> Result<(), Stop> {
    bound
        .overrun(device)?
        .map_or(Ok(()), |what| Err(wrong(what)))
}

/// Inputs are only to be read.
pub fn demand_inputs(device: &mut dyn Device, bound: &BoundPlan, data: &Data) -> Result<(), Stop> {
    let changed = bound.changed_input(device, data.prints())?;
    changed.map_or(Ok(()), |input| {
        Err(wrong(format!("the kernel changed its input {input}")))
    })
}

//! Of kernels over vectors: which elements count in the result and how often, and what else is in it.

use super::super::buffers::Fence;
use super::super::inputs::{Data, exact_data_of, make_inputs, single};
use super::super::session::Session;
use super::probe::{ProbedKernel, survey, tile};
use gpulab_kernels::Family;
use gpulab_model::check::{self};
use gpulab_model::data::{self, Array, Change, Fill, Inputs, Shape};
use gpulab_model::outcome::{CountSymptoms, DataKinds, Number, Repeated, StartsFrom, Stop, Symptoms};
use gpulab_model::plan::{Case, Reference};

/// Most elements that are looked at one by one.
const MOST: u64 = 1 << 14;

/// Beyond the last whole group.
const REST: u64 = 5;

pub(super) fn diagnose(session: &mut Session, family: &Family, case: &Case) -> Result<Symptoms, Stop> {
    let [group, _] = tile(session, family, case)?;
    let n = (3 * group + REST).min(MOST);
    let small = Case { shape: Shape::vector(n), ..case.clone() };
    let fill = exact_fill(family, &small);
    let inputs = make_inputs(family, &small, fill, case.seed);
    let data = exact_data_of(family, &small, Inputs(inputs.clone()));
    let finished = |output: &Array| family.problem.finish(&small, output.clone(), &[]);
    let reference = data.reference().cloned();
    let groups = group as usize;
    let mut symptoms = session.probe(family, &small, inputs, |probe| {
        survey(probe, 1, |output: &Array| match &reference {
            Some(Reference::Exact(exact)) => check::check_exact(&finished(output), exact).ok,
            _ => false,
        })
    })?;
    let is_all_written = symptoms.unwritten_count[0] == 0;
    symptoms.counts = counts(session, family, &small, groups, is_all_written)?;
    Ok(symptoms)
}

/// Data over which results are exact.
fn exact_fill(family: &Family, case: &Case) -> Fill {
    family.problem.fold().map_or_else(|| family.problem.fill(case), |fold| fold.exact_fill(case))
}

/// Inputs of which single elements can be made to count.
struct Single {
    neutral: Vec<Array>,
    /// Nothing of the first input counts, and what does makes the others count.
    base: Vec<Array>,
    /// An element that counts.
    one: Array,
    /// Whether one decides the result, so that it says nothing of how many count.
    decides: bool,
    /// The result where none counts, and where one does.
    results: [Option<Number>; 2],
}

impl Single {
    fn of(family: &Family, case: &Case) -> Option<Single> {
        let fold = family.problem.fold()?;
        let lone = fold.lone(case, case.seed);
        let lens = family.problem.inputs(case.shape, &case.params);
        let neutral: Vec<Array> = lone.neutral.iter().zip(&lens).map(|(one, &len)| one.repeated(len)).collect();
        let decides = fold.is_decided_by_one(case);
        let ones = |len| data::generate(Fill::Ones, case.dtype, 0, 0, 0, len);
        let one = if decides { lone.values.first()?.first()?.clone() } else { ones(1) };
        let mut base = neutral.clone();
        base.iter_mut().skip(1).for_each(|input| *input = ones(input.len()));
        let finish = |value: &Array| single(&fold.finish(case, value.clone(), &[]));
        let results = [finish(&lone.neutral[0]), finish(&one)];
        Some(Single { neutral, base, one, decides, results })
    }

    /// How often an element counts that leaves this result; none if it is no multiple of it.
    fn times(&self, result: Option<Number>) -> Option<i64> {
        let [none, one] = self.results;
        match result? {
            number if Some(number) == none => Some(0),
            number if Some(number) == one => Some(1),
            _ if self.decides => None,
            Number::Integer(times) => Some(times).filter(|times| times.abs() < 1 << 20),
            Number::Real(times) => (times.abs() < 1e6 && times.fract() == 0.0).then_some(times as i64),
        }
    }
}

fn counts(
    session: &mut Session,
    family: &Family,
    case: &Case,
    group: usize,
    is_all_written: bool,
) -> Result<Option<CountSymptoms>, Stop> {
    let Some(single) = Single::of(family, case) else { return Ok(None) };
    let starts_from = starts_from(session, family, case, &single, is_all_written)?;
    let kinds = if single.decides { None } else { Some(kinds(session, family, case)?) };
    session.probe(family, case, single.base.clone(), |probe| {
        let times = each(probe, &single)?;
        let is_in = |is: &dyn Fn(i64) -> bool| -> Vec<bool> { times.iter().map(|t| t.is_some_and(is)).collect() };
        let counted: Vec<bool> = times.iter().map(|times| *times != Some(0)).collect();
        let many = is_in(&|times| !(0..=1).contains(&times));
        let repeated = many.iter().position(|is| *is).map(|first| Repeated {
            share: check::share(&many, group),
            first: first as u64,
            times: times[first].unwrap_or(0),
            count: many.iter().filter(|is| **is).count() as u64,
        });
        let is_paired = paired(probe, &single)?;
        Ok(Some(CountSymptoms {
            group: group as u64,
            counted: check::share(&counted, group),
            count: counted.iter().filter(|is| **is).count() as u64,
            first_missing: counted.iter().position(|is| !is).map(|at| at as u64),
            repeated,
            strange: times.iter().filter(|times| times.is_none()).count() as u64,
            starts_from,
            is_paired,
            lone_input: lone_input(probe, &single)?,
            kinds,
        }))
    })
}

/// How often each element counts, by a run for each.
fn each(probe: &mut ProbedKernel<'_>, single: &Single) -> Result<Vec<Option<i64>>, Stop> {
    let before = single.neutral[0].at(0).unwrap_or_else(|| single.one.clone());
    probe.session.scrub_local()?;
    (0..single.base[0].len())
        .map(|index| {
            let change = |value: &Array| Change { input: 0, index, value: value.clone() };
            let old = single.base[0].at(index).unwrap_or_else(|| before.clone());
            probe.bound.change(&mut *probe.session.device, &[change(&single.one)])?;
            let output = probe.run(&before)?;
            probe.bound.change(&mut *probe.session.device, &[change(&old)])?;
            Ok(single.times(probe.number(output)))
        })
        .collect()
}

/// Of two inputs, whether elements at the same place meet, at some places.
fn paired(probe: &mut ProbedKernel<'_>, single: &Single) -> Result<Option<bool>, Stop> {
    const PLACES: usize = 8;
    let [neutral, _] = &single.neutral[..] else { return Ok(None) };
    let before = neutral.at(0).unwrap_or_else(|| single.one.clone());
    let len = neutral.len();
    for place in 0..PLACES {
        let at = place * (len - 1) / (PLACES - 1);
        let mut inputs = single.neutral.clone();
        for input in &mut inputs {
            input.put(at, &single.one);
        }
        probe.set(inputs)?;
        let output = probe.run(&before)?;
        if single.times(probe.number(output)) == Some(0) {
            return Ok(Some(false));
        }
    }
    Ok(Some(true))
}

/// Of two inputs, the one that counts where the other is zero.
fn lone_input(probe: &mut ProbedKernel<'_>, single: &Single) -> Result<Option<usize>, Stop> {
    if single.neutral.len() < 2 {
        return Ok(None);
    }
    let before = single.neutral[0].at(0).unwrap_or_else(|| single.one.clone());
    for input in 0..single.neutral.len() {
        let mut inputs = single.neutral.clone();
        inputs[input] = single.one.repeated(inputs[input].len());
        probe.set(inputs)?;
        let output = probe.run(&before)?;
        if single.times(probe.number(output)).is_some_and(|times| times != 0) {
            return Ok(Some(input));
        }
    }
    Ok(None)
}

/// Where a result comes from that no element made.
fn starts_from(
    session: &mut Session,
    family: &Family,
    case: &Case,
    single: &Single,
    is_all_written: bool,
) -> Result<StartsFrom, Stop> {
    let before = single.neutral[0].at(0).unwrap_or_else(|| single.one.clone());
    let is_neutral = |number: Option<Number>| number == single.results[0];
    session.probe(family, case, single.neutral.clone(), |probe| {
        let output = probe.run_scrubbed(&before)?;
        if is_neutral(probe.number(output)) {
            let mut other = Array::zeros(case.dtype, 1);
            other.as_bytes_mut().copy_from_slice(&check::poison(case.dtype));
            let output = probe.run_scrubbed(&other)?;
            let is_right = !is_all_written || is_neutral(probe.number(output));
            return Ok(if is_right { StartsFrom::Nothing } else { StartsFrom::Output });
        }
        probe.bound.quiet_inputs(&mut *probe.session.device, &single.neutral)?;
        let output = probe.run_scrubbed(&before)?;
        Ok(if is_neutral(probe.number(output)) { StartsFrom::BesideInputs } else { StartsFrom::Elsewhere })
    })
}

/// Over which kinds of data the result is right.
fn kinds(session: &mut Session, family: &Family, case: &Case) -> Result<DataKinds, Stop> {
    /// So small that sums are exact in every type.
    const SMALL: u64 = 8;
    let fills = [Fill::Ones, Fill::Exact(SMALL), Fill::Fractions(SMALL), Fill::Real];
    let mut right = [false; 4];
    for (fill, right) in fills.into_iter().zip(&mut right) {
        let inputs = Inputs(make_inputs(family, case, fill, case.seed));
        let mut data = match fill {
            Fill::Real => Data::of(family, case, inputs),
            _ => exact_data_of(family, case, inputs),
        };
        let fence = Fence::of(session.device(), family, case);
        let job = session.companion(family, case, fence, &mut data)?;
        *right = session.verify_once(&job, &data, "over a kind of data").is_ok();
    }
    let [ones, signed, fractions, any] = right;
    Ok(DataKinds { ones, signed, fractions, any })
}

//! What a case is run over: its inputs, here and on the device; what is right for them, and a result beside it.

use super::buffers::Fenced;
use crate::device::{Device, ProgramId};
use gpulab_kernels::{Changed, Family, Spot};
use gpulab_model::check::{self, ElementsVerdict};
use gpulab_model::data::{Array, Change, Dtype, Fill, Params};
use gpulab_model::outcome::{Measured, Number, Status, Stop};
use gpulab_model::plan::{Case, Movement, OutputPart, Plan, Reference, Role};
use std::cell::OnceCell;

/// The variable that says what the second seed is, to repeat a run that named one.
const SECOND_SEED: &str = "GPULAB_SECOND_SEED";

pub fn second_seed() -> Result<Option<u64>, String> {
    let Some(text) = std::env::var_os(SECOND_SEED) else {
        return Ok(None);
    };
    let seed = text.to_str().and_then(|text| text.parse().ok());
    seed.map(Some)
        .ok_or_else(|| format!("{SECOND_SEED} is not a whole number: take one from a message"))
}

/// A case on its way: what was asked, and what it was turned into.
pub struct ReadyCase<'a> {
    pub case: &'a Case,
    pub family: &'a Family,
    pub plan: Plan,
    pub program: ProgramId,
    /// The session's second seed: it draws data that no kernel can know, and the places of changes.
    pub second_seed: u64,
    /// How the case was judged before, if it is only timed once more.
    pub again: Option<Measured>,
}

impl ReadyCase<'_> {
    /// Where something was found that depends on the second seed, with how to find it again.
    pub fn repeatable(&self, when: &str) -> String {
        match when.contains(SECOND_SEED) {
            true => when.to_owned(),
            false => format!("{when}; {SECOND_SEED}={} repeats it", self.second_seed),
        }
    }
}

/// The inputs that are timed over, kept from case to case of the same problem.
pub struct Data {
    /// What they were made or judged for last.
    case: Case,
    pub is_random: bool,
    pub host: Vec<Array>,
    /// Empty until a device needs them.
    pub device: Vec<Fenced>,
    /// None where the inputs themselves say what is right. Private: only [`Data::changed`] puts another one in its place.
    reference: Option<Reference>,
    /// Fingerprints of the inputs, once they were asked for.
    prints: OnceCell<Vec<u128>>,
}

impl Data {
    /// These inputs of a case, with what is right.
    pub fn of(family: &Family, case: &Case, host: Vec<Array>) -> Data {
        Data::unjudged(case, host).judged_for(family, case)
    }

    /// The same inputs for a case, with what is right for it.
    pub fn judged_for(self, family: &Family, case: &Case) -> Data {
        let is_moved = family.problem.movement(case).is_some();
        let reference = (!is_moved).then(|| family.problem.reference(case, &self.host));
        Data {
            case: case.clone(),
            reference,
            ..self
        }
    }

    /// Refuses data over which a wrong kernel of a reader's family would pass. Of fewer elements it may be so by accident.
    pub fn demand_work(&self, job: &ReadyCase<'_>) -> Result<(), Stop> {
        const LEAST: u64 = 64;
        let many = job
            .family
            .described()
            .filter(|_| job.case.shape.elements() >= LEAST);
        let Some(described) = many else { return Ok(()) };
        let Some(right) = &self.reference else {
            return Ok(());
        };
        // What is to be copied may be.
        if let Reference::Near { values, .. } = right
            && self.host.iter().any(|held| {
                check::check_result(held, right, 0).ok && held.widened() != values.widened()
            })
        {
            return Err(Stop::failed(
                "the right result is nearly an input, so a kernel that copies it would pass: give the file a smaller tolerance",
            ));
        }
        let idle = described
            .idle(&self.host)
            .into_iter()
            .find(|(number, held, _)| match right {
                Reference::Parts(parts) => {
                    let part = OutputPart {
                        at: 0,
                        ..parts[*number].clone()
                    };
                    let held = held.as_bytes().to_vec();
                    part.want.len() == held.len()
                        && check::check_result(&Array::U8(held), &Reference::Parts(vec![part]), 0)
                            .ok
                }
                _ => check::check_result(held, right, 0).ok,
            });
        idle.map_or(Ok(()), |(.., why)| Err(Stop::failed(why)))
    }

    /// These inputs of a case, of which it is not yet known what is right.
    pub fn unjudged(case: &Case, host: Vec<Array>) -> Data {
        let device = Vec::new();
        let prints = OnceCell::new();
        Data {
            case: case.clone(),
            is_random: false,
            host,
            device,
            reference: None,
            prints,
        }
    }

    /// Whether this case's inputs, and what is right for them, depend on the same.
    pub fn is_of(&self, family: &Family, case: &Case) -> bool {
        self.is_of_problem(case) && choices(family, &self.case) == choices(family, case)
    }

    fn is_of_problem(
        &self,
        Case {
            family,
            dtype,
            shape,
            seed,
            ..
        }: &Case,
    ) -> bool {
        let own = &self.case;
        (&own.family, own.dtype, own.shape, own.seed) == (family, *dtype, *shape, *seed)
    }

    /// Whether these are random, and this case's inputs and their guard zones would be made from the same.
    pub fn is_made_as(&self, family: &Family, case: &Case) -> bool {
        let problem = &family.problem;
        let made = |case: &Case| {
            (
                problem.fill(case),
                problem.beside(case),
                problem.inputs(case.shape, &case.params),
            )
        };
        self.is_random && self.is_of_problem(case) && made(&self.case) == made(case)
    }

    /// What is right for these inputs; none where they say it themselves.
    pub fn reference(&self) -> Option<&Reference> {
        self.reference.as_ref()
    }

    /// What the inputs must still be after each run, made once.
    pub fn prints(&self) -> &[u128] {
        self.prints.get_or_init(|| {
            self.host
                .iter()
                .map(|array: &Array| check::fingerprint(array.as_bytes()))
                .collect()
        })
    }

    /// Changes after which another result is right; none under a simulator, which looks at accesses and would take all that
    /// is not written anew for uninitialised.
    pub fn deciding(&self, device: &dyn Device, job: &ReadyCase<'_>, spot: Spot) -> Vec<Change> {
        // An experiment with images measures caches, which a copy of the changed image would fill.
        let is_measured = job
            .family
            .rung(&job.case.variant)
            .is_some_and(|rung| !rung.is_own());
        let has_image = job
            .plan
            .buffers
            .iter()
            .any(|spec| matches!(spec.role, Role::Image { .. }));
        if device.info().is_simulator() || (is_measured && has_image) {
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
        job.family
            .problem
            .decide(job.case, &self.host, self.reference.as_ref(), margin, spot)
    }

    /// Has these changes, and what `right` says is right after them, for as long as `go` runs; returns what undoes the changes
    /// elsewhere, too. However `go` ends, the inputs and what is right for them are as before.
    pub fn changed<T>(
        &mut self,
        changes: &[Change],
        right: impl FnOnce(&Data, &[Changed]) -> Option<Reference>,
        go: impl FnOnce(&Data) -> T,
    ) -> (T, Vec<Change>) {
        if changes.is_empty() {
            return (go(self), Vec::new());
        }
        let mut undo: Vec<Change> = changes.iter().map(|change| self.apply(change)).collect();
        let made = changes.iter().zip(&undo);
        let made = made.map(|(change, undo)| Changed {
            change: change.clone(),
            old: undo.value.clone(),
        });
        let made: Vec<Changed> = made.collect();
        undo.reverse();
        let after = right(self, &made);
        let before = std::mem::replace(&mut self.reference, after);
        let gone = go(self);
        undo.iter().for_each(|change| _ = self.apply(change));
        self.reference = before;
        (gone, undo)
    }

    /// Makes a change, and returns what makes it undone.
    fn apply(&mut self, change: &Change) -> Change {
        Change {
            value: self.host[change.input].put(change.index, &change.value),
            ..change.clone()
        }
    }

    /// Elements of the first input; 0 if there is none.
    pub fn first_len(&self) -> usize {
        self.host.first().map_or(0, Array::len)
    }

    /// What is right after changes that were made to these inputs.
    pub fn amended(&self, job: &ReadyCase<'_>, made: &[Changed]) -> Option<Reference> {
        let before = self.reference.as_ref()?;
        let problem = &job.family.problem;
        let held = &self.host;
        let amended = problem.amended(job.case, held, made, before);
        // The digits that a sum loses to a large term do not come back when that term is changed. What is soon added up is added
        // up anew in any case.
        const SOON: usize = 1 << 14;
        let is_short = held.first().is_some_and(|array| array.len() <= SOON);
        let amended = match (before.rounded(), amended.rounded()) {
            (Some(before), Some(after))
                if !held.is_empty() && (is_short || after.magnitude < before.magnitude / 2.0) =>
            {
                problem.reference(job.case, held)
            }
            _ => amended,
        };
        // Over exact data the result is exact after a change, too.
        Some(if matches!(before, Reference::Exact(_)) {
            exactly(amended, job.case.dtype)
        } else {
            amended
        })
    }

    pub fn judge(
        &self,
        got: &Array,
        family: &Family,
        case: &Case,
        depth: u64,
        when: &str,
    ) -> Result<Measured, Stop> {
        match (family.problem.movement(case), &self.reference) {
            (Some(movement), _) => judge_moved(got, &self.host, &movement, when),
            (None, Some(Reference::Unknown(why))) => Err(Stop::failed(why.clone())),
            (None, Some(reference)) => {
                let error = family.problem.error(case, got, &self.host);
                judge_real(error.as_ref().unwrap_or(got), reference, depth, when)
            }
            (None, None) => Err(Stop::failed("there is no reference")),
        }
    }
}

/// The settings that the answer depends on, where they were given.
pub fn choices(family: &Family, case: &Case) -> Params {
    let given = family
        .choices
        .iter()
        .filter_map(|c| case.params.get_key_value(c.name));
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

pub fn make_inputs(family: &Family, case: &Case, fill: Fill, seed: u64) -> Vec<Array> {
    let lens = family.problem.inputs(case.shape, &case.params);
    let problem = &family.problem;
    lens.into_iter()
        .enumerate()
        .map(|(index, len)| problem.input(case, index, len, fill, seed))
        .collect()
}

/// These data of a case, over which its result is exact in any order.
pub fn exact_data_of(family: &Family, case: &Case, host: Vec<Array>) -> Data {
    let mut data = Data::of(family, case, host);
    data.reference = data
        .reference
        .map(|reference| exactly(reference, case.dtype));
    data
}

/// The reference of data over which the result is exact in any order.
pub fn exactly(reference: Reference, dtype: Dtype) -> Reference {
    match (reference, dtype) {
        (Reference::Rounded(sum), Dtype::F32) => {
            Reference::Exact(Array::F32(vec![sum.value as f32]))
        }
        (Reference::Rounded(sum), _) => Reference::Exact(Array::F64(vec![sum.value])),
        (other, _) => other,
    }
}

/// What exact data to check a rung over that is timed, with their seeds. All but the first are of the second seed; so are the
/// only ones where the timed data are exact themselves.
pub fn timed_exact_data(job: &ReadyCase<'_>) -> Vec<(Fill, u64)> {
    let problem = &job.family.problem;
    let second = job.second_seed;
    let Some(fold) = problem.fold() else {
        return problem
            .second_fill(job.case)
            .map(|fill| (fill, second))
            .into_iter()
            .collect();
    };
    let first = fold.exact_fill(job.case);
    let mut more = fold.more_exact_fills(job.case);
    if more.is_empty() {
        more.push(first);
    }
    std::iter::once((first, !job.case.seed))
        .chain(more.into_iter().map(|fill| (fill, second)))
        .collect()
}

/// What more exact data to check a rung over that is only verified, with their seeds.
pub fn exact_data(job: &ReadyCase<'_>) -> Vec<(Fill, u64)> {
    let Some(fold) = job.family.problem.fold() else {
        return Vec::new();
    };
    let exact = fold.exact_fill(job.case);
    let seeds = (1..=3).map(|k| (exact, (!job.case.seed).wrapping_sub(k)));
    seeds.chain([(Fill::Ones, 0)]).collect()
}

fn judge_moved(
    got: &Array,
    inputs: &[Array],
    movement: &Movement,
    when: &str,
) -> Result<Measured, Stop> {
    let [input] = inputs else {
        return Err(Stop::failed("elements are moved from one input"));
    };
    demand(check::check_moved(got, input, movement), when).map(|verdict| judged(verdict, None))
}

/// Judges a result. Over real data, so many roundings that no bound is left make S itself the bound: then only the exact
/// data, which every case is checked over as well, can tell right from wrong.
fn judge_real(
    got: &Array,
    reference: &Reference,
    depth: u64,
    when: &str,
) -> Result<Measured, Stop> {
    let most = (0.09 / got.dtype().unit_roundoff()) as u64;
    let mut verdict = check::check_result(got, reference, depth.min(most));
    if let Reference::Rounded(sum) = reference
        && depth > most
        && sum.magnitude.is_finite()
        && verdict.max_err <= sum.magnitude
    {
        verdict = ElementsVerdict {
            ok: true,
            tol: sum.magnitude,
            why: None,
            ..verdict
        };
    }
    demand(verdict, when).map(|verdict| judged(verdict, single(got)))
}

fn judged(
    ElementsVerdict { max_err, tol, .. }: ElementsVerdict,
    value: Option<Number>,
) -> Measured {
    let [max_err, tol] = [max_err, tol].map(|error| Some(error).filter(|error| error.is_finite()));
    Measured {
        max_err,
        tol,
        result: value,
        ..Measured::default()
    }
}

pub fn demand(verdict: ElementsVerdict, when: &str) -> Result<ElementsVerdict, Stop> {
    if verdict.ok {
        Ok(verdict)
    } else {
        Err(wrong(format!(
            "{} ({when})",
            verdict.why.unwrap_or_default()
        )))
    }
}

pub fn wrong(reason: String) -> Stop {
    Stop::new(Status::WrongResult, reason)
}

/// What the plan leaves of its inputs to the host.
pub fn tails(plan: &Plan, inputs: &[Array]) -> Vec<Array> {
    plan.host_tail.map_or_else(Vec::new, |start| {
        inputs
            .iter()
            .map(|array| array.tail(start as usize))
            .collect()
    })
}

pub fn single(array: &Array) -> Option<Number> {
    if array.len() != 1 {
        return None;
    }
    Some(match array {
        Array::F32(v) => Number::Real(f64::from(v[0])),
        Array::F64(v) => Number::Real(v[0]),
        Array::I32(v) => Number::Integer(i64::from(v[0])),
        Array::I64(v) => Number::Integer(v[0]),
        Array::U8(v) => Number::Integer(v[0].into()),
    })
}

#[cfg(test)]
mod tests {
    use super::super::session::Session;
    use super::*;
    use crate::fake::FakeDevice;
    use gpulab_kernels::{Sources, built_in};
    use gpulab_model::data::Shape;
    use gpulab_model::plan::WorkGroup;

    fn case(
        family: &str,
        dtype: Dtype,
        (n, m): (u64, u64),
        seed: u64,
        params: &[(&str, &str)],
    ) -> Case {
        let params = params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect();
        let family = family.to_owned();
        let variant = String::new();
        let wg = WorkGroup::linear(64);
        Case {
            family,
            variant,
            dtype,
            shape: Shape { n, m },
            wg,
            params,
            seed,
        }
    }

    /// Whether the second case goes on with the inputs of the first; they must be those that it has alone.
    fn is_shared(first: &Case, second: &Case) -> bool {
        let load = |session: &mut Session, case: &Case| {
            session
                .load_host(case, built_in(&case.family).unwrap())
                .unwrap();
        };
        let session = || {
            Session::new(
                Box::new(FakeDevice::new(Box::new(|_, _| Ok(1)))),
                Sources::default(),
                None,
            )
        };
        let mut both = session();
        let mut alone = session();
        load(&mut both, first);
        // Who goes on with the inputs goes on with what is known of them.
        both.data.as_ref().unwrap().prints.get_or_init(|| vec![42]);
        load(&mut both, second);
        load(&mut alone, second);
        let [shared, own] = [&both, &alone].map(|session| session.data.as_ref().unwrap());
        assert_eq!(
            (&shared.host, &shared.reference),
            (&own.host, &own.reference),
            "{second:?}"
        );
        shared.prints.get().is_some()
    }

    #[test]
    fn inputs_are_shared_by_cases_that_ask_the_same_numbers_for_something_else_only() {
        let sum = case("reduce", Dtype::I32, (1000, 1), 1, &[("op", "sum")]);
        let op = |op| case("reduce", Dtype::I32, (1000, 1), 1, &[("op", op)]);
        let wide = case("transpose", Dtype::I32, (40, 25), 1, &[]);
        assert!(is_shared(
            &sum,
            &Case {
                variant: "wide".into(),
                wg: WorkGroup::linear(1),
                ..sum.clone()
            }
        ));
        assert!(
            is_shared(&sum, &case("reduce", Dtype::I32, (1000, 1), 1, &[])),
            "the sum is what nobody says"
        );
        for (what, first, second) in [
            (
                "type",
                &sum,
                Case {
                    dtype: Dtype::F32,
                    ..sum.clone()
                },
            ),
            (
                "seed",
                &sum,
                Case {
                    seed: 2,
                    ..sum.clone()
                },
            ),
            (
                "length",
                &sum,
                Case {
                    shape: Shape { n: 999, m: 1 },
                    ..sum.clone()
                },
            ),
            ("numbers", &sum, op("min")),
            ("numbers of the guard zones", &sum, op("xor")),
            (
                "shape",
                &wide,
                Case {
                    shape: Shape { n: 25, m: 40 },
                    ..wide.clone()
                },
            ),
            (
                "gap",
                &wide,
                case("transpose", Dtype::I32, (40, 25), 1, &[("gap", "7")]),
            ),
            (
                "family",
                &sum,
                Case {
                    family: "dot".into(),
                    params: Params::new(),
                    ..sum.clone()
                },
            ),
        ] {
            assert!(!is_shared(first, &second), "another {what}");
        }
    }

    #[test]
    fn a_sum_whose_largest_term_is_changed_is_added_up_anew() {
        let family = built_in("dot").unwrap();
        let mut case = case("dot", Dtype::F64, (1000, 1), 1, &[]);
        case.variant = "naive".into();
        let ones = Array::F64(vec![1.5; 1000]);
        let mut spike = ones.clone();
        spike.put(0, &Array::F64(vec![1e20]));
        let mut data = Data::of(family, &case, vec![spike, ones]);
        let target = gpulab_model::plan::Target::with_everything(false);
        let plan = family
            .plan(family.rung("naive").unwrap(), &case, &target)
            .unwrap();
        let job = ReadyCase {
            case: &case,
            family,
            plan,
            program: ProgramId(0),
            second_seed: 1,
            again: None,
        };
        let changes = [0, 1].map(|input| Change {
            input,
            index: 0,
            value: Array::F64(vec![2.0]),
        });
        let (sum, _) = data.changed(
            &changes,
            |data: &Data, made: &[Changed]| data.amended(&job, made),
            |data| data.reference().unwrap().rounded().unwrap(),
        );
        assert_eq!(sum.value, 4.0 + 999.0 * 2.25);
    }
}

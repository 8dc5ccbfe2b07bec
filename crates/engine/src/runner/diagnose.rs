//! What a wrong kernel does, found out by running it over data of our choice at small sizes.
//!
//! Facts only, and no arrays: a worker finds them out, and whoever asked it says in words what they mean.

use super::buffers::{BoundPlan, Fence};
use super::inputs::{Data, ReadyCase, exact_data_of, make_inputs, single};
use super::session::Session;
use gpulab_kernels::{Family, Form, tile_of_a_group};
use gpulab_model::check;
use gpulab_model::data::{self, Array, Change, Fill, Shape};
use gpulab_model::outcome::{
    CellSymptoms, CountSymptoms, DataKind, Likeness, Number, StartsFrom, Stop, Symptoms,
};
use gpulab_model::plan::{Case, Reference};

/// Most elements that are looked at one by one.
const MOST: u64 = 1 << 14;

/// Longest side of a tile that is looked at.
const MOST_SIDE: u64 = 256;

/// A case's kernels and buffers, ready to be run over any inputs.
struct ProbedKernel<'a> {
    session: &'a mut Session,
    job: &'a ReadyCase<'a>,
    bound: &'a BoundPlan,
    data: &'a Data,
}

impl Session {
    /// Looks at what a kernel does wrong. The case's own size does not matter: small ones are chosen.
    pub fn diagnose(&mut self, case: &Case) -> Result<Symptoms, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        let rung = family
            .rung(&case.variant)
            .ok_or_else(|| Stop::failed("there is no such rung"))?;
        let tile = tile_of_a_group(family, rung, case, &self.device.info().target)?;
        match family.form {
            Form::Vector => vectors(self, family, case, tile[0]),
            Form::Matrix | Form::Square => {
                matrices(self, family, case, tile.map(|side| side.min(MOST_SIDE)))
            }
        }
    }

    /// Has a case's kernels ready over these inputs for as long as `go` runs.
    fn probe<T>(
        &mut self,
        family: &Family,
        case: &Case,
        inputs: Vec<Array>,
        go: impl FnOnce(&mut ProbedKernel<'_>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let mut data = Data::unjudged(case, inputs);
        let fence = Fence::of(&*self.device, family, case);
        let job = self.companion(family, case, fence, &mut data)?;
        let bound = self.bind(&job, &data.device)?;
        go(&mut ProbedKernel {
            session: self,
            job: &job,
            bound: &bound,
            data: &data,
        })
    }
}

impl ProbedKernel<'_> {
    /// Runs the kernels over scrubbed local memory and what all outputs hold before, element by element; the output as the device
    /// left it.
    fn run(&mut self, before: &Array) -> Result<Array, Stop> {
        self.session.scrub_local()?;
        let device = &mut *self.session.device;
        self.bound
            .poison_with(device, |_| before.as_bytes().to_vec())?;
        device.run(self.job.program, &self.bound.launches())?;
        Ok(self.bound.output(device)?)
    }

    /// The single number that the host makes of an output.
    fn number(&self, output: Array) -> Option<Number> {
        let ReadyCase { family, case, .. } = self.job;
        single(&family.problem.finish(case, output, &[]))
    }

    /// What every kernel is looked at for, over data that tell its results apart.
    fn survey(&mut self, is_right: impl Fn(&Array) -> bool) -> Result<Symptoms, Stop> {
        const RUNS: usize = 8;
        let dtype = self.job.case.dtype;
        let [poison, other] =
            [check::poison(dtype), check::other_poison(dtype)].map(|bytes| of_bytes(dtype, &bytes));
        let first = self.run(&poison)?;
        let outside = self.bound.overrun(&mut *self.session.device)?;
        let changed_input = self
            .bound
            .changed_input(&mut *self.session.device, self.data.prints())?;
        let right = is_right(&first);
        let mut differs = false;
        for _ in 1..RUNS {
            differs |= self.run(&poison)?.as_bytes() != first.as_bytes();
        }
        let second = self.run(&other)?;
        let elements = first
            .as_bytes()
            .chunks(dtype.size())
            .zip(second.as_bytes().chunks(dtype.size()));
        let unwritten: Vec<bool> = elements
            .map(|(first, second)| first == poison.as_bytes() && second == other.as_bytes())
            .collect();
        let count = unwritten.iter().filter(|is| **is).count() as u64;
        Ok(Symptoms {
            shape: self.job.case.shape,
            wg: self.job.plan.wg,
            is_right: right
                && !differs
                && outside.is_none()
                && changed_input.is_none()
                && count == 0,
            outside,
            changed_input,
            differs,
            unwritten_count: [count, unwritten.len() as u64],
            first_unwritten: unwritten.iter().position(|is| *is).map(|at| at as u64),
            counts: None,
            cells: None,
        })
    }
}

/// A single element of these bytes.
fn of_bytes(dtype: data::Dtype, bytes: &[u8]) -> Array {
    let mut one = Array::zeros(dtype, 1);
    one.as_bytes_mut().copy_from_slice(bytes);
    one
}

fn vectors(
    session: &mut Session,
    family: &Family,
    case: &Case,
    group: u64,
) -> Result<Symptoms, Stop> {
    // Some elements lie behind the last whole group.
    let small = Case {
        shape: Shape::vector((3 * group + 5).min(MOST)),
        ..case.clone()
    };
    let fill = family.problem.fold().map_or_else(
        || family.problem.fill(&small),
        |fold| fold.exact_fill(&small),
    );
    let inputs = make_inputs(family, &small, fill, case.seed);
    let data = exact_data_of(family, &small, inputs.clone());
    let reference = data.reference().cloned();
    let mut symptoms = session.probe(family, &small, inputs, |probe| {
        probe.survey(|output: &Array| match &reference {
            Some(Reference::Exact(exact)) => {
                check::check_exact(&family.problem.finish(&small, output.clone(), &[]), exact).ok
            }
            _ => false,
        })
    })?;
    symptoms.counts = counts(
        session,
        family,
        &small,
        group as usize,
        symptoms.unwritten_count[0] == 0,
    )?;
    Ok(symptoms)
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
    /// What outputs hold before.
    before: Array,
}

impl Single {
    fn of(family: &Family, case: &Case) -> Option<Single> {
        let fold = family.problem.fold()?;
        let lone = fold.lone(case, case.seed);
        let lens = family.problem.inputs(case.shape, &case.params);
        let neutral: Vec<Array> = lone
            .neutral
            .iter()
            .zip(&lens)
            .map(|(one, &len)| one.repeated(len))
            .collect();
        let decides = fold.is_decided_by_one(case);
        let one = if decides {
            lone.values.first()?.first()?.clone()
        } else {
            ones(case, 1)
        };
        let mut base = neutral.clone();
        base.iter_mut()
            .skip(1)
            .for_each(|input| *input = ones(case, input.len()));
        let results =
            [&lone.neutral[0], &one].map(|value| single(&fold.finish(case, value.clone(), &[])));
        let before = neutral[0].at(0)?;
        Some(Single {
            neutral,
            base,
            one,
            decides,
            results,
            before,
        })
    }

    /// How often an element counts that leaves this result; none if it is no multiple of it.
    fn times(&self, result: Option<Number>) -> Option<i64> {
        match result? {
            number if Some(number) == self.results[0] => Some(0),
            number if Some(number) == self.results[1] => Some(1),
            _ if self.decides => None,
            Number::Integer(times) => Some(times).filter(|times| times.abs() < 1 << 20),
            Number::Real(times) => {
                (times.abs() < 1e6 && times.fract() == 0.0).then_some(times as i64)
            }
        }
    }
}

fn ones(case: &Case, len: usize) -> Array {
    data::generate(Fill::Ones, case.dtype, 0, 0, 0, len)
}

/// Which elements count in the result and how often, by a run for each, and what else is in it.
fn counts(
    session: &mut Session,
    family: &Family,
    case: &Case,
    group: usize,
    is_all_written: bool,
) -> Result<Option<CountSymptoms>, Stop> {
    let Some(single) = Single::of(family, case) else {
        return Ok(None);
    };
    let starts_from = starts_from(session, family, case, &single, is_all_written)?;
    let wrong_over = if single.decides {
        None
    } else {
        wrong_over(session, family, case)?
    };
    session.probe(family, case, single.base.clone(), |probe| {
        let mut times = Vec::new();
        for index in 0..single.base[0].len() {
            let old = single.base[0]
                .at(index)
                .unwrap_or_else(|| single.before.clone());
            let change = Change {
                input: 0,
                index,
                value: single.one.clone(),
            };
            let undo = Change {
                value: old,
                ..change.clone()
            };
            probe.bound.change(&mut *probe.session.device, &[change])?;
            let output = probe.run(&single.before)?;
            probe.bound.change(&mut *probe.session.device, &[undo])?;
            times.push(single.times(probe.number(output)));
        }
        let counted: Vec<bool> = times.iter().map(|times| *times != Some(0)).collect();
        let repeated: Vec<(usize, i64)> = (0..)
            .zip(&times)
            .filter_map(|(at, times)| Some((at, times.filter(|many| !(0..=1).contains(many))?)))
            .collect();
        let first = repeated.first();
        Ok(Some(CountSymptoms {
            group: group as u64,
            counted: check::share(&counted, group),
            count: counted.iter().filter(|is| **is).count() as u64,
            first_missing: counted.iter().position(|is| !is).map(|at| at as u64),
            first_repeated: first.map(|(at, _)| *at as u64),
            repeated_times: first.map_or(0, |(_, times)| *times),
            repeated_count: repeated.len() as u64,
            starts_from,
            wrong_over,
        }))
    })
}

/// Where a result comes from that no element made.
fn starts_from(
    session: &mut Session,
    family: &Family,
    case: &Case,
    single: &Single,
    is_all_written: bool,
) -> Result<StartsFrom, Stop> {
    session.probe(family, case, single.neutral.clone(), |probe| {
        let output = probe.run(&single.before)?;
        if probe.number(output) == single.results[0] {
            let output = probe.run(&of_bytes(case.dtype, &check::poison(case.dtype)))?;
            let is_right = !is_all_written || probe.number(output) == single.results[0];
            return Ok(if is_right {
                StartsFrom::Nothing
            } else {
                StartsFrom::Output
            });
        }
        probe
            .bound
            .quiet_inputs(&mut *probe.session.device, &single.neutral)?;
        let output = probe.run(&single.before)?;
        let is_neutral = probe.number(output) == single.results[0];
        Ok(if is_neutral {
            StartsFrom::BesideInputs
        } else {
            StartsFrom::Elsewhere
        })
    })
}

/// The first kind of data over which the result is wrong, where it is right over those before.
fn wrong_over(
    session: &mut Session,
    family: &Family,
    case: &Case,
) -> Result<Option<DataKind>, Stop> {
    /// So small that sums are exact in every type.
    const SMALL: u64 = 8;
    let kinds = [
        (Fill::Ones, None),
        (Fill::Exact(SMALL), Some(DataKind::Signed)),
        (Fill::Fractions(SMALL), Some(DataKind::Fractions)),
        (Fill::Real, Some(DataKind::Any)),
    ];
    for (fill, kind) in kinds {
        let inputs = make_inputs(family, case, fill, case.seed);
        let mut data = match fill {
            Fill::Real => Data::of(family, case, inputs),
            _ => exact_data_of(family, case, inputs),
        };
        let fence = Fence::of(session.device(), family, case);
        let job = session.companion(family, case, fence, &mut data)?;
        let is_right = session
            .verify_once(&job, &data, "over a kind of data")
            .is_ok();
        if !is_right {
            return Ok(kind);
        }
    }
    Ok(None)
}

fn matrices(
    session: &mut Session,
    family: &Family,
    case: &Case,
    tile: [u64; 2],
) -> Result<Symptoms, Stop> {
    let [wide, high] = tile;
    let side = wide.max(high);
    // Whole squares first, then other whole shapes, then such with a rest.
    let shapes = match family.form {
        Form::Square => vec![[2 * side; 2], [2 * side + 3; 2]],
        _ => vec![
            [2 * side; 2],
            [3 * side, 2 * side],
            [2 * side, 3 * side],
            [2 * wide + 3, 3 * high + 1],
        ],
    };
    let mut right = Vec::new();
    let mut found: Option<Symptoms> = None;
    for [n, m] in shapes {
        let small = Case {
            shape: Shape { n, m },
            ..case.clone()
        };
        let symptoms = of_shape(session, family, &small, tile.map(|side| side as usize))?;
        right.push((n == m, n % side == 0, symptoms.is_right));
        if found.as_ref().is_none_or(|known| known.is_right) {
            found = Some(symptoms);
        }
    }
    let mut symptoms = found.ok_or_else(|| Stop::failed("no shape could be tried"))?;
    if let Some(cells) = &mut symptoms.cells {
        cells.only_squares = family.form == Form::Matrix
            && right
                .iter()
                .all(|&(is_square, _, is_right)| is_square == is_right);
        cells.only_whole = right
            .iter()
            .all(|&(_, is_whole, is_right)| is_whole == is_right);
    }
    Ok(symptoms)
}

/// Which cells of a result are right and written, by their places in the input, and what the others hold.
fn of_shape(
    session: &mut Session,
    family: &Family,
    case: &Case,
    tile: [usize; 2],
) -> Result<Symptoms, Stop> {
    /// Few, so that sums are exact.
    const WEIGHTS: u64 = 97;
    let movement = family.problem.movement(case);
    let n = case.shape.n as usize;
    let input = match &movement {
        Some(movement) => Array::narrowed(
            case.dtype,
            (1..=movement.input_len()).map(|number| number as f64),
        ),
        None => {
            let weights =
                (0..n * n).map(|at| (1 + data::draw(case.seed, at as u64) % WEIGHTS) as f64);
            Array::narrowed(case.dtype, weights)
        }
    };
    let want = match &movement {
        Some(movement) => {
            let mut output = Array::zeros(case.dtype, movement.output_len());
            movement.carry_out(&input, &mut output);
            output.widened()
        }
        None => {
            let data = Data::of(family, case, vec![input.clone()]);
            data.reference()
                .and_then(|r| r.exact())
                .map(Array::widened)
                .unwrap_or_default()
        }
    };
    let columns = movement.as_ref().map_or(n, |movement| movement.columns);
    let given = input.widened();
    session.probe(family, case, vec![input], |probe| {
        let mut symptoms = probe.survey(|got| got.widened() == want)?;
        let nothing = of_bytes(case.dtype, &check::poison(case.dtype));
        let output = probe.run(&nothing)?;
        let is_written: Vec<bool> = output
            .as_bytes()
            .chunks(case.dtype.size())
            .map(|x| x != nothing.as_bytes())
            .collect();
        let got = output.widened();
        let places = (0..got.len()).map(|at| match &movement {
            Some(movement) => (at % columns) * movement.to_pitch + at / columns,
            None => at,
        });
        let places: Vec<usize> = places.collect();
        let is_right: Vec<bool> = places.iter().map(|&at| got[at] == want[at]).collect();
        let is_written: Vec<bool> = places.iter().map(|&at| is_written[at]).collect();
        symptoms.cells = Some(CellSymptoms {
            tile: tile.map(|side| side as u64),
            right: check::region(&is_right, columns, tile),
            written: check::region(&is_written, columns, tile),
            looks_like: match &movement {
                Some(movement) => likeness(&got, &want, &given, movement.rows, tile[0]),
                None => {
                    let is_turned =
                        is_likely(&got, &want, &|at| want.get(at % n * n + at / n).copied());
                    is_turned.then_some(Likeness::Transposed)
                }
            },
            only_squares: false,
            only_whole: false,
        });
        Ok(symptoms)
    })
}

/// Whether nine of ten cells hold these values, of those where they are others than the right ones.
fn is_likely(got: &[f64], want: &[f64], cell: &dyn Fn(usize) -> Option<f64>) -> bool {
    let decided = (0..got.len()).filter_map(|at| Some((at, cell(at).filter(|x| *x != want[at])?)));
    let are: Vec<bool> = decided.map(|(at, x)| got[at] == x).collect();
    !are.is_empty() && 10 * are.iter().filter(|so| **so).count() >= 9 * are.len()
}

/// What a transposed matrix is instead, whose output has rows of this length.
fn likeness(
    got: &[f64],
    want: &[f64],
    given: &[f64],
    rows: usize,
    side: usize,
) -> Option<Likeness> {
    let columns = given.len() / rows.max(1);
    let source = |row: usize, column: usize| {
        (row < rows && column < columns)
            .then(|| given.get(row * columns + column).copied())
            .flatten()
    };
    let of_tile = |at: usize| {
        [
            at / rows / side * side,
            at / rows % side,
            at % rows / side * side,
            at % rows % side,
        ]
    };
    type CellOf<'c> = &'c dyn Fn(usize) -> Option<f64>;
    let named: [(Likeness, CellOf<'_>); 3] = [
        (Likeness::Input, &|at| given.get(at).copied()),
        (Likeness::TilesStay, &|at| {
            let [top, down, left, across] = of_tile(at);
            source(top + across, left + down)
        }),
        (Likeness::TilesUnturned, &|at| {
            let [top, down, left, across] = of_tile(at);
            source(left + down, top + across)
        }),
    ];
    let named = &named[..if side > 1 { 3 } else { 1 }];
    named
        .iter()
        .find(|(_, cell)| is_likely(got, want, cell))
        .map(|(likeness, _)| *likeness)
}

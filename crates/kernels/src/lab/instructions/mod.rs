//! Chains of an operation, and functions of many arguments.

pub mod operation;

use self::operation::{FORM, Function, Instruction, Next, OP, Operation, Precision, SIGN};
use super::*;

/// n items with chains of an operation.
pub static PAIRS: Family = BuiltInFamily {
    name: "instructions",
    about: "chains of one operation",
    problem: &Pairs,
    ladder: const { &ladder([rung("lab/instructions/pairs.cl", pairs, &[])]) },
    choices: &[OP, FORM, CHAINS, ROUNDS],
    dtypes: &[Dtype::F32, Dtype::I32, Dtype::F64],
    ceiling: Bound::Arithmetic,
    ..READS
}
.family();

/// A function of n arguments in f32, an even number, which are made of as many words.
pub static ONCE: Family = BuiltInFamily {
    name: "accuracy",
    about: "a function's values",
    problem: &Once,
    ladder: const { &ladder([rung("lab/accuracy/once.cl", once, &[])]) },
    choices: &[OP, FORM, ROUNDS],
    ceiling: Bound::Copy,
    ..READS
}
.family();

pub const CHAINS: Tunable = setting("chains", "independent chains of an item");

struct Pairs;

impl Problem for Pairs {
    fn result(&self, shape: Shape, _: &Params) -> usize {
        shape.n as usize
    }

    fn fill(&self, _: &Case) -> Fill {
        Fill::Exact(LARGEST as u64)
    }

    /// The first turns, after which most operations still change their results.
    fn companions(&self, case: &Case, plan: &Plan) -> Vec<Case> {
        let few = ["1", "2", "3"].into_iter().filter(|_| get(&case.params, ROUNDS.name) > 3);
        few.map(|turns: &str| {
            let mut params = plan.params.clone();
            params.insert(ROUNDS.name.into(), turns.into());
            Case { params, ..case.clone() }
        })
        .collect()
    }

    fn cost(&self, case: &Case) -> Cost {
        let chains = get(&case.params, CHAINS.name);
        let counted = chains * steps(case) * Instruction::of(case).map_or(0, Instruction::counts);
        let n = case.shape.n as f64;
        Cost { bytes: 2.0 * n * case.dtype.size() as f64, ops: n * counted as f64 }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        match Instruction::of(case) {
            Some(Instruction::Function(function, form)) => {
                Reference::Error(32.0 * (function.allowed(case.dtype, form) + 1.0))
            }
            Some(Instruction::Operation(operation)) => Reference::Exact(whole(case, operation, &inputs[0])),
            None => Reference::Exact(Array::zeros(case.dtype, 0)),
        }
    }

    /// Sums of chains of functions become their largest error in ulp. A step adds an error and makes none larger, but
    /// for those few with which a chain begins, each smaller by far: 16 steps' errors, doubled as the ulp may double
    /// from a number to the next, are more than any chain has.
    fn error(&self, case: &Case, output: &Array, inputs: &[Array]) -> Option<Array> {
        let (Some(Instruction::Function(function, _)), [starts]) = (Instruction::of(case), inputs) else { return None };
        let sums: Vec<f64> = (-LARGEST..=LARGEST).map(|start| converged(case, function, start as f64)).collect();
        let want = |start: &f64| sums[(*start as i64 + LARGEST) as usize];
        let wanted: Vec<f64> = starts.widened().iter().map(want).collect();
        Some(Array::F64(vec![largest_error(&output.widened(), &wanted, case.dtype)]))
    }
}

/// Largest number that a chain begins with, of either sign.
const LARGEST: i64 = 8;

fn steps(case: &Case) -> u64 {
    2 * get(&case.params, ROUNDS.name) * Instruction::of(case).map_or(0, Instruction::turn)
}

/// The sums of chains of whole numbers, of each item.
fn whole(case: &Case, operation: &Operation, starts: &Array) -> Array {
    let chains = get(&case.params, CHAINS.name);
    let steps = steps(case);
    // An item depends on the one number that it begins with, of which there are few.
    let each = |sum: &dyn Fn(i64) -> f64| -> Vec<f64> {
        let sums: Vec<f64> = (-LARGEST..=LARGEST).map(sum).collect();
        starts.widened().iter().map(|start| sums[(*start as i64 + LARGEST) as usize]).collect()
    };
    match operation.next {
        Next::Word(next) => {
            let first = |start: i64, c: u64| match start + c as i64 {
                place if operation.start == SIGN => (2 * (place & 1) - 1) as u32,
                place => (2 * place + 1) as u32,
            };
            let chain = |start, c| last(steps, first(start, c), |x, y| next(x, y, first(start, 0)));
            let sum = |start| (0..chains).map(|c| chain(start, c)).fold(0, u32::wrapping_add);
            array(each(&|start| f64::from(sum(start))).into_iter().map(|sum| sum as u32))
        }
        Next::Float(next) => {
            let chain = |start: f64, c: u64| last(steps, start + c as f64, |x, y| next(x, y, start));
            let sums = each(&|start| (0..chains).map(|c| chain(start as f64, c)).sum());
            if case.dtype == Dtype::F64 {
                Array::F64(sums)
            } else {
                Array::F32(sums.iter().map(|&s| s as f32).collect())
            }
        }
    }
}

/// The newest number after so many steps of a pair that begins with `start` twice.
fn last<N: Copy>(steps: u64, start: N, next: impl Fn(N, N) -> N) -> N {
    (0..steps).fold((start, start), |(x, y), _| (y, next(x, y))).1
}

/// The sum of an item's chains of a function.
fn converged(case: &Case, function: &Function, start: f64) -> f64 {
    let first = |c: u64| 1.0 + start * start / 64.0 + c as f64 / 8.0;
    (0..get(&case.params, CHAINS.name)).map(|c| last(steps(case), first(c), |_, y| (function.next)(y))).sum()
}

fn pairs(ask: &Ask<'_>) -> Planned {
    let Case { params, dtype, .. } = ask.case;
    let asked = Instruction::of(ask.case).ok_or_else(unknown)?;
    let (step, start, term) = match asked {
        Instruction::Operation(operation) => (operation.step, operation.start, 1),
        Instruction::Function(function, _) => (function.step, "NEAR", function.term),
    };
    let chains = get(params, CHAINS.name).to_string();
    let mut defines = vec![
        ("STEP", step.to_owned()),
        ("START", start.to_owned()),
        ("STEPS", asked.turn().to_string()),
        ("CHAINS", chains),
    ];
    defines.extend(calling(asked));
    // As the fragment on the smaller of two says.
    match dtype {
        Dtype::I32 => defines.extend([("SMALLER", "min".to_owned()), ("LARGER", "max".to_owned())]),
        _ if ask.target.gpu => defines.extend([("SMALLER", "fmin".to_owned()), ("LARGER", "fmax".to_owned())]),
        _ => {}
    }
    of_each_item(ask, &defines, &[arg(ask, ROUNDS.name), Arg::Uint(1), Arg::Uint(term)], 0)
}

struct Once;

impl Problem for Once {
    fn cost(&self, case: &Case) -> Cost {
        Cost { bytes: 12.0 * case.shape.n as f64, ops: case.shape.n as f64 }
    }

    fn reference(&self, case: &Case, _: &[Array]) -> Reference {
        match Instruction::of(case) {
            Some(Instruction::Function(function, form)) => Reference::Error(function.allowed(Dtype::F32, form)),
            _ => Reference::Error(0.0),
        }
    }

    /// The values become their largest error in ulp.
    fn error(&self, case: &Case, output: &Array, inputs: &[Array]) -> Option<Array> {
        let (Some(Instruction::Function(function, _)), [drawn]) = (Instruction::of(case), inputs) else { return None };
        let (from, span) = arguments(function);
        let arguments: Vec<f64> = words(drawn).iter().map(|w| float(from + (w & span))).collect();
        let want = |(i, &y): (usize, &f64)| (function.value)(arguments[i ^ 1], y);
        let wanted: Vec<f64> = arguments.iter().enumerate().map(want).collect();
        let got: Vec<f64> = words(output).into_iter().map(float).collect();
        Some(Array::F64(vec![largest_error(&got, &wanted, Dtype::F32)]))
    }
}

/// Bits of a function's least argument, and which bits may exceed them.
fn arguments(function: &Function) -> (u32, u32) {
    (2f32.powi(function.from).to_bits(), (function.binades << 23) - 1)
}

fn float(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

fn once(ask: &Ask<'_>) -> Planned {
    let n = whole_groups(ask)?;
    let Some(asked @ Instruction::Function(function, _)) = Instruction::of(ask.case) else { return Err(unknown()) };
    if !n.is_multiple_of(2) {
        return Err(Refusal::Size(format!("n={n}: an even number is needed")));
    }
    let (from, span) = arguments(function);
    let apply = if function.is_binary { "TO_TWO" } else { "TO_ONE" };
    let mut defines = vec![("APPLY", apply.to_owned()), ("FROM", format!("{from}u")), ("SPAN", format!("{span}u"))];
    defines.extend(calling(asked));
    of_each_item(ask, &defines, &[], 0)
}

fn unknown() -> Refusal {
    Refusal::Setting(format!("{}, {}: there is no such operation", OP.name, FORM.name))
}

/// What makes the kernels call a function.
fn calling(asked: Instruction) -> Vec<(&'static str, String)> {
    match asked {
        Instruction::Operation(_) => Vec::new(),
        Instruction::Function(function, form) => vec![
            ("FUNCTION", function.call(form).to_owned()),
            ("FAST_RELAXED_MATH", u8::from(form == Precision::Fast).to_string()),
        ],
    }
}

/// The largest error, in units of the last place of what is wanted; infinite if something is no number.
fn largest_error(got: &[f64], wanted: &[f64], dtype: Dtype) -> f64 {
    let errors = got.iter().zip(wanted).map(|(got, want)| (got - want).abs() / ulp(*want, dtype));
    errors.fold(0.0, |most, error| {
        if error <= most {
            most
        } else if error.is_nan() {
            f64::INFINITY
        } else {
            error
        }
    })
}

/// The distance of a float from the next one, above the smallest normal numbers.
fn ulp(value: f64, dtype: Dtype) -> f64 {
    let bits = if dtype == Dtype::F64 { 52 } else { 23 };
    2f64.powi(value.abs().log2().floor() as i32 - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_in_units_of_the_last_place() {
        assert_eq!(ulp(1.0, Dtype::F32), f64::from(f32::EPSILON));
        assert_eq!(ulp(-3.9, Dtype::F64), 2.0 * f64::EPSILON);
        let next = f64::from(1.5f32.next_up());
        assert_eq!(largest_error(&[1.0, next], &[1.0, 1.5], Dtype::F32), 1.0);
        assert_eq!(largest_error(&[1.0, f64::NAN, 1.0], &[1.0; 3], Dtype::F32), f64::INFINITY);
    }

    #[test]
    fn a_pair_goes_on_from_its_newest_number() {
        assert_eq!(last(5, 1, |x, y| x + y), 13);
        assert_eq!(last(3, 1.0, |_, y| y + 1.0), 4.0);
    }
}

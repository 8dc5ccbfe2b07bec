//! Chains of an operation, and functions of many arguments.

use super::*;

// Chains of an operation, and functions of many arguments.

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
        let few = ["1", "2", "3"]
            .into_iter()
            .filter(|_| get(case, ROUNDS) > 3);
        few.map(|turns| with_setting(case, plan, ROUNDS.name, turns))
            .collect()
    }

    fn cost(&self, case: &Case) -> Cost {
        let chains = get(case, CHAINS);
        let counted = chains * steps(case) * Instruction::of(case).map_or(0, Instruction::counts);
        let n = case.shape.n as f64;
        Cost {
            bytes: 2.0 * n * case.dtype.size() as f64,
            ops: n * counted as f64,
        }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        match Instruction::of(case) {
            Some(Instruction::Function(function, form)) => {
                Reference::Error(32.0 * (function.allowed(case.dtype, form) + 1.0))
            }
            Some(Instruction::Operation(operation)) => {
                Reference::Exact(whole(case, operation, &inputs[0]))
            }
            None => Reference::Exact(Array::zeros(case.dtype, 0)),
        }
    }

    /// Sums of chains of functions become their largest error in ulp. A step adds an error and makes none larger, but
    /// for those few with which a chain begins, each smaller by far: 16 steps' errors, doubled as the ulp may double
    /// from a number to the next, are more than any chain has.
    fn error(&self, case: &Case, output: &Array, inputs: &[Array]) -> Option<Array> {
        let (Some(Instruction::Function(function, _)), [starts]) = (Instruction::of(case), inputs)
        else {
            return None;
        };
        let sums: Vec<f64> = (-LARGEST..=LARGEST)
            .map(|start| converged(case, function, start as f64))
            .collect();
        let wanted: Vec<f64> = starts
            .widened()
            .into_iter()
            .map(|start| sums[(start as i64 + LARGEST) as usize])
            .collect();
        Some(Array::F64(vec![largest_error(
            &output.widened(),
            &wanted,
            case.dtype,
        )]))
    }
}

/// Largest number that a chain begins with, of either sign.
const LARGEST: i64 = 8;

fn steps(case: &Case) -> u64 {
    2 * get(case, ROUNDS) * Instruction::of(case).map_or(0, Instruction::turn)
}

/// The sums of chains of whole numbers, of each item.
fn whole(case: &Case, operation: &Operation, starts: &Array) -> Array {
    let chains = get(case, CHAINS);
    let steps = steps(case);
    // An item depends on the one number that it begins with, of which there are few.
    let sums: Vec<f64> = (-LARGEST..=LARGEST)
        .map(|start| match operation.next {
            Next::Word(next) => {
                let firsts: Vec<u32> = (start..=start + chains as i64)
                    .map(|place| if operation.start == SIGN { 2 * (place & 1) - 1 } else { 2 * place + 1 } as u32)
                    .collect();
                let chains =
                    firsts[..chains as usize].iter().map(|&first| newest(steps, first, |x, y| next(x, y, firsts[0])));
                f64::from(chains.fold(0, u32::wrapping_add))
            }
            Next::Float(next) => {
                let start = start as f64;
                (0..chains).map(|c| newest(steps, start + c as f64, |x, y| next(x, y, start))).sum()
            }
        })
        .collect();
    let each = starts
        .widened()
        .into_iter()
        .map(|start| sums[(start as i64 + LARGEST) as usize]);
    match operation.next {
        Next::Word(_) => array(each.map(|sum| sum as u32)),
        Next::Float(_) => Array::narrowed(case.dtype, each),
    }
}

/// The newest number after so many steps of a pair that begins with `start` twice.
fn newest<N: Copy>(steps: u64, start: N, next: impl Fn(N, N) -> N) -> N {
    (0..steps)
        .fold((start, start), |(x, y), _| (y, next(x, y)))
        .1
}

/// The sum of an item's chains of a function.
fn converged(case: &Case, function: &Function, start: f64) -> f64 {
    let first = 1.0 + start * start / 64.0;
    let chains = 0..get(case, CHAINS);
    chains
        .map(|c| {
            newest(steps(case), first + c as f64 / 8.0, |_, y| {
                (function.next)(y)
            })
        })
        .sum()
}

fn pairs(ask: &Ask<'_>) -> Planned {
    let Case { params, dtype, .. } = ask.case;
    let asked = Instruction::of(ask.case).ok_or_else(unknown)?;
    let (step, start, term) = match asked {
        Instruction::Operation(operation) => (operation.step, operation.start, 1),
        Instruction::Function(function, _) => (function.step, "NEAR", function.term),
    };
    let chains = given(params, CHAINS).to_string();
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
        _ if ask.target.gpu => defines.extend([
            ("SMALLER", "fmin".to_owned()),
            ("LARGER", "fmax".to_owned()),
        ]),
        _ => {}
    }
    of_each_item(
        ask,
        &defines,
        &[arg(ask, ROUNDS), Arg::Uint(1), Arg::Uint(term)],
        0,
    )
}

struct Once;

impl Problem for Once {
    fn cost(&self, case: &Case) -> Cost {
        Cost {
            bytes: 12.0 * case.shape.n as f64,
            ops: case.shape.n as f64,
        }
    }

    fn reference(&self, case: &Case, _: &[Array]) -> Reference {
        match Instruction::of(case) {
            Some(Instruction::Function(function, form)) => {
                Reference::Error(function.allowed(Dtype::F32, form))
            }
            _ => Reference::Error(0.0),
        }
    }

    /// The values become their largest error in ulp.
    fn error(&self, case: &Case, output: &Array, inputs: &[Array]) -> Option<Array> {
        let (Some(Instruction::Function(function, _)), [drawn]) = (Instruction::of(case), inputs)
        else {
            return None;
        };
        let (from, span) = arguments(function);
        let arguments: Vec<f64> = words(drawn)
            .iter()
            .map(|w| from_bits(from + (w & span)))
            .collect();
        let wanted: Vec<f64> = arguments
            .iter()
            .enumerate()
            .map(|(i, &y)| (function.value)(arguments[i ^ 1], y))
            .collect();
        let got: Vec<f64> = words(output).into_iter().map(from_bits).collect();
        Some(Array::F64(vec![largest_error(&got, &wanted, Dtype::F32)]))
    }
}

/// Bits of a function's least argument, and which bits may exceed them.
fn arguments(function: &Function) -> (u32, u32) {
    (
        2f32.powi(function.from).to_bits(),
        (function.binades << 23) - 1,
    )
}

fn from_bits(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

fn once(ask: &Ask<'_>) -> Planned {
    let n = whole_groups(ask)?;
    let Some(asked @ Instruction::Function(function, _)) = Instruction::of(ask.case) else {
        return Err(unknown());
    };
    if !n.is_multiple_of(2) {
        return Err(Refusal::Size(format!("n={n}: an even number is needed")));
    }
    let (from, span) = arguments(function);
    let apply = if function.is_binary {
        "TO_TWO"
    } else {
        "TO_ONE"
    };
    let mut defines = vec![
        ("APPLY", apply.to_owned()),
        ("FROM", format!("{from}u")),
        ("SPAN", format!("{span}u")),
    ];
    defines.extend(calling(asked));
    of_each_item(ask, &defines, &[], 0)
}

fn unknown() -> Refusal {
    Refusal::Setting(format!(
        "{}, {}: there is no such operation",
        OP.name, FORM.name
    ))
}

/// What makes the kernels call a function.
fn calling(asked: Instruction) -> Vec<(&'static str, String)> {
    match asked {
        Instruction::Operation(_) => Vec::new(),
        Instruction::Function(function, form) => vec![
            ("FUNCTION", function.call(form).to_owned()),
            (
                "FAST_RELAXED_MATH",
                u8::from(form == Precision::Fast).to_string(),
            ),
        ],
    }
}

/// The largest error, in units of the last place of what is wanted; infinite if something is no number.
fn largest_error(got: &[f64], wanted: &[f64], dtype: Dtype) -> f64 {
    let errors = got
        .iter()
        .zip(wanted)
        .map(|(got, want)| (got - want).abs() / ulp(*want, dtype));
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

// The operations, as the kernel does them and as the reference does.

/// An operation whose chains are exact, of whole numbers.
pub struct Operation {
    pub name: &'static str,
    pub dtype: Dtype,
    pub step: &'static str,
    /// The kernel's macro for the numbers that chains begin with.
    pub start: &'static str,
    /// Operations of a step that are counted.
    pub counts: u64,
    /// Additions of a step that are not.
    pub adds: u64,
    /// Whether a step takes many clocks.
    pub is_dear: bool,
    pub next: Next,
}

/// What a step makes of the older and the newer number of a pair, and of the item's first one.
#[derive(Clone, Copy)]
pub enum Next {
    Word(fn(u32, u32, u32) -> u32),
    Float(fn(f64, f64, f64) -> f64),
}

/// A function whose chain converges.
pub struct Function {
    pub name: &'static str,
    /// What the kernel calls: as a function, in the `half_` and in the `native_` form.
    calls: [&'static str; 3],
    pub step: &'static str,
    /// What a step adds to the value.
    pub term: u32,
    /// Whether there are two arguments, of which one stays the same in chains.
    pub is_binary: bool,
    pub value: fn(f64, f64) -> f64,
    /// A step of a chain.
    pub next: fn(f64) -> f64,
    /// Largest errors in ulp that the specification of OpenCL C 1.2, section 7.4, allows in f32 and f64.
    ulp: [f64; 2],
    /// Arguments from 2^this on, whose values have no zero, where a relative error means nothing.
    pub from: i32,
    /// So many binades of them, a power of two.
    pub binades: u32,
}

const fn float(
    name: &'static str,
    step: &'static str,
    next: fn(f64, f64, f64) -> f64,
) -> Operation {
    Operation {
        name,
        dtype: Dtype::F32,
        step,
        start: WHOLE,
        counts: 1,
        adds: 0,
        is_dear: false,
        next: Next::Float(next),
    }
}

const fn double(
    name: &'static str,
    step: &'static str,
    next: fn(f64, f64, f64) -> f64,
) -> Operation {
    Operation {
        dtype: Dtype::F64,
        ..float(name, step, next)
    }
}

const fn word(
    name: &'static str,
    step: &'static str,
    adds: u64,
    next: fn(u32, u32, u32) -> u32,
) -> Operation {
    Operation {
        name,
        dtype: Dtype::I32,
        step,
        start: ODD,
        counts: 1,
        adds,
        is_dear: false,
        next: Next::Word(next),
    }
}

/// Where the chains of floats, of words, and of words of 24 bits begin.
const WHOLE: &str = "WHOLE";
const ODD: &str = "ODD";
pub const SIGN: &str = "SIGN";

/// What the kernel divides by a variable.
const DIVIDEND: u32 = 1_000_003;

/// In the order of the table. A minimum is counted with the maximum that it alternates with, and a conversion with the
/// one back.
pub const OPERATIONS: &[Operation] = &[
    float("add", "ADD_ONE", |_, y, _| y + 1.0),
    float("mul", "MUL_ONE", |_, y, _| y),
    float("fma", "FMA", |_, y, _| y + 1.0),
    Operation {
        counts: 2,
        ..float("min", "CLAMP", |_, _, first| first)
    },
    word("int add", "ADD", 0, |x, y, _| x.wrapping_add(y)),
    word("int mul", "MUL", 0, |x, y, _| x.wrapping_mul(y)),
    Operation {
        start: SIGN,
        ..word("int mul24", "MUL24", 0, |x, y, _| x.wrapping_mul(y))
    },
    word("int mad24", "MAD24", 0, |_, y, _| y.wrapping_add(1)),
    Operation {
        counts: 2,
        ..word("int min", "CLAMP", 0, |_, _, first| first)
    },
    Operation {
        is_dear: true,
        ..word(DIV, "DIV", 1, |_, y, _| DIVIDEND / y.max(1) + 1)
    },
    word(DIV_CONSTANT, "DIV_CONSTANT", 1, |x, y, _| {
        x.wrapping_add(y / 7)
    }),
    word(DIV_POWER, "DIV_POWER", 1, |x, y, _| x.wrapping_add(y / 8)),
    word(SHIFT, "SHIFT", 1, |x, y, _| x.wrapping_add(y >> 3)),
    Operation {
        is_dear: true,
        ..word(MOD, "MOD", 1, |_, y, _| DIVIDEND % y.max(1) + 1)
    },
    word(MOD_CONSTANT, "MOD_CONSTANT", 1, |x, y, _| {
        x.wrapping_add(y % 7)
    }),
    word(MOD_POWER, "MOD_POWER", 1, |x, y, _| x.wrapping_add(y % 8)),
    word(MASK, "MASK", 1, |x, y, _| x.wrapping_add(y & 7)),
    double("f64 add", "ADD_ONE", |_, y, _| y + 1.0),
    double("f64 mul", "MUL_ONE", |_, y, _| y),
    double("f64 fma", "FMA", |_, y, _| y + 1.0),
    Operation {
        counts: 2,
        adds: 1,
        ..float("float via int", "VIA_INT", |_, y, _| y + 1.0)
    },
    Operation {
        counts: 2,
        adds: 1,
        ..double("f64 via float", "VIA_FLOAT", |_, y, _| y + 1.0)
    },
];

pub const DIV: &str = "int div";
pub const DIV_CONSTANT: &str = "int div by 7";
pub const DIV_POWER: &str = "int div by 8";
pub const SHIFT: &str = "int >> 3";
pub const MOD: &str = "int mod";
pub const MOD_CONSTANT: &str = "int mod by 7";
pub const MOD_POWER: &str = "int mod by 8";
pub const MASK: &str = "int & 7";

pub const POW: &str = "pow";

macro_rules! function {
    ($name:literal, $step:literal, $value:expr, $next:expr, $ulp:expr, $from:expr, $binades:expr) => {
        Function {
            name: $name,
            calls: [$name, concat!("half_", $name), concat!("native_", $name)],
            step: $step,
            term: 1,
            is_binary: false,
            value: $value,
            next: $next,
            ulp: $ulp,
            from: $from,
            binades: $binades,
        }
    };
}

/// No step of a chain makes an error larger: derivatives from 1 to 3, where all chains stay but those of exp and cos,
/// are at most 1, and those of exp(-x) and cos(x) are so anywhere above 0.
pub const FUNCTIONS: &[Function] = &[
    Function {
        is_binary: true,
        calls: ["QUOTIENT", "half_divide", "native_divide"],
        ..function!(
            "div",
            "CALL_TWO_ADD",
            |x, y| x / y,
            |y| 1.0 / y + 1.0,
            [2.5, 0.5],
            -8,
            16
        )
    },
    Function {
        calls: ["RECIPROCAL", "half_recip", "native_recip"],
        ..function!(
            "rcp",
            "CALL_ADD",
            |_, y| 1.0 / y,
            |y| 1.0 / y + 1.0,
            [2.5, 0.5],
            -8,
            16
        )
    },
    function!(
        "sqrt",
        "CALL",
        |_, y| y.sqrt(),
        f64::sqrt,
        [3.0, 0.5],
        -8,
        16
    ),
    function!(
        "rsqrt",
        "CALL_ADD",
        |_, y| 1.0 / y.sqrt(),
        |y| 1.0 / y.sqrt() + 1.0,
        [2.0, 2.0],
        -8,
        16
    ),
    function!(
        "sin",
        "CALL_ADD",
        |_, y| y.sin(),
        |y| y.sin() + 1.0,
        [4.0, 4.0],
        -3,
        4
    ),
    function!("cos", "CALL", |_, y| y.cos(), f64::cos, [4.0, 4.0], -4, 4),
    function!(
        "exp",
        "CALL_NEGATED",
        |_, y| y.exp(),
        |y| (-y).exp(),
        [3.0, 3.0],
        -4,
        8
    ),
    Function {
        term: 2,
        ..function!(
            "log",
            "CALL_ADD",
            |_, y| y.ln(),
            |y| y.ln() + 2.0,
            [3.0, 3.0],
            1,
            4
        )
    },
    // A quarter is exact, and its power's derivative from 1 on is at most a quarter.
    Function {
        is_binary: true,
        term: 4,
        calls: [POW, "half_powr", "native_powr"],
        ..function!(
            "pow",
            "CALL_POWER_ADD",
            f64::powf,
            |y| y.powf(0.25) + 1.0,
            [16.0, 16.0],
            -2,
            4
        )
    },
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    Plain,
    Half,
    Native,
    /// The plain one, in a build with `-cl-fast-relaxed-math`.
    Fast,
}

impl Precision {
    pub const ALL: [Precision; 4] = [
        Precision::Plain,
        Precision::Half,
        Precision::Native,
        Precision::Fast,
    ];
}

/// From here on, and where there is no number, a result has nothing to do with what was asked for. The specification
/// leaves the errors of `native_` forms, and of fast mathematics, to the implementation.
const GARBAGE: f64 = 65536.0;

impl Function {
    pub fn call(&self, form: Precision) -> &'static str {
        match form {
            Precision::Plain | Precision::Fast => self.calls[0],
            Precision::Half => self.calls[1],
            Precision::Native => self.calls[2],
        }
    }

    /// The largest error in ulp that is not wrong.
    pub fn allowed(&self, dtype: Dtype, form: Precision) -> f64 {
        match form {
            Precision::Plain => self.ulp[usize::from(dtype == Dtype::F64)],
            Precision::Half => 8192.0,
            Precision::Native | Precision::Fast => GARBAGE,
        }
    }

    pub fn adds(&self) -> u64 {
        u64::from(self.step.ends_with("ADD"))
    }
}

pub const OP: Tunable = setting("op", "the operation's place in the list");
pub const FORM: Tunable = setting(
    "form",
    "a function as such, as half_ or native_, or with fast mathematics",
);

/// What a case asks for.
#[derive(Clone, Copy)]
pub enum Instruction {
    Operation(&'static Operation),
    Function(&'static Function, Precision),
}

impl Instruction {
    /// Functions come behind the operations. Nothing if there are not so many.
    pub fn of(case: &Case) -> Option<Instruction> {
        let place = get(case, OP) as usize;
        match OPERATIONS.get(place) {
            Some(operation) => Some(Instruction::Operation(operation)),
            None => {
                let form = Precision::ALL.get(get(case, FORM) as usize)?;
                Some(Instruction::Function(
                    FUNCTIONS.get(place - OPERATIONS.len())?,
                    *form,
                ))
            }
        }
    }

    pub fn is_dear(self) -> bool {
        match self {
            Instruction::Operation(operation) => operation.is_dear,
            Instruction::Function(..) => true,
        }
    }

    /// Steps of either number of a pair in a turn of the kernel's loop: enough that the loop costs little.
    pub fn turn(self) -> u64 {
        if self.is_dear() { 2 } else { 16 }
    }

    /// How a function is asked for; an operation has but one form.
    pub fn form(self) -> Precision {
        match self {
            Instruction::Operation(_) => Precision::Plain,
            Instruction::Function(_, form) => form,
        }
    }

    /// Operations of a step that are counted.
    pub fn counts(self) -> u64 {
        match self {
            Instruction::Operation(operation) => operation.counts,
            Instruction::Function(..) => 1,
        }
    }
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
        assert_eq!(
            largest_error(&[1.0, f64::NAN, 1.0], &[1.0; 3], Dtype::F32),
            f64::INFINITY
        );
    }

    #[test]
    fn a_pair_goes_on_from_its_newest_number() {
        assert_eq!(newest(5, 1, |x, y| x + y), 13);
        assert_eq!(newest(3, 1.0, |_, y| y + 1.0), 4.0);
    }
}

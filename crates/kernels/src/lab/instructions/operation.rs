//! The operations, as the kernel does them and as the reference does.

use crate::Tunable;
use crate::lab::{get, setting};
use gpulab_model::data::Dtype;
use gpulab_model::plan::Case;

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

const fn float(name: &'static str, step: &'static str, next: fn(f64, f64, f64) -> f64) -> Operation {
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

const fn double(name: &'static str, step: &'static str, next: fn(f64, f64, f64) -> f64) -> Operation {
    Operation { dtype: Dtype::F64, ..float(name, step, next) }
}

const fn word(name: &'static str, step: &'static str, adds: u64, next: fn(u32, u32, u32) -> u32) -> Operation {
    Operation { name, dtype: Dtype::I32, step, start: ODD, counts: 1, adds, is_dear: false, next: Next::Word(next) }
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
    Operation { counts: 2, ..float("min", "CLAMP", |_, _, first| first) },
    word("int add", "ADD", 0, |x, y, _| x.wrapping_add(y)),
    word("int mul", "MUL", 0, |x, y, _| x.wrapping_mul(y)),
    Operation { start: SIGN, ..word("int mul24", "MUL24", 0, |x, y, _| x.wrapping_mul(y)) },
    word("int mad24", "MAD24", 0, |_, y, _| y.wrapping_add(1)),
    Operation { counts: 2, ..word("int min", "CLAMP", 0, |_, _, first| first) },
    Operation { is_dear: true, ..word(DIV, "DIV", 1, |_, y, _| DIVIDEND / y.max(1) + 1) },
    word(DIV_CONSTANT, "DIV_CONSTANT", 1, |x, y, _| x.wrapping_add(y / 7)),
    word(DIV_POWER, "DIV_POWER", 1, |x, y, _| x.wrapping_add(y / 8)),
    word(SHIFT, "SHIFT", 1, |x, y, _| x.wrapping_add(y >> 3)),
    Operation { is_dear: true, ..word(MOD, "MOD", 1, |_, y, _| DIVIDEND % y.max(1) + 1) },
    word(MOD_CONSTANT, "MOD_CONSTANT", 1, |x, y, _| x.wrapping_add(y % 7)),
    word(MOD_POWER, "MOD_POWER", 1, |x, y, _| x.wrapping_add(y % 8)),
    word(MASK, "MASK", 1, |x, y, _| x.wrapping_add(y & 7)),
    double("f64 add", "ADD_ONE", |_, y, _| y + 1.0),
    double("f64 mul", "MUL_ONE", |_, y, _| y),
    double("f64 fma", "FMA", |_, y, _| y + 1.0),
    Operation { counts: 2, adds: 1, ..float("float via int", "VIA_INT", |_, y, _| y + 1.0) },
    Operation { counts: 2, adds: 1, ..double("f64 via float", "VIA_FLOAT", |_, y, _| y + 1.0) },
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
        ..function!("div", "CALL_TWO_ADD", |x, y| x / y, |y| 1.0 / y + 1.0, [2.5, 0.5], -8, 16)
    },
    Function {
        calls: ["RECIPROCAL", "half_recip", "native_recip"],
        ..function!("rcp", "CALL_ADD", |_, y| 1.0 / y, |y| 1.0 / y + 1.0, [2.5, 0.5], -8, 16)
    },
    function!("sqrt", "CALL", |_, y| y.sqrt(), f64::sqrt, [3.0, 0.5], -8, 16),
    function!("rsqrt", "CALL_ADD", |_, y| 1.0 / y.sqrt(), |y| 1.0 / y.sqrt() + 1.0, [2.0, 2.0], -8, 16),
    function!("sin", "CALL_ADD", |_, y| y.sin(), |y| y.sin() + 1.0, [4.0, 4.0], -3, 4),
    function!("cos", "CALL", |_, y| y.cos(), f64::cos, [4.0, 4.0], -4, 4),
    function!("exp", "CALL_NEGATED", |_, y| y.exp(), |y| (-y).exp(), [3.0, 3.0], -4, 8),
    Function { term: 2, ..function!("log", "CALL_ADD", |_, y| y.ln(), |y| y.ln() + 2.0, [3.0, 3.0], 1, 4) },
    // A quarter is exact, and its power's derivative from 1 on is at most a quarter.
    Function {
        is_binary: true,
        term: 4,
        calls: [POW, "half_powr", "native_powr"],
        ..function!("pow", "CALL_POWER_ADD", f64::powf, |y| y.powf(0.25) + 1.0, [16.0, 16.0], -2, 4)
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
    pub const ALL: [Precision; 4] = [Precision::Plain, Precision::Half, Precision::Native, Precision::Fast];
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
pub const FORM: Tunable = setting("form", "a function as such, as half_ or native_, or with fast mathematics");

/// What a case asks for.
#[derive(Clone, Copy)]
pub enum Instruction {
    Operation(&'static Operation),
    Function(&'static Function, Precision),
}

impl Instruction {
    /// Functions come behind the operations. Nothing if there are not so many.
    pub fn of(case: &Case) -> Option<Instruction> {
        let place = get(&case.params, OP.name) as usize;
        match OPERATIONS.get(place) {
            Some(operation) => Some(Instruction::Operation(operation)),
            None => {
                let form = Precision::ALL.get(get(&case.params, FORM.name) as usize)?;
                Some(Instruction::Function(FUNCTIONS.get(place - OPERATIONS.len())?, *form))
            }
        }
    }

    pub fn is_dear(self) -> bool {
        match self {
            Instruction::Operation(operation) => operation.is_dear,
            Instruction::Function(..) => true,
        }
    }

    /// Whether it is a power, which took PoCL 3.1 ten times as long as a sine.
    pub fn is_power(self) -> bool {
        matches!(self, Instruction::Function(function, _) if function.name == POW)
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

//! Walks over every word of an array, in strides or from an offset on, that read or write it.

use super::*;

/// The sum of words that are read, each as often as the rounds say.
pub(super) static GATHERING: Exact =
    Exact { inputs: |shape, params| vec![shape.n as usize / packed(params)], ..Exact::of_sum(cost, summed) };

/// Reads n words of one width, a power of two, each as often as the rounds say.
pub static GATHER: Family = BuiltInFamily {
    name: "gather",
    about: "read every word of an array in strides",
    problem: &GATHERING,
    ladder: const { &ladder([rung("lab/gather/walk.cl", plan, &[STRIDES, OFFSET])]) },
    choices: &[WIDTH, ROUNDS],
    ..READS
}
.family();

/// Writes n words of one width, a power of two.
pub static SCATTER: Family = BuiltInFamily {
    name: "scatter",
    about: "write every word of an array in strides",
    problem: &Exact {
        inputs: |_, _| vec![1],
        result: |shape, params| shape.n as usize / packed(params),
        ..Exact::of_each(Fill::Real, cost, numbered)
    },
    ladder: const { &ladder([rung("lab/scatter/walk.cl", plan, &[STRIDES, OFFSET])]) },
    choices: &[WIDTH, ROUNDS],
    ceiling: Bound::Write,
    ..READS
}
.family();

pub const STRIDES: Tunable = setting("strides", "logarithm of the stride, in words");
pub const OFFSET: Tunable = setting("offset", "words by which every access is moved");
pub const WIDTH: Tunable = setting("width", "bits of a word: 8, 16 or 32");
/// Words of the case's width in one of 32 bits.
fn packed(params: &Params) -> usize {
    match get(params, WIDTH.name) {
        8 => 4,
        16 => 2,
        _ => 1,
    }
}

fn rounds(case: &Case) -> u64 {
    get(&case.params, ROUNDS.name).max(1)
}

/// The bytes that are asked for.
fn cost(case: &Case) -> Cost {
    let accesses = (case.shape.n * rounds(case)) as f64;
    Cost { bytes: 4.0 / packed(&case.params) as f64 * accesses, ops: accesses }
}

fn summed(case: &Case, inputs: &[Array]) -> Array {
    let sum = match packed(&case.params) {
        1 => total(&inputs[0], |word| word),
        2 => total(&inputs[0], |word| (word & 0xffff).wrapping_add(word >> 16)),
        _ => total(&inputs[0], |word| word.to_le_bytes().into_iter().map(u32::from).sum()),
    };
    array([sum.wrapping_mul(rounds(case) as u32)].into_iter())
}

fn numbered(case: &Case, inputs: &[Array]) -> Array {
    let begin = words(&inputs[0]).first().copied().unwrap_or(0);
    let number = |place: u32| begin.wrapping_add(place.wrapping_mul(2_654_435_761));
    let packed = packed(&case.params) as u32;
    let bits = 32 / packed;
    let mask = u32::MAX >> (32 - 32 / packed);
    // The first word is the lowest, as on all devices that OpenCL runs on today.
    let word = |at: u32| (0..packed).map(|k| (number(packed * at + k) & mask) << (bits * k)).fold(0, |a, b| a | b);
    par_array(case.shape.n as usize / packed as usize, |at| word(at as u32))
}

/// Accesses that are written out in the kernels.
const UNROLLED: u64 = 8;

fn plan(ask: &Ask<'_>) -> Planned {
    let n = ask.case.shape.n;
    let packed = packed(&ask.case.params);
    if !n.is_power_of_two() || n < packed as u64 {
        return Err(Refusal::Size(format!("n={n}: a power of two from {packed} on is needed")));
    }
    let walk = Walk::over(ask, n * rounds(ask.case), UNROLLED, AT_ONCE)?;
    let settings = [STRIDES.name, OFFSET.name].map(|name| arg(ask, name));
    let args: Vec<Arg> = [Arg::Uint(n.ilog2())].into_iter().chain(settings).chain(walk.args()).collect();
    let output = if ask.case.family == GATHER.name { walk.grid.items() } else { n as usize / packed };
    let word = ["uint", "ushort", "uint", "uchar"][packed - 1];
    let defines = [("WORD", word.to_owned())];
    OneLaunch { grid: walk.grid, output, defines: &defines, args: &args, local: 0 }.plan(ask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(family: &Family, settings: &[(&Tunable, u64)]) -> Case {
        let params = settings.iter().map(|(setting, value)| (setting.name.to_owned(), value.to_string())).collect();
        Case { params, ..Case::of(&family.name, "walk", Dtype::I32, Shape::vector(64)) }
    }

    #[test]
    fn narrow_words_are_packed_and_added_one_by_one() {
        let input = [Array::I32((0..16).map(|i| 0x0403_0201 + i).collect())];
        let sum = |width| words(&summed(&case(&GATHER, &[(&WIDTH, width)]), &input))[0];
        assert_eq!(sum(8), 16 * 10 + 120);
        assert_eq!(sum(16), 16 * (0x0403 + 0x0201) + 120);
        assert_eq!(sum(32), 0x4030_2010 + 120);
        let written = |width| words(&numbered(&case(&SCATTER, &[(&WIDTH, width)]), &[Array::I32(vec![1])]));
        let bytes = written(8);
        let wide = written(32);
        assert_eq!((bytes.len(), wide.len()), (16, 64));
        let byte = |i: usize| bytes[i / 4] >> (8 * (i % 4)) & 0xff;
        assert!((0..64).all(|i| byte(i) == wide[i] & 0xff));
        assert_eq!(cost(&case(&GATHER, &[(&WIDTH, 16)])).bytes, 128.0);
    }
}

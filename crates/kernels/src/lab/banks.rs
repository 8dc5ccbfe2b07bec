//! Reads of local memory by neighbouring items, some words apart, at one word, or at random.

use super::*;
use gpulab_model::each_array;

/// n items that read a table in local memory.
pub static FAMILY: Family = BuiltInFamily {
    name: "banks",
    about: "read local memory in strides",
    problem: &Exact { inputs: |_, _| vec![MOST_WORDS + READ_AT_ONCE], ..Exact::of_each(Fill::Real, cost, answer) },
    ladder: const { &ladder([rung("lab/banks/strided.cl", plan, &[])]) },
    choices: &[STRIDE, SCRAMBLE, ROUNDS],
    dtypes: &[Dtype::I32, Dtype::I64],
    ..READS
}
.family();

pub const STRIDE: Tunable = setting("stride", "words between the places of two neighbouring items");
pub const SCRAMBLE: Tunable = setting("scramble", "whether places are a permutation without order");

/// Words of 4 bytes in the table, and those that an item reads in a round, as in the kernel.
const MOST_WORDS: usize = 2048;
const READ_AT_ONCE: usize = 8;

fn cost(case: &Case) -> Cost {
    let reads = (case.shape.n * get(&case.params, ROUNDS.name)) as f64 * READ_AT_ONCE as f64;
    Cost { bytes: reads * case.dtype.size() as f64, ops: reads }
}

/// Words of a place's range: as many bytes of either width.
fn words(dtype: Dtype) -> usize {
    MOST_WORDS * 4 / dtype.size()
}

/// As in the kernel.
fn scrambled(i: usize) -> usize {
    let i = (i * 167 + 13) & 255;
    let i = i ^ i >> 4;
    let i = (i * 89 + 7) & 255;
    i ^ i >> 3
}

fn answer(case: &Case, inputs: &[Array]) -> Array {
    let get = |name: &str| get(&case.params, name) as usize;
    let stride = get(STRIDE.name);
    let rounds = get(ROUNDS.name);
    let last = words(case.dtype) - 1;
    let first = |item: usize| if get(SCRAMBLE.name) == 1 { scrambled(item & 255) } else { item * stride };
    let places = |item: usize| (0..rounds).map(move |round| (first(item) + 17 * round) & last);
    let wg = case.wg.size();
    let items = 0..case.shape.n as usize;
    match &inputs[0] {
        Array::I32(x) => {
            let sum = |at: usize| x[at..at + READ_AT_ONCE].iter().fold(0i32, |a, &b| a.wrapping_add(b));
            let group: Vec<i32> = (0..wg).map(|item| places(item).map(sum).fold(0, i32::wrapping_add)).collect();
            Array::I32(items.map(|id| group[id % wg]).collect())
        }
        Array::I64(x) => {
            let sum = |at: usize| x[at..at + READ_AT_ONCE].iter().fold(0i64, |a, &b| a.wrapping_add(b));
            let group: Vec<i64> = (0..wg).map(|item| places(item).map(sum).fold(0, i64::wrapping_add)).collect();
            Array::I64(items.map(|id| group[id % wg]).collect())
        }
        floats => Array::zeros(floats.dtype(), each_array!(floats, v => v.len())),
    }
}

fn plan(ask: &Ask<'_>) -> Planned {
    let words = words(ask.case.dtype);
    let local = ((words + READ_AT_ONCE) * ask.case.dtype.size()) as u64;
    let args = [ROUNDS.name, STRIDE.name, SCRAMBLE.name].map(|name| arg(ask, name));
    of_each_item(ask, &[("WORDS", words.to_string())], &args, local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_ones() {
        let mut all: Vec<usize> = (0..256).map(scrambled).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..256));
    }
}

//! Reads of neighbouring words in order or permuted within runs of 32, by all items or by some of them.

use super::walk::OFFSET;
use super::*;

/// Reads n words, a power of two, but for those of idle items.
pub static FAMILY: Family = BuiltInFamily {
    name: "neighbours",
    about: "read neighbouring words in order, permuted, or by some items only",
    problem: &Exact::of_sum(cost, summed),
    ladder: const { &ladder([rung("lab/neighbours/lanes.cl", plan, &[FACTOR])]) },
    choices: &[OFFSET, IDLE, ROUNDS],
    ..READS
}
.family();

pub const FACTOR: Tunable = setting("factor", "which permutes 32 neighbouring words; odd");
pub const IDLE: Tunable = setting("idle", "bits of an access's number that leave it out");

/// Neighbouring words among which the kernel permutes.
const RUN: u64 = 32;

/// Accesses that are written out in the kernel.
const UNROLLED: u64 = 8;

/// The bytes that are asked for.
fn cost(case: &Case) -> Cost {
    let accesses = (case.shape.n >> get(&case.params, IDLE.name).count_ones()) as f64;
    Cost { bytes: 4.0 * accesses, ops: accesses }
}

/// The sum of the words whose accesses are not left out. A permutation changes the items that read them, and so not the sum
/// of all: where some are idle, words stay in order.
fn summed(case: &Case, inputs: &[Array]) -> Array {
    let words = words(&inputs[0]);
    let [idle, offset] = [IDLE.name, OFFSET.name].map(|name| get(&case.params, name) as usize);
    let read = (0..words.len()).filter(|access| access & idle == 0);
    array([read.fold(0u32, |sum, access| sum.wrapping_add(words[(access + offset) % words.len()]))].into_iter())
}

fn plan(ask: &Ask<'_>) -> Planned {
    let [n, factor, idle] = [ask.case.shape.n, get(&ask.case.params, FACTOR.name), get(&ask.case.params, IDLE.name)];
    if !n.is_power_of_two() || n < RUN {
        return Err(Refusal::Size(format!("n={n}: a power of two from {RUN} on is needed")));
    }
    if factor.is_multiple_of(2) || (factor != 1 && idle != 0) {
        let why = format!("factor={factor} idle={idle}: an odd factor is needed, and 1 where items are idle");
        return Err(Refusal::Setting(why));
    }
    let walk = Walk::over(ask, n, UNROLLED, AT_ONCE)?;
    let settings = [FACTOR.name, IDLE.name, OFFSET.name].map(|name| arg(ask, name));
    let args: Vec<Arg> = [Arg::Uint((n - 1) as u32)].into_iter().chain(settings).collect();
    walk.plan(ask, &[], &args)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_items_leave_their_words_out() {
        let case = |idle: u64, offset: u64| {
            let settings = [(&IDLE, idle), (&OFFSET, offset)];
            let params = settings.iter().map(|(setting, value)| (setting.name.to_owned(), value.to_string())).collect();
            Case { params, ..Case::of(&FAMILY.name, "lanes", Dtype::I32, Shape::vector(64)) }
        };
        let input = [Array::I32((0..64).collect())];
        let sum = |idle, offset| words(&summed(&case(idle, offset), &input))[0];
        let even: u32 = (0..64).step_by(2).sum();
        assert_eq!((sum(0, 0), sum(0, 7), sum(1, 0), sum(1, 1)), (2016, 2016, even, even + 32));
        assert_eq!((cost(&case(0, 0)).bytes, cost(&case(1, 0)).bytes), (256.0, 128.0));
    }
}

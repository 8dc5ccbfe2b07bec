//! Sums by trees whose last steps, within one warp, are synchronised or not.

use super::*;

/// The kernels: a sum of each group's elements. What is right of them is told, and not demanded: see [`Lockstep`].
pub static FAMILY: Family = BuiltInFamily {
    name: "lockstep",
    about: "sums by a tree whose last steps are not, or differently, synchronised",
    problem: &Lockstep,
    ladder: const {
        &ladder([
            rung("lab/lockstep/bare.cl", |ask| plan(ask, None), &[]),
            rung("lab/lockstep/volatile.cl", |ask| plan(ask, None), &[]),
            rung("lab/lockstep/synchronised.cl", |ask| plan(ask, Some(shape::lockstep(ask)?)), &[]),
        ])
    },
    ..READS
}
.family();

/// Items of the warp that the slides write out.
const WARP: usize = 32;

/// The result is the number of groups whose sum is wrong: none where items are synchronised, any number where they race.
struct Lockstep;

impl Problem for Lockstep {
    fn cost(&self, case: &Case) -> Cost {
        let n = case.shape.n as f64;
        Cost { bytes: 4.0 * n, ops: n }
    }

    fn reference(&self, case: &Case, inputs: &[Array]) -> Reference {
        let groups = inputs[0].len() / case.wg.size();
        Reference::Error(if case.variant == "synchronised" { 0.0 } else { groups as f64 })
    }

    fn error(&self, case: &Case, sums: &Array, inputs: &[Array]) -> Option<Array> {
        let elements = words(&inputs[0]);
        let wanted = elements.chunks(case.wg.size()).map(|group| group.iter().copied().fold(0, u32::wrapping_add));
        let wrong = array(wanted).as_bytes().chunks(4).zip(sums.as_bytes().chunks(4)).filter(|(a, b)| a != b).count();
        Some(Array::F64(vec![wrong as f64]))
    }
}

fn plan(ask: &Ask<'_>, lockstep: Option<&str>) -> Planned {
    let n = whole_groups(ask)?;
    let wg = ask.case.wg.size();
    if !wg.is_power_of_two() || wg < 2 * WARP {
        return Err(Refusal::Group(format!("work-group {wg}: a power of two from {} on is needed", 2 * WARP)));
    }
    let grid = Grid::covering(wg, n);
    let defines: Vec<(&str, String)> = lockstep.into_iter().map(|name| (name, "1".to_owned())).collect();
    OneLaunch { grid, output: grid.groups, defines: &defines, args: &[], local: 4 * wg as u64 }.plan(ask)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::plan::WorkGroup;

    #[test]
    fn groups_with_a_wrong_sum_are_counted() {
        let case = |variant: &str| Case {
            wg: WorkGroup::linear(64),
            ..Case::of(&FAMILY.name, variant, Dtype::I32, Shape::vector(256))
        };
        let inputs = [Array::I32((0..256).collect())];
        let right: Vec<i32> = (0..4).map(|group| (64 * group..64 * (group + 1)).sum()).collect();
        let wrong = |sums: &[i32]| Lockstep.error(&case("bare"), &Array::I32(sums.to_vec()), &inputs);
        assert_eq!(wrong(&right), Some(Array::F64(vec![0.0])));
        assert_eq!(wrong(&[right[0], 7, right[2], 8]), Some(Array::F64(vec![2.0])));
        assert_eq!(Lockstep.reference(&case("bare"), &inputs), Reference::Error(4.0));
        assert_eq!(Lockstep.reference(&case("synchronised"), &inputs), Reference::Error(0.0));
    }
}

//! How much of the data a work-group has, seen from how a rung's grid grows with them.

use super::{Family, Form, Rung};
use gpulab_model::data::Shape;
use gpulab_model::plan::{Case, Refusal, Target};

/// Elements that a work-group of the rung has: of vectors in a row and 1, of matrices columns and rows. Where the grid does
/// not grow, an element for each work-item.
pub fn tile_of_a_group(family: &Family, rung: &Rung, case: &Case, target: &Target) -> Result<[u64; 2], Refusal> {
    let side: u64 = if family.form == Form::Vector { 1 << 26 } else { 1 << 13 };
    let groups = |side: u64| {
        let shape = if family.form == Form::Vector { Shape::vector(side) } else { family.form.shape(side, None) };
        let plan = family.plan(rung, &Case { shape, ..case.clone() }, target)?;
        // Of several launches the last is the result's; of vectors the first, as the others only join.
        let mut timed = plan.passes.iter().filter(|pass| pass.timed);
        let pass = if family.form == Form::Vector { timed.next() } else { timed.next_back() };
        let count = |d: usize| pass.map_or((1, 1), |pass| (pass.global[d] / pass.local[d].max(1), pass.local[d]));
        Ok::<_, Refusal>([count(0), count(1)])
    };
    let few = groups(side)?;
    let many = groups(2 * side)?;
    let each = |d: usize| match many[d].0 > few[d].0 {
        true => ((2 * side) as f64 / many[d].0 as f64).round().max(1.0) as u64,
        false => many[d].1.max(1) as u64,
    };
    Ok([each(0), if family.form == Form::Vector { 1 } else { each(1) }])
}

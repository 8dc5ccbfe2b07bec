//! Sizes at which kernels go wrong.

use gpulab_kernels::Form;
use gpulab_model::data::Shape;
use gpulab_model::plan::{Case, Target, WorkGroup};

/// Elements beyond the last whole group.
const REST: u64 = 5;

/// Most elements of a case that is verified thoroughly: a kernel with more for each group is tried at fewer sizes.
const MOST: u64 = 1 << 22;

/// Edge sizes, smallest first: one element; about a group's items and a group's elements; some groups and a rest; of
/// matrices also such as are wider than high, and higher than wide.
pub(super) fn edges(form: Form, [wide, high]: [u64; 2], multiple: u64, asked: &Case) -> Vec<Shape> {
    let around = |n: u64| [n.saturating_sub(1), n, n + 1];
    let mut shapes: Vec<Shape> = match form {
        Form::Vector => {
            let wg = asked.wg.size() as u64;
            let sizes = [&[1], &around(wg)[..], &around(wide), &[3 * wide + REST]].concat();
            sizes.into_iter().map(Shape::vector).collect()
        }
        Form::Square => {
            let side = wide.max(high);
            let sizes = [&[1], &around(side)[..], &[2 * side + REST]].concat();
            sizes.into_iter().map(|n| Shape { n, m: n }).collect()
        }
        Form::Matrix => {
            let sides = [[1, 1], [wide - 1, high - 1], [wide, high], [wide + 1, high + 1]];
            let odd = [[1, high + 1], [wide + 1, 1], [3 * wide + REST, high], [wide, 3 * high + 1]];
            sides.into_iter().chain(odd).chain([[2 * wide + 3, 3 * high + 1]]).map(|[n, m]| Shape { n, m }).collect()
        }
    };
    for shape in &mut shapes {
        *shape = rounded(form, *shape, multiple);
    }
    shapes.retain(|shape| shape.n > 0 && shape.m > 0 && shape.elements() <= MOST);
    shapes.sort_by_key(|shape| (shape.elements(), shape.n));
    shapes.dedup();
    shapes
}

pub(super) fn rounded(form: Form, shape: Shape, multiple: u64) -> Shape {
    form.shape(shape.n.next_multiple_of(multiple), (form == Form::Matrix).then(|| shape.m.next_multiple_of(multiple)))
}

/// A shape of some groups and a rest.
pub fn ragged(form: Form, [wide, high]: [u64; 2]) -> Shape {
    match form {
        Form::Vector => Shape::vector((3 * wide + REST).min(MOST)),
        Form::Square => form.shape(2 * wide.max(high) + REST, None),
        Form::Matrix => Shape { n: 2 * wide + 3, m: 3 * high + 1 },
    }
}

/// Other work-groups to try: of a wrong kernel several, as they tell mistakes apart; of a right one a smaller one.
pub(super) fn other_groups(wg: WorkGroup, target: &Target, is_wrong: bool) -> Vec<WorkGroup> {
    let is_flat = wg.0[1] == 1;
    let all = match (is_flat, is_wrong) {
        (true, true) => vec![[1, 1, 1], [64, 1, 1], [256, 1, 1], [512, 1, 1]],
        (true, false) => vec![[64, 1, 1], [128, 1, 1]],
        (false, true) => vec![[1, 1, 1], [8, 8, 1], [16, 16, 1], [32, 8, 1]],
        (false, false) => vec![[8, 8, 1], [16, 16, 1]],
    };
    let all = all.into_iter().map(WorkGroup).filter(|other| *other != wg && other.size() <= target.max_wg);
    all.take(if is_wrong { 3 } else { 1 }).collect()
}

//! Counts of a large case from those of two small ones: a simulator takes hours for what a GPU does in a second.
//!
//! Groups of a launch do the same work, so its counts are proportional to their number. Those of one group are a constant
//! part and a part for each turn of its items' loops: two small cases with loops of different lengths tell the two parts.
//! Edges, where some groups do less, are left out, and so are the guards that matrices need there.
//!
//! A launch that finishes others, by one group, adds as many partial results as these have groups. Where settings say how many
//! items there are, small cases have few groups, so that its counts are those of few: too low by the turns of one group's
//! loop, hundreds of instructions beside the hundred thousands of the launches before it.

use super::CountRow;
use gpulab_kernels::{Family, Form, Rung};
use gpulab_model::data::{Params, Shape};
use gpulab_model::plan::{Case, Pass, Plan, Target, WorkGroup};
use std::collections::BTreeMap;

/// Settings that the counts of a group do not depend on, or that the simulator lacks: how many items there are, and by
/// which instructions of NVIDIA's the bytes come.
const NOT_COUNTED: [&str; 3] = [ITEMS, "async", "stream"];
const ITEMS: &str = "items";

/// Work-items of a small case where settings say how many there are.
const FEW_ITEMS: usize = 1024;

/// The settings that the counts of a group depend on.
pub fn counted_settings(params: &Params) -> Params {
    let mut counted = params.clone();
    counted.retain(|name, _| !NOT_COUNTED.contains(&name.as_str()));
    counted
}

/// Two cases of the same kernel and settings that a simulator gets through in seconds, for groups of the size that the
/// rung makes of the one asked for; `None` if the family has no such rung.
pub fn small_cases(
    family: &Family,
    case: &Case,
    wg: WorkGroup,
    target: &Target,
) -> Option<[Case; 2]> {
    let form = family.form;
    let rung = family.rung(&case.variant)?;
    let mut small = Case {
        params: counted_settings(&case.params),
        ..case.clone()
    };
    if rung.tunables().any(|tunable| tunable.name == ITEMS) {
        // Of many elements each, as in a large case, so that loops turn often.
        small
            .params
            .insert(ITEMS.to_owned(), FEW_ITEMS.max(wg.size()).to_string());
    }
    let sizes: [u64; 2] = match form {
        // Items that are alone in their group have long loops over whole vectors.
        Form::Vector if wg.size() == 1 => [1 << 18, 1 << 19],
        Form::Vector => match fixed_items(family, rung, &small, target) {
            // In turns of their loops, as in a large case.
            Some(items) if items > 1 << 14 => [2 * items, 4 * items],
            _ => [1 << 15, 1 << 16],
        },
        Form::Matrix => [128, 256],
        Form::Square => {
            let [of_quarter, groups] = [64, 128].map(|n| {
                let case = Case {
                    shape: form.shape(n, None),
                    ..small.clone()
                };
                Some(
                    family
                        .plan(rung, &case, target)
                        .ok()?
                        .passes
                        .last()?
                        .groups(),
                )
            });
            // Where a tile is wider than the matrix, its edges take part in all that a group does.
            let are_whole = wg.size() == 1 || groups == of_quarter.map(|of_quarter| 4 * of_quarter);
            if are_whole { [64, 128] } else { [128, 256] }
        }
    };
    Some(sizes.map(|n| Case {
        shape: form.shape(n, None),
        ..small.clone()
    }))
}

/// Work-items of a grid that does not grow with the vector.
pub fn fixed_items(family: &Family, rung: &Rung, case: &Case, target: &Target) -> Option<u64> {
    let [small, large] = [1 << 15, 1 << 16].map(|n| {
        let case = Case {
            shape: family.form.shape(n, None),
            ..case.clone()
        };
        let plan = family.plan(rung, &case, target).ok()?;
        let items = |pass: &Pass| pass.groups() * pass.local.iter().product::<usize>() as u64;
        plan.passes.iter().map(items).max()
    });
    small.filter(|_| family.form == Form::Vector && small == large)
}

/// The rows of a case's launches, from those of its [`small_cases`], without launches that only the large case has, as of a
/// remainder; none without rows of two sizes for any.
pub fn stretched(
    form: Form,
    case: &Case,
    plan: &Plan,
    counted: &[CountRow],
) -> Option<Vec<CountRow>> {
    let mut sizes: BTreeMap<u64, Vec<&CountRow>> = BTreeMap::new();
    counted
        .iter()
        .filter(|row| row.is_of_launch())
        .for_each(|row| sizes.entry(row.n).or_default().push(row));
    let sizes: Vec<Vec<&CountRow>> = sizes.into_values().collect();
    let [small, large] = [sizes.first()?, sizes.get(1)?];
    let launches = plan.passes.len() as u64;
    let rows = (1..).zip(&plan.passes).filter_map(|(launch, pass)| {
        let [small, large] = [
            most_groups(small, &pass.kernel)?,
            most_groups(large, &pass.kernel)?,
        ];
        let items: u64 = pass.local.iter().product::<usize>() as u64;
        let groups = pass.groups();
        let line = GroupLine {
            groups: groups as f64,
            at: (
                length(form, case.shape, groups, items),
                loops(form, small),
                loops(form, large),
            ),
            each: (
                1.0 / small.groups.unwrap_or(1).max(1) as f64,
                1.0 / large.groups.unwrap_or(1).max(1) as f64,
            ),
        };
        line.is_known().then_some(())?;
        let whole = CountRow {
            n: case.shape.n,
            m: case.shape.m,
            params: plan.params.clone(),
            launch: Some(launch),
            launches: Some(launches),
            groups: Some(groups),
            items: Some(groups * items),
            warps: Some(groups * items.div_ceil(large.warp.max(1))),
            barriers: line.cell(small.barriers, large.barriers),
            private_accesses: line.cell(small.private_accesses, large.private_accesses),
            group_copies: line.cell(small.group_copies, large.group_copies),
            // The load of partitions depends on the width of rows.
            partitions: None,
            ..large.clone()
        };
        let mut counts = small
            .counts()
            .joined(&large.counts(), &|a, b| line.point(a, b));
        let read = &mut counts.memory.global_read;
        let write = &mut counts.memory.global_write;
        if [small, large]
            .iter()
            .all(|row| row.counts().global().moved == row.counts().global().segments * row.segment)
        {
            [read, write]
                .into_iter()
                .for_each(|one| one.moved = one.segments * large.segment);
        }
        Some(whole.with_counts(counts))
    });
    let rows: Vec<CountRow> = rows.collect();
    (!rows.is_empty()).then_some(rows)
}

/// Of a kernel's launches that with most groups: others of the same kernel finish it.
fn most_groups<'a>(rows: &[&'a CountRow], kernel: &str) -> Option<&'a CountRow> {
    rows.iter()
        .copied()
        .filter(|row| row.kernel == kernel)
        .max_by_key(|row| row.groups)
}

/// Turns of an item's loops, up to a factor that settings decide: its elements, or the length of its columns.
fn length(form: Form, shape: Shape, groups: u64, items: u64) -> f64 {
    match form {
        Form::Vector | Form::Matrix => shape.elements() as f64 / (groups * items).max(1) as f64,
        Form::Square => shape.n as f64,
    }
}

fn loops(form: Form, row: &CountRow) -> f64 {
    let groups = row.groups.unwrap_or(1).max(1);
    length(
        form,
        Shape { n: row.n, m: row.m },
        groups,
        row.items.unwrap_or(1) / groups,
    )
}

/// The line through what a group of either small case does.
struct GroupLine {
    /// Groups of the large case.
    groups: f64,
    /// Length of the loops: of the large case, and of the small ones.
    at: (f64, f64, f64),
    /// What a group has of a count: of the small cases.
    each: (f64, f64),
}

impl GroupLine {
    /// Whether the line is known where the large case is: beside its points only if they are apart, and no item of the second is without
    /// an element. A last group with less to do makes loops look shorter than they are.
    fn is_known(&self) -> bool {
        const LAST_GROUP: f64 = 0.3;
        let (here, first, second) = self.at;
        let is_near = (here - second).abs() <= LAST_GROUP * second;
        is_near || (second >= 1.0 && (first - second).abs() > 1e-6 * second)
    }

    fn cell(&self, small: Option<u64>, large: Option<u64>) -> Option<u64> {
        Some(self.point(small?, large?))
    }

    fn point(&self, small: u64, large: u64) -> u64 {
        let (here, first, second) = self.at;
        let first_count = small as f64 * self.each.0;
        let second_count = large as f64 * self.each.1;
        let turns = second - first;
        let group = match turns.abs() > 1e-6 * second {
            true => second_count + (second_count - first_count) / turns * (here - second),
            false => second_count,
        };
        (self.groups * group.max(0.0)).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::Registry;
    use gpulab_model::data::Dtype;

    #[test]
    fn small_matrices_are_whole_tiles() {
        let registry = Registry::default();
        let family = registry.family("minplus").unwrap();
        let sizes = |variant: &str, wg: usize| {
            let case = Case::of("minplus", variant, Dtype::F32, Shape { n: 4096, m: 4096 });
            let target = Target::with_everything(true);
            small_cases(family, &case, WorkGroup::linear(wg), &target)
                .unwrap()
                .map(|case| case.shape.n)
        };
        // Tiles of 64, of 128, and items alone.
        assert_eq!(
            [("three_way", 64), ("tiled", 256), ("wide", 1)]
                .map(|(variant, wg)| sizes(variant, wg)),
            [[64, 128], [128, 256], [64, 128]]
        );
    }
}

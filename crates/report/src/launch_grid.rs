//! The launches of a kernel's run as a picture: what is put on the queue, and which buffers each launch reads and writes.

use super::cell_grid::{CellGrid, DrawnGrids, EMPTY, GridRow, touched, touched_marks};
use super::film::Film;
use super::format;
use gpulab_model::plan::{Arg, BufferSpec, Role};
use std::collections::{BTreeMap, BTreeSet};

/// Most launches and buffers that one picture shows.
const MOST: usize = 24;

/// Kernels of gpulab's own, which prepare a reader's buffers, in words.
const HELPERS: [(&str, &str); 2] = [("gpulab_copy", "gpulab copies the input"), ("gpulab_zero", "gpulab writes zeros")];

/// A row for all that the host sends, one for each launch, and one for what the host reads; a column for each buffer.
pub(super) fn launches(film: &Film) -> Result<DrawnGrids, String> {
    let buffers = film.plan.buffers.len();
    if buffers > MOST {
        return Err(format!("{buffers} buffers are too many for one picture, which shows {MOST}"));
    }
    let of_host = |how, is_meant: &dyn Fn(&BufferSpec) -> bool| {
        let full = touched(how);
        film.plan.buffers.iter().map(|spec| if is_meant(spec) { full } else { EMPTY }).collect()
    };
    let mut names = vec![BTreeSet::new(); buffers];
    let mut rows: Vec<GridRow> = vec![(
        "host sends".into(),
        of_host((false, true), &|spec| matches!(spec.role, Role::Input(_))),
        "the inputs".into(),
    )];
    // Launches of one kernel may have other buffers each; those that a flag left out were not traced.
    let mut passes = film.plan.passes.iter();
    for (number, (traced, counted)) in (1..).zip(film.launches.iter().zip(&film.counted.launches)).take(MOST) {
        let parameters = film.parameters.get(&traced.kernel).map_or(&[][..], Vec::as_slice);
        let pass = passes.by_ref().find(|pass| pass.kernel == traced.kernel);
        let args = pass.map_or(&[][..], |pass| &pass.args[..]);
        let helper = HELPERS.iter().find(|(kernel, _)| *kernel == traced.kernel);
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (name, arg) in parameters.iter().zip(args) {
            if let Arg::Buffer(buffer) = arg {
                places.insert(name, *buffer);
                if helper.is_none() {
                    names[*buffer].insert(name.as_str());
                }
            }
        }
        let mut places_touched = vec![(false, false); buffers];
        for request in traced.steps.iter().flat_map(|step| &step.requests).filter(|one| !one.kind.is_local()) {
            if let Some((read, written)) = places.get(request.array.as_str()).map(|place| &mut places_touched[*place]) {
                *read |= request.kind.is_read();
                *written |= !request.kind.is_read();
            }
        }
        let counts = &counted.counts;
        let groups = format::counted(counts.groups as usize, "group");
        let items = format::counted(counts.items as usize, "work-item");
        let timed = if counted.timed { "" } else { ", not timed" };
        let name = helper.map_or(traced.kernel.as_str(), |(_, what)| *what);
        let about = format!("{name}: {groups}, {items}{timed}");
        rows.push((format!("launch {number}"), places_touched.into_iter().map(touched).collect(), about));
    }
    let more = film.launches.len().saturating_sub(MOST);
    if more > 0 {
        rows.push((
            "...".into(),
            vec![EMPTY; buffers],
            format!("{} more; a smaller -n has fewer", format::counted(more, "launch")),
        ));
    }
    rows.push(("host reads".into(), of_host((true, false), &|spec| spec.role == Role::Output), "the result".into()));
    let about = match film.launches.len() {
        1 => "One launch on the queue.".to_owned(),
        several => format!("{several} launches on one queue: each begins when the one before has ended."),
    };
    let told = film.plan.buffers.iter().zip(&names).enumerate().map(|(at, (spec, names))| {
        let role = match spec.role {
            Role::Input(_) => "input",
            Role::Output => "result",
            Role::Scratch => "between launches",
            Role::Zeroed => "zeros before the first launch",
            Role::Image { .. } => "image",
        };
        let names: Vec<&str> = names.iter().copied().collect();
        let named = if names.is_empty() { String::new() } else { format!("{}, ", names.join(" or ")) };
        format!("{}. column: {named}{} {}, {role}", at + 1, format::count(spec.len as u64), spec.dtype.name())
    });
    let grid = CellGrid {
        head: "a column for each buffer".into(),
        together: 1,
        rows,
        marks: touched_marks("not touched"),
        below: told.collect(),
    };
    Ok(DrawnGrids { title: film.title.clone(), about: vec![about], grids: vec![grid], of: None })
}

//! What a kernel's faults look like, and what to try next: sentences made of what a judgement found out, and of nothing else.

mod build;
mod ends;
mod matrices;
mod vectors;
mod words;

pub use words::Hint;

use super::format;
use gpulab_kernels::{SourceTraits, built_in};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::Symptoms;
use gpulab_model::plan::WorkGroup;
use gpulab_study::judgement::{Judgement, Ruling, TriedCase};
use gpulab_system::text::Joined;
use words::{elements, hint, no_barrier};

/// The hint for a kernel; none for one that is right. Where the simulator `found` the fault, another group is no cure.
pub fn hint(judgement: &Judgement, found: bool) -> Option<Hint> {
    let judgement = &match found {
        true => Judgement { elsewhere: Vec::new(), ..judgement.clone() },
        false => judgement.clone(),
    };
    match judgement.ruling {
        Ruling::Right => None,
        Ruling::NotBuilt => Some(build::hint(judgement)),
        // Of a reader's family nobody knows what its elements come from.
        Ruling::Wrong if built_in(&judgement.asked.family).is_none() => {
            by_group(judgement).or_else(|| by_sizes(judgement))
        }
        Ruling::Wrong => Some(wrong(judgement)),
        ruling => Some(ends::hint(judgement, ruling)),
    }
}

fn wrong(judgement: &Judgement) -> Hint {
    let Some(symptoms) = &judgement.symptoms else {
        return by_sizes(judgement).unwrap_or_else(|| {
            let next = next_check(judgement);
            hint!("The mistake could not be examined: the kernel ended its process or ran out of time.", "{next}")
        });
    };
    let found = other_type(judgement)
        .or_else(|| matrices::likeness(judgement, symptoms))
        .or_else(|| anywhere(judgement, symptoms))
        .or_else(|| vectors::hint(judgement, symptoms))
        .or_else(|| matrices::hint(judgement, symptoms));
    found.or_else(|| by_group(judgement)).or_else(|| by_sizes(judgement)).unwrap_or_else(|| unknown(judgement))
}

/// A kernel that was written for elements of another type.
fn other_type(judgement: &Judgement) -> Option<Hint> {
    let dtype = judgement.asked.dtype;
    let family = &judgement.asked.family;
    let own: &[&str] = match dtype {
        Dtype::F32 => &["float"],
        Dtype::F64 => &["double"],
        Dtype::I32 => &["int", "uint", "unsigned"],
        Dtype::I64 => &["long", "ulong", "unsigned"],
        Dtype::U8 => &["char", "uchar", "unsigned"],
    };
    let of_buffer = |text: &&String| text.contains('*');
    let types = ["float", "double", "half", "int", "uint", "long", "ulong", "short", "char"];
    let words = judgement.traits.parameters.iter().filter(of_buffer).flat_map(|text| text.split([' ', '*']));
    let other = words
        .map(|word: &str| word.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned())
        .find(|word| types.contains(&word.as_str()) && !own.contains(&word.as_str()))?;
    Some(hint!(
        "The kernel reads its elements as {other}, but they are {dtype}.",
        "Write T for the type of elements and sums, or choose another one with --dtype: {family} has others."
    ))
}

/// Faults of every family: memory that is no result's, and races.
fn anywhere(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let traits = &judgement.traits;
    if let Some(input) = symptoms.changed_input {
        let name = parameter(&judgement.parameters, input);
        return Some(hint!(
            "The kernel writes to its input {name}, which must stay as it is.",
            "Declare inputs as __global const T *, and write results to the parameter behind them."
        ));
    }
    if let Some(what) = &symptoms.outside {
        let what = what.trim_start_matches("the kernel ");
        return Some(hint!(
            "The kernel {what}.",
            "Skip the work-items that have no element: whole work-groups are launched, more work-items than elements. \
             Compare the index with the size before each store, and give each result its own place."
        ));
    }
    if symptoms.differs {
        return Some(race(judgement, traits));
    }
    None
}

fn race(judgement: &Judgement, traits: &SourceTraits) -> Hint {
    if traits.has_local && traits.barriers == 0 {
        return no_barrier();
    }
    let next = match traits.has_atomics {
        true => "Plain stores write the result besides the atomic operations: look for stores by several work-items.",
        false if traits.has_local => {
            "Look for a missing barrier(CLK_LOCAL_MEM_FENCE) between a store to local memory and its load by another \
             work-item, and for stores by several work-items."
        }
        false => "Give each work-item or work-group a result of its own, at get_global_id(0) or get_group_id(0).",
    };
    let check = next_check(judgement);
    hint!(
        "The result changes from run to run over the same data: work-items write to the same place, or read what others have not \
         written yet.",
        "{next} {check}"
    )
}

/// A kernel that is right in groups of one size only.
fn by_group(judgement: &Judgement) -> Option<Hint> {
    let failed = judgement.failed().filter(|failed| failed.shape != judgement.asked.shape)?;
    let right: Vec<WorkGroup> =
        judgement.elsewhere.iter().filter(|tried| tried.ruling == Ruling::Right).map(|tried| tried.wg).collect();
    let first = right.first()?;
    if right.iter().all(|wg| wg.size() == 1) {
        let check = next_check(judgement);
        return Some(hint!(
            "The kernel is right with one work-item to a group, and wrong with more: its work-items disturb each other.",
            "Look for a missing barrier, and for a place that several work-items write. {check}"
        ));
    }
    let sizes = right.iter().map(ToString::to_string).joined(" and ");
    let wg = failed.wg;
    let number = judgement.traits.sizes.iter().find(|size| right.iter().any(|wg| wg.size() as u64 == **size));
    let next = match number {
        Some(size) => format!("The text has the number {size}: write WG, or WG_X and WG_Y, which gpulab sets."),
        None if built_in(&judgement.asked.family).is_none() => {
            format!("Write WG for the group's size, or give the rung the one it needs: wg = \"{first}\"")
        }
        None => format!("Write WG for the group's size, or declare the one it needs: // gpulab: wg {first}"),
    };
    Some(hint!("The kernel is right in work-groups of {sizes}, and wrong in those of {wg}.", "{next}"))
}

/// A kernel that is right at some sizes.
fn by_sizes(judgement: &Judgement) -> Option<Hint> {
    let (right, wrong): (Vec<&TriedCase>, Vec<&TriedCase>) =
        judgement.tried.iter().partition(|tried| tried.ruling == Ruling::Right);
    let [wide, high] = judgement.tile;
    let is_whole = |tried: &&TriedCase| tried.shape.n.is_multiple_of(wide) && tried.shape.m.is_multiple_of(high);
    if right.is_empty() || wrong.is_empty() {
        return None;
    }
    let group = if high == 1 { format!("{wide} elements") } else { format!("{wide}x{high} elements") };
    if right.iter().all(is_whole) && !wrong.iter().any(is_whole) {
        return Some(hint!(
            "The kernel is right where the data are whole groups of {group}, and wrong where a part of one is left.",
            "Compare each index with the size: the last work-group has fewer elements than the others."
        ));
    }
    let least_wrong = wrong.iter().map(|tried| tried.shape.elements()).min()?;
    let most_right = right.iter().map(|tried| tried.shape.elements()).max()?;
    if least_wrong > most_right {
        let until = elements(most_right);
        let from = elements(least_wrong);
        return Some(hint!(
            "The kernel is right up to {until} and wrong from {from} on.",
            "Look for numbers that hold for small sizes only: a fixed number of groups or of turns of a loop, or a type too \
             small for an index or a sum."
        ));
    }
    None
}

fn unknown(judgement: &Judgement) -> Hint {
    let family = &judgement.asked.family;
    let check = next_check(judgement);
    hint!(
        "The wrong elements follow no known pattern.",
        "Compare it with the family's first rung: gpulab source {family}:1. {check}"
    )
}

/// What to run to find races and accesses out of bounds.
fn next_check(judgement: &Judgement) -> String {
    let family = &judgement.asked.family;
    let command = match built_in(family) {
        Some(_) => format!("gpulab try FILE --as {family} --check"),
        None => "gpulab try FILE --check".to_owned(),
    };
    format!("{command} looks for races, accesses out of bounds and values that were never set.")
}

fn parameter(parameters: &[String], index: usize) -> String {
    let name = parameters.get(index).and_then(|text| text.rsplit(['*', ' ']).next()).unwrap_or_default();
    if name.is_empty() { format!("number {index}") } else { name.to_owned() }
}

/// A text for a screen: what it looks like, then what to do.
pub fn text(hint: &Hint, width: usize) -> String {
    format::wrap(&format!("hint: {}", hint.looks), width, "  ")
        + &format::wrap(&format!("next: {}", hint.next), width, "  ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::check::Share;
    use gpulab_model::data::Shape;
    use gpulab_model::plan::Case;

    /// A wrong reduction, right for one element only.
    fn wrong(symptoms: Symptoms, text: &str) -> Judgement {
        let shape = Shape::vector(1000);
        let wg = WorkGroup::linear(256);
        let tried = |n, ruling| TriedCase { shape: Shape::vector(n), wg, ruling, reason: String::new() };
        Judgement {
            ruling: Ruling::Wrong,
            asked: Case { wg, ..Case::of("reduce", "mine", Dtype::I32, shape) },
            tile: [256, 1],
            tried: vec![tried(1, Ruling::Right), tried(255, Ruling::Wrong)],
            elsewhere: Vec::new(),
            symptoms: Some(symptoms),
            traits: SourceTraits::of(text, "k"),
            parameters: vec!["__global const T *x".into()],
        }
    }

    fn symptoms() -> Symptoms {
        Symptoms {
            shape: Shape::vector(773),
            wg: WorkGroup::linear(256),
            is_right: false,
            outside: None,
            changed_input: None,
            differs: false,
            unwritten: Share::None,
            unwritten_count: [0, 4],
            first_unwritten: None,
            counts: None,
            cells: None,
        }
    }

    #[test]
    fn results_that_change_from_run_to_run_are_races() {
        let differs = || Symptoms { differs: true, ..symptoms() };
        let of = |text: &str| hint(&wrong(differs(), text), false).unwrap();
        assert!(of("__local T s[4]; s[0] = 1;").looks.contains("no barrier"));
        assert!(of("__local T s[4]; barrier(1);").next.contains("missing barrier"));
        assert!(of("atomic_add(p, 1);").next.contains("besides the atomic operations"));
        assert!(of("p[0] += 1;").next.contains("get_group_id(0)"));
    }

    #[test]
    fn what_has_no_name_is_said_to_have_none() {
        let odd = |tried: [u64; 2]| {
            let mut judgement = wrong(symptoms(), "");
            judgement.tried[0].shape = Shape::vector(tried[0]);
            judgement.tried[1].shape = Shape::vector(tried[1]);
            hint(&judgement, false).unwrap().looks
        };
        assert!(odd([257, 255]).contains("no known pattern"), "{}", odd([257, 255]));
        assert!(odd([256, 255]).contains("whole groups of 256 elements"));
        assert!(odd([1, 255]).contains("right up to one element and wrong from 255 elements on"));
    }

    #[test]
    fn a_group_of_another_size_is_named_with_its_number() {
        let mut judgement = wrong(symptoms(), "for (k = 0; k < 64; k++)");
        let other = TriedCase { wg: WorkGroup::linear(64), ruling: Ruling::Right, ..judgement.tried[1].clone() };
        judgement.elsewhere = vec![other];
        let told = hint(&judgement, false).unwrap();
        assert!(told.looks.contains("right in work-groups of 64") && told.next.contains("number 64"), "{told:?}");
        // Where the simulator names the fault, no size of a group is its cure.
        assert!(!hint(&judgement, true).unwrap().looks.contains("work-groups"));
    }

    #[test]
    fn a_right_kernel_needs_no_hint() {
        assert_eq!(hint(&Judgement { ruling: Ruling::Right, ..wrong(symptoms(), "") }, false), None);
    }
}

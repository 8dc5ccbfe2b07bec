//! Hints for kernels over vectors, from which elements count.

use super::words::{Hint, hint, no_barrier};
use gpulab_kernels::SourceTraits;
use gpulab_model::check::Share;
use gpulab_model::data::Dtype;
use gpulab_model::outcome::{CountSymptoms, Repeated, StartsFrom, Symptoms};
use gpulab_study::judgement::Judgement;

pub(super) fn hint(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let counts = symptoms.counts.as_ref()?;
    let traits = &judgement.traits;
    unwritten(symptoms, traits)
        .or_else(|| starts(counts, traits))
        .or_else(|| counted(judgement, symptoms, counts))
        .or_else(|| pairs(counts))
        .or_else(|| counts.repeated.map(|repeated| too_often(repeated, counts, traits)))
        .or_else(|| kinds(judgement, counts))
}

/// Partial results that are missing.
fn unwritten(symptoms: &Symptoms, traits: &SourceTraits) -> Option<Hint> {
    let [count, of] = symptoms.unwritten_count;
    let first = symptoms.first_unwritten?;
    let own = "Let one work-item of each group write partials[get_group_id(0)], or declare `results item` and let each work-item \
               write partials[get_global_id(0)]. Where some write none: out = 0 among --args holds zeros before.";
    Some(match symptoms.unwritten {
        Share::All => hint!("The kernel writes no result: its output is as it was before.", "{own}"),
        Share::AllButFirst | Share::AllButFirstGroup if of > 1 => {
            let missing =
                if traits.asks_group { "." } else { ": is get_group_id(0) missing from the place it is written to?" };
            hint!("Only the first of {of} partial results is written{missing}", "{own}")
        }
        Share::AllButLast | Share::LastGroup if count == 1 => hint!(
            "The last of {of} partial results is not written: the last group, which has fewer elements, leaves none.",
            "Write a partial result in every group: store the identity for an empty group; never return before the \
             store or a barrier."
        ),
        _ => hint!("{count} of {of} partial results are not written; the first is number {first}.", "{own}"),
    })
}

/// What is in the result and comes from no element.
fn starts(counts: &CountSymptoms, traits: &SourceTraits) -> Option<Hint> {
    match counts.starts_from {
        StartsFrom::Nothing => None,
        StartsFrom::Output => Some(hint!(
            "The result includes the output's value before the launch: nothing sets it to zero.",
            "Add up in a variable of the work-item, and store it with = in place of +=."
        )),
        StartsFrom::BesideInputs => Some(hint!(
            "The result includes memory behind the end of the input: the kernel reads elements from n on.",
            "Load an element only where its index is less than n, and take 0 elsewhere."
        )),
        StartsFrom::Elsewhere if traits.has_local && traits.barriers == 0 => Some(no_barrier()),
        StartsFrom::Elsewhere if traits.has_local => Some(hint!(
            "The result is wrong even where all elements are zero: local memory is read that was never written, or before it was.",
            "Let every work-item of the group store to local memory, 0 where it has no element, and put a barrier before it is read."
        )),
        StartsFrom::Elsewhere => Some(hint!(
            "The result is wrong even where all elements are zero: a variable is read before it is set, or set to another number.",
            "Begin each sum with a 0 that is written down: T sum = 0;"
        )),
    }
}

fn counted(judgement: &Judgement, symptoms: &Symptoms, counts: &CountSymptoms) -> Option<Hint> {
    let traits = &judgement.traits;
    let group = counts.group;
    let wg = symptoms.wg.size() as u64;
    let each = group / wg.max(1);
    let n = symptoms.shape.n;
    let in_groups = "In group g of WG work-items, element i of the group is at g * WG + i: get_global_id(0).";
    Some(match counts.counted {
        Share::All => return None,
        Share::None => hint!(
            "No element counts: the result is the same whatever the data are.",
            "Follow one element from its load to the store of the partial result."
        ),
        Share::FirstGroup => hint!(
            "Only the first work-group's elements are in the result: is get_group_id(0) missing from the index?",
            "{in_groups}"
        ),
        Share::LastGroup => hint!(
            "Only the last work-group's elements are in the result: do all groups take the same elements, or write to one place?",
            "Write each group's partial result to partials[get_group_id(0)]."
        ),
        Share::AllButFirstGroup => hint!(
            "The first work-group's elements are not in the result: does the index begin a group too late?",
            "{in_groups}"
        ),
        Share::WholeGroups => hint!(
            "The elements behind the last whole group of {group} are not in the result.",
            "Launches have a work-group for them: let it take those below n, in place of leaving them out."
        ),
        Share::AllButFirst => hint!(
            "The first element is not in the result: does a loop begin at 1, or a condition leave out 0?",
            "Indices run from 0 to n - 1."
        ),
        Share::AllButLast => hint!(
            "The last element is not in the result: is an index compared with n - 1 in place of n?",
            "Indices run from 0 to n - 1: i < n takes them all."
        ),
        Share::FirstOfGroups if each <= 1 || traits.has_local => hint!(
            "Only the first element of each work-group is in the result: what the other work-items hold is not added.",
            "Store each work-item's element to local memory, put a barrier, and add them up."
        ),
        Share::LastOfGroups => hint!(
            "Only the last element of each work-group is in the result: all its work-items write to one place, and the last one stays.",
            "Let one work-item write, after it has added what the others hold in local memory."
        ),
        Share::AllButFirstOfGroups => hint!(
            "The first element of each work-group is not in the result: does the first work-item, or the loop, begin with the second?",
            "Element 0 of a group belongs to work-item 0."
        ),
        Share::AllButLastOfGroups => hint!(
            "The last element of each work-group is not in the result: does a loop end one turn early?",
            "A group's elements run from 0 to their number less 1: use < with the number itself."
        ),
        Share::FirstHalfOfGroups => hint!(
            "Only the first half of each work-group's elements is in the result: the first step of the tree is missing.",
            "Begin with s = WG / 2, where work-item i adds element i + WG / 2."
        ),
        Share::SecondHalfOfGroups => hint!(
            "Only the second half of each work-group's elements is in the result.",
            "Add to what a work-item holds, in place of replacing it: += where there is =."
        ),
        Share::PowersOfGroups => hint!(
            "Only elements 0, 1, 2, 4, 8 and so on of each work-group are in the result: the first work-item ran \
             through the tree before the others had added theirs.",
            "Put barrier(CLK_LOCAL_MEM_FENCE) into the tree's loop, behind each step, outside of the if."
        ),
        Share::FirstPartOfGroups(part) if part == wg && each > 1 => hint!(
            "Only the first {wg} of each group's {group} elements are in the result: each work-item takes one of \
                 {each}.",
            "Let each work-item take {each} elements, WG apart, or declare: // gpulab: elements 1"
        ),
        Share::FirstPartOfGroups(part) => hint!(
            "Only the first {part} of each group's {group} elements are in the result.",
            "Look for the number {part}: is the group's size written as a number in place of WG, or a step of a tree missing?"
        ),
        Share::Every(step) if step == each && each > 1 => hint!(
            "Only the first of each work-item's {each} elements is in the result.",
            "Let the work-item's loop go through all {each} elements that the file declares."
        ),
        Share::Every(2) => hint!(
            "Only every second element is in the result.",
            "In a tree the last step is missing: it runs while s > 0, not s > 1. Elsewhere look for a step of 2."
        ),
        Share::Every(step) => hint!(
            "Only every {step}th element is in the result.",
            "In a tree the last steps are missing: it runs while s > 0. Elsewhere look for a step of {step}."
        ),
        Share::Odd => hint!(
            "Only elements with an odd index are in the result.",
            "Look for an = in place of += where a neighbour's element is added."
        ),
        Share::Beginning(count) => hint!(
            "Only the first {count} of {n} elements are in the result.",
            "Does a loop end too early, or is the number of work-items or of groups another than the launch's? get_global_size(0) \
             and get_num_groups(0) say it."
        ),
        Share::FirstOfGroups | Share::Some => {
            let count = counts.count;
            let missing = counts.first_missing.unwrap_or_default();
            let strange =
                if counts.strange > 0 { ", and some leave a result that is not a multiple of their value" } else { "" };
            hint!(
                "{count} of {n} elements are in the result{strange}; the first missing one is number {missing}.",
                "Follow element {missing}: which work-item loads it, and where does its sum go?"
            )
        }
    })
}

fn too_often(repeated: Repeated, counts: &CountSymptoms, traits: &SourceTraits) -> Hint {
    let Repeated { share, first, times, count } = repeated;
    let by_all = if traits.asks_local || traits.asks_global { "" } else { " Is get_local_id(0) missing?" };
    match share {
        Share::All => hint!(
            "Every element counts {times} times in the result.{by_all}",
            "Let each element be loaded by one work-item, and each partial result be added once."
        ),
        _ if first == counts.group && times == 2 => hint!(
            "The first element of each group but the first counts twice: neighbouring groups overlap.",
            "A group's elements end before the next group's first: use < where there is <=."
        ),
        _ => hint!(
            "Element {first} counts {times} times in the result, and so do others: {count} count more than once.",
            "Look at the index that is loaded: two work-items, or two turns of a loop, have the same one."
        ),
    }
}

fn pairs(counts: &CountSymptoms) -> Option<Hint> {
    if let Some(input) = counts.lone_input {
        let (one, other) = if input == 0 { ("x", "y") } else { ("y", "x") };
        return Some(hint!(
            "The result is not 0 where all of {other} is 0: {one} counts by itself.",
            "Add up the products x[i] * y[i], of both inputs."
        ));
    }
    (counts.is_paired == Some(false)).then(|| {
        hint!(
            "The kernel multiplies elements at different places of x and y.",
            "Load both at the same index: x[i] * y[i]."
        )
    })
}

/// Where every element counts once, but not over all data.
fn kinds(judgement: &Judgement, counts: &CountSymptoms) -> Option<Hint> {
    let kinds = counts.kinds?;
    let traits = &judgement.traits;
    let dtype = judgement.asked.dtype;
    if kinds.ones && !kinds.signed {
        return Some(hint!(
            "The result is right over ones, and wrong over numbers of both signs.",
            "Look for what loses a sign: fabs, abs, an unsigned type in place of T."
        ));
    }
    if kinds.signed && !kinds.fractions {
        let what = traits.integer_type.as_deref().unwrap_or("int");
        return Some(hint!(
            "The result is right over whole numbers, and wrong over fractions: a variable of type {what} cuts them off.",
            "Hold elements and sums in variables of type T."
        ));
    }
    if kinds.fractions && !kinds.any {
        let narrow = match (&traits.float_type, dtype) {
            (Some(float), Dtype::I32 | Dtype::I64) => {
                format!("a variable of type {float} holds integers with few digits")
            }
            (Some(float), Dtype::F64) if float.starts_with("float") => "a variable of type float holds doubles".into(),
            _ => "a variable is too small for them".into(),
        };
        return Some(hint!(
            "The result is right over small numbers, and wrong over large ones: {narrow}.",
            "Hold elements and sums in variables of type T."
        ));
    }
    None
}

//! What a kernel's faults look like, and what to try next: sentences made of what a judgement found out, and of nothing else.

use super::format;
use gpulab_kernels::built_in;
use gpulab_model::Joined;
use gpulab_model::check::{BY_ONE, CellRegion, Share};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::{DataKind, Likeness, StartsFrom, Symptoms};
use gpulab_model::plan::WorkGroup;
use gpulab_study::judgement::{Judgement, Ruling, TriedCase};
use serde::Serialize;
use std::collections::BTreeSet;

/// What to say of a kernel that is not right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// What the fault looks like, behind `hint:`.
    pub looks: String,
    /// What to try, behind `next:`.
    pub next: String,
}

/// A hint of two texts, in which what stands in braces is filled in.
macro_rules! hint {
    ($looks:literal, $next:literal $(,)?) => {
        Hint {
            looks: format!($looks),
            next: format!($next),
        }
    };
}

/// A text for a screen: what it looks like, then what to do.
pub fn text(hint: &Hint, width: usize) -> String {
    format::wrap(&format!("hint: {}", hint.looks), width, "  ")
        + &format::wrap(&format!("next: {}", hint.next), width, "  ")
}

/// The hint for a kernel; none for one that is right. Where the simulator `found` the fault, another group is no cure.
pub fn hint(judgement: &Judgement, found: bool) -> Option<Hint> {
    match judgement.ruling {
        Ruling::Right => None,
        Ruling::NotBuilt => Some(not_built(judgement)),
        Ruling::Wrong => {
            if let Some(hint) = powers_of_two(judgement).filter(|_| !found) {
                return Some(hint);
            }
            let by_size = Some(judgement)
                .filter(|_| !found)
                .and_then(by_group)
                .or_else(|| by_sizes(judgement));
            // Of a reader's family nobody knows what its elements come from.
            if built_in(&judgement.asked.family).is_none() {
                return by_one(judgement).or(by_size);
            }
            let known =
                other_type(judgement).or_else(|| seen(judgement, judgement.symptoms.as_ref()?));
            let family = &judgement.asked.family;
            let check = next_check(judgement);
            let first = hint!(
                "The wrong elements follow no known pattern.",
                "Compare it with the family's first rung: gpulab source {family}:1. {check}"
            );
            Some(known.or(by_size).unwrap_or(first))
        }
        ruling => Some(ended(judgement, ruling)),
    }
}

fn seen(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    anywhere(judgement, symptoms)
        .or_else(|| vectors(judgement, symptoms))
        .or_else(|| matrices(judgement, symptoms))
}

fn elements(count: u64) -> String {
    if count == 1 {
        "one element".into()
    } else {
        format!("{count} elements")
    }
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

fn no_barrier() -> Hint {
    hint!(
        "Work-items read local memory that others have not written yet: the kernel has local memory, and no barrier.",
        "Put barrier(CLK_LOCAL_MEM_FENCE) between the store to local memory and the loads of what other work-items stored, \
         and between two steps of a tree.",
    )
}

const MACROS: &str = "gpulab sets T, the element type; INDEX, an unsigned integer for sizes; WG, the group's work-items, and of \
                      matrices WG_X and WG_Y. NO_EDGE and SMALLER come from #include \"common/smaller.cl\". // gpulab: tune \
                      NAME 1 2 4 sets a macro of your own. What its own host would define: {defines}.";

/// What a line of the log says, what that looks like, and what to try next: the first that fits counts.
const LOGS: &[(&[&str], &str, &str)] = &[
    (
        &["undeclared identifier"],
        "{name} is not declared.",
        "Sizes come as arguments: ({signature}). {macros}",
    ),
    (
        &[
            "must reside in",
            "kernel argument cannot be declared as a pointer",
            "__private",
            "pointer arguments to kernel",
        ],
        "A pointer among the kernel's parameters has no address space: __global is missing.",
        "Write the parameters as ({signature}).",
    ),
    (
        &[
            "'double' requires",
            "cl_khr_fp64",
            "unknown type name 'double'",
        ],
        "The kernel uses double, which this device does not have.",
        "Write T for elements and sums, and 0.5f for constants of type float.",
    ),
    (
        &["unknown type name"],
        "{name} is not a type of OpenCL C.",
        "{macros}",
    ),
    (
        &["threadIdx", "blockIdx", "__shared__", "__syncthreads"],
        "The text is CUDA's.",
        "In OpenCL C, threadIdx.x is get_local_id(0), blockIdx.x is get_group_id(0), __shared__ is __local, and __syncthreads() is \
         barrier(CLK_LOCAL_MEM_FENCE).",
    ),
    (
        &[
            "implicit declaration of function",
            "Cannot find symbol",
            "nresolved extern function",
        ],
        "There is no function {name}.",
        "Write the function above the kernel, or include the file that has it.",
    ),
    (
        &[
            "variables in function scope cannot be declared",
            "variable length array",
            "array size is not a constant",
        ],
        "The size of an array is not known when the kernel is compiled.",
        "Write a number or a macro, as in __local T scratch[WG];, or declare // gpulab: local WG and take __local T *scratch.",
    ),
];

fn not_built(judgement: &Judgement) -> Hint {
    let log = judgement
        .failed()
        .map(|tried| tried.reason.as_str())
        .unwrap_or_default();
    let signature = judgement.parameters.join(", ");
    if log.contains("clSetKernelArg") || log.contains("CL_INVALID_KERNEL_ARGS") {
        let have = judgement.traits.parameters.len();
        let want = judgement.parameters.len();
        let count = match have != want && have > 0 {
            true => format!("has {have} parameters, and is given {want}"),
            false => "takes other arguments than it is given".into(),
        };
        return hint!(
            "The kernel {count}.",
            "Its parameters are ({signature}), in this order; names are free. `local` among the // gpulab: lines adds one."
        );
    }
    by_log(log, &signature, &judgement.traits.left_to_host).unwrap_or_else(|| {
        hint!(
            "The kernel does not compile; the lines above are those of your file.",
            "Fix the first error first: later ones often follow from it."
        )
    })
}

/// Functions that OpenCL C 1.2 lacks, by the beginning of their names, and what has them.
const LATER: [(&str, &str); 7] = [
    (
        "sub_group_",
        "sub-groups, which this device or its OpenCL C does not have; where it has, they need not have 32 work-items",
    ),
    ("work_group_reduce_", "OpenCL C 2.0"),
    ("work_group_scan_", "OpenCL C 2.0"),
    ("work_group_broadcast", "OpenCL C 2.0"),
    ("atomic_load", "OpenCL C 2.0"),
    ("atomic_store", "OpenCL C 2.0"),
    ("atomic_fetch_", "OpenCL C 2.0"),
];

fn by_log(log: &str, signature: &str, host: &[String]) -> Option<Hint> {
    let missing = ["undeclared identifier", "implicit declaration of function"];
    let name = missing.iter().find_map(|words| quoted(log, words));
    let later = |name: &String| {
        LATER
            .iter()
            .find(|(begins, _)| name.trim_start_matches("get_").starts_with(begins))
    };
    if let Some((name, (_, of))) = name.as_ref().and_then(|name| Some((name, later(name)?))) {
        return Some(hint!(
            "{name} is of {of}.",
            "gpulab builds OpenCL C 1.2 unless options say otherwise: --declare \"options -cl-std=CL2.0\", or options = \"...\" in \
             a family's file. Not every driver has another version; a tree in local memory runs everywhere."
        ));
    }
    let (says, looks, next) = LOGS
        .iter()
        .find(|(says, ..)| says.iter().any(|words| log.contains(words)))
        .filter(|(_, _, next)| !signature.is_empty() || !next.contains("{signature}"))?;
    let name = says.iter().find_map(|words| quoted(log, words));
    let next = next
        .replace("{signature}", signature)
        .replace("{macros}", MACROS)
        .replace("{defines}", &defines(log, host));
    Some(Hint {
        looks: if looks.contains("{name}") {
            looks.replace("{name}", &name?)
        } else {
            (*looks).to_owned()
        },
        next,
    })
}

/// The options that would define all that is missing: what the text leaves to its host, or else what the log misses.
fn defines(log: &str, host: &[String]) -> String {
    let missing = |line: &str| {
        ["undeclared identifier", "unknown type name"]
            .iter()
            .find_map(|words| quoted(line, words))
    };
    let names: BTreeSet<String> = match host {
        [] => log.lines().filter_map(missing).collect(),
        unset => unset.iter().cloned().collect(),
    };
    names
        .iter()
        .map(|name| format!("--declare \"define {name} VALUE\""))
        .joined(" ")
}

fn quoted(log: &str, words: &str) -> Option<String> {
    let after = log
        .lines()
        .find_map(|line| Some(line.split_once(words)?.1))?;
    let name = after
        .split(['\'', '"', '`'])
        .nth(1)
        .or_else(|| after.split_whitespace().next())?;
    let name: String = name
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || *c == '_')
        .take(40)
        .collect();
    (!name.is_empty()).then_some(name)
}

/// Kernels that end their process, never end, or cannot be run.
fn ended(judgement: &Judgement, ruling: Ruling) -> Hint {
    let right = judgement
        .tried
        .iter()
        .filter(|tried| tried.ruling == Ruling::Right);
    let until = right.map(|tried| tried.shape.elements()).max();
    let until = until.map_or_else(String::new, |most| {
        format!(" It is right up to {}.", elements(most))
    });
    let check = next_check(judgement);
    match ruling {
        Ruling::Crashed
            if judgement
                .failed()
                .is_some_and(|tried| tried.reason.contains("memory limit")) =>
        {
            hint!(
                "The process ran out of memory: the process of a kernel has a memory limit.",
                "Make private and local arrays smaller, and unroll less."
            )
        }
        Ruling::Crashed => hint!(
            "The kernel ended its process: it reads or writes far outside of its buffers, or its work-items need too much \
             memory.{until}",
            "Compare each index with the size before it is used; unsigned differences do not become negative. {check}"
        ),
        Ruling::Endless => hint!(
            "The kernel does not end within its deadline.{until}",
            "Look at each loop: does its step change what its condition compares? Let all work-items of a group reach every \
             barrier. --deadline gives a slow kernel more time."
        ),
        Ruling::Refused => hint!(
            "The kernel cannot run like this.",
            "Change what the // gpulab: lines declare, or --wg, -n and --dtype."
        ),
        _ if lacks_reference(judgement) => hint!(
            "The reference has no answer at this size; the kernel was not judged.",
            "Let check give one at every size from 1 on, or say which sizes there are: multiple, where, or sizes = \"only\"."
        ),
        _ => hint!(
            "The kernel was not judged, for the reason above.",
            "If the reason is the driver's, gpulab doctor looks at it."
        ),
    }
}

/// Whether nobody could say what is right.
pub(crate) fn lacks_reference(judgement: &Judgement) -> bool {
    judgement
        .failed()
        .is_some_and(|tried| tried.reason.contains("the reference"))
}

/// A kernel that was written for elements of another type.
fn other_type(judgement: &Judgement) -> Option<Hint> {
    let dtype = judgement.asked.dtype;
    let own: &[&str] = match dtype {
        Dtype::F32 => &["float"],
        Dtype::F64 => &["double"],
        Dtype::I32 => &["int", "uint", "unsigned"],
        Dtype::I64 => &["long", "ulong", "unsigned"],
        Dtype::U8 => &["char", "uchar", "unsigned"],
    };
    let types = [
        "float", "double", "half", "int", "uint", "long", "ulong", "short", "char",
    ];
    let buffers = judgement
        .traits
        .parameters
        .iter()
        .filter(|text: &&String| text.contains('*'));
    let other = buffers
        .flat_map(|text| text.split([' ', '*']))
        .map(|word: &str| word.trim_end_matches(|c: char| c.is_ascii_digit()))
        .find(|word| types.contains(word) && !own.contains(word))?;
    Some(hint!(
        "The kernel reads its elements as {other}, but they are {dtype}.",
        "Write T for the type of elements and sums, or choose another one with --dtype."
    ))
}

/// Faults of every family: memory that is no result's, and races.
fn anywhere(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let traits = &judgement.traits;
    if let Some(input) = symptoms.changed_input {
        let name = judgement
            .parameters
            .get(input)
            .and_then(|text| text.rsplit(['*', ' ']).next())
            .unwrap_or_default();
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
    if !symptoms.differs {
        return None;
    }
    if traits.has_local && traits.barriers == 0 {
        return Some(no_barrier());
    }
    let check = next_check(judgement);
    Some(hint!(
        "The result changes from run to run over the same data: work-items write to the same place, or read what others have not \
         written yet.",
        "Look for a missing barrier(CLK_LOCAL_MEM_FENCE) between a store to local memory and its load by another work-item, and \
         for plain stores by several work-items to one place. {check}"
    ))
}

/// Results that are one number: which elements count, and what else is in it.
fn vectors(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let counts = symptoms.counts.as_ref()?;
    let traits = &judgement.traits;
    let [missing, of] = symptoms.unwritten_count;
    if let Some(first) = symptoms.first_unwritten {
        if counts.counted == Share::All && counts.repeated_count == 0 {
            return Some(hint!(
                "Every element is in the first partial results, and {missing} of {of} are not written; the first is number \
                 {first}.",
                "A kernel that is meant for one work-group does this: --declare \"items WG\" starts one only, which a GPU runs \
                 on one of its compute units."
            ));
        }
        return Some(hint!(
            "{missing} of {of} partial results are not written; the first is number {first}.",
            "gpulab starts work-groups for all elements, and takes a result from each. Three causes look like this: the store \
             lacks get_group_id(0), or a group that has no element leaves before it; each work-item stores a result (declare \
             `results item`); the kernel is meant for one group (--declare \"items WG\")."
        ));
    }
    match counts.starts_from {
        StartsFrom::Nothing => {}
        StartsFrom::Output => {
            return Some(hint!(
                "The result includes the output's value before the launch: nothing sets it to zero.",
                "Add up in a variable of the work-item, and store it with = in place of +=."
            ));
        }
        StartsFrom::BesideInputs => {
            return Some(match traits.returns_early {
                true => hint!(
                    "The result changes with what lies behind the end of the input, and work-items may return before a barrier.",
                    "Let every work-item of a group reach each barrier, and one without an element take 0: what a group does \
                     whose work-items left is not defined. Or the kernel reads elements from n on."
                ),
                false => hint!(
                    "The result includes memory behind the end of the input: the kernel reads elements from n on.",
                    "Load an element only where its index is less than n, and take 0 elsewhere."
                ),
            });
        }
        StartsFrom::Elsewhere if traits.has_local && traits.barriers == 0 => {
            return Some(no_barrier());
        }
        StartsFrom::Elsewhere => {
            return Some(hint!(
                "The result is wrong even where all elements are zero: local memory or a variable is read that was never written, \
                 or before it was.",
                "Begin each sum with a 0 that is written down; let every work-item of the group store to local memory, 0 where it \
                 has no element, and put a barrier before it is read."
            ));
        }
    }
    let group = counts.group;
    let n = symptoms.shape.n;
    let count = counts.count;
    let first = counts.first_missing.unwrap_or_default();
    let which = match counts.counted {
        Share::All => String::new(),
        Share::None => "No element counts: the result is the same whatever the data are.".to_owned(),
        Share::FirstGroup => {
            "Only the first work-group's elements are in the result: is get_group_id(0) missing from the index?".into()
        }
        Share::WholeGroups => format!("The elements behind the last whole group of {group} are not in the result."),
        Share::AllButFirst => "The first element is not in the result: does a loop begin at 1?".into(),
        Share::AllButLast => {
            "The last element is not in the result: is an index compared with n - 1 in place of n?".into()
        }
        Share::FirstPartOfGroups(1) => {
            "Only the first element of each work-group is in the result: what the other work-items hold is not added."
                .into()
        }
        Share::FirstPartOfGroups(part) => {
            format!("Only the first {part} of each group's {group} elements are in the result.")
        }
        Share::Every(step) => {
            format!("Only one of {step} elements is in the result: does a tree end while s > 1, in place of s > 0?")
        }
        Share::Beginning(first) => {
            format!("Only the first {first} of {n} elements are in the result: does a loop end too early?")
        }
        Share::Some => format!("{count} of {n} elements are in the result; the first missing one is number {first}."),
    };
    if !which.is_empty() {
        return Some(hint!(
            "{which}",
            "Indices run from 0 to n - 1, and in group g of WG work-items, element i of the group is at g * WG + i. Follow element \
             {first}: which work-item loads it, and where does its sum go?"
        ));
    }
    if let Some(first) = counts.first_repeated {
        let times = counts.repeated_times;
        let repeated = counts.repeated_count;
        let looks = match repeated == n {
            true => format!("Every element counts {times} times in the result."),
            false => format!(
                "{repeated} of {n} elements count more than once: the first is number {first}."
            ),
        };
        return Some(hint!(
            "{looks}",
            "Look at the index that is loaded: two work-items, or two turns of a loop, have the same one; or a partial result is \
             added twice."
        ));
    }
    let looks = match counts.wrong_over? {
        DataKind::Signed => {
            "right over ones, and wrong over numbers of both signs: something loses a sign"
        }
        DataKind::Fractions => {
            "right over whole numbers, and wrong over fractions: an integer variable cuts them off"
        }
        DataKind::Any => {
            "right over small numbers, and wrong over large ones: a variable is too small for them"
        }
    };
    Some(hint!(
        "The result is {looks}.",
        "Hold elements and sums in variables of type T."
    ))
}

/// Results that are matrices: which cells are right, and what the others hold.
fn matrices(judgement: &Judgement, symptoms: &Symptoms) -> Option<Hint> {
    let cells = symptoms.cells.as_ref().filter(|_| !symptoms.is_right)?;
    let [wide, high] = cells.tile;
    match cells.looks_like {
        None => {}
        Some(Likeness::Input) => {
            return Some(hint!(
                "The output is the input: rows stay rows.",
                "Write element (row, column) of the input to out[column * height + row]."
            ));
        }
        Some(Likeness::TilesStay) => {
            return Some(hint!(
                "Tiles are transposed, but stay where they were: the tile's indices are not swapped.",
                "The tile that group (x, y) reads goes to tile (y, x) of the output: begin its column with get_group_id(1), its \
                 row with get_group_id(0)."
            ));
        }
        Some(Likeness::TilesUnturned) => {
            return Some(hint!(
                "Tiles are where they belong, but not transposed themselves.",
                "Swap the two local indices between the store to the tile and the load from it: tile[y][x], then tile[x][y]."
            ));
        }
        Some(Likeness::Transposed) => {
            return Some(hint!(
                "The result is right, but transposed: rows and columns are swapped.",
                "Write the result of row i and column j to r[i * n + j]."
            ));
        }
    }
    let next = "get_global_id(0) and get_global_id(1) are column and row in the whole matrix. Whole work-groups are launched, and \
                the last ones reach over the edge: skip single work-items, and compare columns with the width and rows with the \
                height.";
    if let Some(looks) = cells_are(cells.written, "written", cells.tile) {
        return Some(hint!("{looks}", "{next}"));
    }
    if judgement.traits.has_local && judgement.traits.barriers == 0 {
        return Some(no_barrier());
    }
    let looks = match () {
        () if cells.only_squares => {
            "The kernel is right for squares only: width and height are mixed up.".to_owned()
        }
        () if cells.only_whole => {
            format!(
                "The kernel is right where tiles of {wide}x{high} are whole, and wrong where a part of one is left."
            )
        }
        () => cells_are(cells.right, "right", cells.tile)
            .filter(|_| cells.right != CellRegion::None)?,
    };
    Some(hint!("{looks}", "{next}"))
}

/// Which cells of the output are so, if there is a pattern.
fn cells_are(region: CellRegion, are: &str, [wide, high]: [u64; 2]) -> Option<String> {
    Some(match region {
        CellRegion::None => format!("No cell of the output is {are}."),
        CellRegion::FirstTile => format!(
            "Only the first work-group's tile of {wide}x{high} elements is {are}: is the group's number missing from the index?"
        ),
        CellRegion::FirstRowsOfTiles(rows) => {
            format!("Only the first {rows} of each tile's {high} rows are {are}.")
        }
        CellRegion::WholeTiles => {
            format!(
                "What lies behind the last whole tile of {wide}x{high} is not {are}: the rest is left out."
            )
        }
        CellRegion::AllButLastRow => {
            format!("The last row is not {are}: is an index compared with the size less 1?")
        }
        CellRegion::AllButLastColumn => {
            format!("The last column is not {are}: is an index compared with the size less 1?")
        }
        CellRegion::All | CellRegion::Some => return None,
    })
}

/// Whether the group that was asked for is wrong at the size at which others were tried.
fn is_wrong_there(judgement: &Judgement) -> bool {
    let there = judgement.elsewhere.first().map(|other| other.shape);
    let mut tried = judgement.tried.iter();
    tried.any(|tried| Some(tried.shape) == there && tried.ruling == Ruling::Wrong)
}

/// A kernel that is right in groups of one size only.
fn by_group(judgement: &Judgement) -> Option<Hint> {
    let failed = judgement
        .failed()
        .filter(|failed| failed.shape != judgement.asked.shape && is_wrong_there(judgement))?;
    let right: Vec<WorkGroup> = judgement
        .elsewhere
        .iter()
        .filter(|tried| tried.ruling == Ruling::Right)
        .map(|tried| tried.wg)
        .collect();
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
    let declare = match built_in(&judgement.asked.family) {
        Some(_) => format!("// gpulab: wg {first}"),
        None => format!("wg = \"{first}\""),
    };
    Some(hint!(
        "The kernel is right in work-groups of {sizes}, and wrong in those of {wg}.",
        "Write WG for the group's size, or declare the one it needs: {declare}"
    ))
}

/// Results of which no number is off by more than 1.
fn by_one(judgement: &Judgement) -> Option<Hint> {
    let is_by_one = judgement.failed()?.reason.contains(BY_ONE);
    is_by_one.then(|| {
        hint!(
            "No number is off by more than 1: the reference may round at another place, or in another type.",
            "Round in the reference as the kernel does, or allow it, for integers by tolerance = {{ absolute = 1 }}."
        )
    })
}

/// A kernel that is right at some sizes.
fn by_sizes(judgement: &Judgement) -> Option<Hint> {
    let [wide, high] = judgement.tile;
    let mut least_wrong: Option<u64> = None;
    let mut most_right: Option<u64> = None;
    let mut follows_tiles = true;
    for TriedCase { shape, ruling, .. } in &judgement.tried {
        let size = shape.elements();
        match ruling {
            Ruling::Right => most_right = most_right.max(Some(size)),
            _ => least_wrong = Some(least_wrong.map_or(size, |least| least.min(size))),
        }
        let is_whole = shape.n.is_multiple_of(wide) && shape.m.is_multiple_of(high);
        follows_tiles &= is_whole == (*ruling == Ruling::Right);
    }
    let least_wrong = least_wrong?;
    let most_right = most_right?;
    if follows_tiles {
        let declare = match built_in(&judgement.asked.family) {
            Some(_) => format!("--declare \"multiple {wide}\""),
            None => format!("multiple = {wide}"),
        };
        let look = match judgement.traits.is_guarded {
            true => {
                "It compares an index with a size: look at what the last group's idle work-items would load for others"
            }
            false => "Compare each index with the size",
        };
        return Some(hint!(
            "The kernel is right where the data are whole groups of {wide}x{high}, and wrong where a part of one is left.",
            "{look}: the last work-group has fewer elements than the others. If its host launches whole groups only, say so: \
             {declare}."
        ));
    }
    (least_wrong > most_right).then(|| {
        let until = elements(most_right);
        let from = elements(least_wrong);
        let next = match most_right {
            0 | 1 => {
                "With one element, work-items neither meet nor need the right stride: look at indices, at the bytes that an \
                 element takes (float3 takes 16), and at what work-items share."
            }
            _ if most_right <= wide * high => {
                "So far one work-group has all elements: look at indices without get_group_id(0), and at what groups share. A \
                 barrier orders the work-items of one group only."
            }
            _ => {
                "Several groups were right, so that it is a matter of size: a fixed number of groups, of turns or of elements, \
                 or a type that is too small for an index or a sum."
            }
        };
        hint!("The kernel is right up to {until} and wrong from {from} on.", "{next}")
    })
}

/// A kernel that is right in groups of every power of two that was tried, and wrong in one of another size.
fn powers_of_two(judgement: &Judgement) -> Option<Hint> {
    let wg = judgement.failed()?.wg;
    let mut others = judgement.elsewhere.iter().filter(|tried| {
        tried.wg.size() > 1 && tried.wg.size().is_power_of_two() && tried.ruling != Ruling::Refused
    });
    let right = others
        .clone()
        .map(|tried| tried.wg.to_string())
        .joined(" and ");
    let has_tree = judgement.traits.has_local && judgement.traits.barriers > 0;
    let is_rule = has_tree
        && is_wrong_there(judgement)
        && !wg.size().is_power_of_two()
        && others.clone().count() > 1
        && others.all(|tried| tried.ruling == Ruling::Right);
    is_rule.then(|| {
        hint!(
            "The kernel is right in work-groups of {right}, and wrong in those of {wg}, which is no power of two.",
            "A tree that halves the group drops an element wherever the count is odd: take groups of a power of two, or let \
             the tree begin at the next one, and skip partners that the group does not have."
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::SourceTraits;
    use gpulab_model::data::Shape;
    use gpulab_model::plan::Case;

    /// A wrong reduction, right for `right` elements and wrong for 255.
    fn wrong(differs: bool, text: &str, right: u64) -> Judgement {
        let wg = WorkGroup::linear(256);
        let tried = |n, ruling| TriedCase {
            shape: Shape::vector(n),
            wg,
            ruling,
            reason: String::new(),
        };
        let symptoms = Symptoms {
            shape: Shape::vector(773),
            wg,
            is_right: false,
            outside: None,
            changed_input: None,
            differs,
            unwritten_count: [0, 4],
            first_unwritten: None,
            counts: None,
            cells: None,
        };
        Judgement {
            ruling: Ruling::Wrong,
            asked: Case {
                wg,
                ..Case::of("reduce", "mine", Dtype::I32, Shape::vector(1000))
            },
            tile: [256, 1],
            tried: vec![tried(right, Ruling::Right), tried(255, Ruling::Wrong)],
            elsewhere: Vec::new(),
            symptoms: Some(symptoms),
            traits: SourceTraits::of(text, "k"),
            parameters: vec!["__global const T *x".into()],
        }
    }

    #[test]
    fn hints_follow_from_what_was_seen() {
        let looks = |judgement: &Judgement| hint(judgement, false).unwrap().looks;
        assert!(looks(&wrong(true, "__local T s[4]; s[0] = 1;", 1)).contains("no barrier"));
        assert!(looks(&wrong(true, "p[0] += 1;", 1)).contains("changes from run to run"));
        for (right, said) in [
            (257, "no known pattern"),
            (256, "whole groups of 256x1"),
            (1, "right up to one element and wrong from 255 elements"),
        ] {
            assert!(looks(&wrong(false, "", right)).contains(said), "{right}");
        }
        let mut other = wrong(false, "", 1);
        other.elsewhere = vec![TriedCase {
            wg: WorkGroup::linear(64),
            ruling: Ruling::Right,
            ..other.tried[1].clone()
        }];
        assert!(looks(&other).contains("right in work-groups of 64"));
        // Where the simulator names the fault, no size of a group is its cure.
        assert!(!hint(&other, true).unwrap().looks.contains("work-groups"));
        assert_eq!(
            hint(
                &Judgement {
                    ruling: Ruling::Right,
                    ..other
                },
                false
            ),
            None
        );
    }

    #[test]
    fn logs_of_several_compilers_are_read() {
        let none: [String; 0] = [];
        let said = |log: &str| {
            by_log(log, "x", &none)
                .map(|hint| hint.looks)
                .unwrap_or_default()
        };
        for (log, wanted) in [
            (
                "my.cl:3:5: error: use of undeclared identifier 'NO_EDGE'",
                "NO_EDGE is not declared.",
            ),
            (
                "<stdin>:1:1: error: unknown type name 'vec4'",
                "vec4 is not a type of OpenCL C.",
            ),
            (
                "error: implicit declaration of function '__syncthreads' is invalid",
                "The text is CUDA's.",
            ),
            (
                "Cannot find symbol op in kernel library",
                "There is no function op.",
            ),
            (
                "ptxas fatal: Unresolved extern function 'op'",
                "There is no function op.",
            ),
            ("something else", ""),
            ("undeclared identifier", ""),
        ] {
            assert_eq!(said(log), wanted, "{log}");
        }
        let two = "unknown type name 'REAL'\nuse of undeclared identifier 'SIDE'\nunknown type name 'REAL'";
        assert_eq!(
            defines(two, &none),
            "--declare \"define REAL VALUE\" --declare \"define SIDE VALUE\""
        );
    }
}

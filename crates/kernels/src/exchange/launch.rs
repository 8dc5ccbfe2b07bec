//! What launching costs: a kernel that does next to nothing, and a sum in one launch or in many.

use super::zerocopy::{WordsOfItem, chunks};
use super::*;
use rayon::prelude::*;

/// The exchange's entry in the list. The first six launch an empty kernel; the others sum n words.
pub const EXCHANGE: Exchange = Exchange {
    name: "launch",
    variants: &[
        Variant::by_wall(ROUND_TRIP),
        Variant::by_wall(BACK_TO_BACK),
        Variant::by_events(QUEUED_TO_START),
        Variant::by_events(EVENT),
        Variant::by_events(FOUR),
        Variant::by_events(CROWD),
        Variant::by_events(SUM),
        Variant::by_wall(HALVING),
        Variant::by_wall(TREE),
    ],
    sources: &[COUNT_PATH, HALVE_PATH, TREE_PATH],
    script,
};

/// One launch, until the host knows that it ended.
pub const ROUND_TRIP: &str = "round_trip";
/// Launches in a row, divided by their number.
pub const BACK_TO_BACK: &str = "back_to_back";
/// By events: how long a launch lies in the queue of an idle device.
pub const QUEUED_TO_START: &str = "queued_to_start";
/// By events: from start to end.
pub const EVENT: &str = "event";
/// By events: from the start of the first of four launches in a row to the end of the last.
pub const FOUR: &str = "event_of_four";
/// By events: a launch of n groups, of which one item counts.
pub const CROWD: &str = "event_of_groups";
pub const SUM: &str = "event_of_sum";
/// A sum by launches that each halve what is left.
pub const HALVING: &str = "halving";
/// A sum by one launch, whose groups add what their trees come to.
pub const TREE: &str = "tree";

const COUNT_PATH: &str = "exchange/launch/count.cl";
const HALVE_PATH: &str = "exchange/launch/halve.cl";
const TREE_PATH: &str = "exchange/launch/tree.cl";

fn script(case: &Case, target: &Target) -> Result<Script, Refusal> {
    /// Launches in a row.
    const ROW: usize = 1000;
    match case.variant.as_str() {
        HALVING => halving(case, target),
        TREE | SUM => tree(case, target),
        QUEUED_TO_START => Ok(empty(case.seed, (1, 1), 1, 1, Reading::Delay)),
        BACK_TO_BACK => Ok(empty(case.seed, (1, 1), 1, ROW, Reading::Span)),
        FOUR => Ok(empty(case.seed, (1, 1), 4, 1, Reading::Span)),
        CROWD => Ok(empty(case.seed, (words(case)?, target.max_wg.min(256)), 1, 1, Reading::Span)),
        _ => Ok(empty(case.seed, (1, 1), 1, 1, Reading::Span)),
    }
}

/// So many groups of so many items. The first item of each counts: that is the least that can be checked. It begins with a
/// number of the seed's, so that no kernel can know what the count will come to. `launches` are timed together, `repeat` times.
fn empty(seed: u64, (groups, wg): (usize, usize), launches: usize, repeat: usize, reading: Reading) -> Script {
    let before = pattern(seed, 0) as u8;
    let first = u32::from_ne_bytes([before; 4]);
    let launch = Launch::linear("launch_count", groups * wg, wg, vec![Arg::Buffer(BufferId(0))]);
    Script {
        host: Vec::new(),
        buffers: vec![DeviceSpec { bytes: 4, place: MemoryKind::Device, contents: Contents::Undefined }],
        program: Some(program(COUNT_PATH, "launch_count", Vec::new())),
        commands: vec![command(launch); launches],
        repeat,
        reading,
        answer: Answer {
            place: AnswerPlace::Buffer(0),
            before,
            expect: Expected::Words(vec![first.wrapping_add((launches * repeat) as u32)]),
            adds: true,
        },
        cost: Cost { bytes: 0.0, ops: 0.0 },
        timeline: false,
    }
}

fn halving(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let n = words(case)?;
    let wg = target.max_wg.min(256);
    let mut commands = Vec::new();
    let mut left = n;
    let mut from = 0;
    // Also of one word: the sum must get from the input to the result.
    while left > 1 || commands.is_empty() {
        let half = left.div_ceil(2);
        let args =
            vec![Arg::Buffer(BufferId(from)), Arg::Buffer(BufferId(1)), Arg::Uint(half as u32), Arg::Uint(left as u32)];
        commands.push(command(Launch::linear("launch_halve", half.next_multiple_of(wg), wg, args)));
        (left, from) = (half, 1);
    }
    Ok(sum(case, n, program(HALVE_PATH, "launch_halve", Vec::new()), commands, n.div_ceil(2)))
}

fn tree(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let n = words(case)?;
    let wg = if target.gpu { 1 << target.max_wg.clamp(1, 256).ilog2() } else { 1 };
    let most = if target.gpu { target.compute_units.max(1) as usize * 16 } else { chunks(target, n) };
    let groups = n.div_ceil(wg).min(most);
    let items = groups * wg;
    let walk = WordsOfItem::new(target, n, items);
    let defines = [("WG".into(), wg.to_string())].into_iter().chain(walk.defines()).collect();
    let program = program(TREE_PATH, "launch_tree", defines);
    let numbers = [n, walk.near, walk.span].map(|number| Arg::Uint(number as u32));
    let args = [0, 1, 2].map(BufferId).map(Arg::Buffer).into_iter().chain(numbers).collect();
    Ok(sum(case, n, program, vec![command(Launch::linear("launch_tree", items, wg, args))], 1))
}

/// A sum of n words in buffer 0. Its result is the first of buffer 1, which has so many; buffer 2 has two zeros.
fn sum(case: &Case, n: usize, program: Program, commands: Vec<QueuedCommand>, results: usize) -> Script {
    let total = (0..n).into_par_iter().map(|i| pattern(case.seed, i)).reduce(|| 0, u32::wrapping_add);
    let buffer = |words, contents| DeviceSpec { bytes: 4 * words, place: MemoryKind::Device, contents };
    let buffers = [(n, Contents::Pattern), (results, Contents::Undefined), (2, Contents::Zeros)];
    Script {
        host: Vec::new(),
        buffers: buffers.map(|(words, contents)| buffer(words, contents)).to_vec(),
        program: Some(program),
        commands,
        repeat: 1,
        reading: Reading::Span,
        answer: Answer::new(AnswerPlace::Buffer(1), Expected::Words(vec![total])),
        cost: Cost { bytes: 4.0 * n as f64, ops: n as f64 },
        timeline: false,
    }
}

fn words(case: &Case) -> Result<usize, Refusal> {
    const MOST: usize = 1 << 30;
    let n = bytes(case)? / 4;
    if n <= MOST { Ok(n) } else { Err(Refusal::Size(format!("n = {n}: at most {MOST} words"))) }
}

fn program(path: &'static str, kernel: &str, defines: Vec<(String, String)>) -> Program {
    Program { path, defines, kernels: vec![kernel.into()] }
}

fn command(launch: Launch) -> QueuedCommand {
    QueuedCommand { queue: 0, action: Action::Launch(launch) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::case;
    use gpulab_model::outcome::fake_info;

    /// The sum of n words by a tree, and its launch.
    fn tree_of(gpu: bool, n: usize) -> (Script, Launch) {
        let target = Target { gpu, ..fake_info().target };
        let script = script(&case(&EXCHANGE, TREE, n as u64, &[], 1), &target).unwrap();
        let Action::Launch(launch) = script.commands[0].action.clone() else { unreachable!("one launch") };
        (script, launch)
    }

    #[test]
    fn items_of_a_cpu_device_add_words_that_lie_together() {
        for n in [1, 7, 1000, 100_003] {
            let settings = |gpu: bool| {
                let (script, launch) = tree_of(gpu, n);
                let stride = script.program.unwrap().defines.into_iter().find(|(name, _)| name == "STRIDE");
                (launch.global[0], launch.args[4..].to_vec(), stride.map(|(_, words)| words))
            };
            let (items, walk, stride) = settings(false);
            assert_eq!(walk, [n.div_ceil(items); 2].map(|words| Arg::Uint(words as u32)), "n = {n}");
            assert_eq!(stride.as_deref(), Some("1"));
            let (_, walk, stride) = settings(true);
            assert_eq!(walk, [1, n].map(|words| Arg::Uint(words as u32)), "n = {n}");
            assert_eq!(stride, None, "the kernel's own");
        }
    }

    #[test]
    fn a_crowd_has_as_many_groups_as_are_asked_for() {
        let script = script(&case(&EXCHANGE, CROWD, 1000, &[], 1), &fake_info().target).unwrap();
        let Action::Launch(launch) = &script.commands[0].action else { unreachable!("one launch") };
        assert_eq!(launch.global[0], 1000 * launch.local[0]);
        assert!(launch.local[0] > 1);
    }
}

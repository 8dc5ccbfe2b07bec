//! What goes on between host and device: transfers, launches and pipelines of both, as plain data.
//!
//! An [`Exchange`] is for the host what a family is for kernels: it turns a case into a [`Script`], which the runner
//! carries out, checks and times. Ceilings and experiments are made of its cases.

use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::outcome::Clock;
use gpulab_model::plan::{
    Action, Arg, BufferId, Case, Cost, Launch, QueuedCommand, Refusal, Target, Transfer,
};
use rayon::prelude::*;
use std::ops::Range;

pub const EXCHANGES: &[&Exchange] = &[&LAUNCH, &PIPELINE, &TRANSFER, &ZEROCOPY];

pub struct Exchange {
    /// The family's name in cases and rows.
    pub name: &'static str,
    /// Its variants that the host's clock times.
    pub by_wall: &'static [&'static str],
    /// Those that the driver's events time, as the host's clock would count what they leave out.
    pub by_events: &'static [&'static str],
    /// Kernel files that its scripts run, as paths below `cl/`.
    pub sources: &'static [&'static str],
    /// Turns a case of one of the variants into what is done, or says why this device cannot.
    pub script: fn(&Case, &Target) -> Result<Script, Refusal>,
}

impl Exchange {
    /// What times a variant; none if there is no such one.
    pub fn clock(&self, variant: &str) -> Option<Clock> {
        match variant {
            _ if self.by_wall.contains(&variant) => Some(Clock::Wall),
            _ if self.by_events.contains(&variant) => Some(Clock::Event),
            _ => None,
        }
    }
}

pub fn exchange(name: &str) -> Option<&'static Exchange> {
    EXCHANGES.iter().copied().find(|e| e.name == name)
}

/// A case of an exchange over so many 4-byte words.
pub fn case(
    exchange: &Exchange,
    variant: &str,
    words: u64,
    params: &[(&str, u64)],
    seed: u64,
) -> Case {
    Case {
        params: params
            .iter()
            .map(|(name, value)| ((*name).into(), value.to_string()))
            .collect::<Params>(),
        seed,
        ..Case::of(exchange.name, variant, Dtype::I32, Shape::vector(words))
    }
}

fn setting(case: &Case, name: &str, default: u64) -> Result<u64, Refusal> {
    let Some(text) = case.params.get(name) else {
        return Ok(default);
    };
    let number = text.parse().ok().filter(|n| *n > 0);
    number
        .ok_or_else(|| Refusal::Setting(format!("{name}={text}: a whole number above 0 is needed")))
}

fn bytes(case: &Case) -> Result<usize, Refusal> {
    let bytes = case
        .shape
        .n
        .checked_mul(4)
        .and_then(|bytes| usize::try_from(bytes).ok());
    bytes
        .filter(|&b| b > 0)
        .ok_or_else(|| Refusal::Size(format!("{} words cannot be moved", case.shape.n)))
}

// What a case of an exchange turns into.

/// Commands with the memory that they work on. Their `BufferId`s, in arguments of launches too, are places
/// in the lists here, until the runner has allocated what the lists say.
#[derive(Clone, Debug)]
pub struct Script {
    /// Of what it works on.
    pub seed: u64,
    pub host: Vec<MemorySpec>,
    pub buffers: Vec<MemorySpec>,
    pub program: Option<Program>,
    pub commands: Vec<QueuedCommand>,
    /// How often, before the host waits: times are those of one time.
    pub repeat: usize,
    /// Whether event times are from when the first command was put in its queue to its start, and not from the first start to
    /// the last end.
    pub is_delay: bool,
    /// What must have come of it.
    pub answer: Answer,
    pub cost: Cost,
}

impl Script {
    pub fn bytes(&self) -> u64 {
        let host = self.host.iter().map(|spec| spec.bytes as u64);
        host.chain(self.buffers.iter().map(|spec| spec.bytes as u64))
            .sum()
    }
}

/// What memory holds before the first command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Pattern,
    Zeros,
    Undefined,
}

/// Memory of the host, or a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemorySpec {
    /// Its size, above 0.
    pub bytes: usize,
    /// Whether both sides reach it: the host's is pinned then, and a buffer lies in the host's memory.
    pub is_shared: bool,
    pub contents: Contents,
}

impl MemorySpec {
    /// Memory of one side alone.
    fn own(bytes: usize, contents: Contents) -> MemorySpec {
        MemorySpec {
            bytes,
            is_shared: false,
            contents,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Path below `cl/`.
    pub path: &'static str,
    pub defines: Vec<(String, String)>,
    pub kernels: Vec<String>,
}

/// Where the result lies and what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub place: AnswerPlace,
    /// Each of its bytes before a run that is checked: no right result has them everywhere.
    pub before: u8,
    /// What must be there after one.
    pub expect: Expected,
    /// Whether the result depends on what was there before, as a count does.
    pub adds: bool,
}

impl Answer {
    /// A result that depends on nothing that was there before.
    fn new(place: AnswerPlace, expect: Expected) -> Answer {
        Answer {
            place,
            before: POISON,
            expect,
            adds: false,
        }
    }
}

/// Where a result lies: a place in one of a script's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerPlace {
    Host(usize),
    Buffer(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expected {
    /// [`pattern`], as long as the memory.
    Pattern,
    /// These words, from the memory's first byte on.
    Words(Vec<u32>),
    /// Nothing: no device takes part.
    Nothing,
}

/// Bytes that a result has before a checked run, where nothing depends on them.
pub const POISON: u8 = 0xA5;

/// Words without a period that a transfer of part of them could hide in: word `i`, different for each seed.
pub fn pattern(seed: u64, i: usize) -> u32 {
    let x = (i as u64 ^ seed.rotate_left(32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (x >> 32) as u32
}

// What launching costs: a kernel that does next to nothing, and a sum in one launch or in many.

/// The exchange's entry in the list. The first six launch an empty kernel; the others sum n words.
pub const LAUNCH: Exchange = Exchange {
    name: "launch",
    by_wall: &[ROUND_TRIP, BACK_TO_BACK, HALVING, TREE],
    by_events: &[QUEUED_TO_START, EVENT, FOUR, CROWD, SUM],
    sources: &[COUNT_PATH, HALVE_PATH, TREE_PATH],
    script: launch_script,
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

fn launch_script(case: &Case, target: &Target) -> Result<Script, Refusal> {
    /// Launches in a row.
    const ROW: usize = 1000;
    match case.variant.as_str() {
        HALVING => halving(case, target),
        TREE | SUM => tree(case, target),
        QUEUED_TO_START => Ok(empty(case.seed, (1, 1), 1, 1, true)),
        BACK_TO_BACK => Ok(empty(case.seed, (1, 1), 1, ROW, false)),
        FOUR => Ok(empty(case.seed, (1, 1), 4, 1, false)),
        CROWD => Ok(empty(
            case.seed,
            (launched_words(case)?, target.max_wg.min(256)),
            1,
            1,
            false,
        )),
        _ => Ok(empty(case.seed, (1, 1), 1, 1, false)),
    }
}

/// So many groups of so many items. The first item of each counts: that is the least that can be checked. It begins with a
/// number of the seed's, so that no kernel can know what the count will come to. `launches` are timed together, `repeat` times.
fn empty(
    seed: u64,
    (groups, wg): (usize, usize),
    launches: usize,
    repeat: usize,
    is_delay: bool,
) -> Script {
    let before = pattern(seed, 0) as u8;
    let first = u32::from_ne_bytes([before; 4]);
    let launch = Launch::linear(
        "launch_count",
        groups * wg,
        wg,
        vec![Arg::Buffer(BufferId(0))],
    );
    Script {
        seed,
        host: Vec::new(),
        buffers: vec![MemorySpec::own(4, Contents::Undefined)],
        program: Some(program(COUNT_PATH, "launch_count", Vec::new())),
        commands: vec![queued(Action::Launch(launch)); launches],
        repeat,
        is_delay,
        answer: Answer {
            place: AnswerPlace::Buffer(0),
            before,
            expect: Expected::Words(vec![first.wrapping_add((launches * repeat) as u32)]),
            adds: true,
        },
        cost: Cost::default(),
    }
}

fn halving(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let n = launched_words(case)?;
    let wg = target.max_wg.min(256);
    let mut commands = Vec::new();
    let mut left = n;
    let mut from = 0;
    // Also of one word: the sum must get from the input to the result.
    while left > 1 || commands.is_empty() {
        let half = left.div_ceil(2);
        let mut args = args(2, &[half, left]);
        args[0] = Arg::Buffer(BufferId(from));
        commands.push(queued(Action::Launch(Launch::linear(
            "launch_halve",
            half.next_multiple_of(wg),
            wg,
            args,
        ))));
        (left, from) = (half, 1);
    }
    Ok(sum(
        case,
        n,
        program(HALVE_PATH, "launch_halve", Vec::new()),
        commands,
        n.div_ceil(2),
    ))
}

fn tree(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let n = launched_words(case)?;
    let wg = if target.gpu {
        1 << target.max_wg.clamp(1, 256).ilog2()
    } else {
        1
    };
    let most = if target.gpu {
        target.compute_units.max(1) as usize * 16
    } else {
        chunks(target, n)
    };
    let groups = n.div_ceil(wg).min(most);
    let items = groups * wg;
    let walk = WordsOfItem::new(target, n, items);
    let defines = [("WG".into(), wg.to_string())]
        .into_iter()
        .chain(walk.defines())
        .collect();
    let program = program(TREE_PATH, "launch_tree", defines);
    let args = args(3, &[n, walk.near, walk.span]);
    Ok(sum(
        case,
        n,
        program,
        vec![queued(Action::Launch(Launch::linear(
            "launch_tree",
            items,
            wg,
            args,
        )))],
        1,
    ))
}

/// A sum of n words in buffer 0. Its result is the first of buffer 1, which has so many; buffer 2 has two zeros.
fn sum(
    case: &Case,
    n: usize,
    program: Program,
    commands: Vec<QueuedCommand>,
    results: usize,
) -> Script {
    let total = (0..n)
        .into_par_iter()
        .map(|i| pattern(case.seed, i))
        .reduce(|| 0, u32::wrapping_add);
    let buffers = [
        (n, Contents::Pattern),
        (results, Contents::Undefined),
        (2, Contents::Zeros),
    ];
    Script {
        seed: case.seed,
        host: Vec::new(),
        buffers: buffers
            .map(|(words, contents)| MemorySpec::own(4 * words, contents))
            .to_vec(),
        program: Some(program),
        commands,
        repeat: 1,
        is_delay: false,
        answer: Answer::new(AnswerPlace::Buffer(1), Expected::Words(vec![total])),
        cost: Cost {
            bytes: 4.0 * n as f64,
            ops: n as f64,
        },
    }
}

fn launched_words(case: &Case) -> Result<usize, Refusal> {
    const MOST: usize = 1 << 30;
    let n = bytes(case)? / 4;
    if n <= MOST {
        Ok(n)
    } else {
        Err(Refusal::Size(format!("n = {n}: at most {MOST} words")))
    }
}

fn program(path: &'static str, kernel: &str, defines: Vec<(String, String)>) -> Program {
    Program {
        path,
        defines,
        kernels: vec![kernel.into()],
    }
}

/// A kernel's arguments: so many buffers, the first in front, and numbers.
fn args(buffers: u32, numbers: &[usize]) -> Vec<Arg<BufferId>> {
    let buffers = (0..buffers).map(BufferId).map(Arg::Buffer);
    let numbers = numbers.iter().map(|number| Arg::Uint(*number as u32));
    buffers.chain(numbers).collect()
}

fn queued(action: Action) -> QueuedCommand {
    QueuedCommand { queue: 0, action }
}

// A pipeline: words go to the device, are worked on and come back, in chunks on one queue or several.
//
// The classic form is that of staged concurrent copy and execute: NVIDIA, "CUDA C++ Best Practices Guide", and M. Harris,
// "How to Overlap Data Transfers in CUDA C/C++" (2012).

/// The exchange's entry in the list: n words of 4 bytes, from and to pinned memory.
pub const PIPELINE: Exchange = Exchange {
    name: "pipeline",
    by_wall: &[
        CHUNKS, COPY_IN, KERNEL, COPY_OUT, WORK, BESIDE, BESIDE_IN, BESIDE_OUT,
    ],
    by_events: &[],
    sources: &[MIX_PATH],
    script: pipeline_script,
};

/// All of it, in [`CHUNKS_SET`] chunks on [`QUEUES_SET`] queues.
pub const CHUNKS: &str = "chunks";
/// The first stage alone, in one piece.
pub const COPY_IN: &str = "copy_in";
pub const KERNEL: &str = "kernel";
pub const COPY_OUT: &str = "copy_out";
/// The host's own work alone, without a device.
pub const WORK: &str = "work";
/// The second stage, and the host's own work while it runs.
pub const BESIDE: &str = "beside";

/// The first stage, and the host's own work while it goes on.
pub const BESIDE_IN: &str = "beside_in";
/// The third stage, and the host's own work while it goes on.
pub const BESIDE_OUT: &str = "beside_out";

/// Setting: chunks of the words, on queues in turn.
pub const CHUNKS_SET: &str = "chunks";
pub const QUEUES_SET: &str = "queues";
/// Setting: steps of the kernel for each word.
pub const STEPS_SET: &str = "steps";
/// Setting: steps of the host's own work.
pub const WORK_SET: &str = "work";

const MIX_PATH: &str = "exchange/pipeline/mix.cl";
/// Values that the kernel distinguishes.
const TABLE: u32 = 4096;

fn pipeline_script(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let bytes = bytes(case)?;
    let n = bytes / 4;
    if u32::try_from(n).is_err() {
        return Err(Refusal::Size(format!(
            "n = {n}: the kernel counts words in 32 bits"
        )));
    }
    let wg = target.max_wg.min(256);
    let steps = setting(case, STEPS_SET, 16)? as usize;
    let variant = case.variant.as_str();
    let work = Action::Work(setting(case, WORK_SET, 1)?);
    let all = &(0..n);
    let copy = Cost {
        bytes: bytes as f64,
        ops: 0.0,
    };
    // Each word is read and written.
    let of_mix = Cost {
        bytes: 2.0 * bytes as f64,
        ops: 6.0 * n as f64 * steps as f64,
    };
    let (commands, cost) = match variant {
        COPY_IN => (vec![queued(copy_in(all))], copy),
        KERNEL => (vec![queued(mix(all, wg, steps))], of_mix),
        COPY_OUT => (vec![queued(copy_out(all))], copy),
        WORK => (vec![queued(work)], Cost::default()),
        BESIDE => (vec![queued(mix(all, wg, steps)), queued(work)], of_mix),
        BESIDE_IN => (vec![queued(copy_in(all)), queued(work)], copy),
        BESIDE_OUT => (vec![queued(copy_out(all)), queued(work)], copy),
        _ => {
            let chunks = setting(case, CHUNKS_SET, 1)? as usize;
            let queues = setting(case, QUEUES_SET, 1)? as usize;
            if chunks > n || queues > 16 {
                return Err(Refusal::Size(format!(
                    "{chunks} chunks of {n} words on {queues} queues: too many"
                )));
            }
            (
                chunked(n, chunks, queues, [wg, steps]),
                Cost {
                    bytes: 2.0 * copy.bytes + of_mix.bytes,
                    ops: of_mix.ops,
                },
            )
        }
    };
    let place = match variant {
        COPY_IN | BESIDE_IN => AnswerPlace::Buffer(0),
        KERNEL | BESIDE => AnswerPlace::Buffer(1),
        WORK => AnswerPlace::Host(0),
        _ => AnswerPlace::Host(1),
    };
    let expect = match variant {
        COPY_IN | BESIDE_IN | COPY_OUT | BESIDE_OUT => Expected::Pattern,
        WORK => Expected::Nothing,
        _ => Expected::Words(mixed(case.seed, n, steps)),
    };
    let is_copied = [COPY_OUT, BESIDE_OUT].contains(&variant);
    let of_output = if is_copied {
        Contents::Pattern
    } else {
        Contents::Undefined
    };
    Ok(Script {
        seed: case.seed,
        host: [Contents::Pattern, Contents::Undefined]
            .map(|contents| MemorySpec {
                bytes,
                is_shared: true,
                contents,
            })
            .to_vec(),
        buffers: [Contents::Pattern, of_output]
            .map(|contents| MemorySpec::own(bytes, contents))
            .to_vec(),
        program: Some(program(
            MIX_PATH,
            "pipeline_mix",
            vec![("TABLE".into(), TABLE.to_string())],
        )),
        commands,
        repeat: 1,
        is_delay: false,
        answer: Answer::new(place, expect),
        cost,
    })
}

fn copy_in(words: &Range<usize>) -> Action {
    Action::Write(transfer(words, 0))
}

fn copy_out(words: &Range<usize>) -> Action {
    Action::Read(transfer(words, 1))
}

/// Of these words, between the host's memory and the buffer of this place.
fn transfer(words: &Range<usize>, place: u32) -> Transfer {
    let [from, bytes] = [4 * words.start, 4 * words.len()];
    Transfer {
        host: BufferId(place),
        from,
        buffer: BufferId(place),
        at: from,
        bytes,
    }
}

fn mix(words: &Range<usize>, wg: usize, steps: usize) -> Action {
    let args = args(2, &[words.start, words.len(), steps]);
    Action::Launch(Launch::linear(
        "pipeline_mix",
        words.len().next_multiple_of(wg),
        wg,
        args,
    ))
}

/// Each chunk's three stages on one queue, which keeps them in order; chunks take the queues in turn.
fn chunked(n: usize, chunks: usize, queues: usize, [wg, steps]: [usize; 2]) -> Vec<QueuedCommand> {
    let mut commands = Vec::new();
    for k in 0..chunks {
        let [first, end] = [k, k + 1].map(|k| (n as u128 * k as u128 / chunks as u128) as usize);
        let part = &(first..end);
        let stages = [copy_in(part), mix(part, wg, steps), copy_out(part)];
        commands.extend(stages.map(|action| QueuedCommand {
            queue: k % queues,
            action,
        }));
    }
    commands
}

/// What the kernel makes of the pattern.
fn mixed(seed: u64, n: usize, steps: usize) -> Vec<u32> {
    let mut table: Vec<u32> = (1..=TABLE).collect();
    table.par_iter_mut().for_each(|x| {
        for _ in 0..steps {
            *x ^= *x << 13;
            *x ^= *x >> 17;
            *x ^= *x << 5;
        }
    });
    let words = (0..n).into_par_iter().map(|i| pattern(seed, i));
    words
        .map(|word| word ^ table[(word % TABLE) as usize])
        .collect()
}

// Transfers between host and device: from pageable and pinned memory, and by way of a mapping; in one or many pieces.

/// The exchange's entry in the list: n words of 4 bytes, to the device (`in`) or back (`out`).
pub const TRANSFER: Exchange = Exchange {
    name: "transfer",
    by_wall: &[
        "pageable_in",
        "pageable_out",
        "pinned_in",
        "pinned_out",
        "mapped_in",
        "mapped_out",
    ],
    by_events: &[],
    sources: &[],
    script: transfer_script,
};

/// Setting: bytes of a piece, where the words go in several.
pub const PIECE: &str = "piece";

/// Most commands in a row.
const MOST_PIECES: usize = 1 << 14;

fn transfer_script(case: &Case, _: &Target) -> Result<Script, Refusal> {
    let bytes = bytes(case)?;
    let (how, is_in) = case
        .variant
        .split_once('_')
        .map_or(("", false), |(how, way)| (how, way == "in"));
    let piece = usize::try_from(setting(case, PIECE, bytes as u64)?)
        .unwrap_or(bytes)
        .min(bytes);
    if bytes.div_ceil(piece) > MOST_PIECES {
        return Err(Refusal::Setting(format!(
            "{PIECE}={piece}: more than {MOST_PIECES} pieces"
        )));
    }
    let action = match (how, is_in) {
        ("mapped", true) => Action::Fill,
        ("mapped", false) => Action::Fetch,
        (_, true) => Action::Write,
        (_, false) => Action::Read,
    };
    let mut contents = [Contents::Undefined, Contents::Pattern];
    if is_in {
        contents.reverse();
    }
    Ok(Script {
        seed: case.seed,
        host: vec![MemorySpec {
            bytes,
            is_shared: how == "pinned",
            contents: contents[0],
        }],
        buffers: vec![MemorySpec {
            bytes,
            is_shared: how == "mapped",
            contents: contents[1],
        }],
        program: None,
        commands: (0..bytes)
            .step_by(piece)
            .map(|from| {
                let bytes = piece.min(bytes - from);
                queued(action(Transfer {
                    host: BufferId(0),
                    from,
                    buffer: BufferId(0),
                    at: from,
                    bytes,
                }))
            })
            .collect(),
        repeat: 1,
        is_delay: false,
        answer: Answer::new(
            if is_in {
                AnswerPlace::Buffer(0)
            } else {
                AnswerPlace::Host(0)
            },
            Expected::Pattern,
        ),
        cost: Cost {
            bytes: bytes as f64,
            ops: 0.0,
        },
    })
}

// Kernels that read the host's memory: where it lies, or after it was copied to the device.

/// The exchange's entry in the list: n words of 4 bytes, read [`PASSES_SET`] times.
pub const ZEROCOPY: Exchange = Exchange {
    name: "zerocopy",
    by_wall: &[COPIED, FILLED, IN_PLACE, ON_DEVICE],
    by_events: &[],
    sources: &[PASSES_PATH],
    script: zerocopy_script,
};

/// From the host's memory to the device's own, then read there.
pub const COPIED: &str = "copied";
/// By way of a mapping into memory of the host that the device can reach, then read there.
pub const FILLED: &str = "filled";
/// Read in memory of the host that the device can reach, where they lie already.
pub const IN_PLACE: &str = "in_place";
/// Read in the device's own memory, where they lie already.
pub const ON_DEVICE: &str = "on_device";

/// Setting: how often the kernel reads all words.
pub const PASSES_SET: &str = "passes";

const PASSES_PATH: &str = "exchange/zerocopy/passes.cl";

fn zerocopy_script(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let bytes = bytes(case)?;
    let n = bytes / 4;
    let passes = setting(case, PASSES_SET, 1)?;
    let units = target.compute_units.max(1) as usize;
    let (wg, groups) = if target.gpu {
        (target.max_wg.min(256), 8 * units)
    } else {
        (1, chunks(target, n.saturating_mul(passes as usize)))
    };
    let items = wg * groups;
    let walk = WordsOfItem::new(target, n, items);
    // The kernel counts in 32 bits, beyond the end too.
    if 2 * n + items > u32::MAX as usize || passes > u64::from(u32::MAX) {
        return Err(Refusal::Size(format!(
            "n = {n}, {PASSES_SET} = {passes}: the kernel counts in 32 bits"
        )));
    }
    let args = args(2, &[n, walk.near, walk.span, passes as usize, 0]);
    let launch = Launch::linear("zerocopy_passes", items, wg, args);
    let transfer = Transfer {
        host: BufferId(0),
        from: 0,
        buffer: BufferId(0),
        at: 0,
        bytes,
    };
    let variant = case.variant.as_str();
    let (before, moved) = match variant {
        COPIED => (Some(Action::Write(transfer)), bytes),
        FILLED => (Some(Action::Fill(transfer)), bytes),
        _ => (None, 0),
    };
    let actions = before.iter().cloned().chain([Action::Launch(launch)]);
    let contents = if before.is_some() {
        Contents::Undefined
    } else {
        Contents::Pattern
    };
    Ok(Script {
        seed: case.seed,
        host: vec![MemorySpec::own(bytes, Contents::Pattern)],
        buffers: vec![
            MemorySpec {
                bytes,
                is_shared: matches!(variant, FILLED | IN_PLACE),
                contents,
            },
            MemorySpec::own(4 * items, Contents::Undefined),
        ],
        program: Some(program(PASSES_PATH, "zerocopy_passes", walk.defines())),
        commands: actions.map(queued).collect(),
        repeat: 1,
        is_delay: false,
        answer: Answer::new(
            AnswerPlace::Buffer(1),
            Expected::Words(walk.sums(case.seed, n, items, passes as u32)),
        ),
        cost: Cost {
            bytes: bytes as f64 * passes as f64 + moved as f64,
            ops: n as f64 * passes as f64,
        },
    })
}

/// Chunks for the work-items of a CPU device, of loops with so many turns in all: a few for each core, but short ones, as
/// Mesa's driver ends the loops of an item after 65535 turns.
fn chunks(target: &Target, turns: usize) -> usize {
    (4 * target.compute_units.max(1) as usize).max(turns.div_ceil(1 << 15))
}

/// Which words are a work-item's: from `near` times its id on, one after the other or one of each item's at a time, up to
/// `span` beyond.
struct WordsOfItem {
    near: usize,
    span: usize,
    stride: usize,
}

impl WordsOfItem {
    /// A GPU's items read words side by side; those of a CPU device, each in a group of its own, one after the other.
    fn new(target: &Target, n: usize, items: usize) -> WordsOfItem {
        let chunk = n.div_ceil(items);
        if target.gpu {
            WordsOfItem {
                near: 1,
                span: n,
                stride: items,
            }
        } else {
            WordsOfItem {
                near: chunk,
                span: chunk,
                stride: 1,
            }
        }
    }

    /// The kernel's macro: a constant stride can be vectorised. That of a GPU's items is the default.
    fn defines(&self) -> Vec<(String, String)> {
        if self.stride == 1 {
            vec![("STRIDE".into(), "1".into())]
        } else {
            Vec::new()
        }
    }

    /// What each work-item comes to.
    fn sums(&self, seed: u64, n: usize, items: usize, passes: u32) -> Vec<u32> {
        let firsts = (0..items).into_par_iter().map(|id| id * self.near);
        firsts
            .map(|first| {
                let own = (first..n.min(first + self.span)).step_by(self.stride);
                passes.wrapping_mul(own.map(|i| pattern(seed, i)).fold(0, u32::wrapping_add))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::outcome::fake_info;

    /// The sum of n words by a tree, and its launch.
    fn tree_of(gpu: bool, n: usize) -> (Script, Launch) {
        let target = Target {
            gpu,
            ..fake_info().target
        };
        let launch_script = launch_script(&case(&LAUNCH, TREE, n as u64, &[], 1), &target).unwrap();
        let Action::Launch(launch) = launch_script.commands[0].action.clone() else {
            unreachable!("one launch")
        };
        (launch_script, launch)
    }

    #[test]
    fn items_of_a_cpu_device_add_words_that_lie_together() {
        for n in [1, 7, 1000, 100_003] {
            let settings = |gpu: bool| {
                let (launch_script, launch) = tree_of(gpu, n);
                let stride = launch_script
                    .program
                    .unwrap()
                    .defines
                    .into_iter()
                    .find(|(name, _)| name == "STRIDE");
                (
                    launch.global[0],
                    launch.args[4..].to_vec(),
                    stride.map(|(_, words)| words),
                )
            };
            let (items, walk, stride) = settings(false);
            assert_eq!(
                walk,
                [n.div_ceil(items); 2].map(|words| Arg::Uint(words as u32)),
                "n = {n}"
            );
            assert_eq!(stride.as_deref(), Some("1"));
            let (_, walk, stride) = settings(true);
            assert_eq!(walk, [1, n].map(|words| Arg::Uint(words as u32)), "n = {n}");
            assert_eq!(stride, None, "the kernel's own");
        }
    }

    #[test]
    fn a_crowd_has_as_many_groups_as_are_asked_for() {
        let launch_script =
            launch_script(&case(&LAUNCH, CROWD, 1000, &[], 1), &fake_info().target).unwrap();
        let Action::Launch(launch) = &launch_script.commands[0].action else {
            unreachable!("one launch")
        };
        assert_eq!(launch.global[0], 1000 * launch.local[0]);
        assert!(launch.local[0] > 1);
    }

    #[test]
    fn each_part_costs_what_it_moves_and_does() {
        let cost = |variant: &str| {
            let case = case(&PIPELINE, variant, 1000, &[(STEPS_SET, 5)], 1);
            let cost = pipeline_script(&case, &fake_info().target).unwrap().cost;
            (cost.bytes, cost.ops)
        };
        assert_eq!(cost(COPY_IN), (4e3, 0.0));
        assert_eq!(cost(COPY_OUT), (4e3, 0.0));
        assert_eq!(cost(KERNEL), (8e3, 3e4));
        assert_eq!(cost(BESIDE), (8e3, 3e4));
        assert_eq!(
            (cost(BESIDE_IN), cost(BESIDE_OUT)),
            (cost(COPY_IN), cost(COPY_OUT))
        );
        assert_eq!(cost(WORK), (0.0, 0.0));
        assert_eq!(cost(CHUNKS), (16e3, 3e4));
    }

    #[test]
    fn a_work_item_of_a_cpu_takes_few_turns() {
        let target = Target {
            gpu: false,
            ..fake_info().target
        };
        for (bytes, passes) in [(4 << 10, 1), (64 << 20, 1), (64 << 20, 16)] {
            let zerocopy_script = zerocopy_script(
                &case(&ZEROCOPY, ON_DEVICE, bytes, &[(PASSES_SET, passes)], 1),
                &target,
            )
            .unwrap();
            let Action::Launch(launch) = &zerocopy_script.commands[0].action else {
                panic!("a launch is all there is")
            };
            let turns = (bytes / 4).div_ceil(launch.global[0] as u64) * passes;
            assert!(
                (1..=65535).contains(&turns),
                "{bytes} bytes, {passes} passes: {turns}"
            );
        }
    }

    #[test]
    fn a_copy_costs_its_bytes_too() {
        let bytes = |variant: &str| {
            let case = case(&ZEROCOPY, variant, 1000, &[(PASSES_SET, 3)], 1);
            zerocopy_script(&case, &fake_info().target)
                .unwrap()
                .cost
                .bytes
        };
        assert_eq!([COPIED, FILLED].map(bytes), [16e3; 2]);
        assert_eq!([IN_PLACE, ON_DEVICE].map(bytes), [12e3; 2]);
    }
}

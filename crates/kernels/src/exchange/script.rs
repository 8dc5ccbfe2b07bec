//! What a case of an exchange turns into.

use gpulab_model::plan::{Cost, MemoryKind, QueuedCommand};

/// Commands with the memory that they work on. Their `BufferId`s and `BufferId`s, in arguments of launches too, are places
/// in the lists here, until the runner has allocated what the lists say.
#[derive(Clone, Debug)]
pub struct Script {
    pub host: Vec<HostSpec>,
    pub buffers: Vec<DeviceSpec>,
    pub program: Option<Program>,
    pub commands: Vec<QueuedCommand>,
    /// How often, before the host waits: times are those of one time.
    pub repeat: usize,
    /// Which event time it is, if events are the clock.
    pub reading: Reading,
    /// What must have come of it.
    pub answer: Answer,
    pub cost: Cost,
    /// Whether the events of all commands are kept, to show what overlapped.
    pub timeline: bool,
}

impl Script {
    pub fn bytes(&self) -> u64 {
        let host = self.host.iter().map(|spec| spec.bytes as u64);
        host.chain(self.buffers.iter().map(|spec| spec.bytes as u64)).sum()
    }
}

/// What memory holds before the first command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    Pattern,
    Zeros,
    Undefined,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// Its size, above 0.
    pub bytes: usize,
    pub is_pinned: bool,
    pub contents: Contents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSpec {
    /// Its size, above 0.
    pub bytes: usize,
    pub place: MemoryKind,
    pub contents: Contents,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Path below `cl/`.
    pub path: &'static str,
    pub defines: Vec<(String, String)>,
    pub kernels: Vec<String>,
}

/// Which seconds the events of a script's commands mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// From the first start to the last end.
    Span,
    /// From when the first command was put in its queue to its start.
    Delay,
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
    pub(super) fn new(place: AnswerPlace, expect: Expected) -> Answer {
        Answer { place, before: POISON, expect, adds: false }
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

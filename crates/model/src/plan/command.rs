//! What a device is told to do: launches and transfers over its buffers.

use super::arg::{Arg, BufferId};

/// Memory of the host that a device copies from and to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId(pub u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// Where the driver likes: a GPU's own memory.
    Device,
    /// In memory of the host that the device can reach.
    Host,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holding {
    /// As any program's memory: the system may move it.
    Pageable,
    /// By the driver, where the device can reach it by itself.
    Pinned,
}

/// Bytes on their way between the host and a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    pub host: HostId,
    pub from: usize,
    pub buffer: BufferId,
    /// First byte there.
    pub at: usize,
    pub bytes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Launch(Launch),
    /// Copies from the host to a buffer.
    Write(Transfer),
    /// Copies from a buffer to the host.
    Read(Transfer),
    /// Maps a part of a buffer, copies from the host's memory to it, and unmaps it. The host waits for the mapping.
    Fill(Transfer),
    /// Maps a part of a buffer, copies from it to the host's memory, and unmaps it. The host waits for the mapping.
    Fetch(Transfer),
    /// The host computes: so many steps of `cpu::spin`, while the device goes on.
    Work(u64),
}

/// A command on one of several queues, each of which keeps its own commands in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueuedCommand {
    /// The queue, from 0.
    pub queue: usize,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    pub kernel: String,
    /// Work-items in each dimension.
    pub global: [usize; 3],
    /// Work-items of a group in each dimension.
    pub local: [usize; 3],
    pub args: Vec<Arg<BufferId>>,
    pub check: Option<FlagCheck<BufferId>>,
}

impl Launch {
    /// So many work-items from the first on, in groups of `wg`.
    pub fn linear(kernel: &str, items: usize, wg: usize, args: Vec<Arg<BufferId>>) -> Launch {
        Launch { kernel: kernel.to_owned(), global: [items, 1, 1], local: [wg, 1, 1], args, check: None }
    }
}

/// A flag that a kernel raises: as long as it is, the launches that follow go on, one turn after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagCheck<B> {
    /// As the reader calls it.
    pub name: String,
    pub buffer: B,
    pub bytes: usize,
    /// Launches that are left out if all bytes are zero.
    pub skips: usize,
    /// The turn, from 1 on, if it is the last that is allowed.
    pub last_turn: Option<u64>,
}

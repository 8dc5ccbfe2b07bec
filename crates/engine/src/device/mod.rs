//! Devices: what they are, how one is chosen, and the few operations that running a plan needs.
//!
//! This folder is the only place that names `ocl`. [`Device`] is the seam: [`opencl`] implements it on
//! a driver, a fake in the tests by a script, so that everything above is tested without one.

mod code;
pub mod doctor;
mod error;
mod forward;
mod image;
mod info;
mod launch;
mod memory;
mod native;
pub mod opencl;
mod play;
mod program;
pub mod select;

pub use code::instructions;
pub use error::{DeviceError, DeviceResult, code_name};
pub use forward::{LIBRARY_VARIABLE, Loader, loader};
pub use info::{generation, list_platforms};

use gpulab_model::outcome::{DeviceInfo, Inspected};
use gpulab_model::plan::{BufferId, Image, Launch, MemoryKind, QueuedCommand};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

/// Sends what drivers and kernels have printed so far on its way: it may wait in the C library's own buffers.
#[allow(unsafe_code, reason = "a function of the C library")]
pub fn flush_printed() {
    unsafe extern "C" {
        fn fflush(stream: *mut c_void) -> c_int;
    }
    // SAFETY: no stream means all of them; each is locked meanwhile.
    let _ = unsafe { fflush(std::ptr::null_mut()) };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ProgramId(pub u32);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildUnit {
    /// Path below `cl/`, for messages.
    pub path: String,
    /// The source with its fragments, `#line` directives included.
    pub text: String,
    pub defines: Vec<(String, String)>,
    /// Names of the kernels that must come out of it.
    pub kernels: Vec<String>,
}

/// What a compiler made of a text that no cache holds, and then of the same text again.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct TriedBuild {
    pub is_built: bool,
    /// What it said the first time.
    pub log: String,
    /// Seconds of processor time of both builds, of all threads.
    pub seconds: [f64; 2],
}

/// Raw event times of one launch in nanoseconds of the device's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamps {
    /// The host put it in the queue.
    pub queued: u64,
    /// The driver gave it to the device.
    pub submit: u64,
    pub start: u64,
    pub end: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Timing {
    /// Host seconds from before the first enqueue until everything finished.
    pub wall_s: f64,
    /// Event times of each launch or command, in order; empty where profiling was off or failed, or where one has none.
    pub stamps: Vec<Stamps>,
    /// Places of the launches that a flag left out; their event times are those of the launch behind which it was read.
    pub left_out: Vec<usize>,
}

/// Numbers of what nobody holds any more, in the order in which it went.
pub type Gone = Rc<RefCell<Vec<u32>>>;

/// What is on a device for as long as somebody has this.
#[derive(Debug)]
pub struct Hold {
    number: u32,
    gone: Gone,
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.gone.borrow_mut().push(self.number);
    }
}

/// What running a plan needs of a device. All calls come from one thread.
pub trait Device {
    fn info(&self) -> &DeviceInfo;

    /// Compiles a unit and creates its kernels. Building an equal unit again may return the same id.
    fn build(&mut self, unit: &BuildUnit) -> DeviceResult<ProgramId>;

    /// Compiles a unit anew, beside what was built, and returns what the driver tells of each of its kernels, in order.
    fn inspect(&mut self, unit: &BuildUnit) -> DeviceResult<Vec<Inspected>>;

    /// Compiles a unit anew, beside what was built, with the lines of its source where the driver can keep them: the program's
    /// binary.
    fn binary(&mut self, unit: &BuildUnit) -> DeviceResult<Vec<u8>>;

    /// Compiles a unit without its kernels, twice. That it does not build is an answer, too.
    fn try_build(&mut self, _unit: &BuildUnit) -> DeviceResult<TriedBuild> {
        Err(DeviceError::other("clBuildProgram", "it has no compiler"))
    }

    /// Allocates a read-write buffer of `bytes` > 0; its contents are undefined.
    fn alloc(&mut self, bytes: usize) -> DeviceResult<BufferId> {
        self.alloc_in(MemoryKind::Device, bytes)
    }

    fn alloc_in(&mut self, memory: MemoryKind, bytes: usize) -> DeviceResult<BufferId>;

    /// A part of a buffer as a buffer of its own, from byte `from` on, a multiple of 4096; it is released apart from the
    /// whole, which must not be released before.
    fn part(&mut self, of: BufferId, from: usize, bytes: usize) -> DeviceResult<BufferId>;

    /// Gives back a buffer, an image or memory of the host, by its number.
    fn free(&mut self, number: u32);

    /// The numbers of what nobody holds any more.
    fn gone(&self) -> &Gone;

    /// Frees what nobody holds any more; allocating does so first.
    fn free_gone(&mut self) {
        let gone = self.gone().take();
        gone.into_iter().rev().for_each(|number| self.free(number));
    }

    /// Holds what has this number until the last copy of what is returned goes.
    fn keep(&self, number: u32) -> Rc<Hold> {
        Rc::new(Hold {
            number,
            gone: Rc::clone(self.gone()),
        })
    }

    /// Fills the first `bytes` of a buffer, a multiple of the pattern's 1, 4 or 8, on the device; returns when done.
    fn fill(&mut self, buffer: BufferId, pattern: &[u8], bytes: usize) -> DeviceResult<()>;

    /// Copies host bytes to `offset` bytes into the buffer; returns when done.
    fn write(&mut self, buffer: BufferId, offset: usize, bytes: &[u8]) -> DeviceResult<()>;

    /// As [`Device::write`], with the same arguments, one after the other; returns when all are done.
    fn write_all(&mut self, writes: &[(BufferId, usize, &[u8])]) -> DeviceResult<()> {
        writes
            .iter()
            .try_for_each(|(buffer, offset, bytes)| self.write(*buffer, *offset, bytes))
    }

    /// Copies from `offset` bytes into the buffer to the host; returns when done.
    fn read(&mut self, buffer: BufferId, offset: usize, bytes: &mut [u8]) -> DeviceResult<()>;

    /// Copies the first `bytes` of one buffer to another; returns when done.
    fn copy(&mut self, from: BufferId, to: BufferId, bytes: usize) -> DeviceResult<()>;

    /// Makes an image of a buffer's first pixels, which is freed as a buffer is, and before it. Whoever writes one of both, the
    /// host or a kernel, finds the same in the other.
    fn image(&mut self, of: BufferId, image: Image) -> DeviceResult<BufferId>;

    /// Runs the launches in order on a profiling queue and waits.
    fn run(&mut self, program: ProgramId, launches: &[Launch]) -> DeviceResult<Timing>;

    /// Runs the launches `repeat` times back to back on a queue without profiling, waits once, and
    /// returns the host seconds of all of it.
    fn batch(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
        repeat: usize,
    ) -> DeviceResult<f64>;

    /// Allocates memory of the host for `bytes` > 0; its contents are undefined.
    fn hold(&mut self, is_pinned: bool, bytes: usize) -> DeviceResult<BufferId>;

    fn held(&mut self, host: BufferId) -> DeviceResult<&mut [u8]>;

    /// Carries out commands in order, `repeat` times, and waits once for all of them; the event times are those of the
    /// last time. Queues have event times only if `profiled`.
    fn play(
        &mut self,
        program: Option<ProgramId>,
        commands: &[QueuedCommand],
        repeat: usize,
        profiled: bool,
    ) -> DeviceResult<Timing>;
}

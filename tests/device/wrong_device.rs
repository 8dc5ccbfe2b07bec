//! A real device that does something wrong at a chosen call.

use gpulab::device::opencl::OpenClDevice;
use gpulab::device::{BuildUnit, Device, DeviceError, ProgramId, SharedHost, Timing};
use gpulab::outcome::{DeviceInfo, Told};
use gpulab::plan::{BufferId, Holding, HostId, Image, Launch, MemoryKind, QueuedCommand};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::Duration;

/// What a device does wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wrong {
    /// A call fails.
    Fails,
    /// Its thread dies in a call.
    Dies,
    /// From a call on, nothing is done, and no call says so.
    Pretends,
    /// From a call on that plays commands, they take long. No other calls count.
    Slows,
}

/// A device that does something wrong at its call of this number.
pub struct WrongDevice {
    pub inner: OpenClDevice,
    pub wrong: Wrong,
    pub at: usize,
    /// Calls that were met.
    pub calls: Arc<AtomicUsize>,
}

impl WrongDevice {
    /// Whether a call is only pretended.
    fn meet(&self) -> Result<bool, DeviceError> {
        if self.wrong == Wrong::Slows {
            return Ok(false);
        }
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match self.wrong {
            Wrong::Pretends => Ok(call >= self.at),
            _ if call != self.at => Ok(false),
            Wrong::Fails => Err(DeviceError::call("clEnqueueNDRangeKernel", -5)),
            _ => panic!("it dies"),
        }
    }
}

/// Methods that may go wrong before the real device's is called.
macro_rules! met {
    ($($name:ident($($arg:ident: $type:ty),*) -> $result:ty;)*) => {
        $(fn $name(&mut self, $($arg: $type),*) -> Result<$result, DeviceError> {
            self.meet()?;
            self.inner.$name($($arg),*)
        })*
    };
}

impl Device for WrongDevice {
    met! {
        build(unit: &BuildUnit) -> ProgramId;
        inspect(unit: &BuildUnit) -> Vec<Told>;
        binary(unit: &BuildUnit) -> Vec<u8>;
        alloc_in(memory: MemoryKind, bytes: usize) -> BufferId;
        part(of: BufferId, from: usize, bytes: usize) -> BufferId;
        fill(buffer: BufferId, pattern: &[u8], bytes: usize) -> ();
        write(buffer: BufferId, offset: usize, bytes: &[u8]) -> ();
        read(buffer: BufferId, offset: usize, bytes: &mut [u8]) -> ();
        copy(from: BufferId, to: BufferId, bytes: usize) -> ();
        image(of: BufferId, image: Image) -> BufferId;
        run(program: ProgramId, launches: &[Launch]) -> Timing;
        batch(program: ProgramId, launches: &[Launch], repeat: usize) -> f64;
        hold(holding: Holding, bytes: usize) -> HostId;
        share(host: HostId) -> SharedHost;
    }

    fn info(&self) -> &DeviceInfo {
        self.inner.info()
    }

    fn free(&mut self, buffer: BufferId) {
        self.inner.free(buffer);
    }

    fn held(&mut self, host: HostId) -> Result<&mut [u8], DeviceError> {
        self.inner.held(host)
    }

    fn adopt(&mut self, shared: SharedHost) -> HostId {
        self.inner.adopt(shared)
    }

    fn let_go(&mut self, host: HostId) {
        self.inner.let_go(host);
    }

    fn play(
        &mut self,
        program: Option<ProgramId>,
        commands: &[QueuedCommand],
        repeat: usize,
        profiled: bool,
    ) -> Result<Timing, DeviceError> {
        if self.meet()? {
            return Ok(Timing { wall_s: 1e-9, stamps: Vec::new(), left_out: Vec::new() });
        }
        if self.wrong == Wrong::Slows && self.calls.fetch_add(1, Ordering::Relaxed) >= self.at {
            sleep(Duration::from_millis(50));
        }
        self.inner.play(program, commands, repeat, profiled)
    }
}

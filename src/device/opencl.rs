//! A real device behind the [`Device`] trait.

use super::error::{DeviceError, guarded};
use super::info::{self, DeviceInfo};
use super::launch::{self, Scene};
use super::memory::Buffer;
use super::program::Built;
use super::{BufferId, Device, Launch, ProgramId, Timing, Unit};
use ocl::core::{self, CommandQueue, CommandQueueProperties, Context, ContextProperties, DeviceId};
use std::collections::BTreeMap;

/// Programs kept for reuse: a long sweep builds thousands, and each holds compiled code.
const MOST_PROGRAMS: usize = 128;

/// A device of a driver, with everything that was made on it. Fields are released in order, so that
/// nothing outlives the context.
pub struct OpenClDevice {
    programs: Vec<(ProgramId, Built)>,
    buffers: BTreeMap<BufferId, Buffer>,
    profiling: CommandQueue,
    plain: CommandQueue,
    context: Context,
    device: DeviceId,
    info: DeviceInfo,
    last_id: u32,
}

impl OpenClDevice {
    /// Opens a listed device: a context and two queues.
    ///
    /// # Errors
    /// The device may be gone, in use or out of memory.
    pub fn open(info: &DeviceInfo) -> Result<OpenClDevice, DeviceError> {
        let (platform, device) = info::handles(info)?;
        let properties = ContextProperties::new().platform(platform);
        let context = guarded("clCreateContext", || core::create_context(Some(&properties), &[device], None, None))?;
        let queue = |properties| {
            guarded("clCreateCommandQueue", || core::create_command_queue(&context, device, Some(properties)))
        };
        Ok(OpenClDevice {
            programs: Vec::new(),
            buffers: BTreeMap::new(),
            profiling: queue(CommandQueueProperties::PROFILING_ENABLE)?,
            plain: queue(CommandQueueProperties::empty())?,
            context,
            device,
            info: info.clone(),
            last_id: 0,
        })
    }

    fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    fn buffer(&self, id: BufferId) -> Result<&Buffer, DeviceError> {
        self.buffers.get(&id).ok_or_else(|| DeviceError::other("clEnqueue", "the buffer was released"))
    }

    /// Moves a program to the end of the list, where it is safe longest from being dropped.
    fn touch(&mut self, found: impl Fn(&(ProgramId, Built)) -> bool) -> Option<ProgramId> {
        let place = self.programs.iter().position(found)?;
        self.programs[place..].rotate_left(1);
        self.programs.last().map(|(id, _)| *id)
    }

    /// Binds the launches and hands them to `go` with the queue that they are for.
    fn launch<T>(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
        go: impl FnOnce(&[launch::Prepared<'_>], &CommandQueue, &CommandQueue) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        self.touch(|(id, _)| *id == program);
        let built = self.programs.last_mut().filter(|(id, _)| *id == program).map(|(_, built)| built);
        let built = built.ok_or_else(|| DeviceError::other("clSetKernelArg", "the program was released"))?;
        let scene = Scene { buffers: &self.buffers, device: self.device, local_mem: self.info.target.local_mem };
        go(&launch::prepare(built, &scene, launches)?, &self.profiling, &self.plain)
    }
}

impl Device for OpenClDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, unit: &Unit) -> Result<ProgramId, DeviceError> {
        if let Some(id) = self.touch(|(_, built)| built.unit == *unit) {
            return Ok(id);
        }
        let built = Built::new(&self.context, self.device, unit)?;
        if self.programs.len() >= MOST_PROGRAMS {
            self.programs.remove(0);
        }
        let id = ProgramId(self.new_id());
        self.programs.push((id, built));
        Ok(id)
    }

    fn alloc(&mut self, bytes: usize) -> Result<BufferId, DeviceError> {
        let buffer = Buffer::new(&self.context, bytes)?;
        let id = BufferId(self.new_id());
        self.buffers.insert(id, buffer);
        Ok(id)
    }

    fn free(&mut self, buffer: BufferId) {
        self.buffers.remove(&buffer);
    }

    // Copies go through the queue that checked runs use, so that one queue orders them all.
    fn write(&mut self, buffer: BufferId, offset: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.buffer(buffer)?.write(&self.profiling, offset, bytes)
    }

    fn read(&mut self, buffer: BufferId, offset: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        self.buffer(buffer)?.read(&self.profiling, offset, bytes)
    }

    fn copy(&mut self, from: BufferId, to: BufferId, bytes: usize) -> Result<(), DeviceError> {
        self.buffer(from)?.copy_to(self.buffer(to)?, &self.profiling, bytes)
    }

    fn run(&mut self, program: ProgramId, launches: &[Launch]) -> Result<Timing, DeviceError> {
        self.launch(program, launches, |prepared, profiling, _| launch::run(profiling, prepared))
    }

    fn batch(&mut self, program: ProgramId, launches: &[Launch], repeat: usize) -> Result<f64, DeviceError> {
        self.launch(program, launches, |prepared, _, plain| launch::batch(plain, prepared, repeat))
    }
}

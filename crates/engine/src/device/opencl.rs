//! A real device behind the [`Device`] trait.

use super::error::{DeviceError, DeviceResult, guarded, retained};
use super::image::{self, ImageViews, Samplers};
use super::info;
use super::memory::{self, Buffer, HostMemory};
use super::program::{self, Built};
use super::{BuildUnit, Device, Gone, ProgramId, Timing, TriedBuild};
use gpulab_model::outcome::{DeviceInfo, Inspected};
use gpulab_model::plan::{Action, BufferId, Image, Launch, MemoryKind, QueuedCommand};
use ocl::core::{self, CommandQueue, CommandQueueProperties, Context, ContextProperties, DeviceId};
use std::collections::BTreeMap;

const ENQUEUE: &str = "clEnqueue";

/// Programs kept for reuse: a long sweep builds thousands, and each holds compiled code.
const MOST_PROGRAMS: usize = 128;

/// A device of a driver, with everything that was made on it. Fields are released in order, so that
/// nothing outlives the context.
pub struct OpenClDevice {
    pub(super) programs: Vec<(ProgramId, Built)>,
    pub(super) hosts: BTreeMap<BufferId, HostMemory>,
    pub(super) buffers: BTreeMap<BufferId, Buffer>,
    pub(super) views: ImageViews,
    pub(super) samplers: Samplers,
    pub(super) profiling: CommandQueue,
    pub(super) plain: CommandQueue,
    /// More queues for commands that overlap: without event times, and with.
    more: [Vec<CommandQueue>; 2],
    pub(super) context: Context,
    pub(super) device: DeviceId,
    pub(super) info: DeviceInfo,
    last_id: u32,
    gone: Gone,
}

impl OpenClDevice {
    /// Opens a listed device: a context and two queues.
    pub fn open(info: &DeviceInfo) -> DeviceResult<OpenClDevice> {
        info::demand_limits(&info.target)?;
        let (platform, device) = info::handles(info)?;
        let properties = ContextProperties::new().platform(platform);
        let context = guarded("clCreateContext", || {
            core::create_context(Some(&properties), &[device], None, None)
        })?;
        Ok(OpenClDevice {
            programs: Vec::new(),
            hosts: BTreeMap::new(),
            buffers: BTreeMap::new(),
            views: ImageViews::new(),
            samplers: Samplers::new(),
            profiling: create_queue(&context, device, true)?,
            plain: create_queue(&context, device, false)?,
            more: [Vec::new(), Vec::new()],
            context,
            device,
            info: info.clone(),
            last_id: 0,
            gone: Gone::default(),
        })
    }

    /// So many queues: of those that there are, and new ones where they are too few.
    fn queues(&mut self, count: usize, profiled: bool) -> DeviceResult<Vec<CommandQueue>> {
        let more = &mut self.more[usize::from(profiled)];
        while more.len() + 1 < count {
            more.push(create_queue(&self.context, self.device, profiled)?);
        }
        let first = if profiled {
            &self.profiling
        } else {
            &self.plain
        };
        let all = std::iter::once(first).chain(more.iter()).take(count);
        all.map(|queue| retained("clRetainCommandQueue", queue))
            .collect()
    }

    fn new_id(&mut self) -> u32 {
        self.last_id += 1;
        self.last_id
    }

    /// Numbers a buffer or an image, and holds it until it is freed.
    fn number(&mut self, buffer: Buffer) -> BufferId {
        let id = BufferId(self.new_id());
        self.buffers.insert(id, buffer);
        id
    }

    pub(super) fn buffer(&self, id: BufferId, call: &str) -> DeviceResult<&Buffer> {
        self.buffers
            .get(&id)
            .ok_or_else(|| DeviceError::other(call, "the buffer was released"))
    }

    /// Moves a program to the end of the list, where it is safe longest from being dropped.
    fn touch(&mut self, found: impl Fn(&(ProgramId, Built)) -> bool) -> Option<ProgramId> {
        let place = self.programs.iter().position(found)?;
        self.programs[place..].rotate_left(1);
        self.programs.last().map(|(id, _)| *id)
    }

    /// Has a buffer hold what kernels wrote to its images before it is read; what is about to be written goes to them later.
    fn settle(&mut self, buffer: BufferId, is_written: bool) -> DeviceResult<()> {
        image::settle(
            &mut self.views,
            &self.profiling,
            &self.buffers,
            buffer,
            is_written,
        )
    }

    /// A program's place in the list, as the one that was used last.
    pub(super) fn built(&mut self, program: ProgramId) -> DeviceResult<usize> {
        let last = self
            .touch(|(id, _)| *id == program)
            .map(|_| self.programs.len() - 1);
        last.ok_or_else(|| DeviceError::other("clSetKernelArg", "the program was released"))
    }
}

fn create_queue(context: &Context, device: DeviceId, profiled: bool) -> DeviceResult<CommandQueue> {
    let properties = if profiled {
        CommandQueueProperties::PROFILING_ENABLE
    } else {
        CommandQueueProperties::empty()
    };
    guarded("clCreateCommandQueue", || {
        core::create_command_queue(context, device, Some(properties))
    })
}

impl Device for OpenClDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, unit: &BuildUnit) -> DeviceResult<ProgramId> {
        if let Some(id) = self.touch(|(_, built)| built.unit == *unit) {
            return Ok(id);
        }
        let is_native = self.info.kind == "cpu" && !self.info.is_simulator();
        let built = Built::of_opencl_c(&self.context, self.device, unit, is_native)?;
        if self.programs.len() >= MOST_PROGRAMS {
            self.programs.remove(0);
        }
        let id = ProgramId(self.new_id());
        self.programs.push((id, built));
        Ok(id)
    }

    fn inspect(&mut self, unit: &BuildUnit) -> DeviceResult<Vec<Inspected>> {
        program::inspect(
            &self.context,
            self.device,
            unit,
            self.info.target.register_caps,
        )
    }

    fn binary(&mut self, unit: &BuildUnit) -> DeviceResult<Vec<u8>> {
        program::binary(
            &self.context,
            self.device,
            unit,
            self.info.target.register_caps,
        )
    }

    fn try_build(&mut self, unit: &BuildUnit) -> DeviceResult<TriedBuild> {
        program::try_build(&self.context, self.device, unit)
    }

    fn alloc_in(&mut self, memory: MemoryKind, bytes: usize) -> DeviceResult<BufferId> {
        self.free_gone();
        let buffer = Buffer::new(&self.context, memory, bytes)?;
        Ok(self.number(buffer))
    }

    fn part(&mut self, of: BufferId, from: usize, bytes: usize) -> DeviceResult<BufferId> {
        let part = self.buffer(of, ENQUEUE)?.part(from, bytes)?;
        Ok(self.number(part))
    }

    fn free(&mut self, number: u32) {
        self.buffers.remove(&BufferId(number));
        self.views.remove(&BufferId(number));
        self.hosts.remove(&BufferId(number));
    }

    fn gone(&self) -> &Gone {
        &self.gone
    }

    fn fill(&mut self, buffer: BufferId, pattern: &[u8], bytes: usize) -> DeviceResult<()> {
        self.settle(buffer, true)?;
        self.buffer(buffer, ENQUEUE)?
            .fill(&self.profiling, pattern, bytes)
    }

    fn hold(&mut self, is_pinned: bool, bytes: usize) -> DeviceResult<BufferId> {
        self.free_gone();
        let memory = match is_pinned {
            false => HostMemory::pageable(bytes)?,
            true => HostMemory::pinned(&self.context, &self.plain, bytes)?,
        };
        let id = BufferId(self.new_id());
        self.hosts.insert(id, memory);
        Ok(id)
    }

    fn held(&mut self, host: BufferId) -> DeviceResult<&mut [u8]> {
        self.hosts
            .get(&host)
            .map(|memory| memory.slice())
            .ok_or_else(memory::released)
    }

    // Copies go through the queue that checked runs use, so that one queue orders them all.
    fn write(&mut self, buffer: BufferId, offset: usize, bytes: &[u8]) -> DeviceResult<()> {
        self.settle(buffer, true)?;
        self.buffer(buffer, ENQUEUE)?
            .write(&self.profiling, offset, bytes)
    }

    fn write_all(&mut self, writes: &[(BufferId, usize, &[u8])]) -> DeviceResult<()> {
        writes
            .iter()
            .try_for_each(|(buffer, ..)| self.settle(*buffer, true))?;
        let writes: DeviceResult<Vec<_>> = writes
            .iter()
            .map(|(buffer, offset, bytes)| Ok((self.buffer(*buffer, ENQUEUE)?, *offset, *bytes)))
            .collect();
        memory::write_all(&self.profiling, &writes?)
    }

    fn read(&mut self, buffer: BufferId, offset: usize, bytes: &mut [u8]) -> DeviceResult<()> {
        self.settle(buffer, false)?;
        self.buffer(buffer, ENQUEUE)?
            .read(&self.profiling, offset, bytes)
    }

    fn copy(&mut self, from: BufferId, to: BufferId, bytes: usize) -> DeviceResult<()> {
        self.settle(from, false)?;
        self.settle(to, true)?;
        self.buffer(from, ENQUEUE)?
            .copy_to(self.buffer(to, ENQUEUE)?, &self.profiling, bytes)
    }

    fn image(&mut self, of: BufferId, image: Image) -> DeviceResult<BufferId> {
        let (made, view) = image::create(
            &self.context,
            self.device,
            (of, self.buffer(of, ENQUEUE)?),
            image,
        )?;
        let id = self.number(made);
        self.views.extend(view.map(|view| (id, view)));
        Ok(id)
    }

    fn run(&mut self, program: ProgramId, launches: &[Launch]) -> DeviceResult<Timing> {
        self.run_launches(program, launches)
    }

    fn batch(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
        repeat: usize,
    ) -> DeviceResult<f64> {
        self.batch_launches(program, launches, repeat)
    }

    fn play(
        &mut self,
        program: Option<ProgramId>,
        commands: &[QueuedCommand],
        repeat: usize,
        profiled: bool,
    ) -> DeviceResult<Timing> {
        let count = commands.iter().map(|c| c.queue + 1).max().unwrap_or(0);
        let queues = self.queues(count, profiled)?;
        let launches: Vec<Launch> = commands
            .iter()
            .filter_map(|c| {
                if let Action::Launch(l) = &c.action {
                    Some(l.clone())
                } else {
                    None
                }
            })
            .collect();
        let prepared = match program {
            Some(program) => self.prepare(program, &launches)?,
            None if launches.is_empty() => Vec::new(),
            None => {
                return Err(DeviceError::other(
                    "clSetKernelArg",
                    "a launch without a program",
                ));
            }
        };
        self.play_commands(&queues, &prepared, commands, repeat)
    }
}

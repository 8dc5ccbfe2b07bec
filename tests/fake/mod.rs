//! A device that follows a script, so that everything above the driver is tested without one.
#![allow(dead_code, reason = "each program of tests uses a part of it")]

use gpulab_cpu::canary::{CHAINS, chain};
use gpulab_engine::device::{BuildUnit, Device, DeviceError, Gone, ProgramId, Stamps, Timing};
use gpulab_model::outcome::{DeviceInfo, Inspected, fake_info};
use gpulab_model::plan::{
    Action, Arg, BufferId, Image, Launch, MemoryKind, QueuedCommand, Transfer,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// What a launch does: changes memory and says how long it took in nanoseconds.
pub type FakeKernel = Box<dyn FnMut(&Launch, &mut Memory) -> Result<u64, DeviceError>>;

#[derive(Debug, Default)]
pub struct Memory {
    buffers: BTreeMap<u32, Vec<u8>>,
    parts: BTreeMap<u32, Part>,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    of: u32,
    from: usize,
    bytes: usize,
}

impl Memory {
    /// The bytes of the buffer bound to an argument; empty if it is no buffer.
    pub fn bytes(&mut self, arg: &Arg<BufferId>) -> &mut [u8] {
        let id = if let Arg::Buffer(id) = arg {
            id.0
        } else {
            u32::MAX
        };
        self.slice(id).unwrap_or_default()
    }

    fn slice(&mut self, id: u32) -> Option<&mut [u8]> {
        match self.parts.get(&id) {
            Some(part) => self
                .buffers
                .get_mut(&part.of)?
                .get_mut(part.from..part.from + part.bytes),
            None => self.buffers.get_mut(&id).map(Vec::as_mut_slice),
        }
    }

    /// Overwrites a byte before (counted from -1 down) or behind the buffer bound to an argument, as wild kernels do.
    pub fn stray(&mut self, arg: &Arg<BufferId>, offset: isize) {
        let Arg::Buffer(id) = arg else { return };
        let Some(part) = self.parts.get(&id.0) else {
            return;
        };
        let byte = part
            .from
            .checked_add_signed(offset)
            .and_then(|at| self.buffers.get_mut(&part.of)?.get_mut(at));
        if let Some(byte) = byte {
            *byte ^= 0xFF;
        }
    }

    /// The buffer bound to an argument as elements of `T`.
    pub fn get<T: bytemuck::AnyBitPattern>(&mut self, arg: &Arg<BufferId>) -> Vec<T> {
        let size = size_of::<T>();
        self.bytes(arg)
            .chunks_exact(size)
            .map(bytemuck::pod_read_unaligned)
            .collect()
    }

    /// Writes one element of the buffer bound to an argument; nothing if it lies outside.
    pub fn set<T: bytemuck::NoUninit>(&mut self, arg: &Arg<BufferId>, index: usize, value: T) {
        let bytes = bytemuck::bytes_of(&value);
        let start = index * bytes.len();
        if let Some(place) = self.bytes(arg).get_mut(start..start + bytes.len()) {
            place.copy_from_slice(bytes);
        }
    }
}

pub struct FakeDevice {
    info: DeviceInfo,
    memory: Memory,
    hosts: BTreeMap<u32, Vec<u8>>,
    script: FakeKernel,
    next: u32,
    now_ns: u64,
    /// Nanoseconds that a step of the runner's canary takes, whenever it runs.
    canary: Box<dyn FnMut() -> u64>,
    /// What its event clock makes of a kernel's nanoseconds.
    clock: Box<dyn FnMut(u64) -> u64>,
    /// Nanoseconds that a launch takes beside its kernel.
    launch_ns: u64,
    /// What it tells of every kernel.
    pub told: Inspected,
    /// What happened, for tests to look at while a session has the device.
    pub seen: Rc<RefCell<Seen>>,
    gone: Gone,
}

/// What a fake device saw happen.
#[derive(Debug, Default)]
pub struct Seen {
    /// Every launch in order, but for those of the runner's own kernels.
    pub launches: Vec<Launch>,
    pub live: BTreeSet<u32>,
}

impl FakeDevice {
    /// A small CPU-like device that follows `script`.
    pub fn new(script: FakeKernel) -> FakeDevice {
        FakeDevice {
            info: fake_info(),
            memory: Memory::default(),
            hosts: BTreeMap::new(),
            script,
            next: 0,
            now_ns: 1_000,
            canary: Box::new(|| 1_000),
            clock: Box::new(|ns| ns),
            launch_ns: 0,
            told: Inspected::default(),
            seen: Rc::default(),
            gone: Gone::default(),
        }
    }

    /// A device whose clock drifts: a step of the runner's canary takes as many nanoseconds as `step_ns` says each time.
    pub fn drifting(self, step_ns: impl FnMut() -> u64 + 'static) -> FakeDevice {
        FakeDevice {
            canary: Box::new(step_ns),
            ..self
        }
    }

    /// A device whose event clock makes something else of a kernel's nanoseconds, and whose launches take so many beside.
    pub fn lying(self, clock: impl FnMut(u64) -> u64 + 'static, launch_ns: u64) -> FakeDevice {
        FakeDevice {
            clock: Box::new(clock),
            launch_ns,
            ..self
        }
    }

    /// The next number for a buffer or a memory of the host, which lives from now on.
    fn number(&mut self) -> u32 {
        self.next += 1;
        self.seen.borrow_mut().live.insert(self.next);
        self.next
    }

    /// Copies at a byte a nanosecond, after a microsecond.
    fn transfer(&mut self, t: &Transfer, inward: bool) -> Result<Stamps, DeviceError> {
        let outside = || DeviceError::other("host memory", "outside of it");
        let range = t.from..t.from + t.bytes;
        if inward {
            let bytes = self.held(t.host)?.get(range).ok_or_else(outside)?.to_vec();
            self.write(t.buffer, t.at, &bytes)?;
        } else {
            let bytes = self.slice(t.buffer, t.at, t.bytes)?.to_vec();
            self.held(t.host)?
                .get_mut(range)
                .ok_or_else(outside)?
                .copy_from_slice(&bytes);
        }
        Ok(self.pass(1_000 + t.bytes as u64))
    }

    fn pass(&mut self, ns: u64) -> Stamps {
        let queued = self.now_ns;
        let start = queued + 20;
        self.now_ns = start + ns + self.launch_ns;
        Stamps {
            queued,
            submit: queued + 10,
            start,
            end: start + (self.clock)(ns),
        }
    }

    fn step(&mut self, launch: &Launch) -> Result<Stamps, DeviceError> {
        let ns = match launch.kernel.as_str() {
            "scrub" => 100,
            "canary" => self.sing(launch),
            _ => {
                self.seen.borrow_mut().launches.push(launch.clone());
                (self.script)(launch, &mut self.memory)?
            }
        };
        Ok(self.pass(ns))
    }

    /// Does what the canary does.
    fn sing(&mut self, launch: &Launch) -> u64 {
        let [out, Arg::Uint(steps)] = launch.args.as_slice() else {
            return 0;
        };
        let chains: Vec<u32> = (0..CHAINS).map(|id| chain(id, *steps)).collect();
        (0..launch.global[0]).for_each(|id| self.memory.set(out, id, chains[id % chains.len()]));
        (self.canary)() * u64::from(*steps)
    }

    fn slice(
        &mut self,
        buffer: BufferId,
        offset: usize,
        len: usize,
    ) -> Result<&mut [u8], DeviceError> {
        let bytes = self
            .memory
            .slice(buffer.0)
            .and_then(|b| b.get_mut(offset..offset + len));
        bytes.ok_or_else(|| DeviceError::other("buffer access", "outside the buffer"))
    }
}

impl Device for FakeDevice {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn build(&mut self, _: &BuildUnit) -> Result<ProgramId, DeviceError> {
        self.next += 1;
        Ok(ProgramId(self.next))
    }

    fn inspect(&mut self, unit: &BuildUnit) -> Result<Vec<Inspected>, DeviceError> {
        Ok(vec![self.told.clone(); unit.kernels.len()])
    }

    fn binary(&mut self, unit: &BuildUnit) -> Result<Vec<u8>, DeviceError> {
        Ok(unit.text.clone().into_bytes())
    }

    fn alloc_in(&mut self, _: MemoryKind, bytes: usize) -> Result<BufferId, DeviceError> {
        let id = self.number();
        self.memory.buffers.insert(id, vec![0xAA; bytes]);
        Ok(BufferId(id))
    }

    fn part(&mut self, of: BufferId, from: usize, bytes: usize) -> Result<BufferId, DeviceError> {
        self.slice(of, from, bytes)?;
        let id = self.number();
        self.memory.parts.insert(
            id,
            Part {
                of: of.0,
                from,
                bytes,
            },
        );
        Ok(BufferId(id))
    }

    fn free(&mut self, number: u32) {
        self.memory.buffers.remove(&number);
        self.memory.parts.remove(&number);
        self.hosts.remove(&number);
        self.seen.borrow_mut().live.remove(&number);
    }

    fn gone(&self) -> &Gone {
        &self.gone
    }

    fn fill(&mut self, buffer: BufferId, pattern: &[u8], bytes: usize) -> Result<(), DeviceError> {
        let place = self.slice(buffer, 0, bytes)?;
        place
            .chunks_exact_mut(pattern.len())
            .for_each(|unit| unit.copy_from_slice(pattern));
        Ok(())
    }

    fn write(&mut self, buffer: BufferId, offset: usize, bytes: &[u8]) -> Result<(), DeviceError> {
        self.slice(buffer, offset, bytes.len())?
            .copy_from_slice(bytes);
        Ok(())
    }

    fn read(
        &mut self,
        buffer: BufferId,
        offset: usize,
        bytes: &mut [u8],
    ) -> Result<(), DeviceError> {
        bytes.copy_from_slice(self.slice(buffer, offset, bytes.len())?);
        Ok(())
    }

    fn copy(&mut self, from: BufferId, to: BufferId, bytes: usize) -> Result<(), DeviceError> {
        let copied = self.slice(from, 0, bytes)?.to_vec();
        self.write(to, 0, &copied)
    }

    // A buffer of the same elements.
    fn image(&mut self, of: BufferId, image: Image) -> Result<BufferId, DeviceError> {
        let pixels = self
            .slice(of, 0, image.bytes().unwrap_or(usize::MAX))?
            .to_vec();
        let id = self.alloc(pixels.len())?;
        self.write(id, 0, &pixels).map(|()| id)
    }

    fn run(&mut self, _: ProgramId, launches: &[Launch]) -> Result<Timing, DeviceError> {
        let began = self.now_ns;
        let stamps = launches
            .iter()
            .map(|launch| self.step(launch))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Timing {
            wall_s: (self.now_ns - began + 1_000) as f64 * 1e-9,
            stamps,
            left_out: Vec::new(),
        })
    }

    fn batch(
        &mut self,
        program: ProgramId,
        launches: &[Launch],
        repeat: usize,
    ) -> Result<f64, DeviceError> {
        let mut seconds = 0.0;
        for _ in 0..repeat {
            seconds += self.run(program, launches)?.wall_s;
        }
        Ok(seconds)
    }

    fn hold(&mut self, _: bool, bytes: usize) -> Result<BufferId, DeviceError> {
        let id = self.number();
        self.hosts.insert(id, vec![0xAA; bytes]);
        Ok(BufferId(id))
    }

    fn held(&mut self, host: BufferId) -> Result<&mut [u8], DeviceError> {
        self.hosts
            .get_mut(&host.0)
            .map(Vec::as_mut_slice)
            .ok_or_else(|| DeviceError::other("host memory", "it was released"))
    }

    // One after the other, whatever the queues.
    fn play(
        &mut self,
        _: Option<ProgramId>,
        commands: &[QueuedCommand],
        repeat: usize,
        profiled: bool,
    ) -> Result<Timing, DeviceError> {
        let began = self.now_ns;
        let mut stamps = Vec::new();
        for _ in 0..repeat {
            stamps.clear();
            for command in commands {
                stamps.push(match &command.action {
                    Action::Launch(launch) => self.step(launch)?,
                    Action::Write(t) | Action::Fill(t) => self.transfer(t, true)?,
                    Action::Read(t) | Action::Fetch(t) => self.transfer(t, false)?,
                    Action::Work(steps) => self.pass(*steps),
                });
            }
        }
        let stamps = if profiled { stamps } else { Vec::new() };
        Ok(Timing {
            wall_s: (self.now_ns - began + 1_000) as f64 * 1e-9,
            stamps,
            left_out: Vec::new(),
        })
    }
}

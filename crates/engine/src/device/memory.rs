//! Buffers, and memory of the host: every size is checked before OpenCL hears of it, and every copy has ended on return.
#![allow(unsafe_code, reason = "ocl cannot know how long host memory lives")]

use super::error::{DeviceError, DeviceResult, HOST_MEMORY, check, guarded, retained};
use super::info;
use gpulab_model::plan::MemoryKind;
use ocl::core::{
    self, BufferRegion, CommandQueue, Context, Event, MapFlags, Mem, MemFlags, MemMap, OclPrm,
};
use std::cell::UnsafeCell;

pub struct Buffer {
    pub memory: Mem,
    bytes: usize,
    /// Of a part what it is a part of, and where it begins there.
    part_of: Option<(Mem, usize)>,
}

impl Buffer {
    /// Allocates `bytes` > 0 where the driver likes, or in memory of the host that the device can reach.
    pub fn new(context: &Context, memory: MemoryKind, bytes: usize) -> DeviceResult<Buffer> {
        let flags = match memory {
            MemoryKind::Device => MemFlags::READ_WRITE,
            MemoryKind::Host => MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR,
        };
        let call = "clCreateBuffer";
        if bytes == 0 {
            return Err(DeviceError::other(call, "a buffer of 0 bytes"));
        }
        // SAFETY: no host memory is involved.
        Ok(Buffer {
            memory: guarded(call, || unsafe {
                core::create_buffer(context, flags, bytes, None::<&[u8]>)
            })?,
            bytes,
            part_of: None,
        })
    }

    /// A part of it, whose place OpenCL wants to be a multiple of the device's base alignment.
    pub fn part(&self, from: usize, bytes: usize) -> DeviceResult<Buffer> {
        let call = "clCreateSubBuffer";
        if bytes == 0 || self.is_nothing(call, from, bytes)? {
            return Err(DeviceError::other(call, "a part of 0 bytes"));
        }
        let region = BufferRegion::<u8>::new(from, bytes);
        let part_of = Some((retained("clRetainMemObject", &self.memory)?, from));
        Ok(Buffer {
            memory: guarded(call, || {
                core::create_sub_buffer::<u8>(&self.memory, MemFlags::READ_WRITE, &region)
            })?,
            bytes,
            part_of,
        })
    }

    /// Fills its first bytes with a pattern of 1, 4 or 8.
    pub fn fill(&self, queue: &CommandQueue, pattern: &[u8], bytes: usize) -> DeviceResult<()> {
        let call = "clEnqueueFillBuffer";
        if self.is_nothing(call, 0, bytes)? {
            return Ok(());
        }
        // `ocl` counts elements here, unlike in its other calls.
        let words = bytes / pattern.len().max(1);
        match *pattern {
            [byte] => self.fill_with(queue, byte, words),
            [a, b, c, d] => self.fill_with(queue, u32::from_ne_bytes([a, b, c, d]), words),
            _ => match <[u8; 8]>::try_from(pattern) {
                Ok(word) => self.fill_with(queue, u64::from_ne_bytes(word), words),
                Err(_) => finished(call, queue, |_| {
                    Err(format!("a pattern of {} bytes", pattern.len()).into())
                }),
            },
        }
    }

    fn fill_with<T: OclPrm>(
        &self,
        queue: &CommandQueue,
        word: T,
        words: usize,
    ) -> DeviceResult<()> {
        finished("clEnqueueFillBuffer", queue, |event| {
            core::enqueue_fill_buffer(
                queue,
                &self.memory,
                word,
                0,
                words,
                None::<&Event>,
                Some(event),
                None,
            )
        })
    }

    /// An image: nothing is copied from or to it by offset.
    pub fn opaque(memory: Mem) -> Buffer {
        Buffer {
            memory,
            bytes: 0,
            part_of: None,
        }
    }

    /// The buffer that it is a part of, if it is one, and where it begins there.
    pub fn place(&self) -> (&Mem, usize) {
        self.part_of
            .as_ref()
            .map_or((&self.memory, 0), |(whole, from)| (whole, *from))
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies host bytes to `offset`; every queue finds them there.
    pub fn write(&self, queue: &CommandQueue, offset: usize, bytes: &[u8]) -> DeviceResult<()> {
        let call = "clEnqueueWriteBuffer";
        if self.is_nothing(call, offset, bytes.len())? {
            return Ok(());
        }
        // SAFETY: the write blocks, so `bytes` outlives it; the range was checked.
        let event = enqueued(call, |event| unsafe {
            core::enqueue_write_buffer(
                queue,
                &self.memory,
                true,
                offset,
                bytes,
                None::<&Event>,
                Some(event),
            )
        })?;
        // All that it waited for is that `bytes` may be used again: Intel's CPU runtime keeps a copy, and may write it
        // after launches on other queues.
        let waited = guarded("clWaitForEvents", || core::wait_for_events(1, &event));
        check_event(call, &event).and(waited)
    }

    pub fn read(&self, queue: &CommandQueue, offset: usize, bytes: &mut [u8]) -> DeviceResult<()> {
        let call = "clEnqueueReadBuffer";
        if self.is_nothing(call, offset, bytes.len())? {
            return Ok(());
        }
        // SAFETY: the read blocks, so `bytes` outlives it; the range was checked.
        let event = enqueued(call, |event| unsafe {
            core::enqueue_read_buffer(
                queue,
                &self.memory,
                true,
                offset,
                bytes,
                None::<&Event>,
                Some(event),
            )
        })?;
        check_event(call, &event)
    }

    pub fn copy_to(&self, to: &Buffer, queue: &CommandQueue, bytes: usize) -> DeviceResult<()> {
        let call = "clEnqueueCopyBuffer";
        if self.is_nothing(call, 0, bytes)? || to.is_nothing(call, 0, bytes)? {
            return Ok(());
        }
        let from = &self.memory;
        let to = &to.memory;
        finished(call, queue, |event| {
            core::enqueue_copy_buffer::<u8, _, _, _>(
                queue,
                from,
                to,
                0,
                0,
                bytes,
                None::<&Event>,
                Some(event),
            )
        })
    }

    /// Whether a range is empty; an error if it does not lie inside the buffer.
    fn is_nothing(&self, call: &str, offset: usize, bytes: usize) -> DeviceResult<bool> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(bytes == 0),
            _ => Err(DeviceError::other(
                call,
                format!(
                    "{bytes} bytes at {offset} do not fit a buffer of {} bytes",
                    self.bytes
                ),
            )),
        }
    }
}

/// Copies host bytes to places in buffers, in order, and waits once for all of them: of few bytes a wait takes longer than
/// the copy.
pub fn write_all(queue: &CommandQueue, writes: &[(&Buffer, usize, &[u8])]) -> DeviceResult<()> {
    let call = "clEnqueueWriteBuffer";
    let mut sources: Vec<Box<[u8]>> = Vec::with_capacity(writes.len());
    let mut events: Vec<Event> = Vec::with_capacity(writes.len());
    let enqueued = writes.iter().try_for_each(|&(buffer, offset, bytes)| {
        if buffer.is_nothing(call, offset, bytes.len())? {
            return Ok(());
        }
        let source: Box<[u8]> = bytes.into();
        // SAFETY: the range was checked; `sources` has the bytes until the queue is finished, and for good if that fails.
        let event = enqueued(call, |event| unsafe {
            core::enqueue_write_buffer(
                queue,
                &buffer.memory,
                false,
                offset,
                &source,
                None::<&Event>,
                Some(event),
            )
        });
        sources.push(source);
        events.push(event?);
        Ok(())
    });
    if let Err(error) = guarded("clFinish", || core::finish(queue)) {
        std::mem::forget(sources);
        return Err(error);
    }
    enqueued?;
    events.iter().try_for_each(|event| check_event(call, event))
}

/// The event of a command that `enqueue` puts in a queue.
pub fn enqueued(
    call: &str,
    enqueue: impl FnOnce(&mut Event) -> core::Result<()>,
) -> DeviceResult<Event> {
    let mut event = Event::null();
    guarded(call, || enqueue(&mut event))?;
    Ok(event)
}

/// Puts a command in a queue and waits for its end.
pub fn finished(
    call: &str,
    queue: &CommandQueue,
    enqueue: impl FnOnce(&mut Event) -> core::Result<()>,
) -> DeviceResult<()> {
    let event = enqueued(call, enqueue)?;
    guarded("clFinish", || core::finish(queue))?;
    check_event(call, &event)
}

/// The error that a finished command ended with: a wait for it may well have reported success.
pub fn check_event(call: &str, event: &Event) -> DeviceResult<()> {
    const EXECUTION_STATUS: u32 = 0x11D3;
    match info::event(event, EXECUTION_STATUS)?.signed() {
        Some(code) if code < 0 => check(call, code).map_err(DeviceError::begun),
        _ => Ok(()),
    }
}

/// Memory of the host. Pinned memory is allocated by the driver and stays mapped until it is given back.
pub enum HostMemory {
    Pageable(Box<[UnsafeCell<u8>]>),
    Pinned {
        map: MemMap<u8>,
        buffer: Buffer,
        queue: CommandQueue,
    },
}

// SAFETY: a mapping is a place in memory, and OpenCL's objects may be used and released on any thread.
unsafe impl Send for HostMemory {}

impl HostMemory {
    /// Memory as any program has it: zeros.
    pub fn pageable(bytes: usize) -> DeviceResult<HostMemory> {
        let mut memory = Vec::new();
        memory
            .try_reserve_exact(bytes)
            .map_err(|_| DeviceError::call(HOST_MEMORY, -6))?;
        memory.resize_with(bytes, || UnsafeCell::new(0));
        Ok(HostMemory::Pageable(memory.into_boxed_slice()))
    }

    /// Memory that the device can reach by itself; its contents are undefined.
    pub fn pinned(
        context: &Context,
        queue: &CommandQueue,
        bytes: usize,
    ) -> DeviceResult<HostMemory> {
        let buffer = Buffer::new(context, MemoryKind::Host, bytes)?;
        let queue = retained("clRetainCommandQueue", queue)?;
        let flags = MapFlags::new().read().write();
        // SAFETY: the call blocks, and the mapping lives as long as the buffer.
        let map = guarded("clEnqueueMapBuffer", || unsafe {
            core::enqueue_map_buffer::<u8, _, _, _>(
                &queue,
                &buffer.memory,
                true,
                flags,
                0,
                bytes,
                None::<&Event>,
                None::<&mut Event>,
            )
        })?;
        Ok(HostMemory::Pinned { map, buffer, queue })
    }

    pub fn bytes(&self) -> usize {
        match self {
            HostMemory::Pageable(bytes) => bytes.len(),
            HostMemory::Pinned { buffer, .. } => buffer.bytes(),
        }
    }

    /// Its first byte, to be written through by those who know that nobody else does.
    pub fn start(&self) -> *mut u8 {
        match self {
            HostMemory::Pageable(bytes) => UnsafeCell::raw_get(bytes.as_ptr()),
            HostMemory::Pinned { map, .. } => map.as_ptr().cast_mut(),
        }
    }

    /// Its bytes, between commands.
    #[expect(
        clippy::mut_from_ref,
        reason = "a device gives them out by exclusive borrow, and nobody else has it"
    )]
    pub fn slice(&self) -> &mut [u8] {
        // SAFETY: the memory is as long as that; a mapping is as long as its buffer and is unmapped only with it. Every
        // command that could touch it was waited for, and the device is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.start(), self.bytes()) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        if let HostMemory::Pinned { map, buffer, queue } = self {
            let memory = &buffer.memory;
            // Nothing can be done about a failure here.
            let _ = guarded("clEnqueueUnmapMemObject", || {
                core::enqueue_unmap_mem_object(
                    &*queue,
                    memory,
                    &*map,
                    None::<&Event>,
                    None::<&mut Event>,
                )
            });
            let _ = guarded("clFinish", || core::finish(&*queue));
        }
    }
}

pub fn released() -> DeviceError {
    DeviceError::other("host memory", "it was released")
}

//! Memory of the host that a device copies from and to.
#![allow(unsafe_code, reason = "pinned memory is the driver's, and mapped")]

use super::error::{DeviceError, HOST_MEMORY, guarded, retained};
use super::memory::Buffer;
use gpulab_model::plan::MemoryKind;
use ocl::core::{self, CommandQueue, Context, Event, MapFlags, MemMap};
use std::cell::UnsafeCell;

/// Memory of the host. Pinned memory is allocated by the driver and stays mapped until it is given back.
pub(super) enum HostMemory {
    Pageable(Box<[UnsafeCell<u8>]>),
    Pinned { map: MemMap<u8>, buffer: Buffer, queue: CommandQueue },
}

// SAFETY: a mapping is a place in memory, and OpenCL's objects may be used and released on any thread.
unsafe impl Send for HostMemory {}

impl HostMemory {
    /// Memory as any program has it: zeros.
    pub(super) fn pageable(bytes: usize) -> Result<HostMemory, DeviceError> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(bytes).map_err(|_| DeviceError::call(HOST_MEMORY, -6))?;
        memory.resize_with(bytes, || UnsafeCell::new(0));
        Ok(HostMemory::Pageable(memory.into_boxed_slice()))
    }

    /// Memory that the device can reach by itself; its contents are undefined.
    pub(super) fn pinned(context: &Context, queue: &CommandQueue, bytes: usize) -> Result<HostMemory, DeviceError> {
        let buffer = Buffer::new(context, MemoryKind::Host, bytes)?;
        let queue = retained("clRetainCommandQueue", queue)?;
        let flags = MapFlags::new().read().write();
        // SAFETY: the call blocks, and the mapping lives as long as the buffer.
        let map = || unsafe {
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
        };
        let map = guarded("clEnqueueMapBuffer", map)?;
        Ok(HostMemory::Pinned { map, buffer, queue })
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            HostMemory::Pageable(bytes) => bytes.len(),
            HostMemory::Pinned { buffer, .. } => buffer.bytes(),
        }
    }

    /// Its first byte, to be written through by those who know that nobody else does.
    pub(super) fn start(&self) -> *mut u8 {
        match self {
            HostMemory::Pageable(bytes) => UnsafeCell::raw_get(bytes.as_ptr()),
            HostMemory::Pinned { map, .. } => map.as_ptr().cast_mut(),
        }
    }

    /// Its bytes, between commands.
    #[expect(clippy::mut_from_ref, reason = "a device gives them out by exclusive borrow, and nobody else has it")]
    pub(super) fn slice(&self) -> &mut [u8] {
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
                core::enqueue_unmap_mem_object(&*queue, memory, &*map, None::<&Event>, None::<&mut Event>)
            });
            let _ = guarded("clFinish", || core::finish(&*queue));
        }
    }
}

pub(super) fn released() -> DeviceError {
    DeviceError::other("host memory", "it was released")
}

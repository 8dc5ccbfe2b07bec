//! A buffer between guard zones, which show whatever is written beside it.

use crate::device::{Device, DeviceError};
use gpulab_kernels::{Family, Form};
use gpulab_model::check::{self, Fingerprint, Side};
use gpulab_model::data::{Array, Dtype, Fill};
use gpulab_model::plan::{BufferId, Case, MemoryKind};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// What lies before and behind every buffer of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fence {
    content: ZoneContent,
    /// Bytes of each zone, a multiple of 4096; 0 where there is none.
    pub(super) bytes: usize,
    /// Which of all buffers it lies around: no two lie between the same zones, or what is copied from one zone into another
    /// would not show.
    number: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum ZoneContent {
    /// Data that change a result into which they are read.
    Data(Fill),
    /// What shows where it is multiplied by zero, and is lost where it is compared.
    Poison,
}

/// The contents of the zone before a buffer, and of that behind it.
pub(super) type Zones = [Array; 2];

/// A buffer between its guard zones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fenced {
    /// What kernels see.
    pub(super) id: BufferId,
    /// With the zones; the same where there are none.
    pub(super) whole: BufferId,
    pub(super) dtype: Dtype,
    pub(super) bytes: usize,
    fence: Fence,
}

impl Fence {
    /// As wide as a row of a matrix or a quarter of a vector, from which a kernel may stray into the one before or behind
    /// it. None under a simulator, which reports accesses outside a buffer itself, but only where the buffer really ends.
    pub(super) fn of(device: &dyn Device, family: &Family, case: &Case) -> Fence {
        const MOST: usize = 1 << 20;
        let row = match family.form {
            Form::Vector => case.shape.n / 4,
            Form::Matrix | Form::Square => case.shape.n.max(case.shape.m),
        } as usize;
        let wide = row.saturating_mul(case.dtype.size()).clamp(check::GUARD_BYTES, MOST).next_multiple_of(4096);
        Fence {
            content: ZoneContent::Data(family.problem.beside(case)),
            bytes: if device.info().is_simulator() { 0 } else { wide },
            number: 0,
        }
    }

    /// Around 32-bit words that kernels of a script work on.
    pub(super) fn of_words(device: &dyn Device) -> Fence {
        Fence { bytes: if device.info().is_simulator() { 0 } else { check::GUARD_BYTES }, ..Fence::none() }
    }

    /// The same zones, with a poison in them.
    pub(super) fn poisoned(self) -> Fence {
        Fence { content: ZoneContent::Poison, ..self }
    }

    /// The same around what kernels of this family write. Of a reader's own it holds any numbers: among the few that its inputs
    /// may hold one that is written there would not show.
    pub(super) fn of_written(mut self, family: &Family) -> Fence {
        if family.described().is_some() && self.content != ZoneContent::Poison {
            self.content = ZoneContent::Data(Fill::Real);
        }
        self
    }

    pub(super) fn none() -> Fence {
        Fence { content: ZoneContent::Data(Fill::Real), bytes: 0, number: 0 }
    }

    /// What lies before and behind a buffer of this type.
    fn zones(self, dtype: Dtype) -> Rc<Zones> {
        /// Zones that are remembered, each of up to twice a MiB: they are looked at after many runs.
        const MOST: usize = 24;
        thread_local! {
            static KNOWN: RefCell<VecDeque<(Fence, Dtype, Rc<Zones>)>> = const { RefCell::new(VecDeque::new()) };
        }
        KNOWN.with_borrow_mut(|known| {
            if let Some((.., zones)) = known.iter().find(|(fence, of, _)| (*fence, *of) == (self, dtype)) {
                return Rc::clone(zones);
            }
            let sides = [Side::Before, Side::Behind];
            let zones = Rc::new(sides.map(|side| match self.content {
                ZoneContent::Data(fill) => check::guard(fill, dtype, side, self.number, self.bytes),
                ZoneContent::Poison => check::poisoned(dtype, self.bytes / dtype.size()),
            }));
            known.truncate(MOST - 1);
            known.push_front((self, dtype, Rc::clone(&zones)));
            zones
        })
    }

    /// Allocates a buffer between two zones.
    pub(super) fn alloc(self, device: &mut dyn Device, dtype: Dtype, bytes: usize) -> Result<Fenced, DeviceError> {
        self.alloc_in(device, MemoryKind::Device, dtype, bytes)
    }

    pub(super) fn alloc_in(
        self,
        device: &mut dyn Device,
        memory: MemoryKind,
        dtype: Dtype,
        bytes: usize,
    ) -> Result<Fenced, DeviceError> {
        thread_local! {
            static COUNT: Cell<u64> = const { Cell::new(0) };
        }
        let fence = Fence { number: COUNT.replace(COUNT.get() + 1), ..self };
        let whole = device.alloc_in(memory, bytes + 2 * self.bytes)?;
        if self.bytes == 0 {
            return Ok(Fenced { id: whole, whole, dtype, bytes, fence });
        }
        let zones = fence.zones(dtype);
        let [before, behind] = &*zones;
        let fenced = device
            .write(whole, 0, before.as_bytes())
            .and_then(|()| device.write(whole, self.bytes + bytes, behind.as_bytes()))
            .and_then(|()| device.part(whole, self.bytes, bytes));
        let id = fenced.inspect_err(|_| device.free(whole))?;
        Ok(Fenced { id, whole, dtype, bytes, fence })
    }

    pub(super) fn alloc_all(
        self,
        device: &mut dyn Device,
        lens: impl Iterator<Item = (Dtype, usize)>,
    ) -> Result<Vec<Fenced>, DeviceError> {
        let mut all: Vec<Fenced> = Vec::new();
        for (dtype, len) in lens {
            match self.alloc(device, dtype, len * dtype.size()) {
                Ok(fenced) => all.push(fenced),
                Err(error) => {
                    all.into_iter().for_each(|fenced| fenced.free(device));
                    return Err(error);
                }
            }
        }
        Ok(all)
    }

    pub(super) fn upload(self, device: &mut dyn Device, arrays: &[Array]) -> Result<Vec<Fenced>, DeviceError> {
        let mut all: Vec<Fenced> = Vec::new();
        for array in arrays {
            let uploaded = self.alloc(device, array.dtype(), array.as_bytes().len()).and_then(|fenced| {
                all.push(fenced);
                device.write(fenced.id, 0, array.as_bytes())
            });
            if let Err(error) = uploaded {
                all.into_iter().for_each(|fenced| fenced.free(device));
                return Err(error);
            }
        }
        Ok(all)
    }
}

impl Fenced {
    /// Its size, without the zones.
    pub(super) fn bytes(self) -> usize {
        self.bytes
    }

    /// What was written outside of it, if anything.
    pub(super) fn overrun(self, device: &mut dyn Device) -> Result<Option<String>, DeviceError> {
        let Fence { bytes, .. } = self.fence;
        let mut there = vec![0; bytes];
        let sides = [(Side::Before, 0), (Side::Behind, bytes + self.bytes)];
        for ((side, at), zone) in sides.into_iter().zip(&*self.fence.zones(self.dtype)) {
            device.read(self.whole, at, &mut there)?;
            if let Err(what) = check::check_guard(&there, zone, side) {
                return Ok(Some(what));
            }
        }
        Ok(None)
    }

    pub(super) fn free(self, device: &mut dyn Device) {
        device.free(self.id);
        if self.whole != self.id {
            device.free(self.whole);
        }
    }

    /// Whether it still holds what this is the fingerprint of.
    pub(super) fn is_unchanged(self, device: &mut dyn Device, print: u128) -> Result<bool, DeviceError> {
        const PIECE: usize = 16 * Fingerprint::BLOCK;
        let mut piece = vec![0; self.bytes.min(PIECE)];
        let mut fingerprint = Fingerprint::default();
        for at in (0..self.bytes).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(self.bytes - at)];
            device.read(self.id, at, piece)?;
            fingerprint.update(piece);
        }
        Ok(fingerprint.end() == print)
    }
}

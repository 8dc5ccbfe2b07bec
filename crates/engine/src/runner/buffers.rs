//! A plan's buffers on the device: between guard zones, which show whatever is written beside them, and poisoned. They go when
//! nobody holds them any more.

use crate::device::{Device, DeviceResult, Hold};
use gpulab_kernels::{Family, Form};
use gpulab_model::check::{self, Fingerprint};
use gpulab_model::data::{self, Array, Change, Dtype, Fill};
use gpulab_model::plan::{BufferId, BufferSpec, Case, Image, Launch, MemoryKind, Plan, Role};
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

/// What lies before and behind every buffer of a case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fence {
    /// Data that change a result into which they are read; else the poison, which shows where it is multiplied by zero, and is
    /// lost where it is compared.
    fill: Option<Fill>,
    /// Bytes of each zone, a multiple of 4096; 0 where there is none.
    pub bytes: usize,
    /// Which of all buffers it lies around: no two lie between the same zones, or what is copied from one zone into another
    /// would not show.
    number: u64,
}

/// A buffer between its guard zones, or an image, which has none.
#[derive(Clone, Debug)]
pub struct Fenced {
    /// What kernels see.
    pub id: BufferId,
    /// With the zones; the same where there are none.
    pub whole: BufferId,
    dtype: Dtype,
    pub bytes: usize,
    fence: Fence,
    _kept: Vec<Rc<Hold>>,
}

impl Fence {
    pub const NONE: Fence = Fence {
        fill: Some(Fill::Real),
        bytes: 0,
        number: 0,
    };

    /// As wide as a row of a matrix or a quarter of a vector, from which a kernel may stray into the one before or behind
    /// it. None under a simulator, which reports accesses outside a buffer itself, but only where the buffer really ends.
    pub fn of(device: &dyn Device, family: &Family, case: &Case) -> Fence {
        const MOST: usize = 1 << 20;
        let row = match family.form {
            Form::Vector => case.shape.n / 4,
            Form::Matrix | Form::Square => case.shape.n.max(case.shape.m),
        } as usize;
        let wide = row
            .saturating_mul(case.dtype.size())
            .clamp(check::GUARD_BYTES, MOST)
            .next_multiple_of(4096);
        let bytes = if device.info().is_simulator() {
            0
        } else {
            wide
        };
        Fence {
            fill: Some(family.problem.beside(case)),
            bytes,
            number: 0,
        }
    }

    /// Around 32-bit words that kernels of a script work on.
    pub fn of_words(device: &dyn Device) -> Fence {
        Fence {
            bytes: if device.info().is_simulator() {
                0
            } else {
                check::GUARD_BYTES
            },
            ..Fence::NONE
        }
    }

    /// The same zones, with a poison in them.
    pub fn poisoned(self) -> Fence {
        Fence { fill: None, ..self }
    }

    /// The same around what kernels of this family write. Of a reader's own it holds any numbers: among the few that its inputs
    /// may hold one that is written there would not show.
    pub fn of_written(self, family: &Family) -> Fence {
        match family.described() {
            Some(_) => Fence {
                fill: self.fill.map(|_| Fill::Real),
                ..self
            },
            None => self,
        }
    }

    /// What lies before and behind a buffer of this type.
    fn zones(self, dtype: Dtype) -> Rc<[Array; 2]> {
        /// Zones that are remembered, each of up to twice a MiB: they are looked at after many runs.
        const MOST: usize = 24;
        type Known = VecDeque<(Fence, Dtype, Rc<[Array; 2]>)>;
        thread_local! {
            static KNOWN: RefCell<Known> = const { RefCell::new(VecDeque::new()) };
        }
        KNOWN.with_borrow_mut(|known| {
            if let Some((.., zones)) = known
                .iter()
                .find(|(fence, of, _)| (*fence, *of) == (self, dtype))
            {
                return Rc::clone(zones);
            }
            let zones = Rc::new([false, true].map(|is_behind| match self.fill {
                Some(fill) => check::guard(fill, dtype, is_behind, self.number, self.bytes),
                None => check::poisoned(dtype, self.bytes / dtype.size()),
            }));
            known.truncate(MOST - 1);
            known.push_front((self, dtype, Rc::clone(&zones)));
            zones
        })
    }

    /// Allocates a buffer between two zones.
    pub fn alloc(
        self,
        device: &mut dyn Device,
        memory: MemoryKind,
        dtype: Dtype,
        bytes: usize,
    ) -> DeviceResult<Fenced> {
        thread_local! {
            static COUNT: Cell<u64> = const { Cell::new(0) };
        }
        let fence = Fence {
            number: COUNT.replace(COUNT.get() + 1),
            ..self
        };
        let whole = device.alloc_in(memory, bytes + 2 * self.bytes)?;
        let mut kept = vec![device.keep(whole.0)];
        if self.bytes == 0 {
            return Ok(Fenced {
                id: whole,
                whole,
                dtype,
                bytes,
                fence,
                _kept: kept,
            });
        }
        let zones = fence.zones(dtype);
        device.write(whole, 0, zones[0].as_bytes())?;
        device.write(whole, self.bytes + bytes, zones[1].as_bytes())?;
        let id = device.part(whole, self.bytes, bytes)?;
        kept.push(device.keep(id.0));
        Ok(Fenced {
            id,
            whole,
            dtype,
            bytes,
            fence,
            _kept: kept,
        })
    }

    pub fn upload(self, device: &mut dyn Device, arrays: &[Array]) -> DeviceResult<Vec<Fenced>> {
        arrays
            .iter()
            .map(|array: &Array| {
                let fenced = self.alloc(
                    device,
                    MemoryKind::Device,
                    array.dtype(),
                    array.as_bytes().len(),
                )?;
                device.write(fenced.id, 0, array.as_bytes())?;
                Ok(fenced)
            })
            .collect()
    }
}

impl Fenced {
    /// What was written outside of it, if anything.
    pub fn overrun(&self, device: &mut dyn Device) -> DeviceResult<Option<String>> {
        if self.fence.bytes == 0 {
            return Ok(None);
        }
        let mut there = vec![0; self.fence.bytes];
        let zones = self.fence.zones(self.dtype);
        for is_behind in [false, true] {
            let at = if is_behind {
                self.fence.bytes + self.bytes
            } else {
                0
            };
            device.read(self.whole, at, &mut there)?;
            if let Err(what) = check::check_guard(&there, &zones[usize::from(is_behind)], is_behind)
            {
                return Ok(Some(what));
            }
        }
        Ok(None)
    }

    /// Whether it still holds what this is the fingerprint of.
    pub fn is_unchanged(&self, device: &mut dyn Device, print: u128) -> DeviceResult<bool> {
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

/// A plan with its buffers on the device, in the order of the plan's list.
pub struct BoundPlan {
    plan: Plan,
    fence: Fence,
    buffers: Vec<Fenced>,
}

impl BoundPlan {
    /// Allocates what `plan` needs beside its inputs, which are `inputs`.
    pub fn new(
        device: &mut dyn Device,
        fence: Fence,
        plan: &Plan,
        inputs: &[Fenced],
    ) -> DeviceResult<BoundPlan> {
        let mut bound = BoundPlan {
            plan: plan.clone(),
            fence,
            buffers: Vec::new(),
        };
        for spec in &plan.buffers {
            match spec.role {
                Role::Input(i) => bound.buffers.push(inputs[i].clone()),
                Role::Image { of, image } => bound.add_image(device, spec, of, image)?,
                _ => bound.add(device, spec)?,
            }
        }
        Ok(bound)
    }

    /// Another plan over the same buffers, if it asks for the same.
    pub fn shared_with(&self, plan: &Plan) -> Option<BoundPlan> {
        (plan.buffers == self.plan.buffers).then(|| BoundPlan {
            plan: plan.clone(),
            fence: self.fence,
            buffers: self.buffers.clone(),
        })
    }

    /// A binding of its own copies of all buffers larger than `share_below` bytes; the others are shared with `self`.
    pub fn copy(&self, device: &mut dyn Device, share_below: usize) -> DeviceResult<BoundPlan> {
        let mut copy = BoundPlan {
            plan: self.plan.clone(),
            fence: self.fence,
            buffers: Vec::new(),
        };
        for (spec, place) in self.of_role(|_| true) {
            match spec.role {
                _ if spec.bytes() <= share_below || spec.role == Role::Zeroed => {
                    copy.buffers.push(place.clone())
                }
                Role::Image { of, image } => copy.add_image(device, spec, of, image)?,
                _ => {
                    copy.add(device, spec)?;
                    let to = copy.buffers[copy.buffers.len() - 1].id;
                    device.copy(place.id, to, spec.bytes())?;
                }
            }
        }
        Ok(copy)
    }

    fn add_image(
        &mut self,
        device: &mut dyn Device,
        spec: &BufferSpec,
        of: usize,
        image: Image,
    ) -> DeviceResult<()> {
        let id = device.image(self.buffers[of].id, image)?;
        let kept = vec![device.keep(id.0)];
        self.buffers.push(Fenced {
            id,
            whole: id,
            dtype: spec.dtype,
            bytes: 0,
            fence: Fence::NONE,
            _kept: kept,
        });
        Ok(())
    }

    fn add(&mut self, device: &mut dyn Device, spec: &BufferSpec) -> DeviceResult<()> {
        let fenced = self
            .fence
            .alloc(device, MemoryKind::Device, spec.dtype, spec.bytes())?;
        if spec.role == Role::Zeroed {
            device.write(fenced.id, 0, &vec![0; spec.bytes()])?;
        }
        self.buffers.push(fenced);
        Ok(())
    }

    fn of_role(&self, is_meant: fn(Role) -> bool) -> impl Iterator<Item = (&BufferSpec, &Fenced)> {
        self.plan
            .buffers
            .iter()
            .zip(&self.buffers)
            .filter(move |(spec, _)| is_meant(spec.role))
    }

    /// Outputs and intermediate results.
    fn written(&self) -> impl Iterator<Item = (&BufferSpec, &Fenced)> {
        self.of_role(|role| matches!(role, Role::Output | Role::Scratch))
    }

    pub fn inputs(&self) -> impl Iterator<Item = (usize, &Fenced)> {
        self.of_role(|_| true)
            .filter_map(|(spec, place)| match spec.role {
                Role::Input(index) => Some((index, place)),
                _ => None,
            })
    }

    /// Overwrites outputs and intermediate results with a pattern that no right result has.
    pub fn poison(&self, device: &mut dyn Device) -> DeviceResult<()> {
        self.poison_with(device, check::poison)
    }

    /// As [`BoundPlan::poison`], of outputs alone.
    pub fn poison_outputs(&self, device: &mut dyn Device) -> DeviceResult<()> {
        self.of_role(|role| role == Role::Output)
            .try_for_each(|(spec, place)| {
                device.fill(place.id, &check::poison(spec.dtype), spec.bytes())
            })
    }

    /// As [`BoundPlan::poison`], with the elements that `poison` gives.
    pub fn poison_with(
        &self,
        device: &mut dyn Device,
        poison: impl Fn(Dtype) -> Vec<u8>,
    ) -> DeviceResult<()> {
        let by_host = device.info().is_simulator();
        self.written().try_for_each(|(spec, place)| match by_host {
            // To Oclgrind 21.10 nothing is initialised but the part that was written last, and a fill writes word by word.
            true => device.write(place.id, 0, &poison(spec.dtype).repeat(spec.len)),
            false => device.fill(place.id, &poison(spec.dtype), spec.bytes()),
        })
    }

    /// Writes random bits over about every other element that a run wrote of outputs and intermediate results, of large ones
    /// in some places; the others stay as they are.
    pub fn soil(&self, device: &mut dyn Device, seed: u64) -> DeviceResult<()> {
        const PLACES: usize = 16;
        const PLACE: usize = 1 << 14;
        for (spec, place) in self.written() {
            let size = spec.dtype.size();
            let poison = check::poison(spec.dtype);
            let is_small = spec.len <= PLACES * PLACE;
            let places = if is_small { 1 } else { PLACES };
            let len = if is_small { spec.len } else { PLACE };
            for number in 0..places {
                let start = (spec.len - len) * number / (places - 1).max(1);
                let noise = data::generate(
                    Fill::Bits,
                    spec.dtype,
                    seed,
                    number as u64,
                    start as u64,
                    len,
                );
                let mut there = vec![0; len * size];
                device.read(place.id, start * size, &mut there)?;
                for (i, (old, new)) in there
                    .chunks_mut(size)
                    .zip(noise.as_bytes().chunks(size))
                    .enumerate()
                {
                    if old != poison && data::draw(seed, (start + i) as u64) & 1 == 0 {
                        old.copy_from_slice(new);
                    }
                }
                device.write(place.id, start * size, &there)?;
            }
        }
        Ok(())
    }

    /// Writes new values into the inputs.
    pub fn change(&self, device: &mut dyn Device, changes: &[Change]) -> DeviceResult<()> {
        let writes = changes.iter().filter_map(|change| {
            let input = self.inputs().find(|(index, _)| *index == change.input)?.1;
            let offset = change.index * change.value.dtype().size();
            Some((input.id, offset, change.value.as_bytes()))
        });
        device.write_all(&writes.collect::<Vec<_>>())
    }

    /// Reads the output back; of several outputs the bytes of all.
    pub fn output(&self, device: &mut dyn Device) -> DeviceResult<Array> {
        Ok(joined(self.outputs(device)?))
    }

    pub fn outputs(&self, device: &mut dyn Device) -> DeviceResult<Vec<Array>> {
        self.plan
            .outputs()
            .map(|index| self.part(device, index, 0, self.plan.buffers[index].len))
            .collect()
    }

    /// Reads `len` elements of buffer `index` back, from element `start` on.
    pub fn part(
        &self,
        device: &mut dyn Device,
        index: usize,
        start: usize,
        len: usize,
    ) -> DeviceResult<Array> {
        let dtype = self.plan.buffers[index].dtype;
        let mut array = Array::zeros(dtype, len);
        device.read(
            self.buffers[index].id,
            start * dtype.size(),
            array.as_bytes_mut(),
        )?;
        Ok(array)
    }

    /// What was written before the start or behind the end of a buffer, if anything.
    pub fn overrun(&self, device: &mut dyn Device) -> DeviceResult<Option<String>> {
        for (index, (spec, fenced)) in self.of_role(|_| true).enumerate() {
            if let Some(what) = fenced.overrun(device)? {
                return Ok(Some(format!(
                    "writes outside buffer {index} ({:?}): {what}",
                    spec.role
                )));
            }
        }
        Ok(None)
    }

    /// What a run left in a buffer that must be zero again, if anything.
    pub fn left_over(&self, device: &mut dyn Device) -> DeviceResult<Option<String>> {
        for (spec, place) in self.of_role(|role| role == Role::Zeroed) {
            let mut there = vec![0; spec.bytes()];
            device.read(place.id, 0, &mut there)?;
            if there.iter().any(|&byte| byte != 0) {
                return Ok(Some(
                    "a buffer that must be zero again after a run is not".to_owned(),
                ));
            }
        }
        Ok(None)
    }

    /// The first input that is no more what this was the fingerprint of.
    pub fn changed_input(
        &self,
        device: &mut dyn Device,
        prints: &[u128],
    ) -> DeviceResult<Option<usize>> {
        for (index, input) in self.inputs() {
            if !input.is_unchanged(device, prints[index])? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Overwrites what lies beside the inputs with the first element of these, so that reading it changes nothing.
    pub fn quiet_inputs(&self, device: &mut dyn Device, neutral: &[Array]) -> DeviceResult<()> {
        for (index, input) in self.inputs() {
            let Some(one) = neutral[index].at(0) else {
                continue;
            };
            let zone = one.repeated(self.fence.bytes / one.dtype().size());
            device.write(input.whole, 0, zone.as_bytes())?;
            device.write(input.whole, self.fence.bytes + input.bytes, zone.as_bytes())?;
        }
        Ok(())
    }

    pub fn launches(&self) -> Vec<Launch> {
        self.plan
            .passes
            .iter()
            .map(|pass| pass.bound(|index| self.buffers[index].id))
            .collect()
    }
}

/// The only one of these outputs, or the bytes of all.
pub fn joined(mut outputs: Vec<Array>) -> Array {
    match outputs.len() {
        1 => outputs.remove(0),
        _ => Array::U8(
            outputs
                .iter()
                .flat_map(|output| output.as_bytes())
                .copied()
                .collect(),
        ),
    }
}

//! A plan's buffers on the device: poisoned, fenced by guard zones, and given back together.

use super::drawing;
use super::prelude::*;
use crate::device::BufferWrite;
use gpulab_model::plan::{BufferSpec, Image, Role};

/// A plan with its buffers on the device, in the order of the plan's list.
pub(super) struct BoundPlan {
    plan: Plan,
    fence: Fence,
    buffers: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    id: BufferId,
    /// None of an image.
    fenced: Option<Fenced>,
    /// Whether it is given back with this binding; the others are borrowed.
    owned: bool,
}

impl BoundPlan {
    /// Allocates what `plan` needs beside its inputs, which are `inputs`.
    pub(super) fn new(
        device: &mut dyn Device,
        fence: Fence,
        plan: &Plan,
        inputs: &[Fenced],
    ) -> Result<BoundPlan, DeviceError> {
        let mut bound = BoundPlan { plan: plan.clone(), fence, buffers: Vec::new() };
        for spec in &plan.buffers {
            let added = match spec.role {
                Role::Input(i) => {
                    bound.buffers.push(Slot { id: inputs[i].id, fenced: Some(inputs[i]), owned: false });
                    Ok(())
                }
                Role::Image { of, image } => bound.add_image(device, of, image),
                _ => bound.add(device, spec),
            };
            if let Err(error) = added {
                bound.free(device);
                return Err(error);
            }
        }
        Ok(bound)
    }

    /// A binding of its own copies of all buffers larger than `share_below` bytes; the others are shared with `self`.
    pub(super) fn copy(&self, device: &mut dyn Device, share_below: usize) -> Result<BoundPlan, DeviceError> {
        let mut copy = BoundPlan { plan: self.plan.clone(), fence: self.fence, buffers: Vec::new() };
        for (spec, place) in self.of_role(|_| true) {
            let is_shared = spec.bytes() <= share_below || spec.role == Role::Zeroed;
            let copied = match spec.role {
                _ if is_shared => {
                    copy.buffers.push(Slot { owned: false, ..*place });
                    Ok(())
                }
                Role::Image { of, image } => copy.add_image(device, of, image),
                _ => copy.add(device, spec).and_then(|()| device.copy(place.id, copy.last(), spec.bytes())),
            };
            if let Err(error) = copied {
                copy.free(device);
                return Err(error);
            }
        }
        Ok(copy)
    }

    fn last(&self) -> BufferId {
        self.buffers.last().map_or(BufferId(u32::MAX), |place| place.id)
    }

    fn add_image(&mut self, device: &mut dyn Device, of: usize, image: Image) -> Result<(), DeviceError> {
        let id = device.image(self.buffers[of].id, image)?;
        self.buffers.push(Slot { id, fenced: None, owned: true });
        Ok(())
    }

    fn add(&mut self, device: &mut dyn Device, spec: &BufferSpec) -> Result<(), DeviceError> {
        let fenced = self.fence.alloc(device, spec.dtype, spec.bytes())?;
        self.buffers.push(Slot { id: fenced.id, fenced: Some(fenced), owned: true });
        if spec.role == Role::Zeroed {
            device.write(fenced.id, 0, &vec![0; spec.bytes()])?;
        }
        Ok(())
    }

    fn of_role(&self, is_meant: fn(Role) -> bool) -> impl Iterator<Item = (&BufferSpec, &Slot)> {
        self.plan.buffers.iter().zip(&self.buffers).filter(move |(spec, _)| is_meant(spec.role))
    }

    /// Outputs and intermediate results.
    fn written(&self) -> impl Iterator<Item = (&BufferSpec, &Slot)> {
        self.of_role(|role| matches!(role, Role::Output | Role::Scratch))
    }

    fn inputs(&self) -> impl Iterator<Item = (usize, Fenced)> {
        self.of_role(|_| true).filter_map(|(spec, place)| match spec.role {
            Role::Input(index) => Some((index, place.fenced?)),
            _ => None,
        })
    }

    /// Overwrites outputs and intermediate results with a pattern that no right result has.
    pub(super) fn poison(&self, device: &mut dyn Device) -> Result<(), DeviceError> {
        self.poison_with(device, check::poison)
    }

    /// As [`BoundPlan::poison`], of outputs alone.
    pub(super) fn poison_outputs(&self, device: &mut dyn Device) -> Result<(), DeviceError> {
        self.of_role(|role| role == Role::Output)
            .try_for_each(|(spec, place)| device.fill(place.id, &check::poison(spec.dtype), spec.bytes()))
    }

    /// As [`BoundPlan::poison`], with the elements that `poison` gives.
    pub(super) fn poison_with(
        &self,
        device: &mut dyn Device,
        poison: impl Fn(Dtype) -> Vec<u8>,
    ) -> Result<(), DeviceError> {
        let by_host = device.info().is_simulator();
        self.written().try_for_each(|(spec, place)| match by_host {
            // To Oclgrind 21.10 nothing is initialised but the part that was written last, and a fill writes word by word.
            true => device.write(place.id, 0, &poison(spec.dtype).repeat(spec.len)),
            false => device.fill(place.id, &poison(spec.dtype), spec.bytes()),
        })
    }

    /// Writes random bits over about every other element that a run wrote of outputs and intermediate results, of large ones
    /// in some places; the others stay as they are.
    pub(super) fn soil(&self, device: &mut dyn Device, seed: u64) -> Result<(), DeviceError> {
        const PLACES: usize = 16;
        const PLACE: usize = 1 << 14;
        for (spec, place) in self.written() {
            let size = spec.dtype.size();
            let poison = check::poison(spec.dtype);
            let (places, len) = if spec.len <= PLACES * PLACE { (1, spec.len) } else { (PLACES, PLACE) };
            for number in 0..places {
                let start = (spec.len - len) * number / (places - 1).max(1);
                let noise = data::generate(Fill::Bits, spec.dtype, seed, number as u64, start as u64, len);
                let mut there = vec![0; len * size];
                device.read(place.id, start * size, &mut there)?;
                for (i, (old, new)) in there.chunks_mut(size).zip(noise.as_bytes().chunks(size)).enumerate() {
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
    pub(super) fn change(&self, device: &mut dyn Device, changes: &[Change]) -> Result<(), DeviceError> {
        let writes = changes.iter().filter_map(|change| {
            let (_, input) = self.inputs().find(|(index, _)| *index == change.input)?;
            let offset = change.index * change.value.dtype().size();
            Some(BufferWrite { buffer: input.id, offset, bytes: change.value.as_bytes() })
        });
        device.write_all(&writes.collect::<Vec<_>>())
    }

    /// Reads the output back; of several outputs the bytes of all.
    pub(super) fn output(&self, device: &mut dyn Device) -> Result<Array, DeviceError> {
        Ok(joined(self.outputs(device)?))
    }

    pub(super) fn outputs(&self, device: &mut dyn Device) -> Result<Vec<Array>, DeviceError> {
        self.plan.outputs().map(|index| self.part(device, index, 0, self.plan.buffers[index].len)).collect()
    }

    /// Reads `len` elements of buffer `index` back, from element `start` on.
    pub(super) fn part(
        &self,
        device: &mut dyn Device,
        index: usize,
        start: usize,
        len: usize,
    ) -> Result<Array, DeviceError> {
        let dtype = self.plan.buffers[index].dtype;
        let mut array = Array::zeros(dtype, len);
        device.read(self.buffers[index].id, start * dtype.size(), array.as_bytes_mut())?;
        Ok(array)
    }

    /// What was written before the start or behind the end of a buffer, if anything.
    pub(super) fn overrun(&self, device: &mut dyn Device) -> Result<Option<String>, DeviceError> {
        if self.fence.bytes == 0 {
            return Ok(None);
        }
        for (index, (spec, place)) in self.of_role(|_| true).enumerate() {
            let what = place.fenced.map_or(Ok(None), |fenced| fenced.overrun(device))?;
            if let Some(what) = what {
                return Ok(Some(format!("writes outside buffer {index} ({:?}): {what}", spec.role)));
            }
        }
        Ok(None)
    }

    /// What a run left in a buffer that must be zero again, if anything.
    pub(super) fn left_over(&self, device: &mut dyn Device) -> Result<Option<String>, DeviceError> {
        for (spec, place) in self.of_role(|role| role == Role::Zeroed) {
            let mut there = vec![0; spec.bytes()];
            device.read(place.id, 0, &mut there)?;
            if there.iter().any(|&byte| byte != 0) {
                return Ok(Some("a buffer that must be zero again after a run is not".to_owned()));
            }
        }
        Ok(None)
    }

    /// The first input that is no more what this was the fingerprint of.
    pub(super) fn changed_input(&self, device: &mut dyn Device, prints: &[u128]) -> Result<Option<usize>, DeviceError> {
        for (index, input) in self.inputs() {
            if !input.is_unchanged(device, prints[index])? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Overwrites what lies beside the inputs with the first element of these, so that reading it changes nothing.
    pub(super) fn quiet_inputs(&self, device: &mut dyn Device, neutral: &[Array]) -> Result<(), DeviceError> {
        for (index, input) in self.inputs() {
            let Some(one) = neutral[index].at(0) else { continue };
            let zone = one.repeated(self.fence.bytes / one.dtype().size());
            device.write(input.whole, 0, zone.as_bytes())?;
            device.write(input.whole, self.fence.bytes + input.bytes, zone.as_bytes())?;
        }
        Ok(())
    }

    /// As [`BoundPlan::changed_input`], of inputs that the device drew: it says itself what their prints are.
    pub(super) fn changed_drawn(
        &self,
        device: &mut dyn Device,
        printer: ProgramId,
        prints: &[u64],
    ) -> Result<Option<usize>, DeviceError> {
        for (index, input) in self.inputs() {
            if drawing::print_of(device, printer, input)? != prints[index] {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    pub(super) fn launches(&self) -> Vec<Launch> {
        self.plan.passes.iter().map(|pass| pass.bound(|index| self.buffers[index].id)).collect()
    }

    pub(super) fn free(self, device: &mut dyn Device) {
        // Images before what they are made of.
        for place in self.buffers.iter().rev().filter(|place| place.owned) {
            match place.fenced {
                Some(fenced) => fenced.free(device),
                None => device.free(place.id),
            }
        }
    }
}

/// The only one of these outputs, or the bytes of all.
pub(super) fn joined(mut outputs: Vec<Array>) -> Array {
    match outputs.len() {
        1 => outputs.remove(0),
        _ => Array::U8(outputs.iter().flat_map(|output| output.as_bytes()).copied().collect()),
    }
}

//! A plan's buffers on the device: poisoned, guarded, and given back together.

use crate::check;
use crate::data::{Array, Dtype};
use crate::device::{BufferId, Device, DeviceError, Launch};
use crate::kernels::{Arg, BufferSpec, Image, Plan, Role};

/// Buffers of one case, in the order of the plan's list.
#[derive(Default)]
pub(super) struct Bound {
    ids: Vec<BufferId>,
    /// Those that are given back with this binding; the others are borrowed.
    owned: Vec<BufferId>,
}

/// Bytes of guard zone behind each buffer. None under Oclgrind, which reports accesses outside a buffer
/// itself, but only where the buffer really ends.
pub(super) fn guard_bytes(device: &dyn Device) -> usize {
    if device.info().platform.contains("Oclgrind") { 0 } else { check::GUARD_BYTES }
}

/// Allocates a buffer with a guard zone behind it.
pub(super) fn alloc(device: &mut dyn Device, bytes: usize) -> Result<BufferId, DeviceError> {
    let guard = guard_bytes(device);
    let id = device.alloc(bytes + guard)?;
    let written = if guard > 0 { device.write(id, bytes, &check::guard_pattern()) } else { Ok(()) };
    written.map(|()| id).inspect_err(|_| device.free(id))
}

/// Uploads arrays into new buffers.
pub(super) fn upload(device: &mut dyn Device, arrays: &[Array]) -> Result<Vec<BufferId>, DeviceError> {
    let mut ids = Vec::new();
    for array in arrays {
        let uploaded = alloc(device, array.as_bytes().len()).and_then(|id| {
            ids.push(id);
            device.write(id, 0, array.as_bytes())
        });
        if let Err(error) = uploaded {
            ids.iter().for_each(|&id| device.free(id));
            return Err(error);
        }
    }
    Ok(ids)
}

impl Bound {
    /// Allocates what `plan` needs beside its inputs, which are `inputs`.
    pub(super) fn new(device: &mut dyn Device, plan: &Plan, inputs: &[BufferId]) -> Result<Bound, DeviceError> {
        let mut bound = Bound::default();
        for spec in &plan.buffers {
            let id = match spec.role {
                Role::Input(i) => Ok(inputs[i]),
                Role::Image { of, image } => bound.image_own(device, spec.dtype, of, image),
                _ => bound.alloc_own(device, spec),
            };
            match id {
                Ok(id) => bound.ids.push(id),
                Err(error) => {
                    bound.free(device);
                    return Err(error);
                }
            }
        }
        Ok(bound)
    }

    /// A binding of its own copies of all buffers larger than `share_below` bytes; the others are shared with `self`.
    pub(super) fn copy(&self, device: &mut dyn Device, plan: &Plan, share_below: usize) -> Result<Bound, DeviceError> {
        let mut copy = Bound::default();
        for (spec, &id) in plan.buffers.iter().zip(&self.ids) {
            if spec.bytes() <= share_below || spec.role == Role::Zeroed {
                copy.ids.push(id);
                continue;
            }
            if let Role::Image { of, image } = spec.role {
                match copy.image_own(device, spec.dtype, of, image) {
                    Ok(id) => copy.ids.push(id),
                    Err(error) => {
                        copy.free(device);
                        return Err(error);
                    }
                }
                continue;
            }
            let copied = copy.alloc_own(device, spec).and_then(|new| {
                copy.ids.push(new);
                device.copy(id, new, spec.bytes())
            });
            if let Err(error) = copied {
                copy.free(device);
                return Err(error);
            }
        }
        Ok(copy)
    }

    fn image_own(
        &mut self,
        device: &mut dyn Device,
        dtype: Dtype,
        of: usize,
        image: Image,
    ) -> Result<BufferId, DeviceError> {
        let id = device.image(self.ids[of], dtype, image)?;
        self.owned.push(id);
        Ok(id)
    }

    fn alloc_own(&mut self, device: &mut dyn Device, spec: &BufferSpec) -> Result<BufferId, DeviceError> {
        let id = alloc(device, spec.bytes())?;
        self.owned.push(id);
        if spec.role == Role::Zeroed {
            device.write(id, 0, &vec![0; spec.bytes()])?;
        }
        Ok(id)
    }

    /// Overwrites outputs and intermediate results with a pattern that no right result has.
    pub(super) fn poison(&self, device: &mut dyn Device, plan: &Plan) -> Result<(), DeviceError> {
        for (spec, &id) in plan.buffers.iter().zip(&self.ids) {
            if matches!(spec.role, Role::Output | Role::Scratch) {
                device.write(id, 0, &check::poison(spec.dtype).repeat(spec.len))?;
            }
        }
        Ok(())
    }

    /// Reads the output back.
    pub(super) fn output(&self, device: &mut dyn Device, plan: &Plan) -> Result<Array, DeviceError> {
        let Some(index) = plan.output() else { return Ok(Array::I32(Vec::new())) };
        let spec = &plan.buffers[index];
        let mut array = Array::zeros(spec.dtype, spec.len);
        device.read(self.ids[index], 0, array.as_bytes_mut())?;
        Ok(array)
    }

    /// What was written behind the end of a buffer, if anything.
    pub(super) fn overrun(&self, device: &mut dyn Device, plan: &Plan) -> Result<Option<String>, DeviceError> {
        let guard = guard_bytes(device);
        for (index, (spec, &id)) in plan.buffers.iter().zip(&self.ids).enumerate() {
            if guard == 0 || matches!(spec.role, Role::Image { .. }) {
                continue;
            }
            let mut zone = vec![0; guard];
            device.read(id, spec.bytes(), &mut zone)?;
            if let Err(what) = check::check_guard(&zone) {
                return Ok(Some(format!("writes past the end of buffer {index} ({:?}): {what}", spec.role)));
            }
        }
        Ok(None)
    }

    /// The plan's launches with these buffers as arguments.
    pub(super) fn launches(&self, plan: &Plan) -> Vec<Launch> {
        let bind = |arg: &Arg| match *arg {
            Arg::Buffer(index) => Arg::Buffer(self.ids[index].0 as usize),
            other => other,
        };
        let launch = |pass: &crate::kernels::Pass| Launch {
            kernel: pass.kernel.clone(),
            global: pass.global,
            local: pass.local,
            args: pass.args.iter().map(bind).collect(),
        };
        plan.passes.iter().map(launch).collect()
    }

    /// Gives the buffers back.
    pub(super) fn free(self, device: &mut dyn Device) {
        self.owned.iter().for_each(|&id| device.free(id));
    }
}

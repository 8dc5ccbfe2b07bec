//! A slow kernel that says what is right: one work-item, so that no work-item can get in another's way.

use crate::device::opencl::OpenClDevice;
use crate::device::{BuildUnit, Device, DeviceError, list_platforms, select};
use gpulab_kernels::signature::{CSource, ValueType};
use gpulab_kernels::{
    Description, FamilyFile, OracleBuffer, OracleQuestion, assemble, reference_kernel, type_defines, used_defines,
};
use gpulab_model::data::{Array, Dtype, NumberValue};
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{Arg, ArgValue, BufferId, BufferSpec, Image, Launch, Plan, Role};
use std::borrow::Cow;

/// The device that runs it: the first CPU, else the one that is asked for.
pub(super) fn device(asked: Option<&str>) -> Result<DeviceInfo, String> {
    let platforms = list_platforms().map_err(|error| error.to_string())?;
    let cpu = platforms.iter().flat_map(|platform| &platform.devices).find(|info| info.kind == "cpu");
    match cpu {
        Some(info) => Ok(info.clone()),
        None => select::select(&platforms, asked).cloned().map_err(|error| error.to_string()),
    }
}

/// Runs the kernel over the question's buffers: these, in their order, and the sizes are its arguments. Outputs hold zeros.
pub(super) fn answer(
    file: &FamilyFile,
    description: &Description,
    name: &str,
    asked: Option<&str>,
    question: &OracleQuestion<'_>,
) -> Result<Vec<Array>, String> {
    let (kernel, text) = reference_kernel(file, name)?;
    let info = device(asked)?;
    let text = assemble(name, &|path| (path == name).then_some(Cow::Borrowed(text)))
        .map_err(|missing| format!("{name}: there is no {missing}"))?;
    let longest = question.buffers.iter().map(|buffer| buffer.len as u64).max().unwrap_or(0);
    let elements = longest.max(question.case.shape.elements());
    let mut defines = type_defines(question.case.dtype, elements);
    defines.extend(description.reference_constants());
    let unit = BuildUnit {
        path: name.to_owned(),
        defines: used_defines(&defines, &text.text),
        text: text.text,
        kernels: vec![kernel.clone()],
    };
    let parameters = CSource::new(&unit.text, &defines).parameters(&kernel).unwrap_or_default();
    let types = parameters.into_iter().skip(question.buffers.len()).map(|parameter| parameter.value_type);
    let size = |(size, of): (u64, Option<ValueType>)| match of {
        Some(ValueType::Number(scalar, 1)) => {
            ArgValue::of(scalar, NumberValue::Whole(size.into())).map_or(Arg::Index(size), Arg::Value)
        }
        _ => Arg::Index(size),
    };
    let sizes = description.reference_sizes(question.case.shape);
    let sizes: Vec<Arg<BufferId>> = sizes.into_iter().zip(types.chain(std::iter::repeat(None))).map(size).collect();
    let held: Vec<HeldBuffer<'_>> = question.buffers.iter().map(HeldBuffer::from).collect();
    run(&info, &unit, &held, |buffers| {
        let args = buffers.iter().map(|buffer| Arg::Buffer(*buffer)).chain(sizes).collect();
        vec![Launch::linear(&kernel, 1, 1, args)]
    })
    .map_err(|error| format!("the reference {name} on {}: {error}", info.name))
}

/// Runs the launches of another rung.
pub(super) fn answer_of_rung(
    text: &str,
    plan: &Plan,
    asked: Option<&str>,
    question: &OracleQuestion<'_>,
) -> Result<Vec<Array>, String> {
    let info = device(asked)?;
    let mut kernels: Vec<String> = plan.passes.iter().map(|pass| pass.kernel.clone()).collect();
    kernels.sort();
    kernels.dedup();
    let unit = BuildUnit {
        path: "reference.cl".into(),
        defines: used_defines(&plan.defines, text),
        text: text.to_owned(),
        kernels,
    };
    let inputs: Vec<&Array> = question.buffers.iter().filter_map(|buffer| buffer.input).collect();
    let held = |spec: &BufferSpec| HeldBuffer {
        dtype: spec.dtype,
        len: spec.len,
        content: if let Role::Input(index) = spec.role { inputs.get(index).copied() } else { None },
        is_output: spec.role == Role::Output,
        image: if let Role::Image { of, image } = spec.role { Some((of, image)) } else { None },
    };
    let held: Vec<HeldBuffer<'_>> = plan.buffers.iter().map(held).collect();
    run(&info, &unit, &held, |buffers| plan.passes.iter().map(|pass| pass.bound(|index| buffers[index])).collect())
        .map_err(|error| format!("the rung that says what is right, on {}: {error}", info.name))
}

struct HeldBuffer<'a> {
    dtype: Dtype,
    len: usize,
    /// Zeros where there is none.
    content: Option<&'a Array>,
    is_output: bool,
    /// Of the buffer of this number, if it is an image.
    image: Option<(usize, Image)>,
}

impl<'a> From<&OracleBuffer<'a>> for HeldBuffer<'a> {
    fn from(known: &OracleBuffer<'a>) -> HeldBuffer<'a> {
        HeldBuffer { dtype: known.dtype, len: known.len, content: known.input, is_output: known.is_output, image: None }
    }
}

/// Carries out launches over these buffers, and reads the outputs back.
fn run(
    info: &DeviceInfo,
    unit: &BuildUnit,
    held: &[HeldBuffer<'_>],
    launches: impl FnOnce(&[BufferId]) -> Vec<Launch>,
) -> Result<Vec<Array>, DeviceError> {
    let mut device = OpenClDevice::open(info)?;
    let program = device.build(unit)?;
    let mut buffers: Vec<BufferId> = Vec::new();
    for HeldBuffer { dtype, len, content, image, .. } in held {
        if let Some((of, image)) = image {
            buffers.push(device.image(buffers[*of], *image)?);
            continue;
        }
        let buffer = device.alloc(len * dtype.size())?;
        let zeros = Array::zeros(*dtype, if content.is_some() { 0 } else { *len });
        device.write(buffer, 0, content.unwrap_or(&zeros).as_bytes())?;
        buffers.push(buffer);
    }
    device.run(program, &launches(&buffers))?;
    let mut answers = Vec::new();
    for (known, buffer) in held.iter().zip(&buffers).filter(|(known, _)| known.is_output) {
        let mut answer = Array::zeros(known.dtype, known.len);
        device.read(*buffer, 0, answer.as_bytes_mut())?;
        answers.push(answer);
    }
    Ok(answers)
}

//! A slow kernel that says what is right: one work-item, so that no work-item can get in another's way.

use crate::device::opencl::OpenClDevice;
use crate::device::{BuildUnit, Device, DeviceError, list_platforms, select};
use gpulab_kernels::{Description, FamilyFile, OracleQuestion, assemble, reference_kernel};
use gpulab_model::data::Array;
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{Arg, BufferId, Launch};
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

/// Runs the kernel over the question's inputs: inputs, output and sizes are its arguments.
pub(super) fn answer(
    file: &FamilyFile,
    description: &Description,
    name: &str,
    asked: Option<&str>,
    question: &OracleQuestion<'_>,
) -> Result<Array, String> {
    let (kernel, text) = reference_kernel(file, name)?;
    let info = device(asked)?;
    let text = assemble(name, &|path| (path == name).then_some(Cow::Borrowed(text)))
        .map_err(|missing| format!("{name}: there is no {missing}"))?;
    let unit = BuildUnit {
        path: name.to_owned(),
        text: text.text,
        defines: description.reference_defines(question),
        kernels: vec![kernel.clone()],
    };
    let sizes = description.reference_sizes(question.case.shape);
    run(&info, &unit, &kernel, &sizes, question)
        .map_err(|error| format!("the reference {name} on {}: {error}", info.name))
}

fn run(
    info: &DeviceInfo,
    unit: &BuildUnit,
    kernel: &str,
    sizes: &[u64],
    question: &OracleQuestion<'_>,
) -> Result<Array, DeviceError> {
    let mut device = OpenClDevice::open(info)?;
    let program = device.build(unit)?;
    let mut answer = Array::zeros(question.case.dtype, question.len);
    let mut buffers: Vec<BufferId> = Vec::new();
    for array in question.inputs.iter().chain([&answer]) {
        let buffer = device.alloc(array.as_bytes().len())?;
        device.write(buffer, 0, array.as_bytes())?;
        buffers.push(buffer);
    }
    let sizes = sizes.iter().map(|size| Arg::Index(*size));
    let args = buffers.iter().map(|buffer| Arg::Buffer(*buffer)).chain(sizes).collect();
    device.run(program, &[Launch { kernel: kernel.to_owned(), global: [1; 3], local: [1; 3], args }])?;
    if let Some(output) = buffers.last() {
        device.read(*output, 0, answer.as_bytes_mut())?;
    }
    buffers.into_iter().for_each(|buffer| device.free(buffer));
    Ok(answer)
}

//! A slow kernel that says what is right: one work-item, so that no work-item can get in another's way.

use crate::device::opencl::OpenClDevice;
use crate::device::{BuildUnit, Device, DeviceError, list_platforms, select};
use gpulab_kernels::signature::{CSource, ValueType};
use gpulab_kernels::{Description, FamilyFile, OracleQuestion, assemble, reference_kernel, type_defines, used_defines};
use gpulab_model::data::{Array, NumberValue, Scalar};
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{Arg, ArgValue, BufferId, Launch, Pass, Plan, Role};
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
    let sizes = description.reference_sizes(question.case.shape);
    let wants = |number: usize| {
        let source = CSource::new(&unit.text, &defines);
        source.parameters(&kernel)?.into_iter().nth(number)?.value_type
    };
    let first = question.buffers.len();
    let sizes: Vec<Arg<BufferId>> = sizes
        .iter()
        .enumerate()
        .map(|(at, size)| match wants(first + at) {
            Some(ValueType::Number(scalar, 1)) => by_value(scalar, *size),
            _ => Arg::Index(*size),
        })
        .collect();
    run(&info, question, |device, buffers| {
        let program = device.build(&unit)?;
        let args = buffers.iter().map(|buffer| Arg::Buffer(*buffer)).chain(sizes).collect();
        device.run(program, &[Launch { kernel: kernel.clone(), global: [1; 3], local: [1; 3], args }]).map(drop)
    })
    .map_err(|error| format!("the reference {name} on {}: {error}", info.name))
}

fn by_value(scalar: Scalar, size: u64) -> Arg<BufferId> {
    let bytes = scalar.bytes(NumberValue::Whole(size.into()));
    bytes.and_then(|bytes| ArgValue::new(&bytes)).map_or(Arg::Index(size), Arg::Value)
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
    let go = || -> Result<Vec<Array>, DeviceError> {
        let mut device = OpenClDevice::open(&info)?;
        let program = device.build(&unit)?;
        let inputs: Vec<&Array> = question.buffers.iter().filter_map(|buffer| buffer.input).collect();
        let mut buffers = Vec::new();
        for spec in &plan.buffers {
            let buffer = device.alloc(spec.bytes())?;
            match spec.role {
                Role::Input(index) => device.write(buffer, 0, inputs[index].as_bytes())?,
                _ => device.write(buffer, 0, &vec![0; spec.bytes()])?,
            }
            buffers.push(buffer);
        }
        let launch = |pass: &Pass| Launch {
            kernel: pass.kernel.clone(),
            global: pass.global,
            local: pass.local,
            args: pass.args.iter().map(|arg| arg.bound(|index| buffers[index])).collect(),
        };
        device.run(program, &plan.passes.iter().map(launch).collect::<Vec<_>>())?;
        let mut answers = Vec::new();
        for index in plan.outputs() {
            let spec = &plan.buffers[index];
            let mut answer = Array::zeros(spec.dtype, spec.len);
            device.read(buffers[index], 0, answer.as_bytes_mut())?;
            answers.push(answer);
        }
        buffers.into_iter().for_each(|buffer| device.free(buffer));
        Ok(answers)
    };
    go().map_err(|error| format!("the rung that says what is right, on {}: {error}", info.name))
}

/// Has a buffer for each of the question's while `go` runs, and reads the outputs back.
fn run(
    info: &DeviceInfo,
    question: &OracleQuestion<'_>,
    go: impl FnOnce(&mut OpenClDevice, &[BufferId]) -> Result<(), DeviceError>,
) -> Result<Vec<Array>, DeviceError> {
    let mut device = OpenClDevice::open(info)?;
    let mut buffers: Vec<BufferId> = Vec::new();
    for known in &question.buffers {
        let zeros = Array::zeros(known.dtype, known.len);
        let content = known.input.unwrap_or(&zeros);
        let buffer = device.alloc(content.as_bytes().len())?;
        device.write(buffer, 0, content.as_bytes())?;
        buffers.push(buffer);
    }
    go(&mut device, &buffers)?;
    let mut answers = Vec::new();
    for (known, buffer) in question.buffers.iter().zip(&buffers).filter(|(known, _)| known.is_output) {
        let mut answer = Array::zeros(known.dtype, known.len);
        device.read(*buffer, 0, answer.as_bytes_mut())?;
        answers.push(answer);
    }
    buffers.into_iter().for_each(|buffer| device.free(buffer));
    Ok(answers)
}

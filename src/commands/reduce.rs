//! `gpulab reduce`: the reduction's ladder.

use super::ladder::{self, LadderRun};
use crate::cli::{Global, ReduceArgs};
use crate::console::note;
use crate::cpu::reduce::Op;
use crate::data::{Array, Dtype, Shape};
use crate::kernels::{self, Form};
use crate::{Result, brought, input, usage_error};

pub fn run(global: &Global, options: &ReduceArgs) -> Result<()> {
    // The option takes no other names.
    let op = Op::of(&options.tunables.params).unwrap_or_default();
    let n = options
        .n
        .unwrap_or_else(|| options.ladder.default_size(Form::Vector));
    let shape = Shape::vector(n);
    let params = &options.tunables.params;
    let mut study = LadderRun::new(
        &kernels::reduce::FAMILY,
        shape,
        options.ladder.dtype,
        params,
    );
    if let Some(file) = &options.input {
        let file = brought::located_input(file)?;
        let (n, dtype) = look_at(&file, study.dtype, op)?;
        study.inputs = vec![file];
        (study.shape, study.dtype) = (Shape::vector(n), Some(dtype));
    }
    match study.dtype {
        Some(dtype) if dtype.is_float() && op.is_bitwise() => usage_error(format!(
            "--op {} needs an integer type: choose --dtype i32 or i64",
            op.name()
        )),
        _ => ladder::run(global, &options.ladder, &study, &mut Vec::new()),
    }
}

/// Reads the file once to find what is wrong with it before anything starts; the worker reads it again.
pub fn look_at(file: &str, dtype: Option<Dtype>, op: Op) -> Result<(u64, Dtype)> {
    let data = input::read(file, dtype)?;
    match nan(&data) {
        Some(nan) if matches!(op, Op::Min | Op::Max) => {
            return usage_error(format!("{file}: {nan}: min and max are undefined for it"));
        }
        // Said with --quiet, too: no sum over such a file shows whether a kernel is right.
        Some(nan) => note(&format!(
            "{file}: {nan}: the result is NaN even of a kernel that leaves out other numbers; remove NaN from the file to \
             see the sum of the others"
        )),
        None => {}
    }
    Ok((data.len() as u64, data.dtype()))
}

/// Which elements are NaN, if any.
fn nan(data: &Array) -> Option<String> {
    let numbers = data.widened();
    let mut nan = numbers.iter().enumerate().filter(|(_, x)| x.is_nan());
    let (first, _) = nan.next()?;
    Some(format!(
        "NaN in {} of {} elements, first in element {first}",
        1 + nan.count(),
        data.len()
    ))
}

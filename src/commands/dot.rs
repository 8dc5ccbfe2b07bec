//! `gpulab dot`: the dot product's ladder.

use super::ladder::{self, LadderRun};
use super::reduce;
use crate::cli::{DotArgs, Global};
use crate::cpu::reduce::Op;
use crate::data::{Dtype, Shape};
use crate::kernels::{self, Form};
use crate::{Result, brought, report, usage_error};

pub fn run(global: &Global, options: &DotArgs) -> Result<()> {
    if let (Some(_), Some(dtype)) = (&options.source, options.ladder.dtype)
        && !dtype.is_float()
    {
        return usage_error(format!(
            "--as compares with a CPU loop in double: use --dtype f32 or f64, not {dtype}"
        ));
    }
    let mut params = options.tunables.params.clone();
    let mut usual = options.ladder.default_size(Form::Vector);
    let is_source = options.source.is_some();
    if is_source {
        usual = CMSOFT_N;
        // The source's settings where none are given.
        for (name, value) in kernels::dot::CMSOFT {
            params
                .entry(name.to_owned())
                .or_insert_with(|| value.to_owned());
        }
    }
    let shape = Shape::vector(options.n.unwrap_or(usual));
    let mut study = LadderRun::new(&kernels::dot::FAMILY, shape, options.ladder.dtype, &params);
    if is_source {
        study.variants = Some("1-3");
        study.claim = Some(Box::new(|rows, _| report::source::cmsoft(rows)));
    }
    if let Some(first) = &options.input {
        let second = options.input2.as_ref().unwrap_or(first);
        study.inputs = vec![
            brought::located_input(first)?,
            brought::located_input(second)?,
        ];
        let (n, dtype) = look_at(&study.inputs, study.dtype)?;
        (study.shape, study.dtype) = (Shape::vector(n), Some(dtype));
        if options.input2.is_none() {
            global.say(&format!("one input: {first} is multiplied by itself"));
        }
    }
    ladder::run(global, &options.ladder, &study, &mut Vec::new())
}

/// Elements near which the CMSoft article makes its claim.
const CMSOFT_N: u64 = 1_000_000;

/// Reads the files once to find what is wrong with them before anything starts; the worker reads them again.
fn look_at(files: &[String], dtype: Option<Dtype>) -> Result<(u64, Dtype)> {
    let (n, dtype) = reduce::look_at(&files[0], dtype, Op::Sum)?;
    for file in files[1..].iter().filter(|file| **file != files[0]) {
        let (other, _) = reduce::look_at(file, Some(dtype), Op::Sum)?;
        if other != n {
            return usage_error(format!(
                "{} has {n} elements and {file} has {other}: a dot product needs vectors of equal length",
                files[0]
            ));
        }
    }
    Ok((n, dtype))
}

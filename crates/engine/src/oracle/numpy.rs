//! Lines of Python with NumPy that say what is right, run by the Python that the command line has.

use super::program::{self, unwritable};
use gpulab_kernels::{Description, OracleBuffer, OracleQuestion};
use gpulab_model::data::{Array, Layout, Scalar};
use gpulab_system::files::ScratchFolder;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What reads the arrays, runs the lines and writes the results.
const DRIVER: &str = include_str!("numpy.py");

/// Runs the lines over the question's inputs, in the file's folder. Floats are widened to f64 before, and integers to i64.
pub(super) fn answer(
    folder: &Path,
    code: &str,
    seconds: u64,
    description: &Description,
    question: &OracleQuestion<'_>,
) -> Result<Vec<Array>, String> {
    let scratch = ScratchFolder::new().map_err(unwritable)?;
    let path = |name: &str| scratch.path().join(name);
    let mut sizes = serde_json::Map::new();
    sizes.insert("n".into(), question.case.shape.n.into());
    sizes.insert("m".into(), question.case.shape.m.into());
    let names = description.reference_names(question.case.shape, question.case.dtype);
    sizes.extend(names.into_iter().map(|(name, value)| (name, value.into())));
    let mut buffers = Vec::new();
    for (number, buffer) in question.buffers.iter().enumerate() {
        let file = |way: &str| path(&format!("{number}.{way}")).display().to_string();
        let input = match buffer.input {
            Some(array) => {
                fs::write(file("in"), array.as_bytes()).map_err(unwritable)?;
                Value::from(file("in"))
            }
            None => Value::Null,
        };
        let bytes = buffer.len * buffer.dtype.size();
        buffers.push(json!({
            "name": buffer.name,
            "dtype": numpy_type(&buffer.layout),
            "lanes": buffer.lanes,
            "count": bytes / buffer.layout.size.max(1),
            "input": input,
            "output": if buffer.is_output { Value::from(file("out")) } else { Value::Null },
        }));
    }
    let asked = json!({ "sizes": sizes, "buffers": buffers, "code": code });
    fs::write(path("driver.py"), DRIVER).map_err(unwritable)?;
    fs::write(path("question.json"), asked.to_string()).map_err(unwritable)?;
    let mut command = Command::new("python3");
    command.arg(path("driver.py")).arg(path("question.json")).current_dir(folder);
    program::run(command, "numpy", seconds)?;
    let read = |(number, buffer): (usize, &OracleBuffer<'_>)| {
        let bytes =
            fs::read(path(&format!("{number}.out"))).map_err(|error| format!("the reference's result: {error}"))?;
        let mut array = Array::zeros(buffer.dtype, buffer.len);
        if bytes.len() != array.as_bytes().len() {
            return Err(format!("the reference wrote {} bytes of {}", bytes.len(), buffer.name));
        }
        array.as_bytes_mut().copy_from_slice(&bytes);
        Ok(array)
    };
    question.buffers.iter().enumerate().filter(|(_, buffer)| buffer.is_output).map(read).collect()
}

/// What NumPy calls elements: `<f4`, or the fields of a struct at their places.
fn numpy_type(layout: &Layout) -> Value {
    let name = |scalar: Scalar| {
        let kind = if scalar.is_float() {
            'f'
        } else if scalar.name().starts_with('u') {
            'u'
        } else {
            'i'
        };
        format!("<{kind}{}", scalar.size())
    };
    match layout.scalar() {
        Some(scalar) => name(scalar).into(),
        None => json!({
            "names": layout.fields.iter().map(|field| &field.name).collect::<Vec<_>>(),
            "formats": layout.fields.iter().map(|field| name(field.scalar)).collect::<Vec<_>>(),
            "offsets": layout.fields.iter().map(|field| field.at).collect::<Vec<_>>(),
            "itemsize": layout.size,
        }),
    }
}

//! What is right in families that readers describe: the word of a program of theirs, or of a slow kernel.
//!
//! Both are asked anew for each set of inputs; answers are kept for rungs that are checked over the same.

mod kernel;
mod numpy;
mod program;

use crate::input;
use crate::runner::exactly;
use gpulab_kernels::{
    Checker, DeclarationError, Description, Family, FamilyFile, Oracle, OracleFile, OracleQuestion, Registry, built_in,
    rung_text,
};
use gpulab_model::Error;
use gpulab_model::check::fingerprint;
use gpulab_model::data::{Array, Dtype, Layout, Scalar};
use gpulab_model::plan::{Case, Reference};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of answers that are kept: those of edge sizes are small, and those of a ladder's own size few.
const MOST_KEPT: usize = 512 << 20;

/// Makes a family of a reader's file. A reference kernel is run on a CPU device if there is one, else on the one that
/// `device` names.
pub fn declare<'a>(registry: &'a mut Registry, file: &FamilyFile, device: Option<&str>) -> Result<&'a Family, Error> {
    let wrong = |error: DeclarationError| Error::Usage(format!("{error}"));
    let description = Description::parse(&file.text, &file.name).map_err(wrong)?;
    let asked = AskedOracle {
        file: file.clone(),
        description,
        device: device.map(str::to_owned),
        answers: Mutex::default(),
        python: Mutex::default(),
        files: Mutex::default(),
    };
    registry.declare(file, Box::new(asked)).map_err(wrong)
}

/// The elements of a file, or why there are none.
type ReadFile = Result<Arc<OracleFile>, String>;

/// An oracle that asks a reader's program or kernel.
struct AskedOracle {
    file: FamilyFile,
    description: Description,
    device: Option<String>,
    /// By what was asked, newest last.
    answers: Mutex<Vec<(u128, Vec<Array>)>>,
    /// What runs lines for numpy, once it was asked.
    python: Mutex<Option<numpy::Python>>,
    files: Mutex<BTreeMap<(String, Dtype, usize), ReadFile>>,
}

impl AskedOracle {
    fn ask(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
        match self.description.checker() {
            Checker::Numpy { code, seconds } => {
                let mut python = self.python.lock().unwrap_or_else(PoisonError::into_inner);
                numpy::answer(&mut python, &self.file.folder, code, *seconds, &self.description, question)
            }
            Checker::Rung { name } => {
                let plan = question.plan.as_ref().ok_or("the rung that says what is right has no launches")?;
                let text =
                    rung_text(&self.description, name, &self.file).ok_or_else(|| format!("there is no rung {name}"))?;
                kernel::answer_of_rung(&text, plan, self.device.as_deref(), question)
            }
            Checker::Program { command, format, seconds } => {
                let program = program::ReferenceProgram {
                    folder: &self.file.folder,
                    command,
                    format: *format,
                    seconds: *seconds,
                };
                program.answer(question)
            }
            Checker::Family { name } => answer_of_family(name, question),
            Checker::Kernel { file } => {
                kernel::answer(&self.file, &self.description, file, self.device.as_deref(), question)
            }
        }
    }

    fn known(&self, key: u128) -> Option<Vec<Array>> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(known, _)| *known == key).map(|(_, answer)| answer.clone())
    }

    fn keep(&self, key: u128, answer: &[Array]) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push((key, answer.to_vec()));
        let bytes = |answers: &Vec<(u128, Vec<Array>)>| {
            answers.iter().flat_map(|(_, all)| all).map(|answer| answer.as_bytes().len()).sum::<usize>()
        };
        while bytes(&answers) > MOST_KEPT {
            answers.remove(0);
        }
    }
}

/// What one of gpulab's families says of the same inputs.
fn answer_of_family(name: &str, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
    let family = built_in(name).ok_or_else(|| format!("there is no family {name}"))?;
    let asked = question.case;
    let case = Case { seed: asked.seed, ..Case::of(name, "", asked.dtype, asked.shape) };
    let inputs: Vec<Array> = question.buffers.iter().filter_map(|buffer| buffer.input).cloned().collect();
    let lens = family.problem.inputs(case.shape, &case.params);
    let fits = family.dtypes.contains(&case.dtype)
        && inputs.len() == lens.len()
        && inputs
            .iter()
            .zip(&lens)
            .all(|(input, len): (&Array, &usize)| (input.dtype(), input.len()) == (case.dtype, *len));
    if !fits {
        let lens: Vec<String> = lens.iter().map(usize::to_string).collect();
        return Err(format!(
            "{name} of {} has inputs of {} elements, and these are others",
            case.dtype,
            lens.join(" and ")
        ));
    }
    match exactly(family.problem.reference(&case, &inputs), case.dtype) {
        Reference::Exact(result) => Ok(vec![result]),
        _ => Err(format!("{name} gives no answer for these inputs")),
    }
}

fn key(question: &OracleQuestion<'_>) -> u128 {
    let case = question.case;
    let mut words = vec![u128::from(case.shape.n), u128::from(case.shape.m), case.dtype as u128];
    words.extend(question.buffers.iter().filter_map(|buffer| buffer.input).map(|input| fingerprint(input.as_bytes())));
    fingerprint(bytemuck::cast_slice(&words))
}

impl Oracle for AskedOracle {
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
        let key = key(question);
        if let Some(known) = self.known(key) {
            return Ok(known);
        }
        let answer = self.ask(question)?;
        self.keep(key, &answer);
        Ok(answer)
    }

    fn file(&self, name: &str, dtype: Dtype, layout: &Layout, channels: usize) -> Result<Arc<OracleFile>, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files
            .entry((name.to_owned(), dtype, channels))
            .or_insert_with(|| {
                let path = self.file.folder.join(name).to_string_lossy().into_owned();
                let is_plain = dtype != Dtype::U8 || layout.scalar() == Some(Scalar::U8);
                if path.to_lowercase().ends_with(".png") {
                    let picture = input::picture(&path, layout, channels).map_err(|error| error.to_string());
                    return picture.map(|(elements, width)| Arc::new(OracleFile { elements, width: Some(width) }));
                }
                let read = if is_plain { input::read(&path, Some(dtype)) } else { input::read_bytes(&path, layout) };
                read.map(|elements| Arc::new(OracleFile { elements, width: None })).map_err(|error| error.to_string())
            })
            .clone()
    }

    fn describe(&self) -> String {
        match self.description.checker() {
            Checker::Program { command, .. } => {
                format!("the program {}, which runs with your rights", command.join(" "))
            }
            Checker::Numpy { .. } => "the file's lines for numpy, which run with your rights".into(),
            Checker::Rung { name } => format!("the rung {name}"),
            Checker::Family { name } => format!("the CPU's result of {name}"),
            Checker::Kernel { file } => match kernel::device(self.device.as_deref()) {
                Ok(info) => format!("{file}, one work-item on {}", info.name),
                Err(why) => format!("{file}: {why}"),
            },
        }
    }
}

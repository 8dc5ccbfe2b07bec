//! What is right in families that readers describe: the word of a program of theirs, or of a slow kernel.
//!
//! Both are asked anew for each set of inputs; answers are kept for rungs that are checked over the same.

mod kernel;
mod program;

use crate::input;
use gpulab_kernels::{Checker, DeclarationError, Description, Family, FamilyFile, Oracle, OracleQuestion, Registry};
use gpulab_model::Error;
use gpulab_model::check::fingerprint;
use gpulab_model::data::{Array, Dtype};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Most bytes of answers that are kept: those of edge sizes are small, and that of a ladder's own size is kept elsewhere.
const MOST_KEPT: usize = 64 << 20;

/// Makes a family of a reader's file. A reference kernel is run on a CPU device if there is one, else on the one that
/// `device` names.
///
/// # Errors
/// [`Error::Usage`] for what the file says wrong.
pub fn declare<'a>(registry: &'a mut Registry, file: &FamilyFile, device: Option<&str>) -> Result<&'a Family, Error> {
    let wrong = |error: DeclarationError| Error::Usage(format!("{error}"));
    let description = Description::parse(&file.text).map_err(wrong)?;
    let checker = description.checker().map_err(Error::Usage)?;
    let asked = AskedOracle {
        file: file.clone(),
        description,
        checker,
        device: device.map(str::to_owned),
        answers: Mutex::default(),
        files: Mutex::default(),
    };
    registry.declare(file, Box::new(asked)).map_err(wrong)
}

/// The elements of a file, or why there are none.
type ReadFile = Result<Arc<Array>, String>;

/// An oracle that asks a reader's program or kernel.
struct AskedOracle {
    file: FamilyFile,
    description: Description,
    checker: Checker,
    device: Option<String>,
    /// By what was asked, newest last.
    answers: Mutex<Vec<(u128, Array)>>,
    files: Mutex<BTreeMap<(String, Dtype), ReadFile>>,
}

impl AskedOracle {
    fn ask(&self, question: &OracleQuestion<'_>) -> Result<Array, String> {
        match &self.checker {
            Checker::Program { command, format, seconds } => {
                let program = program::ReferenceProgram {
                    folder: &self.file.folder,
                    command,
                    format: *format,
                    seconds: *seconds,
                };
                program.answer(question)
            }
            Checker::Kernel { file } => {
                kernel::answer(&self.file, &self.description, file, self.device.as_deref(), question)
            }
        }
    }

    fn known(&self, key: u128) -> Option<Array> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().find(|(known, _)| *known == key).map(|(_, answer)| answer.clone())
    }

    /// Keeps an answer, in place of the oldest ones.
    fn keep(&self, key: u128, answer: &Array) {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.push((key, answer.clone()));
        let bytes = |answers: &Vec<(u128, Array)>| answers.iter().map(|(_, a)| a.as_bytes().len()).sum::<usize>();
        while bytes(&answers) > MOST_KEPT {
            answers.remove(0);
        }
    }
}

/// What tells a question from others.
fn key(question: &OracleQuestion<'_>) -> u128 {
    let case = question.case;
    let mut words = vec![u128::from(case.shape.n), u128::from(case.shape.m), case.dtype as u128];
    words.extend(question.inputs.iter().map(|input| fingerprint(input.as_bytes())));
    fingerprint(bytemuck::cast_slice(&words))
}

impl Oracle for AskedOracle {
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Array, String> {
        let key = key(question);
        if let Some(known) = self.known(key) {
            return Ok(known);
        }
        let answer = self.ask(question)?;
        self.keep(key, &answer);
        Ok(answer)
    }

    fn file(&self, name: &str, dtype: Dtype) -> Result<Arc<Array>, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let path = self.file.folder.join(name).to_string_lossy().into_owned();
            input::read(&path, Some(dtype)).map(Arc::new).map_err(|error| error.to_string())
        };
        files.entry((name.to_owned(), dtype)).or_insert_with(read).clone()
    }

    fn describe(&self) -> String {
        match &self.checker {
            Checker::Program { command, .. } => format!("the program {}", command.join(" ")),
            Checker::Kernel { file } => match kernel::device(self.device.as_deref()) {
                Ok(info) => format!("{file}, one work-item on {}", info.name),
                Err(why) => format!("{file}: {why}"),
            },
        }
    }
}

//! Lines of Python with NumPy that say what is right, run by the Python that the command line has: one process for all questions.

use super::program::{ended, late, listen, unstarted, unwritable};
use gpulab_kernels::{Description, OracleBuffer, OracleQuestion};
use gpulab_model::data::{Array, Layout, Scalar};
use gpulab_system::files::ScratchFolder;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

/// What reads the arrays, runs the lines and writes the results.
const DRIVER: &str = include_str!("numpy.py");

/// A Python process that answers one question after the other. It ends by itself when nobody can ask any more.
pub(super) struct Python {
    child: Child,
    questions: ChildStdin,
    /// A line for each question: null, or why there is no answer.
    answers: Receiver<String>,
    last_words: Receiver<String>,
}

impl Python {
    fn start(folder: &Path) -> Result<Python, String> {
        let mut command = Command::new("python3");
        command.args(["-c", DRIVER]).current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let unstarted = |error| unstarted("numpy", error);
        let mut child = command.spawn().map_err(unstarted)?;
        let (questions, out) = child
            .stdin
            .take()
            .zip(child.stdout.take())
            .ok_or_else(|| "cannot start the reference numpy: it has no pipes".to_owned())?;
        let last_words = listen(&mut child).map_err(unstarted)?;
        let (sender, answers) = mpsc::channel();
        std::thread::Builder::new()
            .spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| sender.send(line)))
            .map_err(unstarted)?;
        Ok(Python { child, questions, answers, last_words })
    }

    /// Has the question in this file answered.
    /// The error also says whether the process can go on.
    fn ask(&mut self, question: &Path, seconds: u64) -> Result<(), (String, bool)> {
        // One that has ended is found out below.
        let _ = writeln!(self.questions, "{}", question.display());
        match self.answers.recv_timeout(Duration::from_secs(seconds)) {
            Ok(line) => match serde_json::from_str::<Option<String>>(&line) {
                Ok(None) => Ok(()),
                Ok(Some(why)) => Err((format!("the reference numpy has no answer: {why}"), true)),
                Err(error) => Err((format!("the reference numpy said {line:?}: {error}"), false)),
            },
            Err(RecvTimeoutError::Timeout) => Err((late(seconds), false)),
            Err(RecvTimeoutError::Disconnected) => Err((ended("numpy", &mut self.child, &self.last_words), false)),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the lines over the question's inputs, in the file's folder, by a process that is started if there is none. Floats are
/// widened to f64 before, and integers to i64.
pub(super) fn answer(
    python: &mut Option<Python>,
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
            "share": buffer.is_share,
            "count": bytes / buffer.layout.size.max(1),
            "input": input,
            "output": if buffer.is_output { Value::from(file("out")) } else { Value::Null },
        }));
    }
    let asked = json!({ "sizes": sizes, "buffers": buffers, "code": code });
    fs::write(path("question.json"), asked.to_string()).map_err(unwritable)?;
    let process = match python {
        Some(process) => process,
        None => python.insert(Python::start(folder)?),
    };
    process.ask(&path("question.json"), seconds).map_err(|(why, goes_on)| {
        if !goes_on {
            *python = None;
        }
        why
    })?;
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ask(python: &mut Python, folder: &Path, code: &str) -> Result<(), (String, bool)> {
        let question = folder.join("question.json");
        let text = json!({ "sizes": {}, "buffers": [], "code": code }).to_string();
        fs::write(&question, text).map_err(|error| (error.to_string(), false))?;
        python.ask(&question, 5)
    }

    #[test]
    fn one_process_answers_all_questions_and_is_gone_with_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let mut python = Python::start(folder.path()).unwrap();
        let note = |name: &str| format!("import os; open({name:?}, 'w').write(str(os.getpid())); print('talk')");
        ask(&mut python, folder.path(), &note("first")).unwrap();
        let (why, goes_on) = ask(&mut python, folder.path(), "x = 1\ny = x / 0").unwrap_err();
        assert!(goes_on && why.contains("ZeroDivisionError") && why.contains("in its line 2, `y = x / 0`"), "{why}");
        let (why, goes_on) = ask(&mut python, folder.path(), "y = x").unwrap_err();
        assert!(goes_on && why.contains("name 'x' is not defined"), "nothing is left of the question before: {why}");
        let (why, goes_on) = ask(&mut python, folder.path(), "import sys; sys.exit(input())").unwrap_err();
        assert!(goes_on && why.contains("EOF"), "no question can be read by the lines: {why}");
        ask(&mut python, folder.path(), &note("second")).unwrap();
        let of = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(of("first"), of("second"));
        drop(python);
        assert!(!Path::new("/proc").join(of("first")).exists());
    }

    #[test]
    fn a_process_that_ends_or_hangs_is_told_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mut python = Python::start(folder.path()).unwrap();
        let (why, goes_on) = ask(&mut python, folder.path(), "import os; os._exit(3)").unwrap_err();
        assert!(!goes_on && why.contains("exit status: 3"), "{why}");
        let mut python = Python::start(folder.path()).unwrap();
        let (why, goes_on) = ask(&mut python, folder.path(), "while True: pass").unwrap_err();
        assert!(!goes_on && why.contains("no result within 5 s"), "{why}");
    }

    /// Whoever is killed leaves no Python behind: it sees that nobody can ask any more, even within lines that never end.
    #[test]
    fn it_ends_when_nobody_can_ask_any_more() {
        let mut command = Command::new("python3");
        command.args(["-c", DRIVER]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let question = folder.path().join("question.json");
        let code = "while True: pass";
        fs::write(&question, json!({ "sizes": {}, "buffers": [], "code": code }).to_string()).unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{}", question.display()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        drop(child.stdin.take());
        let ended = gpulab_system::children::ended_within(&mut child, Duration::from_secs(20)).unwrap();
        assert!(ended.is_some());
    }
}

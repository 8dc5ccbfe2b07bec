//! What is right in families that readers describe: the word of lines for NumPy, of another rung, or of a slow kernel.
//!
//! All are asked anew for each set of inputs; answers are kept for rungs that are checked over the same.

use crate::device::opencl::OpenClDevice;
use crate::device::{BuildUnit, Device, DeviceError, list_platforms, select};
use crate::input;
use crate::processes;
use crate::runner::exactly;
use crate::worker::printed::Listener;
use gpulab_kernels::signature::CSource;
use gpulab_kernels::{
    Checker, Description, Family, FamilyFile, Oracle, OracleQuestion, Registry, ValueType,
    assemble, built_in, reference_kernel, result_file, rung_text, type_defines, used_defines,
};
use gpulab_model::check::fingerprint;
use gpulab_model::data::{Array, Dtype, Layout, NumberValue, Scalar};
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{
    Arg, ArgValue, BufferId, BufferSpec, Case, Launch, Plan, Reference, Role,
};
use gpulab_model::{Error, Result};
use gpulab_record::files::ScratchFolder;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Most bytes of answers that are kept: those of edge sizes are small, and those of a ladder's own size few.
const MOST_KEPT: usize = 512 << 20;

/// Makes a family of a reader's file. A reference kernel is run on a CPU device if there is one, else on the one that
/// `device` names.
pub fn declare<'a>(
    registry: &'a mut Registry,
    file: &FamilyFile,
    device: Option<&str>,
) -> Result<&'a Family> {
    let description = Description::parse(&file.text, &file.name)
        .map_err(|error| Error::Usage(error.to_string()))?;
    let asked = AskedOracle {
        file: file.clone(),
        description,
        device: device.map(str::to_owned),
        answers: Mutex::default(),
        python: Mutex::default(),
        files: Mutex::default(),
    };
    registry
        .declare(file, Box::new(asked))
        .map_err(|error| Error::Usage(error.to_string()))
}

/// The elements of a file, or why there are none.
type ReadFile = Result<Arc<Array>, String>;

/// An oracle that asks a reader's program or kernel.
struct AskedOracle {
    file: FamilyFile,
    description: Description,
    device: Option<String>,
    /// By what was asked, newest last.
    answers: Mutex<Vec<(u128, Vec<Array>)>>,
    /// What runs lines for numpy, once it was asked.
    python: Mutex<Option<Python>>,
    files: Mutex<BTreeMap<(String, Dtype), ReadFile>>,
}

impl AskedOracle {
    fn ask(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
        match &self.description.checker {
            Checker::Numpy(code) => {
                let mut python = self.python.lock().unwrap_or_else(PoisonError::into_inner);
                answer_of_numpy(
                    &mut python,
                    &self.file.folder,
                    code,
                    &self.description,
                    question,
                )
            }
            checker @ (Checker::Itself | Checker::Rung(_)) => {
                let plan = question
                    .plan
                    .as_ref()
                    .ok_or("the rung that says what is right has no launches")?;
                let name = self.description.right_rung().unwrap_or_default();
                let text = rung_text(&self.description, name, &self.file)
                    .ok_or_else(|| format!("there is no rung {name}"))?;
                let asked = self.device.as_deref();
                if matches!(checker, Checker::Rung(_)) {
                    return answer_of_rung(&text, plan, &device(asked)?, question);
                }
                let platforms = list_platforms().map_err(|error| error.to_string())?;
                let own = select::select(&platforms, asked).map_err(|error| error.to_string())?;
                // It would be looked at twice, and the simulator's log holds one context's findings.
                if own.is_simulator() {
                    return Ok(Vec::new());
                }
                answer_of_rung(&text, plan, own, question)
            }
            Checker::Family(name) => answer_of_family(name, question),
            Checker::Missing => Ok(Vec::new()),
            Checker::Files(files) => question
                .outputs()
                .map(|output| {
                    let file = result_file(files, output.name).unwrap_or_default();
                    let whole = self.file(file, output.dtype, &output.layout)?;
                    Ok(whole.beginning(output.len))
                })
                .collect(),
            Checker::Kernel(file) => answer_of_kernel(
                &self.file,
                &self.description,
                file,
                self.device.as_deref(),
                question,
            ),
        }
    }
}

/// What one of gpulab's families says of the same inputs.
fn answer_of_family(name: &str, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
    let family = built_in(name).ok_or_else(|| format!("there is no family {name}"))?;
    let asked = question.case;
    let case = Case {
        seed: asked.seed,
        ..Case::of(name, "", asked.dtype, asked.shape)
    };
    let inputs: Vec<Array> = question
        .buffers
        .iter()
        .filter_map(|buffer| buffer.input)
        .cloned()
        .collect();
    let lens = family.problem.inputs(case.shape, &case.params);
    let fits = family.dtypes.contains(&case.dtype) && inputs.len() == lens.len();
    if !fits
        || inputs
            .iter()
            .zip(&lens)
            .any(|(input, len)| (input.dtype(), input.len()) != (case.dtype, *len))
    {
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

impl Oracle for AskedOracle {
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
        let case = question.case;
        let mut words = vec![
            u128::from(case.shape.n),
            u128::from(case.shape.m),
            case.dtype as u128,
        ];
        let inputs = question.buffers.iter().filter_map(|buffer| buffer.input);
        words.extend(inputs.map(|input| fingerprint(input.as_bytes())));
        let key = fingerprint(bytemuck::cast_slice(&words));
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = answers.iter().find(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let answer = self.ask(question)?;
        answers.push((key, answer.clone()));
        let mut bytes: usize = answers
            .iter()
            .flat_map(|(_, all)| all)
            .map(|answer| answer.as_bytes().len())
            .sum();
        while bytes > MOST_KEPT {
            bytes -= answers
                .remove(0)
                .1
                .iter()
                .map(|answer| answer.as_bytes().len())
                .sum::<usize>();
        }
        Ok(answer)
    }

    fn file(&self, name: &str, dtype: Dtype, layout: &Layout) -> Result<Arc<Array>, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files
            .entry((name.to_owned(), dtype))
            .or_insert_with(|| {
                let path = self.file.folder.join(name).to_string_lossy().into_owned();
                let is_plain = dtype != Dtype::U8 || layout.scalar() == Some(Scalar::U8);
                let read = if is_plain {
                    input::read(&path, Some(dtype))
                } else {
                    input::read_bytes(&path, layout)
                };
                read.map(Arc::new).map_err(|error| error.to_string())
            })
            .clone()
    }

    fn describe(&self) -> String {
        match &self.description.checker {
            Checker::Numpy(_) => "the file's lines for numpy, which run with your rights".into(),
            Checker::Rung(name) => format!("the rung {name}"),
            Checker::Itself => "its own result in another run".into(),
            Checker::Family(name) => format!("the CPU's result of {name}"),
            Checker::Missing => "nobody".into(),
            Checker::Files(_) => "files with the results".into(),
            Checker::Kernel(file) => match device(self.device.as_deref()) {
                Ok(info) => format!("{file}, one work-item on {}", info.name),
                Err(why) => format!("{file}: {why}"),
            },
        }
    }
}

/// The device that runs it: the first CPU, else the one that is asked for.
fn device(asked: Option<&str>) -> Result<DeviceInfo, String> {
    let platforms = list_platforms().map_err(|error| error.to_string())?;
    let cpu = platforms
        .iter()
        .flat_map(|platform| &platform.devices)
        .find(|info| info.kind == "cpu");
    match cpu {
        Some(info) => Ok(info.clone()),
        None => select::select(&platforms, asked)
            .cloned()
            .map_err(|error| error.to_string()),
    }
}

/// Runs the kernel over the question's buffers: these, in their order, and the sizes are its arguments. Outputs hold zeros.
fn answer_of_kernel(
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
    let longest = question
        .buffers
        .iter()
        .map(|buffer| buffer.len as u64)
        .max()
        .unwrap_or(0);
    let elements = longest.max(question.case.shape.elements());
    let mut defines = type_defines(question.case.dtype, elements);
    let names = description.reference_names(question.case.shape, question.case.dtype);
    defines.extend(
        names
            .into_iter()
            .map(|(name, value)| (name, value.to_string())),
    );
    let unit = BuildUnit {
        path: name.to_owned(),
        defines: used_defines(&defines, &text.text),
        text: text.text,
        kernels: vec![kernel.clone()],
    };
    let parameters = CSource::new(&unit.text, &defines)
        .parameters(&kernel)
        .unwrap_or_default();
    let types = parameters
        .into_iter()
        .skip(question.buffers.len())
        .map(|parameter| parameter.value_type);
    let sizes = description.reference_sizes(question.case.shape);
    let sizes = sizes
        .into_iter()
        .zip(types.chain(std::iter::repeat(None)))
        .map(|(size, of)| match of {
            Some(ValueType::Number(scalar, 1)) => {
                ArgValue::of(scalar, NumberValue::Whole(size.into()))
                    .map_or(Arg::Index(size), Arg::Value)
            }
            _ => Arg::Index(size),
        });
    let sizes: Vec<Arg<BufferId>> = sizes.collect();
    let contents: Vec<Option<&Array>> = question.buffers.iter().map(|known| known.input).collect();
    let specs: Vec<BufferSpec> = (0..)
        .zip(&question.buffers)
        .map(|(index, known)| BufferSpec {
            role: if known.is_output {
                Role::Output
            } else {
                Role::Input(index)
            },
            dtype: known.dtype,
            len: known.len,
        })
        .collect();
    run_kernels(&info, &unit, &specs, &contents, |buffers| {
        let args = buffers
            .iter()
            .map(|buffer| Arg::Buffer(*buffer))
            .chain(sizes)
            .collect();
        vec![Launch::linear(&kernel, 1, 1, args)]
    })
    .map_err(|error| format!("the reference {name} on {}: {error}", info.name))
}

/// Runs the launches of another rung.
fn answer_of_rung(
    text: &str,
    plan: &Plan,
    info: &DeviceInfo,
    question: &OracleQuestion<'_>,
) -> Result<Vec<Array>, String> {
    let mut kernels: Vec<String> = plan.passes.iter().map(|pass| pass.kernel.clone()).collect();
    kernels.sort();
    kernels.dedup();
    let unit = BuildUnit {
        path: "reference.cl".into(),
        defines: used_defines(&plan.defines, text),
        text: text.to_owned(),
        kernels,
    };
    let inputs: Vec<&Array> = question
        .buffers
        .iter()
        .filter_map(|known| known.input)
        .collect();
    let contents: Vec<Option<&Array>> = plan
        .buffers
        .iter()
        .map(|spec| match spec.role {
            Role::Input(index) => inputs.get(index).copied(),
            _ => None,
        })
        .collect();
    run_kernels(info, &unit, &plan.buffers, &contents, |buffers| {
        plan.passes
            .iter()
            .map(|pass| pass.bound(|index| buffers[index]))
            .collect()
    })
    .map_err(|error| {
        format!(
            "the kernel that says what is right, on {}: {error}",
            info.name
        )
    })
}

/// Carries out launches over these buffers, which hold these contents or else zeros, and reads the outputs back.
fn run_kernels(
    info: &DeviceInfo,
    unit: &BuildUnit,
    specs: &[BufferSpec],
    contents: &[Option<&Array>],
    launches: impl FnOnce(&[BufferId]) -> Vec<Launch>,
) -> Result<Vec<Array>, DeviceError> {
    let mut device = OpenClDevice::open(info)?;
    let program = device.build(unit)?;
    let mut buffers: Vec<BufferId> = Vec::new();
    for (spec, content) in specs.iter().zip(contents) {
        if let Role::Image { of, image } = spec.role {
            buffers.push(device.image(buffers[of], image)?);
            continue;
        }
        let buffer = device.alloc(spec.bytes())?;
        let zeros = Array::zeros(spec.dtype, if content.is_some() { 0 } else { spec.len });
        device.write(buffer, 0, content.unwrap_or(&zeros).as_bytes())?;
        buffers.push(buffer);
    }
    device.run(program, &launches(&buffers))?;
    let mut answers = Vec::new();
    for (known, buffer) in specs
        .iter()
        .zip(&buffers)
        .filter(|(known, _)| known.role == Role::Output)
    {
        let mut answer = Array::zeros(known.dtype, known.len);
        device.read(*buffer, 0, answer.as_bytes_mut())?;
        answers.push(answer);
    }
    Ok(answers)
}

fn unwritable(error: io::Error) -> String {
    format!("cannot write the reference's inputs: {error}")
}

fn unstarted(error: io::Error) -> String {
    format!("cannot start the reference numpy: {error}")
}

/// What reads the arrays, runs the lines and writes the results.
const DRIVER: &str = include_str!("oracle/numpy.py");

/// Seconds that lines for NumPy may take.
const NUMPY_S: u64 = 120;

/// A Python process that answers one question after the other. It ends by itself when nobody can ask any more.
struct Python {
    child: Child,
    questions: ChildStdin,
    /// A line for each question: null, or why there is no answer.
    answers: Receiver<String>,
    printed: Listener,
}

impl Python {
    fn start(folder: &Path) -> Result<Python, String> {
        let mut command = Command::new("python3");
        command.args(["-c", DRIVER]).current_dir(folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(unstarted)?;
        let (Some(questions), Some(out), Some(said)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("cannot start the reference numpy: it has no pipes".to_owned());
        };
        let printed = Listener::new(said).map_err(unstarted)?;
        let (sender, answers) = mpsc::channel();
        std::thread::Builder::new()
            .spawn(move || {
                BufReader::new(out)
                    .lines()
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
            })
            .map_err(unstarted)?;
        Ok(Python {
            child,
            questions,
            answers,
            printed,
        })
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
            Err(RecvTimeoutError::Timeout) => {
                let late = format!("the reference had no result within {seconds} s");
                Err((late, false))
            }
            Err(RecvTimeoutError::Disconnected) => Err((self.ended(), false)),
        }
    }

    /// How it ends, or has ended, and what it said last.
    fn ended(&mut self) -> String {
        let status = processes::ended_within(&mut self.child, Duration::from_secs(1));
        let status = status
            .ok()
            .flatten()
            .map_or("an unknown status".to_owned(), |status| status.to_string());
        let last_words = self.printed.until(None).last_words();
        format!("the reference numpy ended with {status}{last_words}")
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
fn answer_of_numpy(
    python: &mut Option<Python>,
    folder: &Path,
    code: &str,
    description: &Description,
    question: &OracleQuestion<'_>,
) -> Result<Vec<Array>, String> {
    let scratch = ScratchFolder::new().map_err(unwritable)?;
    let mut sizes = serde_json::Map::new();
    sizes.insert("n".into(), question.case.shape.n.into());
    sizes.insert("m".into(), question.case.shape.m.into());
    let names = description.reference_names(question.case.shape, question.case.dtype);
    sizes.extend(names.into_iter().map(|(name, value)| (name, value.into())));
    let mut buffers = Vec::new();
    for (number, buffer) in question.buffers.iter().enumerate() {
        let [file, result] = ["in", "out"].map(|way| {
            scratch
                .path()
                .join(format!("{number}.{way}"))
                .display()
                .to_string()
        });
        let input = match buffer.input {
            Some(array) => {
                fs::write(&file, array.as_bytes()).map_err(unwritable)?;
                Value::from(file)
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
            "output": if buffer.is_output { Value::from(result) } else { Value::Null },
        }));
    }
    let asked = json!({ "sizes": sizes, "buffers": buffers, "code": code });
    let file = scratch.path().join("question.json");
    fs::write(&file, asked.to_string()).map_err(unwritable)?;
    let process = match python {
        Some(process) => process,
        None => python.insert(Python::start(folder)?),
    };
    process.ask(&file, NUMPY_S).map_err(|(why, goes_on)| {
        if !goes_on {
            *python = None;
        }
        why
    })?;
    let mut answers = Vec::new();
    for (number, buffer) in question
        .buffers
        .iter()
        .enumerate()
        .filter(|(_, buffer)| buffer.is_output)
    {
        let bytes = fs::read(scratch.path().join(format!("{number}.out")))
            .map_err(|error| format!("the reference's result: {error}"))?;
        let mut array = Array::zeros(buffer.dtype, buffer.len);
        if bytes.len() != array.as_bytes().len() {
            return Err(format!(
                "the reference wrote {} bytes of {}",
                bytes.len(),
                buffer.name
            ));
        }
        array.as_bytes_mut().copy_from_slice(&bytes);
        answers.push(array);
    }
    Ok(answers)
}

/// What NumPy calls elements: `<f4`, or the fields of a struct at their places.
fn numpy_type(layout: &Layout) -> Value {
    match layout.scalar() {
        Some(scalar) => scalar_name(scalar).into(),
        None => json!({
            "names": layout.fields.iter().map(|field| &field.name).collect::<Vec<_>>(),
            "formats": layout.fields.iter().map(|field| scalar_name(field.scalar)).collect::<Vec<_>>(),
            "offsets": layout.fields.iter().map(|field| field.at).collect::<Vec<_>>(),
            "itemsize": layout.size,
        }),
    }
}

fn scalar_name(scalar: Scalar) -> String {
    let kind = match scalar.name() {
        _ if scalar.is_float() => 'f',
        name if name.starts_with('u') => 'u',
        _ => 'i',
    };
    format!("<{kind}{}", scalar.size())
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
        let note = |name: &str| {
            format!("import os; open({name:?}, 'w').write(str(os.getpid())); print('talk')")
        };
        ask(&mut python, folder.path(), &note("first")).unwrap();
        let (why, goes_on) = ask(&mut python, folder.path(), "x = 1\ny = x / 0").unwrap_err();
        assert!(
            goes_on
                && why.contains("ZeroDivisionError")
                && why.contains("in its line 2, `y = x / 0`"),
            "{why}"
        );
        let (why, goes_on) = ask(&mut python, folder.path(), "y = x").unwrap_err();
        assert!(
            goes_on && why.contains("name 'x' is not defined"),
            "nothing is left of the question before: {why}"
        );
        let (why, goes_on) =
            ask(&mut python, folder.path(), "import sys; sys.exit(input())").unwrap_err();
        assert!(
            goes_on && why.contains("EOF"),
            "no question can be read by the lines: {why}"
        );
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
        command
            .args(["-c", DRIVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let question = folder.path().join("question.json");
        let code = "while True: pass";
        fs::write(
            &question,
            json!({ "sizes": {}, "buffers": [], "code": code }).to_string(),
        )
        .unwrap();
        writeln!(child.stdin.as_mut().unwrap(), "{}", question.display()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        drop(child.stdin.take());
        let ended = crate::processes::ended_within(&mut child, Duration::from_secs(20)).unwrap();
        assert!(ended.is_some());
    }
}

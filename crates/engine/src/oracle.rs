//! What is right in families that readers describe: the word of a program of theirs, of lines for NumPy, or of a slow kernel.
//!
//! All are asked anew for each set of inputs; answers are kept for rungs that are checked over the same.

use crate::device::opencl::OpenClDevice;
use crate::device::{BuildUnit, Device, DeviceError, list_platforms, select};
use crate::input;
use crate::processes;
use crate::runner::exactly;
use gpulab_kernels::signature::CSource;
use gpulab_kernels::{
    Checker, Description, Family, FamilyFile, Oracle, OracleBuffer, OracleFile, OracleQuestion,
    Registry, ValueType, assemble, built_in, reference_kernel, result_file, rung_text,
    type_defines, used_defines,
};
use gpulab_model::check::fingerprint;
use gpulab_model::data::{Array, Dtype, Layout, NumberValue, Scalar};
use gpulab_model::each_array;
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{
    Arg, ArgValue, BufferId, BufferSpec, Case, Launch, Plan, Reference, Role,
};
use gpulab_model::{Error, Result};
use gpulab_record::files::{self, ScratchFolder};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
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
type ReadFile = Result<Arc<OracleFile>, String>;

/// An oracle that asks a reader's program or kernel.
struct AskedOracle {
    file: FamilyFile,
    description: Description,
    device: Option<String>,
    /// By what was asked, newest last.
    answers: Mutex<Vec<(u128, Vec<Array>)>>,
    /// What runs lines for numpy, once it was asked.
    python: Mutex<Option<Python>>,
    files: Mutex<BTreeMap<(String, Dtype, usize), ReadFile>>,
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
            Checker::Program { command, seconds } => {
                answer_of_program(&self.file.folder, command, *seconds, question)
            }
            Checker::Family(name) => answer_of_family(name, question),
            Checker::Missing => Ok(Vec::new()),
            Checker::Files(files) => question
                .outputs()
                .map(|output| {
                    let file = result_file(files, output.name).unwrap_or_default();
                    let whole = self.file(file, output.dtype, &output.layout, output.lanes)?;
                    Ok(whole.elements.beginning(output.len))
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

    fn file(
        &self,
        name: &str,
        dtype: Dtype,
        layout: &Layout,
        channels: usize,
    ) -> Result<Arc<OracleFile>, String> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files
            .entry((name.to_owned(), dtype, channels))
            .or_insert_with(|| {
                let path = self.file.folder.join(name).to_string_lossy().into_owned();
                let is_plain = dtype != Dtype::U8 || layout.scalar() == Some(Scalar::U8);
                if path.to_lowercase().ends_with(".png") {
                    let picture =
                        input::picture(&path, layout, channels).map_err(|error| error.to_string());
                    return picture.map(|(elements, width)| {
                        Arc::new(OracleFile {
                            elements,
                            width: Some(width),
                        })
                    });
                }
                let read = if is_plain {
                    input::read(&path, Some(dtype))
                } else {
                    input::read_bytes(&path, layout)
                };
                read.map(|elements| {
                    Arc::new(OracleFile {
                        elements,
                        width: None,
                    })
                })
                .map_err(|error| error.to_string())
            })
            .clone()
    }

    fn describe(&self) -> String {
        match &self.description.checker {
            Checker::Program { command, .. } => {
                format!(
                    "the program {}, which runs with your rights",
                    command.join(" ")
                )
            }
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
            "the rung that says what is right, on {}: {error}",
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

/// Asks a program that says what is right: it is given files of the inputs, little-endian elements and nothing else, and writes
/// such a file of each result.
fn answer_of_program(
    folder: &Path,
    command: &[String],
    seconds: u64,
    question: &OracleQuestion<'_>,
) -> Result<Vec<Array>, String> {
    let scratch = ScratchFolder::new().map_err(unwritable)?;
    let path = |name: &str| scratch.path().join(format!("{name}.raw"));
    let shape = question.case.shape;
    let mut values: Vec<(String, String)> = vec![
        ("n".into(), shape.n.to_string()),
        ("m".into(), shape.m.to_string()),
        ("type".into(), question.case.dtype.to_string()),
    ];
    for (name, array) in question
        .buffers
        .iter()
        .filter_map(|buffer| Some((buffer.name, buffer.input?)))
    {
        let bytes: Vec<u8> =
            each_array!(array, v => v.iter().flat_map(|x| x.to_le_bytes()).collect());
        fs::write(path(name), bytes).map_err(unwritable)?;
        values.push((name.to_owned(), path(name).display().to_string()));
    }
    let outputs: Vec<&OracleBuffer<'_>> = question.outputs().collect();
    for output in &outputs {
        let name = if outputs.len() == 1 {
            "out".to_owned()
        } else {
            format!("out.{}", output.name)
        };
        // No name of an input: those begin with a letter.
        values.push((
            name,
            path(&format!("0-{}", output.name)).display().to_string(),
        ));
    }
    let words: Vec<String> = command.iter().map(|word| replaced(word, &values)).collect();
    let [program, args @ ..] = &words[..] else {
        return Err("[check] command is empty".into());
    };
    // One that is named by a path is looked for from the file's folder.
    let place = if program.contains('/') {
        folder.join(program)
    } else {
        PathBuf::from(program)
    };
    let mut command = Command::new(place);
    command.args(args).current_dir(folder);
    run(command, program, seconds)?;
    outputs
        .into_iter()
        .map(|output| read_result(&path(&format!("0-{}", output.name)), output))
        .collect()
}

fn read_result(path: &Path, output: &OracleBuffer<'_>) -> Result<Array, String> {
    let len = output.len;
    let dtype = output.dtype;
    let bytes = len as u64 * dtype.size() as u64;
    let Ok(metadata) = fs::metadata(path) else {
        return Err(
            "the reference wrote no {out}: it must write its result to the file of that name"
                .into(),
        );
    };
    if metadata.len() != bytes {
        let has = metadata.len();
        return Err(format!(
            "the reference wrote {has} bytes, and {len} elements of {dtype} are {bytes}"
        ));
    }
    let read = files::read(path)
        .map_err(|error| format!("the reference's result cannot be read: {error}"))?;
    Ok(input::elements(&read, dtype))
}

fn unwritable(error: io::Error) -> String {
    format!("cannot write the reference's inputs: {error}")
}

/// Runs a program to its end, or ends it when its time is over.
fn run(mut command: Command, name: &str, seconds: u64) -> Result<(), String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| unstarted(name, error))?;
    let last_words = listen(&mut child).map_err(|error| unstarted(name, error))?;
    let status = processes::ended_within(&mut child, Duration::from_secs(seconds));
    match status.map_err(|error| format!("the reference was lost: {error}"))? {
        Some(status) if status.success() => Ok(()),
        Some(_) => Err(ended(name, &mut child, &last_words)),
        None => Err(late(seconds)),
    }
}

fn unstarted(name: &str, error: io::Error) -> String {
    format!("cannot start the reference {name}: {error}")
}

fn late(seconds: u64) -> String {
    format!("the reference had no result within {seconds} s; [check] seconds changes that")
}

/// How a program that ends, or has ended, did so, and what it said last.
fn ended(name: &str, child: &mut Child, last_words: &Receiver<String>) -> String {
    let status = processes::ended_within(child, Duration::from_secs(1));
    let status = status
        .ok()
        .flatten()
        .map_or("an unknown status".to_owned(), |status| status.to_string());
    let said = last_words
        .recv_timeout(Duration::from_secs(1))
        .unwrap_or_default();
    let said = said
        .trim()
        .lines()
        .next_back()
        .unwrap_or_default()
        .to_owned();
    let said = if said.is_empty() {
        said
    } else {
        format!(", and said: {said}")
    };
    format!("the reference {name} ended with {status}{said}")
}

/// A word with what stands for its names in braces. Braces in a value are its own, as those of a folder's name.
fn replaced(word: &str, values: &[(String, String)]) -> String {
    let Some((before, rest)) = word.split_once('{') else {
        return word.to_owned();
    };
    let named = values.iter().find_map(|(name, value)| {
        Some((value, rest.strip_prefix(name.as_str())?.strip_prefix('}')?))
    });
    let brace = "{".to_owned();
    let (value, after) = named.unwrap_or((&brace, rest));
    format!("{before}{value}{}", replaced(after, values))
}

/// What it says last on standard error, once that is closed.
fn listen(child: &mut Child) -> io::Result<Receiver<String>> {
    const MOST: usize = 4096;
    let (sender, receiver) = mpsc::channel();
    if let Some(mut stderr) = child.stderr.take() {
        std::thread::Builder::new().spawn(move || {
            let mut last = Vec::new();
            let mut piece = [0; 1024];
            while let Ok(count @ 1..) = stderr.read(&mut piece) {
                last.extend_from_slice(&piece[..count]);
                last.drain(..last.len().saturating_sub(MOST));
            }
            sender.send(String::from_utf8_lossy(&last).into_owned())
        })?;
    }
    Ok(receiver)
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
    last_words: Receiver<String>,
}

impl Python {
    fn start(folder: &Path) -> Result<Python, String> {
        let mut command = Command::new("python3");
        command.args(["-c", DRIVER]).current_dir(folder);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| unstarted("numpy", error))?;
        let (questions, out) = child
            .stdin
            .take()
            .zip(child.stdout.take())
            .ok_or_else(|| "cannot start the reference numpy: it has no pipes".to_owned())?;
        let last_words = listen(&mut child).map_err(|error| unstarted("numpy", error))?;
        let (sender, answers) = mpsc::channel();
        std::thread::Builder::new()
            .spawn(move || {
                BufReader::new(out)
                    .lines()
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
            })
            .map_err(|error| unstarted("numpy", error))?;
        Ok(Python {
            child,
            questions,
            answers,
            last_words,
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
            Err(RecvTimeoutError::Timeout) => Err((late(seconds), false)),
            Err(RecvTimeoutError::Disconnected) => {
                Err((ended("numpy", &mut self.child, &self.last_words), false))
            }
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
    use gpulab_model::data::Shape;

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

    fn ask_program(script: &str, seconds: u64) -> Result<Array, String> {
        let case = Case::of("f", "v", Dtype::I32, Shape::vector(3));
        let inputs = [Array::I32(vec![1, -2, 3])];
        let command = ["sh", "-c", script, "sh", "{x}", "{out}", "{n}"].map(str::to_owned);
        let buffer = |name, input, is_output| OracleBuffer {
            name,
            layout: Scalar::I32.into(),
            lanes: 1,
            dtype: Dtype::I32,
            len: 3,
            input,
            is_output,
            is_share: false,
        };
        let buffers = vec![
            buffer("x", Some(&inputs[0]), false),
            buffer("y", None, true),
        ];
        let question = OracleQuestion {
            case: &case,
            buffers,
            plan: None,
        };
        answer_of_program(Path::new("/"), &command, seconds, &question)
            .map(|mut answers| answers.remove(0))
    }

    #[test]
    fn a_program_is_given_its_inputs() {
        assert_eq!(ask_program("cp $1 $2", 10), Ok(Array::I32(vec![1, -2, 3])));
    }

    #[test]
    fn every_way_to_fail_is_told() {
        for (script, why) in [
            ("exit 3", "exit status: 3"),
            (
                "echo first >&2; echo no such thing >&2; exit 1",
                "and said: no such thing",
            ),
            ("kill -SEGV $$", "signal"),
            ("exec sleep 30", "no result within 1 s"),
            ("true", "wrote no {out}"),
            (
                "printf 1234 > $2",
                "wrote 4 bytes, and 3 elements of i32 are 12",
            ),
            ("head -c 1000 /dev/zero > $2", "wrote 1000 bytes"),
            ("mkdir $2", "wrote"),
        ] {
            let said = ask_program(script, 1).unwrap_err();
            assert!(said.contains(why), "{script}: {said}");
        }
    }

    #[test]
    fn braces_of_a_value_stay_as_they_are() {
        let values = [("out", "/tmp/{n}/{x}"), ("n", "3"), ("x", "{out}")]
            .map(|(a, b)| (a.to_owned(), b.to_owned()));
        for (word, is) in [
            ("{out}", "/tmp/{n}/{x}"),
            ("-n{n}={x};{}", "-n3={out};{}"),
            ("{{n}}{", "{3}{"),
            ("{m} plain", "{m} plain"),
        ] {
            assert_eq!(replaced(word, &values), is, "{word}");
        }
    }
}

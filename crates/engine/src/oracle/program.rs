//! A program that says what is right: it is given files of the inputs, and writes one of the result.

use crate::input;
use gpulab_kernels::{ArrayFormat, OracleBuffer, OracleQuestion};
use gpulab_model::data::{Array, Dtype};
use gpulab_model::each_array;
use gpulab_system::children;
use gpulab_system::files;
use gpulab_system::files::ScratchFolder;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

pub(super) struct ReferenceProgram<'a> {
    pub(super) folder: &'a Path,
    /// Its words, with names in braces to be replaced.
    pub(super) command: &'a [String],
    pub(super) format: ArrayFormat,
    pub(super) seconds: u64,
}

impl ReferenceProgram<'_> {
    pub(super) fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
        let scratch = ScratchFolder::new().map_err(unwritable)?;
        let ending = if self.format == ArrayFormat::Npy { "npy" } else { "raw" };
        let path = |name: &str| scratch.path().join(format!("{name}.{ending}"));
        let shape = question.case.shape;
        let mut values: Vec<(String, String)> = vec![
            ("n".into(), shape.n.to_string()),
            ("m".into(), shape.m.to_string()),
            ("type".into(), question.case.dtype.to_string()),
        ];
        for (name, array) in question.buffers.iter().filter_map(|buffer| Some((buffer.name, buffer.input?))) {
            self.write(&path(name), array).map_err(unwritable)?;
            values.push((name.to_owned(), path(name).display().to_string()));
        }
        let outputs: Vec<&OracleBuffer<'_>> = question.outputs().collect();
        // No name of an input: those begin with a letter.
        let result = |output: &OracleBuffer<'_>| path(&format!("0-{}", output.name));
        for output in &outputs {
            let name = if outputs.len() == 1 { "out".to_owned() } else { format!("out.{}", output.name) };
            values.push((name, result(output).display().to_string()));
        }
        self.run(&values)?;
        outputs.into_iter().map(|output| self.read(&result(output), output.len, output.dtype)).collect()
    }

    fn write(&self, path: &Path, array: &Array) -> io::Result<()> {
        let mut file = fs::File::create(path)?;
        if self.format == ArrayFormat::Npy {
            file.write_all(&npy_header(array))?;
        }
        let bytes: Vec<u8> = each_array!(array, v => v.iter().flat_map(|x| x.to_le_bytes()).collect());
        file.write_all(&bytes)
    }

    fn run(&self, values: &[(String, String)]) -> Result<(), String> {
        let words: Vec<String> = self.command.iter().map(|word| replaced(word, values)).collect();
        let [program, args @ ..] = &words[..] else { return Err("[check] command is empty".into()) };
        // One that is named by a path is looked for from the file's folder.
        let path = if program.contains('/') { self.folder.join(program) } else { PathBuf::from(program) };
        let mut command = Command::new(path);
        command.args(args).current_dir(self.folder);
        run(command, program, self.seconds)
    }

    fn read(&self, path: &Path, len: usize, dtype: Dtype) -> Result<Array, String> {
        /// More than any header has.
        const HEADER: u64 = 1 << 16;
        let bytes = len as u64 * dtype.size() as u64;
        let Ok(metadata) = fs::metadata(path) else {
            return Err("the reference wrote no {out}: it must write its result to the file of that name".into());
        };
        let has = metadata.len();
        let wrong = || format!("the reference wrote {has} bytes, and {len} elements of {dtype} are {bytes}");
        let read = |why: String| format!("the reference's result cannot be read: {why}");
        match self.format {
            ArrayFormat::Raw if has != bytes => Err(wrong()),
            ArrayFormat::Raw => {
                let read = files::read(path).map_err(|error| read(error.to_string()))?;
                Ok(input::elements(&read, dtype))
            }
            // Wider elements than are asked for are narrowed, if they are as good.
            ArrayFormat::Npy if has > len as u64 * 8 + HEADER => Err(wrong()),
            ArrayFormat::Npy => {
                input::read(&path.to_string_lossy(), Some(dtype)).map_err(|error| read(error.to_string()))
            }
        }
    }
}

pub(super) fn unwritable(error: io::Error) -> String {
    format!("cannot write the reference's inputs: {error}")
}

/// Runs a program to its end, or ends it when its time is over.
pub(super) fn run(mut command: Command, name: &str, seconds: u64) -> Result<(), String> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let unstarted = |error| unstarted(name, error);
    let mut child = command.spawn().map_err(unstarted)?;
    let last_words = listen(&mut child).map_err(unstarted)?;
    let status = children::ended_within(&mut child, Duration::from_secs(seconds));
    match status.map_err(|error| format!("the reference was lost: {error}"))? {
        Some(status) if status.success() => Ok(()),
        Some(_) => Err(ended(name, &mut child, &last_words)),
        None => Err(late(seconds)),
    }
}

pub(super) fn unstarted(name: &str, error: io::Error) -> String {
    format!("cannot start the reference {name}: {error}")
}

pub(super) fn late(seconds: u64) -> String {
    format!("the reference had no result within {seconds} s; [check] seconds changes that")
}

/// How a program that ends, or has ended, did so, and what it said last.
pub(super) fn ended(name: &str, child: &mut Child, last_words: &Receiver<String>) -> String {
    let status = children::ended_within(child, Duration::from_secs(1));
    let status = status.ok().flatten().map_or("an unknown status".to_owned(), |status| status.to_string());
    let said = last_words.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
    let said = said.trim().lines().next_back().unwrap_or_default().to_owned();
    let said = if said.is_empty() { said } else { format!(", and said: {said}") };
    format!("the reference {name} ended with {status}{said}")
}

/// A word with what stands for its names in braces. Braces in a value are its own, as those of a folder's name.
fn replaced(word: &str, values: &[(String, String)]) -> String {
    let Some((before, rest)) = word.split_once('{') else { return word.to_owned() };
    let named = |(name, value): &'_ (String, String)| {
        Some((value.clone(), rest.strip_prefix(name.as_str())?.strip_prefix('}')?))
    };
    let (value, after) = values.iter().find_map(named).unwrap_or(("{".to_owned(), rest));
    format!("{before}{value}{}", replaced(after, values))
}

/// What it says last on standard error, once that is closed.
pub(super) fn listen(child: &mut Child) -> io::Result<Receiver<String>> {
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

/// The header of a vector in NumPy's format, version 1: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
fn npy_header(array: &Array) -> Vec<u8> {
    let kind = match array.dtype() {
        Dtype::U8 => 'u',
        dtype if dtype.is_float() => 'f',
        _ => 'i',
    };
    let size = array.dtype().size();
    let len = array.len();
    let mut text = format!("{{'descr': '<{kind}{size}', 'fortran_order': False, 'shape': ({len},), }}");
    // With the ten bytes before it, and the end of its line, a multiple of 64.
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use gpulab_model::data::{Scalar, Shape};
    use gpulab_model::plan::Case;

    fn ask(script: &str, format: ArrayFormat, seconds: u64) -> Result<Array, String> {
        let case = Case::of("f", "v", Dtype::I32, Shape::vector(3));
        let inputs = [Array::I32(vec![1, -2, 3])];
        let command = ["sh", "-c", script, "sh", "{x}", "{out}", "{n}"].map(str::to_owned);
        let program = ReferenceProgram { folder: Path::new("/"), command: &command, format, seconds };
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
        let buffers = vec![buffer("x", Some(&inputs[0]), false), buffer("y", None, true)];
        program.answer(&OracleQuestion { case: &case, buffers, plan: None }).map(|mut answers| answers.remove(0))
    }

    #[test]
    fn a_program_is_given_its_inputs_in_both_formats() {
        for format in [ArrayFormat::Raw, ArrayFormat::Npy] {
            assert_eq!(ask("cp $1 $2", format, 10), Ok(Array::I32(vec![1, -2, 3])), "{format:?}");
        }
    }

    #[test]
    fn every_way_to_fail_is_told() {
        for (script, why) in [
            ("exit 3", "exit status: 3"),
            ("echo first >&2; echo no such thing >&2; exit 1", "and said: no such thing"),
            ("kill -SEGV $$", "signal"),
            ("exec sleep 30", "no result within 1 s"),
            ("true", "wrote no {out}"),
            ("printf 1234 > $2", "wrote 4 bytes, and 3 elements of i32 are 12"),
            ("head -c 1000 /dev/zero > $2", "wrote 1000 bytes"),
            ("mkdir $2", "wrote"),
        ] {
            let said = ask(script, ArrayFormat::Raw, 1).unwrap_err();
            assert!(said.contains(why), "{script}: {said}");
        }
        let said = ask("printf 1234 > $2", ArrayFormat::Npy, 1).unwrap_err();
        assert!(said.contains("cannot be read"), "{said}");
        assert!(ask("head -c 100000 /dev/zero > $2", ArrayFormat::Npy, 1).is_err());
    }

    #[test]
    fn braces_of_a_value_stay_as_they_are() {
        let values = [("out", "/tmp/{n}/{x}"), ("n", "3"), ("x", "{out}")].map(|(a, b)| (a.to_owned(), b.to_owned()));
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

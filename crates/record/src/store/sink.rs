//! Where bytes go: a file or standard output, unbuffered and checked.

use crate::files;
use crate::terminal::{Escaping, Stdout};
use gpulab_model::{Error, Result, usage_error};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// An open output. What a regular file holds is left alone until the first write; if it was not there before and nothing is
/// written, it goes again.
pub struct Sink {
    name: String,
    place: Destination,
}

enum Destination {
    Stdout,
    /// A device.
    Stream(File),
    /// It has a length, and can be locked.
    Regular {
        file: File,
        /// Whether there was no file of this name before.
        is_new: bool,
        /// Bytes that stay, and behind which the next write goes.
        end: u64,
        is_begun: bool,
    },
}

impl Sink {
    /// Opens an output without changing what is in it; `-` is standard output, also by its name.
    ///
    /// Errors: `Output` if the file cannot be written; `Usage` if another process is writing it.
    pub fn open(path: &str) -> Result<Sink> {
        let is_stdout = ["-", "/dev/stdout"].contains(&path);
        let name = if is_stdout { "standard output" } else { path }.to_owned();
        let opened = if is_stdout {
            Stdout.check().map(|()| Destination::Stdout)
        } else {
            open_writable(path)
        };
        match opened {
            Err(source) => Err(Error::Output { what: name, source }),
            Ok(place) => {
                if let Destination::Regular { file, .. } = &place {
                    lock(file, path)?;
                }
                Ok(Sink { name, place })
            }
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn error(&self, source: io::Error) -> Error {
        Error::Output {
            what: self.name.clone(),
            source,
        }
    }

    /// All that a regular file holds; nothing for others.
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        if let Destination::Regular { file, .. } = &mut self.place {
            file.read_to_end(&mut text).map_err(|e| self.error(e))?;
        }
        Ok(text)
    }

    /// The first write will cut a regular file to its first `bytes`.
    pub fn keep(&mut self, bytes: u64) {
        if let Destination::Regular { end, .. } = &mut self.place {
            *end = bytes;
        }
    }

    /// Replaces what the output holds by what `write` writes, which it has to flush: a regular file's is replaced by the whole,
    /// or, if that fails, stays, as it is written under another name first. What `write` returns.
    pub fn replace<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> Result<T> {
        let done = match &mut self.place {
            Destination::Regular { is_new, .. } => {
                std::fs::canonicalize(&self.name).and_then(|target| {
                    let unfinished = files::beside(&target);
                    let place = || {
                        let mut file = File::create(&unfinished)?;
                        let written = write(&mut file)?;
                        file.sync_all()?;
                        std::fs::rename(&unfinished, &target)?;
                        *is_new = false;
                        Ok(written)
                    };
                    // What is left of a failure is of no use.
                    place().inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
                })
            }
            Destination::Stream(file) => write(file),
            Destination::Stdout => {
                let mut out = Escaping::new(&Stdout);
                match Stdout.is_terminal() {
                    true => write(&mut out).and_then(|written| out.flush().map(|()| written)),
                    false => write(&mut &Stdout),
                }
            }
        };
        done.map_err(|e| self.error(e))
    }

    /// Writes all of `text`, or, to a regular file, nothing: a row is never torn.
    pub fn write(&mut self, text: &[u8]) -> Result<()> {
        let Destination::Regular {
            file,
            end,
            is_begun,
            ..
        } = &mut self.place
        else {
            return self.replace(|out| out.write_all(text));
        };
        // The file is cut before the first write, and what a failed one left behind the end is taken back.
        let cut = |mut file: &File| {
            file.set_len(*end)
                .and_then(|()| file.seek(SeekFrom::Start(*end)))
        };
        let begun = if *is_begun { Ok(0) } else { cut(file) };
        *is_begun |= begun.is_ok();
        // What cannot be cut either stays torn, which readers find.
        let done = begun.and_then(|_| file.write_all(text).inspect_err(|_| drop(cut(file))));
        *end += if done.is_ok() { text.len() as u64 } else { 0 };
        done.map_err(|e| self.error(e))
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if let Destination::Regular {
            file, is_new: true, ..
        } = &self.place
            && file.metadata().is_ok_and(|m| m.len() == 0)
        {
            // Still locked: no other run is writing it. An empty file that stays harms nobody.
            drop(std::fs::remove_file(&self.name));
        }
    }
}

/// Opens a file for writing, and for reading too if it is a regular one.
fn open_writable(path: &str) -> io::Result<Destination> {
    files::check_output(Path::new(path))?;
    // A pipe opened for reading as well would never see its reader go away.
    if let Ok(metadata) = std::fs::metadata(path)
        && !metadata.is_file()
    {
        let mut file = OpenOptions::new().write(true).open(path)?;
        // A full device refuses to write nothing, too.
        let _none = file.write(&[])?;
        return Ok(Destination::Stream(file));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let (file, is_new) = match options.clone().create_new(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            (options.create(true).open(path)?, false)
        }
        made => (made?, true),
    };
    Ok(Destination::Regular {
        file,
        is_new,
        end: 0,
        is_begun: false,
    })
}

fn lock(file: &File, path: &str) -> Result<()> {
    let why =
        "is being written already, by another run or for another option: wait or give another file";
    if files::lock(file) {
        Ok(())
    } else {
        usage_error(format!("{path} {why}"))
    }
}

//! Where bytes go: a file or standard output, unbuffered and checked.

use crate::Error;
use crate::stdout::Results;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};

/// An open output. Each write goes to the system at once.
pub(super) struct Sink {
    name: String,
    /// `None` is standard output.
    file: Option<File>,
    /// Whether it has a length and can be locked: not a pipe or a device.
    is_regular: bool,
    /// Whether there was no file of this name before.
    is_new: bool,
}

impl Sink {
    /// Opens an output without changing what is in it; `-` is standard output.
    pub(super) fn open(path: &str) -> Result<Sink, Error> {
        if path == "-" {
            return Ok(Sink { name: "standard output".to_owned(), file: None, is_regular: false, is_new: false });
        }
        let failed = |source| Error::Output { what: path.to_owned(), source };
        let Opened { file, is_regular, is_new } = open_writable(path).map_err(failed)?;
        if is_regular {
            lock(&file, path)?;
        }
        Ok(Sink { name: path.to_owned(), file: Some(file), is_regular, is_new })
    }

    /// Removes a file that opening it made, if it is still empty.
    pub(super) fn remove_unused(&self) {
        let is_empty = |file: &File| file.metadata().is_ok_and(|m| m.len() == 0);
        if self.is_new && self.file.as_ref().is_some_and(is_empty) {
            // Still locked: no other run is writing it. An empty file that stays harms nobody.
            drop(std::fs::remove_file(&self.name));
        }
    }

    /// Its name in messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// An error of this output.
    pub(super) fn error(&self, source: io::Error) -> Error {
        Error::Output { what: self.name.clone(), source }
    }

    /// All that a regular file holds; nothing for others.
    pub(super) fn read(&mut self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        if self.is_regular
            && let Some(file) = &mut self.file
        {
            file.read_to_end(&mut text).map_err(|e| self.error(e))?;
        }
        Ok(text)
    }

    /// Cuts a regular file to its first `bytes`, where the next write goes.
    pub(super) fn keep(&mut self, bytes: u64) -> Result<(), Error> {
        if self.is_regular
            && let Some(file) = &mut self.file
        {
            file.set_len(bytes).and_then(|()| file.seek(SeekFrom::Start(bytes))).map_err(|e| self.error(e))?;
        }
        Ok(())
    }

    /// Waits until a regular file is on its disk.
    pub(super) fn sync(&self) -> Result<(), Error> {
        match &self.file {
            Some(file) if self.is_regular => file.sync_all().map_err(|e| self.error(e)),
            _ => Ok(()),
        }
    }

    /// Lets `write` fill the output, from the start of a regular file.
    pub(super) fn fill<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<T>) -> Result<T, Error> {
        self.keep(0)?;
        let done = match &mut self.file {
            Some(file) => write(file),
            None => {
                let mut out = Results;
                write(&mut out).and_then(|written| out.flush().map(|()| written))
            }
        };
        done.map_err(|e| self.error(e))
    }

    /// Writes all of `text` and flushes.
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        let done = match &mut self.file {
            Some(file) => file.write_all(text),
            None => Results.write_all(text).and_then(|()| Results.flush()),
        };
        done.map_err(|e| self.error(e))
    }
}

/// A file, and what is known about it.
struct Opened {
    file: File,
    is_regular: bool,
    is_new: bool,
}

/// Opens a file for writing, and for reading too if it is a regular one.
fn open_writable(path: &str) -> io::Result<Opened> {
    // A pipe opened for reading as well would never see its reader go away.
    if std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
        let file = OpenOptions::new().write(true).open(path)?;
        return Ok(Opened { file, is_regular: false, is_new: false });
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    match options.clone().create_new(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
            // A link to nothing exists too.
            let file = options.create(true).open(path)?;
            Ok(Opened { file, is_regular: true, is_new: false })
        }
        made => made.map(|file| Opened { file, is_regular: true, is_new: true }),
    }
}

fn lock(file: &File, path: &str) -> Result<(), Error> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(Error::Usage(format!("{path} is being written by another run: wait for it or give another file")))
        }
        // Some network file systems have no locks; that is no reason not to write.
        Err(TryLockError::Error(_)) => Ok(()),
    }
}

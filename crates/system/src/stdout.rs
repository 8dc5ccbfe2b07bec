//! Standard output is for results and for a worker's replies.
//!
//! Drivers and kernels print to it too, so it is taken from them before a driver is loaded. What they print goes to
//! standard error. Results go through a descriptor that nothing else in the process knows and that no other program
//! inherits.
//!
//! Only on Unix: elsewhere a driver's C library has a standard output of its own.

use std::io::{self, IsTerminal, Write};
use std::process::Stdio;
#[cfg(unix)]
use std::{fs::File, os::fd::AsFd, sync::OnceLock};

/// Where standard output led before it was taken from drivers; none if that failed.
#[cfg(unix)]
static REAL: OnceLock<Option<File>> = OnceLock::new();

/// Sends what drivers and kernels print to standard error from here on. To be called before any of them is loaded.
#[cfg(unix)]
pub fn take_from_drivers() {
    REAL.get_or_init(|| {
        let real = io::stdout().as_fd().try_clone_to_owned().ok()?;
        rustix::stdio::dup2_stdout(io::stderr()).ok()?;
        Some(File::from(real))
    });
}

/// Sends what drivers and kernels print to standard error, where that is possible.
#[cfg(not(unix))]
pub fn take_from_drivers() {}

/// Standard output, wherever it leads now. Nothing is buffered beyond a call of `write_all` and `flush`.
#[derive(Clone, Copy, Debug)]
pub struct Results;

/// The file behind it, once it was taken from drivers.
#[cfg(unix)]
pub fn file() -> Option<&'static File> {
    REAL.get()?.as_ref()
}

impl Write for Results {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        file().map_or_else(|| io::stdout().write(bytes), |mut file| file.write(bytes))
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stdout().flush()
    }
}

/// Standard output for a process that works in place of this one.
pub fn for_child() -> Stdio {
    #[cfg(unix)]
    if let Some(file) = file().and_then(|file| file.try_clone().ok()) {
        return file.into();
    }
    Stdio::inherit()
}

pub fn is_terminal() -> bool {
    #[cfg(unix)]
    if let Some(file) = file() {
        return file.is_terminal();
    }
    io::stdout().is_terminal()
}

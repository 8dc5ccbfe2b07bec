//! A whole command in a process of its own, for one that keeps its session from beginning to end: its driver may crash.

use super::Interrupted;
use crate::processes;
use gpulab_model::{Error, Result};
use gpulab_record::terminal::{self, Stdout};
use std::env;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Set in the child.
const INSIDE: &str = "GPULAB_APART";

/// Added to the exit code of a child that ends by itself: a driver that ends the process knows nothing of it.
const ORDERLY: i32 = 110;

/// How often it is looked whether something happened.
const TICK: Duration = Duration::from_millis(20);

/// Runs the same command line in a child process, which does `body` there. An interrupt reaches it, too.
/// [`Error::Told`] if the child has printed the reason itself.
pub fn apart(interrupted: Interrupted, body: impl FnOnce() -> Result<()>) -> Result<()> {
    if env::var_os(INSIDE).is_none() {
        return in_child(interrupted);
    }
    processes::end_with_parent();
    let code = match body() {
        Err(error) if !error.is_closed_pipe() => {
            terminal::say(&terminal::abridged(&format!("gpulab: {error}")));
            error.exit_code()
        }
        _ => 0,
    };
    std::process::exit(ORDERLY + i32::from(code));
}

fn in_child(interrupted: Interrupted) -> Result<()> {
    let mut command = Command::new(env::current_exe().map_err(unstarted)?);
    command
        .args(env::args_os().skip(1))
        .env(INSIDE, "1")
        .stdout(Stdout.for_child());
    let mut child = command.spawn().map_err(unstarted)?;
    let status = ended(&mut child, interrupted).map_err(unstarted)?;
    let code = status
        .code()
        .and_then(|code| u8::try_from(code - ORDERLY).ok());
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(Error::Told(code)),
        None if interrupted() => Err(Error::Interrupted),
        None => Err(Error::Failed(format!(
            "the process that worked with the driver was ended ({status})"
        ))),
    }
}

fn unstarted(error: io::Error) -> Error {
    Error::Failed(format!("cannot start a process for the driver: {error}"))
}

/// Waits for a child's end; hands an interrupt on to it, unless it came from a terminal, where the child has it too.
fn ended(child: &mut Child, interrupted: Interrupted) -> io::Result<ExitStatus> {
    const GRACE: Duration = Duration::from_millis(500);
    let mut since = None;
    let mut is_asked = false;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if interrupted() && !is_asked && since.get_or_insert_with(Instant::now).elapsed() > GRACE {
            processes::interrupt(child);
            is_asked = true;
        }
        std::thread::sleep(TICK);
    }
}

/// From now on an interrupt ends the process, which [`apart`] began, once `tidy` is done.
pub fn end_when_interrupted(interrupted: Interrupted, tidy: impl FnOnce() + Send + 'static) {
    let watching = std::thread::Builder::new().spawn(move || {
        while !interrupted() {
            std::thread::sleep(TICK);
        }
        tidy();
        terminal::say(&format!("gpulab: {}", Error::Interrupted));
        std::process::exit(ORDERLY + i32::from(Error::Interrupted.exit_code()));
    });
    if let Err(why) = watching {
        terminal::say(&format!("gpulab: an interrupt does not end this: {why}"));
    }
}

/// Does something that a driver may never let end: after this time it ends the process, and says why.
pub fn within<T>(limit: Duration, doing: &str, body: impl FnOnce() -> T) -> T {
    let late = format!(
        "while {doing}, the driver did not answer within {:.0} s",
        limit.as_secs_f64()
    );
    let (done, end) = mpsc::channel::<()>();
    let watching = std::thread::Builder::new().spawn(move || {
        if end.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            terminal::say(&format!("gpulab: {late}; --deadline changes it"));
            // A driver that hangs may hang again in its clean-up.
            std::process::abort();
        }
    });
    if let Err(why) = watching {
        terminal::say(&format!(
            "gpulab: nothing ends the driver if it never answers: {why}"
        ));
    }
    let result = body();
    drop(done);
    result
}

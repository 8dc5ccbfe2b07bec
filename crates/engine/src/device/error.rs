//! Errors of devices, in words, and the fence that keeps panics of `ocl` inside this folder.

use super::forward;
use super::status::{self, BUILD_PROGRAM_FAILURE, PLATFORM_NOT_FOUND};
use gpulab_model::Error;
use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Why a device did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceError {
    #[error("{}", call_message(call, *code))]
    Call {
        call: String,
        /// OpenCL's status code, below 0.
        code: i32,
        /// Whether a launch or a transfer had begun by then, so that this is no answer to a question but a failure.
        begun: bool,
    },
    /// A kernel did not compile, or a program lacks a kernel that it should have.
    #[error("the kernel did not build:\n{log}")]
    Build {
        /// The compiler's log, fit to be shown.
        log: String,
    },
    /// Something was refused before OpenCL was asked, or failed outside of it.
    #[error("{call} failed: {message}")]
    Other { call: String, message: String },
}

/// Codes that refuse this launch, this buffer or this image but leave the device sound.
const REFUSALS: &[i32] = &[-4, -5, -6, -10, -40, -52, -54, -55, -56, -59, -61, -63, -72];

pub(super) const HOST_MEMORY: &str = "allocating host memory";

/// What may refuse, before anything begins: the same codes of any other function tell of a failure. An argument's error
/// says which one it is behind the function's name.
const REFUSERS: [&str; 5] =
    ["clCreateBuffer", "clCreateImage", "clSetKernelArg", "clEnqueueNDRangeKernel", HOST_MEMORY];

impl DeviceError {
    pub fn call(call: &str, code: i32) -> DeviceError {
        DeviceError::Call { call: call.to_owned(), code, begun: false }
    }

    /// The same, of something that had begun.
    pub fn begun(self) -> DeviceError {
        self.after(true)
    }

    /// The same, where something had `begun` before.
    pub(super) fn after(self, begun: bool) -> DeviceError {
        match self {
            DeviceError::Call { call, code, .. } if begun => DeviceError::Call { call, code, begun },
            other => other,
        }
    }

    /// A failure in words.
    pub fn other(call: &str, message: impl Display) -> DeviceError {
        DeviceError::Other { call: call.to_owned(), message: message.to_string() }
    }

    pub fn code(&self) -> Option<i32> {
        match self {
            DeviceError::Call { code, .. } => Some(*code),
            DeviceError::Build { .. } => Some(BUILD_PROGRAM_FAILURE),
            DeviceError::Other { .. } => None,
        }
    }

    /// Whether the device refused this size or shape before anything began, and would take another.
    pub fn is_refusal(&self) -> bool {
        match self {
            DeviceError::Call { call, code, begun: false } => {
                let refuser = call.split_once(" (").map_or(call.as_str(), |(name, _)| name);
                REFUSALS.contains(code) && REFUSERS.contains(&refuser)
            }
            _ => false,
        }
    }

    pub fn is_build(&self) -> bool {
        matches!(self, DeviceError::Build { .. })
    }
}

impl From<DeviceError> for Error {
    fn from(error: DeviceError) -> Error {
        let text = error.to_string();
        match error {
            DeviceError::Build { .. } => Error::BuildFailed(text),
            DeviceError::Call { code: -1 | PLATFORM_NOT_FOUND, .. } => Error::NoDevice(text),
            _ => Error::Failed(text),
        }
    }
}

fn call_message(call: &str, code: i32) -> String {
    match status::status(code) {
        Some(s) => format!("{call} failed: {} ({code}): {}; {}", s.name, s.cause, s.next),
        None => format!("{call} failed with status {code}, which OpenCL does not define; see the driver's manual"),
    }
}

pub(super) fn check(call: &str, code: i32) -> Result<(), DeviceError> {
    if code == 0 { Ok(()) } else { Err(DeviceError::call(call, code)) }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs one call of `ocl`, and turns its errors and panics into a [`DeviceError`] with OpenCL's own code.
pub(super) fn guarded<T, E: Display>(call: &str, body: impl FnOnce() -> Result<T, E>) -> Result<T, DeviceError> {
    silence_panics_of_guarded_calls();
    forward::take_failure();
    let outer = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(body));
    QUIET.set(outer);
    let message = match result {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(payload) => panic_text(payload.as_ref()).to_owned(),
    };
    Err(match forward::take_failure() {
        Some((failed, code)) => DeviceError::call(failed, code),
        None => DeviceError::other(call, message.trim()),
    })
}

/// One more reference to an object of OpenCL: `ocl` panics where the driver gives none.
pub(super) fn retained<T: Clone>(call: &str, object: &T) -> Result<T, DeviceError> {
    guarded(call, || Ok::<T, Infallible>(object.clone()))
}

/// Once: makes the panic hook say nothing while a guarded call of the same thread runs.
fn silence_panics_of_guarded_calls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
}

fn panic_text(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_told_in_words() {
        let text = DeviceError::call("clEnqueueNDRangeKernel", -54).to_string();
        assert_eq!(
            text,
            "clEnqueueNDRangeKernel failed: CL_INVALID_WORK_GROUP_SIZE (-54): the kernel cannot run with this \
             work-group size here; try a smaller work-group (`--wg`)"
        );
        assert!(DeviceError::call("clFinish", -4321).to_string().contains("status -4321"));
    }

    #[test]
    fn refusals_are_told_from_failures_and_failed_builds() {
        for code in [-4, -5, -6, -52, -54, -55, -61] {
            assert!(DeviceError::call("clEnqueueNDRangeKernel", code).is_refusal(), "{code}");
        }
        for code in [-11, -36, -38, -9999] {
            assert!(!DeviceError::call("clEnqueueNDRangeKernel", code).is_refusal(), "{code}");
        }
        assert!(DeviceError::call("clSetKernelArg (argument 3 of `k`)", -61).is_refusal());
        assert!(DeviceError::call("clCreateBuffer", -4).is_refusal());
        let build = DeviceError::Build { log: "x".to_owned() };
        assert!(build.is_build() && !build.is_refusal());
        assert_eq!(Error::from(build).exit_code(), 5);
        assert_eq!(Error::from(DeviceError::call("clGetPlatformIDs", -1001)).exit_code(), 3);
        assert_eq!(Error::from(DeviceError::other("clCreateBuffer", "no")).exit_code(), 1);
    }

    #[test]
    fn nothing_is_a_refusal_once_something_has_begun() {
        let others =
            ["clFinish", "clEnqueueReadBuffer", "clEnqueueWriteBuffer", "clEnqueueMapBuffer", "clBuildProgram"];
        for code in REFUSALS {
            for call in others {
                assert!(!DeviceError::call(call, *code).is_refusal(), "{call} {code}");
            }
            for call in REFUSERS {
                assert!(!DeviceError::call(call, *code).begun().is_refusal(), "{call} {code}");
            }
        }
    }

    #[test]
    fn panics_and_errors_become_device_errors() {
        let caught = guarded("clFinish", || -> Result<(), String> { panic!("status {}", -7777) });
        assert_eq!(caught, Err(DeviceError::other("clFinish", "status -7777")));
        let failed = guarded("clFinish", || Err::<(), _>("no"));
        assert_eq!(failed, Err(DeviceError::other("clFinish", "no")));
        assert_eq!(guarded("clFinish", || Ok::<_, String>(3)), Ok(3));
    }
}

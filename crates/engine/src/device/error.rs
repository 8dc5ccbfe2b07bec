//! Errors of devices, in words, and the fence that keeps panics of `ocl` inside this folder.

use super::forward;
use gpulab_model::Error;
use gpulab_model::outcome::{Status, Stop};
use gpulab_model::plan::Refusal;
use std::any::Any;
use std::cell::Cell;
use std::convert::Infallible;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// What a device answers, or why it does not.
pub type DeviceResult<T> = Result<T, DeviceError>;

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
const REFUSERS: [&str; 5] = [
    "clCreateBuffer",
    "clCreateImage",
    "clSetKernelArg",
    "clEnqueueNDRangeKernel",
    HOST_MEMORY,
];

impl DeviceError {
    pub fn call(call: &str, code: i32) -> DeviceError {
        DeviceError::Call {
            call: call.to_owned(),
            code,
            begun: false,
        }
    }

    /// The same, of something that had begun.
    pub fn begun(self) -> DeviceError {
        self.after(true)
    }

    /// The same, where something had `begun` before.
    pub(super) fn after(self, begun: bool) -> DeviceError {
        match self {
            DeviceError::Call { call, code, .. } if begun => {
                DeviceError::Call { call, code, begun }
            }
            other => other,
        }
    }

    /// A failure in words.
    pub fn other(call: &str, message: impl Display) -> DeviceError {
        DeviceError::Other {
            call: call.to_owned(),
            message: message.to_string(),
        }
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
            DeviceError::Call {
                call,
                code,
                begun: false,
            } => {
                let refuser = call
                    .split_once(" (")
                    .map_or(call.as_str(), |(name, _)| name);
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
            DeviceError::Call {
                code: -1 | PLATFORM_NOT_FOUND,
                ..
            } => Error::NoDevice(text),
            _ => Error::Failed(text),
        }
    }
}

fn call_message(call: &str, code: i32) -> String {
    match status(code) {
        Some(s) => format!(
            "{call} failed: {} ({code}): {}; {}",
            s.name, s.cause, s.next
        ),
        None => format!(
            "{call} failed with status {code}, which is not known here; see OpenCL's CL/cl.h or the driver's manual"
        ),
    }
}

pub(super) fn check(call: &str, code: i32) -> DeviceResult<()> {
    if code == 0 {
        Ok(())
    } else {
        Err(DeviceError::call(call, code))
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs one call of `ocl`, and turns its errors and panics into a [`DeviceError`] with OpenCL's own code.
pub(super) fn guarded<T, E: Display>(
    call: &str,
    body: impl FnOnce() -> Result<T, E>,
) -> DeviceResult<T> {
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
pub(super) fn retained<T: Clone>(call: &str, object: &T) -> DeviceResult<T> {
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
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("a panic without a message")
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Stop {
        if error.is_refusal() {
            return refusal(&error).into();
        }
        let status = if error.is_build() {
            Status::BuildFailed
        } else {
            Status::Failed
        };
        Stop::new(status, error.to_string())
    }
}

/// What a device refused, by OpenCL's status code.
fn refusal(error: &DeviceError) -> Refusal {
    let kind = match error.code() {
        Some(-10 | -59) => Refusal::Feature,
        Some(-54 | -55) => Refusal::Group,
        Some(-40 | -56 | -63) => Refusal::Size,
        _ => Refusal::Memory,
    };
    kind(error.to_string())
}

pub(super) const PLATFORM_NOT_FOUND: i32 = -1001;
const BUILD_PROGRAM_FAILURE: i32 = -11;

/// A status code: its name, its likely cause, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownCode {
    pub code: i32,
    pub name: &'static str,
    pub cause: &'static str,
    pub next: &'static str,
}

const DOCTOR: &str = "run `gpulab doctor`";
const REPORT: &str = "this is a mistake in gpulab or the driver: please report it";
const SMALLER_WG: &str = "try a smaller work-group (`--wg`)";
const SMALLER: &str =
    "try a smaller work-group (`--wg`), or smaller tiles (`--tile`) where there are any";
const SMALLER_N: &str = "try a smaller size (`--n`)";
const SOURCE: &str = "look at the kernel's source and the log";
const DRIVER: &str = "try again; if it stays, update or reinstall the driver";

/// OpenCL's name of a status code.
pub fn code_name(code: i32) -> &'static str {
    status(code).map_or("a code that OpenCL does not name", |known| known.name)
}

pub(super) fn status(code: i32) -> Option<&'static KnownCode> {
    TABLE.iter().find(|s| s.code == code)
}

const fn row(code: i32, name: &'static str, cause: &'static str, next: &'static str) -> KnownCode {
    KnownCode {
        code,
        name,
        cause,
        next,
    }
}

/// OpenCL's codes that its calls here may give, then those that loaders and drivers add.
const TABLE: &[KnownCode] = &[
    row(
        -1,
        "CL_DEVICE_NOT_FOUND",
        "the platform has no such device",
        DOCTOR,
    ),
    row(
        -2,
        "CL_DEVICE_NOT_AVAILABLE",
        "the device is busy, disabled or in use by another program",
        DRIVER,
    ),
    row(
        -3,
        "CL_COMPILER_NOT_AVAILABLE",
        "the driver came without its compiler",
        DOCTOR,
    ),
    row(
        -4,
        "CL_MEM_OBJECT_ALLOCATION_FAILURE",
        "the device has not enough free memory",
        SMALLER_N,
    ),
    row(
        -5,
        "CL_OUT_OF_RESOURCES",
        "the launch needs more registers, local memory or time than there is",
        SMALLER,
    ),
    row(
        -6,
        "CL_OUT_OF_HOST_MEMORY",
        "the driver got no memory from the system",
        SMALLER_N,
    ),
    row(
        -7,
        "CL_PROFILING_INFO_NOT_AVAILABLE",
        "the driver has no event times for this launch",
        "use `--clock wall`",
    ),
    row(
        -10,
        "CL_IMAGE_FORMAT_NOT_SUPPORTED",
        "the device lacks this image format",
        "use another device",
    ),
    row(
        -11,
        "CL_BUILD_PROGRAM_FAILURE",
        "the driver's compiler refused the kernel",
        SOURCE,
    ),
    row(
        -12,
        "CL_MAP_FAILURE",
        "the buffer could not be mapped into host memory",
        SMALLER_N,
    ),
    row(
        -13,
        "CL_MISALIGNED_SUB_BUFFER_OFFSET",
        "a sub-buffer begins at an address the device cannot use",
        REPORT,
    ),
    row(
        -14,
        "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
        "an earlier command failed",
        DRIVER,
    ),
    row(
        -15,
        "CL_COMPILE_PROGRAM_FAILURE",
        "the driver's compiler refused the kernel",
        SOURCE,
    ),
    row(
        -30,
        "CL_INVALID_VALUE",
        "the driver does not know a value that it was given",
        REPORT,
    ),
    row(
        -32,
        "CL_INVALID_PLATFORM",
        "the platform is gone or was never there",
        DOCTOR,
    ),
    row(
        -33,
        "CL_INVALID_DEVICE",
        "the device is gone or belongs to another platform",
        DOCTOR,
    ),
    row(
        -34,
        "CL_INVALID_CONTEXT",
        "the driver lost the context, usually after a crash of the device",
        DRIVER,
    ),
    row(
        -36,
        "CL_INVALID_COMMAND_QUEUE",
        "the queue died, usually because a kernel crashed or ran too long",
        DRIVER,
    ),
    row(
        -37,
        "CL_INVALID_HOST_PTR",
        "a pointer to host memory is wrong",
        REPORT,
    ),
    row(
        -38,
        "CL_INVALID_MEM_OBJECT",
        "a buffer is gone or was never made",
        REPORT,
    ),
    row(
        -40,
        "CL_INVALID_IMAGE_SIZE",
        "the image is larger than the device allows",
        SMALLER_N,
    ),
    row(
        -42,
        "CL_INVALID_BINARY",
        "a compiled kernel is damaged or made for another driver",
        "empty the driver's cache",
    ),
    row(
        -43,
        "CL_INVALID_BUILD_OPTIONS",
        "the compiler does not know one of its options",
        SOURCE,
    ),
    row(
        -44,
        "CL_INVALID_PROGRAM",
        "the program is gone or was never made",
        REPORT,
    ),
    row(
        -45,
        "CL_INVALID_PROGRAM_EXECUTABLE",
        "the program was not built for this device",
        SOURCE,
    ),
    row(
        -46,
        "CL_INVALID_KERNEL_NAME",
        "the source has no kernel of this name, or it did not link",
        SOURCE,
    ),
    row(
        -49,
        "CL_INVALID_ARG_INDEX",
        "the kernel has fewer arguments than it was given",
        SOURCE,
    ),
    row(
        -50,
        "CL_INVALID_ARG_VALUE",
        "an argument's value is not possible",
        SOURCE,
    ),
    row(
        -51,
        "CL_INVALID_ARG_SIZE",
        "an argument's size differs from the kernel's",
        SOURCE,
    ),
    row(
        -52,
        "CL_INVALID_KERNEL_ARGS",
        "an argument is missing, or the driver cannot pass it",
        SOURCE,
    ),
    row(
        -54,
        "CL_INVALID_WORK_GROUP_SIZE",
        "the kernel cannot run with this work-group size here",
        SMALLER_WG,
    ),
    row(
        -55,
        "CL_INVALID_WORK_ITEM_SIZE",
        "the work-group is larger than the device allows",
        SMALLER_WG,
    ),
    row(
        -56,
        "CL_INVALID_GLOBAL_OFFSET",
        "the launch begins beyond what the device can count",
        SMALLER_N,
    ),
    row(
        -59,
        "CL_INVALID_OPERATION",
        "the device cannot do this",
        "use another device",
    ),
    row(
        -61,
        "CL_INVALID_BUFFER_SIZE",
        "the buffer is larger than the device allows",
        SMALLER_N,
    ),
    row(
        -63,
        "CL_INVALID_GLOBAL_WORK_SIZE",
        "the launch has no work-items, or more than the device can count",
        SMALLER_N,
    ),
    row(
        -72,
        "CL_MAX_SIZE_RESTRICTION_EXCEEDED",
        "an argument is larger than the kernel allows",
        SMALLER_N,
    ),
    row(
        PLATFORM_NOT_FOUND,
        "CL_PLATFORM_NOT_FOUND_KHR",
        "no OpenCL driver is installed, or none loads",
        DOCTOR,
    ),
    row(
        -9999,
        "CL_NV_ILLEGAL_MEMORY_ACCESS",
        "a kernel read or wrote outside its buffers",
        SOURCE,
    ),
];

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
        assert!(
            DeviceError::call("clFinish", -4321)
                .to_string()
                .contains("status -4321")
        );
    }

    #[test]
    fn refusals_are_told_from_failures_and_failed_builds() {
        for code in [-4, -5, -6, -52, -54, -55, -61] {
            assert!(
                DeviceError::call("clEnqueueNDRangeKernel", code).is_refusal(),
                "{code}"
            );
        }
        for code in [-11, -36, -38, -9999] {
            assert!(
                !DeviceError::call("clEnqueueNDRangeKernel", code).is_refusal(),
                "{code}"
            );
        }
        assert!(DeviceError::call("clSetKernelArg (argument 3 of `k`)", -61).is_refusal());
        assert!(DeviceError::call("clCreateBuffer", -4).is_refusal());
        let build = DeviceError::Build {
            log: "x".to_owned(),
        };
        assert!(build.is_build() && !build.is_refusal());
        assert_eq!(Error::from(build).exit_code(), 5);
        assert_eq!(
            Error::from(DeviceError::call("clGetPlatformIDs", -1001)).exit_code(),
            3
        );
        assert_eq!(
            Error::from(DeviceError::other("clCreateBuffer", "no")).exit_code(),
            1
        );
    }

    #[test]
    fn nothing_is_a_refusal_once_something_has_begun() {
        let others = [
            "clFinish",
            "clEnqueueReadBuffer",
            "clEnqueueWriteBuffer",
            "clEnqueueMapBuffer",
            "clBuildProgram",
        ];
        for code in REFUSALS {
            for call in others {
                assert!(
                    !DeviceError::call(call, *code).is_refusal(),
                    "{call} {code}"
                );
            }
            for call in REFUSERS {
                assert!(
                    !DeviceError::call(call, *code).begun().is_refusal(),
                    "{call} {code}"
                );
            }
        }
    }

    #[test]
    fn panics_and_errors_become_device_errors() {
        let caught = guarded("clFinish", || -> Result<(), String> {
            panic!("status {}", -7777)
        });
        assert_eq!(caught, Err(DeviceError::other("clFinish", "status -7777")));
        let failed = guarded("clFinish", || Err::<(), _>("no"));
        assert_eq!(failed, Err(DeviceError::other("clFinish", "no")));
        assert_eq!(guarded("clFinish", || Ok::<_, String>(3)), Ok(3));
    }
}

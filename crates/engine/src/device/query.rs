//! Questions to OpenCL about its objects, asked through the C functions.
//!
//! The queries of `ocl` wait ten seconds without a driver, stop at 64 devices, and panic on answers that they do not
//! know.
#![allow(unsafe_code, reason = "OpenCL's C functions")]

use super::error::{DeviceError, check};
use ocl::core::{DeviceId, Event, Kernel, PlatformId, Program};
use ocl::ffi::{self, c_void};
use std::ptr::null_mut;

/// Longest answer believed, in bytes.
const MOST: usize = 64 << 20;

/// Every platform; empty without a loader or driver.
pub(super) fn platforms() -> Result<Vec<PlatformId>, DeviceError> {
    let call = "clGetPlatformIDs";
    let mut count = 0;
    // SAFETY: no room is offered and `count` outlives the call.
    let code = unsafe { ffi::clGetPlatformIDs(0, null_mut(), &mut count) };
    if code == super::status::PLATFORM_NOT_FOUND || (code == 0 && count == 0) {
        return Ok(Vec::new());
    }
    check(call, code)?;
    let mut ids = vec![null_mut(); count as usize];
    // SAFETY: `ids` has room for `count` handles.
    check(call, unsafe { ffi::clGetPlatformIDs(count, ids.as_mut_ptr(), null_mut()) })?;
    // SAFETY: the handles come from OpenCL just now, and platforms are never released.
    Ok(ids.into_iter().filter(|id| !id.is_null()).map(|id| unsafe { PlatformId::from_raw(id) }).collect())
}

pub(super) fn devices(platform: PlatformId) -> Result<Vec<DeviceId>, DeviceError> {
    const ALL: u64 = 0xFFFF_FFFF;
    let call = "clGetDeviceIDs";
    let mut count = 0;
    // SAFETY: the platform is valid, no room is offered, and `count` outlives the call.
    let code = unsafe { ffi::clGetDeviceIDs(platform.as_ptr(), ALL, 0, null_mut(), &mut count) };
    if code == -1 || (code == 0 && count == 0) {
        return Ok(Vec::new());
    }
    check(call, code)?;
    let mut ids = vec![null_mut(); count as usize];
    // SAFETY: `ids` has room for `count` handles.
    check(call, unsafe { ffi::clGetDeviceIDs(platform.as_ptr(), ALL, count, ids.as_mut_ptr(), null_mut()) })?;
    // SAFETY: the handles come from OpenCL just now; root devices are never released.
    Ok(ids.into_iter().filter(|id| !id.is_null()).map(|id| unsafe { DeviceId::from_raw(id) }).collect())
}

/// The bytes of an answer, kept aligned for any number.
pub(super) struct InfoValue {
    words: Vec<u64>,
    size: usize,
}

impl InfoValue {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words).get(..self.size).unwrap_or_default()
    }

    /// The answer as text, without the NUL that ends it.
    pub(super) fn text(&self) -> String {
        let text = String::from_utf8_lossy(self.bytes());
        text.trim_end_matches('\0').trim().to_owned()
    }

    /// The answer as an unsigned number of 4 or 8 bytes.
    pub(super) fn number(&self) -> Option<u64> {
        match self.size {
            4 => bytemuck::try_pod_read_unaligned::<u32>(self.bytes()).ok().map(u64::from),
            8 => bytemuck::try_pod_read_unaligned(self.bytes()).ok(),
            _ => None,
        }
    }

    /// The answer as a signed number of 4 bytes.
    pub(super) fn signed(&self) -> Option<i32> {
        bytemuck::try_pod_read_unaligned(self.bytes()).ok()
    }

    /// The answer as numbers of the host's word size.
    pub(super) fn sizes(&self) -> Vec<usize> {
        self.bytes().chunks_exact(size_of::<usize>()).map(bytemuck::pod_read_unaligned).collect()
    }
}

/// Asks for the size of an answer, then for the answer.
fn ask(call: &str, mut get: impl FnMut(usize, *mut c_void, *mut usize) -> i32) -> Result<InfoValue, DeviceError> {
    let mut size = 0;
    check(call, get(0, null_mut(), &mut size))?;
    if size > MOST {
        return Err(DeviceError::other(call, format!("the driver announces an answer of {size} bytes")));
    }
    let mut words = vec![0u64; size.div_ceil(8)];
    if size > 0 {
        check(call, get(size, words.as_mut_ptr().cast(), null_mut()))?;
    }
    Ok(InfoValue { words, size })
}

/// Defines questions: C functions of OpenCL whose last four arguments are key, size, place and size needed.
macro_rules! questions {
    ($($name:ident($($arg:ident: $ty:ty => $handle:expr),*) $function:ident;)*) => {
        $(pub(super) fn $name($($arg: $ty,)* key: u32) -> Result<InfoValue, DeviceError> {
            ask(stringify!($function), |size, place, needed| {
                // SAFETY: the handles are alive, and `ask` gives a place of `size` bytes.
                unsafe { ffi::$function($($handle,)* key, size, place, needed) }
            })
        })*
    };
}

questions! {
    platform(id: PlatformId => id.as_ptr()) clGetPlatformInfo;
    device(id: DeviceId => id.as_raw()) clGetDeviceInfo;
    build(program: &Program => program.as_ptr(), id: DeviceId => id.as_raw()) clGetProgramBuildInfo;
    kernel(kernel: &Kernel => kernel.as_ptr()) clGetKernelInfo;
    kernel_arg(kernel: &Kernel => kernel.as_ptr(), index: u32 => index) clGetKernelArgInfo;
    kernel_work_group(kernel: &Kernel => kernel.as_ptr(), id: DeviceId => id.as_raw()) clGetKernelWorkGroupInfo;
    event(event: &Event => *event.as_ptr_ref()) clGetEventInfo;
    event_time(event: &Event => *event.as_ptr_ref()) clGetEventProfilingInfo;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: &'static [u8]) -> InfoValue {
        ask("clTest", |size, place, needed| {
            if size == 0 {
                // SAFETY: `ask` gives a place for the size when it asks for it.
                unsafe { *needed = bytes.len() };
            } else {
                // SAFETY: `ask` gives a place of `size` bytes.
                unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place.cast::<u8>(), size) };
            }
            0
        })
        .unwrap()
    }

    #[test]
    fn answers_are_texts_and_numbers_of_both_widths() {
        assert_eq!(answer(b"Portable \0").text(), "Portable");
        assert_eq!(answer(b"\xff\0").text(), "\u{fffd}");
        assert_eq!(answer(b"").text(), "");
        assert_eq!(answer(&[1, 0, 0, 0]).number(), Some(1));
        assert_eq!(answer(&[0, 0, 0, 0, 1, 0, 0, 0]).number(), Some(1 << 32));
        assert_eq!(answer(&[1, 0]).number(), None);
        assert_eq!(answer(&[2, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]).sizes(), [2, 3]);
    }

    #[test]
    fn refused_and_absurd_answers_are_errors() {
        assert_eq!(ask("clTest", |_, _, _| -30).err(), Some(DeviceError::call("clTest", -30)));
        let absurd = ask("clTest", |_, _, needed| {
            // SAFETY: `ask` gives a place for the size when it asks for it.
            unsafe { *needed = usize::MAX };
            0
        });
        assert!(absurd.is_err());
    }
}

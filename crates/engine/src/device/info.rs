//! What platforms, devices and other objects of OpenCL say of themselves, asked through the C functions.
//!
//! The queries of `ocl` wait ten seconds without a driver, stop at 64 devices, and panic on answers that they do not know.
#![allow(unsafe_code, reason = "OpenCL's C functions")]

use super::error::{DeviceError, DeviceResult, PLATFORM_NOT_FOUND, check};
use super::{doctor, forward};
use crate::processes;
use gpulab_model::Joined;
use gpulab_model::outcome::{DeviceInfo, PlatformInfo};
use gpulab_model::plan::Target;
use ocl::core::{DeviceId, Event, Kernel, PlatformId, Program};
use ocl::ffi::{self, c_void};
use std::ptr::null_mut;

/// Every platform with its devices. Without a loader or a driver the list is empty; see [`super::loader()`].
pub fn list_platforms() -> DeviceResult<Vec<PlatformInfo>> {
    if let Some(problem) = forward::loader().problem() {
        return Err(DeviceError::other("loading OpenCL", problem));
    }
    let mut next_row = 0;
    let ids = platforms()?;
    let platforms: Vec<_> = ids
        .into_iter()
        .enumerate()
        .map(|(index, id)| platform_info(index, id, &mut next_row))
        .collect();
    match processes::address_space_limit() {
        Some(limit) if next_row == 0 => Err(DeviceError::other(
            "clGetDeviceIDs",
            format!("no driver has a device, but {limit} for drivers to load"),
        )),
        _ => Ok(platforms),
    }
}

/// The name that its maker gives to a device's generation, where it tells: NVIDIA's compute capability, as in `9.0`, or AMD's
/// target, as in `gfx90a`.
pub fn generation(info: &DeviceInfo) -> Option<String> {
    if let Some(target) = info
        .name
        .split([':', ' '])
        .next()
        .filter(|word| word.starts_with("gfx"))
    {
        return Some(target.to_owned());
    }
    // Other drivers may mean something else by the same numbers.
    info.extensions
        .split(' ')
        .find(|extension| *extension == "cl_nv_device_attribute_query")?;
    let id = handles(info).ok()?.1;
    let keys = [COMPUTE_CAPABILITY_MAJOR, 0x4001];
    let [Some(major), Some(minor)] = keys.map(|key| device(id, key).ok()?.number()) else {
        return None;
    };
    Some(format!("{major}.{minor}"))
}

pub fn handles(info: &DeviceInfo) -> DeviceResult<(PlatformId, DeviceId)> {
    let numbers = info.selector.split_once(':');
    let [platform, device] = numbers.map_or([usize::MAX; 2], |(p, d)| {
        [p, d].map(|number| number.parse().unwrap_or(usize::MAX))
    });
    if let Some(&platform) = platforms()?.get(platform)
        && let Some(&device) = devices(platform)?.get(device)
    {
        return Ok((platform, device));
    }
    Err(DeviceError::other(
        "clGetDeviceIDs",
        format!("device {} is gone", info.selector),
    ))
}

fn platform_info(index: usize, id: PlatformId, next_row: &mut usize) -> PlatformInfo {
    let [version, name, vendor] =
        [0x0901, 0x0902, 0x0903].map(|key| platform(id, key).map(|a| a.text()).unwrap_or_default());
    let (ids, problem) = match devices(id) {
        Ok(ids) if ids.is_empty() => (
            ids,
            doctor::pocl_cache_problem().filter(|_| name.contains(doctor::POCL)),
        ),
        Ok(ids) => (ids, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let devices = ids
        .into_iter()
        .enumerate()
        .map(|(d, id)| device_info(id, *next_row + d, format!("{index}:{d}"), &name));
    let devices: Vec<DeviceInfo> = devices.collect();
    *next_row += devices.len();
    PlatformInfo {
        index,
        vendor,
        version,
        name,
        devices,
        problem,
    }
}

/// Of `cl_nv_device_attribute_query`: the first number of the compute capability.
const COMPUTE_CAPABILITY_MAJOR: u32 = 0x4000;

/// Everything that is needed of one device, by the numbers of CL_DEVICE_... in CL/cl.h; a question that a driver refuses leaves a 0
/// or an empty text.
fn device_info(id: DeviceId, index: usize, selector: String, platform: &str) -> DeviceInfo {
    let kind = kind(number(id, 0x1000));
    let extensions = text(id, 0x1030).split_whitespace().joined(" ");
    let vendor = text(id, 0x102C);
    let target = Target {
        gpu: kind == "gpu",
        compute_units: small(number(id, 0x1002)).min(MOST_UNITS),
        max_wg: usize::try_from(number(id, 0x1004))
            .unwrap_or(MOST_ITEMS)
            .min(MOST_ITEMS),
        max_wg_dims: dims(&device(id, 0x1005).map(|a| a.sizes()).unwrap_or_default()),
        local_mem: bytes(id, 0x1023),
        global_mem: bytes(id, 0x101F),
        max_alloc: bytes(id, 0x1010),
        cache: bytes(id, 0x101E),
        float_lanes: small(number(id, 0x103A)),
        fp64: number(id, 0x1032) != 0 || has(&extensions, &["cl_khr_fp64"]),
        fp16: has(&extensions, &["cl_khr_fp16"]),
        nvidia: vendor.contains("NVIDIA") || platform.contains("NVIDIA"),
        async_copy: has(&extensions, &["cl_nv_device_attribute_query"])
            && number(id, COMPUTE_CAPABILITY_MAJOR) >= 8,
        register_caps: has(&extensions, &["cl_nv_compiler_options"]),
        prefetch: kind == "cpu"
            && ["Portable Computing Language", "Intel"]
                .iter()
                .any(|name| platform.contains(name)),
        subgroups: has(&extensions, &["cl_khr_subgroups", "cl_intel_subgroups"]),
        images: number(id, 0x1016) != 0,
    };
    DeviceInfo {
        index,
        selector,
        platform: platform.to_owned(),
        name: text(id, 0x102B),
        vendor,
        kind: kind.to_owned(),
        driver: text(id, 0x102D),
        cl_version: text(id, 0x102F),
        clock_mhz: small(number(id, 0x100C)),
        timer_ns: number(id, 0x1025),
        extensions,
        target,
    }
}

fn text(id: DeviceId, key: u32) -> String {
    device(id, key).map(|a| a.text()).unwrap_or_default()
}

fn number(id: DeviceId, key: u32) -> u64 {
    device(id, key).ok().and_then(|a| a.number()).unwrap_or(0)
}

fn bytes(id: DeviceId, key: u32) -> u64 {
    number(id, key).min(MOST_BYTES)
}

fn has(extensions: &str, names: &[&str]) -> bool {
    extensions.split(' ').any(|e| names.contains(&e))
}

/// Largest numbers that are believed, beyond any device: what is reckoned with them overflows nothing.
const MOST_BYTES: u64 = 1 << 48;
const MOST_UNITS: u32 = 1 << 20;
const MOST_ITEMS: usize = 1 << 24;

fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Work-group limits of three dimensions, 1 where the device has fewer, 0 where it tells none.
fn dims(sizes: &[usize]) -> [usize; 3] {
    let beyond = usize::from(!sizes.is_empty());
    std::array::from_fn(|i| sizes.get(i).map_or(beyond, |&size| size.min(MOST_ITEMS)))
}

/// Demands the limits by which kernels are chosen and refused: one that the driver does not tell would pass for a limit of 0.
pub fn demand_limits(target: &Target) -> DeviceResult<()> {
    let limits = [
        (
            target.max_wg as u64,
            "the largest work-group (CL_DEVICE_MAX_WORK_GROUP_SIZE)",
        ),
        (
            target.max_wg_dims[0] as u64,
            "the largest work-group in each dimension (CL_DEVICE_MAX_WORK_ITEM_SIZES)",
        ),
        (
            target.local_mem,
            "its local memory (CL_DEVICE_LOCAL_MEM_SIZE)",
        ),
        (
            target.global_mem,
            "its global memory (CL_DEVICE_GLOBAL_MEM_SIZE)",
        ),
        (
            target.max_alloc,
            "the largest buffer (CL_DEVICE_MAX_MEM_ALLOC_SIZE)",
        ),
    ];
    match limits.into_iter().find(|(limit, _)| *limit == 0) {
        Some((_, name)) => Err(DeviceError::other(
            "clGetDeviceInfo",
            format!(
                "the driver does not tell {name}, which every kernel needs; `gpulab doctor` tests the driver"
            ),
        )),
        None => Ok(()),
    }
}

/// A device's type from its bits. A simulator that claims all types has a CPU's shape.
fn kind(bits: u64) -> &'static str {
    [(2, "cpu"), (4, "gpu"), (8, "accelerator")]
        .into_iter()
        .find(|(bit, _)| bits & bit != 0)
        .map_or("other", |(_, name)| name)
}

/// Longest answer believed, in bytes.
const MOST: usize = 64 << 20;

/// The handles that a call lists, which `ask` is given room for, as many as fit it, and a place for their number; none where it
/// answers `none`.
fn listed<T>(
    call: &str,
    none: i32,
    ask: impl Fn(u32, *mut *mut T, *mut u32) -> i32,
) -> DeviceResult<impl Iterator<Item = *mut T>> {
    let mut count = 0;
    let code = ask(0, null_mut(), &mut count);
    let mut ids = Vec::new();
    if code != none {
        check(call, code)?;
        ids.resize(count as usize, null_mut());
    }
    if !ids.is_empty() {
        check(call, ask(count, ids.as_mut_ptr(), null_mut()))?;
    }
    Ok(ids.into_iter().filter(|id| !id.is_null()))
}

/// Every platform; empty without a loader or driver.
pub fn platforms() -> DeviceResult<Vec<PlatformId>> {
    let ids = listed(
        "clGetPlatformIDs",
        PLATFORM_NOT_FOUND,
        |room, ids, count| {
            // SAFETY: there is room for so many handles, and `count` outlives the call.
            unsafe { ffi::clGetPlatformIDs(room, ids, count) }
        },
    )?;
    // SAFETY: the handles come from OpenCL just now, and platforms are never released.
    Ok(ids.map(|id| unsafe { PlatformId::from_raw(id) }).collect())
}

pub fn devices(platform: PlatformId) -> DeviceResult<Vec<DeviceId>> {
    const ALL: u64 = 0xFFFF_FFFF;
    const DEVICE_NOT_FOUND: i32 = -1;
    let ids = listed("clGetDeviceIDs", DEVICE_NOT_FOUND, |room, ids, count| {
        // SAFETY: the platform is valid, there is room for so many handles, and `count` outlives the call.
        unsafe { ffi::clGetDeviceIDs(platform.as_ptr(), ALL, room, ids, count) }
    })?;
    // SAFETY: the handles come from OpenCL just now; root devices are never released.
    Ok(ids.map(|id| unsafe { DeviceId::from_raw(id) }).collect())
}

/// The bytes of an answer, kept aligned for any number.
pub struct InfoValue {
    words: Vec<u64>,
    size: usize,
}

impl InfoValue {
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words)
            .get(..self.size)
            .unwrap_or_default()
    }

    /// The answer as text, without the NUL that ends it.
    pub fn text(&self) -> String {
        let text = String::from_utf8_lossy(self.bytes());
        text.trim_end_matches('\0').trim().to_owned()
    }

    /// The answer as an unsigned number of 4 or 8 bytes.
    pub fn number(&self) -> Option<u64> {
        match self.size {
            4 => bytemuck::try_pod_read_unaligned::<u32>(self.bytes())
                .ok()
                .map(u64::from),
            8 => bytemuck::try_pod_read_unaligned(self.bytes()).ok(),
            _ => None,
        }
    }

    /// The answer as a signed number of 4 bytes.
    pub fn signed(&self) -> Option<i32> {
        bytemuck::try_pod_read_unaligned(self.bytes()).ok()
    }

    /// The answer as numbers of the host's word size.
    pub fn sizes(&self) -> Vec<usize> {
        self.bytes()
            .chunks_exact(size_of::<usize>())
            .map(bytemuck::pod_read_unaligned)
            .collect()
    }
}

/// Asks for the size of an answer, then for the answer.
fn ask(
    call: &str,
    mut get: impl FnMut(usize, *mut c_void, *mut usize) -> i32,
) -> DeviceResult<InfoValue> {
    let mut size = 0;
    check(call, get(0, null_mut(), &mut size))?;
    if size > MOST {
        return Err(DeviceError::other(
            call,
            format!("the driver announces an answer of {size} bytes"),
        ));
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
        $(pub fn $name($($arg: $ty,)* key: u32) -> DeviceResult<InfoValue> {
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

    #[test]
    fn a_type_is_one_word() {
        assert_eq!(kind(4), "gpu");
        assert_eq!(kind(5), "gpu");
        assert_eq!(kind(2), "cpu");
        assert_eq!(kind(8), "accelerator");
        assert_eq!(kind(16), "other");
        assert_eq!(kind(0), "other");
        assert_eq!(kind(1 + 2 + 4 + 8), "cpu", "Oclgrind");
    }

    #[test]
    fn a_limit_that_the_driver_does_not_tell_is_no_limit_of_zero() {
        let whole = Target::with_everything(true);
        assert_eq!(demand_limits(&whole), Ok(()));
        let told = |target| demand_limits(&target).unwrap_err().to_string();
        assert!(
            told(Target {
                max_wg: 0,
                ..whole.clone()
            })
            .contains("CL_DEVICE_MAX_WORK_GROUP_SIZE")
        );
        assert!(
            told(Target {
                max_wg_dims: dims(&[]),
                ..whole.clone()
            })
            .contains("CL_DEVICE_MAX_WORK_ITEM_SIZES")
        );
        assert!(
            told(Target {
                local_mem: 0,
                ..whole
            })
            .contains("CL_DEVICE_LOCAL_MEM_SIZE")
        );
    }

    #[test]
    fn refused_and_absurd_answers_are_errors() {
        assert_eq!(
            ask("clTest", |_, _, _| -30).err(),
            Some(DeviceError::call("clTest", -30))
        );
        let absurd = ask("clTest", |_, _, needed| {
            // SAFETY: `ask` gives a place for the size when it asks for it.
            unsafe { *needed = usize::MAX };
            0
        });
        assert!(absurd.is_err());
    }
}

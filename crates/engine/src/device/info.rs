//! What platforms and devices say of themselves.

use super::error::DeviceError;
use super::query::{self, InfoValue};
use super::{causes, forward};
use gpulab_model::outcome::{DeviceInfo, PlatformInfo};
use gpulab_model::plan::Target;
use gpulab_system::{memory, text::Joined};
use ocl::core::{DeviceId, PlatformId};

/// Every platform with its devices. Without a loader or a driver the list is empty; see [`super::loader()`].
pub fn list_platforms() -> Result<Vec<PlatformInfo>, DeviceError> {
    if let Some(problem) = forward::loader().problem() {
        return Err(DeviceError::other("loading OpenCL", problem));
    }
    let mut next_row = 0;
    let ids = query::platforms()?;
    let platforms: Vec<_> = ids.into_iter().enumerate().map(|(index, id)| platform(index, id, &mut next_row)).collect();
    match memory::address_space_limit() {
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
    if let Some(target) = info.name.split([':', ' ']).next().filter(|word| word.starts_with("gfx")) {
        return Some(target.to_owned());
    }
    // Other drivers may mean something else by the same numbers.
    info.extensions.split(' ').find(|extension| *extension == "cl_nv_device_attribute_query")?;
    let (_, device) = handles(info).ok()?;
    let part = |key| query::device(device, key).ok()?.number();
    Some(format!("{}.{}", part(key::COMPUTE_CAPABILITY_MAJOR_NV)?, part(key::COMPUTE_CAPABILITY_MINOR_NV)?))
}

pub(super) fn handles(info: &DeviceInfo) -> Result<(PlatformId, DeviceId), DeviceError> {
    let gone = || DeviceError::other("clGetDeviceIDs", format!("device {} is gone", info.selector));
    let (platform, device) = info.selector.split_once(':').ok_or_else(gone)?;
    let [platform, device] = [platform, device].map(|number| number.parse().unwrap_or(usize::MAX));
    let platform = *query::platforms()?.get(platform).ok_or_else(gone)?;
    let device = *query::devices(platform)?.get(device).ok_or_else(gone)?;
    Ok((platform, device))
}

fn platform(index: usize, id: PlatformId, next_row: &mut usize) -> PlatformInfo {
    let [version, name, vendor] = [0x0901, 0x0902, 0x0903];
    let text = |key| query::platform(id, key).map(|a| a.text()).unwrap_or_default();
    let name = text(name);
    let (ids, problem) = match query::devices(id) {
        Ok(ids) if ids.is_empty() => (ids, causes::of_no_devices(&name)),
        Ok(ids) => (ids, None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let devices = ids.into_iter().enumerate().map(|(d, id)| device(id, *next_row + d, format!("{index}:{d}"), &name));
    let devices: Vec<DeviceInfo> = devices.collect();
    *next_row += devices.len();
    PlatformInfo { index, vendor: text(vendor), version: text(version), name, devices, problem }
}

mod key {
    pub(super) const TYPE: u32 = 0x1000;
    pub(super) const MAX_COMPUTE_UNITS: u32 = 0x1002;
    pub(super) const MAX_WORK_GROUP_SIZE: u32 = 0x1004;
    pub(super) const MAX_WORK_ITEM_SIZES: u32 = 0x1005;
    pub(super) const MAX_CLOCK_FREQUENCY: u32 = 0x100C;
    pub(super) const IMAGE_SUPPORT: u32 = 0x1016;
    pub(super) const MAX_MEM_ALLOC_SIZE: u32 = 0x1010;
    pub(super) const GLOBAL_MEM_CACHE_SIZE: u32 = 0x101E;
    pub(super) const GLOBAL_MEM_SIZE: u32 = 0x101F;
    pub(super) const LOCAL_MEM_SIZE: u32 = 0x1023;
    pub(super) const PROFILING_TIMER_RESOLUTION: u32 = 0x1025;
    pub(super) const NAME: u32 = 0x102B;
    pub(super) const VENDOR: u32 = 0x102C;
    pub(super) const DRIVER_VERSION: u32 = 0x102D;
    pub(super) const VERSION: u32 = 0x102F;
    pub(super) const EXTENSIONS: u32 = 0x1030;
    pub(super) const DOUBLE_FP_CONFIG: u32 = 0x1032;
    /// Of `cl_nv_device_attribute_query`: the first number of the compute capability.
    pub(super) const COMPUTE_CAPABILITY_MAJOR_NV: u32 = 0x4000;
    pub(super) const COMPUTE_CAPABILITY_MINOR_NV: u32 = 0x4001;
    pub(super) const NATIVE_VECTOR_WIDTH_FLOAT: u32 = 0x103A;
}

/// Everything that is needed of one device; a question that a driver refuses leaves a 0 or an empty text.
fn device(id: DeviceId, index: usize, selector: String, platform: &str) -> DeviceInfo {
    let ask = |key| query::device(id, key).ok();
    let text = |key| ask(key).map(|a| a.text()).unwrap_or_default();
    let number = |key| ask(key).as_ref().and_then(InfoValue::number).unwrap_or(0);
    let bytes = |key| number(key).min(MOST_BYTES);
    let kind = kind(number(key::TYPE));
    let extensions = text(key::EXTENSIONS).split_whitespace().joined(" ");
    let vendor = text(key::VENDOR);
    let has = |names: &[&str]| extensions.split(' ').any(|e| names.contains(&e));
    let target = Target {
        gpu: kind == "gpu",
        compute_units: small(number(key::MAX_COMPUTE_UNITS)).min(MOST_UNITS),
        max_wg: usize::try_from(number(key::MAX_WORK_GROUP_SIZE)).unwrap_or(MOST_ITEMS).min(MOST_ITEMS),
        max_wg_dims: dims(&ask(key::MAX_WORK_ITEM_SIZES).map(|a| a.sizes()).unwrap_or_default()),
        local_mem: bytes(key::LOCAL_MEM_SIZE),
        global_mem: bytes(key::GLOBAL_MEM_SIZE),
        max_alloc: bytes(key::MAX_MEM_ALLOC_SIZE),
        cache: bytes(key::GLOBAL_MEM_CACHE_SIZE),
        float_lanes: small(number(key::NATIVE_VECTOR_WIDTH_FLOAT)),
        fp64: number(key::DOUBLE_FP_CONFIG) != 0 || has(&["cl_khr_fp64"]),
        fp16: has(&["cl_khr_fp16"]),
        nvidia: vendor.contains("NVIDIA") || platform.contains("NVIDIA"),
        async_copy: has(&["cl_nv_device_attribute_query"]) && number(key::COMPUTE_CAPABILITY_MAJOR_NV) >= 8,
        register_caps: has(&["cl_nv_compiler_options"]),
        prefetch: kind == "cpu" && ["Portable Computing Language", "Intel"].iter().any(|name| platform.contains(name)),
        subgroups: has(&["cl_khr_subgroups", "cl_intel_subgroups"]),
        images: number(key::IMAGE_SUPPORT) != 0,
    };
    DeviceInfo {
        index,
        selector,
        platform: platform.to_owned(),
        name: text(key::NAME),
        vendor,
        kind: kind.to_owned(),
        driver: text(key::DRIVER_VERSION),
        cl_version: text(key::VERSION),
        clock_mhz: small(number(key::MAX_CLOCK_FREQUENCY)),
        timer_ns: number(key::PROFILING_TIMER_RESOLUTION),
        extensions,
        target,
    }
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
pub(super) fn demand_limits(target: &Target) -> Result<(), DeviceError> {
    let limits = [
        (target.max_wg as u64, "the largest work-group (CL_DEVICE_MAX_WORK_GROUP_SIZE)"),
        (target.max_wg_dims[0] as u64, "the largest work-group in each dimension (CL_DEVICE_MAX_WORK_ITEM_SIZES)"),
        (target.local_mem, "its local memory (CL_DEVICE_LOCAL_MEM_SIZE)"),
        (target.global_mem, "its global memory (CL_DEVICE_GLOBAL_MEM_SIZE)"),
        (target.max_alloc, "the largest buffer (CL_DEVICE_MAX_MEM_ALLOC_SIZE)"),
    ];
    match limits.into_iter().find(|(limit, _)| *limit == 0) {
        Some((_, name)) => Err(DeviceError::other(
            "clGetDeviceInfo",
            format!("the driver does not tell {name}, which every kernel needs; `gpulab doctor` tests the driver"),
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
        assert!(told(Target { max_wg: 0, ..whole.clone() }).contains("CL_DEVICE_MAX_WORK_GROUP_SIZE"));
        assert!(told(Target { max_wg_dims: dims(&[]), ..whole.clone() }).contains("CL_DEVICE_MAX_WORK_ITEM_SIZES"));
        assert!(told(Target { local_mem: 0, ..whole }).contains("CL_DEVICE_LOCAL_MEM_SIZE"));
    }

    #[test]
    fn limits_have_three_dimensions() {
        assert_eq!(dims(&[1024, 64]), [1024, 64, 1]);
        assert_eq!(dims(&[1, 2, 3, 4]), [1, 2, 3]);
        assert_eq!(dims(&[usize::MAX, 2, 3]), [MOST_ITEMS, 2, 3]);
        assert_eq!(dims(&[]), [0; 3]);
    }
}

//! OpenCL's status codes in words.

pub(super) const PLATFORM_NOT_FOUND: i32 = -1001;
pub(super) const BUILD_PROGRAM_FAILURE: i32 = -11;

/// A status code: its name, its likely cause, and what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KnownCode {
    pub(super) code: i32,
    pub(super) name: &'static str,
    pub(super) cause: &'static str,
    pub(super) next: &'static str,
}

const DOCTOR: &str = "run `gpulab doctor`";
const REPORT: &str = "this is a mistake in gpulab or the driver: please report it";
const SMALLER_WG: &str = "try a smaller work-group (`--wg`)";
const SMALLER: &str = "try a smaller work-group (`--wg`), or smaller tiles (`--tile`) where there are any";
const SMALLER_N: &str = "try a smaller size (`--n`)";
const SOURCE: &str = "look at the kernel's source and the log";
const DRIVER: &str = "try again; if it stays, update or reinstall the driver";

pub(super) fn status(code: i32) -> Option<&'static KnownCode> {
    TABLE.iter().find(|s| s.code == code)
}

const fn row(code: i32, name: &'static str, cause: &'static str, next: &'static str) -> KnownCode {
    KnownCode { code, name, cause, next }
}

/// OpenCL 3.0's codes, then those that loaders and drivers add to calls of its core. Nothing here shares objects with graphics or
/// media.
const TABLE: &[KnownCode] = &[
    row(-1, "CL_DEVICE_NOT_FOUND", "the platform has no such device", DOCTOR),
    row(-2, "CL_DEVICE_NOT_AVAILABLE", "the device is busy, disabled or in use by another program", DRIVER),
    row(-3, "CL_COMPILER_NOT_AVAILABLE", "the driver came without its compiler", DOCTOR),
    row(-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "the device has not enough free memory", SMALLER_N),
    row(-5, "CL_OUT_OF_RESOURCES", "the launch needs more registers, local memory or time than there is", SMALLER),
    row(-6, "CL_OUT_OF_HOST_MEMORY", "the driver got no memory from the system", SMALLER_N),
    row(-7, "CL_PROFILING_INFO_NOT_AVAILABLE", "the driver has no event times for this launch", "use `--clock wall`"),
    row(-8, "CL_MEM_COPY_OVERLAP", "source and destination of a copy overlap", REPORT),
    row(-9, "CL_IMAGE_FORMAT_MISMATCH", "two images have different formats", REPORT),
    row(-10, "CL_IMAGE_FORMAT_NOT_SUPPORTED", "the device lacks this image format", "use another device"),
    row(-11, "CL_BUILD_PROGRAM_FAILURE", "the driver's compiler refused the kernel", SOURCE),
    row(-12, "CL_MAP_FAILURE", "the buffer could not be mapped into host memory", SMALLER_N),
    row(-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET", "a sub-buffer begins at an address the device cannot use", REPORT),
    row(-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "an earlier command failed", DRIVER),
    row(-15, "CL_COMPILE_PROGRAM_FAILURE", "the driver's compiler refused the kernel", SOURCE),
    row(-16, "CL_LINKER_NOT_AVAILABLE", "the driver came without its linker", DOCTOR),
    row(-17, "CL_LINK_PROGRAM_FAILURE", "the driver's linker refused the kernel", SOURCE),
    row(-18, "CL_DEVICE_PARTITION_FAILED", "the device cannot be divided like this", "use the whole device"),
    row(-19, "CL_KERNEL_ARG_INFO_NOT_AVAILABLE", "the driver kept no types of the kernel's arguments", REPORT),
    row(-30, "CL_INVALID_VALUE", "the driver does not know a value that it was given", REPORT),
    row(-31, "CL_INVALID_DEVICE_TYPE", "the driver does not know this type of device", REPORT),
    row(-32, "CL_INVALID_PLATFORM", "the platform is gone or was never there", DOCTOR),
    row(-33, "CL_INVALID_DEVICE", "the device is gone or belongs to another platform", DOCTOR),
    row(-34, "CL_INVALID_CONTEXT", "the driver lost the context, usually after a crash of the device", DRIVER),
    row(-35, "CL_INVALID_QUEUE_PROPERTIES", "the device has no queues of this kind", REPORT),
    row(-36, "CL_INVALID_COMMAND_QUEUE", "the queue died, usually because a kernel crashed or ran too long", DRIVER),
    row(-37, "CL_INVALID_HOST_PTR", "a pointer to host memory is wrong", REPORT),
    row(-38, "CL_INVALID_MEM_OBJECT", "a buffer is gone or was never made", REPORT),
    row(-39, "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", "an image format is wrong", REPORT),
    row(-40, "CL_INVALID_IMAGE_SIZE", "the image is larger than the device allows", SMALLER_N),
    row(-41, "CL_INVALID_SAMPLER", "a sampler is gone or was never made", REPORT),
    row(
        -42,
        "CL_INVALID_BINARY",
        "a compiled kernel is damaged or made for another driver",
        "empty the driver's cache",
    ),
    row(-43, "CL_INVALID_BUILD_OPTIONS", "the compiler does not know one of its options", SOURCE),
    row(-44, "CL_INVALID_PROGRAM", "the program is gone or was never made", REPORT),
    row(-45, "CL_INVALID_PROGRAM_EXECUTABLE", "the program was not built for this device", SOURCE),
    row(-46, "CL_INVALID_KERNEL_NAME", "the source has no kernel of this name, or it did not link", SOURCE),
    row(-47, "CL_INVALID_KERNEL_DEFINITION", "the kernel is declared in different ways", SOURCE),
    row(-48, "CL_INVALID_KERNEL", "the kernel is gone or was never made", REPORT),
    row(-49, "CL_INVALID_ARG_INDEX", "the kernel has fewer arguments than it was given", SOURCE),
    row(-50, "CL_INVALID_ARG_VALUE", "an argument's value is not possible", SOURCE),
    row(-51, "CL_INVALID_ARG_SIZE", "an argument's size differs from the kernel's", SOURCE),
    row(-52, "CL_INVALID_KERNEL_ARGS", "an argument is missing, or the driver cannot pass it", SOURCE),
    row(-53, "CL_INVALID_WORK_DIMENSION", "a launch has 1, 2 or 3 dimensions", REPORT),
    row(-54, "CL_INVALID_WORK_GROUP_SIZE", "the kernel cannot run with this work-group size here", SMALLER_WG),
    row(-55, "CL_INVALID_WORK_ITEM_SIZE", "the work-group is larger than the device allows", SMALLER_WG),
    row(-56, "CL_INVALID_GLOBAL_OFFSET", "the launch begins beyond what the device can count", SMALLER_N),
    row(-57, "CL_INVALID_EVENT_WAIT_LIST", "a command waits for an event that is gone", REPORT),
    row(-58, "CL_INVALID_EVENT", "an event is gone or was never made", REPORT),
    row(-59, "CL_INVALID_OPERATION", "the device cannot do this", "use another device"),
    row(-60, "CL_INVALID_GL_OBJECT", "an OpenGL object is wrong", REPORT),
    row(-61, "CL_INVALID_BUFFER_SIZE", "the buffer is larger than the device allows", SMALLER_N),
    row(-62, "CL_INVALID_MIP_LEVEL", "an OpenGL texture has no such level", REPORT),
    row(
        -63,
        "CL_INVALID_GLOBAL_WORK_SIZE",
        "the launch has no work-items, or more than the device can count",
        SMALLER_N,
    ),
    row(-64, "CL_INVALID_PROPERTY", "the driver does not know a property that it was given", REPORT),
    row(-65, "CL_INVALID_IMAGE_DESCRIPTOR", "an image description is wrong", REPORT),
    row(-66, "CL_INVALID_COMPILER_OPTIONS", "the compiler does not know one of its options", SOURCE),
    row(-67, "CL_INVALID_LINKER_OPTIONS", "the linker does not know one of its options", SOURCE),
    row(-68, "CL_INVALID_DEVICE_PARTITION_COUNT", "the device cannot be divided into so many", "use the whole device"),
    row(-69, "CL_INVALID_PIPE_SIZE", "a pipe is larger than the device allows", REPORT),
    row(-70, "CL_INVALID_DEVICE_QUEUE", "a device-side queue is wrong", REPORT),
    row(-71, "CL_INVALID_SPEC_ID", "a specialisation constant is unknown", REPORT),
    row(-72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED", "an argument is larger than the kernel allows", SMALLER_N),
    row(PLATFORM_NOT_FOUND, "CL_PLATFORM_NOT_FOUND_KHR", "no OpenCL driver is installed, or none loads", DOCTOR),
    row(-1104, "CL_CONTEXT_TERMINATED_KHR", "the driver ended the context, usually after a crash", DRIVER),
    row(-9999, "CL_NV_ILLEGAL_MEMORY_ACCESS", "a kernel read or wrote outside its buffers", SOURCE),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_complete_up_to_opencl_3() {
        for pair in TABLE.windows(2) {
            let ordered = pair[0].code > pair[1].code;
            assert!(ordered, "{} after {}", pair[1].name, pair[0].name);
        }
        for code in (-19..=-1).chain(-72..=-30) {
            assert!(status(code).is_some(), "{code}");
        }
    }

    #[test]
    fn unknown_codes_have_no_words() {
        assert_eq!(status(-4242), None);
        assert_eq!(status(0), None);
    }
}

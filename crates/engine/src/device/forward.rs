//! OpenCL's functions as the linker wants them: each forwards to the library that [`super::loader`] found.
//!
//! Each also notes its failure, so that the status code survives whatever `ocl` makes of it (it knows 61
//! codes and panics on others). Releases always report success: `ocl` panics in `drop` when they fail.
#![allow(unsafe_code, reason = "OpenCL's C functions")]
#![allow(non_snake_case, reason = "their names are OpenCL's")]
#![allow(clippy::too_many_arguments, reason = "their parameters are OpenCL's")]

use super::loader::{self, Loader};
use super::status::PLATFORM_NOT_FOUND;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;

/// Any pointer or handle; one register in every C calling convention that OpenCL is used with.
type Ptr = *mut c_void;

thread_local! {
    static FAILURE: Cell<Option<(&'static str, i32)>> = const { Cell::new(None) };
}

/// The last OpenCL function that failed on this thread since the last call, and its status code.
pub(super) fn take_failure() -> Option<(&'static str, i32)> {
    FAILURE.take()
}

/// The library, loaded by the first call.
pub fn loader() -> &'static Loader {
    static LOADER: OnceLock<Loader> = OnceLock::new();
    LOADER.get_or_init(|| Loader::load(is_own))
}

/// Whether the library came with the process, as a simulator does. Loads nothing.
pub(super) fn is_preloaded() -> bool {
    loader::is_preloaded(is_own)
}

/// Whether an address is that of this file's `clGetPlatformIDs`.
fn is_own(address: Ptr) -> bool {
    std::ptr::addr_eq(address, clGetPlatformIDs as *const c_void)
}

fn note(call: &'static str, code: i32) {
    if code != 0 {
        FAILURE.set(Some((call, code)));
    }
}

/// A function's address in the real library, looked up once.
struct Symbol(OnceLock<Option<usize>>);

impl Symbol {
    fn address(&self, name: &'static str) -> Option<usize> {
        *self.0.get_or_init(|| loader().symbol(name).map(|address| address as usize))
    }
}

/// Calls the real function if there is one. The type is that of the enclosing function.
macro_rules! real {
    ($name:ident($($arg:ident: $ty:ty),*) -> $out:ty) => {{
        static ENTRY: Symbol = Symbol(OnceLock::new());
        ENTRY.address(stringify!($name)).map(|address| {
            // SAFETY: OpenCL's headers give the function of this name this type.
            let function: unsafe extern "system" fn($($ty),*) -> $out = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller made the arguments for this very function.
            unsafe { function($($arg),*) }
        })
    }};
}

/// Defines functions of three kinds: `status` return their code, `release` too but nobody hears it,
/// `create` return a pointer and write their code where the last argument points.
macro_rules! forward {
    (
        status { $($s:ident($($sa:ident: $st:ty),*);)* }
        release { $($r:ident;)* }
        create { $($c:ident($($ca:ident: $ct:ty),*);)* }
    ) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "system" fn $s($($sa: $st),*) -> i32 {
            let code = real!($s($($sa: $st),*) -> i32).unwrap_or(PLATFORM_NOT_FOUND);
            note(stringify!($s), code);
            code
        })*
        $(#[unsafe(no_mangle)]
        unsafe extern "system" fn $r(object: Ptr) -> i32 {
            let _ = real!($r(object: Ptr) -> i32);
            0
        })*
        $(#[unsafe(no_mangle)]
        unsafe extern "system" fn $c($($ca: $ct,)* errcode: *mut i32) -> Ptr {
            let mut code = PLATFORM_NOT_FOUND;
            let own: *mut i32 = &mut code;
            let made = real!($c($($ca: $ct,)* own: *mut i32) -> Ptr).unwrap_or(std::ptr::null_mut());
            note(stringify!($c), code);
            if !errcode.is_null() {
                // SAFETY: OpenCL lets callers pass null or a place for the code.
                unsafe { *errcode = code };
            }
            made
        })*
    };
}

forward! {
    status {
        clGetPlatformIDs(room: u32, ids: Ptr, count: Ptr);
        clGetPlatformInfo(platform: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clGetDeviceIDs(platform: Ptr, kind: u64, room: u32, ids: Ptr, count: Ptr);
        clGetDeviceInfo(device: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clCreateSubDevices(device: Ptr, properties: Ptr, room: u32, ids: Ptr, count: Ptr);
        clRetainDevice(device: Ptr);
        clRetainContext(context: Ptr);
        clGetContextInfo(context: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clRetainCommandQueue(queue: Ptr);
        clGetCommandQueueInfo(queue: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clRetainMemObject(memory: Ptr);
        clGetMemObjectInfo(memory: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clGetImageInfo(image: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clGetSupportedImageFormats(context: Ptr, flags: u64, kind: u32, room: u32, formats: Ptr, count: Ptr);
        clSetMemObjectDestructorCallback(memory: Ptr, callback: Ptr, data: Ptr);
        clRetainSampler(sampler: Ptr);
        clGetSamplerInfo(sampler: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clRetainProgram(program: Ptr);
        clBuildProgram(program: Ptr, count: u32, devices: Ptr, options: Ptr, callback: Ptr, data: Ptr);
        clCompileProgram(program: Ptr, count: u32, devices: Ptr, options: Ptr, headers: u32, programs: Ptr, names: Ptr, callback: Ptr, data: Ptr);
        clUnloadPlatformCompiler(platform: Ptr);
        clGetProgramInfo(program: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clGetProgramBuildInfo(program: Ptr, device: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clCreateKernelsInProgram(program: Ptr, room: u32, kernels: Ptr, count: Ptr);
        clRetainKernel(kernel: Ptr);
        clSetKernelArg(kernel: Ptr, index: u32, size: usize, value: Ptr);
        clGetKernelInfo(kernel: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clGetKernelArgInfo(kernel: Ptr, index: u32, key: u32, size: usize, value: Ptr, needed: Ptr);
        clGetKernelWorkGroupInfo(kernel: Ptr, device: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clWaitForEvents(count: u32, events: Ptr);
        clGetEventInfo(event: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clRetainEvent(event: Ptr);
        clSetUserEventStatus(event: Ptr, status: i32);
        clSetEventCallback(event: Ptr, kind: i32, callback: Ptr, data: Ptr);
        clGetEventProfilingInfo(event: Ptr, key: u32, size: usize, value: Ptr, needed: Ptr);
        clFlush(queue: Ptr);
        clFinish(queue: Ptr);
        clEnqueueReadBuffer(queue: Ptr, buffer: Ptr, block: u32, offset: usize, size: usize, host: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueReadBufferRect(queue: Ptr, buffer: Ptr, block: u32, origin: Ptr, host_origin: Ptr, region: Ptr, row: usize, slice: usize, host_row: usize, host_slice: usize, host: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueWriteBuffer(queue: Ptr, buffer: Ptr, block: u32, offset: usize, size: usize, host: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueWriteBufferRect(queue: Ptr, buffer: Ptr, block: u32, origin: Ptr, host_origin: Ptr, region: Ptr, row: usize, slice: usize, host_row: usize, host_slice: usize, host: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueFillBuffer(queue: Ptr, buffer: Ptr, pattern: Ptr, unit: usize, offset: usize, size: usize, waits: u32, list: Ptr, event: Ptr);
        clEnqueueCopyBuffer(queue: Ptr, from: Ptr, to: Ptr, from_offset: usize, to_offset: usize, size: usize, waits: u32, list: Ptr, event: Ptr);
        clEnqueueCopyBufferRect(queue: Ptr, from: Ptr, to: Ptr, from_origin: Ptr, to_origin: Ptr, region: Ptr, from_row: usize, from_slice: usize, to_row: usize, to_slice: usize, waits: u32, list: Ptr, event: Ptr);
        clEnqueueReadImage(queue: Ptr, image: Ptr, block: u32, origin: Ptr, region: Ptr, row: usize, slice: usize, host: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueWriteImage(queue: Ptr, image: Ptr, block: u32, origin: Ptr, region: Ptr, row: usize, slice: usize, host: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueFillImage(queue: Ptr, image: Ptr, color: Ptr, origin: Ptr, region: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueCopyImage(queue: Ptr, from: Ptr, to: Ptr, from_origin: Ptr, to_origin: Ptr, region: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueCopyImageToBuffer(queue: Ptr, from: Ptr, to: Ptr, origin: Ptr, region: Ptr, offset: usize, waits: u32, list: Ptr, event: Ptr);
        clEnqueueCopyBufferToImage(queue: Ptr, from: Ptr, to: Ptr, offset: usize, origin: Ptr, region: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueUnmapMemObject(queue: Ptr, memory: Ptr, mapped: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueMigrateMemObjects(queue: Ptr, count: u32, objects: Ptr, flags: u64, waits: u32, list: Ptr, event: Ptr);
        clEnqueueNDRangeKernel(queue: Ptr, kernel: Ptr, dims: u32, offset: Ptr, global: Ptr, local: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueTask(queue: Ptr, kernel: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueNativeKernel(queue: Ptr, function: Ptr, args: Ptr, size: usize, count: u32, objects: Ptr, places: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueMarkerWithWaitList(queue: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueBarrierWithWaitList(queue: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueAcquireGLObjects(queue: Ptr, count: u32, objects: Ptr, waits: u32, list: Ptr, event: Ptr);
        clEnqueueReleaseGLObjects(queue: Ptr, count: u32, objects: Ptr, waits: u32, list: Ptr, event: Ptr);
    }
    release {
        clReleaseDevice;
        clReleaseContext;
        clReleaseCommandQueue;
        clReleaseMemObject;
        clReleaseSampler;
        clReleaseProgram;
        clReleaseKernel;
        clReleaseEvent;
    }
    create {
        clCreateContext(properties: Ptr, count: u32, devices: Ptr, callback: Ptr, data: Ptr);
        clCreateContextFromType(properties: Ptr, kind: u64, callback: Ptr, data: Ptr);
        clCreateCommandQueue(context: Ptr, device: Ptr, properties: u64);
        clCreateBuffer(context: Ptr, flags: u64, size: usize, host: Ptr);
        clCreateSubBuffer(buffer: Ptr, flags: u64, kind: u32, region: Ptr);
        clCreateImage(context: Ptr, flags: u64, format: Ptr, description: Ptr, host: Ptr);
        clCreateSampler(context: Ptr, normalized: u32, addressing: u32, filter: u32);
        clCreateProgramWithSource(context: Ptr, count: u32, texts: Ptr, lengths: Ptr);
        clCreateProgramWithBinary(context: Ptr, count: u32, devices: Ptr, lengths: Ptr, binaries: Ptr, statuses: Ptr);
        clCreateProgramWithBuiltInKernels(context: Ptr, count: u32, devices: Ptr, names: Ptr);
        clLinkProgram(context: Ptr, count: u32, devices: Ptr, options: Ptr, inputs: u32, programs: Ptr, callback: Ptr, data: Ptr);
        clCreateKernel(program: Ptr, name: Ptr);
        clCreateUserEvent(context: Ptr);
        clEnqueueMapBuffer(queue: Ptr, buffer: Ptr, block: u32, flags: u64, offset: usize, size: usize, waits: u32, list: Ptr, event: Ptr);
        clEnqueueMapImage(queue: Ptr, image: Ptr, block: u32, flags: u64, origin: Ptr, region: Ptr, row: Ptr, slice: Ptr, waits: u32, list: Ptr, event: Ptr);
        clCreateFromGLBuffer(context: Ptr, flags: u64, object: u32);
        clCreateFromGLRenderbuffer(context: Ptr, flags: u64, object: u32);
        clCreateFromGLTexture(context: Ptr, flags: u64, target: u32, level: i32, object: u32);
        clCreateFromGLTexture2D(context: Ptr, flags: u64, target: u32, level: i32, object: u32);
        clCreateFromGLTexture3D(context: Ptr, flags: u64, target: u32, level: i32, object: u32);
    }
}

/// The one function of its own kind: a pointer or null, and no code.
#[unsafe(no_mangle)]
unsafe extern "system" fn clGetExtensionFunctionAddressForPlatform(platform: Ptr, name: Ptr) -> Ptr {
    real!(clGetExtensionFunctionAddressForPlatform(platform: Ptr, name: Ptr) -> Ptr).unwrap_or(std::ptr::null_mut())
}

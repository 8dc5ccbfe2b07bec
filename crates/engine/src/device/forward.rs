//! OpenCL's functions as the linker wants them: each forwards to the library that [`super::loader`] found.
//!
//! Each also notes its failure, so that the status code survives whatever `ocl` makes of it (it knows 61
//! codes and panics on others). Releases always report success: `ocl` panics in `drop` when they fail.
//!
//! A parameter is a pointer, a handle or a number, and each has a register or a place of a word to itself in the C calling
//! conventions of 64 bits: the functions are told apart by how many parameters they have.
#![allow(unsafe_code, reason = "OpenCL's C functions")]
#![allow(non_snake_case, reason = "their names are OpenCL's")]
#![allow(clippy::too_many_arguments, clippy::many_single_char_names, reason = "their parameters are OpenCL's")]

use super::loader::{self, Loader};
use super::status::PLATFORM_NOT_FOUND;
use std::cell::Cell;
use std::ffi::c_void;
use std::sync::OnceLock;

#[cfg(not(target_pointer_width = "64"))]
compile_error!("OpenCL's functions are forwarded by words of 64 bits");

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
fn is_own(address: *mut c_void) -> bool {
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

/// Calls the real function of this name, of the enclosing function's type, if there is one.
macro_rules! real {
    ($name:ident($($arg:ident)*) -> $out:ty) => {{
        static ENTRY: Symbol = Symbol(OnceLock::new());
        ENTRY.address(stringify!($name)).map(|address| {
            // SAFETY: OpenCL's headers give the function of this name so many parameters, and each is a word.
            let function: unsafe extern "system" fn($(real!(@word $arg)),*) -> $out = unsafe { std::mem::transmute(address) };
            // SAFETY: the caller made the arguments for this very function.
            unsafe { function($($arg),*) }
        })
    }};
    (@word $arg:ident) => { usize };
}

/// Defines functions that return their status code, by their parameters.
macro_rules! status {
    ($($args:tt $($name:ident)*;)*) => { $($(status!(@one $name $args);)*)* };
    (@one $name:ident ($($arg:ident)*)) => {
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($arg: usize),*) -> i32 {
            let code = real!($name($($arg)*) -> i32).unwrap_or(PLATFORM_NOT_FOUND);
            note(stringify!($name), code);
            code
        }
    };
}

/// Defines functions that return a handle, and write their code where the last argument, beside these, points.
macro_rules! create {
    ($($args:tt $($name:ident)*;)*) => { $($(create!(@one $name $args);)*)* };
    (@one $name:ident ($($arg:ident)*)) => {
        #[unsafe(no_mangle)]
        unsafe extern "system" fn $name($($arg: usize,)* errcode: *mut i32) -> usize {
            let mut code = PLATFORM_NOT_FOUND;
            let place = &raw mut code as usize;
            let made = real!($name($($arg)* place) -> usize).unwrap_or(0);
            note(stringify!($name), code);
            if !errcode.is_null() {
                // SAFETY: OpenCL lets callers pass null or a place for the code.
                unsafe { *errcode = code };
            }
            made
        }
    };
}

/// Defines functions that release a handle; nobody hears their code.
macro_rules! release {
    ($($name:ident)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "system" fn $name(object: usize) -> i32 {
            let _ = real!($name(object) -> i32);
            0
        })*
    };
}

status! {
    (a) clRetainDevice clRetainContext clRetainCommandQueue clRetainMemObject clRetainSampler clRetainProgram
        clUnloadPlatformCompiler clRetainKernel clRetainEvent clFlush clFinish;
    (a b) clWaitForEvents clSetUserEventStatus;
    (a b c) clGetPlatformIDs clSetMemObjectDestructorCallback;
    (a b c d) clCreateKernelsInProgram clSetKernelArg clSetEventCallback clEnqueueMarkerWithWaitList
        clEnqueueBarrierWithWaitList;
    (a b c d e) clGetPlatformInfo clGetDeviceIDs clGetDeviceInfo clCreateSubDevices clGetContextInfo
        clGetCommandQueueInfo clGetMemObjectInfo clGetImageInfo clGetSamplerInfo clGetProgramInfo
        clGetKernelInfo clGetEventInfo clGetEventProfilingInfo clEnqueueTask;
    (a b c d e f) clGetSupportedImageFormats clBuildProgram clGetProgramBuildInfo clGetKernelArgInfo
        clGetKernelWorkGroupInfo clEnqueueUnmapMemObject clEnqueueAcquireGLObjects clEnqueueReleaseGLObjects;
    (a b c d e f g) clEnqueueMigrateMemObjects;
    (a b c d e f g h) clEnqueueFillImage;
    (a b c d e f g h i) clCompileProgram clEnqueueReadBuffer clEnqueueWriteBuffer clEnqueueFillBuffer
        clEnqueueCopyBuffer clEnqueueCopyImage clEnqueueCopyImageToBuffer clEnqueueCopyBufferToImage
        clEnqueueNDRangeKernel;
    (a b c d e f g h i j) clEnqueueNativeKernel;
    (a b c d e f g h i j k) clEnqueueReadImage clEnqueueWriteImage;
    (a b c d e f g h i j k l m) clEnqueueCopyBufferRect;
    (a b c d e f g h i j k l m n) clEnqueueReadBufferRect clEnqueueWriteBufferRect;
}

create! {
    (a) clCreateUserEvent;
    (a b) clCreateKernel;
    (a b c) clCreateCommandQueue clCreateFromGLBuffer clCreateFromGLRenderbuffer;
    (a b c d) clCreateContextFromType clCreateBuffer clCreateSubBuffer clCreateSampler clCreateProgramWithSource
        clCreateProgramWithBuiltInKernels;
    (a b c d e) clCreateContext clCreateImage clCreateFromGLTexture clCreateFromGLTexture2D clCreateFromGLTexture3D;
    (a b c d e f) clCreateProgramWithBinary;
    (a b c d e f g h) clLinkProgram;
    (a b c d e f g h i) clEnqueueMapBuffer;
    (a b c d e f g h i j k) clEnqueueMapImage;
}

release! {
    clReleaseDevice clReleaseContext clReleaseCommandQueue clReleaseMemObject clReleaseSampler clReleaseProgram
    clReleaseKernel clReleaseEvent
}

/// The one function of its own kind: a pointer or null, and no code.
#[unsafe(no_mangle)]
unsafe extern "system" fn clGetExtensionFunctionAddressForPlatform(platform: usize, name: usize) -> usize {
    real!(clGetExtensionFunctionAddressForPlatform(platform name) -> usize).unwrap_or(0)
}

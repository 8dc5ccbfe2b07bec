//! OpenCL's functions as the linker wants them: each forwards to the library that is found at run time, so that the
//! program builds and starts without it. One that is already in the process (a simulator or a test shim in `LD_PRELOAD`) comes
//! first, then the one named by `GPULAB_OPENCL_LIB`, then the system's.
//!
//! Each also notes its failure, so that the status code survives whatever `ocl` makes of it (it knows 61
//! codes and panics on others). Releases always report success: `ocl` panics in `drop` when they fail.
//!
//! A parameter is a pointer, a handle or a number, and each has a register or a place of a word to itself in the C calling
//! conventions of 64 bits: the functions are told apart by how many parameters they have.
#![allow(unsafe_code, reason = "OpenCL's C functions")]
#![allow(non_snake_case, reason = "their names are OpenCL's")]
#![allow(
    clippy::too_many_arguments,
    clippy::many_single_char_names,
    reason = "their parameters are OpenCL's"
)]

use super::error::PLATFORM_NOT_FOUND;
use crate::processes;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::cell::Cell;
use std::ffi::{OsString, c_void};
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

/// Names a library to use in place of the system's.
pub const LIBRARY_VARIABLE: &str = "GPULAB_OPENCL_LIB";

#[cfg(target_os = "macos")]
const NAMES: &[&str] = &["/System/Library/Frameworks/OpenCL.framework/OpenCL"];
#[cfg(not(target_os = "macos"))]
const NAMES: &[&str] = &["libOpenCL.so.1", "libOpenCL.so"];

/// What is found where the library came with the process.
const PRELOADED: &str = "preloaded";

/// The OpenCL library of this process, or why there is none.
pub struct Loader {
    /// What was loaded, as it was asked for: a file name, a path, or `preloaded`.
    pub found: Option<String>,
    /// What was tried in vain, each with the system's words.
    pub failures: Vec<String>,
    library: Option<Library>,
    preloaded: Option<Library>,
}

impl Loader {
    fn load() -> Loader {
        let mut loader = Loader {
            found: None,
            failures: Vec::new(),
            library: None,
            preloaded: preloaded(),
        };
        if loader.preloaded_symbol("clGetPlatformIDs").is_some() {
            loader.found = Some(PRELOADED.to_owned());
            return loader;
        }
        let names: Vec<OsString> =
            match std::env::var_os(LIBRARY_VARIABLE).filter(|v| !v.is_empty()) {
                Some(path) => vec![path],
                None => NAMES.iter().map(OsString::from).collect(),
            };
        for name in names {
            let shown = name.to_string_lossy().into_owned();
            match open(&name) {
                Ok(library) if address(&library, "clGetPlatformIDs").is_some() => {
                    loader.found = Some(shown);
                    loader.library = Some(library);
                    break;
                }
                Ok(_) => loader
                    .failures
                    .push(format!("{shown} is not an OpenCL library")),
                Err(error) => loader.failures.push(words(&error)),
            }
        }
        loader
    }

    /// What keeps OpenCL from being loaded, where it may well be installed.
    pub fn problem(&self) -> Option<String> {
        if self.found.is_some() {
            return None;
        }
        let why = self.failures.join("; ");
        let limit = processes::address_space_limit();
        match (
            std::env::var_os(LIBRARY_VARIABLE).filter(|v| !v.is_empty()),
            limit,
        ) {
            (Some(_), _) => Some(format!(
                "{LIBRARY_VARIABLE} names a library that cannot be used ({why}): unset it to use the system's OpenCL"
            )),
            (None, Some(limit)) => Some(format!("{why}; {limit}")),
            (None, None) => None,
        }
    }

    /// Where the file of the library is, which was found by its name.
    pub fn path(&self) -> Option<String> {
        let found = self.found.as_ref()?;
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let stem = Path::new(found).file_name()?.to_str()?;
        let path = maps
            .lines()
            .filter_map(|l| l.find('/').map(|at| &l[at..]))
            .find(|path| path.contains(stem))?;
        Some(path.to_owned())
    }

    pub fn symbol(&self, name: &'static str) -> Option<*mut c_void> {
        self.preloaded_symbol(name)
            .or_else(|| address(self.library.as_ref()?, name))
    }

    /// The address in a library that came with the process.
    fn preloaded_symbol(&self, name: &str) -> Option<*mut c_void> {
        address(self.preloaded.as_ref()?, name)
    }
}

/// Whether the library came with the process, as a simulator does. Loads nothing.
pub fn is_preloaded() -> bool {
    preloaded().is_some_and(|process| address(&process, "clGetPlatformIDs").is_some())
}

/// What is in the process already, unless a lookup there finds this program's own forwarders.
fn preloaded() -> Option<Library> {
    let process = Library::this();
    let own = address(&process, "clGetPlatformIDs").is_some_and(is_own);
    (!own).then_some(process)
}

/// Loads a library; its functions are visible to libraries that were loaded before it.
fn open(name: &std::ffi::OsStr) -> Result<Library, libloading::Error> {
    // SAFETY: the library runs its own initialisers, as it would if the program were linked with it.
    unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) }
}

/// What the system said; the error itself only says which call failed.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Whether a driver's library can be loaded; what the system says if not. Its initialisers run.
pub fn try_library(path: &str) -> Result<(), String> {
    // SAFETY: OpenCL's loader does the same for every installed driver; nothing of it is called here.
    unsafe { libloading::Library::new(path) }
        .map(drop)
        .map_err(|e| words(&e))
}

fn address(library: &Library, name: &str) -> Option<*mut c_void> {
    // SAFETY: the address is only kept; whoever calls it states its type.
    let symbol = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    let address = *symbol;
    (!address.is_null()).then_some(address)
}

#[cfg(not(target_pointer_width = "64"))]
compile_error!("OpenCL's functions are forwarded by words of 64 bits");

thread_local! {
    static FAILURE: Cell<Option<(&'static str, i32)>> = const { Cell::new(None) };
}

/// The last OpenCL function that failed on this thread since the last call, and its status code.
pub fn take_failure() -> Option<(&'static str, i32)> {
    FAILURE.take()
}

/// The library, loaded by the first call.
pub fn loader() -> &'static Loader {
    static LOADER: OnceLock<Loader> = OnceLock::new();
    LOADER.get_or_init(Loader::load)
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

/// Calls the real function of this name, of the enclosing function's type, if there is one.
macro_rules! real {
    ($name:ident($($arg:ident)*) -> $out:ty) => {{
        // The function's address in the real library, looked up once.
        static ENTRY: OnceLock<Option<usize>> = OnceLock::new();
        ENTRY.get_or_init(|| loader().symbol(stringify!($name)).map(|address| address as usize)).map(|address| {
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
unsafe extern "system" fn clGetExtensionFunctionAddressForPlatform(
    platform: usize,
    name: usize,
) -> usize {
    real!(clGetExtensionFunctionAddressForPlatform(platform name) -> usize).unwrap_or(0)
}

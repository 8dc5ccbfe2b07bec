//! Finds OpenCL at run time, so that the program builds and starts without it.
//!
//! A library that is already in the process (a simulator or a test shim in `LD_PRELOAD`) comes first,
//! then the one named by `GPULAB_OPENCL_LIB`, then the system's.
#![allow(unsafe_code, reason = "loading a library and looking up its functions")]

use gpulab_system::memory;
use std::ffi::{OsString, c_void};
use std::fs;
use std::path::Path;

/// Names a library to use in place of the system's.
pub const LIBRARY_VARIABLE: &str = "GPULAB_OPENCL_LIB";

#[cfg(target_os = "windows")]
const NAMES: &[&str] = &["OpenCL.dll"];
#[cfg(target_os = "macos")]
const NAMES: &[&str] = &["/System/Library/Frameworks/OpenCL.framework/OpenCL"];
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
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

#[cfg(unix)]
type Library = libloading::os::unix::Library;
#[cfg(not(unix))]
type Library = libloading::Library;

impl Loader {
    pub(super) fn load(is_own: fn(*mut c_void) -> bool) -> Loader {
        let mut loader = Loader { found: None, failures: Vec::new(), library: None, preloaded: preloaded(is_own) };
        if loader.preloaded_symbol("clGetPlatformIDs").is_some() {
            loader.found = Some(PRELOADED.to_owned());
            return loader;
        }
        let names: Vec<OsString> = match std::env::var_os(LIBRARY_VARIABLE).filter(|v| !v.is_empty()) {
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
                Ok(_) => loader.failures.push(format!("{shown} is not an OpenCL library")),
                Err(error) => loader.failures.push(words(&error)),
            }
        }
        loader
    }

    /// What keeps OpenCL from being loaded, where it may well be installed.
    pub(super) fn problem(&self) -> Option<String> {
        if self.found.is_some() {
            return None;
        }
        let why = self.failures.join("; ");
        let limit = memory::address_space_limit();
        match (std::env::var_os(LIBRARY_VARIABLE).filter(|v| !v.is_empty()), limit) {
            (Some(_), _) => Some(format!(
                "{LIBRARY_VARIABLE} names a library that cannot be used ({why}): unset it to use the system's OpenCL"
            )),
            (None, Some(limit)) => Some(format!("{why}; {limit}")),
            (None, None) => None,
        }
    }

    /// Where the file of the library is, which was found by its name.
    pub(super) fn path(&self) -> Option<String> {
        let found = self.found.as_ref()?;
        let maps = fs::read_to_string("/proc/self/maps").ok()?;
        let stem = Path::new(found).file_name()?.to_str()?;
        let path = maps.lines().filter_map(|l| l.find('/').map(|at| &l[at..])).find(|path| path.contains(stem))?;
        Some(path.to_owned())
    }

    pub(super) fn symbol(&self, name: &'static str) -> Option<*mut c_void> {
        self.preloaded_symbol(name).or_else(|| address(self.library.as_ref()?, name))
    }

    /// The address in a library that came with the process.
    fn preloaded_symbol(&self, name: &str) -> Option<*mut c_void> {
        address(self.preloaded.as_ref()?, name)
    }
}

/// Whether the library came with the process, as a simulator does. Loads nothing.
pub(super) fn is_preloaded(is_own: fn(*mut c_void) -> bool) -> bool {
    preloaded(is_own).is_some_and(|process| address(&process, "clGetPlatformIDs").is_some())
}

/// What is in the process already, unless a lookup there finds this program's own forwarders.
#[cfg(unix)]
fn preloaded(is_own: fn(*mut c_void) -> bool) -> Option<Library> {
    let process = Library::this();
    let own = address(&process, "clGetPlatformIDs").is_some_and(is_own);
    (!own).then_some(process)
}

#[cfg(not(unix))]
fn preloaded(_: fn(*mut c_void) -> bool) -> Option<Library> {
    None
}

/// Loads a library; its functions are visible to libraries that were loaded before it.
fn open(name: &std::ffi::OsStr) -> Result<Library, libloading::Error> {
    // SAFETY: the library runs its own initialisers, as it would if the program were linked with it.
    #[cfg(unix)]
    let library =
        unsafe { Library::open(Some(name), libloading::os::unix::RTLD_NOW | libloading::os::unix::RTLD_GLOBAL) };
    // SAFETY: as above.
    #[cfg(not(unix))]
    let library = unsafe { Library::new(name) };
    library
}

/// What the system said; the error itself only says which call failed.
fn words(error: &libloading::Error) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Whether a driver's library can be loaded; what the system says if not. Its initialisers run.
pub(super) fn try_library(path: &str) -> Result<(), String> {
    // SAFETY: OpenCL's loader does the same for every installed driver; nothing of it is called here.
    unsafe { libloading::Library::new(path) }.map(drop).map_err(|e| words(&e))
}

fn address(library: &Library, name: &str) -> Option<*mut c_void> {
    // SAFETY: the address is only kept; whoever calls it states its type.
    let symbol = unsafe { library.get::<*mut c_void>(name) }.ok()?;
    let address = *symbol;
    (!address.is_null()).then_some(address)
}

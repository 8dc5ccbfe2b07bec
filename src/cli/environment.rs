//! The environment variables that are read, by this program or by the OpenCL that it loads.

/// An environment variable and what it does.
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
}

const fn variable(name: &'static str, about: &'static str) -> Variable {
    Variable { name, about }
}

/// All of them.
pub const VARIABLES: &[Variable] = &[
    variable(super::DEVICE_VARIABLE, "The device, as --device names it."),
    variable("GPULAB_DATA", "The folder for what is kept, in place of the user's folder for data."),
    variable(
        "GPULAB_SECOND_SEED",
        "The seed of the data that no kernel can know, to repeat a run whose message names it.",
    ),
    variable("GPULAB_OPENCL_LIB", "The OpenCL library to load, in place of the system's."),
    variable("CXX", "The C++ compiler that builds the plugin of gpulab count, in place of c++, g++ and clang++."),
    variable("NO_COLOR", "If it is set and not empty: no colour."),
    variable("COLUMNS", "Columns of the terminal, in place of what it says itself."),
    variable("LC_ALL", "If it, or else the next, or else LANG, names no UTF-8: tables and charts in ASCII."),
    variable("LC_CTYPE", "As LC_ALL."),
    variable("LANG", "As LC_ALL."),
    variable("OCL_ICD_VENDORS", "The folder in which OpenCL's loader looks for drivers, or one file of it."),
    variable("OCL_ICD_FILENAMES", "The drivers' files themselves."),
    variable("OPENCL_VENDOR_PATH", "Another name for the folder of drivers."),
    variable("POCL_CACHE_DIR", "Where PoCL keeps compiled kernels."),
    variable("GLIBC_TUNABLES", "Settings of the C library, in place of the large pages that gpulab asks it for."),
    variable("RUSTICL_ENABLE", "Mesa's drivers that rusticl uses, as in llvmpipe, radeonsi or iris."),
    variable("XDG_DATA_HOME", "The user's folder for data, on Linux and the like."),
    variable("XDG_CACHE_HOME", "Where PoCL's cache is, if POCL_CACHE_DIR does not say."),
    variable("PROCESSOR_IDENTIFIER", "On Windows: the processor, for records."),
    variable("HOME", "Where those two are if they are not set."),
];

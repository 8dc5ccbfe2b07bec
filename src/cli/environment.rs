//! The environment variables that are read, by this program or by the OpenCL that it loads.

/// An environment variable and what it does.
pub struct Variable {
    pub name: &'static str,
    pub about: &'static str,
}

const fn variable(name: &'static str, about: &'static str) -> Variable {
    Variable { name, about }
}

pub const VARIABLES: &[Variable] = &[
    variable(super::DEVICE_VARIABLE, "The device, as --device names it."),
    variable("GPULAB_DATA", "The folder for stored results, in place of the user's data folder."),
    variable("GPULAB_SECOND_SEED", "The seed of the hidden test data, to repeat a run whose message names it."),
    variable("GPULAB_OPENCL_LIB", "The OpenCL library to load, in place of the system's."),
    variable("GPULAB_TASK", "Set in tasks of --workers: what they are to do."),
    variable("HQ_TASK_ID", "The number of a task, set by HyperQueue."),
    variable(
        "CUDA_VISIBLE_DEVICES",
        "Tasks that see different devices do not wait for each other's turn to take times.",
    ),
    variable("ROCR_VISIBLE_DEVICES", "See CUDA_VISIBLE_DEVICES."),
    variable("CXX", "The C++ compiler that builds the plugin of gpulab count, in place of c++, g++ and clang++."),
    variable("NO_COLOR", "Switches colour off, if set and not empty."),
    variable("COLUMNS", "Width of the terminal in columns, in place of its own answer."),
    variable("LC_ALL", "If LC_ALL, else LC_CTYPE, else LANG names no UTF-8, tables and charts are ASCII."),
    variable("LC_CTYPE", "See LC_ALL."),
    variable("LANG", "See LC_ALL."),
    variable("OCL_ICD_VENDORS", "The folder where OpenCL's loader looks for drivers, or one of its files."),
    variable("OCL_ICD_FILENAMES", "The driver libraries, for OpenCL's loader."),
    variable("OPENCL_VENDOR_PATH", "Another name for the folder of drivers."),
    variable("POCL_CACHE_DIR", "The folder of PoCL's compiled kernels."),
    variable("GLIBC_TUNABLES", "Settings of the C library, in place of gpulab's request for large pages."),
    variable("RUSTICL_ENABLE", "The Mesa drivers that rusticl uses, as in llvmpipe, radeonsi or iris."),
    variable("XDG_DATA_HOME", "The user's data folder, on Linux and similar systems."),
    variable("XDG_CACHE_HOME", "The folder of PoCL's cache, if POCL_CACHE_DIR is not set."),
    variable("APPDATA", "The user's data folder, on Windows."),
    variable("PROCESSOR_IDENTIFIER", "The processor's name for records, on Windows."),
    variable("HOME", "The parent of both XDG folders, if they are not set."),
];

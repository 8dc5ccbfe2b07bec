//! The environment variables that are read, by this program or by the OpenCL that it loads.

/// Their names, and what each does.
pub const VARIABLES: &[(&str, &str)] = &[
    (super::DEVICE_VARIABLE, "The device, as --device names it."),
    (
        "GPULAB_DATA",
        "The folder for stored results, in place of the user's data folder.",
    ),
    (
        "GPULAB_SECOND_SEED",
        "The seed of the hidden test data, to repeat a run whose message names it.",
    ),
    (
        "GPULAB_OPENCL_LIB",
        "The OpenCL library to load, in place of the system's.",
    ),
    (
        "CXX",
        "The C++ compiler that builds the plugin of gpulab count and the layer of gpulab time, in place of c++, g++ and clang++.",
    ),
    (
        "GITHUB_ACTIONS",
        "Set where GitHub runs a command: gpulab check and gpulab count -- PROGRAM print annotations there.",
    ),
    (
        "OPENCL_LAYERS",
        "Other layers of OpenCL's loader, which gpulab time keeps beside its own.",
    ),
    ("LD_PRELOAD", "See OPENCL_LAYERS."),
    (
        "PYOPENCL_NO_CACHE",
        "Set for programs of which gpulab time keeps a launch.",
    ),
    ("NO_COLOR", "Switches colour off, if set and not empty."),
    (
        "COLUMNS",
        "Width of the terminal in columns, in place of its own answer.",
    ),
    (
        "LC_ALL",
        "If LC_ALL, else LC_CTYPE, else LANG names no UTF-8, tables and charts are ASCII.",
    ),
    ("LC_CTYPE", "See LC_ALL."),
    ("LANG", "See LC_ALL."),
    (
        "OCL_ICD_VENDORS",
        "The folder where OpenCL's loader looks for drivers, or one of its files.",
    ),
    (
        "OCL_ICD_FILENAMES",
        "The driver libraries, for OpenCL's loader.",
    ),
    (
        "OPENCL_VENDOR_PATH",
        "Another name for the folder of drivers.",
    ),
    ("POCL_CACHE_DIR", "The folder of PoCL's compiled kernels."),
    (
        "GLIBC_TUNABLES",
        "Settings of the C library, in place of gpulab's request for large pages.",
    ),
    (
        "RUSTICL_ENABLE",
        "The Mesa drivers that rusticl uses, as in llvmpipe, radeonsi or iris.",
    ),
    (
        "PATH",
        "Where programs are; gpulab mcp lets kernels read its folders.",
    ),
    ("LD_LIBRARY_PATH", "The same of drivers' libraries."),
    (
        "XDG_DATA_HOME",
        "The user's data folder, on Linux and similar systems.",
    ),
    (
        "XDG_CACHE_HOME",
        "The folder of PoCL's cache, if POCL_CACHE_DIR is not set.",
    ),
    (
        "HOME",
        "The parent of both XDG folders, if they are not set.",
    ),
];

//! A CPU driver's kernels are native code of the process that judges them. What OpenCL C lacks, and its drivers' compilers take all
//! the same, would reach beyond their buffers: assembly, with it the system's calls, and functions of that process. Neither is built.

use super::error::{DeviceError, DeviceResult};
use gpulab_kernels::logical_lines;
use object::{Object, ObjectKind, ObjectSymbol};

/// Words that begin assembly. As macros they are none even where a text pastes them together.
const ASSEMBLY: [&str; 2] = ["__asm__", "__asm"];

/// What these words are defined as, for a compiler to complain of.
const REFUSED: &str = "assembly_is_refused_on_a_CPU_device";

/// Functions that drivers' own compilers call: those whose names begin like this.
const OF_DRIVERS: [&str; 6] = [
    "_Z",
    "__ocl_",
    "__opencl_",
    "__lprefetch",
    "memcpy",
    "memset",
];

/// These build options, and those that leave no assembly in a program.
///
/// Errors: a text that takes the latter back.
pub fn options(text: &str, others: &str) -> DeviceResult<String> {
    for (_, line) in logical_lines(text) {
        let words: Vec<&str> = line
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .collect();
        if let Some(pair) = words
            .windows(2)
            .find(|pair| ["define", "undef"].contains(&pair[0]) && ASSEMBLY.contains(&pair[1]))
        {
            return refused(&format!(
                "a CPU device takes no kernel that defines {}",
                pair[1]
            ));
        }
    }
    let defined = ASSEMBLY.map(|word| format!(" -D {word}={REFUSED}"));
    Ok(format!("{others}{}", defined.concat()))
}

/// Refuses a program whose object code, which Intel's driver links later, calls functions of this process. Of other forms of binaries
/// nothing is seen.
pub fn demand_own_functions(binary: &[u8]) -> DeviceResult<()> {
    const MAGIC: &[u8] = b"\x7fELF";
    let starts = (1..binary.len()).filter(|&at| binary[at..].starts_with(MAGIC));
    let objects = starts.filter_map(|at| object::File::parse(&binary[at..]).ok());
    // PoCL links its kernels itself, and refuses those that call anything else.
    for object in objects.filter(|object| object.kind() == ObjectKind::Relocatable) {
        let names = object.symbols().filter(ObjectSymbol::is_undefined);
        let foreign = names
            .filter_map(|symbol| symbol.name().ok())
            .find(|name| !name.is_empty() && !OF_DRIVERS.iter().any(|of| name.starts_with(of)));
        if let Some(name) = foreign {
            return refused(&format!(
                "{name} is no function of OpenCL C: it would be called in the process that runs the kernel"
            ));
        }
    }
    Ok(())
}

fn refused<T>(why: &str) -> DeviceResult<T> {
    Err(DeviceError::Build {
        log: format!("error: {why}"),
    })
}

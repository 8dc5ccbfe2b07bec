//! What compilers made of kernels: listings of instructions, by kind and by line of the source.

mod kind;
mod listing;
mod ptx;
mod sass;
mod x86;

pub use kind::AsmKind;
pub use listing::{AsmInstruction, AsmKernel, AsmLine};

/// Reads a listing: PTX, SASS as `nvdisasm -c -g` prints it, or x86-64 as `objdump -d -l --no-show-raw-insn` does. What
/// listings it knows, if this is none of them.
pub fn parse(text: &str) -> Result<Vec<AsmKernel>, String> {
    let text = text.trim_end_matches('\0');
    let is_ptx = text.lines().any(|line| line.trim_start().starts_with(".version"));
    let kernels = if is_ptx {
        ptx::parse(text)
    } else if text.contains(".section\t.text.") {
        sass::parse(text)
    } else if text.contains("file format elf64-x86-64") {
        x86::parse(text)
    } else {
        let known = "PTX, SASS as nvdisasm -c -g prints it, x86-64 as objdump -d -l --no-show-raw-insn does";
        return Err(format!("it is no listing that gpulab reads: {known}"));
    };
    if kernels.is_empty() { Err("the listing has no instructions".to_owned()) } else { Ok(kernels) }
}

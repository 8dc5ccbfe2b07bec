//! What a driver's binary holds for the device: instructions and constants, without names, dates and places of files.

use gpulab_model::check::fingerprint;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection};

/// A fingerprint of the instructions of these kernels in NVIDIA's PTX or in PoCL's machine code; the kernels' names are no part of it.
/// None of other formats.
pub fn instructions(binary: &[u8], kernels: &[String]) -> Option<String> {
    let code = match std::str::from_utf8(binary) {
        Ok(text) if text.contains(".version") => of_ptx(text, kernels),
        _ => of_libraries(binary, kernels)?,
    };
    Some(format!("{:032x}", fingerprint(&code)))
}

/// The text without comments and without what says which lines of a file it is made of.
fn of_ptx(text: &str, kernels: &[String]) -> Vec<u8> {
    let lines = text
        .trim_end_matches('\0')
        .lines()
        .take_while(|line| !line.trim_start().starts_with(".section"))
        .filter(|line| {
            let line = line.trim_start();
            !["//", ".loc", ".file"]
                .iter()
                .any(|start| line.starts_with(start))
        });
    let mut text = lines.collect::<Vec<_>>().join("\n");
    for (number, kernel) in kernels.iter().enumerate() {
        for (before, behind) in [(".entry ", "("), ("", "_param_")] {
            let name = format!("{before}{kernel}{behind}");
            text = text.replace(&name, &format!("{before}%{number}{behind}"));
        }
    }
    text.into_bytes()
}

/// The machine code of each kernel in PoCL's program: of the variant for work-groups of any size, which is always there.
fn of_libraries(binary: &[u8], kernels: &[String]) -> Option<Vec<u8>> {
    let find = |from: usize, what: &[u8]| {
        let mut windows = binary[from..].windows(what.len());
        windows
            .position(|window| window == what)
            .map(|at| from + at)
    };
    let mut code = Vec::new();
    for kernel in kernels {
        let name = find(0, format!("/{kernel}/0-0-0/{kernel}.so").as_bytes())?;
        let library = &binary[find(name, b"\x7fELF")?..];
        let library = ElfFile64::<Endianness>::parse(library).ok()?;
        for section in library.sections() {
            let name = section.name().unwrap_or_default();
            if name.starts_with(".text") || name.starts_with(".rodata") {
                code.extend(section.data().ok()?);
            }
        }
    }
    Some(code)
}

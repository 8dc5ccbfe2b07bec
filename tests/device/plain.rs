//! The first rungs of each ladder are for whoever pastes them into a program of their own: short, and whole without gpulab.

use crate::drivers::{on_every_driver, open};
use gpulab::device::{BuildUnit, Device};
use gpulab::kernels::{self, FAMILIES, Rung};

/// Most lines of a kernel, the defaults of its macros and comments aside.
const MOST_LINES: usize = 25;

/// Most macros with defaults.
const MOST_MACROS: usize = 7;

/// The first three rungs of each ladder, and the copy that transpositions are measured against.
fn plain() -> impl Iterator<Item = &'static Rung> {
    let first = FAMILIES.iter().flat_map(|family| family.ladder.iter().take(3));
    first.chain(FAMILIES.iter().flat_map(|family| family.problem.references().iter().take(1)))
}

fn code(rung: &Rung) -> &'static str {
    kernels::split_header(kernels::text(&rung.path).unwrap()).1
}

/// Lines that are no comment.
fn lines(rung: &Rung) -> impl Iterator<Item = &'static str> {
    code(rung).lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[test]
fn the_first_rungs_are_short() {
    for rung in plain() {
        let (macros, kernel): (Vec<&str>, Vec<&str>) = lines(rung).partition(|line| line.starts_with('#'));
        assert!(kernel.len() <= MOST_LINES, "{}: {} lines", rung.path, kernel.len());
        let defined = macros.iter().filter(|line| line.starts_with("#define")).count();
        assert!(defined <= MOST_MACROS, "{}: {defined} macros", rung.path);
        let others =
            macros.iter().find(|line| !["#ifndef", "#define", "#endif"].iter().any(|known| line.starts_with(known)));
        assert_eq!(others, None, "{}", rung.path);
        assert_eq!(code(rung).matches("__kernel").count(), 1, "{}", rung.path);
    }
}

#[test]
fn the_first_rungs_compile_as_they_stand_in_their_files() {
    on_every_driver(|driver| {
        let mut device = open(driver);
        for rung in plain() {
            let text = kernels::text(&rung.path).unwrap().to_owned();
            let unit =
                BuildUnit { path: rung.path.to_string(), text, defines: Vec::new(), kernels: vec![rung.kernel()] };
            device.build(&unit).unwrap_or_else(|error| panic!("{}: {error}", rung.path));
        }
        plain().count()
    });
}

//! The first rungs of each ladder are for whoever pastes them into a program of their own: short, with little beside them.

use gpulab::kernels::{self, FAMILIES, Rung};

/// Most lines of a kernel, macros and comments aside.
const MOST_LINES: usize = 25;

/// The first three rungs of each ladder, and the copy that transpositions are measured against.
fn plain() -> impl Iterator<Item = &'static Rung> {
    let first = FAMILIES
        .iter()
        .flat_map(|family| family.ladder.iter().take(3));
    first.chain(
        FAMILIES
            .iter()
            .flat_map(|family| family.problem.references().iter().take(1)),
    )
}

fn code(rung: &Rung) -> &'static str {
    kernels::split_header(kernels::text(&rung.path).unwrap()).1
}

/// Lines that are no comment.
fn lines(rung: &Rung) -> impl Iterator<Item = &'static str> {
    code(rung)
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
}

#[test]
fn the_first_rungs_are_short() {
    for rung in plain() {
        let (macros, kernel): (Vec<&str>, Vec<&str>) =
            lines(rung).partition(|line| line.starts_with('#'));
        assert!(
            kernel.len() <= MOST_LINES,
            "{}: {} lines",
            rung.path,
            kernel.len()
        );
        let others = macros.iter().find(|line| {
            !["#include", "#define"]
                .iter()
                .any(|known| line.starts_with(known))
        });
        assert_eq!(others, None, "{}", rung.path);
        assert_eq!(code(rung).matches("__kernel").count(), 1, "{}", rung.path);
    }
}

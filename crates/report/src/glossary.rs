//! What the columns of ladders' tables mean.

use crate::columns::{BESIDE, COLUMNS};
use crate::wrap::{hung, wrapped};
use gpulab_kernels::FAMILIES;

/// The columns of a ladder's table and what stands beside them, one an entry, in lines of a terminal's width.
pub fn explained(width: usize) -> String {
    let [rung, rest @ ..] = BESIDE;
    let mut all: Vec<(String, &str)> = vec![(rung.0.to_owned(), rung.1)];
    all.extend(
        COLUMNS
            .iter()
            .copied()
            .flatten()
            .map(|column| (column.name(), column.about)),
    );
    all.extend(rest.map(|(name, about, _)| (name.to_owned(), about)));
    let mut text: String = all
        .iter()
        .map(|(name, about)| hung(about, &format!("{name:<14}  "), width))
        .collect();
    let below =
        "Below the rungs stand the CPU's programs, which solve the same problem without OpenCL:";
    text += &wrapped(below, "\n", "", width);
    for family in FAMILIES {
        for baseline in family.problem.baselines() {
            let about = format!("{} ({})", baseline.about, family.name);
            text += &hung(&about, &format!("{:<14}  ", baseline.name), width);
        }
    }
    text + "\nBelow are the columns of files.\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_explained_within_the_width() {
        let text = explained(80);
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        for column in COLUMNS.into_iter().flatten() {
            assert!(
                text.contains(&format!("\n{} ", column.name())),
                "{}: {text}",
                column.name()
            );
        }
        for baseline in FAMILIES
            .iter()
            .flat_map(|family| family.problem.baselines())
        {
            assert!(
                text.contains(&format!("\n{} ", baseline.name)),
                "{}: {text}",
                baseline.name
            );
        }
        assert!(
            text.starts_with("rung ") && text.contains("\nverdict "),
            "{text}"
        );
    }
}

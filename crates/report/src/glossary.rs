//! What the columns of ladders' tables mean, and the words of the field.

use crate::columns::{BESIDE, COLUMNS};
use crate::wrap::{hung, wrapped};
use gpulab_kernels::FAMILIES;

/// Entries apart by empty lines: the words with `|` between them, a text, the words of CUDA and OpenCL, a command, and rungs.
const WORDS: &str = include_str!("../../../data/glossary.txt");

/// The words of an entry, in its first line.
fn names(entry: &str) -> impl Iterator<Item = &str> {
    entry.lines().next().unwrap_or_default().split(" | ")
}

/// All words that have an entry.
pub fn words() -> impl Iterator<Item = &'static str> {
    WORDS.trim_end().split("\n\n").flat_map(names)
}

/// The entry of a word, in small letters, also of several or with hyphens for blanks.
pub fn entry(word: &str) -> Option<&'static str> {
    let plain = |text: &str| {
        text.replace(['-', ' '], "")
            .trim_end_matches('s')
            .to_owned()
    };
    let mut entries = WORDS.trim_end().split("\n\n");
    entries.find(|entry| names(entry).any(|name| plain(name) == plain(word)))
}

/// An entry in lines of a terminal's width.
pub fn text(entry: &str, width: usize) -> String {
    entry
        .lines()
        .map(|line| wrapped(line, "", "  ", width))
        .collect()
}

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
    fn words_are_found_in_any_spelling_and_short() {
        for word in ["bank-conflict", "bank conflicts", "coalesced", "subgroup"] {
            assert!(entry(word).is_some(), "{word}");
        }
        assert!(entry("nothing").is_none());
        for word in words() {
            let text = text(entry(word).unwrap(), 80);
            assert!(text.lines().count() <= 10, "{text}");
            assert!(
                text.contains("\nSee: gpulab ") && text.contains("\nLadders: "),
                "{text}"
            );
        }
        assert!(words().count() >= 30);
    }

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

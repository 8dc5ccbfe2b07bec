//! What differs between two kernel files: what their headers say, then their code.

use crate::format::{Tint, paint};
use crate::wrap::{hung, wrapped};
use gpulab_kernels::{Family, Rung, labelled, split_header, title};
use similar::{ChangeTag, TextDiff};

pub struct KernelFile {
    /// As in `reduce v3 sequential`.
    pub label: String,
    /// From the folder that `cl/` lies in.
    pub path: String,
    pub text: String,
}

impl KernelFile {
    pub fn new(family: &Family, rung: &Rung, text: String) -> KernelFile {
        KernelFile {
            label: format!("{} {}", family.name, rung.label()),
            path: format!("cl/{}", rung.path),
            text,
        }
    }
}

/// What the headers say, in lines of at most `width` characters: what both files are, what the old one left and what the new one
/// does about it. Then the lines of code that differ, as `diff -u` has them, with the numbers of the files' lines.
pub fn text(old: &KernelFile, new: &KernelFile, width: usize, is_coloured: bool) -> String {
    let [old_part, new_part] = [old, new].map(|file| split_header(&file.text));
    let diff = TextDiff::from_lines(old_part.1, new_part.1);
    let mut text =
        told(old, &["Remains"], width) + "\n" + &told(new, &["Idea", "Removes", "Remains"], width);
    let hunks = diff.grouped_ops(3);
    text += &match hunks.is_empty() {
        true => "\nThe code is the same.\n".to_owned(),
        false => format!("\n--- {}\n+++ {}\n", old.path, new.path),
    };
    for hunk in hunks {
        let Some(first) = hunk.first() else { continue };
        let from = old_part.0.lines().count() + first.old_range().start + 1;
        let to = new_part.0.lines().count() + first.new_range().start + 1;
        text += &format!("@@ -{from} +{to} @@\n");
        for change in hunk.iter().flat_map(|op| diff.iter_changes(op)) {
            let line = change.value().trim_end_matches('\n');
            text += &match change.tag() {
                ChangeTag::Equal => format!(" {line}"),
                ChangeTag::Delete if is_coloured => paint(&format!("-{line}"), Tint::Red),
                ChangeTag::Insert if is_coloured => paint(&format!("+{line}"), Tint::Green),
                ChangeTag::Delete => format!("-{line}"),
                ChangeTag::Insert => format!("+{line}"),
            };
            text.push('\n');
        }
    }
    text
}

fn told(file: &KernelFile, labels: &[&str], width: usize) -> String {
    let mut text = wrapped(
        title(&file.text).unwrap_or(""),
        &format!("{}: ", file.label),
        "  ",
        width,
    );
    for label in labels {
        text += &hung(
            &labelled(&file.text, label).unwrap_or_default(),
            &format!("  {:<9}", format!("{label}:")),
            width,
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(label: &str, text: &str) -> KernelFile {
        KernelFile {
            label: label.into(),
            path: format!("cl/{label}.cl"),
            text: text.into(),
        }
    }

    #[test]
    fn headers_stand_apart_and_lines_are_those_of_the_files() {
        let old = file(
            "one",
            "// x v1: the old one.\n// Idea:    a.\n// Removes: b.\n// Remains: a loop.\none\ntwo\nthree\nfour\nfive\n",
        );
        let new = file(
            "two",
            "// x v2: the new one.\n// Idea:    unroll.\n// Removes: the loop.\n// Remains: c.\n// More.\none\ntwo\nthree\n4\nand more\nfive\n",
        );
        let head = "one: the old one.\n  Remains: a loop.\n\ntwo: the new one.\n  Idea:    unroll.\n  Removes: the loop.\n  Remains: c.\n\n";
        let code = "--- cl/one.cl\n+++ cl/two.cl\n@@ -5 +6 @@\n one\n two\n three\n-four\n+4\n+and more\n five\n";
        assert_eq!(text(&old, &new, 80, false), head.to_owned() + code);
        assert!(text(&old, &new, 80, true).contains(&(paint("-four", Tint::Red) + "\n")));
        let same = file("two", &old.text.replace("the old one", "the new one"));
        assert!(text(&old, &same, 80, false).ends_with("\nThe code is the same.\n"));
    }
}

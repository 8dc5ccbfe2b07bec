//! What differs between two kernel files: what their headers say, then their code.

use crate::prelude::*;
use gpulab_kernels::{labelled, split_header, title};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::fmt::Write as _;

pub struct KernelFile {
    /// As in `reduce v3 sequential`.
    pub label: String,
    /// From the folder that `cl/` lies in.
    pub path: String,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLayout {
    /// One below the other, as `diff -u` does, in lines of at most so many characters.
    Unified(usize),
    /// The old ones on the left and the new ones on the right.
    SideBySide,
}

/// Columns from which two files have room side by side.
const WIDE: usize = 120;

/// Lines without a change that are shown around changed ones.
const CONTEXT: usize = 3;

impl DiffLayout {
    /// The one for a terminal of so many columns, or for a pipe.
    pub fn of(is_terminal: bool, width: usize) -> DiffLayout {
        match is_terminal {
            true if width >= WIDE => DiffLayout::SideBySide,
            true => DiffLayout::Unified(width),
            // For the programs that read it.
            false => DiffLayout::Unified(usize::MAX),
        }
    }
}

/// What the headers say, in lines of at most `width` characters, and the code that differs on this screen. The line numbers
/// are those of the files.
pub fn text(old: &KernelFile, new: &KernelFile, layout: DiffLayout, width: usize, screen: Screen) -> String {
    let code = Code::of(old, new);
    let hunks = match layout {
        DiffLayout::Unified(width) => code.unified(width, screen),
        DiffLayout::SideBySide => code.side_by_side(screen),
    };
    let hunks = if hunks.is_empty() { "The code is the same.\n".to_owned() } else { hunks };
    format!("{}\n{hunks}", headers(old, new, width))
}

/// What both files are, what the old one left and what the new one does about it.
fn headers(old: &KernelFile, new: &KernelFile, width: usize) -> String {
    let heading =
        |file: &KernelFile| wrapped(title(&file.text).unwrap_or(""), &format!("{}: ", file.label), "  ", width);
    let line = |file: &KernelFile, label: &str| {
        let said = labelled(&file.text, label).unwrap_or_default();
        hung(&said, &format!("  {:<9}", format!("{label}:")), width)
    };
    let news: String = ["Idea", "Removes", "Remains"].map(|label| line(new, label)).concat();
    format!("{}{}\n{}{news}", heading(old), line(old, "Remains"), heading(new))
}

/// The code of two files, and where in them it begins.
struct Code<'a> {
    files: [&'a KernelFile; 2],
    above: [usize; 2],
    diff: TextDiff<'a, 'a, 'a, str>,
}

impl<'a> Code<'a> {
    fn of(old: &'a KernelFile, new: &'a KernelFile) -> Code<'a> {
        let parts = [old, new].map(|file| split_header(&file.text));
        let [(old_header, old_code), (new_header, new_code)] = parts;
        let above = [old_header, new_header].map(|header| header.lines().count());
        Code { files: [old, new], above, diff: TextDiff::from_lines(old_code, new_code) }
    }

    /// `@@ -12,7 +12,8 @@`: where a hunk lies in both files.
    fn place(&self, hunk: &[DiffOp]) -> String {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return String::new() };
        let range = |begin: usize, end: usize, above: usize| {
            // As `diff -u` has it, what is empty lies behind the line before it.
            let first = if begin == end { begin } else { begin + 1 };
            format!("{},{}", above + first, end - begin)
        };
        let old = range(first.old_range().start, last.old_range().end, self.above[0]);
        let new = range(first.new_range().start, last.new_range().end, self.above[1]);
        format!("@@ -{old} +{new} @@")
    }

    fn unified(&self, width: usize, screen: Screen) -> String {
        let mut text = String::new();
        for hunk in self.diff.grouped_ops(CONTEXT) {
            if text.is_empty() {
                text = format!("--- {}\n+++ {}\n", self.files[0].path, self.files[1].path);
            }
            let _ = writeln!(text, "{}", self.place(&hunk));
            for change in hunk.iter().flat_map(|op| self.diff.iter_changes(op)) {
                let (mark, tint) = match change.tag() {
                    ChangeTag::Equal => (' ', None),
                    ChangeTag::Delete => ('-', Some(Tint::Red)),
                    ChangeTag::Insert => ('+', Some(Tint::Green)),
                };
                for piece in pieces(change.value(), mark, width) {
                    let _ = writeln!(text, "{}", tinted(&piece, tint, screen));
                }
            }
        }
        text
    }

    fn side_by_side(&self, screen: Screen) -> String {
        let sides = Sides { width: (screen.width - DIVIDER.len()) / 2, screen };
        let mut text = String::new();
        for hunk in self.diff.grouped_ops(CONTEXT) {
            if text.is_empty() {
                text = sides.row([Some(&self.files[0].path), Some(&self.files[1].path)], [' ', ' ']);
            }
            let _ = writeln!(text, "{}", self.place(&hunk));
            for op in &hunk {
                text += &self.rows(op, &sides);
            }
        }
        text
    }

    /// The lines of an operation, beside each other as far as both sides have any.
    fn rows(&self, op: &DiffOp, sides: &Sides) -> String {
        let is_equal = matches!(op, DiffOp::Equal { .. });
        let marks = if is_equal { [' ', ' '] } else { ['-', '+'] };
        let old = &self.diff.old_slices()[op.old_range()];
        let new = &self.diff.new_slices()[op.new_range()];
        let pairs = (0..old.len().max(new.len())).map(|at| [old.get(at).copied(), new.get(at).copied()]);
        pairs.map(|pair| sides.row(pair, marks)).collect()
    }
}

const DIVIDER: &str = " | ";

struct Sides {
    width: usize,
    screen: Screen,
}

impl Sides {
    /// A line of each side, in as many rows as the longer one takes.
    fn row(&self, pair: [Option<&str>; 2], marks: [char; 2]) -> String {
        let [left, right] =
            [0, 1].map(|side: usize| pair[side].map_or_else(Vec::new, |line| pieces(line, marks[side], self.width)));
        let tints = marks.map(|mark| match mark {
            '-' => Some(Tint::Red),
            '+' => Some(Tint::Green),
            _ => None,
        });
        let mut text = String::new();
        for at in 0..left.len().max(right.len()) {
            let [left, right] = [&left, &right].map(|pieces| pieces.get(at).map_or("", String::as_str));
            let padding = " ".repeat(self.width - left.chars().count());
            let left = tinted(left, tints[0], self.screen);
            let right = tinted(right, tints[1], self.screen);
            let _ = writeln!(text, "{}", format!("{left}{padding}{DIVIDER}{right}").trim_end());
        }
        text
    }
}

fn pieces(line: &str, mark: char, width: usize) -> Vec<String> {
    let line = line.trim_end_matches('\n');
    if line.chars().count() < width {
        return vec![format!("{mark}{line}")];
    }
    let letters: Vec<char> = line.replace('\t', "    ").chars().collect();
    letters.chunks(width - 1).map(|piece| std::iter::once(mark).chain(piece.iter().copied()).collect()).collect()
}

fn tinted(text: &str, tint: Option<Tint>, screen: Screen) -> String {
    match tint {
        Some(tint) if screen.color && !text.is_empty() => paint(text, tint),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_system::terminal::text as painted;

    fn file(label: &str, text: &str) -> KernelFile {
        KernelFile { label: label.into(), path: format!("cl/{label}.cl"), text: text.into() }
    }

    fn two() -> [KernelFile; 2] {
        let old = "// x v1: the old one.\n// Idea:    a.\n// Removes: b.\n// Remains: a loop.\none\ntwo\nthree\nfour\nfive\nsix\n";
        let new = "// x v2: the new one.\n// Idea:    unroll.\n// Removes: the loop.\n// Remains: c.\n// More.\none\ntwo\nthree\n4\nand more\nfive\nsix\n";
        [file("one", old), file("two", new)]
    }

    const PLAIN: Screen = Screen { width: 80, unicode: true, color: false };

    #[test]
    fn headers_stand_apart_and_lines_are_those_of_the_files() {
        let [old, new] = two();
        let want = "one: the old one.\n  Remains: a loop.\n\ntwo: the new one.\n  Idea:    unroll.\n  Removes: the loop.\n  \
                    Remains: c.\n\n--- cl/one.cl\n+++ cl/two.cl\n@@ -5,6 +6,7 @@\n one\n two\n three\n-four\n+4\n+and more\n five\n six\n";
        assert_eq!(text(&old, &new, DiffLayout::Unified(usize::MAX), 80, PLAIN), want);
    }

    #[test]
    fn wide_screens_show_both_sides_and_no_line_is_wider() {
        let [old, mut new] = two();
        new.text = new.text.replace("and more", &"long ".repeat(30));
        for width in [120, 133, 200] {
            let shown = text(&old, &new, DiffLayout::SideBySide, 80, Screen { width, ..PLAIN });
            assert!(shown.lines().all(|line| line.chars().count() <= width), "{shown}");
            let row = |line: &str| line.split(" | ").map(|half| half.trim_end().to_owned()).collect::<Vec<_>>();
            let rows: Vec<Vec<String>> = shown.lines().map(row).collect();
            assert!(rows.contains(&vec!["-four".into(), "+4".into()]), "{shown}");
            assert!(rows.contains(&vec![" five".into(), " five".into()]), "{shown}");
            let long: String = shown.lines().filter_map(|line| line.split(" | +long").nth(1)).collect();
            assert!(!long.is_empty(), "{shown}");
        }
    }

    #[test]
    fn colours_change_no_letter() {
        let [old, new] = two();
        for layout in [DiffLayout::Unified(usize::MAX), DiffLayout::SideBySide] {
            let [plain, coloured] = [false, true]
                .map(|color| painted(&text(&old, &new, layout, 80, Screen { width: 120, color, ..PLAIN })));
            assert!(coloured.contains("\x1b[31m-four\x1b[0m") && coloured.contains("\x1b[32m+4\x1b[0m"), "{coloured}");
            let bare = ["\x1b[31m", "\x1b[32m", "\x1b[0m"].iter().fold(coloured, |text, code| text.replace(code, ""));
            assert_eq!(bare, plain);
        }
    }

    #[test]
    fn files_of_the_same_code_are_told_to_be() {
        let [old, _] = two();
        let new = file("two", &old.text.replace("the old one", "the new one"));
        assert!(text(&old, &new, DiffLayout::Unified(usize::MAX), 80, PLAIN).ends_with("\nThe code is the same.\n"));
    }

    #[test]
    fn pipes_and_narrow_terminals_get_one_column() {
        assert_eq!(DiffLayout::of(true, 119), DiffLayout::Unified(119));
        assert_eq!(DiffLayout::of(true, 120), DiffLayout::SideBySide);
        assert_eq!(DiffLayout::of(false, 200), DiffLayout::Unified(usize::MAX));
    }
}

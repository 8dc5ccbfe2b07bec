//! Kernel sources: those built into the binary, and how a file and its fragments are joined.

use super::family::Rung;
use gpulab_system::text::Joined;
use include_dir::{Dir, include_dir};
use std::borrow::Cow;
use std::fmt::Write as _;

/// The folder `cl/`, as it was when the binary was built.
static CL: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../cl");

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Path below `cl/`.
    pub path: String,
    /// The text, with included fragments in place and `#line` directives that name each file.
    pub text: String,
}

/// The text of a file below `cl/`, as built into the binary.
pub fn text(path: &str) -> Option<&'static str> {
    CL.get_file(path)?.contents_utf8()
}

pub fn embedded(path: &str) -> Option<Cow<'static, str>> {
    text(path).map(Cow::Borrowed)
}

/// A file's leading comment, and what comes below it.
pub fn split_header(text: &str) -> (&str, &str) {
    let lines = text.split_inclusive('\n').take_while(|line| line.starts_with("//"));
    text.split_at(lines.map(str::len).sum())
}

/// What a file's leading comment says behind a label, as in `// Idea:    one tree a group.`, on one line: lines that stand
/// further in go on with it.
pub fn labelled(text: &str, label: &str) -> Option<String> {
    let mut lines = split_header(text).0.lines().filter_map(|line| line.strip_prefix("//"));
    let first = lines.by_ref().find_map(|line| line.strip_prefix(' ')?.strip_prefix(label)?.strip_prefix(':'))?;
    let more = lines.take_while(|line| line.starts_with("   "));
    Some(std::iter::once(first).chain(more).map(str::trim).joined(" "))
}

/// What a file's first line says that it is, as in `a padded tile.` of `// transpose v3: a padded tile.`
pub fn title(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix("// ")?.split_once(": ").map(|(_, title)| title)
}

impl Rung {
    /// Its text, as built into the binary or as a reader brought it.
    pub fn text(&self) -> Option<&str> {
        self.own_text().or_else(|| text(&self.path))
    }

    /// What the file's header says behind a label: `Idea`, `Removes` and `Remains`; of ladders also `Expect`, `But` (when it
    /// does not help), `Proof` and `CUDA`.
    pub fn header(&self, label: &str) -> Option<String> {
        labelled(self.text()?, label)
    }

    /// The commands that show what the header says, as in `gpulab lab banks`; none of kernels outside of ladders.
    pub fn proof(&self) -> Vec<String> {
        let commands = self.header("Proof").unwrap_or_default();
        commands.split(';').map(str::trim).filter(|command| !command.is_empty()).map(str::to_owned).collect()
    }
}

/// Replaces each line `#include "x.cl"` by that fragment, whose path is relative to the file's folder; the path of a file
/// that `lookup` does not find is the error.
pub fn assemble<'a>(path: &str, lookup: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Result<Assembled, String> {
    let file = lookup(path).ok_or_else(|| path.to_owned())?;
    let mut text = format!("#line 1 \"{path}\"\n");
    // Conditionals that are open, and the innermost of them with a fragment: a compiler that skips it loses count of lines.
    let mut depth = 0;
    let mut skippable = 0;
    for (number, line) in (1..).zip(file.lines()) {
        let Some(fragment) = included(path, line) else {
            text.push_str(line);
            text.push('\n');
            let is = |directive: &str| line.trim_start().starts_with(directive);
            if depth > 0 && depth == skippable && ["#else", "#elif", "#endif"].into_iter().any(is) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "#line {} \"{path}\"", number + 1);
            }
            match (is("#if"), is("#endif")) {
                (true, _) => depth += 1,
                (_, true) => {
                    depth = usize::max(depth, 1) - 1;
                    skippable = usize::min(skippable, depth);
                }
                _ => {}
            }
            continue;
        };
        skippable = depth;
        let body = lookup(&fragment).ok_or_else(|| fragment.clone())?;
        let newline = if body.ends_with('\n') { "" } else { "\n" };
        let _ = writeln!(text, "#line 1 \"{fragment}\"\n{body}{newline}#line {} \"{path}\"", number + 1);
    }
    Ok(Assembled { path: path.to_owned(), text })
}

/// A rung's file between those that gpulab puts around it, each with its fragments; the path of one that `lookup` does not find
/// is the error.
pub fn assemble_rung<'a>(rung: &Rung, lookup: &dyn Fn(&str) -> Option<Cow<'a, str>>) -> Result<Assembled, String> {
    let parts = rung.files().map(|path| assemble(path, lookup).map(|part| part.text)).collect::<Result<String, _>>()?;
    Ok(Assembled { path: rung.path.to_string(), text: parts })
}

/// The path below `cl/` of the fragment that a line of a file includes, if it does.
pub fn included(path: &str, line: &str) -> Option<String> {
    let fragment = line.strip_prefix("#include \"")?.strip_suffix('"')?;
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for part in fragment.split('/') {
        if part == ".." { _ = folders.pop() } else { folders.push(part) }
    }
    Some(folders.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_keep_every_line_where_it_was() {
        let lookup = |path: &str| match path {
            "a/b.cl" => Some(Cow::Borrowed("one\n#include \"../common/c.cl\"\nthree\n#include \"d.cl\"\n")),
            "common/c.cl" => Some(Cow::Borrowed("inner")),
            "a/d.cl" => Some(Cow::Borrowed("beside\n")),
            _ => None,
        };
        let unit = assemble("a/b.cl", &lookup).unwrap();
        let first = "#line 1 \"a/b.cl\"\none\n#line 1 \"common/c.cl\"\ninner\n#line 3 \"a/b.cl\"\nthree\n";
        assert_eq!(unit.text, format!("{first}#line 1 \"a/d.cl\"\nbeside\n#line 5 \"a/b.cl\"\n"));
    }

    #[test]
    fn a_fragment_that_a_compiler_skips_moves_no_line() {
        let file = "#if A\n#ifdef B\n#include \"d.cl\"\n#else\nfive\n#endif\n#endif\neight\n#if C\n#endif\n";
        let lookup = |path: &str| match path {
            "a/b.cl" => Some(Cow::Borrowed(file)),
            "a/d.cl" => Some(Cow::Borrowed("one\ntwo\nthree\n")),
            _ => None,
        };
        let text = assemble("a/b.cl", &lookup).unwrap().text;
        let here = |line: u32| format!("#line {line} \"a/b.cl\"\n");
        let end = format!("#else\n{}five\n#endif\n{}#endif\n{}eight\n#if C\n#endif\n", here(5), here(7), here(8));
        assert!(text.ends_with(&end), "{text}");
    }

    #[test]
    fn a_missing_fragment_is_named() {
        let lookup = |path: &str| (path == "a/b.cl").then_some(Cow::Borrowed("#include \"../common/none.cl\"\n"));
        assert_eq!(assemble("a/b.cl", &lookup), Err("common/none.cl".to_owned()));
        assert_eq!(assemble("x.cl", &lookup), Err("x.cl".to_owned()));
    }

    #[test]
    fn a_header_ends_at_the_code_and_its_labels_may_take_several_lines() {
        let file = "// dot v1: short.\n// Idea:    one\n//          and two.\n// Remains: three.\n// More.\n#if 1\n// Proof: no\n";
        let (header, code) = split_header(file);
        assert_eq!((header.lines().count(), code), (5, "#if 1\n// Proof: no\n"));
        assert_eq!(title(file), Some("short."));
        assert_eq!(labelled(file, "Idea").as_deref(), Some("one and two."));
        assert_eq!(labelled(file, "Remains").as_deref(), Some("three."));
        assert_eq!(labelled(file, "Proof"), None);
    }

    #[test]
    fn entry_points_bear_the_last_folder_and_the_file() {
        assert_eq!(crate::entry_point("reduce/interleaved.cl"), "reduce_interleaved");
        assert_eq!(crate::entry_point("lab/banks/strided.cl"), "banks_strided");
    }
}

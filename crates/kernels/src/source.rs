//! Kernel sources: those built into the binary, and how a file and its fragments are joined.

use super::family::{Family, Rung};
use super::transpose::{REPEAT_MACROS, looped};
use gpulab_model::Joined;
use gpulab_model::outcome::Stop;
use gpulab_model::plan::{Case, Plan, Target, WorkGroup};
use include_dir::{Dir, File, include_dir};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};

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
    let lines = text
        .split_inclusive('\n')
        .take_while(|line| line.starts_with("//"));
    text.split_at(lines.map(str::len).sum())
}

/// What a file's leading comment says behind a label, as in `// Idea:    one tree a group.`, on one line: lines that stand
/// further in go on with it.
pub fn labelled(text: &str, label: &str) -> Option<String> {
    let mut lines = split_header(text)
        .0
        .lines()
        .filter_map(|line| line.strip_prefix("//"));
    let first = lines.by_ref().find_map(|line| {
        line.strip_prefix(' ')?
            .strip_prefix(label)?
            .strip_prefix(':')
    })?;
    let more = lines.take_while(|line| line.starts_with("   "));
    Some(
        std::iter::once(first)
            .chain(more)
            .map(str::trim)
            .joined(" "),
    )
}

/// What a file's first line says that it is, as in `a padded tile.` of `// transpose v3: a padded tile.`
pub fn title(text: &str) -> Option<&str> {
    text.lines()
        .next()?
        .strip_prefix("// ")?
        .split_once(": ")
        .map(|(_, title)| title)
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
        commands
            .split(';')
            .map(str::trim)
            .filter(|command| !command.is_empty())
            .map(str::to_owned)
            .collect()
    }
}

/// Replaces each line `#include "x.cl"` by that fragment, whose path is relative to the file's folder; the path of a file
/// that `lookup` does not find is the error.
pub fn assemble<'a>(
    path: &str,
    lookup: &dyn Fn(&str) -> Option<Cow<'a, str>>,
) -> Result<Assembled, String> {
    let file = lookup(path).ok_or_else(|| path.to_owned())?;
    let mut text = format!("#line 1 \"{path}\"\n");
    // Conditionals that are open, and the innermost of them with a fragment: a compiler that skips it loses count of lines.
    let mut depth = 0;
    let mut skippable = 0;
    for (number, line) in (1..).zip(file.lines()) {
        let Some(fragment) = included(path, line) else {
            text.push_str(line);
            text.push('\n');
            let directive = line.trim_start();
            let ends = directive.starts_with("#endif");
            if depth > 0 && depth == skippable && (ends || directive.starts_with("#el")) {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "#line {} \"{path}\"", number + 1);
            }
            match (directive.starts_with("#if"), ends) {
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
        let _ = writeln!(
            text,
            "#line 1 \"{fragment}\"\n{body}{newline}#line {} \"{path}\"",
            number + 1
        );
    }
    Ok(Assembled {
        path: path.to_owned(),
        text,
    })
}

/// A rung's file and those that gpulab puts behind it, each with its fragments; the path of one that `lookup` does not find
/// is the error.
pub fn assemble_rung<'a>(
    rung: &Rung,
    lookup: &dyn Fn(&str) -> Option<Cow<'a, str>>,
) -> Result<Assembled, String> {
    let parts = rung
        .files()
        .map(|path| assemble(path, lookup).map(|part| part.text))
        .collect::<Result<String, _>>()?;
    Ok(Assembled {
        path: rung.path.to_string(),
        text: parts,
    })
}

/// The path below `cl/` of the fragment that a line of a file includes, if it does.
pub fn included(path: &str, line: &str) -> Option<String> {
    let fragment = line.strip_prefix("#include \"")?.strip_suffix('"')?;
    let mut folders: Vec<&str> = path.split('/').collect();
    folders.pop();
    for part in fragment.split('/') {
        if part == ".." {
            _ = folders.pop()
        } else {
            folders.push(part)
        }
    }
    Some(folders.join("/"))
}

#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A folder laid out like `cl/`, before the sources built into the binary; `None` for these alone.
    pub dir: Option<PathBuf>,
}

impl Sources {
    /// The text of a kernel file with its fragments.
    pub fn assemble(&self, path: &str) -> Result<String, Stop> {
        assemble(path, &|path| self.lookup(path))
            .map(|a| a.text)
            .map_err(|missing| self.unreadable(&missing))
    }

    /// The text that a rung is built from; a reader's kernel is as it was brought.
    pub fn assemble_rung(&self, rung: &Rung) -> Result<String, Stop> {
        let assembled = assemble_rung(rung, &|path| {
            rung.own_text()
                .filter(|_| path == rung.path)
                .map(Cow::Borrowed)
                .or_else(|| self.lookup(path))
        });
        assembled
            .map(|a| a.text)
            .map_err(|missing| self.unreadable(&missing))
    }

    /// As [`Sources::assemble_rung`], for this plan, which may want the kernel's work repeated.
    pub fn for_plan(&self, rung: &Rung, plan: &Plan) -> Result<String, Stop> {
        let text = self.assemble_rung(rung)?;
        let repeats = !rung.is_own() && plan.defines.iter().any(|(name, _)| name == "NREPS");
        match looped(&text, &rung.kernel()).filter(|_| repeats) {
            Some(looped) => Ok(self.assemble(REPEAT_MACROS)? + &looped),
            None => Ok(text),
        }
    }

    /// The text of a kernel file as it is. None of another file, which a kernel may name as well as its own.
    pub fn read(&self, path: &str) -> Result<String, Stop> {
        let is_kernel = path.ends_with(".cl")
            && Path::new(path)
                .components()
                .all(|c| matches!(c, Component::Normal(_)));
        let text = if is_kernel { self.lookup(path) } else { None };
        text.map(Cow::into_owned)
            .ok_or_else(|| self.unreadable(path))
    }

    fn lookup(&self, path: &str) -> Option<Cow<'static, str>> {
        match &self.dir {
            // What the folder lacks is built in; what it has and nobody can read is missing.
            Some(dir) if dir.join(path).exists() => {
                // A pipe or a device may never end.
                let file = Some(dir.join(path)).filter(|file| file.is_file());
                file.and_then(|file| fs::read_to_string(file).ok())
                    .map(Cow::Owned)
            }
            _ => embedded(path),
        }
    }

    fn unreadable(&self, missing: &str) -> Stop {
        let place = self
            .dir
            .as_ref()
            .map_or("the binary".into(), |d| d.display().to_string());
        Stop::failed(format!("no readable kernel source {missing} in {place}"))
    }
}

/// The definitions that a source mentions, or the value of one of these: the others would only make it another program to
/// compile. Build options, which begin with `-`, stay.
pub fn used_defines(defines: &[(String, String)], text: &str) -> Vec<(String, String)> {
    // Of a macro with arguments, `SQUARE(x)`, what it is called.
    let called = |name: &str| name.split('(').next().unwrap_or_default().to_owned();
    let parted = |text| str::split(text, |c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut words: HashSet<&str> = parted(text).collect();
    let values: Vec<&str> = defines
        .iter()
        .filter(|(name, _)| words.contains(called(name).as_str()))
        .map(|d| d.1.as_str())
        .collect();
    words.extend(values.into_iter().flat_map(parted));
    defines
        .iter()
        .filter(|(name, _)| name.starts_with('-') || words.contains(called(name).as_str()))
        .cloned()
        .collect()
}

/// Macros that a rung's text takes from the host, as of a case, if it can be of odd size, on a CPU that knows no sub-groups; none
/// of a rung that cannot run it.
pub fn given(family: &Family, rung: &Rung, text: &str) -> Vec<(String, String)> {
    let mut given = usual_plan(family, rung)
        .map(|plan| used_defines(&plan.defines, text))
        .unwrap_or_default();
    given.retain(|(name, _)| !name.starts_with("LOCKSTEP_"));
    given
}

/// The plan of a case that can be of odd size, on a CPU that knows no sub-groups, if the rung has one.
pub fn usual_plan(family: &Family, rung: &Rung) -> Option<Plan> {
    let target = Target {
        prefetch: false,
        ..Target::without_limits(false)
    };
    let usual = family.usual_shape(1 << 20, false).n;
    [1025, 1 << 20, usual].into_iter().find_map(|n| {
        let case = Case::of(
            &family.name,
            rung.variant(),
            family.dtypes[0],
            family.form.shape(n, None),
        );
        family
            .plan(
                rung,
                &Case {
                    wg: WorkGroup::linear(256),
                    ..case
                },
                &target,
            )
            .ok()
    })
}

/// Folders that come with gpulab beside `cl/`, as they were when the binary was built.
static SOURCES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/sources");
static EXAMPLES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/examples");
static INPUTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/inputs");

/// A file that comes with gpulab, and the folder that it lies in.
pub type ShippedFile = (&'static File<'static>, &'static Dir<'static>);

/// The input of this name that comes with gpulab: `europe.csv`.
pub fn brought_input(name: &str) -> Option<ShippedFile> {
    Some((INPUTS.get_file(name)?, &INPUTS))
}

/// The text of the file that describes a source's kernels as printed.
pub fn cited(name: &str) -> Option<&'static str> {
    SOURCES.get_file(format!("{name}.toml"))?.contents_utf8()
}

/// The file of the family of this name that comes with gpulab: `ppc`, `spmv`.
pub fn brought(name: &str) -> Option<ShippedFile> {
    if let Some(file) = SOURCES.get_file(format!("{name}.toml")) {
        return Some((file, &SOURCES));
    }
    let file = EXAMPLES.get_file(format!("{name}/family.toml"))?;
    Some((file, EXAMPLES.get_dir(name)?))
}

/// The names of the families among these files: of the sources, then of the examples.
pub fn brought_families() -> impl Iterator<Item = &'static str> {
    let sources = SOURCES
        .files()
        .filter_map(|file| file.path().to_str()?.strip_suffix(".toml"));
    sources.chain(EXAMPLES.dirs().filter_map(|folder| folder.path().to_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_keep_every_line_where_it_was() {
        let lookup = |path: &str| match path {
            "a/b.cl" => Some(Cow::Borrowed(
                "one\n#include \"../common/c.cl\"\nthree\n#include \"d.cl\"\n",
            )),
            "common/c.cl" => Some(Cow::Borrowed("inner")),
            "a/d.cl" => Some(Cow::Borrowed("beside\n")),
            _ => None,
        };
        let unit = assemble("a/b.cl", &lookup).unwrap();
        let first =
            "#line 1 \"a/b.cl\"\none\n#line 1 \"common/c.cl\"\ninner\n#line 3 \"a/b.cl\"\nthree\n";
        assert_eq!(
            unit.text,
            format!("{first}#line 1 \"a/d.cl\"\nbeside\n#line 5 \"a/b.cl\"\n")
        );
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
        let end = format!(
            "#else\n{}five\n#endif\n{}#endif\n{}eight\n#if C\n#endif\n",
            here(5),
            here(7),
            here(8)
        );
        assert!(text.ends_with(&end), "{text}");
    }

    #[test]
    fn a_missing_fragment_is_named() {
        let lookup = |path: &str| {
            (path == "a/b.cl").then_some(Cow::Borrowed("#include \"../common/none.cl\"\n"))
        };
        assert_eq!(
            assemble("a/b.cl", &lookup),
            Err("common/none.cl".to_owned())
        );
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
        assert_eq!(
            crate::entry_point("reduce/interleaved.cl"),
            "reduce_interleaved"
        );
        assert_eq!(crate::entry_point("lab/banks/strided.cl"), "banks_strided");
    }

    #[test]
    fn only_definitions_that_the_source_mentions_are_passed() {
        let define = |name: &str| (name.to_owned(), "1".to_owned());
        let text = "#ifdef USE_MAD\n__local T sums[WG];";
        let used = used_defines(
            &[
                define("T"),
                define("WG"),
                define("USE_MAD"),
                define("USE"),
                define("ACC"),
            ],
            text,
        );
        assert_eq!(used, [define("T"), define("WG"), define("USE_MAD")]);
        let real = ("REAL".to_owned(), "T".to_owned());
        assert_eq!(
            used_defines(&[define("T"), define("WG"), real.clone()], "REAL sum;"),
            [define("T"), real]
        );
        let others = [
            ("SQUARE(x)".to_owned(), "x*x".to_owned()),
            ("-cl-mad-enable".to_owned(), String::new()),
        ];
        assert_eq!(used_defines(&others, "SQUARE(3)"), others);
        assert_eq!(used_defines(&others, "3"), others[1..]);
    }

    #[test]
    fn brought_families_have_names_that_nothing_else_has() {
        let names: Vec<&str> = brought_families().collect();
        assert!(
            names.contains(&"ppc") && names.contains(&"spmv"),
            "{names:?}"
        );
        for name in names {
            assert!(crate::built_in(name).is_none(), "{name}");
            assert!(brought(name).is_some(), "{name}");
        }
        assert!(brought_input("europe.csv").is_some());
        assert!(brought("nobody").is_none() && brought_input("ppc.cl").is_none());
    }
}

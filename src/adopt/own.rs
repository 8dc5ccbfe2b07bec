//! A reader's kernel: its file and what that includes, read once, as a rung of its family.

use super::includes::{included, reads_a_file};
use super::raw_strings;
use crate::kernels::{OwnKernel, text};
use crate::prelude::*;
use std::fmt::Write as _;

/// Reads a kernel and makes it the last rung of its family.
pub(crate) fn adopt<'a>(registry: &'a mut Registry, path: &Path, family: &Family) -> Result<&'a Family, Error> {
    adopt_as(registry, &name(path, family), (path, &read(path)?), family)
}

/// As [`adopt`]; the file is read as if it had these declarations, too.
pub(crate) fn adopt_with<'a>(
    registry: &'a mut Registry,
    path: &Path,
    family: &Family,
    lines: &[String],
) -> Result<&'a Family, Error> {
    let declared: String = lines.iter().map(|line| format!("\n// gpulab: {line}")).collect();
    adopt_as(registry, &name(path, family), (path, &format!("{}{declared}\n", read(path)?.trim_end())), family)
}

/// As [`adopt`], of a text that would stand at `path`.
pub(crate) fn adopt_as<'a>(
    registry: &'a mut Registry,
    name: &str,
    (path, text): (&Path, &str),
    family: &Family,
) -> Result<&'a Family, Error> {
    let text = assembled_text(path, text, &family.name)?;
    let own = OwnKernel { family: family.name.to_string(), name: name.to_owned(), text };
    registry.adopt(own).map_err(|error| Error::Usage(format!("{}: {error}", shown(path))))
}

/// The file and those of its folder that it includes.
pub(crate) fn files_of(path: &Path) -> Vec<PathBuf> {
    let text = files::read_to_string(path).unwrap_or_default();
    let beside = |line: &str| Some(path.parent()?.join(included(line)?));
    let included = text.lines().filter_map(beside).filter(|file| file.is_file());
    std::iter::once(path.to_owned()).chain(included).collect()
}

/// A line of an assembled kernel's own file, or of one that it includes, by the names that compilers know them by.
pub(crate) fn line_of(source: &str, file: &str, line: u64) -> Option<String> {
    let mut at: (&str, u64) = ("", 0);
    for text in source.lines() {
        if let Some((number, name)) = text.strip_prefix("#line ").and_then(|rest| rest.split_once(' ')) {
            at = (name.trim_matches('"'), number.parse().ok()?);
            continue;
        }
        if at == (file, line) {
            return Some(text.to_owned());
        }
        at.1 += 1;
    }
    None
}

/// As [`line_of`], of the first of these rungs that has it.
pub(crate) fn line_of_any(rungs: &[&Rung], file: &str, line: u64) -> Option<String> {
    rungs.iter().find_map(|rung| line_of(rung.own_text()?, file, line))
}

/// The file, and the kernel that is named behind its colon: `matmul.cl:matmul_kernel`.
pub(crate) fn split_kernel(named: &str) -> (&Path, Option<&str>) {
    match named.rsplit_once(':') {
        Some((file, kernel)) if !Path::new(named).exists() && !kernel.contains(['/', '\\', '.']) => {
            (Path::new(file), Some(kernel))
        }
        _ => (Path::new(named), None),
    }
}

pub(crate) fn shown(path: &Path) -> String {
    format::terminal(&path.display().to_string())
}

/// The file's name as a rung's: letters, digits and `_`, and none that a rung of the family has.
fn name(path: &Path, family: &Family) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = stem.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(40).collect();
    let is_number = name.strip_prefix('v').unwrap_or(&name).starts_with(|c: char| c.is_ascii_digit());
    let is_taken = family.rung(&name).is_some_and(|rung| !rung.is_own())
        || family.problem.baselines().iter().any(|b| b.name == name);
    if name.is_empty() || is_number || is_taken { format!("my_{name}") } else { name }
}

/// A kernel's own file, without what some editors put before a text.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    /// Far more than any kernel has.
    const MOST: u64 = 1 << 20;
    let wrong = |why: String| Error::Usage(format!("cannot read {}: {why}", shown(path)));
    let metadata = std::fs::metadata(path).map_err(|e| wrong(e.to_string()))?;
    if metadata.is_dir() {
        return Err(wrong("it is a folder: name the kernel's file in it".into()));
    }
    if metadata.len() > MOST {
        return Err(wrong(format!("it has {} bytes, and a kernel has at most {MOST}", metadata.len())));
    }
    let bytes = files::read(path).map_err(|e| wrong(e.to_string()))?;
    // Older files are in Latin-1, whose bytes are the first characters of Unicode.
    let text = String::from_utf8(bytes).unwrap_or_else(|e| e.as_bytes().iter().copied().map(char::from).collect());
    if text.contains('\0') {
        return Err(wrong("it holds a NUL byte, so it is not text".into()));
    }
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n");
    let text = raw_strings::kernels_of(&text).unwrap_or(text);
    if text.trim().is_empty() {
        return Err(wrong("it is empty; gpulab try --template FAMILY writes a starting kernel".into()));
    }
    Ok(text)
}

/// The file's text with what it includes in place, each line under the name of its file; `folder` is the one below `cl/` whose
/// fragments need no path.
pub(crate) fn assembled(path: &Path, folder: &str) -> Result<String, Error> {
    assembled_text(path, &read(path)?, folder)
}

fn assembled_text(path: &Path, text: &str, folder: &str) -> Result<String, Error> {
    let mut all = String::new();
    add_text(&mut all, (path, text), folder, &mut Vec::new())?;
    match reads_a_file(&all) {
        None => Ok(all),
        Some(at) => Err(Error::Usage(format!(
            "{}: `{}` makes the compiler read a file: write an include alone on its line, as in #include \
             \"common/tree.cl\", and only in the kernel's own file",
            shown(path),
            format::terminal(all.lines().nth(at - 1).unwrap_or_default().trim())
        ))),
    }
}

/// Adds a file's text, with what it includes in place; `open` are the files that it is included by.
fn add_text(all: &mut String, (path, text): (&Path, &str), folder: &str, open: &mut Vec<PathBuf>) -> Result<(), Error> {
    /// Deeper ones include each other in a circle.
    const DEEPEST: usize = 16;
    let own = path.file_name().map(|name| name.to_string_lossy().replace(['"', '\\'], "_")).unwrap_or_default();
    // Writing to a String cannot fail.
    let _ = writeln!(all, "#line 1 \"{own}\"");
    open.push(path.to_owned());
    for (number, line) in (1..).zip(text.lines()) {
        let Some(name) = included(line) else {
            all.push_str(line);
            all.push('\n');
            continue;
        };
        let wrong = |why: String| Error::Usage(format!("{}, line {number}: {why}", shown(path)));
        match fragment(path, folder, name).map_err(wrong)? {
            Fragment::Own(body) => _ = writeln!(all, "#line 1 \"{name}\"\n{}", body.trim_end_matches('\n')),
            Fragment::Beside(beside) if open.contains(&beside) || open.len() > DEEPEST => {
                return Err(wrong(format!("{name} includes itself, by way of other files or at once")));
            }
            Fragment::Beside(beside) => {
                let body = read(&beside).map_err(|error| wrong(error.to_string()))?;
                add_text(all, (&beside, &body), folder, open)?;
            }
        }
        let _ = writeln!(all, "#line {} \"{own}\"", number + 1);
    }
    open.pop();
    Ok(())
}

enum Fragment {
    /// One of gpulab's files.
    Own(&'static str),
    /// A file of the kernel's folder.
    Beside(PathBuf),
}

/// An included file: one beside the kernel's, or one of gpulab's, by its path from `folder` below `cl/` or from `cl/`.
fn fragment(path: &Path, folder: &str, name: &str) -> Result<Fragment, String> {
    let is_plain = Path::new(name).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let own = text(&format!("{folder}/{name}")).or_else(|| text(name));
    let beside = path.parent().unwrap_or(Path::new("")).join(name);
    let is_inside = || {
        let folder = path.canonicalize().ok().and_then(|file| file.parent().map(Path::to_path_buf));
        beside.canonicalize().ok().zip(folder).is_some_and(|(file, folder)| file.starts_with(folder))
    };
    match own {
        _ if is_plain && beside.is_file() && is_inside() => Ok(Fragment::Beside(beside)),
        Some(text) => Ok(Fragment::Own(text)),
        None => Err(format!(
            "there is no {}: neither in the kernel's own folder nor among gpulab's files, as common/tree.cl",
            format::terminal(name)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_rungs_and_no_other_rungs() {
        let name = |path: &str| name(Path::new(path), &crate::kernels::reduce::FAMILY);
        assert_eq!(name("a/fast one.cl"), "fast_one");
        assert_eq!(
            [name("v3_fast.cl"), name("strided.cl"), name("cpu_rayon.cl"), name("3.cl")],
            ["my_v3_fast", "my_strided", "my_cpu_rayon", "my_3"]
        );
    }
}

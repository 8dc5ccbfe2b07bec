//! What a command names: a family's rung, a reader's own kernel or family, an exercise's file; read into a registry.

use crate::check::fingerprint;
use crate::console::note;
use crate::exercise::{Exercise, NAMES, exercise};
use crate::files::ScratchFolder;
use crate::kernels::{
    Description, Family, FamilyFile, KernelDraft, OwnKernel, Registry, Rung, ShippedFile, assemble,
    brought, brought_input, built_in, draft_alone, embedded, included, included_name, ladders,
    logical_lines, raw_strings,
};
use crate::report::format;
use crate::{Error, Result, ceilings, files, oracle, suggest, usage_error, values};
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::fs;
use std::path::{Path, PathBuf};

/// The family that a command works with, and a registry that has it with what the reader brought.
pub struct Brought {
    pub registry: Registry,
    pub family: Family,
    /// The reader's own kernel, which the family has.
    pub own: Option<Rung>,
}

/// What a command names, and what stands behind its colon: `reduce:3`, `mine/family.toml:tiled`, `my.cl:kernel`.
pub fn parted(what: &str) -> (&str, Option<&str>) {
    match what.rsplit_once(':') {
        Some((name, part)) if !Path::new(what).exists() => (name, Some(part)),
        _ => (what, None),
    }
}

/// Whether a word before a colon means an exercise's starting file, or its solution.
pub fn is_exercise(word: &str) -> bool {
    ["exercise", "solution"].contains(&word)
}

pub fn find_exercise(name: &str) -> Result<Exercise> {
    exercise(&name.to_lowercase())?
        .ok_or_else(|| Error::Usage(suggest::unknown("exercise", name, NAMES)))
}

/// Whether a name is that of a file that describes a family, or of a family that comes with gpulab.
pub fn is_family_file(name: &str) -> bool {
    let path = Path::new(name);
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
        || brought(name).is_some() && !path.is_file()
}

/// The path of a family's file: the reader's, also in a folder of this name, or else gpulab's.
pub fn located(name: &str) -> Result<PathBuf> {
    match Path::new(name) {
        folder if folder.is_dir() => Ok(folder.join("family.toml")),
        _ => taken(name, brought(name)),
    }
}

/// A file of data by its own path: the reader's, or else gpulab's.
pub fn located_input(name: &str) -> Result<String> {
    let path = taken(name, brought_input(name))?;
    Ok(path.display().to_string())
}

fn taken(name: &str, shipped: Option<ShippedFile>) -> Result<PathBuf> {
    match shipped {
        Some(shipped) if !Path::new(name).exists() => {
            note(&format!("{name}: the file that comes with gpulab"));
            written(shipped)
        }
        _ => Ok(name.into()),
    }
}

/// The path of a file that comes with gpulab, written with its folder below the folder for data, or where that cannot be, into
/// one that goes with this process. Other contents have another place, so that what a reader changed there stays.
pub fn written((file, folder): ShippedFile) -> Result<PathBuf> {
    thread_local!(static SCRATCH: Option<ScratchFolder> = ScratchFolder::new().ok());
    let contents: Vec<&[u8]> = folder.files().map(|file| file.contents()).collect();
    let place = format!("files/{:08x}", fingerprint(&contents.concat()) as u32);
    let write = |place: &Path| {
        for beside in folder.files() {
            let path = place.join(beside.path());
            if !path.exists() {
                files::write_whole(&path, beside.contents()).map_err(Error::unwritten(&path))?;
            }
        }
        Ok(place.join(file.path()))
    };
    let kept = ceilings::folder().and_then(|data| write(&data.join(place)));
    kept.or_else(|why| SCRATCH.with(|scratch| write(scratch.as_ref().ok_or(why)?.path())))
}

impl Brought {
    /// What a command names, with the list of rungs behind a family's colon: a family, a reader's kernel and the family whose
    /// problem it solves, or an exercise's file.
    pub fn of(what: &str, solves: Option<&str>) -> Result<(Brought, Option<String>)> {
        let (name, part) = parted(what);
        match (solves, part) {
            (None, Some(exercise)) if is_exercise(name) => {
                Ok((Brought::exercise(name, exercise)?, None))
            }
            (Some(family), kernel) => {
                let lines: Vec<String> = kernel
                    .map(|kernel| format!("kernel {kernel}"))
                    .into_iter()
                    .collect();
                Ok((Brought::with_own(family, Path::new(name), &lines)?, None))
            }
            _ if name.ends_with(".cl") => usage_error(format!(
                "{name}: name the family whose problem it solves, as in --as reduce; or begin a file of your own: gpulab try {name} --draft > mine.toml"
            )),
            (None, list) => Ok((Brought::new(name)?, list.map(str::to_owned))),
        }
    }

    /// One of gpulab's families, or a reader's by its file.
    pub fn new(name: &str) -> Result<Brought> {
        let mut registry = Registry::default();
        let family = match is_family_file(name) {
            true => family_of_file(&mut registry, &located(name)?, None)?,
            // The ceilings' probes too, though nobody is told.
            false => built_in(name).cloned().ok_or_else(|| {
                let names: Vec<&str> = ladders().map(|f| &*f.name).collect();
                Error::Usage(suggest::unknown("family", name, &names))
            })?,
        };
        Ok(Brought {
            registry,
            family,
            own: None,
        })
    }

    /// As [`Brought::new`], with the kernel of a file, if there is one.
    pub fn beside(name: &str, own: Option<&Path>) -> Result<Brought> {
        own.map_or_else(
            || Brought::new(name),
            |path| Brought::with_own(name, path, &[]),
        )
    }

    /// As [`Brought::new`], with the kernel of a file, of which these lines are declared besides.
    pub fn with_own(name: &str, path: &Path, lines: &[String]) -> Result<Brought> {
        let brought = Brought::new(name)?;
        let declared: String = lines
            .iter()
            .map(|line| format!("\n// gpulab: {line}"))
            .collect();
        let text = format!("{}{declared}\n", read(path)?.trim_end());
        let rung = rung_name(path, &brought.family);
        brought.adopting(&rung, path, &text)
    }

    /// The family of an exercise with its starting file, or with a file that passes, as last rung.
    fn exercise(kind: &str, name: &str) -> Result<Brought> {
        let exercise = find_exercise(name)?;
        let (rung, text) = if kind == "solution" {
            (kind, exercise.solution()?)
        } else {
            ("starter", exercise.starter()?)
        };
        Brought::new(&exercise.family)?.adopting(rung, Path::new(&exercise.file_name()), &text)
    }

    /// With a text that would stand at `path` as last rung, the reader's own.
    pub fn adopting(mut self, rung: &str, path: &Path, text: &str) -> Result<Brought> {
        self.family = adopt_as(&mut self.registry, rung, path, text, &self.family)?;
        self.own = self.family.ladder.last().cloned();
        Ok(self)
    }

    /// The kernel that a command names, and what it is among.
    pub fn with_rung(what: &str, solves: Option<&str>) -> Result<(Brought, Rung)> {
        let (brought, list) = Brought::of(what, solves)?;
        let rung = brought.rung(what, list.as_deref())?.clone();
        Ok((brought, rung))
    }

    /// The one rung that is meant, of a ladder without a list its first; or the reader's kernel.
    pub fn rung(&self, what: &str, list: Option<&str>) -> Result<&Rung> {
        if let Some(own) = &self.own {
            return Ok(own);
        }
        match values::variants(&self.family, list.unwrap_or("1")).map_err(Error::Usage)?[..] {
            [rung] => Ok(rung),
            _ => usage_error(format!("{what}: name one rung, as in {}:1", parted(what).0)),
        }
    }

    /// The rungs that a list names, or all of the ladder; with the reader's kernel, which without a list is alone.
    pub fn rungs(&self, list: Option<&str>) -> Result<Vec<&Rung>> {
        let mut rungs = match (list, &self.own) {
            (Some(list), _) => values::variants(&self.family, list).map_err(Error::Usage)?,
            (None, Some(_)) => Vec::new(),
            (None, None) => self.family.ladder.iter().collect(),
        };
        if let Some(own) = self
            .own
            .as_ref()
            .filter(|own| rungs.iter().all(|rung| rung.path != own.path))
        {
            rungs.push(own);
        }
        Ok(rungs)
    }
}

/// The family that a file describes; a reference kernel runs on the device of this name where there is no CPU's.
pub fn family_of_file(
    registry: &mut Registry,
    path: &Path,
    device: Option<&str>,
) -> Result<Family> {
    let text = files::read_to_string(path).map_err(|error| {
        wrong(
            path,
            format_args!("{error}; gpulab try --template DIR writes a starting file"),
        )
    })?;
    let folder = folder_of(path);
    let name = family_name(path, &folder);
    family_of_text(registry, (text, name, folder), path, device)
}

/// The draft of a kernel of a text, which stands at `path`, as the only rung of a family, or as other rungs that stand in the lines
/// `besides`. `defines` are macros of its host. There is room behind buffers, or none.
///
/// Errors: there is no such kernel, or it leaves types to its host.
pub fn kernel_draft(
    (text, path, kernel): (&str, &Path, Option<&str>),
    defines: &BTreeMap<String, String>,
    (besides, room): (&str, bool),
) -> Result<KernelDraft> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = draft_alone(text, (&file, kernel), defines, (besides, room));
    draft.map_err(|why| wrong(path, why))
}

/// As [`kernel_draft`], with its family, of this name.
pub fn drafted(
    registry: &mut Registry,
    (text, path, kernel): (&str, &Path, Option<&str>),
    defines: &BTreeMap<String, String>,
    besides: (&str, bool),
    (name, device): (&str, Option<&str>),
) -> Result<(Family, KernelDraft)> {
    let draft = kernel_draft((text, path, kernel), defines, besides)?;
    let described = (draft.text(), name.to_owned(), folder_of(path));
    let family = family_of_text(registry, described, path, device)?;
    Ok((family, draft))
}

/// The folder of a file, by its whole path.
pub fn folder_of(path: &Path) -> PathBuf {
    let path = path.canonicalize().ok();
    path.and_then(|path| path.parent().map(Path::to_path_buf))
        .unwrap_or_default()
}

/// The family that a text of this name describes, whose files are in this folder; `path` stands in errors.
pub fn family_of_text(
    registry: &mut Registry,
    (text, name, folder): (String, String, PathBuf),
    path: &Path,
    device: Option<&str>,
) -> Result<Family> {
    let description = Description::parse(&text, &name).map_err(|error| wrong(path, error))?;
    if folder.to_str().is_none() {
        return Err(wrong(
            path,
            "its folder's name is not UTF-8: move it to another folder",
        ));
    }
    let include: Vec<PathBuf> = description
        .include
        .iter()
        .map(|name| folder.join(name))
        .collect();
    let mut sources = BTreeMap::new();
    for name in description.files() {
        let file = folder.join(&name);
        let source =
            read(&file).and_then(|text| assembled(&file, &text, &description.name, &include));
        sources.insert(name, source.map_err(|error| wrong(path, error))?);
    }
    let file = FamilyFile {
        name,
        text,
        folder,
        sources,
    };
    oracle::declare(registry, &file, device)
        .cloned()
        .map_err(|error| wrong(path, error))
}

fn wrong(path: &Path, why: impl Display) -> Error {
    Error::Usage(format!("{}: {why}", shown(path)))
}

/// What a family is called that does not say so: the file's name, or of `family.toml` the folder's; none that gpulab's have.
/// Nothing where that is no name, as of a hidden folder.
pub fn family_name(path: &Path, folder: &Path) -> String {
    let stem = path
        .file_stem()
        .filter(|stem| *stem != "family")
        .or(folder.file_name())
        .unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return String::new();
    }
    if built_in(&name.to_lowercase()).is_some() {
        format!("my_{name}")
    } else {
        name
    }
}

/// Makes a text that would stand at `path` the last rung of its family.
pub fn adopt_as(
    registry: &mut Registry,
    name: &str,
    path: &Path,
    text: &str,
    family: &Family,
) -> Result<Family> {
    let text = assembled(path, text, &family.name, &[])?;
    let own = OwnKernel {
        family: family.name.to_string(),
        name: name.to_owned(),
        text,
    };
    registry
        .adopt(own)
        .cloned()
        .map_err(|error| wrong(path, error))
}

/// The kernel's file and those of its folder that it includes.
pub fn kernel_files(path: &Path) -> Vec<PathBuf> {
    let text = files::read_to_string(path).unwrap_or_default();
    let beside = text
        .lines()
        .filter_map(|line| Some(path.parent()?.join(included_name(line)?)));
    std::iter::once(path.to_owned())
        .chain(beside.filter(|file| file.is_file()))
        .collect()
}

/// The family's file and those that it names: kernels with what they include, and data.
pub fn family_files(path: &Path) -> Vec<PathBuf> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut all = vec![path.to_owned()];
    let text = files::read_to_string(path).unwrap_or_default();
    if let Ok(description) = Description::parse(&text, "") {
        all.extend(
            description
                .files()
                .iter()
                .flat_map(|name| kernel_files(&folder.join(name))),
        );
        all.extend(
            description
                .data_files()
                .iter()
                .map(|name| folder.join(name)),
        );
    }
    all
}

/// A line of an assembled kernel's own file, or of one that it includes, by the names that compilers know them by.
pub fn line_of(source: &str, file: &str, line: u64) -> Option<String> {
    let mut at: (&str, u64) = ("", 0);
    for text in source.lines() {
        if let Some((number, name)) = text
            .strip_prefix("#line ")
            .and_then(|rest| rest.split_once(' '))
        {
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
pub fn line_of_any(rungs: &[&Rung], file: &str, line: u64) -> Option<String> {
    rungs
        .iter()
        .find_map(|rung| line_of(rung.own_text()?, file, line))
}

pub fn shown(path: &Path) -> String {
    format::terminal(&path.display().to_string())
}

/// The file's name as a rung's: letters, digits and `_`, and none that a rung of the family has.
fn rung_name(path: &Path, family: &Family) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .take(40)
        .collect();
    let is_number = name
        .strip_prefix('v')
        .unwrap_or(&name)
        .starts_with(|c: char| c.is_ascii_digit());
    let is_taken = family.rung(&name).is_some_and(|rung| !rung.is_own())
        || family.problem.baselines().iter().any(|b| b.name == name);
    if name.is_empty() || is_number || is_taken {
        format!("my_{name}")
    } else {
        name
    }
}

fn unreadable(path: &Path, why: impl Display) -> Error {
    Error::Usage(format!("cannot read {}: {why}", shown(path)))
}

/// A kernel's own file, without what some editors put before a text.
pub fn read(path: &Path) -> Result<String> {
    /// Far more than any kernel has.
    const MOST: u64 = 1 << 20;
    let metadata = fs::metadata(path).map_err(|e| unreadable(path, e))?;
    if metadata.is_dir() {
        return Err(unreadable(
            path,
            "it is a folder: name the kernel's file in it",
        ));
    }
    if metadata.len() > MOST {
        return Err(unreadable(
            path,
            format_args!(
                "it has {} bytes, and a kernel has at most {MOST}",
                metadata.len()
            ),
        ));
    }
    let bytes = files::read(path).map_err(|e| unreadable(path, e))?;
    // Older files are in Latin-1, whose bytes are the first characters of Unicode.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|e| e.as_bytes().iter().copied().map(char::from).collect());
    if text.contains('\0') {
        return Err(unreadable(path, "it holds a NUL byte, so it is not text"));
    }
    let text = text
        .trim_start_matches('\u{feff}')
        .replace("\r\n", "\n")
        .replace('\r', "\n");
    let text = raw_strings(&text).unwrap_or(text);
    if text.trim().is_empty() {
        return Err(unreadable(
            path,
            "it is empty; gpulab try --template FAMILY writes a starting kernel",
        ));
    }
    Ok(text)
}

/// A text that stands at `path` with what it includes in place, each line under the name of its file: files of its folder and of
/// those to `include`; `folder` is the one below `cl/` whose fragments need no path.
pub fn assembled(path: &Path, text: &str, folder: &str, include: &[PathBuf]) -> Result<String> {
    let mut all = String::new();
    let own = path
        .canonicalize()
        .ok()
        .and_then(|file| file.parent().map(Path::to_path_buf));
    let include = include
        .iter()
        .filter_map(|folder| folder.canonicalize().ok());
    let folders: Vec<PathBuf> = own.into_iter().chain(include).collect();
    add_text(&mut all, (path, text), folder, &folders, &mut Vec::new())?;
    match reads_a_file(&all) {
        None => Ok(all),
        Some(at) => usage_error(format!(
            "{}: `{}` makes the compiler read a file: write an include alone on its line, as in #include \
             \"common/tree.cl\", and only in the kernel's own file",
            shown(path),
            format::terminal(all.lines().nth(at - 1).unwrap_or_default().trim())
        )),
    }
}

/// Adds a file's text, with what it includes in place: files of these folders, or gpulab's, by their path from `folder` below
/// `cl/` or from `cl/`; `open` are the files that it is included by.
fn add_text(
    all: &mut String,
    (path, text): (&Path, &str),
    folder: &str,
    folders: &[PathBuf],
    open: &mut Vec<PathBuf>,
) -> Result<()> {
    let own = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .replace(['"', '\\'], "_");
    let begin = format!("#line 1 \"{own}\"\n");
    let is_once = |line: &str| line.trim() == "#pragma once";
    if text.lines().any(is_once) && all.contains(&begin) {
        return Ok(());
    }
    *all += &begin;
    open.push(path.to_owned());
    let mut conditions = 0usize;
    for (number, line) in (1..).zip(text.lines()) {
        let Some(name) = included_name(line) else {
            let directive = line
                .trim_start()
                .strip_prefix('#')
                .map_or("", str::trim_start);
            conditions += usize::from(directive.starts_with("if"));
            conditions -= usize::from(directive.starts_with("endif")).min(conditions);
            // Writing to a String cannot fail.
            let _ = writeln!(all, "{}", if is_once(line) { "" } else { line });
            continue;
        };
        let place = format!("{}, line {number}", shown(path));
        if let Some(file) = found(path, name, folders) {
            if open.contains(&file) {
                return usage_error(format!(
                    "{place}: {name} includes itself, by way of other files or at once"
                ));
            }
            let body = read(&file).map_err(|error| Error::Usage(format!("{place}: {error}")))?;
            add_text(all, (&file, &body), folder, folders, open)?;
        } else if let Some(body) = included(&format!("{folder}/{own}"), line)
            .into_iter()
            .chain([name.to_owned()])
            .find_map(|path| assemble(&path, &embedded).ok())
        {
            let _ = writeln!(all, "{}", body.text.trim_end_matches('\n'));
        } else if conditions > 0 {
            // The branch may well be left out.
            let _ = writeln!(all, "#error there is no {}", format::terminal(name));
        } else {
            return usage_error(format!(
                "{place}: there is no {}: neither in the kernel's own folder, nor in those of include = [\"../common\"] of a TOML \
                 file, nor among gpulab's files, as common/tree.cl",
                format::terminal(name)
            ));
        }
        let _ = writeln!(all, "#line {} \"{own}\"", number + 1);
    }
    open.pop();
    Ok(())
}

/// The file of this name that a file includes: from its own folder or from one of these, and in one of these, whatever links
/// and dots lead to.
fn found(path: &Path, name: &str, folders: &[PathBuf]) -> Option<PathBuf> {
    let own = path.parent().map(Path::to_path_buf);
    let mut files = own
        .iter()
        .chain(folders)
        .filter_map(|folder| folder.join(name).canonicalize().ok());
    files.find(|file| file.is_file() && folders.iter().any(|folder| file.starts_with(folder)))
}

/// The first line, from 1, of a text that makes a compiler look at a file, however it is hidden.
fn reads_a_file(text: &str) -> Option<usize> {
    let found = logical_lines(text).into_iter().find(|(_, line)| {
        let directive = line
            .trim_start()
            .strip_prefix('#')
            .or_else(|| line.trim_start().strip_prefix("%:"));
        let word = directive.map(str::trim_start).unwrap_or_default();
        ["include", "import", "embed"]
            .iter()
            .any(|reading| word.starts_with(reading))
            || ["__has_include", "__has_embed", ".incbin"]
                .iter()
                .any(|name| line.contains(name))
            || line.to_lowercase().contains("pragma") && line.contains("dependency")
    });
    found.map(|(number, _)| number)
}

/// What macros of drivers and of the simulator begin with, beside `__`.
const BEGINNINGS: &str = "CLANG_MAJOR CLANG_MINOR IMG_RO ATOMIC_VAR_INIT ATOMIC_FLAG CLK_AVC cl_ cles_ CL_VERSION _CL POCL GPULAB_ FP_FAST NV_ get_max_sub_group_size kernel_exec linux unix";

/// Macros that have the same value in the simulator and for devices, and words that only look like macros.
const ALIKE: &str = r"__LINE__ __FILE__ __ENDIAN_LITTLE__ __OPENCL_C_VERSION__ cl_khr_fp64 cl_khr_byte_addressable_store
    cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics
    cl_khr_local_int32_extended_atomics cl_mem_fence_flags __attribute__ __restrict__ __volatile__ __inline__ __const__
    __signed__ __asm__ __aligned__ __packed__ __noinline__ __always_inline__";

/// What the names of macros end with that keep a file from being read twice.
const GUARDS: &str = "_h _cl _clh _hpp";

/// That an assembled text asks for a macro of compilers, so that it may do something else in the simulator than on a device.
pub fn asks(text: &str) -> Option<String> {
    let lines = logical_lines(text);
    lines.iter().enumerate().find_map(|(at, (_, line))| {
        let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        let directive = words.clone().next().filter(|_| line.trim_start().starts_with(['#', '%'])).unwrap_or_default();
        let is_condition = (directive.starts_with("if") || directive.starts_with("el")) && !holds_only_pragmas(&lines[at + 1..]);
        let name = words.find(|name| {
            let is_predefined = name.starts_with("__") && (is_condition || name.ends_with("__"));
            let is_given = BEGINNINGS.split(' ').any(|beginning| name.starts_with(beginning));
            let stem = name.trim_end_matches('_').to_lowercase();
            (is_predefined && directive != "line" || is_given && (is_condition || directive == "define"))
                && !ALIKE.split_whitespace().any(|alike| alike == *name)
                && !GUARDS.split(' ').any(|guard| stem.ends_with(guard))
        })?;
        Some(format!("the kernel asks for the macro {name}, so that a device may run other code than the simulator"))
    })
}

/// Whether these lines, behind a condition, are pragmas and errors up to its end, whichever branch is taken.
fn holds_only_pragmas(lines: &[(usize, String)]) -> bool {
    const NO_CODE: [&str; 5] = ["pragma OPENCL EXTENSION", "error", "elif", "else", "endif"];
    let lines = lines.iter().map(|(_, line)| line.trim());
    let mut words = lines
        .filter(|line| !line.is_empty())
        .map(|line| line.strip_prefix('#').unwrap_or_default().trim_start())
        .skip_while(|line| NO_CODE[..4].iter().any(|word| line.starts_with(word)));
    words
        .next()
        .is_some_and(|line| line.starts_with(NO_CODE[4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_rungs_and_no_other_rungs() {
        let name = |path: &str| rung_name(Path::new(path), &crate::kernels::reduce::FAMILY);
        assert_eq!(name("a/fast one.cl"), "fast_one");
        assert_eq!(
            [
                name("v3_fast.cl"),
                name("strided.cl"),
                name("cpu_rayon.cl"),
                name("3.cl")
            ],
            ["my_v3_fast", "my_strided", "my_cpu_rayon", "my_3"]
        );
    }

    #[test]
    fn what_tells_a_simulator_from_a_device_is_found() {
        for line in [
            "#ifdef __x86_64__",
            "#if !defined(__SPIR64__)",
            "#if defined __SPIR__ && 1",
            "# elif __OPENCL_VERSION__ > 120",
            "#ifdef __oclgrind__",
            "??=ifdef POCL_DEVICE_ADDRESS_BITS",
            "%:ifndef GPULAB_WARP",
            "#if 1 && \\\n defined(cl_khr_subgroups)",
            "char *s = \"/*\"; if (__clang_major__ > 14) // */",
            "#define IS_CPU defined(__SSE2__)",
            "#define SUB cl_intel_subgroups",
            "#if __has_builtin(__builtin_ia32_pause)",
            "#ifdef __NV_CL_C_VERSION",
            "#ifndef CLANG_MAJOR",
            "#ifdef POCL_DEVICE_ADDRESS_BITS\n#pragma pop_macro(\"SAFE\")\n#endif",
            "#ifdef cl_amd_fp64\n#pragma OPENCL EXTENSION cl_amd_fp64 : enable\n#else\npragma = 1;\n#endif",
        ] {
            let said = asks(&format!("#line 1 \"__a__.cl\"\nint x;\n{line}\n"));
            assert!(
                said.as_ref()
                    .is_some_and(|said| said.contains("asks for the macro ")),
                "{line}: {said:?}"
            );
        }
        for line in [
            "__kernel void k(__global int *restrict x, __local int *y) __attribute__((aligned(16)))",
            "#ifdef cl_khr_fp64\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable",
            "#ifdef SINGLE_PRECISION\n#define G __global",
            "#if defined(cl_khr_fp64)\n#elif defined(cl_amd_fp64) // AMD\n#pragma OPENCL EXTENSION cl_amd_fp64 : enable\n#else\n#error no\n#endif",
            "#ifndef __REDUCE_H__\n#define __REDUCE_H__",
            "#if __OPENCL_C_VERSION__ >= 120 // not __SPIR__",
            "#ifndef blockSize\n#define blockSize 64",
            "barrier(CLK_LOCAL_MEM_FENCE); /* __x86_64__ */ const cl_mem_fence_flags flags = 1; printf(\"%d\", 1);",
        ] {
            assert_eq!(asks(line), None, "{line}");
        }
    }

    #[test]
    fn what_a_branch_may_leave_out_need_not_be_there() {
        let path = Path::new("a.cl");
        let text = assembled(
            path,
            "#ifdef NEVER\n#include \"none.h\"\n#endif\nint x;\n",
            "reduce",
            &[],
        )
        .unwrap();
        assert!(text.contains("#error there is no none.h"), "{text}");
        assert!(
            assembled(
                path,
                "#ifdef A\n#endif\n#include \"none.h\"\n",
                "reduce",
                &[]
            )
            .is_err()
        );
    }

    #[test]
    fn one_way_to_include_is_allowed() {
        assert_eq!(
            included_name("#include \"common/tree.cl\""),
            Some("common/tree.cl")
        );
        assert_eq!(included_name("#include \"a.cl\"  "), Some("a.cl"));
        for line in [
            " #include \"a\"",
            "#include <a>",
            "# include \"a\"",
            "#include \"a\" // b",
            "int x;",
        ] {
            assert_eq!(included_name(line), None, "{line}");
        }
    }

    #[test]
    fn every_other_way_is_found() {
        let ways = [
            "#include \"/etc/passwd\"",
            " #include \"/etc/passwd\"",
            "# include \"/etc/passwd\"",
            "#include </etc/passwd>",
            "#include_next \"x\"",
            "#import \"x\"",
            "#embed \"x\"",
            "%:include \"x\"",
            "??=include \"x\"",
            "#/**/include \"x\"",
            "/**/#include \"x\"",
            "/* a\n b */ #include \"x\"",
            "\u{c}#\u{b}include \"x\"",
            "#\\\ninclude \"x\"",
            "#inc\\\nlude \"x\"",
            "#inc\\  \nlude \"x\"",
            "#inc??/\nlude \"x\"",
            "%\\\n:include \"x\"",
            "/\\\n* a */ #include \"x\"",
            "int a;\r#include \"x\"",
            "' /*\n#include \"x\"",
            "char *s = \"/*\";\n#include \"x\"",
            "char c = '\\'';\n#include \"x\"",
            "// a comment /*\n#include \"x\"",
            "/* // */ #include \"x\"",
            "#if __has_include(\"/etc/passwd\")",
            "asm(\".incbin \\\"/etc/passwd\\\"\");",
            "#pragma GCC dependency \"/etc/passwd\"",
        ];
        for way in ways {
            assert!(reads_a_file(way).is_some(), "{way:?}");
        }
        assert_eq!(reads_a_file("a\nb /* \n */\n  #include \"x\"\n"), Some(4));
    }

    #[test]
    fn what_reads_nothing_passes() {
        let texts = [
            "",
            "int x = 1; // #include \"x\" is how",
            "/* #include \"x\"\n#include \"y\" */ int a;",
            "#define include 1",
            "#if INCLUDED",
            "#pragma unroll",
            "a / b * c; // \\\n#include \"x\"",
            "char *s = \"#include\";",
            "\"\\",
        ];
        for text in texts {
            assert_eq!(reads_a_file(text), None, "{text:?}");
        }
    }
}

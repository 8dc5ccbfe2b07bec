//! A reader's family: the TOML file that describes it and what that names, read once.

use super::own::{self, shown};
use crate::kernels::{Checker, DeclarationError, Description, FamilyFile, ladders};
use crate::prelude::*;
use crate::suggest::{did_you_mean, nearest};
use crate::{input, oracle, suggest};

pub(crate) fn is_file(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml"))
}

/// The family that `--kernel` names: one of gpulab's, or a reader's own by its file.
pub(crate) fn named<'a>(registry: &'a mut Registry, name: &str) -> Result<&'a Family, Error> {
    if is_file(name) {
        return family(registry, Path::new(name), None);
    }
    // The ceilings' probes too, though nobody is told.
    registry.family(name).ok_or_else(|| {
        let names: Vec<&str> = ladders().map(|f| &*f.name).collect();
        Error::Usage(suggest::unknown("family", name, &names))
    })
}

/// The family that a file describes; a reference kernel runs on the device of this name where there is no CPU's.
pub(crate) fn family<'a>(registry: &'a mut Registry, path: &Path, device: Option<&str>) -> Result<&'a Family, Error> {
    let wrong = |why: String| Error::Usage(format!("{}: {why}", shown(path)));
    let text = text(path).map_err(wrong)?;
    let folder = path.canonicalize().ok().and_then(|path| path.parent().map(Path::to_path_buf)).unwrap_or_default();
    let name = name_of(path, &folder);
    let description = Description::parse(&text, &name).map_err(|error| wrong(with_suggestion(&error)))?;
    if folder.to_str().is_none() {
        return Err(wrong("its folder's name is not UTF-8: move it to another folder".into()));
    }
    let mut sources = BTreeMap::new();
    for name in description.files() {
        let source = own::assembled(&folder.join(&name), &description.name);
        sources.insert(name, source.map_err(|error| wrong(error.to_string()))?);
    }
    let file = FamilyFile { name, text, folder, sources };
    oracle::declare(registry, &file, device).map_err(|error| wrong(error.to_string()))
}

/// What a family is called that does not say so: the file's name, or of `family.toml` the folder's; none that gpulab's have.
/// Nothing where that is no name, as of a hidden folder.
fn name_of(path: &Path, folder: &Path) -> String {
    let stem = path.file_stem().filter(|stem| *stem != "family").or(folder.file_name()).unwrap_or_default();
    let name = stem.to_string_lossy().into_owned();
    if !name.starts_with(|first: char| first.is_ascii_alphanumeric()) {
        return String::new();
    }
    if built_in(&name.to_lowercase()).is_some() { format!("my_{name}") } else { name }
}

/// The file and those that it names: kernels with what they include, data, and what its program's words lead to.
pub(crate) fn files_of(path: &Path) -> Vec<PathBuf> {
    let description = text(path).ok().and_then(|text| Description::parse(&text, "").ok());
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut all = vec![path.to_owned()];
    if let Some(description) = description {
        all.extend(description.files().iter().flat_map(|name| own::files_of(&folder.join(name))));
        all.extend(description.data_files().iter().map(|name| folder.join(input::path(name))));
        if let Checker::Program { command, .. } = description.checker() {
            all.extend(command.iter().map(|word| folder.join(word)));
        }
    }
    all
}

fn text(path: &Path) -> Result<String, String> {
    /// Far more than any family has.
    const MOST: u64 = 1 << 20;
    let metadata =
        fs::metadata(path).map_err(|error| format!("{error}; gpulab ladder --template DIR writes a starting file"))?;
    match metadata.len() {
        _ if metadata.is_dir() => Err("it is a folder: name the TOML file in it".into()),
        bytes if bytes > MOST => Err(format!("it has {bytes} bytes, and a family has at most {MOST}")),
        _ => files::read_to_string(path).map_err(|error| error.to_string()),
    }
}

/// What is wrong, and which of the words that the message lists may have been meant.
fn with_suggestion(error: &DeclarationError) -> String {
    let mut words = error.why.split('`').skip(1).step_by(2);
    let Some(word) = words.next().filter(|_| error.why.starts_with("unknown")) else { return error.to_string() };
    let meant: Vec<&str> = nearest(word, words, |word| *word);
    format!("{error}{}", did_you_mean(&meant))
}

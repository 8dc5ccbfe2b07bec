//! The files that are checked, and what `gpulab.toml` says of them.

use super::{Look, SETTINGS};
use crate::brought::{assembled, drafted, read};
use crate::console::print;
use crate::kernels::signature::CSource;
use crate::kernels::{Family, KernelDraft, Registry, UNNAMED, given};
use crate::report::verdict::Verdict;
use crate::{Error, Result, files, usage_error};
use glob::{MatchOptions, Pattern, glob_with};
use gpulab_model::Joined;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Hidden folders hold no kernels of a repository.
const MATCHING: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: true,
};

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckSettings {
    check: Vec<FileSettings>,
}

/// What is said of the files that a pattern matches.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FileSettings {
    files: String,
    pub define: BTreeMap<String, Value>,
    include: Vec<PathBuf>,
    options: String,
    n: Option<u64>,
}

impl CheckSettings {
    /// Those of this folder's file, if it has one.
    pub fn read() -> Result<CheckSettings> {
        let path = Path::new(SETTINGS);
        match path.exists() {
            true => toml::from_str(&read(path)?)
                .map_err(|error| Error::Usage(format!("{SETTINGS}: {error}"))),
            false => Ok(CheckSettings::default()),
        }
    }

    /// Says which patterns match no file.
    pub fn leave_unmatched(&self, verdict: &mut Verdict) {
        for table in &self.check {
            if let Err(why) = matching(&table.files) {
                let what = format!("files = {:?} of {SETTINGS}", table.files);
                verdict.leave(what, why.to_string());
            }
        }
    }

    /// The last table that matches.
    pub fn of(&self, file: &str) -> FileSettings {
        let mut tables = self.check.iter().filter(|table| {
            Pattern::new(&table.files).is_ok_and(|files| files.matches_with(file, MATCHING))
        });
        tables.next_back().cloned().unwrap_or_default()
    }
}

/// The files that a pattern matches, in order.
pub fn matching(pattern: &str) -> Result<BTreeSet<String>> {
    let paths = glob_with(pattern, MATCHING)
        .map_err(|error| Error::Usage(format!("{pattern}: {error}")))?;
    let paths = paths.flatten().filter(|path| path.is_file());
    let files: BTreeSet<String> = paths.map(|path| path.display().to_string()).collect();
    match files.is_empty() {
        true => usage_error(format!(
            "{pattern}: there is no such file: name kernels, as in 'kernels/**/*.cl'"
        )),
        false => Ok(files),
    }
}

/// A file of kernels, as compilers get it.
pub struct Source {
    pub file: String,
    /// With what it includes in place, behind the macros of its host.
    pub text: String,
    pub kernels: Vec<DraftedKernel>,
    /// Macros that only its host knows, and that nobody named; and those among them that were guessed.
    missing: BTreeSet<String>,
    pub guessed: Vec<String>,
    pub options: Vec<String>,
    include: Vec<PathBuf>,
    /// What it needs of devices, in words.
    pub needs: String,
    pub n: Option<u64>,
    /// What tools say of it; nothing where an interrupt came before.
    pub looks: Vec<Look>,
}

pub struct DraftedKernel {
    pub name: String,
    /// Or why there is none.
    pub drafted: Result<(Family, KernelDraft), String>,
}

impl Source {
    /// Reads a file and drafts a family for each of its kernels, in the registry.
    pub fn read(file: &str, settings: FileSettings, registry: &mut Registry) -> Result<Source> {
        let path = Path::new(file);
        let text = assembled(path, &read(path)?, "", &settings.include)?;
        let mut known = BTreeMap::new();
        for (name, value) in settings.define {
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            if value != "?" {
                known.insert(name, value);
            }
        }
        // Options are parted at blanks.
        let options = settings.options.replace("-D ", "-D");
        let code = CSource::new(&text, &Vec::from_iter(known.clone()));
        let mut source = Source {
            file: file.to_owned(),
            text,
            kernels: Vec::new(),
            missing: BTreeSet::new(),
            guessed: Vec::new(),
            options: options.split_whitespace().map(str::to_owned).collect(),
            include: settings.include,
            needs: String::new(),
            n: settings.n,
            looks: Vec::new(),
        };
        for name in code.kernels() {
            let kernel = source.drafted(name, &known, registry);
            source.kernels.push(kernel);
        }
        let guesses = source.guesses(&known);
        let names = guesses.iter().map(|(name, _)| name.clone());
        let names = names.chain(code.host_names());
        source.missing = names.filter(|name| !known.contains_key(name)).collect();
        source.guessed = guesses
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let macros = known.into_iter().chain(guesses);
        let prelude: String = macros
            .map(|(name, value)| format!("#define {name} {value}\n"))
            .collect();
        source.text.insert_str(0, &prelude);
        Ok(source)
    }

    /// A kernel with a family of a name that no other has.
    fn drafted(
        &self,
        name: String,
        known: &BTreeMap<String, String>,
        registry: &mut Registry,
    ) -> DraftedKernel {
        let include = self.include.iter().flat_map(|folder| folder.canonicalize());
        let include: Vec<PathBuf> = include.collect();
        let options = self.options.join(" ");
        let besides = format!("include = {include:?}\noptions = {options:?}\n");
        let family = format!("{name}_{}", registry.files.len());
        let drafted = drafted(
            registry,
            (&self.text, Path::new(&self.file), Some(&name)),
            known,
            (&besides, false),
            (&family, None),
        );
        DraftedKernel {
            drafted: drafted.map_err(|why| why.to_string()),
            name,
        }
    }

    /// Values of other macros than the known ones, as the first kernel's draft has them. A name in small letters that says nothing
    /// may be a mistake.
    fn guesses(&self, known: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let mut drafts = self.kernels.iter().flat_map(|kernel| &kernel.drafted);
        let mut all = drafts.next().map_or_else(Vec::new, |(family, _)| {
            given(family, &family.ladder[0], &self.text)
        });
        all.retain(|(name, value)| {
            let is_blind = value == UNNAMED && name.contains(char::is_lowercase);
            !is_blind && !name.starts_with('-') && !known.contains_key(name)
        });
        all
    }

    /// The path of a file that a tool names.
    pub fn path_of(&self, name: Option<&str>) -> String {
        let folder = Path::new(&self.file).parent().into_iter();
        let folders = folder.chain(self.include.iter().map(PathBuf::as_path));
        let mut paths = folders.map(|folder| folder.join(name.unwrap_or_default()));
        match paths.find(|path| path.is_file()) {
            Some(path) => path.display().to_string(),
            None => self.file.clone(),
        }
    }
}

/// Writes the settings' file, with what is missing to be filled in.
pub fn begin(sources: &[Source]) -> Result<()> {
    let path = Path::new(SETTINGS);
    if path.exists() {
        return usage_error(format!("{SETTINGS} exists already: it stays as it is"));
    }
    let mut text = "# Fill in each ?; gpulab check --help explains the keys.\n".to_owned();
    for source in sources.iter().filter(|source| !source.missing.is_empty()) {
        let macros = source
            .missing
            .iter()
            .map(|name| format!("{name} = \"?\""))
            .joined(", ");
        let guesses = match &source.guessed[..] {
            [] => String::new(),
            guessed => format!("  # without it: {}", guessed.join(", ")),
        };
        text += &format!(
            "\n[[check]]\nfiles  = {:?}\ndefine = {{ {macros} }}{guesses}\n",
            source.file
        );
    }
    files::write_whole(path, &text).map_err(Error::unwritten(path))?;
    print(&format!("wrote {SETTINGS}\n"))
}

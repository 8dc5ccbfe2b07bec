//! The files that are checked, and what `gpulab.toml` says of them.

use super::SETTINGS;
use crate::brought::{assembled, drafted, read};
use crate::console::print;
use crate::kernels::signature::CSource;
use crate::kernels::{Family, KernelDraft, Registry, UNNAMED, given};
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
    define: BTreeMap<String, Value>,
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

    /// Only these macros.
    pub fn of_macros(define: &BTreeMap<String, String>) -> CheckSettings {
        let define = define.iter();
        let all = FileSettings {
            files: "**".to_owned(),
            define: define
                .map(|(name, value)| (name.clone(), value.as_str().into()))
                .collect(),
            ..FileSettings::default()
        };
        CheckSettings { check: vec![all] }
    }

    /// The last table that matches.
    fn of(&self, file: &str) -> FileSettings {
        let mut tables = self.check.iter().filter(|table| {
            Pattern::new(&table.files).is_ok_and(|files| files.matches_with(file, MATCHING))
        });
        tables.next_back().cloned().unwrap_or_default()
    }
}

/// The files that patterns match, in order.
pub fn matching(patterns: &[String]) -> Result<BTreeSet<String>> {
    let mut all = BTreeSet::new();
    for pattern in patterns {
        let paths = glob_with(pattern, MATCHING)
            .map_err(|error| Error::Usage(format!("{pattern}: {error}")))?;
        let before = all.len();
        let paths = paths.flatten().filter(|path| path.is_file());
        all.extend(paths.map(|path| path.display().to_string()));
        if all.len() == before {
            return usage_error(format!(
                "{pattern}: there is no such file: name kernels, as in 'kernels/**/*.cl'"
            ));
        }
    }
    Ok(all)
}

/// A file of kernels, as compilers get it.
pub struct Source {
    pub file: String,
    /// With what it includes in place, behind the macros of its host.
    pub text: String,
    pub kernels: Vec<DraftedKernel>,
    /// Macros that only its host knows, and that nobody named; and those among them that were guessed.
    missing: Vec<String>,
    pub guessed: Vec<String>,
    pub options: Vec<String>,
    include: Vec<PathBuf>,
    /// What it needs of devices, in words.
    pub needs: String,
    pub n: Option<u64>,
}

pub struct DraftedKernel {
    pub name: String,
    /// Or why there is none.
    pub family: Result<Family, String>,
    /// Whether one of its numbers may be any other.
    pub is_guess: bool,
    /// Whether its host says how long some of its local memory is.
    pub makes_local: bool,
}

impl Source {
    /// Reads a file and drafts a family for each of its kernels, in the registry.
    pub fn read(file: &str, settings: &CheckSettings, registry: &mut Registry) -> Result<Source> {
        let path = Path::new(file);
        let settings = settings.of(file);
        let text = assembled(path, &read(path)?, "", &settings.include)?;
        let mut known = BTreeMap::new();
        for (name, value) in settings.define {
            let value = value.as_str().map_or(value.to_string(), str::to_owned);
            if value != "?" {
                known.insert(name, value);
            }
        }
        let code = CSource::new(&text, &Vec::from_iter(known.clone()));
        let mut missing = code.host_names();
        missing.retain(|name| !known.contains_key(name));
        let options = settings.options.split_whitespace();
        let mut source = Source {
            file: file.to_owned(),
            text,
            kernels: Vec::new(),
            missing,
            guessed: Vec::new(),
            options: options.map(str::to_owned).collect(),
            include: settings.include,
            needs: String::new(),
            n: settings.n,
        };
        for name in code.kernels() {
            let kernel = source.drafted(name, &known, registry);
            source.kernels.push(kernel);
        }
        let guesses = source.guesses(&known);
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
        let draft = drafted.as_ref().map(|(_, draft)| draft);
        DraftedKernel {
            is_guess: draft.is_ok_and(KernelDraft::has_choice),
            makes_local: draft.is_ok_and(KernelDraft::has_local),
            family: drafted
                .map(|(family, _)| family)
                .map_err(|why| why.to_string()),
            name,
        }
    }

    /// Values of other macros than the known ones, as the first kernel's draft has them. A name in small letters that says nothing
    /// may be a mistake.
    fn guesses(&self, known: &BTreeMap<String, String>) -> Vec<(String, String)> {
        let mut families = self.kernels.iter().flat_map(|kernel| &kernel.family);
        let family = families.next();
        let mut all = family.map_or_else(Vec::new, |family| {
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
        let mut folders = folder.chain(self.include.iter().map(PathBuf::as_path));
        let found = name.and_then(|name| {
            folders.find_map(|folder| {
                let path = folder.join(name);
                path.is_file().then(|| path.display().to_string())
            })
        });
        found.unwrap_or_else(|| self.file.clone())
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
        text += &format!(
            "\n[[check]]\nfiles  = {:?}\ndefine = {{ {macros} }}\n",
            source.file
        );
    }
    files::write_whole(path, &text).map_err(Error::unwritten(path))?;
    print(&format!("wrote {SETTINGS}\n"))
}

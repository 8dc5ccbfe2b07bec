//! What tuning found, remembered: a file for each device and driver in the user's data folder. An entry is used for the same
//! kernel sources, build options, type, choices and size class only.

use crate::ceilings;
use gpulab_kernels::{Family, Form, Rung, Sources, built_in};
use gpulab_model::Error;
use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{Case, Plan, Target, WorkGroup};
use gpulab_system::files;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::{Path, PathBuf};

pub const TUNED_FOLDER: &str = "tuned";

/// How large a problem is, to a factor of two: the exponents of the powers of two at or below its columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SizeClass {
    /// Of elements, or columns.
    pub n: u32,
    /// Of rows; 0 of vectors.
    pub m: u32,
}

impl SizeClass {
    pub fn of(shape: Shape) -> SizeClass {
        SizeClass { n: shape.n.max(1).ilog2(), m: shape.m.max(1).ilog2() }
    }

    /// The sizes that it holds, in words.
    pub fn text(self, form: Form) -> String {
        let range = |exponent: u32| format!("2^{exponent} to 2^{}", exponent + 1);
        match form {
            Form::Vector => format!("{} elements", range(self.n)),
            Form::Square => format!("{} a side", range(self.n)),
            Form::Matrix if self.n == self.m => format!("{} a side", range(self.n)),
            Form::Matrix => format!("{} columns, {} rows", range(self.n), range(self.m)),
        }
    }
}

/// The fastest configuration that was found for one kind of case. Times in seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedEntry {
    /// SHA-256 of the kernels' sources, fragments included, and of the build options: of the rung, or of all rungs; with the
    /// text of the file that describes the family.
    pub source: String,
    pub family: String,
    /// The file that describes the family; none of gpulab's own, and in files of an earlier version.
    #[serde(default)]
    pub file: Option<String>,
    /// The rung that was tuned; none where it is the best of all rungs.
    pub rung: Option<String>,
    pub dtype: Dtype,
    /// What the answer depends on.
    pub choices: Params,
    pub size: SizeClass,
    pub variant: String,
    /// Its work-group, as asked for.
    pub wg: WorkGroup,
    /// The work-group that ran, where the rung has a size of its own; files of an earlier version do not say it.
    #[serde(default)]
    pub ran_wg: Option<WorkGroup>,
    /// Its settings, without those that `choices` has.
    pub params: Params,
    /// The size it was tuned at: columns.
    pub n: u64,
    /// The size it was tuned at: rows.
    pub m: u64,
    /// Median time, in the last rounds if it came there.
    pub t_median_s: f64,
    /// Share of the device's limit, in per cent, where one bounds the case.
    pub ceiling_pct: Option<f64>,
    /// How many times faster than the rung's default, where that has a time.
    pub default_x: Option<f64>,
    pub tried: usize,
    /// When: UTC, ISO 8601.
    pub time_utc: String,
    pub gpulab: String,
}

impl TunedEntry {
    /// Whether both are of the same kind of case.
    fn is_of(&self, other: &TunedEntry) -> bool {
        let key =
            |e: &TunedEntry| (e.source.clone(), e.family.clone(), e.rung.clone(), e.dtype, e.choices.clone(), e.size);
        key(self) == key(other)
    }

    /// What cannot be, if anything.
    fn fault(&self) -> Option<String> {
        let named = || format!("{}/{}", self.family, self.variant);
        let known = built_in(&self.family).and_then(|family| family.rung(&self.variant));
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        match known {
            None if self.file.is_none() => Some(format!("there is no rung {}", named())),
            _ if self.wg.0.contains(&0) => Some(format!("{} has a work-group of {}", named(), self.wg)),
            _ if !is_time(self.t_median_s) => Some(format!("{} took {} s", named(), self.t_median_s)),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedFile {
    pub platform: String,
    pub device: String,
    pub driver: String,
    pub entries: Vec<TunedEntry>,
}

impl TunedFile {
    pub fn empty(info: &DeviceInfo) -> TunedFile {
        let DeviceInfo { platform, name, driver, .. } = info;
        TunedFile { platform: platform.clone(), device: name.clone(), driver: driver.clone(), entries: Vec::new() }
    }

    pub fn path(&self, folder: &Path) -> PathBuf {
        let name = files::name_of(&[&self.platform, &self.device, &self.driver]);
        folder.join(TUNED_FOLDER).join(name + ".json")
    }

    pub fn is_of(&self, other: &TunedFile) -> bool {
        (&self.platform, &self.device, &self.driver) == (&other.platform, &other.device, &other.driver)
    }

    /// Takes an entry in, in place of one of its kind that is no newer.
    fn add(&mut self, entry: TunedEntry) {
        if self.entries.iter().any(|old| old.is_of(&entry) && old.time_utc > entry.time_utc) {
            return;
        }
        self.entries.retain(|old| !old.is_of(&entry));
        self.entries.push(entry);
    }
}

#[derive(Clone, Debug)]
pub struct TuningMemory {
    folder: PathBuf,
}

impl TuningMemory {
    /// In the user's folder for data.
    pub fn open() -> Result<TuningMemory, Error> {
        Ok(TuningMemory::below(&ceilings::folder()?))
    }

    pub fn below(folder: &Path) -> TuningMemory {
        TuningMemory { folder: folder.to_owned() }
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What is remembered of a device. A damaged file is put aside, and it is said why.
    pub fn of(&self, info: &DeviceInfo) -> (TunedFile, Option<String>) {
        self.load(&TunedFile::empty(info))
    }

    fn load(&self, wanted: &TunedFile) -> (TunedFile, Option<String>) {
        let path = wanted.path(&self.folder);
        if !path.exists() {
            return (wanted.clone(), None);
        }
        match read(&path) {
            // Another device may have the same name once it is made fit for a file.
            Ok(found) if found.is_of(wanted) => (found, None),
            Ok(_) => (wanted.clone(), None),
            Err(error) => (wanted.clone(), Some(format!("{error}; {}", files::put_aside(&path)))),
        }
    }

    /// Adds entries to those of a device; what another process adds meanwhile stays. Also why a damaged file was put aside.
    pub fn add(&self, device: &TunedFile, entries: &[TunedEntry]) -> Result<Option<String>, Error> {
        self.change(device, |file| entries.iter().for_each(|entry| file.add(entry.clone())))
    }

    pub fn forget(&self, device: &TunedFile, is_meant: impl Fn(&TunedEntry) -> bool) -> Result<usize, Error> {
        let mut forgotten = 0;
        self.change(device, |file| {
            let before = file.entries.len();
            file.entries.retain(|entry| !is_meant(entry));
            forgotten = before - file.entries.len();
        })?;
        Ok(forgotten)
    }

    /// Reads, changes and writes a device's file while no other process does.
    fn change(&self, device: &TunedFile, change: impl FnOnce(&mut TunedFile)) -> Result<Option<String>, Error> {
        let path = device.path(&self.folder);
        let failed = Error::unwritten(&path);
        std::fs::create_dir_all(self.folder.join(TUNED_FOLDER)).map_err(failed)?;
        let lock = File::create(path.with_extension("lock")).map_err(failed)?;
        // Some network file systems have no locks; that is no reason not to write.
        let _ = lock.lock();
        let (mut file, damage) = self.load(&TunedFile { entries: Vec::new(), ..device.clone() });
        change(&mut file);
        let text = serde_json::to_string_pretty(&file).map_err(|e| failed(e.into()))?;
        files::write_whole(&path, &(text + "\n")).map_err(failed)?;
        Ok(damage)
    }
}

/// All that is remembered, by the names of the files; an [`Error::Failed`] for each that cannot be read or is damaged.
pub fn all_tuned(memory: &TuningMemory) -> Vec<Result<TunedFile, Error>> {
    let mut paths = files::below(&memory.folder.join(TUNED_FOLDER));
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Result<TunedFile, Error> {
    let text = files::read_to_string(path).map_err(|e| e.to_string());
    text.and_then(|text| TunedFile::parse(&text)).map_err(|why| {
        let path = path.display();
        let why = why.replace(char::is_control, " ");
        Error::Failed(format!("cannot read the tuned settings in {path} ({why})"))
    })
}

impl TunedFile {
    pub fn parse(text: &str) -> Result<TunedFile, String> {
        let file: TunedFile = serde_json::from_str(text).map_err(|e| e.to_string())?;
        file.check()?;
        Ok(file)
    }

    /// Whether its entries can be.
    pub fn check(&self) -> Result<(), String> {
        self.entries.iter().find_map(TunedEntry::fault).map_or(Ok(()), Err)
    }
}

/// SHA-256 of the texts of rungs' kernels as they are compiled, fragments included, of the file that describes their family,
/// and of the options of builds.
pub fn source_hash(rungs: &[&Rung], sources: &Sources) -> Result<String, Error> {
    let mut hasher = Sha256::new();
    hasher.update(gpulab_model::plan::BUILD_OPTIONS);
    for rung in rungs {
        let text = sources.assemble_rung(rung).map_err(|stop| Error::Usage(stop.reason))?;
        hasher.update([0]);
        hasher.update(text);
        hasher.update(rung.declaration());
    }
    Ok(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The settings of a plan that the answer depends on.
pub fn choices(family: &Family, plan: &Plan) -> Params {
    let is_choice = |name: &str| family.choices.iter().any(|choice| choice.name == name);
    plan.params.iter().filter(|(name, _)| is_choice(name)).map(|(name, value)| (name.clone(), value.clone())).collect()
}

pub struct Remembered<'a> {
    file: TunedFile,
    family: &'a Family,
    target: Target,
    /// Of each rung the hash of its sources, and of all rungs together.
    sources: Vec<(&'a str, String)>,
    all_sources: String,
}

impl<'a> Remembered<'a> {
    /// Of a family on a device. A damaged file is put aside, and `say` is told why.
    pub fn load(
        family: &'a Family,
        info: &DeviceInfo,
        sources: &Sources,
        say: &dyn Fn(&str),
    ) -> Option<Remembered<'a>> {
        let (file, damage) = TuningMemory::open().ok()?.of(info);
        damage.iter().for_each(|why| say(&format!("{why}; continuing without tuned settings")));
        Remembered::of(file, family, info, sources)
    }

    pub fn of(file: TunedFile, family: &'a Family, info: &DeviceInfo, sources: &Sources) -> Option<Remembered<'a>> {
        if file.entries.iter().all(|entry| entry.family != family.name) {
            return None;
        }
        let rungs: Vec<&Rung> = family.ladder.iter().collect();
        Some(Remembered {
            file,
            family,
            target: info.target.clone(),
            sources: family
                .kernels()
                .filter_map(|rung: &'a Rung| Some((rung.variant(), source_hash(&[rung], sources).ok()?)))
                .collect(),
            all_sources: source_hash(&rungs, sources).unwrap_or_default(),
        })
    }

    /// The entry for a rung's case with nothing set but choices, if there is one that the rung can run; the case has that
    /// rung's name, or with `is_any` that of any rung, and the best of all is meant.
    fn find(&self, case: &Case, is_any: bool) -> Option<&TunedEntry> {
        let rung = self.family.rung(&case.variant)?;
        let choices = match self.family.choices {
            // A described rung's defaults need not meet its conditions.
            [] => Params::new(),
            _ => choices(self.family, &self.family.plan(rung, case, &self.target).ok()?),
        };
        let source = match is_any {
            true => &self.all_sources,
            false => &self.sources.iter().find(|(variant, _)| *variant == case.variant)?.1,
        };
        let size = SizeClass::of(case.shape);
        let wanted = (!is_any).then_some(case.variant.as_str());
        self.file.entries.iter().find(|entry| {
            let is_same = (entry.source == *source, entry.rung.as_deref() == wanted, entry.size == size);
            let is_case = (entry.family == self.family.name, entry.dtype == case.dtype, entry.choices == choices);
            (is_same, is_case) == ((true, true, true), (true, true, true))
        })
    }

    /// The case as it was tuned, if it was and the rung can run it so.
    pub fn tuned(&self, case: &Case) -> Option<Case> {
        self.applied(case, self.find(case, false)?)
    }

    /// The best of all rungs for such a case, as it was tuned.
    pub fn best(&self, case: &Case) -> Option<Case> {
        let entry = self.find(case, true)?;
        self.applied(&Case { variant: entry.variant.clone(), ..case.clone() }, entry)
    }

    fn applied(&self, case: &Case, entry: &TunedEntry) -> Option<Case> {
        let params = case.params.iter().chain(&entry.params).map(|(name, value)| (name.clone(), value.clone()));
        let tuned = Case { wg: entry.wg, params: params.collect(), ..case.clone() };
        let rung = self.family.rung(&tuned.variant)?;
        self.family.plan(rung, &tuned, &self.target).ok().map(|_| tuned)
    }
}

#[cfg(test)]
mod tests;

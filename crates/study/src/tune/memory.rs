//! What tuning found, remembered: a file for each device and driver in the user's data folder. An entry is used for the same
//! kernel sources, build options, type, choices and size class only.

use crate::ceilings;
use crate::device_file::{DeviceFile, FileEntry};
use gpulab_kernels::{Family, Form, Rung, Sources, built_in};
use gpulab_model::data::{Dtype, Params, Shape};
use gpulab_model::outcome::DeviceInfo;
use gpulab_model::plan::{Case, Plan, Target, WorkGroup};
use gpulab_model::{Error, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::path::Path;

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
        SizeClass {
            n: shape.n.max(1).ilog2(),
            m: shape.m.max(1).ilog2(),
        }
    }

    /// The sizes that it holds, in words.
    pub fn text(self, form: Form) -> String {
        let [n, m] = [self.n, self.m].map(|exponent| format!("2^{exponent} to 2^{}", exponent + 1));
        match form {
            Form::Vector => format!("{n} elements"),
            Form::Square => format!("{n} a side"),
            Form::Matrix if n == m => format!("{n} a side"),
            Form::Matrix => format!("{n} columns, {m} rows"),
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
        (&self.source, &self.family, &self.rung, &self.choices)
            == (&other.source, &other.family, &other.rung, &other.choices)
            && (self.dtype, self.size) == (other.dtype, other.size)
    }
}

impl FileEntry for TunedEntry {
    const FOLDER: &'static str = "tuned";
    const WHAT: &'static str = "the tuned settings";
    const REMEDY: &'static str = "";

    fn fault(&self) -> Option<String> {
        let TunedEntry {
            family,
            variant,
            t_median_s,
            ..
        } = self;
        if self.file.is_none()
            && built_in(family)
                .and_then(|known| known.rung(variant))
                .is_none()
        {
            return Some(format!("there is no rung {family}/{variant}"));
        }
        let can_be = t_median_s.is_finite() && *t_median_s > 0.0 && !self.wg.0.contains(&0);
        (!can_be).then(|| {
            format!(
                "{family}/{variant} has a work-group of {} and took {t_median_s} s",
                self.wg
            )
        })
    }
}

pub type TunedFile = DeviceFile<TunedEntry>;

impl TunedFile {
    /// Adds its entries to those of the folder, in place of those of their kind that are no newer; what another process adds
    /// meanwhile stays. Also why a damaged file was put aside.
    pub fn remember(&self, folder: &Path) -> Result<Option<String>> {
        self.change(folder, |known| {
            for new in &self.entries {
                if known
                    .iter()
                    .all(|old| !old.is_of(new) || old.time_utc <= new.time_utc)
                {
                    known.retain(|old| !old.is_of(new));
                    known.push(new.clone());
                }
            }
        })
    }

    /// Takes its entries out of the folder.
    pub fn forget(&self, folder: &Path) -> Result<()> {
        self.change(folder, |known| {
            known.retain(|old| !self.entries.contains(old))
        })
        .map(drop)
    }

    /// Reads, changes and writes a device's file while no other process does.
    fn change(
        &self,
        folder: &Path,
        change: impl FnOnce(&mut Vec<TunedEntry>),
    ) -> Result<Option<String>> {
        let path = self.path(folder);
        let failed = Error::unwritten(&path);
        std::fs::create_dir_all(folder.join(TunedEntry::FOLDER)).map_err(failed)?;
        let lock = File::create(path.with_extension("lock")).map_err(failed)?;
        // Some network file systems have no locks; that is no reason not to write.
        let _ = lock.lock();
        let (mut file, damage) = self.load_or_put_aside(folder);
        change(&mut file.entries);
        file.save(folder)?;
        Ok(damage)
    }
}

/// SHA-256 of the texts of rungs' kernels as they are compiled, fragments included, of the file that describes their family,
/// and of the options of builds.
pub fn source_hash(rungs: &[&Rung], sources: &Sources) -> Result<String> {
    let mut hasher = Sha256::new();
    hasher.update(gpulab_model::plan::BUILD_OPTIONS);
    for rung in rungs {
        let text = sources
            .assemble_rung(rung)
            .map_err(|stop| Error::Usage(stop.reason))?;
        hasher.update([0]);
        hasher.update(text);
        hasher.update(rung.declaration());
    }
    Ok(hasher
        .finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect())
}

/// The settings of a plan that the answer depends on.
pub fn choices(family: &Family, plan: &Plan) -> Params {
    let mut choices = plan.params.clone();
    choices.retain(|name, _| family.choices.iter().any(|choice| choice.name == name));
    choices
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
        let (file, damage) = TunedFile::empty(info).load_or_put_aside(&ceilings::folder().ok()?);
        damage
            .iter()
            .for_each(|why| say(&format!("{why}; continuing without tuned settings")));
        Remembered::of(file, family, info, sources)
    }

    pub fn of(
        file: TunedFile,
        family: &'a Family,
        info: &DeviceInfo,
        sources: &Sources,
    ) -> Option<Remembered<'a>> {
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
                .filter_map(|rung: &'a Rung| {
                    Some((rung.variant(), source_hash(&[rung], sources).ok()?))
                })
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
            _ => choices(
                self.family,
                &self.family.plan(rung, case, &self.target).ok()?,
            ),
        };
        let source = match is_any {
            true => &self.all_sources,
            false => {
                &self
                    .sources
                    .iter()
                    .find(|(variant, _)| *variant == case.variant)?
                    .1
            }
        };
        let size = SizeClass::of(case.shape);
        let wanted = (!is_any).then_some(case.variant.as_str());
        self.file.entries.iter().find(|entry| {
            let is_same = (
                entry.source == *source,
                entry.rung.as_deref() == wanted,
                entry.size == size,
            );
            let is_case = (
                entry.family == self.family.name,
                entry.dtype == case.dtype,
                entry.choices == choices,
            );
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
        self.applied(
            &Case {
                variant: entry.variant.clone(),
                ..case.clone()
            },
            entry,
        )
    }

    fn applied(&self, case: &Case, entry: &TunedEntry) -> Option<Case> {
        let params = case
            .params
            .iter()
            .chain(&entry.params)
            .map(|(name, value)| (name.clone(), value.clone()));
        let tuned = Case {
            wg: entry.wg,
            params: params.collect(),
            ..case.clone()
        };
        let rung = self.family.rung(&tuned.variant)?;
        self.family
            .plan(rung, &tuned, &self.target)
            .ok()
            .map(|_| tuned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::{minplus, reduce};
    use gpulab_model::outcome::fake_info;

    fn entry(family: &Family, variant: &str, n: u64, params: &[(&str, &str)]) -> TunedEntry {
        let rung = family.rung(variant).unwrap();
        let shape = family.form.shape(n, None);
        let case = case(family, variant, n, &[]);
        let plan = family.plan(rung, &case, &fake_info().target).unwrap();
        TunedEntry {
            source: source_hash(&[rung], &Sources::default()).unwrap(),
            family: family.name.to_string(),
            file: None,
            rung: Some(variant.into()),
            dtype: Dtype::I32,
            choices: choices(family, &plan),
            size: SizeClass::of(shape),
            variant: variant.into(),
            wg: WorkGroup::linear(64),
            ran_wg: None,
            params: params
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            n,
            m: shape.m,
            t_median_s: 1e-3,
            ceiling_pct: None,
            default_x: Some(1.5),
            tried: 9,
            time_utc: "2026-01-02T03:04:05Z".into(),
            gpulab: "0.1.0".into(),
        }
    }

    fn case(family: &Family, variant: &str, n: u64, params: &[(&str, &str)]) -> Case {
        Case {
            wg: WorkGroup::linear(256),
            params: params
                .iter()
                .map(|(name, value)| ((*name).into(), (*value).into()))
                .collect(),
            ..Case::of(
                &family.name,
                variant,
                Dtype::I32,
                family.form.shape(n, None),
            )
        }
    }

    fn remembered(entries: Vec<TunedEntry>, family: &Family) -> Remembered<'_> {
        let file = TunedFile {
            entries,
            ..TunedFile::empty(&fake_info())
        };
        let rungs: Vec<&Rung> = family.ladder.iter().collect();
        let hash = |rungs: &[&Rung]| source_hash(rungs, &Sources::default()).unwrap();
        Remembered {
            file,
            family,
            target: fake_info().target,
            sources: rungs
                .iter()
                .map(|rung| (rung.variant(), hash(&[rung])))
                .collect(),
            all_sources: hash(&rungs),
        }
    }

    #[test]
    fn an_entry_is_for_its_rung_type_choices_and_size_class_only() {
        let tuned = entry(&reduce::FAMILY, "raking", 5000, &[("items", "4096")]);
        let known = remembered(vec![tuned.clone()], &reduce::FAMILY);
        let found = |variant: &str, n, params: &[(&str, &str)]| {
            known.tuned(&case(&reduce::FAMILY, variant, n, params))
        };
        let used = found("raking", 8191, &[]).unwrap();
        assert_eq!(
            (used.wg, used.params["items"].as_str()),
            (WorkGroup::linear(64), "4096")
        );
        assert!(
            found("raking", 4096, &[("op", "sum")]).is_some(),
            "the default choice, by name"
        );
        for (variant, n, params) in [
            ("raking", 8192, &[][..]),
            ("raking", 4095, &[]),
            ("vectorised", 5000, &[]),
            ("raking", 5000, &[("op", "max")]),
        ] {
            assert_eq!(found(variant, n, params), None, "{variant} {n} {params:?}");
        }
        let other_type = Case {
            dtype: Dtype::F32,
            ..case(&reduce::FAMILY, "raking", 5000, &[])
        };
        assert_eq!(known.tuned(&other_type), None);
        let edited = TunedEntry {
            source: "0".repeat(64),
            ..tuned
        };
        assert_eq!(
            remembered(vec![edited], &reduce::FAMILY).tuned(&case(
                &reduce::FAMILY,
                "raking",
                5000,
                &[]
            )),
            None
        );
    }

    #[test]
    fn the_best_of_all_rungs_has_an_entry_of_its_own() {
        let rungs: Vec<&Rung> = minplus::FAMILY.ladder.iter().collect();
        let any = TunedEntry {
            source: source_hash(&rungs, &Sources::default()).unwrap(),
            rung: None,
            ..entry(&minplus::FAMILY, "wide", 100, &[("depth", "32")])
        };
        let known = remembered(vec![any], &minplus::FAMILY);
        let best = known
            .best(&case(&minplus::FAMILY, "tiled", 120, &[]))
            .unwrap();
        assert_eq!(
            (best.variant.as_str(), best.params["depth"].as_str()),
            ("wide", "32")
        );
        assert_eq!(known.tuned(&case(&minplus::FAMILY, "wide", 120, &[])), None);
        assert_eq!(
            known.best(&case(
                &minplus::FAMILY,
                "tiled",
                120,
                &[("weights", "signed")]
            )),
            None
        );
    }

    #[test]
    fn settings_that_the_size_refuses_are_not_used() {
        let bad = entry(&reduce::FAMILY, "raking", 5000, &[("items", "none")]);
        assert_eq!(
            remembered(vec![bad], &reduce::FAMILY).tuned(&case(
                &reduce::FAMILY,
                "raking",
                5000,
                &[]
            )),
            None
        );
    }

    fn of_device(entries: Vec<TunedEntry>) -> TunedFile {
        TunedFile {
            entries,
            ..TunedFile::empty(&fake_info())
        }
    }

    #[test]
    fn what_is_added_comes_back_and_a_newer_entry_takes_an_older_ones_place() {
        let dir = tempfile::tempdir().unwrap();
        let known = || {
            TunedFile::empty(&fake_info())
                .load(dir.path())
                .unwrap()
                .entries
        };
        let first = entry(&reduce::FAMILY, "raking", 5000, &[]);
        let second = TunedEntry {
            t_median_s: 2.0,
            ..first.clone()
        };
        let other = entry(&reduce::FAMILY, "wide", 5000, &[]);
        assert_eq!(
            of_device(vec![first, other.clone()])
                .remember(dir.path())
                .unwrap(),
            None
        );
        assert_eq!(
            of_device(vec![second.clone()])
                .remember(dir.path())
                .unwrap(),
            None
        );
        assert_eq!(known(), [other.clone(), second.clone()]);
        of_device(vec![second]).forget(dir.path()).unwrap();
        assert_eq!(
            TunedFile::all(dir.path())
                .into_iter()
                .map(|f| f.unwrap().entries)
                .collect::<Vec<_>>(),
            [[other]]
        );
        let driver = TunedFile {
            driver: "another".into(),
            ..of_device(Vec::new())
        };
        assert!(
            driver.load(dir.path()).unwrap().entries.is_empty(),
            "never of another driver"
        );
    }

    #[test]
    fn two_at_once_both_keep_their_entries() {
        let dir = tempfile::tempdir().unwrap();
        let add = |from: u32| {
            for size in from..from + 10 {
                let entry = TunedEntry {
                    size: SizeClass { n: size, m: 0 },
                    ..entry(&reduce::FAMILY, "wide", 64, &[])
                };
                of_device(vec![entry]).remember(dir.path()).unwrap();
            }
        };
        std::thread::scope(|scope| {
            [0, 10, 20]
                .map(|from| scope.spawn(move || add(from)))
                .map(|t| t.join().unwrap())
        });
        assert_eq!(
            of_device(Vec::new())
                .load(dir.path())
                .unwrap()
                .entries
                .len(),
            30
        );
    }

    #[test]
    fn damage_is_put_aside_and_told() {
        let dir = tempfile::tempdir().unwrap();
        let good = entry(&reduce::FAMILY, "raking", 5000, &[]);
        for bad in [
            TunedEntry {
                t_median_s: -1.0,
                ..good.clone()
            },
            TunedEntry {
                wg: WorkGroup([0, 1, 1]),
                ..good.clone()
            },
            TunedEntry {
                variant: "nothing".into(),
                ..good.clone()
            },
        ] {
            assert!(of_device(vec![bad]).checked().is_err());
        }
        let file = of_device(vec![good]);
        let path = file.path(dir.path());
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "{\"platform\": 1").unwrap();
        let told = file.remember(dir.path()).unwrap().unwrap();
        assert!(
            told.contains("cannot read the tuned settings") && told.contains(".bad"),
            "{told}"
        );
        assert_eq!(file.load(dir.path()).unwrap(), file);
        assert_eq!(
            std::fs::read(path.with_extension("json.bad")).unwrap(),
            b"{\"platform\": 1"
        );
    }

    #[test]
    fn size_classes_are_powers_of_two_in_both_dimensions() {
        let of = |n, m| SizeClass::of(Shape { n, m });
        assert_eq!(
            [of(1000, 1), of(1024, 1), of(2047, 1)].map(|c| c.n),
            [9, 10, 10]
        );
        assert_ne!(of(64, 128), of(128, 64));
        assert_eq!(
            of(64, 128).text(Form::Matrix),
            "2^6 to 2^7 columns, 2^7 to 2^8 rows"
        );
        assert_eq!(of(5, 1).text(Form::Vector), "2^2 to 2^3 elements");
    }
}

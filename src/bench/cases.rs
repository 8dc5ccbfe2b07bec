//! The cases that a command asks for, checked before anything runs.

use crate::cli::CaseOptions;
use crate::prelude::*;
use crate::{memory, sweep};

/// The work-group of kernels that have none of their own.
pub(crate) const WORK_GROUP: WorkGroup = WorkGroup::linear(256);

#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) family: &'a Family,
    pub(crate) shape: Shape,
    pub(crate) dtype: Dtype,
    pub(crate) params: &'a Params,
}

impl Input<'_> {
    /// Their size in bytes, or that of the result if it is larger.
    pub(crate) fn bytes(&self) -> Result<u64, Error> {
        let problem = &self.family.problem;
        let size = self.dtype.size() as u128;
        let inputs: u128 = problem.inputs(self.shape, self.params).into_iter().map(|len| len as u128 * size).sum();
        let bytes = inputs.max(problem.result(self.shape, self.params) as u128 * size);
        u64::try_from(bytes).map_err(|_| {
            Error::Usage(format!("{} need {bytes} bytes: choose a smaller size", elements(self.family, self.shape)))
        })
    }

    /// Operations of a case, by the cost model.
    pub(crate) fn ops(&self) -> f64 {
        self.family.problem.cost(&self.case()).ops
    }

    fn case(&self) -> Case {
        Case { params: self.params.clone(), seed: 0, ..Case::of(&self.family.name, "", self.dtype, self.shape) }
    }

    /// Refuses what this machine or no rung on this device could hold.
    pub(crate) fn check(&self, info: &DeviceInfo) -> Result<(), Error> {
        let bytes = self.bytes()?;
        self.check_host(bytes)?;
        self.check_device(bytes, info)
    }

    /// Refuses what this machine cannot hold: the inputs once here, and once more while they are checked; of results as large
    /// as they are a reference and a copy of the device's.
    pub(crate) fn check_host(&self, bytes: u64) -> Result<(), Error> {
        self.check_memory(bytes, self.copies(), "for their data and its check")
    }

    /// Refuses what no rung could run on this device.
    pub(crate) fn check_device(&self, bytes: u64, info: &DeviceInfo) -> Result<(), Error> {
        let needed = bytes.saturating_mul(2);
        if needed > info.target.global_mem {
            return Err(Error::Usage(format!(
                "{} of {} need {} on the device for their data and its copy, and {} has {}: choose {}",
                elements(self.family, self.shape),
                self.dtype,
                gib(needed),
                info.name,
                gib(info.target.global_mem),
                self.largest(info.target.global_mem)
            )));
        }
        // The memory of a CPU device is this machine's.
        match info.kind == "cpu" {
            true => self.check_memory(bytes, self.copies() + 2, "for their data, its check, and the device's copies"),
            false => Ok(()),
        }
    }

    /// The largest power of two that fits so many bytes, as an option says it.
    fn largest(&self, memory: u64) -> String {
        let fits = |log: &u32| {
            let shape = self.family.form.shape(1 << log, None);
            Input { shape, ..*self }.bytes().is_ok_and(|bytes| bytes.saturating_mul(2) <= memory)
        };
        (0..40).rev().find(fits).map_or_else(|| "another device".to_owned(), |log| format!("-n 2^{log} or less"))
    }

    fn check_memory(&self, bytes: u64, copies: u64, what_for: &str) -> Result<(), Error> {
        let needed = bytes.saturating_mul(copies);
        match memory::available() {
            Some(available) if needed > available => Err(Error::Usage(format!(
                "{} need {} of memory {what_for}, and {} is available: choose a smaller size",
                elements(self.family, self.shape),
                gib(needed),
                gib(available)
            ))),
            _ => Ok(()),
        }
    }

    /// Arrays of the inputs' size that the host holds at once.
    fn copies(&self) -> u64 {
        let problem = &self.family.problem;
        let has_large_reference =
            problem.movement(&self.case()).is_none() && problem.result(self.shape, self.params) > 1;
        if has_large_reference { 3 } else { 2 }
    }
}

fn elements(family: &Family, Shape { n, m }: Shape) -> String {
    if family.form == Form::Vector { format!("{n} elements") } else { format!("{n} x {m} elements") }
}

/// Bytes as people read them.
pub(crate) fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / (1u64 << 30) as f64)
}

/// The shape that is asked for, or else the usual one; of a matrix, columns alone mean a square.
pub(crate) fn shape(family: &Family, n: Option<u64>, m: Option<u64>, usual: Shape) -> Result<Shape, Error> {
    match (n, m) {
        (_, Some(_)) if family.form != Form::Matrix => {
            Err(Error::Usage(format!("--m: {} has no matrix with rows of its own", family.name)))
        }
        (None, None) => {
            let whole = family.usual_shape(usual.n, false);
            if usual != whole {
                let quick = elements(family, usual);
                let whole = elements(family, whole);
                note(&format!("--quick: {quick}, and not {whole} as in the file: -n takes others"));
            }
            Ok(usual)
        }
        _ => Ok(family.form.shape(n.unwrap_or(usual.n), m)),
    }
}

/// The case of a rung that options ask for, with the `usual` shape where they give no size.
pub(crate) fn case(family: &Family, rung: &Rung, options: &CaseOptions, usual: Shape) -> Result<Case, Error> {
    let dtype = dtype(family, options.element.dtype.or(rung.own_dtype()))?;
    Ok(Case {
        wg: options.wg.or(rung.work_group()).unwrap_or(WORK_GROUP),
        params: single_settings(family, &[rung], &options.set)?,
        ..Case::of(&family.name, rung.variant(), dtype, shape(family, options.n, options.m, usual)?)
    })
}

/// Settings that --set gives, each of one value.
pub(crate) fn single_settings(family: &Family, rungs: &[&Rung], texts: &[String]) -> Result<Params, Error> {
    sweep::settings(family, rungs, texts)
        .map_err(Error::Usage)?
        .into_iter()
        .map(|setting: sweep::Setting| match setting.values.as_slice() {
            [value] => Ok((setting.name.clone(), value.clone())),
            values => Err(Error::Usage(format!("--set {}: {} values; give one", setting.name, values.len()))),
        })
        .collect()
}

/// As [`single_settings`], by their names in letters of any case.
pub(crate) fn own_settings(family: &Family, rungs: &[&Rung], texts: &[String]) -> Result<Params, Error> {
    single_settings(
        family,
        rungs,
        &texts
            .iter()
            .map(|text: &String| match text.split_once('=') {
                Some((name, value)) => format!("{}={value}", name.to_lowercase()),
                None => text.clone(),
            })
            .collect::<Vec<_>>(),
    )
}

/// The element type that is asked for, or the family's first.
pub(crate) fn dtype(family: &Family, asked: Option<Dtype>) -> Result<Dtype, Error> {
    let dtype = asked.or(family.dtypes.first().copied()).unwrap_or(Dtype::F32);
    check_dtype(family, dtype)?;
    Ok(dtype)
}

/// Refuses an element type that the family has no kernels for.
pub(crate) fn check_dtype(family: &Family, dtype: Dtype) -> Result<(), Error> {
    if family.dtypes.contains(&dtype) {
        return Ok(());
    }
    let names: Vec<&str> = family.dtypes.iter().map(|d| d.name()).collect();
    Err(Error::Usage(format!("{} has no {dtype} kernels; it has {}", family.name, names.join(", "))))
}

/// Refuses a folder that has none of the rungs' files; says of which it has none, as those are the built-in ones.
pub(crate) fn check_sources(rungs: &[&Rung], dir: Option<&Path>, quiet: bool) -> Result<(), Error> {
    check_files(&rungs.iter().filter(|rung| !rung.is_own()).map(|rung| &*rung.path).collect::<Vec<_>>(), dir, quiet)
}

/// As [`check_sources`], of paths below `cl/`.
pub(crate) fn check_files(paths: &[&str], dir: Option<&Path>, quiet: bool) -> Result<(), Error> {
    let Some(dir) = dir.filter(|_| !paths.is_empty()) else { return Ok(()) };
    let missing: Vec<&str> = paths.iter().copied().filter(|path| !dir.join(path).is_file()).collect();
    let wrong = |path: &Path| {
        Error::Usage(format!("--cl-dir: there is no {}: the folder must be laid out like cl/", path.display()))
    };
    match missing.first() {
        _ if !dir.is_dir() => Err(wrong(dir)),
        Some(first) if missing.len() == paths.len() => Err(wrong(&dir.join(first))),
        Some(_) if !quiet => {
            note(&format!("--cl-dir: the folder lacks {}, which gpulab has built in", missing.join(", ")));
            Ok(())
        }
        _ => Ok(()),
    }
}

//! The files that pages are made from, folder by folder: those of paths and folders, or those that come with gpulab.

use crate::ceilings::CeilingRow;
use crate::prelude::*;
use crate::record::Point;
use crate::report::groups::experiments;
use crate::report::page::{DataFile, DataPlace, RecordedFolder, RecordedStudy};
use crate::report::picture::{self, StudyText};
use crate::report::shown::{Material, PointStudy, ShownFile, take_apart};
use crate::shown::{ceilings_of, is_path, named, of_device};
use crate::store::{Shipped, shipped};
use std::borrow::Cow;

#[derive(Default)]
pub(crate) struct InputFolder {
    /// Its name without those above it.
    pub(crate) name: String,
    pub(crate) files: Vec<InputFile>,
    /// The device's limits, for where no file has them.
    limits: Vec<CeilingRow>,
}

pub(crate) struct InputFile {
    /// Its name without its folder.
    pub(crate) name: String,
    /// Where it lies, unless it came with gpulab.
    pub(crate) path: Option<PathBuf>,
    pub(crate) text: Cow<'static, [u8]>,
    /// What it holds, until that is taken.
    holds: Option<ShownFile>,
}

impl InputFolder {
    /// All that its files hold, put together, and the files.
    pub(crate) fn take(mut self) -> (Material, Vec<InputFile>) {
        let mut all = Material::default();
        self.files.iter_mut().filter_map(|file| file.holds.take()).for_each(|holds| all.take(holds));
        if all.ceilings.is_empty() {
            all.ceilings = self.limits;
        }
        all.mark_cached();
        (all, self.files)
    }
}

/// The files that words ask for: files and folders, or a device whose records come with gpulab and names among them. Files of
/// other kinds beside these, as a shell names them for `*`, are left out.
pub(crate) fn inputs(words: &[String]) -> Result<Vec<InputFolder>, Error> {
    match words.split_first() {
        Some((device, names)) if !is_path(device) => Ok(vec![of_gpulab(device, names)?]),
        _ => of_paths(&paths(words)?),
    }
}

fn of_gpulab(device: &str, names: &[String]) -> Result<InputFolder, Error> {
    let own = of_device(&shipped(), device)?;
    let limits = ceilings_of(&own)?;
    let name = own.first().map_or_else(String::new, |file| file.device.to_owned());
    let whole = |file: &Shipped| take_apart(file.text, file.name).map(|holds| (*file, holds));
    let found: Vec<(Shipped, ShownFile)> = match names.is_empty() {
        true => own.iter().map(whole).collect::<Result<_, Error>>()?,
        false => {
            let of =
                |file: &ShownFile| own.iter().copied().find(|own| file.name == format!("{}/{}", own.device, own.name));
            named(&own, names)?.into_iter().filter_map(|file| Some((of(&file)?, file))).collect()
        }
    };
    Ok(InputFolder {
        name,
        files: found
            .into_iter()
            .map(|(file, holds): (Shipped, ShownFile)| InputFile {
                name: format!("{}.csv", file.name),
                path: None,
                text: Cow::Borrowed(file.text),
                holds: Some(holds),
            })
            .collect(),
        limits,
    })
}

/// The paths of files, each once; of a folder those of all result files in it and below.
fn paths(words: &[String]) -> Result<Vec<PathBuf>, Error> {
    let mut all: Vec<PathBuf> = Vec::new();
    let has_others = words.len() > 1;
    for word in words {
        // As shells leave it that do not know it.
        let path = Path::new(word.strip_suffix("/**").filter(|_| !Path::new(word).exists()).unwrap_or(word));
        match path.is_dir() {
            true => below(path, &mut all).map_err(|e| Error::Failed(format!("cannot read {}: {e}", path.display())))?,
            false if has_others && path.extension().is_some() && !is_result(path) => {}
            false => all.push(path.to_owned()),
        }
    }
    let mut seen: Vec<PathBuf> = Vec::new();
    all.retain(|path| {
        let whole = fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let is_new = !seen.contains(&whole);
        seen.extend(is_new.then_some(whole));
        is_new
    });
    if all.is_empty() { Err(Error::Usage(format!("no CSV or JSON file in {}", words.join(", ")))) } else { Ok(all) }
}

fn below(folder: &Path, all: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        match path.is_dir() {
            true if !path.is_symlink() => below(&path, all)?,
            false if is_result(&path) => all.push(path),
            _ => {}
        }
    }
    Ok(())
}

/// Whether it may hold results by its name: what `gpulab record` says of the device and of its commands is none.
fn is_result(path: &Path) -> bool {
    let is_about =
        path.file_name().is_some_and(|name| ["device.json", "record.json"].iter().any(|about| name == *about));
    !is_about && path.extension().is_some_and(|ending| ending == "csv" || ending == "json")
}

fn of_paths(paths: &[PathBuf]) -> Result<Vec<InputFolder>, Error> {
    let mut folders: Vec<(PathBuf, InputFolder)> = Vec::new();
    for path in paths {
        let shown = path.display().to_string();
        let text = files::read(path).map_err(|e| {
            Error::Failed(format!(
                "cannot read {shown}: {e} (gpulab show alone lists the records that come with gpulab)"
            ))
        })?;
        let holds = take_apart(&text, &shown)?;
        let name = path.file_name().map_or(shown, |name| name.to_string_lossy().into_owned());
        let file = InputFile { name, path: Some(path.clone()), text: Cow::Owned(text), holds: Some(holds) };
        let place = fs::canonicalize(path).ok().and_then(|path| path.parent().map(Path::to_owned)).unwrap_or_default();
        match folders.iter_mut().find(|(known, _)| *known == place) {
            Some((_, folder)) => folder.files.push(file),
            None => {
                let name = place.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                folders.push((place, InputFolder { name, files: vec![file], ..InputFolder::default() }));
            }
        }
    }
    Ok(folders.into_iter().map(|(_, folder)| folder).collect())
}

/// What pages are made from. Counts in the files go to `counts`; `link` gives the address of a file that pages link, and none
/// of one that they hold.
pub(crate) fn folders(
    inputs: Vec<InputFolder>,
    counts: &mut Vec<CountRow>,
    link: &dyn Fn(&Path) -> Option<String>,
    is_quiet: bool,
) -> Vec<RecordedFolder> {
    let file = |InputFile { name, path, text, .. }: InputFile| {
        let bytes = text.len();
        let place = path.and_then(|path| link(&path)).map_or(DataPlace::Held(text), DataPlace::Linked);
        DataFile { name, bytes, place }
    };
    inputs
        .into_iter()
        .map(|input: InputFolder| {
            let name = input.name.clone();
            let (own, files) = input.take();
            if !is_quiet {
                own.torn.iter().for_each(|torn| note(torn));
            }
            counts.extend(own.counts);
            RecordedFolder {
                name,
                rows: own.rows,
                studies: experiments(&own.points).into_iter().map(study).collect(),
                ceilings: own.ceilings,
                samples: own.samples,
                peers: own.peers,
                files: files.into_iter().map(file).collect(),
            }
        })
        .collect()
}

fn study(points: Vec<Point>) -> RecordedStudy {
    let own = PointStudy::of(&points);
    let text = StudyText { question: own.question, finding: &own.finding, label: &|x| own.label(x) };
    let picture = picture::experiment(&points, &text);
    RecordedStudy { question: own.question.to_owned(), finding: own.finding.clone(), picture, points }
}

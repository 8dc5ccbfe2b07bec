//! What is said of a record, before and after.

use super::journal::JournalStep;
use super::steps::{RecordStep, Thoroughness};
use super::{journal, sheet};
use crate::prelude::*;
use crate::report::groups::distinct;
use crate::shell::{joined, quoted};

/// The folder's own name: the path to it is nobody's business.
pub(crate) fn folder_name(folder: &Path) -> String {
    let whole = fs::canonicalize(folder);
    let path = whole.as_deref().unwrap_or(folder);
    path.file_name().map_or_else(|| "record".to_owned(), |name| name.to_string_lossy().into_owned())
}

pub(crate) fn command(folder: &str, how: &Thoroughness<'_>) -> String {
    let words = how.words().into_iter().chain(["-o".to_owned(), folder.to_owned()]);
    format!("gpulab record {}", joined(&words.collect::<Vec<_>>()))
}

/// What would be run, for how long, and a name for the folder.
pub(crate) fn proposal(info: &DeviceInfo, steps: &[RecordStep], how: &Thoroughness<'_>) -> String {
    let name = sheet::folder_name(info, &Run::begin().host.cpu);
    let shared = Path::new("data/results");
    let place = if shared.is_dir() { shared } else { Path::new("") };
    let further = (2..100).map(|number| place.join(format!("{name}-{number}")));
    let mut names = std::iter::once(place.join(&name)).chain(further);
    let folder = names.find(|folder| !folder.exists()).unwrap_or_else(|| place.join(&name));
    let lines: String = steps.iter().map(|step| format!("  gpulab {}\n", joined(&step.words))).collect();
    format!(
        "{} commands on {}, {}; checks are never cut, so a slow device takes longer:\n{lines}nothing was run; this \
         command starts or continues it:\n  {}\n",
        steps.len(),
        info.name,
        minutes(steps.iter().map(|step| step.seconds).sum()),
        command(&folder.display().to_string(), how),
    )
}

pub(crate) fn minutes(seconds: f64) -> String {
    if seconds < 90.0 { format!("about {seconds:.0} s") } else { format!("about {:.0} min", seconds / 60.0) }
}

/// Files of a record that hold no results.
pub(crate) const ABOUT: [&str; 2] = [sheet::FILE, journal::FILE];

/// What the folder holds now.
pub(crate) fn summary(folder: &Path, steps: &[JournalStep]) -> String {
    let whole = steps.iter().filter(|step| step.is_whole()).count();
    let files = distinct(steps.iter().map(|step| step.file.as_str()));
    let there = files.into_iter().filter(|file| folder.join(file).exists());
    let there: Vec<&str> = there.chain(ABOUT).collect();
    let place = quoted(&format!("{}/", folder.display()));
    format!(
        "{place}: {whole} of {} commands, in {}\nlook at it: gpulab report {place}\n\
         send it in: \"Sending in a result\" in CONTRIBUTING.md says how\n",
        steps.len(),
        there.join(", ")
    )
}

/// The error of the commands that did not get to their ends or found something wrong; the worst of them decides its kind.
pub(crate) fn worst(steps: &[JournalStep]) -> Result<(), Error> {
    let odd: Vec<&JournalStep> = steps.iter().filter(|step| step.exit_code != Some(0)).collect();
    let lines: String = odd.iter().map(|step| format!("\n  {}: {}", step.command, step.end)).collect();
    let text = format!("{} of {} commands did not end well:{lines}", odd.len(), steps.len());
    let has = |code: u8| odd.iter().any(|step| step.exit_code == Some(code));
    match odd.iter().all(|step| step.is_whole()) {
        _ if odd.is_empty() => Ok(()),
        _ if has(4) => Err(Error::WrongResult(text)),
        _ if has(5) => Err(Error::BuildFailed(text)),
        true => Err(Error::Untrusted(text)),
        false => Err(Error::Failed(format!("{text}\nthe same command repeats the incomplete ones"))),
    }
}

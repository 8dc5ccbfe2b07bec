//! `record.json`: the commands of a record, and how each ended. By it a later run knows what is still to be done.

use super::steps::{RecordStep, UNFINISHED};
use crate::error::EXITS;
use crate::prelude::*;
use crate::record::HostFacts;
use crate::shell::joined;
use serde::{Deserialize, Serialize};

/// The file's name in the folder.
pub(crate) const FILE: &str = "record.json";

/// Exit codes of a command that got to its end: rows that are wrong, did not build or cannot be trusted are rows.
const WHOLE: [u8; 4] = [0, 4, 5, 7];

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Journal {
    gpulab: String,
    /// The command that makes the folder.
    command: String,
    platform: String,
    device: String,
    driver: String,
    /// The host's processor and its threads; empty in records of before.
    #[serde(default)]
    host: String,
    steps: Vec<JournalStep>,
    #[serde(skip)]
    folder: PathBuf,
}

/// A command, and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct JournalStep {
    pub(crate) file: String,
    pub(crate) command: String,
    /// When it began: UTC, ISO 8601; none before.
    pub(crate) time_utc: Option<String>,
    pub(crate) took_s: Option<f64>,
    /// None if it did not end by itself.
    pub(crate) exit_code: Option<u8>,
    /// What the exit code means, or what ended it.
    pub(crate) end: String,
}

impl JournalStep {
    fn new(step: &RecordStep) -> JournalStep {
        let command = format!("gpulab {}", joined(&step.words));
        let end = "not run yet".to_owned();
        JournalStep { file: step.file.clone(), command, time_utc: None, took_s: None, exit_code: None, end }
    }

    /// Whether it got to its end.
    pub(crate) fn is_whole(&self) -> bool {
        self.exit_code.is_some_and(|code| WHOLE.contains(&code))
    }

    /// Takes down how it ended: with an exit code, or by a cause.
    pub(crate) fn ended(&mut self, time_utc: String, took_s: f64, how: Result<u8, String>) {
        let meaning = |code: u8| EXITS.iter().find(|exit| exit.code == code).map_or("Unknown.", |exit| exit.means);
        self.end = how.as_ref().map_or_else(Clone::clone, |&code| meaning(code).to_owned());
        (self.time_utc, self.took_s, self.exit_code) = (Some(time_utc), Some(took_s), how.ok());
    }
}

impl Journal {
    /// That of a folder which is new, or which the same command began.
    pub(crate) fn open(
        folder: &Path,
        command: String,
        device: &DeviceInfo,
        steps: &[RecordStep],
    ) -> Result<Journal, Error> {
        let host = HostFacts::here();
        let planned = Journal {
            gpulab: env!("CARGO_PKG_VERSION").to_owned(),
            command,
            platform: device.platform.clone(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            host: format!("{}, {} threads", host.cpu, host.threads.unwrap_or_default()),
            steps: steps.iter().map(JournalStep::new).collect(),
            folder: folder.to_owned(),
        };
        let path = folder.join(FILE);
        if path.exists() {
            return planned.after(&path);
        }
        let mut names = steps.iter().map(|step| step.file.as_str()).chain([super::sheet::FILE, UNFINISHED]);
        if let Some(other) = names.find(|name| folder.join(name).exists()) {
            let place = folder.display();
            return Err(Error::Usage(format!(
                "{place} holds {other}, which gpulab record did not write: give a new folder"
            )));
        }
        Ok(planned)
    }

    /// What an earlier run of the same commands left, to be gone on with.
    fn after(self, path: &Path) -> Result<Journal, Error> {
        let name = path.display();
        let text = files::read_to_string(path).map_err(|e| Error::Failed(format!("cannot read {name}: {e}")))?;
        let mut earlier: Journal = serde_json::from_str(&text)
            .map_err(|e| Error::Usage(format!("{name} is not a record of gpulab ({e}): give a new folder")))?;
        let of = |journal: &Journal| {
            [&journal.platform, &journal.device, &journal.driver, &journal.gpulab].map(String::clone)
        };
        if of(&earlier) != of(&self) {
            let [_, device, driver, gpulab] = of(&earlier);
            let what = format!("{name} is of {device} with driver {driver} by gpulab {gpulab}");
            return Err(Error::Usage(format!("{what}: give another folder")));
        }
        if !earlier.host.is_empty() && earlier.host != self.host {
            return Err(Error::Usage(format!("{name} is of another machine ({}): give another folder", earlier.host)));
        }
        let commands = |journal: &Journal| journal.steps.iter().map(|step| step.command.clone()).collect::<Vec<_>>();
        if commands(&earlier) != commands(&self) {
            let what = format!("{name} was begun with other options: `{}` continues it", earlier.command);
            return Err(Error::Usage(format!("{what}; or give another folder")));
        }
        earlier.folder = self.folder;
        Ok(earlier)
    }

    pub(crate) fn save(&self) -> Result<(), Error> {
        let path = self.folder.join(FILE);
        let failed = Error::unwritten(&path);
        let text = serde_json::to_string_pretty(self).map_err(|e| failed(e.into()))?;
        files::write_whole(&path, format!("{text}\n")).map_err(failed)
    }

    pub(crate) fn steps(&self) -> &[JournalStep] {
        &self.steps
    }

    /// One of them, to take down how it ended.
    pub(crate) fn step(&mut self, place: usize) -> Option<&mut JournalStep> {
        self.steps.get_mut(place)
    }
}

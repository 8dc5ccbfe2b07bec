//! What is kept of devices: a file for each device and driver in the user's folder for data.

use gpulab_model::outcome::DeviceInfo;
use gpulab_model::{Error, Result};
use gpulab_record::files;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What such files hold.
pub trait FileEntry: Clone + Serialize + DeserializeOwned {
    /// The folder of the files, below that for data.
    const FOLDER: &'static str;
    /// What they are, and what to do about a file that cannot be read, in an error's words.
    const WHAT: &'static str;
    const REMEDY: &'static str;

    /// What cannot be, if anything.
    fn fault(&self) -> Option<String>;
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceFile<T> {
    pub platform: String,
    pub device: String,
    pub driver: String,
    #[serde(alias = "ceilings")]
    pub entries: Vec<T>,
}

impl<T: FileEntry> DeviceFile<T> {
    pub fn empty(info: &DeviceInfo) -> DeviceFile<T> {
        DeviceFile {
            platform: info.platform.clone(),
            device: info.name.clone(),
            driver: info.driver.clone(),
            entries: Vec::new(),
        }
    }

    pub fn path(&self, folder: &Path) -> PathBuf {
        let name = files::name_of(&[&self.platform, &self.device, &self.driver]);
        folder.join(T::FOLDER).join(name + ".json")
    }

    pub fn is_of(&self, other: &DeviceFile<T>) -> bool {
        (&self.platform, &self.device, &self.driver)
            == (&other.platform, &other.device, &other.driver)
    }

    /// What is kept of this device with this driver below `folder`, if anything.
    pub fn load(&self, folder: &Path) -> Result<DeviceFile<T>> {
        let path = self.path(folder);
        let found = path.exists().then(|| DeviceFile::read(&path)).transpose()?;
        // Another device may have the same name once it is made fit for a file.
        let own = found.filter(|found| found.is_of(self));
        Ok(own.unwrap_or_else(|| self.without_entries()))
    }

    /// As [`DeviceFile::load`]; a file that cannot be read or is damaged is put aside, so that another can be kept, under its
    /// name with `.bad` behind it. Also why that was done.
    pub fn load_or_put_aside(&self, folder: &Path) -> (DeviceFile<T>, Option<String>) {
        match self.load(folder) {
            Ok(file) => (file, None),
            Err(error) => {
                let aside = files::put_aside(&self.path(folder));
                (self.without_entries(), Some(format!("{error}; {aside}")))
            }
        }
    }

    fn without_entries(&self) -> DeviceFile<T> {
        DeviceFile {
            entries: Vec::new(),
            ..self.clone()
        }
    }

    /// Writes the file below `folder`, which is made if need be: under another name first, so that it is there complete
    /// or not at all.
    pub fn save(&self, folder: &Path) -> Result<PathBuf> {
        let path = self.path(folder);
        files::write_json(&path, self).map_err(Error::unwritten(&path))?;
        Ok(path)
    }

    /// All that is kept below `folder`, by the names of the files; an [`Error::Failed`] for each that cannot be read or is
    /// damaged.
    pub fn all(folder: &Path) -> Vec<Result<DeviceFile<T>>> {
        let paths = files::below_with(&folder.join(T::FOLDER), &["json"]);
        let all = paths.iter().map(|path| DeviceFile::read(path));
        // A search that was broken off at once has left nothing.
        all.filter(|file| !file.as_ref().is_ok_and(|file| file.entries.is_empty()))
            .collect()
    }

    fn read(path: &Path) -> Result<DeviceFile<T>> {
        let file = files::read_json::<DeviceFile<T>>(path).and_then(DeviceFile::checked);
        file.map_err(|why| {
            let why = why.replace(char::is_control, " ");
            let path = path.display();
            Error::Failed(format!(
                "cannot read {} in {path} ({why}){}",
                T::WHAT,
                T::REMEDY
            ))
        })
    }

    /// What a file holds, or what is wrong with it.
    pub(crate) fn checked(self) -> Result<DeviceFile<T>, String> {
        match self.entries.iter().find_map(T::fault) {
            Some(fault) => Err(fault),
            None => Ok(self),
        }
    }
}

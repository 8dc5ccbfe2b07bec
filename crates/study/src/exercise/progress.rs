//! What a student has done so far: kept beside the ceilings, in the user's folder for data.

use gpulab_model::Error;
use gpulab_system::files;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

const FILE: &str = "exercises.json";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub checks: u32,
    pub hints: usize,
    pub passed: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress(BTreeMap<String, Standing>);

impl Progress {
    /// What is kept below `folder`; nothing, and why, if it cannot be read. A damaged file is put aside.
    pub fn load(folder: &Path) -> (Progress, Option<String>) {
        load_file(&folder.join(FILE), "progress")
    }

    pub fn save(&self, folder: &Path) -> Result<(), Error> {
        save_file(self, &folder.join(FILE), "progress")
    }

    pub fn of(&self, name: &str) -> Standing {
        self.0.get(name).cloned().unwrap_or_default()
    }

    pub fn change(&mut self, name: &str) -> &mut Standing {
        self.0.entry(name.to_owned()).or_default()
    }
}

/// What a file keeps; nothing, and why, if it cannot be read. A damaged file is put aside.
pub(super) fn load_file<T: Default + DeserializeOwned>(path: &Path, what: &str) -> (T, Option<String>) {
    if !path.exists() {
        return (T::default(), None);
    }
    let read = files::read_to_string(path).map_err(|e| e.to_string());
    match read.and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string())) {
        Ok(kept) => (kept, None),
        Err(why) => {
            let aside = files::put_aside(path);
            (T::default(), Some(format!("the {what} in {} cannot be read: {why}; {aside}", path.display())))
        }
    }
}

pub(super) fn save_file<T: Serialize>(kept: &T, path: &Path, what: &str) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(kept).map_err(|e| Error::Failed(e.to_string()))?;
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = folder.and_then(|()| files::write_whole(path, text + "\n"));
    written.map_err(|source| Error::Output { what: format!("the {what} to {}", path.display()), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_is_kept_and_a_damaged_file_put_aside() {
        let folder = tempfile::tempdir().unwrap();
        let (mut progress, why) = Progress::load(folder.path());
        assert!(why.is_none());
        progress.change("banks").passed = true;
        progress.save(&folder.path().join("new")).unwrap();
        assert!(Progress::load(&folder.path().join("new")).0.of("banks").passed);
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        let (progress, why) = Progress::load(folder.path());
        assert!(!progress.of("banks").passed && why.unwrap().contains(".bad"));
        assert!(Progress::load(folder.path()).1.is_none());
    }
}

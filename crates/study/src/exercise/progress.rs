//! What a student has done so far: kept beside the ceilings, in the user's folder for data.

use gpulab_model::Error;
use gpulab_system::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The file in the folder for data.
const FILE: &str = "exercises.json";

/// How far an exercise has come.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    pub checks: u32,
    pub hints: usize,
    /// Whether a check was passed.
    pub passed: bool,
}

/// The standing of each exercise that was begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress(BTreeMap<String, Standing>);

impl Progress {
    /// What is kept below `folder`; nothing, and why, if it cannot be read. A damaged file is put aside.
    pub fn load(folder: &Path) -> (Progress, Option<String>) {
        let path = path(folder);
        if !path.exists() {
            return (Progress::default(), None);
        }
        let read = files::read_to_string(&path).map_err(|e| e.to_string());
        match read.and_then(|text| serde_json::from_str(&text).map_err(|e| e.to_string())) {
            Ok(progress) => (progress, None),
            Err(why) => {
                let aside = files::put_aside(&path);
                (
                    Progress::default(),
                    Some(format!("the progress in {} cannot be read: {why}; {aside}", path.display())),
                )
            }
        }
    }

    /// Keeps it below `folder`.
    pub fn save(&self, folder: &Path) -> Result<(), Error> {
        let path = path(folder);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::Failed(e.to_string()))?;
        let written = std::fs::create_dir_all(folder).and_then(|()| files::write_whole(&path, text + "\n"));
        written.map_err(|source| Error::Output { what: format!("the progress to {}", path.display()), source })
    }

    pub fn of(&self, name: &str) -> Standing {
        self.0.get(name).cloned().unwrap_or_default()
    }

    pub fn change(&mut self, name: &str) -> &mut Standing {
        self.0.entry(name.to_owned()).or_default()
    }
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
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

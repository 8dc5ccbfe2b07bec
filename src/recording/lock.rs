//! That no two records work in one folder.

use crate::prelude::*;

/// That no other record works in a folder at the same time.
pub(crate) struct FolderLock {
    path: PathBuf,
    file: fs::File,
}

impl FolderLock {
    /// Makes the folder, and waits for nobody.
    pub(crate) fn take(folder: &Path) -> Result<FolderLock, Error> {
        let path = folder.join(".lock");
        let unwritten = Error::unwritten(&path);
        fs::create_dir_all(folder).map_err(unwritten)?;
        // Links and pipes may have the name of any file that a record writes.
        for written in files::below(folder) {
            files::check_output(&written).map_err(Error::unwritten(&written))?;
        }
        // What somebody else's file of this name holds stays.
        let file = fs::File::options().append(true).create(true).open(&path).map_err(unwritten)?;
        if files::lock(&file) {
            return Ok(FolderLock { path, file });
        }
        let why = "another gpulab record is using it: wait for it, or give another folder";
        Err(Error::Usage(format!("{}: {why}", folder.display())))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        if self.file.metadata().is_ok_and(|m| m.len() == 0) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

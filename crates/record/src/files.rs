//! Files: reading none that never ends, writing whole ones, and which paths lead to the same one.

use gpulab_model::Joined;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File, Metadata};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The bytes of a regular file.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A regular file, to be read piece by piece.
/// Refuses what is no regular file: a pipe or a device may never end.
pub fn open(path: &Path) -> io::Result<BufReader<File>> {
    let kind = fs::metadata(path)?.file_type();
    // Reading a folder fails in the system's words.
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::other(
            "it is not a regular file; copy its contents to one",
        ));
    }
    let mut file = BufReader::new(File::open(path)?);
    file.fill_buf()?;
    Ok(file)
}

/// The text of a regular file.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// Refuses an output where no regular file is or could be made: a pipe and a device may wait for ever, and a link to nothing
/// makes a file that nobody named.
pub fn check_output(path: &Path) -> io::Result<()> {
    const STREAMS: [&str; 3] = ["/dev/null", "/dev/full", "/dev/stdout"];
    let why = match fs::metadata(path) {
        Ok(found)
            if !found.is_file()
                && !found.is_dir()
                && STREAMS.iter().all(|one| path != Path::new(one)) =>
        {
            "it is a pipe or a device: give a file, or - for standard output"
        }
        Err(_) if path.is_symlink() => {
            "it is a link to nothing: give the file itself, or remove the link"
        }
        _ => return Ok(()),
    };
    Err(io::Error::other(why))
}

/// Writes a whole file, in a folder that is made if need be: under another name first and onto its disk, so that it is
/// there complete or not at all.
/// On an error the file stays as it was.
pub fn write_whole(path: &Path, text: impl AsRef<[u8]>) -> io::Result<()> {
    let unfinished = beside(path);
    let write = || {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        let mut file = File::create(&unfinished)?;
        file.write_all(text.as_ref())
            .and_then(|()| file.sync_all())?;
        fs::rename(&unfinished, path)
    };
    // What is left of a failure is of no use.
    write().inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

/// Writes a value as JSON, as [`write_whole`] does.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    write_whole(path, serde_json::to_string_pretty(value)? + "\n")
}

/// The value in a file of JSON; why there is none.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<T, String> {
    let text = read_to_string(path).map_err(|e| e.to_string())?;
    serde_json::from_str(&text).map_err(|e| e.to_string())
}

/// Where a file is made that is to take the place of another one.
pub fn beside(path: &Path) -> PathBuf {
    path.with_extension(format!("{}.part", std::process::id()))
}

/// A folder of this process alone among those for what is temporary, which goes with it.
pub struct ScratchFolder(PathBuf);

impl ScratchFolder {
    const NAME: &str = "gpulab-reference-";

    pub fn new() -> io::Result<ScratchFolder> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = COUNT.fetch_add(1, Ordering::Relaxed);
            let path =
                std::env::temp_dir().join(format!("{}{}-{number}", Self::NAME, std::process::id()));
            match fs::create_dir(&path) {
                // Left by an earlier process of this number, or somebody else's.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return made.map(|()| ScratchFolder(path)),
            }
        }
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Removes a folder if it is such a one, made by another process.
    pub fn remove_of(path: &Path) {
        if path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with(Self::NAME))
        {
            drop(fs::remove_dir_all(path));
        }
    }
}

impl Drop for ScratchFolder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Locks a file until it is closed, unless another process has it locked: whether it could. Some network file systems have no
/// locks; that is no reason not to write.
pub fn lock(file: &File) -> bool {
    !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
}

/// Gives a damaged file the ending `.bad`, so that a new one can take its place; says what became of it.
pub fn put_aside(path: &Path) -> String {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".bad");
    match fs::rename(path, &aside) {
        Ok(()) => format!("it is now {}", Path::new(&aside).display()),
        Err(error) => format!("it cannot be renamed: {error}"),
    }
}

/// A file's name made of texts: small letters, digits, dots and dashes, at most 60 of each.
pub fn name_of(texts: &[&str]) -> String {
    texts.iter().map(|text| fit(text)).joined("_")
}

fn fit(text: &str) -> String {
    let mut fit = String::new();
    for c in text.chars().flat_map(char::to_lowercase).take(60) {
        match c {
            'a'..='z' | '0'..='9' | '.' => fit.push(c),
            _ if !fit.ends_with('-') => fit.push('-'),
            _ => {}
        }
    }
    fit.trim_matches(['-', '.']).to_owned()
}

/// What tells a regular file from all others, whatever path leads to it: a link of either kind, or, where the system
/// cares for no case, other letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    device: u64,
    number: u64,
}

impl FileIdentity {
    /// Of the regular file at a path, if there is one.
    pub fn of(path: &Path) -> Option<FileIdentity> {
        FileIdentity::new(&fs::metadata(path).ok()?)
    }

    /// Of an open file, if it is a regular one.
    pub fn of_open(file: &File) -> Option<FileIdentity> {
        FileIdentity::new(&file.metadata().ok()?)
    }

    /// Of the file that writing to a path would make, where there is none yet: its folder and its name.
    pub fn place(path: &Path) -> Option<PathBuf> {
        if path.exists() {
            return None;
        }
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
    }

    fn new(metadata: &Metadata) -> Option<FileIdentity> {
        metadata.is_file().then(|| FileIdentity {
            device: metadata.dev(),
            number: metadata.ino(),
        })
    }
}

/// Most files of a folder that are looked at.
const MOST_FILES: usize = 10_000;

pub fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.filter_map(Result::ok) {
            // A link to a folder may lead round in a circle.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                _ => files.push(entry.path()),
            }
        }
        if files.len() > MOST_FILES {
            break;
        }
    }
    files
}

/// Those of them whose names end so, as in `csv`, in order.
pub fn below_with(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut files = below(folder);
    files.retain(|path| {
        let ending = path.extension().unwrap_or_default();
        endings.iter().any(|meant| ending == *meant)
    });
    files.sort();
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_to_a_file_is_known() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("a"), "1").unwrap();
        fs::write(at("b"), "1").unwrap();
        fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("a"), at("folder/soft")).unwrap();
        fs::hard_link(at("a"), at("hard")).unwrap();
        let a = FileIdentity::of(&at("a"));
        for same in ["hard", "folder/soft", "folder/../a"] {
            assert_eq!(FileIdentity::of(&at(same)), a, "{same}");
        }
        assert_eq!(FileIdentity::of_open(&File::open(at("hard")).unwrap()), a);
        assert!(a.is_some() && FileIdentity::of(&at("b")) != a);
        assert_eq!(
            (
                FileIdentity::of(&at("none")),
                FileIdentity::of(&at("folder"))
            ),
            (None, None)
        );
        let mut found = below(dir.path());
        found.sort();
        assert_eq!(found, [at("a"), at("b"), at("folder/soft"), at("hard")]);
    }

    #[test]
    fn a_scratch_folder_goes_with_all_it_holds() {
        let made = ScratchFolder::new().unwrap();
        let path = made.path().to_owned();
        fs::write(path.join("x"), "1").unwrap();
        drop(made);
        assert!(!path.exists());
        let other = tempfile::tempdir().unwrap();
        ScratchFolder::remove_of(other.path());
        assert!(other.path().exists());
    }

    #[test]
    fn what_may_never_end_is_not_read() {
        assert!(
            read(Path::new("/dev/zero"))
                .unwrap_err()
                .to_string()
                .contains("not a regular file")
        );
        let dir = tempfile::tempdir().unwrap();
        assert!(read(dir.path()).is_err());
        fs::write(dir.path().join("x"), [255]).unwrap();
        assert!(
            read_to_string(&dir.path().join("x"))
                .unwrap_err()
                .to_string()
                .contains("UTF-8")
        );
    }
}

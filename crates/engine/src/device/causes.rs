//! Why there is no device, where the driver itself does not say: what can be told from outside.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// In the name of PoCL's platform.
pub const POCL: &str = "Portable Computing";

/// Where distributions put libclc, and the files of it of which Mesa needs one.
const LIBCLC_FOLDERS: [&str; 4] = ["/usr/lib/clc", "/usr/share/clc", "/usr/lib64/clc", "/usr/local/share/clc"];
const LIBCLC_FILES: [&str; 2] = ["spirv64-mesa3d-.spv", "spirv-mesa3d-.spv"];

/// Why a platform of this name lists no devices, if that can be told.
pub(super) fn of_no_devices(platform: &str) -> Option<String> {
    if platform.contains(POCL) {
        return pocl_cache_problem();
    }
    if platform.to_lowercase().contains("rusticl") {
        return rusticl_problem(env::var("RUSTICL_ENABLE").ok().as_deref(), &LIBCLC_FOLDERS.map(Path::new));
    }
    None
}

/// What keeps PoCL from its cache, without which it has no devices or builds nothing, and does not say so.
pub(super) fn pocl_cache_problem() -> Option<String> {
    let folder = pocl_cache()?;
    let problem =
        || format!("its cache folder {} is not writable: set POCL_CACHE_DIR to one that is", folder.display());
    (!is_writable(&folder)).then(problem)
}

/// The folder that PoCL keeps compiled kernels in.
pub fn pocl_cache() -> Option<PathBuf> {
    let folder = |name| env::var_os(name).filter(|v: &OsString| !v.is_empty()).map(PathBuf::from);
    folder("POCL_CACHE_DIR")
        .or_else(|| folder("XDG_CACHE_HOME").map(|f| f.join("pocl")))
        .or_else(|| folder("HOME").map(|f| f.join(".cache/pocl")))
}

/// Whether a file can be made in the folder, or in what is there of the path to it.
pub fn is_writable(folder: &Path) -> bool {
    let there = folder.ancestors().map(|f| if f.as_os_str().is_empty() { Path::new(".") } else { f });
    // What is there but no folder can hold nothing.
    let Some(existing) = there.into_iter().find(|f| f.symlink_metadata().is_ok()) else { return false };
    let test = existing.join(format!(".gpulab-doctor-{}", std::process::id()));
    let made = fs::write(&test, b"").is_ok();
    made && fs::remove_file(&test).is_ok()
}

fn rusticl_problem(enabled: Option<&str>, folders: &[&Path]) -> Option<String> {
    let enabled = enabled.filter(|drivers| !drivers.is_empty())?;
    let has_libclc = folders.iter().any(|folder| LIBCLC_FILES.iter().any(|file| folder.join(file).is_file()));
    Some(match has_libclc {
        false => {
            "libclc is missing, without which Mesa compiles no kernel: install libclc (Debian and Ubuntu: libclc-15 \
                  or whichever version of LLVM Mesa was built with; Fedora and Arch: libclc)"
                .to_owned()
        }
        true => format!("RUSTICL_ENABLE={enabled} names no driver of Mesa that finds its hardware here"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_do_not_exist_yet_are_judged_by_the_one_above() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_writable(&folder.path().join("a/b/c")));
        assert!(!is_writable(Path::new("/proc/none")));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the test leaves nothing behind");
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        assert!(!is_writable(&file) && !is_writable(&file.join("below")), "a file is no folder");
    }

    #[test]
    fn rusticl_without_libclc_is_told_from_rusticl_without_a_driver() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path()];
        assert_eq!(rusticl_problem(None, &folders), None);
        assert_eq!(rusticl_problem(Some(""), &folders), None);
        assert!(rusticl_problem(Some("llvmpipe"), &folders).unwrap().starts_with("libclc is missing"));
        fs::write(folder.path().join(LIBCLC_FILES[1]), b"").unwrap();
        assert!(rusticl_problem(Some("iris"), &folders).unwrap().contains("RUSTICL_ENABLE=iris"));
    }
}

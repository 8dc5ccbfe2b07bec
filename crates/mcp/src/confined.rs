//! What tools may read and write.

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::{env, fs};

pub struct Folders {
    /// The one that clients work in.
    pub own: PathBuf,
    /// For caches and passing files, in gpulab's folder for data.
    pub scratch: PathBuf,
    pub gpulab: PathBuf,
    /// What holds tools to the folder, for clients.
    pub confinement: &'static str,
}

impl Folders {
    /// Holds this process and what it starts to this folder, to gpulab's folder for data and to reading the system, where
    /// the system can: Linux from 5.13. It must run before there are other threads.
    pub fn confine(own: OsString) -> Result<Folders, Box<dyn Error>> {
        let named = |name| env::var_os(name).filter(|value| !value.is_empty());
        let share = env::home_dir().unwrap_or_default().join(".local/share");
        let share = named("XDG_DATA_HOME").map_or(share, PathBuf::from);
        let data = named("GPULAB_DATA").map_or(share.join("gpulab"), PathBuf::from);
        let scratch = data.join("mcp");
        fs::create_dir_all(&scratch)?;
        let mut folders = Folders {
            own: PathBuf::from(own).canonicalize()?,
            scratch,
            gpulab: env::current_exe()?.with_file_name("gpulab"),
            confinement: "Paths must be below the server's folder. The system does not hold kernels to it.",
        };
        #[cfg(target_os = "linux")]
        if folders.restrict(data)? {
            folders.confinement =
                "Paths must be below the server's folder; the system holds kernels to it, too.";
        }
        Ok(folders)
    }

    /// Says whether the system does it.
    #[cfg(target_os = "linux")]
    fn restrict(&self, data: PathBuf) -> Result<bool, landlock::RulesetError> {
        use landlock::{
            ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus,
            path_beneath_rules,
        };
        const SYSTEM: &str =
            "/bin:/etc:/lib:/lib64:/nix/store:/opt:/proc:/run:/sbin:/sys:/usr:/var/lib";
        let mut read: Vec<PathBuf> = env::split_paths(SYSTEM).collect();
        read.push(self.gpulab.clone());
        // Where programs, drivers and Python's packages may be, too.
        let named = ["PATH", "LD_LIBRARY_PATH", "OCL_ICD_VENDORS"].map(env::var_os);
        for paths in named.iter().flatten() {
            for folder in env::split_paths(paths) {
                let python = folder.join("python3").canonicalize();
                let python = python.unwrap_or_default();
                read.extend([folder.join("../lib"), folder.join("../pyvenv.cfg")]);
                read.extend([folder, python.with_file_name("../lib"), python]);
            }
        }
        // Relative ones would depend on where the server starts.
        read.retain(|path| path.is_absolute());
        let write = [self.own.clone(), data, PathBuf::from("/dev")];
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V3))?
            .create()?
            .add_rules(path_beneath_rules(read, AccessFs::from_read(ABI::V3)))?
            .add_rules(path_beneath_rules(write, AccessFs::from_all(ABI::V3)))?
            .restrict_self()?;
        Ok(status.ruleset != RulesetStatus::NotEnforced)
    }

    /// An argument as it stands, if it is no option, and what it may name is below the folder: of a pattern, or of a file
    /// that does not exist, the folder counts.
    pub fn inside(&self, argument: &str) -> Result<String, String> {
        let fixed = argument.split(['*', '?', '[']).next().unwrap_or_default();
        let path = self.own.join(fixed);
        let real = path.canonicalize().or_else(|why| match path.parent() {
            Some(parent) if path.file_name().is_some() => parent.canonicalize(),
            _ => Err(why),
        });
        let is_below = real.is_ok_and(|real| real.starts_with(&self.own));
        if !is_below || argument[fixed.len()..].contains("..") || argument.starts_with('-') {
            let own = self.own.display();
            return Err(format!(
                "{argument}: refused: name what is below {own}, and no option"
            ));
        }
        Ok(argument.to_owned())
    }
}

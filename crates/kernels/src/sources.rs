//! Where kernels come from: files, and the definitions that a source mentions.

use super::transpose::{REPEAT_MACROS, looped};
use super::{Rung, assemble, assemble_rung, embedded};
use gpulab_model::outcome::Stop;
use gpulab_model::plan::Plan;
use gpulab_system::files;
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A folder laid out like `cl/`, before the sources built into the binary; `None` for these alone.
    pub dir: Option<PathBuf>,
}

impl Sources {
    /// The text of a kernel file with its fragments.
    pub fn assemble(&self, path: &str) -> Result<String, Stop> {
        assemble(path, &|path| self.lookup(path)).map(|a| a.text).map_err(|missing| self.unreadable(&missing))
    }

    /// The text that a rung is built from; a reader's kernel is as it was brought.
    pub fn assemble_rung(&self, rung: &Rung) -> Result<String, Stop> {
        let own = |path: &str| rung.own_text().filter(|_| path == rung.path).map(Cow::Borrowed);
        let assembled = assemble_rung(rung, &|path| own(path).or_else(|| self.lookup(path)));
        assembled.map(|a| a.text).map_err(|missing| self.unreadable(&missing))
    }

    /// As [`Sources::assemble_rung`], for this plan, which may want the kernel's work repeated.
    pub fn for_plan(&self, rung: &Rung, plan: &Plan) -> Result<String, Stop> {
        let text = self.assemble_rung(rung)?;
        let repeats = rung.before.contains(&REPEAT_MACROS) && plan.defines.iter().any(|(name, _)| name == "NREPS");
        Ok(if repeats { looped(&text, &rung.kernel()).unwrap_or(text) } else { text })
    }

    /// The text of a kernel file as it is. None of another file, which a kernel may name as well as its own.
    pub fn read(&self, path: &str) -> Result<String, Stop> {
        let is_kernel =
            path.ends_with(".cl") && Path::new(path).components().all(|c| matches!(c, Component::Normal(_)));
        let text = if is_kernel { self.lookup(path) } else { None };
        text.map(Cow::into_owned).ok_or_else(|| self.unreadable(path))
    }

    fn lookup(&self, path: &str) -> Option<Cow<'static, str>> {
        match &self.dir {
            // What the folder lacks is built in; what it has and nobody can read is missing.
            Some(dir) if dir.join(path).exists() => files::read_to_string(&dir.join(path)).ok().map(Cow::Owned),
            _ => embedded(path),
        }
    }

    fn unreadable(&self, missing: &str) -> Stop {
        let place = self.dir.as_ref().map_or("the binary".into(), |d| d.display().to_string());
        Stop::failed(format!("no readable kernel source {missing} in {place}"))
    }
}

/// The definitions that a source mentions, or the value of one of these: the others would only make it another program to
/// compile.
pub fn used_defines(defines: &[(String, String)], text: &str) -> Vec<(String, String)> {
    let parted = |text| str::split(text, |c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut words: HashSet<&str> = parted(text).collect();
    let values: Vec<&str> =
        defines.iter().filter(|(name, _)| words.contains(name.as_str())).map(|d| d.1.as_str()).collect();
    words.extend(values.into_iter().flat_map(parted));
    defines.iter().filter(|(name, _)| words.contains(name.as_str())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_that_the_source_mentions_are_passed() {
        let define = |name: &str| (name.to_owned(), "1".to_owned());
        let text = "#ifdef USE_MAD\n__local T sums[WG];";
        let used = used_defines(&[define("T"), define("WG"), define("USE_MAD"), define("USE"), define("ACC")], text);
        assert_eq!(used, [define("T"), define("WG"), define("USE_MAD")]);
        let real = ("REAL".to_owned(), "T".to_owned());
        assert_eq!(used_defines(&[define("T"), define("WG"), real.clone()], "REAL sum;"), [define("T"), real]);
    }
}

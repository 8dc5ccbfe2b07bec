//! The rounds of configurations that have no row yet, in a file beside the rows: what a sweep that is killed need not
//! measure again.

use gpulab_model::Error;
use gpulab_model::outcome::Outcome;
use gpulab_system::files;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

/// The file of rounds beside a file of rows, made by the first note.
pub struct Rounds {
    path: PathBuf,
    key: String,
    file: Option<File>,
}

/// What rounds gave of a configuration, pooled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    pub rounds: u32,
    pub outcome: Outcome,
    /// Seconds that their samples were taken for at most.
    #[serde(default)]
    pub sampled: f64,
}

#[derive(Serialize, Deserialize)]
struct PoolLine {
    index: u64,
    pool: Pool,
}

/// How every key begins.
const MARK: &str = "gpulab rounds of ";

impl Rounds {
    pub fn beside(rows: &str, key: &str) -> Rounds {
        Rounds { path: Rounds::path(rows).into(), key: format!("{MARK}{key}"), file: None }
    }

    /// Where the rounds are noted of a file of rows.
    pub fn path(rows: &str) -> String {
        format!("{rows}.rounds")
    }

    /// Whether a file begins as one of rounds.
    pub fn is_ours(head: &str) -> bool {
        head.starts_with(MARK)
    }

    /// What the file holds, by places in the plan, if it was begun with the same key. A line that is torn or damaged
    /// counts as none.
    pub fn read(&self) -> BTreeMap<u64, Pool> {
        // Without the file the rounds are measured again.
        let text = files::read(&self.path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mut lines = text.lines();
        if lines.next() != Some(&self.key) {
            return BTreeMap::new();
        }
        let parsed = lines.filter_map(|line| serde_json::from_str::<PoolLine>(line).ok());
        parsed.map(|line| (line.index, line.pool)).collect()
    }

    /// Adds what is known of a configuration now, in place of what was.
    pub fn note(&mut self, index: u64, pool: &Pool) -> Result<(), Error> {
        let noted = serde_json::to_string(&PoolLine { index, pool: pool.clone() }).map_err(io::Error::from);
        let noted = noted.and_then(|line| self.open()?.write_all(format!("{line}\n").as_bytes()));
        noted.map_err(|source| Error::Output { what: self.path.display().to_string(), source })
    }

    fn open(&mut self) -> io::Result<&mut File> {
        let file = match self.file.take() {
            Some(file) => file,
            None => {
                let held = if self.path.exists() { files::read(&self.path)? } else { Vec::new() };
                if !held.is_empty() && !held.starts_with(MARK.as_bytes()) {
                    return Err(io::Error::other("it exists and is not gpulab's"));
                }
                let is_ours = held.split(|byte| *byte == b'\n').next() == Some(self.key.as_bytes());
                let mut options = File::options();
                let options = if is_ours { options.append(true) } else { options.write(true).truncate(true) };
                let mut file = options.create(true).open(&self.path)?;
                // The last line of ours may be torn.
                file.write_all(if is_ours { "\n".to_owned() } else { format!("{}\n", self.key) }.as_bytes())?;
                file
            }
        };
        Ok(self.file.insert(file))
    }

    /// Removes the file: every configuration that was begun has its row.
    pub fn settle(&mut self) {
        if self.file.take().is_some() || !self.read().is_empty() {
            // What stays is of no use to another sweep, and does no harm.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::data::{Dtype, Shape};
    use gpulab_model::outcome::{Clock, Judged, Measured, Sample};
    use gpulab_model::plan::{Case, WorkGroup};

    fn pool(rounds: u32, times: &[f64]) -> Pool {
        let case = Case { wg: WorkGroup::linear(64), ..Case::of("dot", "naive", Dtype::F32, Shape::vector(9)) };
        let samples = times.iter().map(|&wall| Sample { event: Some(wall / 2.0), wall }).collect();
        let measured = Measured { samples, ..Measured::of(Judged::equal(), Clock::Event) };
        let outcome = Outcome::pending(&case, Clock::Event).ended(Ok(measured));
        Pool { rounds, outcome, sampled: 0.25 }
    }

    #[test]
    fn what_was_noted_last_comes_back_to_the_same_sweep_only() {
        let dir = tempfile::tempdir().unwrap();
        let rows = dir.path().join("rows.csv").to_str().unwrap().to_owned();
        let path = dir.path().join("rows.csv.rounds");
        let mut first = Rounds::beside(&rows, "a");
        first.settle();
        assert!(!path.exists(), "nothing was noted");
        for (index, pool) in [(3, pool(1, &[0.5])), (7, pool(1, &[0.25])), (3, pool(2, &[0.5, 0.125]))] {
            first.note(index, &pool).unwrap();
        }
        // Torn by a kill.
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() - 9]).unwrap();
        let mut second = Rounds::beside(&rows, "a");
        assert_eq!(second.read(), BTreeMap::from([(3, pool(1, &[0.5])), (7, pool(1, &[0.25]))]));
        second.note(3, &pool(2, &[0.5, 2.0])).unwrap();
        assert_eq!(Rounds::beside(&rows, "a").read()[&3], pool(2, &[0.5, 2.0]));
        assert!(Rounds::beside(&rows, "b").read().is_empty());
        second.settle();
        assert!(!path.exists());
        // Another's file is not touched.
        std::fs::write(&path, "mine\n").unwrap();
        assert_eq!(Rounds::beside(&rows, "a").note(1, &pool(1, &[])).map_err(|e| e.exit_code()), Err(74));
        Rounds::beside(&rows, "a").settle();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine\n");
    }
}

//! The file that keeps counts: the same bytes on every machine, a record a line, without paths and dates.

use super::super::CountRow;
use super::GAUGES;
use gpulab_model::outcome::Status;
use gpulab_record::params_text;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

const VERSION: u32 = 1;

/// Counts by name, without zeros.
type NamedCounts = BTreeMap<String, u64>;

/// What a file of counts holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptCounts {
    gpulab_counts: u32,
    /// As in `Oclgrind 21.10`.
    pub simulator: String,
    pub machine: String,
    pub launches: Vec<KeptLaunch>,
    /// By case, launch, file and line.
    pub lines: Vec<KeptLine>,
    /// The text of the files with counted lines.
    pub sources: BTreeMap<String, Vec<String>>,
    /// Cases that were to be counted, and were not.
    #[serde(skip)]
    pub stopped: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptLaunch {
    /// Family, kernel, type and size; of a host program the kernel.
    pub case: String,
    /// From 1, of those that are timed.
    pub launch: u64,
    pub kernel: String,
    /// The work-group and the settings used.
    pub settings: String,
    pub counts: NamedCounts,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptLine {
    pub case: String,
    pub launch: u64,
    pub file: String,
    pub line: u64,
    pub counts: NamedCounts,
}

impl KeptCounts {
    /// Keeps the counts of what a ladder would time; `source` gives a file's lines.
    pub fn of(rows: &[CountRow], source: &dyn Fn(&str) -> Vec<String>) -> KeptCounts {
        let first = rows.first().cloned().unwrap_or_default();
        let mut kept = KeptCounts {
            gpulab_counts: VERSION,
            simulator: first.simulator.clone(),
            machine: machine(&first),
            launches: Vec::new(),
            lines: Vec::new(),
            sources: BTreeMap::new(),
            stopped: rows.iter().filter(|row| row.status != Status::Ok).map(case_of).collect(),
        };
        for row in rows.iter().filter(|row| row.status == Status::Ok && row.timed == Some(true)) {
            let case = case_of(row);
            let launch = row.launch.unwrap_or_default();
            let counts = counts_of(row);
            match row.line {
                None => {
                    let settings = settings(row);
                    kept.launches.push(KeptLaunch { case, launch, kernel: row.kernel.clone(), settings, counts });
                }
                // What no count has is nothing to compare.
                Some(line) if !counts.is_empty() => {
                    kept.sources.entry(row.file.clone()).or_insert_with(|| source(&row.file));
                    kept.lines.push(KeptLine { case, launch, file: row.file.clone(), line, counts });
                }
                Some(_) => {}
            }
        }
        kept.sources.retain(|_, lines| !lines.is_empty());
        kept.launches.sort_by(|a, b| (&a.case, a.launch).cmp(&(&b.case, b.launch)));
        kept.lines.sort_by(|a, b| (&a.case, a.launch, &a.file, a.line).cmp(&(&b.case, b.launch, &b.file, b.line)));
        kept
    }

    pub fn text(&self) -> Result<String, serde_json::Error> {
        let sources: Result<Vec<String>, _> = self
            .sources
            .iter()
            .map(|(file, lines)| Ok(format!("{}: [\n{}\n]", serde_json::to_string(file)?, records(lines)?)))
            .collect();
        let [simulator, machine] = [serde_json::to_string(&self.simulator)?, serde_json::to_string(&self.machine)?];
        Ok(format!(
            "{{\n\"gpulab_counts\": {},\n\"simulator\": {simulator},\n\"machine\": {machine},\n\"launches\": [\n{}\n],\n\
             \"lines\": [\n{}\n],\n\"sources\": {{\n{}\n}}\n}}\n",
            self.gpulab_counts,
            records(&self.launches)?,
            records(&self.lines)?,
            sources?.join(",\n")
        ))
    }

    /// Reads a file's text; or what is wrong with it.
    pub fn parse(text: &str) -> Result<KeptCounts, String> {
        let kept: KeptCounts = serde_json::from_str(text)
            .map_err(|error| format!("it holds no counts, as gpulab count --save writes them ({error})"))?;
        if kept.gpulab_counts != VERSION {
            let version = kept.gpulab_counts;
            return Err(format!("it has version {version}, not {VERSION}: write it anew with --save"));
        }
        Ok(kept)
    }

    /// Each case once.
    pub fn cases(&self) -> Vec<&str> {
        let mut cases: Vec<&str> = self.launches.iter().map(|launch| launch.case.as_str()).collect();
        cases.dedup();
        cases
    }
}

/// A record a line.
fn records<T: Serialize>(all: &[T]) -> Result<String, serde_json::Error> {
    let lines: Result<Vec<String>, _> = all.iter().map(serde_json::to_string).collect();
    Ok(lines?.join(",\n"))
}

fn counts_of(row: &CountRow) -> NamedCounts {
    let named = GAUGES.iter().map(|gauge| (gauge.name.to_owned(), (gauge.of)(row).unwrap_or(0)));
    named.filter(|(_, count)| *count > 0).collect()
}

/// What is counted, without what an edit of the kernel may change.
fn case_of(row: &CountRow) -> String {
    if row.is_of_program() {
        return row.kernel.clone();
    }
    let CountRow { family, variant, dtype, n, m, series, x, seed, .. } = row;
    let size = if *m == 1 { n.to_string() } else { format!("{n}x{m}") };
    let trial = x.map_or_else(String::new, |x| format!(" {series}={x}"));
    let seed = if *seed == 1 { String::new() } else { format!(" seed={seed}") };
    format!("{family}/{variant} {dtype} n={size}{trial}{seed}")
}

fn settings(row: &CountRow) -> String {
    let rest = match row.launches {
        Some(launches) if row.is_of_program() => format!("launches={launches}"),
        _ => params_text(&row.params),
    };
    format!("wg={} {rest}", row.wg).trim_end().to_owned()
}

fn machine(row: &CountRow) -> String {
    let CountRow { warp, segment, banks, partitions, machine, .. } = row;
    let partitions = partitions.map_or_else(String::new, |n| format!(" partitions={n}"));
    format!("{machine} warp={warp} segment={segment} banks={banks}{partitions}").trim_start().to_owned()
}

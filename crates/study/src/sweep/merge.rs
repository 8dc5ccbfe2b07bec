//! Joins the files of a sweep's shards.

use super::identity::{device, different_words};
use gpulab_record::Row;
use gpulab_record::groups::distinct;
use gpulab_record::store::Rows;
use gpulab_system::text::Joined;
use std::collections::{BTreeMap, BTreeSet};

const LISTED: usize = 5;

/// The rows of all files, in the plan's order, if together they are one whole sweep.
pub fn merge(files: Vec<(String, Rows)>) -> Result<Vec<Row>, String> {
    let mut all: BTreeMap<u64, (Row, String)> = BTreeMap::new();
    let mut first: Option<(Row, String)> = None;
    for (name, file) in files {
        if let Some(torn) = file.torn {
            return Err(format!("{torn}: finish it with gpulab sweep --resume"));
        }
        for row in file.rows {
            let Some(index) = row.case_index.filter(|_| !row.sweep_id.is_empty()) else {
                return Err(format!("{name} has rows without a sweep"));
            };
            if row.cases.is_none_or(|cases| index >= cases) {
                return Err(format!("{name} has configuration {index} of a sweep that has {}", row.cases.unwrap_or(0)));
            }
            let (model, origin) = first.get_or_insert_with(|| (row.clone(), name.clone()));
            if let Some(difference) = difference(model, &row) {
                return Err(format!("{origin} and {name} differ: {difference}"));
            }
            if let Some((_, other)) = all.insert(index, (row, name.clone())) {
                return Err(format!("configuration {index} is in {other} and again in {name}"));
            }
        }
    }
    let rows: Vec<Row> = all.into_values().map(|(row, _)| row).collect();
    match missing(&rows) {
        Some(what) => Err(what),
        None => Ok(rows),
    }
}

/// Times the canary's fastest reading of the fastest run from which on a run's rows are not compared with others'.
const SLOWER: f64 = 1.2;

/// A line if the canary says that some runs had a slower device than others, by which their rows differ.
pub fn slower(rows: &[Row]) -> Option<String> {
    let mut runs: BTreeMap<&str, (f64, BTreeSet<&str>)> = BTreeMap::new();
    for row in rows {
        if let Some(seconds) = row.t_canary_s {
            let (fastest, shards) = runs.entry(&row.run_id).or_insert((f64::INFINITY, BTreeSet::new()));
            *fastest = fastest.min(seconds);
            shards.insert(&row.shard);
        }
    }
    let best = runs.values().map(|(seconds, _)| *seconds).reduce(f64::min)?;
    let slow = runs.values().filter(|(seconds, _)| *seconds > SLOWER * best);
    let most = slow.clone().map(|(seconds, _)| seconds / best).reduce(f64::max)?;
    let shards = slow.flat_map(|(_, shards)| shards).copied().collect::<BTreeSet<_>>();
    let shards = shards.into_iter().joined(", ");
    Some(format!(
        "shards {shards} had a device up to {most:.1} times slower, by the canary: compare only rows of one shard"
    ))
}

fn difference(a: &Row, b: &Row) -> Option<String> {
    let shards = |row: &Row| row.shard.split_once('/').map(|(_, of)| of.to_owned());
    let a_device = device(a);
    let b_device = device(b);
    let (a_settings, b_settings) = different_words(&a.settings, &b.settings);
    let of = |row: &Row| shards(row).map_or("one piece".to_owned(), |of| format!("{of} shards"));
    let a_of = of(a);
    let b_of = of(b);
    let parts = [
        ("gpulab's version", a.gpulab.as_str(), b.gpulab.as_str()),
        ("the device", a_device.as_str(), b_device.as_str()),
        ("the driver", &a.driver, &b.driver),
        ("the settings", &a_settings, &b_settings),
        ("the division", &a_of, &b_of),
        ("the sweep", &a.sweep_id, &b.sweep_id),
    ];
    parts.iter().find(|(_, a, b)| a != b).map(|(what, a, b)| format!("{what} is {a} in one and {b} in the other"))
}

/// What a whole sweep has beside these rows.
fn missing(rows: &[Row]) -> Option<String> {
    let Some(last) = rows.last() else { return Some("there are no rows to join".into()) };
    let cases = last.cases.unwrap_or_default();
    let of = last.shard.split_once('/').and_then(|(_, of)| of.parse::<u64>().ok()).unwrap_or(1);
    let have: BTreeSet<u64> = rows.iter().filter_map(|r| r.case_index).collect();
    let lacking: Vec<u64> = (0..cases).filter(|index| !have.contains(index)).collect();
    if lacking.is_empty() {
        return None;
    }
    let mut shards = distinct(lacking.iter().map(|index| format!("{}/{of}", index % of + 1)));
    let more = if shards.len() > LISTED { ", ..." } else { "" };
    shards.truncate(LISTED);
    let shards = shards.join(", ");
    let are = if lacking.len() == 1 { "is" } else { "are" };
    Some(format!("{} of {cases} configurations {are} missing, of shard {shards}{more}", lacking.len()))
}

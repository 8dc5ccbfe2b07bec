//! What each step of a ladder brought, device by device.

use super::{RatioInterval, TimeEstimate};
use crate::data::Dtype;
use crate::record::Row;
use crate::runner::{Cache, Status};
use std::collections::{BTreeMap, BTreeSet};

/// A ladder's steps on the devices that it was run on.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderSteps {
    /// The problem.
    pub family: String,
    /// Element type.
    pub dtype: Dtype,
    /// Whether runs found their data in cache.
    pub cache: Cache,
    /// The devices: platform, name, and the columns and rows of the data.
    pub devices: Vec<LadderDevice>,
    /// Number and name of each rung, in order, with how many times faster than the rung before it is on each device; none
    /// without both times.
    pub rungs: Vec<(u32, String, Vec<Option<RatioInterval>>)>,
}

/// Where a ladder was run.
#[derive(Clone, Debug, PartialEq)]
pub struct LadderDevice {
    /// Platform name.
    pub platform: String,
    /// Device name.
    pub device: String,
    /// Elements, or columns.
    pub n: u64,
    /// Rows; 1 for vectors.
    pub m: u64,
}

/// The ladders that ran on two devices or more: of each device at the largest size that all have, or else at its own largest.
pub fn steps(rows: &[Row]) -> Vec<LadderSteps> {
    let timed = rows.iter().filter(|row| row.status == Status::Ok && row.rung.is_some() && row.repeats().is_none());
    let timed: Vec<&Row> = timed.collect();
    let mut keys: Vec<LadderKey<'_>> = Vec::new();
    for row in &timed {
        let key = ladder_key(row);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.into_iter().filter_map(|key| ladder(&timed, key)).collect()
}

/// The problem, and whether settings are tuned: default ones are no step from them.
type LadderKey<'a> = (&'a str, Dtype, Cache, bool);

fn ladder_key(row: &Row) -> LadderKey<'_> {
    (&row.family, row.dtype, row.cache, row.is_tuned())
}

fn ladder(timed: &[&Row], key: LadderKey<'_>) -> Option<LadderSteps> {
    let own: Vec<&Row> = timed.iter().filter(|row| ladder_key(row) == key).copied().collect();
    let mut names: Vec<(&str, &str)> = Vec::new();
    let mut rungs: Vec<(u32, &str)> = Vec::new();
    for row in &own {
        let (name, rung) = (device_of(row), (row.rung?, row.variant.as_str()));
        if !names.contains(&name) {
            names.push(name);
        }
        if !rungs.contains(&rung) {
            rungs.push(rung);
        }
    }
    if names.len() < 2 {
        return None;
    }
    rungs.sort_unstable();
    let mut sizes: BTreeMap<(&str, &str), BTreeSet<(u64, u64)>> = BTreeMap::new();
    for row in &own {
        sizes.entry(device_of(row)).or_default().insert((row.n, row.m));
    }
    let is_common = |size: &(u64, u64)| sizes.values().all(|of_device| of_device.contains(size));
    let common = sizes.values().next()?.iter().copied().filter(is_common).max();
    let device = |&name: &(&str, &str)| {
        let (n, m) = common.or_else(|| sizes[&name].last().copied()).unwrap_or_default();
        LadderDevice { platform: name.0.to_owned(), device: name.1.to_owned(), n, m }
    };
    let devices: Vec<LadderDevice> = names.iter().map(device).collect();
    let time = |device: &LadderDevice, rung: (u32, &str)| {
        let is_it = |row: &&&Row| {
            device_of(row) == (device.platform.as_str(), device.device.as_str())
                && (row.n, row.m) == (device.n, device.m)
                && (row.rung, row.variant.as_str()) == (Some(rung.0), rung.1)
        };
        let rows: Vec<&Row> = own.iter().filter(is_it).copied().collect();
        TimeEstimate::of(&rows)
    };
    let gain = |at: usize, device: &LadderDevice| {
        let before = at.checked_sub(1).map(|before| rungs[before])?;
        Some(RatioInterval::new(time(device, rungs[at])?, time(device, before)?))
    };
    let lines = rungs.iter().enumerate().map(|(at, &(number, name))| {
        (number, name.to_owned(), devices.iter().map(|device| gain(at, device)).collect::<Vec<_>>())
    });
    Some(LadderSteps { family: key.0.to_owned(), dtype: key.1, cache: key.2, rungs: lines.collect(), devices })
}

fn device_of(row: &Row) -> (&str, &str) {
    (&row.platform, &row.device)
}

//! What each step of a ladder brought, device by device.

use super::{CaseRun, RatioInterval, TimeEstimate};
use crate::groups::groups;
use gpulab_model::data::Dtype;
use gpulab_model::outcome::{Cache, Status};
use std::collections::{BTreeMap, BTreeSet, HashMap};

#[derive(Clone, Debug, PartialEq)]
pub struct LadderSteps {
    pub family: String,
    pub dtype: Dtype,
    /// Whether runs found their data in cache.
    pub cache: Cache,
    /// The devices: platform, name, and the columns and rows of the data.
    pub devices: Vec<LadderDevice>,
    /// Number and name of each rung, in order, with how many times faster than the rung before it is on each device; none
    /// without both times.
    pub rungs: Vec<(u32, String, Vec<Option<RatioInterval>>)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct LadderDevice {
    pub platform: String,
    pub device: String,
    /// Elements, or columns.
    pub n: u64,
    /// Rows; 1 for vectors.
    pub m: u64,
}

/// The ladders that ran on two devices or more: of each device at the largest size that all have, or else at its own largest.
pub fn steps<'a>(rows: impl IntoIterator<Item = &'a CaseRun>) -> Vec<LadderSteps> {
    let timed = rows.into_iter().filter(|row| row.status == Status::Ok && row.rung.is_some() && row.is_plain);
    let timed: Vec<&CaseRun> = timed.collect();
    groups(&timed, |&row| ladder_key(row)).iter().filter_map(|own| ladder(own)).collect()
}

/// The problem, and whether settings are tuned: default ones are no step from them.
type LadderKey<'a> = (&'a str, Dtype, Cache, bool);

fn ladder_key(row: &CaseRun) -> LadderKey<'_> {
    (&row.family, row.dtype, row.cache, row.is_tuned)
}

fn ladder(own: &[&CaseRun]) -> Option<LadderSteps> {
    let key = ladder_key(own.first()?);
    let names: Vec<(&str, &str)> = groups(own, |&row| device_of(row)).iter().map(|rows| device_of(rows[0])).collect();
    if names.len() < 2 {
        return None;
    }
    let rungs: BTreeSet<(u32, &str)> = own.iter().filter_map(|row| rung_of(row)).collect();
    let rungs: Vec<(u32, &str)> = rungs.into_iter().collect();
    let mut sizes: BTreeMap<(&str, &str), BTreeSet<(u64, u64)>> = BTreeMap::new();
    for row in own {
        sizes.entry(device_of(row)).or_default().insert((row.n, row.m));
    }
    let common = sizes
        .values()
        .next()?
        .iter()
        .copied()
        .filter(|size: &(u64, u64)| sizes.values().all(|of_device| of_device.contains(size)))
        .max();
    let device = |&name: &(&str, &str)| {
        let (n, m) = common.or_else(|| sizes[&name].last().copied()).unwrap_or_default();
        LadderDevice { platform: name.0.to_owned(), device: name.1.to_owned(), n, m }
    };
    let devices: Vec<LadderDevice> = names.iter().map(device).collect();
    let cases: HashMap<_, Vec<&CaseRun>> = groups(own, |&row| (device_of(row), row.n, row.m, rung_of(row)))
        .into_iter()
        .map(|rows| ((device_of(rows[0]), rows[0].n, rows[0].m, rung_of(rows[0])), rows))
        .collect();
    let time = |device: &LadderDevice, rung: (u32, &str)| {
        let place = (device.platform.as_str(), device.device.as_str());
        let rows = cases.get(&(place, device.n, device.m, Some(rung)))?;
        Some((TimeEstimate::of(rows)?, rows.iter().map(|row| row.drift).fold(1.0, f64::max)))
    };
    let gain = |at: usize, device: &LadderDevice| {
        let before = at.checked_sub(1).map(|before| rungs[before])?;
        let ((own, drift), (before, drift_before)) = (time(device, rungs[at])?, time(device, before)?);
        Some(RatioInterval::new(own, before).beside_drift(drift.max(drift_before)))
    };
    let lines = rungs.iter().enumerate().map(|(at, &(number, name))| {
        (number, name.to_owned(), devices.iter().map(|device| gain(at, device)).collect::<Vec<_>>())
    });
    Some(LadderSteps { family: key.0.to_owned(), dtype: key.1, cache: key.2, rungs: lines.collect(), devices })
}

fn device_of(row: &CaseRun) -> (&str, &str) {
    (&row.platform, &row.device)
}

fn rung_of(row: &CaseRun) -> Option<(u32, &str)> {
    Some((row.rung?, &row.variant))
}

//! What an exercise demands of a kernel's counts.
//!
//! Means are over no more requests and instructions than the starter has: idle ones that are added to a fault do not thin
//! it out. What the counts of requests leave out (atomics, copies by whole groups) may not take their place.

use crate::count::{CountedCase, Counts, LockstepModel, RequestCounts, TracedLaunch};
use gpulab_model::data::Shape;
use gpulab_model::named_enum;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

named_enum! {
    /// A number that follows from the counts of a case's launches, all together.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum CountMetric {
        Launches = "launches",
        /// Passes of a request to local memory.
        LocalPasses = "passes of a request to local memory",
        /// Elements that are stored to local memory, for each element of the problem.
        LocalStores = "elements stored to local memory, for each element",
        /// Elements that are loaded from local memory, for each element of the problem.
        LocalLoads = "elements loaded from local memory, for each element",
        /// Warps of which some lanes execute what others of its lanes never do, and the other way round.
        TornWarps = "warps that take both sides of a branch",
        /// The share of a warp's lanes that are busy.
        BusyLanes = "busy lanes, as a share",
        /// Memory segments (32 B) of a load from global memory.
        ReadSegments = "memory segments of a load",
        /// Memory segments (32 B) of a store to global memory.
        WriteSegments = "memory segments of a store",
        /// Instructions of work-items for each element.
        Instructions = "instructions an element",
        /// Barriers of groups, for each thousand elements.
        Barriers = "barriers a thousand elements",
        WorkItems = "work-items an element",
        /// Results that are left in global memory, for each element.
        Results = "results left an element",
        /// Elements loaded, from whatever memory, for each addition of a min-plus product.
        LoadsAnAddition = "elements loaded for an addition",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckResult {
    pub what: String,
    /// How much; none where there was nothing to count.
    pub value: Option<f64>,
    pub wanted: String,
    pub ok: bool,
    /// What to think about if it is not.
    pub hint: String,
    /// The line that has most of the fault, as in `strides.cl:12`.
    pub line: Option<String>,
}

pub(super) struct Over<'a> {
    /// What each warp did, where a check asks for it.
    pub(super) traced: &'a [TracedLaunch],
    pub(super) shape: Shape,
    /// Bytes of an element.
    pub(super) size: usize,
}

fn needless(of: RequestCounts) -> u64 {
    of.segments.saturating_sub(of.bytes.div_ceil(LockstepModel::USUAL.segment))
}

fn total(counted: &CountedCase) -> Counts {
    let mut total = Counts::default();
    counted.launches.iter().for_each(|launch| total += launch.counts.total());
    total
}

/// Averaged over as many as there are, but at most as many as the starter has.
fn mean(of: [&Counts; 2], what: fn(&Counts) -> u64, number: fn(&Counts) -> u64) -> Option<f64> {
    let number = number(of[0]).min(number(of[1]));
    (number > 0).then(|| what(of[0]) as f64 / number as f64)
}

impl CountMetric {
    /// The file and line with most of what it is about; none where no line has it.
    fn line_with_most(self, counted: &CountedCase) -> Option<(&str, u64)> {
        let lines = counted.launches.iter().flat_map(|launch| &launch.counts.instructions).filter(|one| one.line > 0);
        let mut all: BTreeMap<(&str, u64), u64> = BTreeMap::new();
        for one in lines {
            let counts = &one.counts;
            *all.entry((&one.file, one.line)).or_default() += match self {
                CountMetric::LocalPasses => counts.local().conflicts,
                CountMetric::BusyLanes => counts.issued * LockstepModel::USUAL.warp - counts.lanes,
                CountMetric::ReadSegments => needless(counts.memory.global_read),
                CountMetric::WriteSegments => needless(counts.memory.global_write),
                _ => 0,
            };
        }
        all.into_iter().filter(|(_, cost)| *cost > 0).max_by_key(|(_, cost)| *cost).map(|(place, _)| place)
    }

    /// Whether it is a mean, which the starter's number of requests or instructions bounds.
    fn is_mean(self) -> bool {
        use CountMetric::{BusyLanes, LocalPasses, ReadSegments, WriteSegments};
        matches!(self, BusyLanes | LocalPasses | ReadSegments | WriteSegments)
    }

    /// Its value; none where nothing was counted that it could be a mean of.
    fn of(self, counted: &CountedCase, starter: Option<&CountedCase>, over: &Over<'_>) -> Option<f64> {
        let total = total(counted);
        let of = [&total, &starter.map_or(total, self::total)];
        let launches = &counted.launches;
        let copies = launches.iter().any(|launch| launch.counts.copies > 0);
        let elements = over.shape.elements() as f64;
        let bytes = over.size as f64;
        let memory = &total.memory;
        match self {
            CountMetric::Launches => Some(counted.launches.len() as f64),
            CountMetric::LocalPasses | CountMetric::LocalStores | CountMetric::LocalLoads
                if copies || memory.local_atomic.requests > 0 =>
            {
                None
            }
            CountMetric::LocalPasses => mean(of, |counts| counts.local().passes, |counts| counts.local().requests),
            CountMetric::LocalStores => Some(memory.local_write.bytes as f64 / bytes / elements),
            CountMetric::LocalLoads => Some(memory.local_read.bytes as f64 / bytes / elements),
            CountMetric::TornWarps => Some(torn_warps(over.traced) as f64),
            CountMetric::BusyLanes => {
                const WARP: u64 = LockstepModel::USUAL.warp;
                let idle = mean(of, |counts| counts.issued * WARP - counts.lanes, |counts| counts.issued)?;
                Some(1.0 - idle / WARP as f64)
            }
            CountMetric::ReadSegments | CountMetric::WriteSegments if copies || memory.global_atomic.requests > 0 => None,
            CountMetric::ReadSegments => {
                mean(of, |counts| counts.memory.global_read.segments, |counts| counts.memory.global_read.requests)
            }
            CountMetric::WriteSegments => {
                mean(of, |counts| counts.memory.global_write.segments, |counts| counts.memory.global_write.requests)
            }
            CountMetric::Instructions => Some(total.lanes as f64 / elements),
            CountMetric::Barriers => {
                Some(1000.0 * launches.iter().map(|launch| launch.counts.barriers).sum::<u64>() as f64 / elements)
            }
            CountMetric::WorkItems => {
                Some(launches.iter().map(|launch| launch.counts.items).sum::<u64>() as f64 / elements)
            }
            CountMetric::Results => Some(memory.global_write.bytes as f64 / bytes / elements),
            CountMetric::LoadsAnAddition => {
                let additions = elements * over.shape.n as f64;
                let read = memory.global_read.bytes + memory.local_read.bytes + memory.constant_read.bytes;
                Some(read as f64 / bytes / additions)
            }
        }
    }
}

/// Warps with two steps that have no lane in common.
fn torn_warps(launches: &[TracedLaunch]) -> usize {
    let mut warps: BTreeMap<(u64, u64), BTreeSet<u64>> = BTreeMap::new();
    for step in launches.iter().flat_map(|launch| &launch.steps) {
        warps.entry((step.group, step.warp)).or_default().insert(step.lanes);
    }
    warps.values().filter(|steps| steps.iter().any(|one| steps.iter().any(|other| one & other == 0))).count()
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Demand {
    Most(f64),
    Least(f64),
    MostOfStarter(f64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountCheck {
    pub metric: CountMetric,
    pub wanted: Demand,
    /// What to think about if it is not.
    pub hint: String,
}

impl CountCheck {
    pub fn needs_starter(&self) -> bool {
        self.metric.is_mean() || matches!(self.wanted, Demand::MostOfStarter(_))
    }

    pub(super) fn of(&self, counted: &CountedCase, starter: Option<&CountedCase>, over: &Over<'_>) -> CheckResult {
        let value = self.metric.of(counted, starter, over);
        let (wanted, ok) = match self.wanted {
            Demand::Most(most) => (format!("at most {most}"), value.is_some_and(|value| value <= most)),
            Demand::Least(least) => (format!("at least {least}"), value.is_some_and(|value| value >= least)),
            Demand::MostOfStarter(share) => {
                let starter = starter.and_then(|starter| self.metric.of(starter, None, over));
                let most = starter.map(|starter| share * starter);
                let said = most.map_or("less than the starter".into(), |most| {
                    format!("at most {most:.3} ({share} of the starter's)")
                });
                (said, value.zip(most).is_some_and(|(value, most)| value <= most))
            }
        };
        let is_thinned = self.metric.of(counted, None, over) != value;
        let note = if is_thinned { ", averaged over as many as the starter has" } else { "" };
        let wanted = format!("{wanted}{note}");
        let place = if ok { None } else { self.metric.line_with_most(counted) };
        let line = place.map(|(file, line)| format!("{}:{line}", file.rsplit('/').next().unwrap_or(file)));
        CheckResult { what: self.metric.name().into(), value, wanted, ok, hint: self.hint.clone(), line }
    }
}

//! What an exercise demands of a kernel's counts.

use crate::count::{CountedCase, Counts};
use crate::data::Shape;
use serde::Deserialize;

/// A number that follows from the counts of a case's launches, all together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// Kernel launches.
    Launches,
    /// Passes of a request to local memory.
    LocalPasses,
    /// Elements that are stored to local memory, for each element of the problem.
    LocalStores,
    /// The share of a warp's lanes that are busy.
    BusyLanes,
    /// Memory segments (32 B) of a load from global memory.
    ReadSegments,
    /// Memory segments (32 B) of a store to global memory.
    WriteSegments,
    /// Instructions of work-items for each element.
    Instructions,
    /// Barriers of groups, for each thousand elements.
    Barriers,
    /// Work-items for each element.
    WorkItems,
    /// Results that are left in global memory, for each element.
    Results,
    /// Elements loaded, from whatever memory, for each addition of a min-plus product.
    LoadsAnAddition,
}

/// What is counted, and over what.
pub(super) struct Over {
    pub(super) shape: Shape,
    /// Bytes of an element.
    pub(super) size: usize,
}

impl Metric {
    /// What it is, in words.
    pub fn label(self) -> &'static str {
        match self {
            Metric::Launches => "launches",
            Metric::LocalPasses => "passes of a request to local memory",
            Metric::LocalStores => "elements stored to local memory, for each element",
            Metric::BusyLanes => "busy lanes, as a share",
            Metric::ReadSegments => "memory segments of a load",
            Metric::WriteSegments => "memory segments of a store",
            Metric::Instructions => "instructions an element",
            Metric::Barriers => "barriers a thousand elements",
            Metric::WorkItems => "work-items an element",
            Metric::Results => "results left an element",
            Metric::LoadsAnAddition => "elements loaded for an addition",
        }
    }

    /// Its value; none where nothing was counted that it could be a ratio of.
    fn of(self, counted: &CountedCase, over: &Over) -> Option<f64> {
        let mut total = Counts::default();
        counted.launches.iter().for_each(|launch| total += launch.counts.total());
        let sum = |of: fn(&crate::count::LaunchCounts) -> u64| -> f64 {
            counted.launches.iter().map(|launch| of(&launch.counts)).sum::<u64>() as f64
        };
        let elements = over.shape.elements() as f64;
        let memory = &total.memory;
        let held = |bytes: u64| bytes as f64 / over.size as f64;
        match self {
            Metric::Launches => Some(counted.launches.len() as f64),
            Metric::LocalPasses => total.local().passes_a_request(),
            Metric::LocalStores => Some(held(memory.local_write.bytes) / elements),
            Metric::BusyLanes => total.lanes_busy(crate::count::LockstepModel::USUAL.warp),
            Metric::ReadSegments => memory.global_read.segments_a_request(),
            Metric::WriteSegments => memory.global_write.segments_a_request(),
            Metric::Instructions => Some(total.lanes as f64 / elements),
            Metric::Barriers => Some(1000.0 * sum(|counts| counts.barriers) / elements),
            Metric::WorkItems => Some(sum(|counts| counts.items) / elements),
            Metric::Results => Some(held(memory.global_write.bytes) / elements),
            Metric::LoadsAnAddition => {
                let additions = elements * over.shape.n as f64;
                Some(held(memory.global_read.bytes + memory.local_read.bytes + memory.constant_read.bytes) / additions)
            }
        }
    }
}

/// What a metric must be.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wanted {
    /// At most this.
    Most(f64),
    /// At least this.
    Least(f64),
    /// At most this times what the starter has.
    MostOfStarter(f64),
}

/// One demand.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountCheck {
    /// What is counted.
    pub metric: Metric,
    /// What it must be.
    pub wanted: Wanted,
    /// What to think about if it is not.
    pub hint: String,
}

impl CountCheck {
    /// Whether the starter has to be counted as well.
    pub fn needs_starter(&self) -> bool {
        matches!(self.wanted, Wanted::MostOfStarter(_))
    }

    /// What was counted, what is wanted, and whether it is so.
    pub(super) fn of(&self, counted: &CountedCase, starter: Option<&CountedCase>, over: &Over) -> super::CheckResult {
        let value = self.metric.of(counted, over);
        let (wanted, ok) = match self.wanted {
            Wanted::Most(most) => (format!("at most {most}"), value.is_some_and(|value| value <= most)),
            Wanted::Least(least) => (format!("at least {least}"), value.is_some_and(|value| value >= least)),
            Wanted::MostOfStarter(share) => {
                let starter = starter.and_then(|starter| self.metric.of(starter, over));
                let most = starter.map(|starter| share * starter);
                let said = most.map_or("less than the starter".into(), |most| {
                    format!("at most {most:.3} ({share} of the starter's)")
                });
                (said, value.zip(most).is_some_and(|(value, most)| value <= most))
            }
        };
        super::CheckResult { what: self.metric.label().into(), value, wanted, ok, hint: self.hint.clone() }
    }
}

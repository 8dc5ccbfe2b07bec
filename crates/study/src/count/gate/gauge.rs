//! The counts that a gate can hold, and how much more of each it allows.

use super::super::CountRow;
use gpulab_model::suggest::{did_you_mean, nearest};

/// A count by the name that it has on the command line and in files.
#[derive(Debug)]
pub struct CountGauge {
    pub name: &'static str,
    pub of: fn(&CountRow) -> Option<u64>,
}

/// In the order in which they are shown.
pub static GAUGES: [CountGauge; 15] = [
    CountGauge { name: "instructions", of: |row| row.warp_instructions },
    CountGauge { name: "item_instructions", of: |row| row.item_instructions },
    CountGauge { name: "flops", of: |row| row.flops },
    CountGauge { name: "divisions", of: |row| row.divisions },
    CountGauge { name: "waits", of: |row| row.global_waits },
    CountGauge { name: "requests", of: |row| sum([row.global_read_requests, row.global_write_requests]) },
    CountGauge { name: "segments", of: |row| sum([row.global_read_segments, row.global_write_segments]) },
    CountGauge { name: "moved", of: |row| sum([row.global_read_moved, row.global_write_moved]) },
    CountGauge { name: "local", of: |row| sum([row.local_read_requests, row.local_write_requests]) },
    CountGauge { name: "passes", of: |row| sum([row.local_read_passes, row.local_write_passes]) },
    CountGauge { name: "atomics", of: |row| sum([row.global_atomic_passes, row.local_atomic_passes]) },
    CountGauge { name: "constants", of: |row| row.constant_words },
    CountGauge { name: "barriers", of: |row| row.barriers },
    CountGauge { name: "private", of: |row| row.private_accesses },
    CountGauge { name: "copies", of: |row| row.group_copies },
];

fn sum(parts: [Option<u64>; 2]) -> Option<u64> {
    parts.into_iter().flatten().reduce(u64::saturating_add)
}

/// How much more of a count is allowed than was kept.
#[derive(Clone, Copy, Debug)]
pub struct CountAllowance {
    pub gauge: &'static CountGauge,
    /// As a share of what was kept.
    pub share: f64,
}

/// What `--fail-on` names.
#[derive(Clone, Debug, Default)]
pub struct CountAllowances(pub Vec<CountAllowance>);

impl CountAllowances {
    /// Reads counts with the share by which each may grow: `passes:1%,segments`, or `all:2%`. A later one replaces an earlier.
    pub fn parse(text: &str) -> Result<CountAllowances, String> {
        let mut all: Vec<CountAllowance> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (name, share) = part.split_once(':').map_or((part, None), |(name, share)| (name, Some(share)));
            let share = share.map_or(Ok(0.0), |text| {
                let percent = text.trim_end_matches('%').parse::<f64>().ok();
                let percent = percent.filter(|percent| percent.is_finite() && *percent >= 0.0);
                percent
                    .map(|percent| percent / 100.0)
                    .ok_or_else(|| format!("{part:?}: a share is needed, as in passes:1%"))
            })?;
            let named: Vec<_> = GAUGES.iter().filter(|gauge| name == "all" || gauge.name == name).collect();
            if named.is_empty() {
                return Err(unknown(name));
            }
            all.retain(|known: &CountAllowance| !named.iter().any(|gauge| gauge.name == known.gauge.name));
            all.extend(named.into_iter().map(|gauge| CountAllowance { gauge, share }));
        }
        Ok(CountAllowances(all))
    }

    pub fn of(&self, gauge: &CountGauge) -> Option<CountAllowance> {
        self.0.iter().copied().find(|allowed| allowed.gauge.name == gauge.name)
    }
}

fn unknown(name: &str) -> String {
    let names: Vec<&str> = GAUGES.iter().map(|gauge| gauge.name).chain(["all"]).collect();
    let suggestion = nearest(name, names.iter().copied(), |name| name);
    format!("there is no count {name:?}{}; counts are {}", did_you_mean(&suggestion), names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_named_with_what_each_may_grow_by() {
        let shares = |text: &str| {
            let all = CountAllowances::parse(text).unwrap().0;
            all.iter().map(|one| (one.gauge.name, one.share)).collect::<Vec<_>>()
        };
        assert_eq!(
            shares("passes:1%,segments, instructions:2.5"),
            [("passes", 0.01), ("segments", 0.0), ("instructions", 0.025)]
        );
        assert_eq!(shares("all:1%").len(), GAUGES.len());
        assert_eq!(shares("all:1%,passes:5%").last(), Some(&("passes", 0.05)));
        for wrong in ["", "pases", "passes:", "passes:x", "passes:-1%", "passes:inf", "passes:1%,,", "passes;1"] {
            assert!(CountAllowances::parse(wrong).is_err(), "{wrong}");
        }
        assert!(CountAllowances::parse("pases").unwrap_err().contains("passes"));
    }
}

//! The counts gate: which counts differ from those of a file, and which grew by more than is allowed.

use super::CountRow;
use gpulab_model::outcome::Status;
use gpulab_model::suggest::{did_you_mean, nearest};

/// A count by the name that it has on the command line.
#[derive(Debug)]
pub struct CountGauge {
    pub name: &'static str,
    of: fn(&CountRow) -> Option<u64>,
}

/// In the order in which they are shown.
static GAUGES: [CountGauge; 15] = [
    gauge("instructions", |row| row.warp_instructions),
    gauge("item_instructions", |row| row.item_instructions),
    gauge("flops", |row| row.flops),
    gauge("divisions", |row| row.divisions),
    gauge("waits", |row| row.global_waits),
    gauge("requests", |row| {
        sum([row.global_read_requests, row.global_write_requests])
    }),
    gauge("segments", |row| {
        sum([row.global_read_segments, row.global_write_segments])
    }),
    gauge("moved", |row| {
        sum([row.global_read_moved, row.global_write_moved])
    }),
    gauge("local", |row| {
        sum([row.local_read_requests, row.local_write_requests])
    }),
    gauge("passes", |row| {
        sum([row.local_read_passes, row.local_write_passes])
    }),
    gauge("atomics", |row| {
        sum([row.global_atomic_passes, row.local_atomic_passes])
    }),
    gauge("constants", |row| row.constant_words),
    gauge("barriers", |row| row.barriers),
    gauge("private", |row| row.private_accesses),
    gauge("copies", |row| row.group_copies),
];

const fn gauge(name: &'static str, of: fn(&CountRow) -> Option<u64>) -> CountGauge {
    CountGauge { name, of }
}

fn sum(parts: [Option<u64>; 2]) -> Option<u64> {
    parts.into_iter().flatten().reduce(u64::saturating_add)
}

/// What `--fail-on` names: counts, each with the share by which it may grow.
#[derive(Clone, Debug, Default)]
pub struct CountAllowances(Vec<(&'static str, f64)>);

impl CountAllowances {
    /// Reads counts with the share by which each may grow: `passes:1%,segments`, or `all:2%`. A later one replaces an earlier.
    pub fn parse(text: &str) -> Result<CountAllowances, String> {
        let mut all: Vec<(&'static str, f64)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let mut words = part.splitn(2, ':');
            let name = words.next().unwrap_or_default();
            let percent = words
                .next()
                .unwrap_or("0")
                .trim_end_matches('%')
                .parse::<f64>()
                .ok();
            let percent = percent
                .filter(|percent| percent.is_finite() && *percent >= 0.0)
                .ok_or_else(|| format!("{part:?}: a share is needed, as in passes:1%"))?;
            let all_names = GAUGES.iter().map(|gauge| gauge.name);
            let named: Vec<&str> = all_names
                .clone()
                .filter(|known| name == "all" || *known == name)
                .collect();
            if named.is_empty() {
                let names: Vec<&str> = all_names.chain(["all"]).collect();
                let suggestion = did_you_mean(&nearest(name, names.iter().copied(), |name| name));
                return Err(format!(
                    "there is no count {name:?}{suggestion}; counts are {}",
                    names.join(", ")
                ));
            }
            all.retain(|(known, _)| !named.contains(known));
            all.extend(named.into_iter().map(|name| (name, percent / 100.0)));
        }
        Ok(CountAllowances(all))
    }

    pub fn of(&self, gauge: &CountGauge) -> Option<f64> {
        self.0
            .iter()
            .find(|(name, _)| *name == gauge.name)
            .map(|(_, share)| *share)
    }
}

/// A count of a case that differs from before.
#[derive(Clone, Debug)]
pub struct CountGrowth {
    pub case: String,
    pub gauge: &'static CountGauge,
    pub before: u64,
    pub now: u64,
}

impl CountGrowth {
    /// Whether there is more than is allowed.
    pub fn is_refused(&self, allowed: &CountAllowances) -> bool {
        allowed
            .of(self.gauge)
            .is_some_and(|share| self.now as f64 > self.before as f64 * (1.0 + share))
    }
}

/// Every count that differs, of the cases that both have: sums over the launches that a ladder times.
pub fn growths(before: &[CountRow], now: &[CountRow]) -> Vec<CountGrowth> {
    let known = counted_cases(before);
    let mut all = Vec::new();
    for case in counted_cases(now)
        .into_iter()
        .filter(|case| known.contains(case))
    {
        for gauge in &GAUGES {
            let [before, now] = [before, now].map(|rows| {
                rows.iter()
                    .filter(|row| is_gated(row) && case_of(row) == case)
                    .filter_map(gauge.of)
                    .sum::<u64>()
            });
            if before != now {
                all.push(CountGrowth {
                    case: case.clone(),
                    gauge,
                    before,
                    now,
                });
            }
        }
    }
    all
}

fn is_gated(row: &CountRow) -> bool {
    row.status == Status::Ok && row.timed == Some(true) && row.is_of_launch()
}

/// The cases that were counted, each once.
pub fn counted_cases(rows: &[CountRow]) -> Vec<String> {
    let mut cases: Vec<String> = rows
        .iter()
        .filter(|row| is_gated(row))
        .map(case_of)
        .collect();
    cases.dedup();
    cases
}

/// What is counted, without what an edit of the kernel may change.
pub fn case_of(row: &CountRow) -> String {
    let CountRow {
        family,
        variant,
        dtype,
        n,
        m,
        series,
        x,
        seed,
        ..
    } = row;
    if row.is_of_program() {
        return variant.clone();
    }
    let size = if *m == 1 {
        n.to_string()
    } else {
        format!("{n}x{m}")
    };
    let trial = x.map_or_else(String::new, |x| format!(" {series}={x}"));
    let seed = if *seed == 1 {
        String::new()
    } else {
        format!(" seed={seed}")
    };
    format!("{family}/{variant} {dtype} n={size}{trial}{seed}")
}

/// The machine that a row was counted for, in words.
pub fn machine_of(row: &CountRow) -> String {
    let CountRow {
        warp,
        segment,
        banks,
        partitions,
        machine,
        ..
    } = row;
    let partitions = partitions.map_or_else(String::new, |n| format!(" partitions={n}"));
    format!("{machine} warp={warp} segment={segment} banks={banks}{partitions}")
        .trim_start()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_named_with_what_each_may_grow_by() {
        let shares = |text: &str| CountAllowances::parse(text).unwrap().0;
        assert_eq!(
            shares("passes:1%,segments, instructions:2.5"),
            [("passes", 0.01), ("segments", 0.0), ("instructions", 0.025)]
        );
        assert_eq!(shares("all:1%").len(), GAUGES.len());
        assert_eq!(shares("all:1%,passes:5%").last(), Some(&("passes", 0.05)));
        for wrong in [
            "",
            "pases",
            "passes:",
            "passes:x",
            "passes:-1%",
            "passes:inf",
            "passes:1%,,",
            "passes;1",
        ] {
            assert!(CountAllowances::parse(wrong).is_err(), "{wrong}");
        }
        assert!(
            CountAllowances::parse("pases")
                .unwrap_err()
                .contains("passes")
        );
    }

    #[test]
    fn what_grew_is_found_and_held_against_what_is_allowed() {
        let row = |launch: u64, passes: u64, timed: bool| CountRow {
            family: "reduce".into(),
            variant: "k".into(),
            launch: Some(launch),
            timed: Some(timed),
            local_read_passes: Some(passes),
            ..CountRow::default()
        };
        let before = [row(1, 8, true), row(2, 4, true), row(3, 1, false)];
        let now = [row(1, 8, true), row(2, 16, true), row(3, 9, false)];
        let all = growths(&before, &now);
        let [passes] = &all[..] else {
            panic!("{all:?}")
        };
        assert_eq!(
            (passes.gauge.name, passes.before, passes.now),
            ("passes", 12, 24)
        );
        assert_eq!(
            ["passes", "passes:99%", "passes:100%", "segments"]
                .map(|limit: &str| passes.is_refused(&CountAllowances::parse(limit).unwrap())),
            [true, true, false, false]
        );
        assert!(growths(&now, &now).is_empty());
    }
}

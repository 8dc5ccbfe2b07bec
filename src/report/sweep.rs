//! A sweep in a few lines: the best of each rung, and how flat the optimum is.

use super::format::{self, Tint};
use super::ladder::render;
use super::view::{TextTable, is_memory_bound, of_limit, status_word};
use crate::record::{Row, flag};
use crate::runner::{Spent, Status};

/// How near to the best counts as just as good.
const FLAT: f64 = 1.05;

/// Most remarks on rows without a number.
const REMARKS: usize = 5;

/// The sweep's rows, of one family on one device, as a summary for a terminal.
pub fn summary(rows: &[Row]) -> String {
    let Some(first) = rows.first() else { return "nothing was run\n".to_owned() };
    let limit =
        |r: &Row| r.ceiling_gbps.map(|gbps| (gbps, "GB/s")).or(r.ceiling_gops.map(|gops| (gops / 2.0, "Gpair/s")));
    let ceiling = rows.iter().rev().find_map(|r| Some((&r.ceiling, limit(r)?)));
    let ceiling = ceiling.map_or_else(String::new, |(name, (rate, unit))| {
        format!(", {name} ceiling {} {unit}", format::significant(rate, 4))
    });
    let mut text = format!("sweep of {} on {}: {}{ceiling}\n", first.family, first.device, statuses(rows));
    text = format::terminal(text.trim_end()) + "\n";
    for group in groups(rows) {
        text.push_str(&optimum(&group));
    }
    text + &remarks(rows)
}

/// Where a sweep's time went, in a sentence; `ceiling`, the time to measure the ceiling, and `total` in
/// seconds.
pub fn time_split(spent: Spent, ceiling: f64, total: f64) -> String {
    let Spent { build, data, verify, measure } = spent;
    let rest = (total - ceiling - build - data - verify - measure).max(0.0);
    let part = |what: &str, seconds: f64| format!("{what} {seconds:.1} s ({})", format::percent(seconds / total));
    let parts = [
        ("ceiling", ceiling),
        ("compiling", build),
        ("data", data),
        ("checking", verify),
        ("measuring", measure),
        ("the rest", rest),
    ];
    let parts: Vec<String> = parts.iter().map(|(what, seconds)| part(what, *seconds)).collect();
    format!("{total:.1} s: {}", parts.join(", "))
}

/// `70 configurations: 65 ok, 5 skipped`.
fn statuses(rows: &[Row]) -> String {
    let counts = Status::ALL.map(|status| (rows.iter().filter(|r| r.status == status).count(), status_word(status)));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    format!("{} configurations: {}", rows.len(), counts.collect::<Vec<_>>().join(", "))
}

/// Rows that solve the same problem, in the order of the problems' first rows.
fn groups(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let problem = |row: &Row| (row.dtype, row.n, row.m);
    for row in rows {
        match groups.iter_mut().find(|group| problem(group[0]) == problem(row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

/// Right results with the times of their work done once, fastest first, without those that are faster than anything
/// explains; those that repeat it inside the kernel, out of the cache, only where there are no others.
fn ranked<'a>(rows: &[&'a Row]) -> Vec<(&'a Row, f64)> {
    let once = |row: &Row| Some(row.t_median_s? / row.repeats().and_then(|n| n.parse().ok()).unwrap_or(1.0));
    let any_plain = rows.iter().any(|r| r.repeats().is_none());
    let believed = |r: &Row| r.status == Status::Ok && !is_above_ceiling(r);
    let selected = rows.iter().filter(|r| believed(r) && (r.repeats().is_none() || !any_plain));
    let timed = selected.filter_map(|r| Some((*r, once(r)?)));
    let mut timed: Vec<_> = timed.collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    timed
}

/// Whether a row is faster than its ceiling, and its data are no reason for it.
fn is_above_ceiling(row: &Row) -> bool {
    row.has_flag(flag::ABOVE_CEILING) && !row.has_flag(flag::FITS_CACHE)
}

/// The best configuration of each rung of one problem, and of all.
fn optimum(rows: &[&Row]) -> String {
    let first = rows[0];
    let size = if first.m == 1 { String::new() } else { format!(" x {}", format::count(first.m)) };
    let title = format!("\n{}, n = {}{size}\n", first.dtype, format::count(first.n));
    let all = ranked(rows);
    let Some((best, time)) = all.first() else { return title + "no configuration gave a time\n" };
    let mut rungs: Vec<(Option<u32>, &str)> = rows.iter().map(|r| (r.rung, r.variant.as_str())).collect();
    rungs.sort_unstable();
    rungs.dedup();
    let lines: Vec<Vec<String>> = rungs.iter().filter_map(|&(_, variant)| rung_line(rows, variant)).collect();
    let rate = if is_memory_bound(first) { "GB/s" } else { "Gpair/s" };
    let header = ["rung", "wg", "best", rate, "of limit", "median", "worst", "timed", "tunables"];
    let tints = vec![Tint::Green; lines.len()];
    let grid = TextTable { header: header.map(str::to_owned).to_vec(), rows: lines, tints };
    let near = all.iter().filter(|(_, t)| *t <= FLAT * time).count();
    let (middle, worst) = (all[all.len() / 2].1, all[all.len() - 1].1);
    format!(
        "{title}\n{}\nbest{}: {}, wg {}{}: {}; {near} of {} are within 5% of it, the median is {}, the worst {}\n",
        render(&grid, false),
        if best.has_flag(flag::ABOVE_CEILING) { ", out of the cache" } else { "" },
        label(best),
        best.wg,
        format::terminal(&tunables(best)),
        format::time(*time),
        all.len(),
        format::time(middle),
        format::time(worst),
    )
}

fn rung_line(rows: &[&Row], variant: &str) -> Option<Vec<String>> {
    let own: Vec<&Row> = rows.iter().copied().filter(|r| r.variant == variant).collect();
    let ranked = ranked(&own);
    let (best, time) = ranked.first()?;
    let rate = if is_memory_bound(best) { best.gbps } else { best.gops.map(|gops| gops / 2.0) };
    Some(vec![
        label(best),
        best.wg.clone(),
        format::time(*time),
        rate.map_or("-".to_owned(), |rate| format::significant(rate, 4)),
        of_limit(best).unwrap_or_else(|| "-".to_owned()),
        format::time(ranked[ranked.len() / 2].1),
        format::time(ranked[ranked.len() - 1].1),
        format!("{} of {}", ranked.len(), own.len()),
        best.params.clone(),
    ])
}

fn label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number} {}", row.variant))
}

fn tunables(row: &Row) -> String {
    if row.params.is_empty() { String::new() } else { format!(", {}", row.params) }
}

/// Why rows have no number, each reason once.
fn remarks(rows: &[Row]) -> String {
    let mut reasons: Vec<(Status, &str, usize)> = Vec::new();
    for row in rows.iter().filter(|r| r.status != Status::Ok) {
        match reasons.iter_mut().find(|(status, reason, _)| (*status, *reason) == (row.status, row.reason.as_str())) {
            Some((_, _, count)) => *count += 1,
            None => reasons.push((row.status, &row.reason, 1)),
        }
    }
    let mut text = if reasons.is_empty() { String::new() } else { "\n".to_owned() };
    for (status, reason, count) in reasons.iter().take(REMARKS) {
        let reason = format::terminal(&format::shorten(reason, 100));
        text.push_str(&format!("note: {count} {}: {reason}\n", status_word(*status)));
    }
    if reasons.len() > REMARKS {
        text.push_str(&format!("note: {} more reasons are in the rows\n", reasons.len() - REMARKS));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::row;

    fn timed(rung: u32, wg: &str, seconds: f64) -> Row {
        Row {
            rung: Some(rung),
            wg: wg.to_owned(),
            t_median_s: Some(seconds),
            gbps: Some(8e-6 / seconds),
            ceiling: "read".to_owned(),
            ceiling_gbps: Some(40.0),
            ceiling_pct: Some(8e-4 / seconds / 40.0),
            ..row(if rung == 1 { "naive" } else { "local" })
        }
    }

    #[test]
    fn a_summary_names_the_best_of_each_rung_and_how_flat_the_optimum_is() {
        let skipped = Row {
            status: Status::Skipped,
            reason: "too wide\x1b[2J".to_owned(),
            t_median_s: None,
            ..timed(2, "9", 1.0)
        };
        let rows = [
            timed(1, "32", 4e-6),
            timed(1, "64", 3e-6),
            timed(2, "32", 1e-6),
            timed(2, "64", 1.04e-6),
            skipped.clone(),
            Row { n: 7, ..skipped },
        ];
        insta::assert_snapshot!(summary(&rows), @r#"
        sweep of dot on cpu, "fast": 6 configurations: 4 ok, 2 skipped, read ceiling 40.00 GB/s

        f32, n = 1_000

        rung      wg      best   GB/s  of limit    median     worst   timed  tunables
        ----------------------------------------------------------------------------------------
        v1 naive  64  3.000 us  2.667     6.67%  4.000 us  4.000 us  2 of 2  items=8 presum=host
        v2 local  32  1.000 us  8.000     20.0%  1.040 us  1.040 us  2 of 3  items=8 presum=host

        best: v2 local, wg 32, items=8 presum=host: 1.000 us; 2 of 4 are within 5% of it, the median is 3.000 us, the worst 4.000 us

        f32, n = 7
        no configuration gave a time

        note: 2 skipped: too wide\u{1b}[2J
        "#);
    }

    #[test]
    fn what_is_faster_than_the_ceiling_is_never_called_best() {
        let flagged = |flags: &str| Row { flags: flags.to_owned(), ..timed(2, "32", 1e-9) };
        let text = summary(&[timed(1, "32", 4e-6), flagged(flag::ABOVE_CEILING)]);
        assert!(text.contains("best: v1 naive"), "{text}");
        let cached = flagged(&format!("{} {}", flag::FITS_CACHE, flag::ABOVE_CEILING));
        let text = summary(&[timed(1, "32", 4e-6), cached]);
        assert!(text.contains("best, out of the cache: v2 local"), "{text}");
    }

    #[test]
    fn where_the_time_went_adds_up() {
        let spent = Spent { build: 1.0, data: 0.5, verify: 2.0, measure: 5.0 };
        let text = time_split(spent, 0.5, 10.0);
        assert!(
            text.starts_with("10.0 s: ceiling 0.5 s (5.0%), compiling 1.0 s (10%)")
                && text.ends_with("the rest 1.0 s (10%)"),
            "{text}"
        );
    }

    #[test]
    fn no_rows_are_no_sweep() {
        assert_eq!(summary(&[]), "nothing was run\n");
    }
}

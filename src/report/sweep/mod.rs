//! A sweep in a few lines: the best of each rung, how flat the optimum is, and a map of rungs and work-groups.

mod map;

use super::columns::{Value, in_one_unit, of_limit};
use super::format::{self, Screen};
use super::grid::{GridColumn, TextGrid};
use super::view::{is_memory_bound, status_word};
use crate::record::{Row, flag};
use crate::runner::{Spent, Status};

/// A row and the time of its work done once, in seconds.
type Timed<'a> = (&'a Row, f64);

/// How near to the best counts as just as good.
const FLAT: f64 = 1.05;

/// Most remarks on rows without a number.
const REMARKS: usize = 5;

/// The rows without those in whose place a later row of the same configuration came.
pub fn latest(rows: &[Row]) -> Vec<Row> {
    let is_later = |row: &Row, later: &Row| {
        row.case_index.is_some() && (&row.sweep_id, row.case_index) == (&later.sweep_id, later.case_index)
    };
    let is_last = |(at, row): &(usize, &Row)| !rows[at + 1..].iter().any(|later| is_later(row, later));
    rows.iter().enumerate().filter(is_last).map(|(_, row)| row.clone()).collect()
}

/// The map of a problem's rows, by rung and work-group; nothing where there is no choice of work-groups.
pub(super) fn map_of(rows: &[Row], screen: Screen) -> String {
    let rows: Vec<&Row> = rows.iter().collect();
    map::map(&rows, &ranked(&rows), screen)
}

/// The sweep's rows, of one family on one device, as a summary for this screen.
pub fn summary(rows: &[Row], screen: Screen) -> String {
    let rows = &latest(rows)[..];
    let Some(first) = rows.first() else { return "nothing was run\n".to_owned() };
    let limit =
        |r: &Row| r.ceiling_gbps.map(|gbps| (gbps, "GB/s")).or(r.ceiling_gops.map(|gops| (gops / 2.0, "Gpair/s")));
    let ceiling = rows.iter().rev().find_map(|r| Some((&r.ceiling, limit(r)?)));
    let ceiling = ceiling.map_or_else(String::new, |(name, (rate, unit))| {
        format!(", limit {} {unit} ({name})", format::significant(rate, 4))
    });
    let head = format!("sweep of {} on {}: {}{ceiling}", first.family, format::device(&first.device), statuses(rows));
    let mut text = format::wrap(&format::terminal(&head), screen.width, "  ");
    for group in groups(rows) {
        text.push_str(&optimum(&group, screen));
    }
    format::on_screen(&(text + &remarks(rows, screen)), screen)
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

/// A sentence in lines that fit.
pub fn wrapped(sentence: &str, screen: Screen) -> String {
    format::wrap(sentence, screen.width, "  ").trim_end().to_owned()
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
fn ranked<'a>(rows: &[&'a Row]) -> Vec<Timed<'a>> {
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
fn optimum(rows: &[&Row], screen: Screen) -> String {
    let first = rows[0];
    let size = if first.m == 1 { String::new() } else { format!(" x {}", format::count(first.m)) };
    let title = format!("\n{}, n = {}{size}\n", first.dtype, format::count(first.n));
    let all = ranked(rows);
    let Some((best, time)) = all.first() else { return title + "no configuration gave a time\n" };
    let near = all.iter().filter(|(_, t)| *t <= FLAT * time).count();
    let (middle, worst) = (all[all.len() / 2].1, all[all.len() - 1].1);
    let sentence = format!(
        "best{}: {}, wg {}{}: {}; {near} of {} are within 5% of it, the median is {}, the worst {}",
        if best.has_flag(flag::ABOVE_CEILING) { " (its data fit the cache)" } else { "" },
        label(best),
        best.wg,
        tunables(best),
        format::time(*time),
        all.len(),
        format::time(middle),
        format::time(worst),
    );
    let parts = [
        rung_table(rows, best).fit(screen.width).lines().join("\n") + "\n",
        map::map(rows, &all, screen),
        format::wrap(&format::terminal(&sentence), screen.width, "  "),
    ];
    format!("{title}\n{}", parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join("\n"))
}

/// Rungs of some rows, by their numbers.
fn variants<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let mut rungs: Vec<(Option<u32>, &str)> = rows.iter().map(|r| (r.rung, r.variant.as_str())).collect();
    rungs.sort_unstable();
    rungs.dedup();
    rungs.into_iter().map(|(_, variant)| variant).collect()
}

/// A line for each rung that has a time, with its best configuration; the best of all is marked.
fn rung_table(rows: &[&Row], best: &Row) -> TextGrid {
    let own = |variant: &str| rows.iter().copied().filter(|r| r.variant == variant).collect::<Vec<_>>();
    let lines: Vec<(Vec<Timed<'_>>, usize)> = variants(rows)
        .into_iter()
        .map(|variant| (ranked(&own(variant)), own(variant).len()))
        .filter(|(ranked, _)| !ranked.is_empty())
        .collect();
    let text = |cell: &dyn Fn(&Row) -> String| lines.iter().map(|(ranked, _)| cell(ranked[0].0)).collect::<Vec<_>>();
    let numbers = |head: &str, drop, cell: &dyn Fn(&[Timed<'_>]) -> Option<Value>| {
        let (unit, texts) = in_one_unit(&lines.iter().map(|(ranked, _)| cell(ranked)).collect::<Vec<_>>());
        let head = unit.map_or_else(|| head.to_owned(), |unit| format!("{head}\n{unit}"));
        GridColumn::numbers(head, texts, drop)
    };
    let rate = |row: &Row| if is_memory_bound(row) { row.gbps } else { row.gops.map(|gops| gops / 2.0) };
    let counts = lines.iter().map(|(ranked, all)| format!("{} of {all}", ranked.len()));
    let mark = |row: &Row| if std::ptr::eq(row, best) { "★ " } else { "  " };
    let columns = vec![
        GridColumn::texts("  rung", text(&|row| mark(row).to_owned() + &label(row)), 0),
        GridColumn::texts("wg", text(&|row| row.wg.clone()), 0),
        numbers("best", 0, &|ranked| Some(Value::Seconds(ranked[0].1))),
        numbers(if is_memory_bound(best) { "GB/s" } else { "Gpair/s" }, 0, &|ranked| {
            rate(ranked[0].0).map(Value::Rate)
        }),
        numbers("of\nlimit", 0, &|ranked| of_limit(ranked[0].0)),
        numbers("median", 2, &|ranked| Some(Value::Seconds(ranked[ranked.len() / 2].1))),
        numbers("worst", 3, &|ranked| ranked.last().map(|(_, time)| Value::Seconds(*time))),
        GridColumn::texts("timed", counts.collect(), 1),
        GridColumn::texts("tunables", text(&|row| row.params.clone()), 0),
    ];
    TextGrid { columns }
}

fn label(row: &Row) -> String {
    row.rung.map_or_else(|| row.variant.clone(), |number| format!("v{number} {}", row.variant))
}

fn tunables(row: &Row) -> String {
    if row.params.is_empty() { String::new() } else { format!(", {}", row.params) }
}

/// Why rows have no number, each reason once.
fn remarks(rows: &[Row], screen: Screen) -> String {
    let mut reasons: Vec<(Status, &str, usize)> = Vec::new();
    for row in rows.iter().filter(|r| r.status != Status::Ok) {
        match reasons.iter_mut().find(|(status, reason, _)| (*status, *reason) == (row.status, row.reason.as_str())) {
            Some((_, _, count)) => *count += 1,
            None => reasons.push((row.status, &row.reason, 1)),
        }
    }
    let mut text = if reasons.is_empty() { String::new() } else { "\n".to_owned() };
    for (status, reason, count) in reasons.iter().take(REMARKS) {
        let note = format!("note: {count} {}: {}", status_word(*status), format::terminal(reason));
        text.push_str(&(format::shorten(&note, screen.width) + "\n"));
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
    use crate::report::golden::{self, SCREEN};

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
        golden::compare("sweep", &golden::at_all_widths("sweep", &|screen| summary(&rows, screen)));
    }

    #[test]
    fn colours_are_nothing_that_signs_do_not_say() {
        let rows = [timed(1, "32", 4e-6), timed(2, "32", 1e-6), timed(2, "64", 1.04e-6)];
        let colored = summary(&rows, Screen { color: true, ..SCREEN });
        let stripped = ["\x1b[32m", "\x1b[0m"].iter().fold(colored.clone(), |text, code| text.replace(code, ""));
        assert_ne!(colored, stripped);
        assert_eq!(stripped, summary(&rows, SCREEN));
    }

    #[test]
    fn what_is_faster_than_the_ceiling_is_never_called_best() {
        let flagged = |flags: &str| Row { flags: flags.to_owned(), ..timed(2, "32", 1e-9) };
        let text = summary(&[timed(1, "32", 4e-6), flagged(flag::ABOVE_CEILING)], SCREEN);
        assert!(text.contains("best: v1 naive"), "{text}");
        let cached = flagged(&format!("{} {}", flag::FITS_CACHE, flag::ABOVE_CEILING));
        let text = summary(&[timed(1, "32", 4e-6), cached], SCREEN);
        assert!(text.contains("best (its data fit the cache): v2 local"), "{text}");
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
        assert_eq!(summary(&[], SCREEN), "nothing was run\n");
    }
}

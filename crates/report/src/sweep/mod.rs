//! A sweep in a few lines: the best of each rung, how flat the optimum is, and a map of rungs and work-groups.

mod map;

use super::columns::{of_limit, or_dash};
use super::format::{self, Screen};
use super::groups::groups;
use super::rungs::{label, limit, rate};
use super::table::Table;
use super::view::{is_any_beyond_caches, status_word};
use gpulab_model::Joined;
use gpulab_model::outcome::{Spent, Status};
use gpulab_record::{Row, flag, params_text};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// A row and the time of its work done once, in seconds.
pub(crate) type Timed<'a> = (&'a Row, f64);

/// How near to the best counts as just as good.
pub(crate) const FLAT: f64 = 1.05;

/// Rungs of some rows, by their numbers.
pub(crate) fn variants<'a>(rows: &[&'a Row]) -> Vec<&'a str> {
    let rungs: BTreeSet<(Option<u32>, &str)> =
        rows.iter().map(|r| (r.rung, r.variant.as_str())).collect();
    rungs.into_iter().map(|(_, variant)| variant).collect()
}

/// Most notes on rows without a number.
const NOTES: usize = 5;

/// The rows without those in whose place a later row of the same configuration came.
pub fn latest(rows: &[Row]) -> Cow<'_, [Row]> {
    let last: HashMap<(&str, Option<u64>), usize> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| ((row.sweep_id.as_str(), row.case_index), at))
        .collect();
    let kept = rows.iter().enumerate().filter(|(at, row)| {
        row.case_index.is_none() || last.get(&(row.sweep_id.as_str(), row.case_index)) == Some(at)
    });
    match kept.clone().count() == rows.len() {
        true => Cow::Borrowed(rows),
        false => kept.map(|(_, row)| row.clone()).collect(),
    }
}

/// The map of a problem's rows, by rung and work-group; nothing where there is no choice of work-groups.
pub(super) fn map_of(rows: &[Row], screen: Screen) -> String {
    let rows: Vec<&Row> = rows.iter().collect();
    map::map(&rows, &ranked(&rows), screen)
}

pub fn summary(rows: &[Row], screen: Screen) -> String {
    let rows = &latest(rows)[..];
    let Some(head) = head(rows) else {
        return "no configuration was finished\n".to_owned();
    };
    let mut text = screen.wrap_foreign(&head);
    for group in problems(rows) {
        text.push_str(&optimum(&group, screen));
    }
    format::on_screen(&(text + &notes(rows, screen)), screen)
}

/// What was swept where, and how its configurations ended.
fn head(rows: &[Row]) -> Option<String> {
    let first = rows.first()?;
    let ceiling = rows
        .iter()
        .rev()
        .find_map(|row| Some((&row.ceiling, limit(row)?)));
    let ceiling = ceiling.filter(|_| {
        is_any_beyond_caches(
            rows.iter()
                .filter(|r| r.t_median_s.is_some())
                .map(|r| r.flags),
        )
    });
    let ceiling = ceiling.map_or_else(String::new, |(name, (unit, rate))| {
        format!(", limit {} {unit} ({name})", format::significant(rate, 4))
    });
    let counts = Status::ALL.map(|status| {
        (
            rows.iter().filter(|r| r.status == status).count(),
            status_word(status),
        )
    });
    let counts = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"));
    let counts = counts.joined(", ");
    let device = format::device(&first.device);
    Some(format!(
        "sweep of {} on {device}: {} configurations: {counts}{ceiling}",
        first.family,
        rows.len()
    ))
}

/// What the seconds of a sweep or search went into: its jobs, the ceiling before them, and what else there is in all.
pub fn time_split(jobs: Spent, ceiling: f64, total: f64) -> String {
    let Spent {
        build,
        data,
        verify,
        measure,
    } = jobs;
    let rest = (total - ceiling - build - data - verify - measure).max(0.0);
    let parts = [
        ("ceiling", ceiling),
        ("compiling", build),
        ("data", data),
        ("checking", verify),
        ("measuring", measure),
        ("the rest", rest),
    ];
    let parts = parts.map(|(what, seconds)| {
        format!(
            "{what} {seconds:.1} s ({})",
            format::percent(seconds / total)
        )
    });
    format!("{total:.1} s: {}", parts.join(", "))
}

/// A sentence in lines that fit.
pub fn wrapped(sentence: &str, screen: Screen) -> String {
    screen.wrap(sentence).trim_end().to_owned()
}

/// Rows that solve the same problem, in the order of the problems' first rows.
fn problems(rows: &[Row]) -> Vec<Vec<&Row>> {
    groups(&rows.iter().collect::<Vec<_>>(), |row| {
        (row.dtype, row.n, row.m)
    })
}

/// Right results with the times of their work done once, fastest first, without those that are faster than anything
/// explains; those that repeat it inside the kernel, out of the cache, only where there are no others.
pub(super) fn ranked<'a>(rows: &[&'a Row]) -> Vec<Timed<'a>> {
    let any_plain = rows.iter().any(|r| r.repeats().is_none());
    let selected = rows
        .iter()
        .filter(|r| r.is_believed() && (r.repeats().is_none() || !any_plain));
    let timed = selected.filter_map(|r| {
        let repeats = r
            .repeats()
            .and_then(|count| count.parse().ok())
            .unwrap_or(1.0);
        Some((*r, r.t_median_s? / repeats))
    });
    let mut timed: Vec<_> = timed.collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    timed
}

/// The best configuration of each rung of one problem, and of all.
fn optimum(rows: &[&Row], screen: Screen) -> String {
    let title = format!("\n{}\n", problem(rows));
    let all = ranked(rows);
    let Some((best, _)) = all.first() else {
        return title + "no configuration gave a time\n";
    };
    let parts = [
        best_of_rungs(rows, best, screen),
        map::map(rows, &all, screen),
        screen.wrap_foreign(&flatness(&all)),
    ];
    format!(
        "{title}\n{}",
        parts
            .iter()
            .filter(|part| !part.is_empty())
            .cloned()
            .joined("\n")
    )
}

/// `f32, n = 1_000_000`.
fn problem(rows: &[&Row]) -> String {
    let Row { dtype, n, m, .. } = rows[0];
    format!("{dtype}, n = {}", format::size(*n, *m))
}

/// The best of the ranked configurations, and how far from it the others are.
fn flatness(all: &[Timed<'_>]) -> String {
    let Some((best, time)) = all.first() else {
        return String::new();
    };
    let near = all.iter().filter(|(_, t)| *t <= FLAT * time).count();
    let middle = (all[(all.len() - 1) / 2].1 + all[all.len() / 2].1) / 2.0;
    let worst = all[all.len() - 1].1;
    format!(
        "best{}: {}: {}; {near} of {} {} within 5% of it, the median is {}, the worst {}",
        if best.flags.contains(flag::ABOVE_CEILING) {
            " (its data fit the cache)"
        } else {
            ""
        },
        configuration(best),
        format::time(*time),
        all.len(),
        if near == 1 { "is" } else { "are" },
        format::time(middle),
        format::time(worst),
    )
}

/// The table of the rungs' best configurations, their tunables below it.
fn best_of_rungs(rows: &[&Row], best: &Row, screen: Screen) -> String {
    let rungs = of_rungs(rows);
    let table = rung_table(&rungs, rows, best);
    let legend = table.legend(true).map(|legend| screen.wrap(&legend));
    let mut text = table.fitted(screen.width) + &legend.unwrap_or_default();
    let mut tuned = rungs
        .iter()
        .map(|timed| timed[0].0)
        .filter(|row| !row.params.is_empty())
        .peekable();
    if tuned.peek().is_some() {
        text += "\ntunables\n";
    }
    for row in tuned {
        let line = format!("{}: {}", label(row), params_text(&row.params));
        text += &screen.wrap_foreign(&line);
    }
    text
}

/// The ranked configurations of each rung that has a time.
fn of_rungs<'a>(rows: &[&'a Row]) -> Vec<Vec<Timed<'a>>> {
    let all = variants(rows)
        .into_iter()
        .map(|variant| ranked(&of_variant(rows, variant)));
    all.filter(|ranked| !ranked.is_empty()).collect()
}

fn of_variant<'a>(rows: &[&'a Row], variant: &str) -> Vec<&'a Row> {
    rows.iter()
        .copied()
        .filter(|row| row.variant == variant)
        .collect()
}

/// A line for each rung that has a time, with its best configuration; the best of all is marked.
fn rung_table(rungs: &[Vec<Timed<'_>>], rows: &[&Row], best: &Row) -> Table {
    let firsts = rungs.iter().map(|timed| timed[0].0);
    let marked = firsts.clone().map(|row| {
        if std::ptr::eq(row, best) {
            "★ "
        } else {
            "  "
        }
        .to_owned()
            + &label(row)
    });
    let counts = rungs.iter().map(|timed| {
        format!(
            "{} of {}",
            timed.len(),
            of_variant(rows, &timed[0].0.variant).len()
        )
    });
    let bests: Vec<Option<f64>> = rungs.iter().map(|timed| Some(timed[0].1)).collect();
    let medians: Vec<Option<f64>> = rungs
        .iter()
        .map(|timed| Some(timed[timed.len() / 2].1))
        .collect();
    let worst: Vec<Option<f64>> = rungs
        .iter()
        .map(|timed| timed.last().map(|last| last.1))
        .collect();
    Table::default()
        .texts("  rung", marked)
        .texts("wg", firsts.clone().map(Row::wg_text))
        .times("best", &bests)
        .numbers(
            rate(best).0,
            firsts
                .clone()
                .map(|row| or_dash(rate(row).1.map(|rate| format::significant(rate, 4)))),
        )
        .numbers("of\nlimit", firsts.map(|row| or_dash(of_limit(row))))
        .times("median", &medians)
        .dropped(2)
        .times("worst", &worst)
        .dropped(3)
        .texts("timed", counts)
        .dropped(1)
}

/// `v7 wide, wg 1, tile=16`.
pub fn configuration(row: &Row) -> String {
    let separator = if row.params.is_empty() { "" } else { ", " };
    let params = params_text(&row.params);
    format!("{}, wg {}{separator}{params}", label(row), row.wg_text())
}

fn notes(rows: &[Row], screen: Screen) -> String {
    let troubled: Vec<&Row> = rows.iter().filter(|r| r.status != Status::Ok).collect();
    let reasons = groups(&troubled, |row| (row.status, row.reason.as_str()));
    let mut text = if reasons.is_empty() {
        String::new()
    } else {
        "\n".to_owned()
    };
    for own in reasons.iter().take(NOTES) {
        let note = format!(
            "note: {} {}: {}",
            own.len(),
            status_word(own[0].status),
            format::terminal(&own[0].reason)
        );
        text.push_str(&screen.wrap(&note));
    }
    if reasons.len() > NOTES {
        text.push_str(&format!(
            "note: {} more reasons are in the rows\n",
            reasons.len() - NOTES
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{self, SCREEN};
    use gpulab_record::{Flags, params_of, row};

    fn timed(rung: u32, wg: &str, seconds: f64) -> Row {
        Row {
            rung: Some(rung),
            wg: Some(gpulab_kernels::values::work_group(wg).unwrap()),
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
        golden::compare(
            "sweep",
            &golden::at_all_widths("sweep", &|screen| summary(&rows, screen)),
        );
    }

    #[test]
    fn what_is_faster_than_the_ceiling_is_never_called_best() {
        let flagged = |flags: Flags| Row {
            flags,
            ..timed(2, "32", 1e-9)
        };
        let text = summary(
            &[timed(1, "32", 4e-6), flagged(flag::ABOVE_CEILING)],
            SCREEN,
        );
        assert!(text.contains("best: v1 naive"), "{text}");
        let cached = flagged(flag::FITS_CACHE | flag::ABOVE_CEILING);
        let text = summary(&[timed(1, "32", 4e-6), cached], SCREEN);
        assert!(
            text.contains("best (its data fit the cache): v2 local"),
            "{text}"
        );
    }

    #[test]
    fn where_the_time_went_adds_up() {
        let spent = Spent {
            build: 1.0,
            data: 0.5,
            verify: 2.0,
            measure: 5.0,
        };
        let text = time_split(spent, 0.5, 10.0);
        assert!(
            text.starts_with("10.0 s: ceiling 0.5 s (5.0%), compiling 1.0 s (10%)"),
            "{text}"
        );
        assert!(text.ends_with("the rest 1.0 s (10%)"), "{text}");
        assert_eq!(summary(&[], SCREEN), "no configuration was finished\n");
    }

    #[test]
    fn nothing_of_notes_and_tunables_is_cut_off() {
        let long = "finish=device items=16 op=sum shuffles=1 size=compiled unroll=8 presum=host";
        let mut rows = vec![
            timed(1, "32", 4e-6),
            timed(2, "32", 1e-6),
            timed(2, "64", 2e-6),
        ];
        rows[0].params = params_of("op=sum").unwrap();
        rows[1].params = params_of(long).unwrap();
        let reason = "needs sub-groups of 32 work-items that are all there, and this device has sub-groups of 8 or 16 of them";
        rows[2] = Row {
            status: Status::Skipped,
            reason: reason.to_owned(),
            t_median_s: None,
            ..rows[2].clone()
        };
        for width in [80, 100, 160] {
            let text = summary(&rows, Screen { width, ..SCREEN });
            let words = |text: &str| {
                text.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            let said = words(&text).join(" ");
            assert!(said.contains(reason) && !text.contains('…'), "{text}");
            assert!(long.split(' ').all(|set| said.contains(set)), "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
        }
    }
}

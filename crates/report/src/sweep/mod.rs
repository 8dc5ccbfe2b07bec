//! A sweep in a few lines: the best of each rung, how flat the optimum is, and a map of rungs and work-groups.

mod map;
mod swept;
mod timed;

pub use swept::{Swept, swept};

use super::cell::Value;
use super::columns::{in_one_unit, legend};
use super::format::{self, Screen};
use super::grid::{GridColumn, TextGrid};
use super::groups::groups;
use super::markdown::{self, PAGE};
use super::rungs::label_of;
use super::view::{is_any_beyond_caches, status_word};
use gpulab_model::outcome::{Spent, Status};
use gpulab_record::{Row, flag};
use gpulab_system::text::Joined;
use std::borrow::Cow;
use std::collections::HashMap;
pub(super) use timed::{FLAT, Timed, variants};

/// Most notes on rows without a number.
const NOTES: usize = 5;

/// The rows without those in whose place a later row of the same configuration came.
pub fn latest(rows: &[Row]) -> Cow<'_, [Row]> {
    last(rows, |row| Some((&row.sweep_id, row.case_index?)))
}

fn last<T: Clone>(rows: &[T], key: fn(&T) -> Option<(&str, u64)>) -> Cow<'_, [T]> {
    let last: HashMap<(&str, u64), usize> =
        rows.iter().enumerate().filter_map(|(at, row)| Some((key(row)?, at))).collect();
    let is_last = |(at, row): &(usize, &T)| key(row).is_none_or(|key| last.get(&key) == Some(at));
    if rows.iter().enumerate().all(|row| is_last(&row)) {
        return Cow::Borrowed(rows);
    }
    rows.iter().enumerate().filter(is_last).map(|(_, row)| row.clone()).collect()
}

fn latest_swept(rows: &[Swept]) -> Cow<'_, [Swept]> {
    last(rows, |row| Some((&row.sweep_id, row.case_index?)))
}

/// The map of a problem's rows, by rung and work-group; nothing where there is no choice of work-groups.
pub(super) fn map_of(rows: &[Row], screen: Screen) -> String {
    let rows = swept(rows);
    let rows: Vec<&Swept> = rows.iter().collect();
    map::map(&rows, &ranked(&rows), screen)
}

pub fn summary(rows: &[Swept], screen: Screen) -> String {
    let rows = &latest_swept(rows)[..];
    let Some(head) = head(rows) else { return "no configuration was finished\n".to_owned() };
    let mut text = format::wrap(&format::terminal(&head), screen.width, "  ");
    for group in problems(rows) {
        text.push_str(&optimum(&group, screen));
    }
    format::on_screen(&(text + &notes(rows, screen)), screen)
}

pub fn markdown(rows: &[Swept]) -> String {
    let rows = &latest_swept(rows)[..];
    let Some(head) = head(rows) else { return "No configuration was finished.\n".to_owned() };
    let problems = problems(rows).into_iter().map(|group| {
        let all = ranked(&group);
        let Some((best, _)) = all.first() else {
            return format!("{}: no configuration gave a time\n", problem(&group));
        };
        let (mut table, tuned, meaning) = rung_table(&group, best);
        table.columns.push(GridColumn::texts("tunables", tuned.into_iter().map(|(_, params)| params).collect(), 0));
        markdown::parts(&[
            format!("{}; {}\n", problem(&group), format::markdown(&flatness(&all))),
            table.markdown(),
            meaning.map(|legend| format!("{}\n", format::markdown(&legend))).unwrap_or_default(),
            markdown::code(&|screen| map::map(&group, &all, screen)),
        ])
    });
    let problems: Vec<String> = problems.collect();
    markdown::parts(&[markdown::title(&head), markdown::parts(&problems), markdown::list(&notes(rows, PAGE))])
}

/// What was swept where, and how its configurations ended.
fn head(rows: &[Swept]) -> Option<String> {
    let first = rows.first()?;
    let ceiling = rows.iter().rev().find_map(|r| r.limit.as_ref());
    let ceiling =
        ceiling.filter(|_| is_any_beyond_caches(rows.iter().filter(|r| r.t_median_s.is_some()).map(|r| r.flags)));
    let ceiling = ceiling.map_or_else(String::new, |(name, (unit, rate))| {
        format!(", limit {} {unit} ({name})", format::significant(*rate, 4))
    });
    let counts = Status::ALL.map(|status| (rows.iter().filter(|r| r.status == status).count(), status_word(status)));
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let counts = counts.joined(", ");
    let device = format::device(&first.device);
    Some(format!("sweep of {} on {device}: {} configurations: {counts}{ceiling}", first.family, rows.len()))
}

#[derive(Clone, Copy, Debug, Default)]
pub struct SweepTime {
    pub jobs: Spent,
    pub ceiling: f64,
    /// The job that an interrupt cut short.
    pub cut: f64,
    pub total: f64,
}

impl SweepTime {
    /// Takes note of a job of so many seconds: of what they went into, unless it was cut short.
    pub fn note(&mut self, seconds: f64, spent: Option<Spent>) {
        match spent {
            Some(spent) => self.jobs += spent,
            None => self.cut += seconds,
        }
    }
}

pub fn time_split(time: &SweepTime) -> String {
    let SweepTime { jobs: Spent { build, data, verify, measure }, ceiling, cut, total } = *time;
    let rest = (total - ceiling - cut - build - data - verify - measure).max(0.0);
    let part = |(what, seconds): &(&str, f64)| format!("{what} {seconds:.1} s ({})", format::percent(seconds / total));
    let parts =
        [("ceiling", ceiling), ("compiling", build), ("data", data), ("checking", verify), ("measuring", measure)];
    let cut = [("what the interrupt cut short", cut)].into_iter().filter(|(_, seconds)| *seconds > 0.0);
    let parts: Vec<String> = parts.into_iter().chain(cut).chain([("the rest", rest)]).map(|p| part(&p)).collect();
    format!("{total:.1} s: {}", parts.join(", "))
}

/// A sentence in lines that fit.
pub fn wrapped(sentence: &str, screen: Screen) -> String {
    format::wrap(sentence, screen.width, "  ").trim_end().to_owned()
}

/// Rows that solve the same problem, in the order of the problems' first rows.
fn problems(rows: &[Swept]) -> Vec<Vec<&Swept>> {
    groups(&rows.iter().collect::<Vec<_>>(), |row| (row.dtype, row.n, row.m))
}

/// Right results with the times of their work done once, fastest first, without those that are faster than anything
/// explains; those that repeat it inside the kernel, out of the cache, only where there are no others.
pub(super) fn ranked<'a>(rows: &[&'a Swept]) -> Vec<Timed<'a>> {
    let any_plain = rows.iter().any(|r| r.repeats.is_none());
    let selected = rows.iter().filter(|r| r.is_believed && (r.repeats.is_none() || !any_plain));
    let timed = selected.filter_map(|r| Some((*r, r.t_median_s? / r.repeats.unwrap_or(1.0))));
    let mut timed: Vec<_> = timed.collect();
    timed.sort_by(|a, b| a.1.total_cmp(&b.1));
    timed
}

/// The best configuration of each rung of one problem, and of all.
fn optimum(rows: &[&Swept], screen: Screen) -> String {
    let title = format!("\n{}\n", problem(rows));
    let all = ranked(rows);
    let Some((best, _)) = all.first() else { return title + "no configuration gave a time\n" };
    let parts = [
        best_of_rungs(rows, best, screen),
        map::map(rows, &all, screen),
        format::wrap(&format::terminal(&flatness(&all)), screen.width, "  "),
    ];
    format!("{title}\n{}", parts.iter().filter(|part| !part.is_empty()).cloned().joined("\n"))
}

/// `f32, n = 1_000_000`.
fn problem(rows: &[&Swept]) -> String {
    let first = rows[0];
    let size = if first.m == 1 { String::new() } else { format!(" x {}", format::count(first.m)) };
    format!("{}, n = {}{size}", first.dtype, format::count(first.n))
}

/// The best of the ranked configurations, and how far from it the others are.
fn flatness(all: &[Timed<'_>]) -> String {
    let Some((best, time)) = all.first() else { return String::new() };
    let near = all.iter().filter(|(_, t)| *t <= FLAT * time).count();
    let middle = all[all.len() / 2].1;
    let worst = all[all.len() - 1].1;
    format!(
        "best{}: {}, wg {}{}: {}; {near} of {} {} within 5% of it, the median is {}, the worst {}",
        if best.flags.contains(flag::ABOVE_CEILING) { " (its data fit the cache)" } else { "" },
        label_of(best),
        best.wg_text(),
        tunables(best),
        format::time(*time),
        all.len(),
        if near == 1 { "is" } else { "are" },
        format::time(middle),
        format::time(worst),
    )
}

/// The table of the rungs' best configurations. Tunables that have no room in it whole stand below it, and those that are
/// alike in all of them are told once.
fn best_of_rungs(rows: &[&Swept], best: &Swept, screen: Screen) -> String {
    let (table, tuned, meaning) = rung_table(rows, best);
    let meaning = meaning.map_or_else(String::new, |legend| format::wrap(&legend, screen.width, "  "));
    let lines = |grid: &TextGrid| grid.lines().join("\n") + "\n" + &meaning;
    let common = common(&tuned);
    let own = |params: &str| params.split(' ').filter(|set| !common.contains(set)).joined(" ");
    let told: Vec<(String, String)> = tuned.iter().map(|(rung, params)| (rung.clone(), own(params))).collect();
    let everywhere = match common.is_empty() {
        true => String::new(),
        false => format::wrap(&format::terminal(&format!("tunables of all: {}", common.join(" "))), screen.width, "  "),
    };
    if told.iter().all(|(_, own)| own.is_empty()) {
        return lines(&table.fit(screen.width)) + &everywhere;
    }
    let mut whole = table.clone();
    whole.columns.push(GridColumn::texts("tunables", told.iter().map(|(_, own)| own.clone()).collect(), 0));
    while whole.width() > screen.width && whole.drop_one().is_some() {}
    if whole.width() <= screen.width {
        return lines(&whole) + &everywhere;
    }
    let line =
        |(rung, own): &(String, String)| format::wrap(&format::terminal(&format!("{rung}: {own}")), screen.width, "  ");
    let below: String = told.iter().filter(|(_, own)| !own.is_empty()).map(line).collect();
    lines(&table.fit(screen.width)) + "\ntunables\n" + &below + &everywhere
}

/// Settings that all rungs have alike, of several rungs.
fn common(tuned: &[(String, String)]) -> Vec<&str> {
    let Some(((_, first), more)) = tuned.split_first().filter(|(_, more)| !more.is_empty()) else { return Vec::new() };
    let is_common = |set: &&str| more.iter().all(|(_, params)| params.split(' ').any(|other| other == *set));
    first.split(' ').filter(|set| !set.is_empty()).filter(is_common).collect()
}

/// A line for each rung that has a time, with its best configuration; the best of all is marked. Beside it their tunables, by
/// rung, and what the table's signs mean.
fn rung_table(rows: &[&Swept], best: &Swept) -> (TextGrid, Vec<(String, String)>, Option<String>) {
    let own = |variant: &str| rows.iter().copied().filter(|r| *r.variant == *variant).collect::<Vec<_>>();
    let lines: Vec<(Vec<Timed<'_>>, usize)> = variants(rows)
        .into_iter()
        .map(|variant| (ranked(&own(variant)), own(variant).len()))
        .filter(|(ranked, _)| !ranked.is_empty())
        .collect();
    let text = |cell: &dyn Fn(&Swept) -> String| lines.iter().map(|(ranked, _)| cell(ranked[0].0)).collect::<Vec<_>>();
    let numbers = |head: &str, drop, cell: &dyn Fn(&[Timed<'_>]) -> Option<Value>| {
        let (unit, texts) = in_one_unit(&lines.iter().map(|(ranked, _)| cell(ranked)).collect::<Vec<_>>());
        let head = unit.map_or_else(|| head.to_owned(), |unit| format!("{head}\n{unit}"));
        GridColumn::numbers(head, texts, drop)
    };
    let counts = lines.iter().map(|(ranked, all)| format!("{} of {all}", ranked.len()));
    let mark = |row: &Swept| if std::ptr::eq(row, best) { "★ " } else { "  " };
    let columns = vec![
        GridColumn::texts("  rung", text(&|row| mark(row).to_owned() + &label_of(row)), 0),
        GridColumn::texts("wg", text(&|row| row.wg_text()), 0),
        numbers("best", 0, &|ranked| Some(Value::Seconds(ranked[0].1))),
        numbers(best.rate.0, 0, &|ranked| ranked[0].0.rate.1.map(Value::Rate)),
        numbers("of\nlimit", 0, &|ranked| ranked[0].0.of_limit),
        numbers("median", 2, &|ranked| Some(Value::Seconds(ranked[ranked.len() / 2].1))),
        numbers("worst", 3, &|ranked| ranked.last().map(|(_, time)| Value::Seconds(*time))),
        GridColumn::texts("timed", counts.collect(), 1),
    ];
    let tuned = lines.iter().map(|(ranked, _)| (label_of(ranked[0].0), ranked[0].0.params.to_string())).collect();
    let meaning = legend(true, lines.iter().filter_map(|(ranked, _)| ranked[0].0.of_limit.map(Value::text)));
    (TextGrid { columns }, tuned, meaning)
}

fn tunables(row: &Swept) -> String {
    if row.params.is_empty() { String::new() } else { format!(", {}", row.params) }
}

fn notes(rows: &[Swept], screen: Screen) -> String {
    let troubled: Vec<&Swept> = rows.iter().filter(|r| r.status != Status::Ok).collect();
    let reasons = groups(&troubled, |row| (row.status, &*row.reason));
    let mut text = if reasons.is_empty() { String::new() } else { "\n".to_owned() };
    for own in reasons.iter().take(NOTES) {
        let note = format!("note: {} {}: {}", own.len(), status_word(own[0].status), format::terminal(&own[0].reason));
        text.push_str(&format::wrap(&note, screen.width, "  "));
    }
    if reasons.len() > NOTES {
        text.push_str(&format!("note: {} more reasons are in the rows\n", reasons.len() - NOTES));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{self, SCREEN};
    use gpulab_record::{Flags, params_of, row};
    use gpulab_system::terminal::text as painted;

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
        golden::compare("sweep", &golden::at_all_widths("sweep", &|screen| summary(&swept(&rows), screen)));
    }

    #[test]
    fn colours_are_nothing_that_signs_do_not_say() {
        let rows = [timed(1, "32", 4e-6), timed(2, "32", 1e-6), timed(2, "64", 1.04e-6)];
        let colored = painted(&summary(&swept(&rows), Screen { color: true, ..SCREEN }));
        let stripped = ["\x1b[32m", "\x1b[0m"].iter().fold(colored.clone(), |text, code| text.replace(code, ""));
        assert_ne!(colored, stripped);
        assert_eq!(stripped, summary(&swept(&rows), SCREEN));
    }

    #[test]
    fn what_is_faster_than_the_ceiling_is_never_called_best() {
        let flagged = |flags: Flags| Row { flags, ..timed(2, "32", 1e-9) };
        let text = summary(&swept(&[timed(1, "32", 4e-6), flagged(flag::ABOVE_CEILING)]), SCREEN);
        assert!(text.contains("best: v1 naive"), "{text}");
        let cached = flagged(flag::FITS_CACHE | flag::ABOVE_CEILING);
        let text = summary(&swept(&[timed(1, "32", 4e-6), cached]), SCREEN);
        assert!(text.contains("best (its data fit the cache): v2 local"), "{text}");
    }

    #[test]
    fn where_the_time_went_adds_up() {
        let spent = Spent { build: 1.0, data: 0.5, verify: 2.0, measure: 5.0 };
        let time = SweepTime { jobs: spent, ceiling: 0.5, cut: 0.0, total: 10.0 };
        let text = time_split(&time);
        assert!(
            text.starts_with("10.0 s: ceiling 0.5 s (5.0%), compiling 1.0 s (10%)")
                && text.ends_with("the rest 1.0 s (10%)"),
            "{text}"
        );
        assert!(!text.contains("interrupt"), "{text}");
        let mut time = time;
        time.note(0.9, None);
        time.note(0.9, Some(Spent::default()));
        let text = time_split(&time);
        assert!(text.ends_with("what the interrupt cut short 0.9 s (9.0%), the rest 0.1 s (1.0%)"), "{text}");
    }

    #[test]
    fn nothing_of_notes_and_tunables_is_cut_off() {
        let long = "finish=device items=16 op=sum shuffles=1 size=compiled unroll=8 presum=host";
        let mut rows = vec![timed(1, "32", 4e-6), timed(2, "32", 1e-6), timed(2, "64", 2e-6)];
        rows[0].params = params_of("op=sum").unwrap();
        rows[1].params = params_of(long).unwrap();
        let reason =
            "needs sub-groups of 32 work-items that are all there, and this device has sub-groups of 8 or 16 of them";
        rows[2] = Row { status: Status::Skipped, reason: reason.to_owned(), t_median_s: None, ..rows[2].clone() };
        for width in [80, 100, 160] {
            let text = summary(&swept(&rows), Screen { width, ..SCREEN });
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let said = words(&text).join(" ");
            assert!(said.contains(reason) && !text.contains('…'), "{text}");
            assert!(long.split(' ').all(|set| said.contains(set)), "{text}");
            assert_eq!(text.matches("op=sum").count(), 2, "once below the table, once in the sentence: {text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn no_rows_are_no_sweep() {
        assert_eq!(summary(&[], SCREEN), "no configuration was finished\n");
    }
}

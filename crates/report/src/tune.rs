//! What a search for the fastest settings found, and why: at most a screen of 80 columns and 24 lines.

use super::groups::groups;
use super::rungs;
use super::sweep::{self, configuration};
use super::view::status_word;
use crate::format::{self, Screen};
use crate::table::Table;
use clap::ValueEnum;
use gpulab_model::Joined;
use gpulab_model::outcome::Status;
use gpulab_record::Row;

use gpulab_study::tune::{Effect, Ended, Strategy, effects, is_faster};

pub struct TuningTold<'a> {
    /// The last row of each configuration that was tried, of one problem.
    pub rows: &'a [Row],
    /// The fastest of them, if one has a time.
    pub best: Option<&'a Row>,
    pub default: Option<&'a Row>,
    /// Configurations of the whole space.
    pub space: usize,
    pub strategy: Strategy,
    /// Why it ended; none if it was interrupted.
    pub ended: Option<Ended>,
    pub seconds: f64,
    /// Configurations that were measured again, in rounds.
    pub finalists: usize,
}

/// How near to the best counts as just as good.
const FLAT: f64 = 1.05;

const LINES: usize = 24;

/// Characters of a reason: of a compiler's log the beginning.
const REASON: usize = 160;

pub fn explanation(told: &TuningTold<'_>, screen: Screen) -> String {
    let head = told.rows.first().map_or_else(
        || "nothing was measured\n".to_owned(),
        |row| screen.wrap_foreign(&title(row)),
    );
    let searched = screen.wrap_foreign(&searched(told))
        + &rejected(told.rows)
            .iter()
            .map(|line| screen.wrap_foreign(line))
            .collect::<String>();
    let Some(best) = told.best else {
        let reason = told
            .rows
            .iter()
            .find(|row| !row.reason.is_empty())
            .map_or("", |row| row.reason.as_str());
        let none = screen.wrap_foreign(&format!(
            "no configuration gave a time that can be trusted: {reason}"
        ));
        return format::on_screen(&(head + &searched + &none), screen);
    };
    let found = screen.wrap_foreign(&found(best))
        + &screen.wrap_foreign(&beside_default(best, told.default));
    let table = effect_table(&effects(told.rows)).fit(screen.width).lines();
    // Under its head and its line, if there is anything.
    let table = if table.len() > 3 {
        format!("\n{}\n", table.join("\n"))
    } else {
        String::new()
    };
    let flat = screen.wrap_foreign(&flatness(told, best));
    let next = match told.rows.len() < told.space && told.ended != Some(Ended::NearLimit) {
        true => {
            screen.wrap_foreign("beyond: --strategy exhaustive or a longer --budget tries the rest")
        }
        false => String::new(),
    };
    let map = sweep::map_of(told.rows, screen);
    let lines = [&head, &searched, &found, &table, &flat, &next]
        .iter()
        .map(|part| part.lines().count())
        .sum::<usize>();
    let has_room = !map.is_empty() && lines + map.lines().count() + 3 <= LINES;
    let map = if has_room {
        format!("\n{map}")
    } else {
        String::new()
    };
    format::on_screen(
        &format!("{head}{searched}\n{found}{table}{map}\n{flat}{next}"),
        screen,
    )
}

fn title(row: &Row) -> String {
    let device = format::device(&row.device);
    format!(
        "tuning {} on {device}: {}, n = {}",
        row.family,
        row.dtype,
        format::size(row.n, row.m)
    )
}

fn name(strategy: Strategy) -> String {
    strategy
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}

fn searched(told: &TuningTold<'_>) -> String {
    let TuningTold {
        rows,
        space,
        strategy,
        ended,
        seconds,
        ..
    } = told;
    let why = match ended {
        None => "it was interrupted",
        Some(Ended::Exhausted) => "all were tried",
        Some(Ended::Settled) => "further starts found nothing faster",
        Some(Ended::Budget) => "the budget is used up",
        Some(Ended::NearLimit) => "the best is at 95% of the device's limit",
    };
    let wrong = rows.iter().filter(|row| row.status != Status::Ok).count();
    let wrong = if wrong > 0 {
        format!(" ({wrong} without a time)")
    } else {
        String::new()
    };
    format!(
        "{} of {space} configurations tried{wrong}, {}, {seconds:.1} s: {why}",
        rows.len(),
        name(*strategy)
    )
}

/// The settings that gave no time, by why.
fn rejected(rows: &[Row]) -> Vec<String> {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.status != Status::Ok).collect();
    let mut lines = Vec::new();
    for own in groups(&rows, |row| (row.status, &row.reason)) {
        let Row {
            n,
            m,
            status,
            reason,
            ..
        } = own[0];
        let names = own.iter().map(|row| configuration(row)).joined("; ");
        let why = format::shorten(reason, REASON);
        lines.push(format!(
            "rejected at n = {}: {names}: {}: {why}",
            format::size(*n, *m),
            status_word(*status)
        ));
    }
    lines
}

fn found(best: &Row) -> String {
    let time = format::time(best.t_median_s.unwrap_or_default());
    let rate = rungs::rate(best);
    let rate = rate.1.map_or_else(String::new, |value| {
        format!(", {} {}", format::significant(value, 4), rate.0)
    });
    let limit = match (
        best.ceiling_pct,
        best.flags.contains(gpulab_record::flag::FITS_CACHE),
    ) {
        (_, true) => ", in cache".to_owned(),
        (Some(share), false) => format!(
            ", {} of the {} limit",
            format::percent(share / 100.0),
            best.ceiling
        ),
        (None, false) => String::new(),
    };
    format!("best: {}: {time}{rate}{limit}", configuration(best))
}

/// The best beside the default of its rung: faster only beyond their noise.
fn beside_default(best: &Row, default: Option<&Row>) -> String {
    let Some(default) = default else {
        return "its rung's default was not measured".to_owned();
    };
    let (Some(time), Some(own)) = (default.t_median_s, best.t_median_s) else {
        return format!(
            "default: {}: no time ({})",
            configuration(default),
            default.reason
        );
    };
    if default.case_index == best.case_index {
        return "that is its rung's default".to_owned();
    }
    let said = match is_faster(best, default) {
        true => format!("the best is {:.2} times as fast", time / own),
        false => format!(
            "undecided: the best's median is {:.2} times as fast, within the noise",
            time / own
        ),
    };
    format!(
        "default: {}: {}; {said}",
        configuration(default),
        format::time(time)
    )
}

/// A line for each parameter of which several values were tried.
fn effect_table(effects: &[Effect]) -> Table {
    let undecided = effects.iter().map(|e| {
        if e.is_decided {
            ""
        } else {
            "undecided: within the noise"
        }
        .to_owned()
    });
    Table::default()
        .texts("parameter", effects.iter().map(|e| e.name.clone()))
        .texts("best with", effects.iter().map(|e| e.with.clone()))
        .texts("best without", effects.iter().map(|e| e.without.clone()))
        .numbers(
            "times\nslower",
            effects.iter().map(|e| format!("{:.2}", e.ratio)),
        )
        .texts("", undecided)
        .dropped(1)
}

fn flatness(told: &TuningTold<'_>, best: &Row) -> String {
    let times: Vec<f64> = told
        .rows
        .iter()
        .filter(|row| row.status == Status::Ok)
        .filter_map(|row| row.t_median_s)
        .collect();
    let near = best.t_median_s.map_or(0, |least| {
        times.iter().filter(|time| **time <= FLAT * least).count()
    });
    let again = match told.finalists {
        0 => String::new(),
        count => format!("; {count} were measured again, in rounds"),
    };
    let are = if near == 1 { "is" } else { "are" };
    format!(
        "flat: {near} of {} with a time {are} within 5% of the best{again}",
        times.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;
    use gpulab_record::{Flags, params_of, row};

    fn timed(index: u64, rung: u32, wg: &str, params: &str, seconds: f64) -> Row {
        Row {
            rung: Some(rung),
            case_index: Some(index),
            sweep_id: "s1".into(),
            wg: Some(gpulab_kernels::values::work_group(wg).unwrap()),
            params: params_of(params).unwrap(),
            t_min_s: Some(seconds),
            t_q1_s: Some(0.99 * seconds),
            t_median_s: Some(seconds),
            t_q3_s: Some(1.01 * seconds),
            gbps: Some(8e-3 / seconds),
            ceiling: "read".into(),
            ceiling_gbps: Some(40.0),
            ceiling_pct: Some(2e-2 / seconds),
            flags: Flags::default(),
            ..row(if rung == 1 { "naive" } else { "local" })
        }
    }

    #[test]
    fn a_search_is_explained_on_a_screen() {
        let rows = [
            timed(0, 1, "256", "items=4096", 4e-3),
            timed(1, 2, "256", "items=4096", 2e-3),
            timed(2, 2, "256", "items=1024", 1e-3),
            timed(3, 2, "64", "items=1024", 1.005e-3),
            Row {
                status: Status::BuildFailed,
                reason: "a.cl:3: error: no such type\nx".into(),
                t_median_s: None,
                ..timed(4, 2, "32", "items=1024", 1.0)
            },
        ];
        let told = |ended, best: Option<usize>| TuningTold {
            rows: &rows,
            best: best.map(|at| &rows[at]),
            default: Some(&rows[1]),
            space: 9,
            strategy: Strategy::Descent,
            ended,
            seconds: 12.34,
            finalists: 4,
        };
        let whole = told(Some(Ended::Budget), Some(2));
        let text = golden::at_all_widths("tune", &|screen| explanation(&whole, screen));
        assert!(explanation(&whole, golden::SCREEN).lines().count() <= LINES);
        let cut =
            golden::at_all_widths("tune", &|screen| explanation(&told(None, Some(1)), screen));
        let none = golden::at_all_widths("tune", &|screen| {
            explanation(&told(Some(Ended::Settled), None), screen)
        });
        golden::compare("tune", &format!("{text}\n{cut}\n{none}"));
    }
}

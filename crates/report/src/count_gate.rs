//! Counts held against those of a file, as a table and sentences.

use crate::format::{self, Screen};
use crate::table::Table;
use gpulab_study::count::{CountAllowances, CountGrowth};

/// What changed of so many cases since `name` was written.
pub fn text(
    growths: &[CountGrowth],
    allowed: &CountAllowances,
    cases: usize,
    name: &str,
    screen: Screen,
) -> String {
    let cases = format::counted(cases, "case");
    if growths.is_empty() {
        return format::on_screen(&format!("{cases}: every count is as in {name}.\n"), screen);
    }
    let mut text = screen.wrap(&format!("{cases} against {name}: counts that changed"));
    for own in growths.chunk_by(|a, b| a.case == b.case) {
        let allowed = own.iter().map(|growth| match allowed.of(growth.gauge) {
            Some(share) if growth.is_refused(allowed) => {
                format!("+{}: MORE", format::percent(share))
            }
            Some(share) => format!("+{}", format::percent(share)),
            None => "-".to_owned(),
        });
        let grid = Table::default()
            .texts(
                "count",
                own.iter().map(|growth| growth.gauge.name.to_owned()),
            )
            .numbers(
                "before",
                own.iter().map(|growth| format::count(growth.before)),
            )
            .numbers("now", own.iter().map(|growth| format::count(growth.now)))
            .numbers("change", own.iter().map(change))
            .texts("allowed", allowed);
        text += &format!("\n{}\n{}", own[0].case, grid.shorten(screen.width).text());
    }
    format::on_screen(&text, screen)
}

/// By how much a count changed: as a share, or from twice on as a factor.
fn change(growth: &CountGrowth) -> String {
    let ratio = growth.now as f64 / growth.before as f64;
    match growth.before {
        0 => "new".to_owned(),
        _ if ratio >= 2.0 => format!("{} times", format::significant(ratio, 3)),
        _ if ratio >= 1.0 => format!("+{}", format::percent(ratio - 1.0)),
        _ => format!("-{}", format::percent(1.0 - ratio)),
    }
}

/// What grew, by how much, and what is allowed.
pub fn sentence(growth: &CountGrowth, allowed: &CountAllowances) -> String {
    let text = format!(
        "{} has more {}: {} before, {} now ({}; --fail-on allows +{})",
        growth.case,
        growth.gauge.name.replace('_', " "),
        format::count(growth.before),
        format::count(growth.now),
        change(growth),
        format::percent(allowed.of(growth.gauge).unwrap_or(0.0))
    );
    format::terminal(&text)
}

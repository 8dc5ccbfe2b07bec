//! Counts held against kept ones, as a table and sentences.

use crate::prelude::*;
use gpulab_study::count::{CountAllowances, CountGrowth, EditedLine};

/// What changed of so many cases since `name` was written.
pub fn text(
    growths: &[CountGrowth<'_>],
    allowed: &CountAllowances,
    (cases, name): (usize, &str),
    screen: Screen,
) -> String {
    let cases = format::counted(cases, "case");
    if growths.is_empty() {
        return format::on_screen(&format!("{cases}: every count is as in {name}.\n"), screen);
    }
    let mut text = format::wrap(&format!("{cases} against {name}: counts that changed"), screen.width, "  ");
    for own in growths.chunk_by(|a, b| a.case == b.case) {
        text += &format!("\n{}\n", own[0].case);
        if let Some([before, now]) = own[0].settings {
            text += &format::wrap(&format!("Settings: before {before}; now {now}."), screen.width, "  ");
        }
        text += &table(own, allowed, screen);
    }
    format::on_screen(&text, screen)
}

fn table(growths: &[CountGrowth<'_>], allowed: &CountAllowances, screen: Screen) -> String {
    let limit = |growth: &CountGrowth<'_>| match allowed.of(growth.gauge) {
        Some(allowance) if growth.is_refused(allowed) => format!("+{}: MORE", format::percent(allowance.share)),
        Some(allowance) => format!("+{}", format::percent(allowance.share)),
        None => "-".to_owned(),
    };
    let place =
        |growth: &CountGrowth<'_>| growth.place.as_ref().map_or_else(|| "-".to_owned(), |place| at(&place.line));
    let grid = TextGrid::of(growths)
        .texts("count", |growth| growth.gauge.name.to_owned())
        .numbers("before", |growth| format::count(growth.before))
        .numbers("now", |growth| format::count(growth.now))
        .numbers("change", change)
        .texts("allowed", limit)
        .texts("where", place);
    grid.grid().shorten(screen.width).lines().join("\n") + "\n"
}

/// By how much a count changed: as a share, or from twice on as a factor.
fn change(growth: &CountGrowth<'_>) -> String {
    let ratio = growth.now as f64 / growth.before as f64;
    match growth.before {
        0 => "new".to_owned(),
        _ if ratio >= 2.0 => format!("{} times", format::significant(ratio, 3)),
        _ if ratio >= 1.0 => format!("+{}", format::percent(ratio - 1.0)),
        _ => format!("-{}", format::percent(1.0 - ratio)),
    }
}

/// What grew, by how much, what is allowed, and at which line.
pub fn sentence(growth: &CountGrowth<'_>, allowed: &CountAllowances) -> String {
    let CountGrowth { case, kernel, gauge, before, now, settings, place } = growth;
    let share = allowed.of(gauge).map_or(0.0, |allowed| allowed.share);
    let change = change(growth);
    // A host program's case is the kernel.
    let who = if case == kernel { case.to_string() } else { format!("{case}: {kernel}") };
    let mut text = format!(
        "{who} has more {}: {} before, {} now ({change}; --fail-on allows +{})",
        gauge.name.replace('_', " "),
        format::count(*before),
        format::count(*now),
        format::percent(share)
    );
    if let Some(place) = place {
        text += &format!(", most at {}", at(&place.line));
        let edited: Vec<String> = place.edited.iter().take(FEW).map(at).collect();
        let more = place.edited.len() - edited.len();
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        if !place.is_edited && !edited.is_empty() {
            text += &format!("; edited was {}{more}", edited.join(", "));
        }
    }
    if let Some([before, now]) = settings {
        text += &format!("; settings were {before}, now {now}");
    }
    format::terminal(&text)
}

/// Most edited lines that a sentence names.
const FEW: usize = 2;

fn at(line: &EditedLine<'_>) -> String {
    let file = line.file.rsplit('/').next().unwrap_or(line.file);
    format!("{file}:{} `{}`", line.line, line.text)
}

//! Devices that did a case alone and together, as a table.

use super::compare::title;
use super::rungs::{is_memory_bound, operation_unit, rate};
use super::view::result;
use crate::prelude::*;

/// How the times of several devices come about.
const HOW: &str = "together, all devices begin at one time of the host's clock. Kernels: the longest of any device; by the \
                   host: from the first launch to the end of the last. End to end: from no buffers to one joined result";

/// The rows of a run over several devices: each alone, then all together, with their shares and what went wrong.
pub fn text(rows: &[Row], unit: RateUnit, medium: Medium) -> String {
    let Some(first) = rows.first() else { return "nothing was run\n".to_owned() };
    let width = if let Medium::Screen(screen) = medium { screen.width } else { usize::MAX };
    let grid = grid(rows, first, unit);
    let lines = match medium {
        Medium::Screen(screen) => grid.fitted(screen.width),
        Medium::Markdown => grid.markdown(),
    };
    let mut text = format!("{}{}\n\n{lines}", title(&first.into()), of_rung(rows));
    let mut add = |line: &str| {
        text.push('\n');
        text.push_str(&format::wrap(&format::terminal(line), width, "  "));
    };
    rows.iter().filter(|row| is_together(row)).for_each(|row| add(&format!("shares: {}", shares(row))));
    result(rows).iter().for_each(|result| add(result));
    rows.iter()
        .filter(|row: &&Row| !row.reason.is_empty())
        .for_each(|row| add(&format!("{}: {}", name(row), row.reason)));
    if rows.iter().any(is_together) {
        add(&format!("note: {HOW}"));
    }
    match medium {
        Medium::Screen(screen) => format::on_screen(&text, screen),
        Medium::Markdown => text,
    }
}

fn is_together(row: &Row) -> bool {
    row.shares.contains(' ')
}

/// Devices and their elements or rows, by the devices' selectors.
fn portions(row: &Row) -> impl Iterator<Item = (&str, u64)> {
    row.shares.split(' ').filter_map(|share| {
        let (device, len) = share.split_once('=')?;
        Some((device, len.parse().ok()?))
    })
}

/// `0:0 + 1:0`, or `0:0 NVIDIA H100`.
pub fn name(row: &Row) -> String {
    let devices: Vec<&str> = portions(row).map(|(device, _)| device).collect();
    match devices[..] {
        [device] => format!("{device} {}", format::device(&row.device)),
        _ => devices.join(" + "),
    }
}

/// `0:0 60.0% (5_120), 1:0 40.0% (3_413)`.
fn shares(row: &Row) -> String {
    let all: u64 = portions(row).map(|(_, len)| len).sum();
    let of_all = |len: u64| Value::Percent(100.0 * len as f64 / all.max(1) as f64).text();
    let texts = portions(row).map(|(device, len)| format!("{device} {} ({})", of_all(len), format::count(len)));
    texts.joined(", ")
}

/// `, v7 wide`, where all rows are of one rung.
fn of_rung(rows: &[Row]) -> String {
    let first = rows.first().map(label).unwrap_or_default();
    if rows.iter().all(|row| label(row) == first) { format!(", {first}") } else { String::new() }
}

fn grid(rows: &[Row], first: &Row, unit: RateUnit) -> TextGrid {
    let text = |value: Option<Value>| value.map_or_else(|| "-".to_owned(), Value::text);
    let head = if is_memory_bound(first) { unit.named("GB/s") } else { operation_unit(first).0.to_owned() };
    let of_kind = |row: &Row, value: f64| if is_memory_bound(row) { unit.of(value) } else { value };
    let verdict = |row: &Row| if row.status == Status::Ok { "ok".to_owned() } else { row.status.name().to_owned() };
    let mut table = TextGrid::of(rows).texts("devices", name);
    if of_rung(rows).is_empty() {
        table = table.texts("rung", label);
    }
    table
        .numbers("kernels", |row| text(row.t_median_s.map(Value::Seconds)))
        .numbers(head, |row| text(rate(row).1.map(|value| Value::Rate(of_kind(row, value)))))
        .dropped(3)
        .numbers("of ideal", |row| text(row.ideal_pct.map(Value::Percent)))
        .numbers("by the\nhost", |row| text(row.t_wall_median_s.map(Value::Seconds)))
        .dropped(2)
        .numbers("end\nto end", |row| text(row.t_end_to_end_s.map(Value::Seconds)))
        .numbers("of ideal", |row| text(row.ideal_end_to_end_pct.map(Value::Percent)))
        .texts("verdict", verdict)
        .grid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::{SCREEN, at_all_widths, compare};
    use gpulab_record::row;

    fn rows() -> Vec<Row> {
        let base = Row { reason: String::new(), ..row("wide") };
        let alone = |share: &str, seconds| Row {
            shares: share.to_owned(),
            t_median_s: Some(seconds),
            gbps: Some(8e-6 / seconds),
            device: "Device".to_owned(),
            ..base.clone()
        };
        let together = Row {
            device: "Device + Device".to_owned(),
            ideal_pct: Some(93.75),
            ideal_end_to_end_pct: Some(50.0),
            reason: "2:0 did not do its share, so others did it".to_owned(),
            ..alone("0:0=750 1:0=250", 8e-4)
        };
        let lost =
            Row { status: Status::Failed, reason: "it died".to_owned(), t_median_s: None, ..alone("2:0=0", 1.0) };
        vec![alone("0:0=1000", 1e-3), alone("1:0=1000", 3e-3), lost, together]
    }

    #[test]
    fn each_device_alone_and_all_together_have_a_line() {
        let all = at_all_widths("team", &|screen| text(&rows(), RateUnit::GB, Medium::Screen(screen)));
        compare("team", &all);
        let text = text(&rows(), RateUnit::GB, Medium::Markdown);
        assert!(text.contains("| 0:0 + 1:0 | 800.0 us |"), "{text}");
        assert!(text.contains("shares: 0:0 75.0% (750), 1:0 25.0% (250)"), "{text}");
    }

    #[test]
    fn rows_of_one_device_say_nothing_of_sharing() {
        let text = text(&rows()[..1], RateUnit::GB, Medium::Screen(SCREEN));
        assert!(!text.contains("shares") && !text.contains("together"), "{text}");
        assert_eq!(super::text(&[], RateUnit::GB, Medium::Markdown), "nothing was run\n");
    }
}

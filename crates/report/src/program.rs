//! What a host program did with OpenCL, as text.

use crate::format::{self, Screen};
use crate::table::Table;
use gpulab_model::Joined;
use gpulab_record::ProgramRow;

/// What a buffer was made with: nobody says when it was copied.
const AT_CREATION: &str = "write at creation";

/// A table of kernels and other commands, the longest first, and sentences about the rest. `wall` is how long the program ran, in
/// seconds; `code_name` OpenCL's name of a code.
pub fn text(
    rows: &[ProgramRow],
    wall: f64,
    code_name: fn(i32) -> &'static str,
    screen: Screen,
) -> String {
    if rows.is_empty() {
        return screen.wrap("no OpenCL call was seen: the program makes none, or has a loader without layers in itself, or loads no library");
    }
    let of = |what: &'static str| rows.iter().filter(move |row| row.what == what);
    let mut commands: Vec<&ProgramRow> = rows.iter().filter(|row| row.is_command()).collect();
    commands.sort_by(|a, b| b.t_total_s.total_cmp(&a.t_total_s));
    let mut said = vec![format!("the program ran for {}", format::time(wall))];
    said.extend(of("refused").map(|row| {
        format!(
            "refused: {}, {} ({}), {} times",
            row.name,
            code_name(row.code),
            row.code,
            row.count
        )
    }));
    let left = of("unreleased").filter(|row| row.count > 0);
    let left = left
        .map(|row| format!("{} {} ({} bytes)", row.name, row.count, row.bytes))
        .joined(", ");
    said.push(match (of("end").count(), left.as_str()) {
        (0, _) => {
            "never released: not looked at, as the program did not end by exit or return from main"
                .to_owned()
        }
        (_, "") => "all that it made was released".to_owned(),
        _ => format!("never released: {}", left.replace(" (0 bytes)", "")),
    });
    let timed = commands.iter().filter(|row| row.what != AT_CREATION);
    let untimed: u64 = timed.map(|row| row.count - row.timed).sum();
    if untimed > 0 {
        said.push(format!(
            "{untimed} commands without a time: nobody waited for them, or their queue has no times"
        ));
    }
    let own = of("layer")
        .map(|row| format::time(row.t_total_s))
        .joined(" and ");
    said.push(format!(
        "looking on took {own} of it, beside what the driver needs to take times"
    ));
    let said = said.iter().map(|sentence| screen.wrap(sentence));
    format::on_screen(
        &(table(&commands).fitted(screen.width) + &said.joined("")),
        screen,
    )
}

fn table(rows: &[&ProgramRow]) -> Table {
    let names = rows.iter().map(|row| match row.what.as_str() {
        "kernel" => row.name.clone(),
        command => format!("[{command}]"),
    });
    let times = |of: fn(&ProgramRow) -> f64| {
        rows.iter()
            .map(move |row| format::time(of(row)).replace("NaN s", "-"))
    };
    let moved = rows
        .iter()
        .map(|row| format::significant(row.bytes as f64 / 1e6, 3));
    Table::default()
        .texts("kernel or\n[command]", names)
        .numbers("count", rows.iter().map(|row| format::count(row.count)))
        .numbers("time", times(|row| row.t_total_s))
        .numbers(
            "of wall\ntime",
            rows.iter().map(|row| format::percent(row.wall_share)),
        )
        .numbers("mean", times(|row| row.t_total_s / row.timed as f64))
        .numbers("least", times(|row| row.t_min_s))
        .dropped(1)
        .numbers("most", times(|row| row.t_max_s))
        .numbers("MB", moved)
}

//! How the rates of a ladder come about, with their numbers: what `-v` adds.

use super::ladder::WIDTH;
use super::rungs::{is_memory_bound, operation_unit};
use crate::format;
use crate::rungs::label;
use gpulab_model::outcome::Status;
use gpulab_record::Row;

/// The formula of a ladder's rates, which counts what `counted` says, and a line with its numbers for each rung that has a time;
/// empty without any.
pub fn text(rows: &[Row], counted: &str) -> String {
    let rungs: Vec<&Row> = rows
        .iter()
        .filter(|r| !r.on_host() && r.repeats().is_none() && r.status == Status::Ok)
        .collect();
    let lines: Vec<String> = rungs.iter().filter_map(|r| line(r)).collect();
    let (Some(first), false) = (rungs.first(), lines.is_empty()) else {
        return String::new();
    };
    let head = match is_memory_bound(first) {
        true => format!("GB/s = bytes read and written / time / 10^9 ({counted})"),
        false => match operation_unit(first) {
            (unit, 1.0) => format!("{unit} = operations / time / 10^9 ({counted})"),
            _ => format!("Gop/s = operations / time / 10^9 ({counted})"),
        },
    };
    let unit = match first.family.as_str() {
        "transpose" => {
            "\nNVIDIA's transpose figures divide by 1024^3 bytes: compare them with GiB/s, or use --gib"
        }
        _ if is_memory_bound(first) => {
            "\nGB = 10^9 bytes, GiB = 1024^3 bytes: sources that divide by 1024^3 have smaller numbers"
        }
        _ => "",
    };
    let text = format!("{head}{unit}\n{}", lines.join("\n"));
    text.lines()
        .map(|line| format::wrap(line, WIDTH, "  "))
        .collect()
}

/// `v4 vectorised: 134_217_728 bytes / 310.2 us = 432.7 GB/s = 403.0 GiB/s; of 4800 at the peak 9.01%`.
fn line(row: &Row) -> Option<String> {
    let name = format::terminal(&label(row));
    let time = format::time(row.t_median_s?);
    let (amount, rate, peak) = match is_memory_bound(row) {
        true => (
            format!("{} bytes", format::count(row.bytes?)),
            row.gbps?,
            row.peak_gbps,
        ),
        false => (
            format!("{} operations", format::count(row.ops?)),
            row.gops?,
            row.peak_gops,
        ),
    };
    let value = match is_memory_bound(row) {
        true => format!(
            "{} GB/s = {} GiB/s",
            four(rate),
            four(rate * 1e9 / (1u64 << 30) as f64)
        ),
        false => match operation_unit(row) {
            (unit, 1.0) => format!("{} {unit}", four(rate)),
            (unit, operations) => {
                format!("{} Gop/s = {} {unit}", four(rate), four(rate / operations))
            }
        },
    };
    let of_peak = peak
        .map(|peak| format!("\n  of peak: {} / {}", four(rate), four(peak)))
        .unwrap_or_default();
    Some(format!("{name}:\n  {amount} / {time} = {value}{of_peak}"))
}

fn four(x: f64) -> String {
    format::significant(x, 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_record::row;

    #[test]
    fn a_bandwidth_is_told_with_its_numbers_and_both_units() {
        let rung = Row {
            rung: Some(4),
            bytes: Some(134_217_728),
            t_median_s: Some(310.2e-6),
            gbps: Some(432.68),
            peak_gbps: Some(4800.0),
            ..row("vectorised")
        };
        insta::assert_snapshot!(text(&[rung], "2 n elements read"), @r"
        GB/s = bytes read and written / time / 10^9 (2 n elements read)
        GB = 10^9 bytes, GiB = 1024^3 bytes: sources that divide by 1024^3 have smaller
          numbers
        v4 vectorised:
          134_217_728 bytes / 310.2 us = 432.7 GB/s = 403.0 GiB/s
          of peak: 432.7 / 4800
        ");
    }

    #[test]
    fn pairs_are_told_as_operations_and_transposes_with_the_unit_of_their_source() {
        let step = Row {
            family: "minplus".into(),
            ops: Some(2_000_000),
            t_median_s: Some(1e-3),
            gops: Some(2.0),
            ..row("naive")
        };
        assert!(
            text(&[step], "")
                .contains("2_000_000 operations / 1.000 ms = 2.000 Gop/s = 1.000 Gpair/s")
        );
        let moved = Row {
            family: "transpose".into(),
            gbps: Some(8.0),
            ..row("naive")
        };
        assert!(text(&[moved], "").contains("NVIDIA's transpose figures divide by 1024^3 bytes"));
    }

    #[test]
    fn nothing_is_told_without_times() {
        assert_eq!(text(&[], ""), "");
        assert_eq!(
            text(
                &[Row {
                    status: Status::Skipped,
                    gbps: Some(1.0),
                    ..row("naive")
                }],
                ""
            ),
            ""
        );
    }
}

//! A min-plus ladder in the units of PPC, chapter 4: operations a clock of the whole device.

use gpulab_record::Row;

/// The chapter's size of the problem.
pub const N: u64 = 6300;

/// What the chapter says of its own devices, and what a unit of this program's tables is in its units.
const THERE: &str = "PPC, chapter 4, n = 6300, counts operations a clock; a pair is two of them:\n  \
                     there, 640 units: 8 s before its version 2, 1.2 s with it = 374 a clock,\n  \
                     58 % of 640 (five compute units of 128, so 37.4 pairs/CU/clk); its CPU 2 s;\n  \
                     all overhead within, so compare its times with those from end to end\n";

/// Above the lines of rungs.
const HEADER: &str = "                             kernel                      end to end\n                       \
                      time  a clock  pairs        time  a clock  pairs\n";

/// The chapter's figures and those of these rows, a line each, if the clock of their device is known. Times are comparable
/// at the chapter's size only.
pub fn beside(rows: &[Row], compute_units: u32) -> Option<String> {
    let lines: String = rows.iter().filter_map(|row| line(row, compute_units)).collect();
    let here = || format!("  here, {compute_units} compute units, n = {}, pairs/CU/clk:\n{HEADER}", rows[0].n);
    (!lines.is_empty()).then(|| format!("\n{THERE}{}{lines}", here()))
}

fn line(row: &Row, compute_units: u32) -> Option<String> {
    let (kernel, per_unit, number) = (row.t_median_s?, row.ops_per_cu_clock?, row.rung?);
    let cells = |time: f64| {
        let per_unit = per_unit * kernel / time;
        let all = super::format::significant(per_unit * f64::from(compute_units), 4);
        let pairs = super::format::significant(per_unit / 2.0, 3);
        format!("{:>9}{all:>9}{pairs:>7}", super::format::time(time))
    };
    let whole = row.t_end_to_end_s.map_or_else(|| "-".to_owned(), cells);
    let name = format!("v{number} {}", row.variant);
    Some(format!("    {name:<14}{}   {whole:>25}\n", cells(kernel)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_record::row;

    #[test]
    fn operations_of_all_units_are_told() {
        let h200 = Row {
            rung: Some(2),
            n: N,
            t_median_s: Some(0.032590432),
            t_end_to_end_s: Some(0.150742453),
            ops_per_cu_clock: Some(58.7113957883748),
            ..row("registers")
        };
        let text = beside(std::slice::from_ref(&h200), 132).unwrap();
        // The chapter's 374 have its transfers within: held against the kernel alone, this would be 4.6 times too kind.
        let own = "v2 registers   32.59 ms     7750   29.4    150.7 ms     1676   6.35";
        assert!(text.contains(own), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
        let inputs_only = Row { t_end_to_end_s: None, ..h200.clone() };
        assert!(beside(&[inputs_only], 132).unwrap().ends_with("   29.4                           -\n"));
        let unknown = Row { ops_per_cu_clock: None, ..h200 };
        assert_eq!(beside(&[unknown], 132), None);
    }
}

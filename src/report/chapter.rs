//! A min-plus ladder in the units of PPC, chapter 4: operations a clock of the whole device.

use crate::record::Row;

/// The chapter's size of the problem.
pub const N: u64 = 6300;

/// What the chapter says of its own devices, and what a unit of this program's tables is in its units.
const THERE: &str = "PPC, chapter 4, n = 6300, counts operations a clock; a pair is two of them:\n  \
                     there, 640 units: 8 s before its version 2, 1.2 s with it = 374 a clock,\n  \
                     58 % of 640 (five compute units of 128, so 37.4 pairs/CU/clk); its CPU 2 s\n";

/// The chapter's figures and those of these rows, a line each, if the clock of their device is known. Times are comparable
/// at the chapter's size only.
pub fn beside(rows: &[Row], compute_units: u32) -> Option<String> {
    let lines: String = rows.iter().filter_map(|row| line(row, compute_units)).collect();
    (!lines.is_empty()).then(|| format!("\n{THERE}  here, {compute_units} compute units, n = {}:\n{lines}", rows[0].n))
}

fn line(row: &Row, compute_units: u32) -> Option<String> {
    let (per_unit, number) = (row.ops_per_cu_clock?, row.rung?);
    let time = super::format::time(row.t_median_s?);
    let all = super::format::significant(per_unit * f64::from(compute_units), 4);
    let pairs = super::format::significant(per_unit / 2.0, 3);
    let name = format!("v{number} {}", row.variant);
    Some(format!("    {name:<14} {time:>9}  {all:>7} operations a clock = {pairs:>6} pairs/CU/clk\n"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::row;

    #[test]
    fn operations_of_all_units_are_told() {
        let h200 = Row {
            rung: Some(2),
            n: N,
            t_median_s: Some(0.032590432),
            ops_per_cu_clock: Some(58.7113957883748),
            ..row("registers")
        };
        let text = beside(std::slice::from_ref(&h200), 132).unwrap();
        assert!(text.contains("v2 registers    32.59 ms     7750 operations a clock =   29.4 pairs/CU/clk"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 80), "{text}");
        let unknown = Row { ops_per_cu_clock: None, ..h200 };
        assert_eq!(beside(&[unknown], 132), None);
    }
}

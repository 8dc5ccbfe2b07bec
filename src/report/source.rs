//! A source's claim beside what this device does.

use super::format;
use super::ladder::WIDTH;
use super::view::range;
use crate::record::{CPU_DOUBLE, Row};
use crate::runner::Status;
use crate::stats::ratio;

/// The CMSoft article's claim for the dot product, and the same comparison here: the fastest kernel over one thread that
/// adds in double, without transfers and with them.
pub fn cmsoft(rows: &[Row]) -> String {
    let claim = "The CMSoft article: about 25 times as fast as the CPU, in double, near 10^6 elements.";
    let here = here(rows).unwrap_or_else(|| "Here: not known, as one of the two gave no time.".to_owned());
    [claim, &here].map(|line| format::wrap(line, WIDTH, "  ")).concat()
}

fn here(rows: &[Row]) -> Option<String> {
    let right = || rows.iter().filter(|r| r.status == Status::Ok && r.t_median_s.is_some());
    let cpu = right().find(|r| r.on_host() && r.variant == CPU_DOUBLE)?;
    let rungs = right().filter(|r| r.rung.is_some());
    let best = rungs.min_by(|a, b| a.t_median_s.partial_cmp(&b.t_median_s).unwrap_or(std::cmp::Ordering::Equal))?;
    let over = |row: &Row, time: Option<f64>| {
        Some((ratio(cpu.t_median_s?, time?)?, cpu.noise.unwrap_or(0.0) + row.noise.unwrap_or(0.0)))
    };
    let kernels = told(over(best, best.t_median_s)?);
    let whole = over(best, best.t_end_to_end_s);
    let whole = whole.map(|(x, noise)| told((x, noise + best.end_to_end_noise.unwrap_or(0.0))));
    let whole = whole.map_or_else(|| "with transfers not measured".to_owned(), |told| format!("with transfers {told}"));
    Some(format!(
        "Here, n = {}: {} is {kernels} without transfers, {whole}.",
        format::count(best.n),
        format::terminal(&best.variant)
    ))
}

/// A factor, or the factors between which it lies where the spread is large.
fn told((x, noise): (f64, f64)) -> String {
    /// Up to which spread a factor is told as one number.
    const SMALL: f64 = 0.2;
    let half = if noise <= SMALL { 0.0 } else { noise / 2.0 };
    let (least, most) = (x / (1.0 + half), x * (1.0 + half));
    let two = |x| format::significant(x, 2);
    match (least >= 1.0, most >= 1.0) {
        (true, _) => format!("{} times as fast", range(&[least, most], two)),
        (false, false) => format!("{} times slower", range(&[1.0 / most, 1.0 / least], two)),
        (false, true) => {
            format!("between {} times slower and {} times as fast: undecided", two(1.0 / least), two(most))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{HOST, row};

    fn rows(noise: f64) -> Vec<Row> {
        let rung = |number, variant, seconds| Row {
            rung: Some(number),
            n: 1_000_000,
            t_median_s: Some(seconds),
            t_end_to_end_s: Some(2e-3),
            noise: Some(noise),
            ..row(variant)
        };
        let cpu = Row { rung: None, platform: HOST.into(), ..rung(0, CPU_DOUBLE, 1e-3) };
        vec![rung(1, "naive", 80e-6), rung(3, "local", 40e-6), cpu]
    }

    #[test]
    fn the_claim_stands_beside_the_same_comparison_here() {
        insta::assert_snapshot!(cmsoft(&rows(0.01)), @r"
        The CMSoft article: about 25 times as fast as the CPU, in double, near 10^6
          elements.
        Here, n = 1_000_000: local is 25 times as fast without transfers, with transfers
          2.0 times slower.
        ");
    }

    #[test]
    fn a_large_spread_makes_a_range() {
        assert!(cmsoft(&rows(0.25)).contains("local is 20 to 31 times as fast without"), "{}", cmsoft(&rows(0.25)));
    }

    #[test]
    fn a_spread_across_one_is_undecided() {
        assert_eq!(told((1.1, 0.5)), "between 1.1 times slower and 1.4 times as fast: undecided");
        assert_eq!(told((0.5, 0.5)), "1.6 to 2.5 times slower");
    }

    #[test]
    fn nothing_is_claimed_without_both_times() {
        assert!(cmsoft(&rows(0.01)[..2]).contains("not known"));
        assert!(cmsoft(&[]).contains("not known"));
    }
}

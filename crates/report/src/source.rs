//! A source's claim beside what this device does.

use super::ladder::WIDTH;
use super::printed::with_figures;
use super::rungs::range;
use crate::prelude::*;
use gpulab_model::stats::ratio;
use gpulab_record::CPU_DOUBLE;

/// The rung that is the last of the article's kernels, with launches of their own that clear and presum.
const ARTICLE: (&str, &str) = ("v3 local", "local");

/// The CMSoft article's claim for the dot product, and the same comparison here: the article's last kernel, and the rung that
/// took least if that is another, over one thread that adds in double, without transfers and with them.
pub fn cmsoft(rows: &[Row]) -> String {
    let claim = "The CMSoft article: about {speedup} times as fast as the CPU, in double, near 10^6 elements.";
    let claim = &with_figures("cmsoft", claim);
    let here = here(rows).unwrap_or_else(|| "Here: not known, as one of the two gave no time.".to_owned());
    [claim, &here].map(|line| format::wrap(line, WIDTH, "  ")).concat()
}

fn here(rows: &[Row]) -> Option<String> {
    let right = || rows.iter().filter(|r| r.status == Status::Ok && r.t_median_s.is_some());
    let cpu = right().find(|r| r.on_host() && r.variant == CPU_DOUBLE)?;
    let least = |is_meant: fn(&Row) -> bool| {
        let rungs = right().filter(|r| r.rung.is_some() && is_meant(r));
        rungs.min_by(|a, b| a.t_median_s.partial_cmp(&b.t_median_s).unwrap_or(std::cmp::Ordering::Equal))
    };
    let fastest = least(|_| true)?;
    let of_article = least(|r| r.variant == ARTICLE.1);
    let own = match of_article {
        Some(own) => format!("{}, the article's last kernel, is {}.", named(own), beside(own, cpu)?),
        None => format!("{}, the article's last kernel, has no right result.", ARTICLE.0),
    };
    let other = match of_article.is_none_or(|own| own.variant != fastest.variant) {
        true => format!(" Of these rungs {} took the least time: {}.", named(fastest), beside(fastest, cpu)?),
        false => String::new(),
    };
    Some(format!("Here, n = {}: {own}{other}", format::count(fastest.n)))
}

/// `v2 coalesced (3 launches)`.
fn named(row: &Row) -> String {
    let number = row.rung.map_or_else(String::new, |number| format!("v{number} "));
    let launches = row.launches.map_or_else(String::new, |launches| {
        let word = if launches == 1 { "launch" } else { "launches" };
        format!(" ({launches} {word})")
    });
    format!("{number}{}{launches}", format::terminal(&row.variant))
}

/// How a rung compares with the CPU, without transfers and with them.
fn beside(row: &Row, cpu: &Row) -> Option<String> {
    let over =
        |time: Option<f64>| Some((ratio(cpu.t_median_s?, time?)?, cpu.noise.unwrap_or(0.0) + row.noise.unwrap_or(0.0)));
    let kernels = told(over(row.t_median_s)?);
    let whole = over(row.t_end_to_end_s).map(|(x, noise)| told((x, noise + row.end_to_end_noise.unwrap_or(0.0))));
    let whole = whole.map_or_else(|| "with transfers not measured".to_owned(), |told| format!("with transfers {told}"));
    Some(format!("{kernels} without transfers, {whole}"))
}

/// A factor, or the factors between which it lies where the spread is large.
fn told((x, noise): (f64, f64)) -> String {
    /// Up to which spread a factor is told as one number.
    const SMALL: f64 = 0.2;
    let half = if noise <= SMALL { 0.0 } else { noise / 2.0 };
    let least = x / (1.0 + half);
    let most = x * (1.0 + half);
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
    use gpulab_record::{HOST, row};

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
        vec![rung(1, "naive", 80e-6), rung(2, "coalesced", 40e-6), rung(3, "local", 60e-6), cpu]
    }

    /// The claim, each sentence on one line of its own.
    fn sentences(rows: &[Row]) -> String {
        cmsoft(rows).replace("\n  ", " ")
    }

    #[test]
    fn the_claim_stands_beside_the_same_comparison_here() {
        insta::assert_snapshot!(cmsoft(&rows(0.01)), @r"
        The CMSoft article: about 25 times as fast as the CPU, in double, near 10^6
          elements.
        Here, n = 1_000_000: v3 local, the article's last kernel, is 17 times as fast
          without transfers, with transfers 2.0 times slower. Of these rungs v2
          coalesced took the least time: 25 times as fast without transfers, with
          transfers 2.0 times slower.
        ");
    }

    #[test]
    fn the_claim_is_compared_with_the_article_s_last_kernel_where_another_rung_is_faster() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/results/nvidia-h200/dot_cmsoft.csv");
        let recorded = Vec::from_iter(csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap));
        insta::assert_snapshot!(cmsoft(&recorded), @r"
        The CMSoft article: about 25 times as fast as the CPU, in double, near 10^6
          elements.
        Here, n = 1_000_000: v3 local (3 launches), the article's last kernel, is 5.3
          times as fast without transfers, with transfers 1.2 to 1.6 times slower. Of
          these rungs v1 naive (1 launch) took the least time: 11 times as fast without
          transfers, with transfers between 1.4 times slower and 1.2 times as fast:
          undecided.
        ");
    }

    #[test]
    fn another_rung_is_no_stand_in_for_the_article_s_kernel() {
        let said = "v3 local, the article's last kernel, has no right result. Of these rungs v2 coalesced took the least \
                    time: 25 times as fast without";
        let mut wrong = rows(0.01);
        wrong[2].status = Status::WrongResult;
        assert!(sentences(&wrong).contains(said), "{}", cmsoft(&wrong));
        wrong.remove(2);
        assert!(sentences(&wrong).contains(said), "{}", cmsoft(&wrong));
    }

    #[test]
    fn a_large_spread_makes_a_range_and_one_across_one_is_undecided() {
        let said = sentences(&rows(0.25));
        assert!(said.contains("is 13 to 21 times as fast without"), "{said}");
        assert_eq!(told((1.1, 0.5)), "between 1.1 times slower and 1.4 times as fast: undecided");
        assert_eq!(told((0.5, 0.5)), "1.6 to 2.5 times slower");
        assert!(cmsoft(&rows(0.01)[..3]).contains("not known"));
        assert!(cmsoft(&[]).contains("not known"));
    }
}

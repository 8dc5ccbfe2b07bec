//! A source's claim beside what this device does.

use super::ladder::WIDTH;
use super::printed::with_figures;
use crate::format;
use gpulab_model::outcome::Status;
use gpulab_record::CPU_DOUBLE;
use gpulab_record::Row;

/// The CMSoft article's claim for the dot product, and the same comparison here: the article's last kernel over one thread that adds
/// in double, without transfers and with them.
pub fn cmsoft(rows: &[Row]) -> String {
    let claim = "The CMSoft article: about {speedup} times as fast as the CPU, in double, near 10^6 elements.";
    let here =
        here(rows).unwrap_or_else(|| "Here: not known, as one of the two gave no time.".to_owned());
    [&with_figures("cmsoft", claim), &here]
        .map(|line| format::wrap(line, WIDTH, "  "))
        .concat()
}

fn here(rows: &[Row]) -> Option<String> {
    let [rung, cpu] = ["local", CPU_DOUBLE].map(|variant| {
        rows.iter()
            .find(|r| r.status == Status::Ok && r.variant == variant)
    });
    let rung = rung?;
    let cpu_s = cpu?.t_median_s?;
    let alone = cpu_s / rung.t_median_s?;
    let whole = rung
        .t_end_to_end_s
        .map_or("-".to_owned(), |time| format::significant(cpu_s / time, 2));
    Some(format!(
        "Here, n = {}: v3 local, the article's last kernel, is {} times as fast without transfers, with transfers {whole} times.",
        format::count(rung.n),
        format::significant(alone, 2),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_claim_stands_beside_the_same_comparison_here() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../data/results/nvidia-h200/dot_cmsoft.csv"
        );
        let recorded: Vec<Row> = csv::Reader::from_path(path)
            .unwrap()
            .deserialize()
            .map(Result::unwrap)
            .collect();
        insta::assert_snapshot!(cmsoft(&recorded), @r"
        The CMSoft article: about 25 times as fast as the CPU, in double, near 10^6
          elements.
        Here, n = 1_000_000: v3 local, the article's last kernel, is 5.3 times as fast
          without transfers, with transfers 0.70 times.
        ");
        assert!(cmsoft(&recorded[..1]).contains("not known"));
        assert!(cmsoft(&[]).contains("not known"));
    }
}

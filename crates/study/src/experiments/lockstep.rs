//! Lockstep: a tree's last steps within one warp, without synchronisation, with `volatile`, and synchronised.
//!
//! Slides of 2007 to 2012 leave the last barriers out, as the 32 items of a warp run in step. OpenCL never promised that, and
//! CUDA does not since work-items have program counters of their own (NVIDIA, "Volta Tuning Guide", 2017). Here a wrong sum is
//! the answer, not a failure: it is counted.

use super::prelude::*;
use gpulab_kernels::lab::lockstep;

const GROUPS: u64 = 1024;
/// The share of them whose sum is wrong.
const WRONG: Metric =
    Metric { name: "wrong", unit: "%", of: |row: &Row| row.max_err.map(|wrong| 100.0 * wrong / GROUPS as f64) };

const BARE: &str = "no synchronisation";
const VOLATILE: &str = "volatile";
const SYNCHRONISED: &str = "synchronised";
const SERIES: [(&str, &str); 3] = [(BARE, "bare"), (VOLATILE, "volatile"), (SYNCHRONISED, "synchronised")];

pub const LOCKSTEP: Experiment = Experiment {
    name: "lockstep",
    question: "Can the last steps of a tree do without a barrier, as in old slides: with volatile, or with nothing?",
    about: Explanation {
        idea: "The last steps of a tree within one warp: without synchronisation, with volatile, and synchronised. \
               Wrong sums are counted; speed is not the question.",
        expect: "Only the synchronised form is right by the rules of the language. The others are wrong on some devices, \
               or right by luck.",
        but: "That no sum was wrong proves nothing: another compiler, driver or device may lose the race. Where \
               nothing else synchronises a warp, the third form uses barriers.",
        cuda: "Warp-synchronous code: __syncwarp() is needed since Volta gave each thread a program counter of its own.",
    },
    x_name: "wg",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    let groups = [64, 128, 256, 512, 1024].into_iter().filter(|&wg| wg <= scope.target.max_wg);
    let trial = |wg: usize, (name, variant)| {
        let own = Own::of(&lockstep::FAMILY, variant, Dtype::I32, GROUPS * wg as u64, wg);
        own.trial(scope, name, wg as f64, WRONG, &[])
    };
    groups.flat_map(|wg| SERIES.map(|series| trial(wg, series))).collect()
}

fn finding(points: &[Point]) -> String {
    let [bare, volatile] = [BARE, VOLATILE].map(|name| most(points, name));
    let (Some(bare), Some(volatile)) = (bare, volatile) else {
        return nothing(points, "The sums were not counted.");
    };
    let races = match (bare > 0.0, volatile > 0.0) {
        (true, true) => format!(
            "Without synchronisation up to {} of the sums are wrong, and with volatile up to {}: on this device the \
             slides' form gives wrong results.",
            percent(bare),
            percent(volatile)
        ),
        (true, false) => format!(
            "Without synchronisation up to {} of the sums are wrong. With volatile none was wrong in this run, which \
             proves nothing: no language rule keeps the items in step.",
            percent(bare)
        ),
        (false, true) => format!(
            "With volatile up to {} of the sums are wrong; without it none was wrong in this run, by luck of the \
             compiler.",
            percent(volatile)
        ),
        (false, false) => {
            "No sum was wrong in this run, even without synchronisation. That proves nothing: the race is \
                           there, and another compiler, driver or device may lose it."
                .to_owned()
        }
    };
    match most(points, SYNCHRONISED) {
        Some(0.0) => format!("{races} Synchronised, all are right."),
        _ => races,
    }
}

fn most(points: &[Point], name: &str) -> Option<f64> {
    series(points, name).into_iter().filter_map(Point::measured).map(|percent| percent / 100.0).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(bare: f64, volatile: f64) -> String {
        let point = |name, wrong| gpulab_record::point(name, 64, wrong, 0.0);
        LOCKSTEP.finding(&[point(BARE, bare), point(VOLATILE, volatile), point(SYNCHRONISED, 0.0)])
    }

    #[test]
    fn wrong_sums_are_told_and_none_proves_nothing() {
        assert_eq!(
            finding(100.0, 0.4),
            "Without synchronisation up to 100 % of the sums are wrong, and with volatile up to 0.40 %: on this device \
             the slides' form gives wrong results. Synchronised, all are right."
        );
        assert!(finding(100.0, 0.0).contains("which proves nothing"));
        assert!(finding(0.0, 3.0).contains("With volatile up to 3 %"));
        assert!(finding(0.0, 0.0).starts_with("No sum was wrong in this run, even without"));
    }

    #[test]
    fn without_points_nothing_is_said_of_sums() {
        assert_eq!(LOCKSTEP.finding(&[]), "Nothing was measured.");
    }
}

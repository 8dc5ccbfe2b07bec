//! The commands that a record of a device consists of, with the files that their rows go to.

use crate::experiments::EXPERIMENTS;
use crate::outcome::Cache;
use crate::plan::Target;
use crate::prelude::*;

/// Where a command writes until it has ended.
pub(crate) const UNFINISHED: &str = "unfinished";

/// Seconds for the whole of a record, unless the user says how many.
const BUDGET: f64 = 900.0;
const QUICK_BUDGET: f64 = 120.0;

/// Seconds that `gpulab ceiling` takes, which has no budget: as on a CPU driver of four cores.
const CEILINGS: f64 = 180.0;
const QUICK_CEILINGS: f64 = 10.0;

/// Least seconds of a command.
const LEAST: f64 = 1.0;

/// Shares of the budget.
const OF_LADDER: f64 = 3.0;
const OF_EXPERIMENT: f64 = 2.0;

/// Bytes of a device's memory from which on the largest vectors fit it, twice and beside others.
const MUCH_MEMORY: u64 = 8 << 30;

/// What is asked for besides the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Thoroughness<'a> {
    /// The device, as the command line names it, if it does.
    pub(crate) device: Option<&'a str>,
    pub(crate) quick: bool,
    /// Seconds for the whole.
    pub(crate) budget: Option<f64>,
}

impl Thoroughness<'_> {
    /// The options that ask for this.
    pub(crate) fn words(&self) -> Vec<String> {
        let device = self.device.map(|device| ["-d".to_owned(), device.to_owned()]);
        let budget = self.budget.map(|seconds| ["--budget".to_owned(), format!("{seconds}s")]);
        let quick = self.quick.then(|| "--quick".to_owned());
        device.into_iter().flatten().chain(quick).chain(budget.into_iter().flatten()).collect()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RecordStep {
    /// Where its rows go; several commands may share a file.
    pub(crate) file: String,
    /// The words behind the program's name.
    pub(crate) words: Vec<String>,
    pub(crate) seconds: f64,
}

/// All commands for a device like this: its limits first, as ladders are held against them.
pub(crate) fn steps(target: &Target, how: &Thoroughness<'_>) -> Vec<RecordStep> {
    let ladders: Vec<(&str, Vec<String>)> = FAMILIES
        .iter()
        .flat_map(|family| sizes(family.form, target, how.quick).into_iter().map(|words| (&*family.name, words)))
        .collect();
    let (limits, whole) = if how.quick { (QUICK_CEILINGS, QUICK_BUDGET) } else { (CEILINGS, BUDGET) };
    let left = how.budget.unwrap_or(whole) - limits;
    let share = left / (ladders.len() as f64 * OF_LADDER + EXPERIMENTS.len() as f64 * OF_EXPERIMENT);
    let within = |share: f64| share.round().max(LEAST);
    let step = |file: &str, command: &[&str], more: Vec<String>, seconds: Option<f64>| {
        let device = how.device.map(|device| ["-d", device]).into_iter().flatten();
        let quick = how.quick.then_some("--quick");
        let fixed = device.chain(command.iter().copied()).chain(quick).map(str::to_owned);
        let budget = seconds.map(|seconds| ["--budget".to_owned(), format!("{seconds}s")]);
        let output = ["--csv".to_owned(), file.to_owned()];
        let words = fixed.chain(more).chain(budget.into_iter().flatten()).chain(output).collect();
        RecordStep { file: file.to_owned(), words, seconds: seconds.unwrap_or(limits) }
    };
    let first = step("ceilings.csv", &["ceiling"], Vec::new(), None);
    let ladder = |(family, more): (&str, Vec<String>)| {
        step(&format!("{family}.csv"), &[family, "--no-tuned"], more, Some(within(share * OF_LADDER)))
    };
    let experiment = |name: &str| step("lab.csv", &["lab", name], Vec::new(), Some(within(share * OF_EXPERIMENT)));
    let experiments = EXPERIMENTS.iter().map(|e| experiment(e.name));
    std::iter::once(first).chain(ladders.into_iter().map(ladder)).chain(experiments).collect()
}

/// The sizes that tell most, as options of a ladder: of a GPU one that launching decides, and others that no cache holds; of a
/// CPU driver, which is slower, smaller ones. A quick look is at the ladder's own quick size.
fn sizes(form: Form, target: &Target, quick: bool) -> Vec<Vec<String>> {
    use Cache::{Cold, Warm};
    let sizes: &[(&str, Cache)] = match (form, target.gpu) {
        _ if quick => return vec![Vec::new()],
        (Form::Vector, true) if target.global_mem >= MUCH_MEMORY => &[("2^20", Warm), ("2^24", Cold), ("2^28", Cold)],
        (Form::Vector, true) => &[("2^20", Warm), ("2^24", Cold), ("2^26", Cold)],
        (Form::Matrix, true) => &[("2048", Cold), ("8192", Cold)],
        (Form::Square, true) => &[("1024", Warm), ("4096", Warm)],
        (Form::Vector, false) => &[("2^20", Warm), ("2^24", Warm)],
        (Form::Matrix, false) => &[("1024", Warm), ("4096", Warm)],
        (Form::Square, false) => &[("512", Warm), ("1024", Warm)],
    };
    sizes
        .iter()
        .map(|(n, cache): &(&str, Cache)| {
            let cold: &[&str] = if *cache == Cold { &["--cache", "cold"] } else { &[] };
            ["-n", n].iter().chain(cold).map(|word| (*word).to_owned()).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn target(gpu: bool, global_mem: u64) -> Target {
        Target { global_mem, ..Target::with_everything(gpu) }
    }

    #[test]
    fn every_command_parses_and_its_output_is_its_file() {
        for how in [
            Thoroughness::default(),
            Thoroughness { device: Some("Intel(R) Arc"), quick: true, budget: Some(30.0) },
            Thoroughness { budget: Some(1.5), ..Thoroughness::default() },
        ] {
            for target in [target(true, 1 << 36), target(true, 1 << 31), target(false, 1 << 36)] {
                let steps = steps(&target, &how);
                for RecordStep { file, words, seconds } in &steps {
                    Cli::try_parse_from(["gpulab"].into_iter().chain(words.iter().map(String::as_str))).unwrap();
                    assert_eq!(words[words.len() - 2..], ["--csv".to_owned(), file.clone()]);
                    assert!(*seconds >= LEAST);
                }
                let files: std::collections::BTreeSet<&str> = steps.iter().map(|step| step.file.as_str()).collect();
                assert!(files.into_iter().eq([
                    "ceilings.csv",
                    "dot.csv",
                    "lab.csv",
                    "minplus.csv",
                    "reduce.csv",
                    "transpose.csv"
                ]));
            }
        }
    }

    #[test]
    fn the_commands_share_the_time() {
        for (quick, budget, whole) in [(false, None, BUDGET), (true, None, QUICK_BUDGET), (false, Some(3600.0), 3600.0)]
        {
            let how = Thoroughness { quick, budget, device: None };
            let seconds: f64 = steps(&target(true, 1 << 36), &how).iter().map(|step| step.seconds).sum();
            approx::assert_relative_eq!(seconds, whole, max_relative = 0.1);
        }
    }

    #[test]
    fn no_two_commands_are_alike() {
        let steps = steps(&target(true, 1 << 36), &Thoroughness::default());
        let commands: std::collections::BTreeSet<String> = steps.iter().map(|step| step.words.join(" ")).collect();
        assert_eq!(commands.len(), steps.len());
    }
}

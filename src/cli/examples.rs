//! Command lines to begin with: what the man pages and the first screen show.

/// A command line and what it does, in words that follow it.
pub struct Example {
    /// As it is typed.
    pub line: &'static str,
    pub does: &'static str,
}

impl Example {
    /// The command that it is one of; nothing for the program alone.
    pub fn command(&self) -> Option<&'static str> {
        self.line.split(' ').nth(1)
    }
}

const fn example(line: &'static str, does: &'static str) -> Example {
    Example { line, does }
}

/// For each command at least one.
pub const EXAMPLES: &[Example] = &[
    example("gpulab", "Show the default device and what to try."),
    example("gpulab devices", "List all devices and how to select each."),
    example("gpulab devices -d nvidia --json -", "Write what NVIDIA's driver offers as JSON."),
    example("gpulab doctor", "Try every driver: what works, what is missing, what to install."),
    example("gpulab doctor --json health.json", "Write the findings as JSON, for a program."),
    example("gpulab list", "Name all ladders, experiments and sources."),
    example("gpulab list reduce", "Say what each rung of the reduction does."),
    example("gpulab list --source maruyama", "Follow a lecture from slide to command."),
    example("gpulab explain reduce", "Tell the story of the reduction's ladder."),
    example("gpulab explain reduce:3", "Explain a rung: what to expect of it, and what proves it."),
    example("gpulab explain stride", "Explain an experiment."),
    example("gpulab source reduce:3", "Print a rung's kernel."),
    example("gpulab source stride --expanded", "Print an experiment's kernels as the compiler gets them."),
    example("gpulab diff reduce 2 3", "Show what changed from one rung to the next."),
    example("gpulab reduce --quick", "Run the reduction's ladder with few samples."),
    example("gpulab reduce -d pocl -n 1M --op max --dtype i32", "Find the greatest of 10^6 integers with PoCL."),
    example("gpulab reduce -d all -n 2^26", "Share a sum among all devices; say what that gains."),
    example("gpulab dot --n 1000000 --wg 256", "Run the dot product's ladder at one size."),
    example("gpulab dot --as cmsoft", "Repeat the set-up of the CMSoft article."),
    example("gpulab transpose -n 4096 --variant 2-4", "Transpose a matrix with three of the rungs."),
    example("gpulab transpose -n 8192 --memory 64MiB", "Transpose tile by tile through a part of the device's memory."),
    example("gpulab minplus -n 512", "Run the min-plus product's ladder."),
    example("gpulab minplus --input roads.csv --closure -o distances.csv", "Write all shortest distances in a graph."),
    example(
        "gpulab minplus --input tasks.csv --closure --semiring max-plus",
        "Write the longest path between all tasks.",
    ),
    example(
        "gpulab minplus --input roads.csv --closure -d all --memory 1GiB -o distances.csv",
        "Share the distances among all devices, through 1 GiB of each.",
    ),
    example("gpulab exercise list", "List the exercises of a course, and the solved ones."),
    example("gpulab exercise start transpose-banks", "Write the starting file of an exercise."),
    example("gpulab exercise check transpose-banks", "Check your file: is it right, and does it show the step?"),
    example("gpulab exercise check --all hand-in --json grades.json", "Grade the files of a class."),
    example("gpulab ceiling --quick", "Measure the device's limits quickly, and keep them."),
    example("gpulab ceiling --show", "Show the kept limits."),
    example("gpulab lab", "List the experiments."),
    example("gpulab lab stride", "Run an experiment: what do strides cost?"),
    example("gpulab try --template reduce", "Print a starting kernel: right, slow and explained."),
    example("gpulab try my.cl --as reduce", "Check your kernel, time it on the ladder, and say what to try next."),
    example("gpulab try my.cl --as reduce --check --json result.json", "Judge a kernel for a grading script."),
    example("gpulab ladder --template mine", "Write a starting family: a TOML file, kernels, a reference."),
    example("gpulab ladder mine/family.toml", "Check and time the rungs of your family."),
    example("gpulab ladder --as maruyama", "Run a lecture's kernels as printed, beside its own table."),
    example("gpulab ladder --as cmsoft --faults", "See a printed kernel go wrong, and its cure."),
    example("gpulab count reduce", "Count busy lanes, memory segments and bank conflicts of every rung."),
    example("gpulab count transpose --variant 2-3 --lines", "Show the cost of each source line."),
    example(
        "gpulab count transpose --machine gtx280 -n 512 --variant 3,diagonal",
        "Show partition camping on a GPU of 2008, and its cure.",
    ),
    example("gpulab count --lines -- ./my_program 64", "Count the kernels that your own host program launches."),
    example("gpulab count reduce:3 --save base.json", "Keep a rung's counts, by source line."),
    example(
        "gpulab count reduce:3 --against base.json --fail-on passes:1%,segments",
        "Fail if local memory takes more passes, or global memory more segments, than were kept.",
    ),
    example("gpulab draw transpose:2", "Draw the access that costs most: lanes, segments, banks."),
    example("gpulab asm reduce:3", "Show what the device's compiler made of a rung, by source line."),
    example("gpulab asm reduce:6 reduce:7", "Compare what it made of two rungs."),
    example("gpulab film reduce:2 reduce:3 -o film.html", "Play two rungs side by side, step by step, in a browser."),
    example(
        "gpulab film exercise:banks --line worst -o film.html",
        "Play an exercise's file from its worst moment on.",
    ),
    example("gpulab occupancy reduce --variant 3", "Say how many groups of a rung a compute unit holds."),
    example("gpulab occupancy --registers 32 --generation 9.0", "Calculate occupancy from numbers, without a device."),
    example("gpulab sweep reduce --quick -o reduce.csv", "Measure every rung with every work-group size."),
    example("gpulab sweep reduce --quick -o reduce.csv --resume", "Continue a sweep that was stopped."),
    example("gpulab tune transpose -n 4096", "Find the fastest rung and settings, and remember them."),
    example("gpulab tune reduce --strategy exhaustive --csv reduce.csv", "Try all settings, and keep the rows."),
    example("gpulab tuned list", "List what tuning found."),
    example("gpulab merge one.csv two.csv -o whole.csv", "Join the files of two shards of a sweep."),
    example("gpulab show reduce.csv", "Show recorded rows again, on any machine."),
    example("gpulab show h200 reduce", "Show records that come with the program."),
    example("gpulab report h200 -o h200.html", "Write a page with pictures, reasons and data of a device."),
    example(
        "gpulab report data/results/** -o gallery/",
        "Write a page for each folder of results, and one that compares them.",
    ),
    example("gpulab plot reduce.csv --what ladder -o reduce.svg", "Draw a ladder's bars against the limit."),
    example(
        "gpulab plot h200 reduce --what roofline -o roof.png",
        "Draw a ladder under the device's limits, for a slide.",
    ),
    example("gpulab report --splice README.md", "Renew the tables and pictures of a document."),
    example("gpulab report --splice README.md --check", "Fail if a block or a figure is stale."),
    example("gpulab compare old.csv new.csv", "Say which cases became faster or slower."),
    example("gpulab compare old.csv new.csv --fail-on slower:5", "Fail if a case became slower by 5 %."),
    example("gpulab noise", "Say how small a difference this machine can show now."),
    example("gpulab record", "Show what a record of the device contains, and how long it takes."),
    example("gpulab record -o nvidia-h200", "Make the record, or continue it."),
    example("gpulab columns --md", "Describe the columns of files as Markdown."),
    example("gpulab help columns", "Explain the columns of the tables."),
    example("gpulab help --md", "Print all commands with their options, as Markdown."),
    example("gpulab completions bash", "Print the completions for bash."),
    example("gpulab man /usr/local/share/man/man1", "Write the man pages."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, command_names};
    use clap::Parser;

    #[test]
    fn every_command_has_an_example_and_every_example_parses() {
        for example in EXAMPLES {
            let parsed = Cli::try_parse_from(example.line.split(' '));
            assert!(parsed.is_ok(), "{}: {}", example.line, parsed.unwrap_err());
        }
        for command in command_names() {
            let has_one = EXAMPLES.iter().any(|e| e.command() == Some(command.as_str()));
            assert!(has_one, "{command} has no example");
        }
    }
}

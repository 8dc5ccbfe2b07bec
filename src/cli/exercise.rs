//! The options of `gpulab exercise`.

use crate::values;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `gpulab exercise`.
#[derive(Debug, Subcommand)]
pub enum ExerciseAction {
    /// List all exercises in the order of a course, and the solved ones
    List,
    /// Show the task of an exercise, and the hints shown so far
    Show {
        /// The exercise, as in `gpulab exercise list`
        #[arg(value_name = "NAME")]
        name: String,
        /// Show the next hint
        #[arg(long)]
        hint: bool,
        /// Print a file that passes
        #[arg(long)]
        solution: bool,
    },
    /// Write the starting file of an exercise
    Start {
        /// The exercise
        #[arg(value_name = "NAME")]
        name: String,
        /// The file to write; - is standard output [default: NAME.cl, or NAME.txt of a question]
        #[arg(short, long, value_name = "FILE")]
        output: Option<String>,
    },
    /// Check your file: is it right, and do its counts show the step? Or grade the files of a class
    Check(ExerciseCheck),
}

/// `gpulab exercise check`.
#[derive(Debug, Args)]
pub struct ExerciseCheck {
    /// The exercise
    #[arg(value_name = "NAME", required_unless_present = "all")]
    pub name: Option<String>,
    /// Your file [default: NAME.cl, or NAME.txt of a question]
    #[arg(value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Grade DIR/STUDENT/NAME.cl, or DIR/NAME.cl of a single student
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    pub all: Option<PathBuf>,
    /// Write verdicts, hints and counts as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Time limit of a size, in seconds; a size that exceeds it ends the check
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "30")]
    pub deadline: f64,
    /// Seed of the sizes and the data, as a check prints it
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

//! The options of `gpulab exercise`.

use crate::data::Dtype;
use crate::exercise::parse_bet;
use crate::values;
use clap::{Args, Subcommand};
use std::path::PathBuf;

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
    /// Bet how much faster the next rung of a ladder is, before both are measured; the score is kept
    Predict(ExercisePredict),
}

#[derive(Debug, Args)]
pub struct ExercisePredict {
    /// The rung from which the step goes on, as in reduce:2 or closure:textbook; or a family, for its first step that you have
    /// not bet on
    #[arg(value_name = "FAMILY[:RUNG]")]
    pub step: Option<String>,
    /// Your bet: times faster, as in 2.5, or 0.8 if it gets slower [default: you are asked]
    #[arg(long, value_name = "FACTOR", value_parser = parse_bet, allow_hyphen_values = true)]
    pub bet: Option<f64>,
    /// Elements, or columns of matrices [default: the ladder's]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Element type [default: the family's first in `gpulab list`]
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Small sizes and short measurements
    #[arg(long)]
    pub quick: bool,
}

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
    /// Write the verdicts of a class as CSV, a line for each file; - is standard output
    #[arg(long, value_name = "FILE", requires = "all")]
    pub csv: Option<String>,
    /// Time limit of a size, in seconds; a size that exceeds it ends the check
    #[arg(long, value_name = "S", value_parser = values::deadline, default_value = "30")]
    pub deadline: f64,
    /// Seed of the sizes and the data, as a check prints it
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

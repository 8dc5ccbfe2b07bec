//! How to measure, and where results go.

use super::shared::Sampling;
use crate::outcome::Settings;
use crate::values;
use clap::Args;

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Measuring")]
pub struct MeasureArgs {
    /// Time for the whole run, as in 500ms, 10s or 2m; sampling is shortened to fit, with the same share for each case.
    /// Checks are never cut, and each case has a few samples [default: ladders 5s, quick: 2s; else none]
    #[arg(long, value_name = "TIME", value_parser = values::duration, allow_hyphen_values = true)]
    #[arg(conflicts_with_all = ["timeout", "min_time", "max_runs"])]
    pub budget: Option<f64>,
    /// Runs before the first sample
    #[arg(long, value_name = "N", value_parser = values::whole::<u32>, default_value_t = 3)]
    pub warmup: u32,
    /// Fewest samples [default: 10, quick: 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub min_runs: Option<u32>,
    /// Most samples [default: 1000, quick: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: Option<u32>,
    /// Shortest sampling time, in seconds [default: 0.05, quick: 0]
    #[arg(long, value_name = "S", value_parser = values::seconds)]
    pub min_time: Option<f64>,
    /// Longest sampling time, in seconds [default: 0.5, quick: 0.1; ladders: by --budget]
    #[arg(long = "sample-time", alias = "timeout", value_name = "S", value_parser = values::seconds)]
    pub timeout: Option<f64>,
    #[command(flatten)]
    pub sampling: Sampling,
    /// Fewer and shorter runs
    #[arg(long)]
    pub quick: bool,
    /// Time limit of a case beyond --sample-time, in seconds [default: 60, more for large data]
    #[arg(long, value_name = "S", value_parser = values::deadline)]
    pub deadline: Option<f64>,
    /// Run kernels in this process, for debuggers, profilers and simulators
    #[arg(long)]
    pub in_process: bool,
    /// Fail with exit code 7 if a row cannot be trusted
    #[arg(long)]
    pub strict: bool,
}

impl MeasureArgs {
    /// The settings that these options make.
    pub fn settings(&self) -> Settings {
        let usual = Settings::default();
        let min_runs = self
            .min_runs
            .unwrap_or(if self.quick { 3 } else { usual.min_runs });
        let max_runs = self
            .max_runs
            .unwrap_or(if self.quick { 20 } else { usual.max_runs });
        Settings {
            warmup: self.warmup,
            min_runs: min_runs.min(max_runs),
            max_runs,
            min_time: self
                .min_time
                .unwrap_or(if self.quick { 0.0 } else { usual.min_time }),
            timeout: self
                .timeout
                .unwrap_or(if self.quick { 0.1 } else { usual.timeout }),
            max_noise: self.sampling.max_noise,
            cache: self.sampling.cache,
            clock: self.sampling.clock,
            ..usual
        }
    }
}

/// Where results go; - is standard output.
#[derive(Clone, Debug, Args)]
#[command(
    next_help_heading = "Output (- is standard output; the table then goes to standard error)"
)]
pub struct Output {
    /// Write one row per case as CSV
    #[arg(long, value_name = "FILE")]
    pub csv: Option<String>,
    /// Write an array of records as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the table as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<String>,
    /// Write every single timed run as CSV
    #[arg(long, value_name = "FILE")]
    pub samples: Option<String>,
    /// Show bandwidths in tables as GiB/s, 2^30 bytes a second; files keep GB/s
    #[arg(long)]
    pub gib: bool,
}

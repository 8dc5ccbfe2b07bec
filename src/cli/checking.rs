//! The options of `gpulab check`.

use clap::Args;
use std::path::PathBuf;

pub const CHECK_HELP: &str = "\
Exit codes: 4 if the simulator found a fault, 5 if something did not build, 7 if nothing was built. With
--strict warnings count, too, and 7 says that something was not looked at.

gpulab.toml beside the kernels' folder says what no kernel's text says; of tables that match, the last counts:
  [[check]]
  files   = \"kernels/blur*.cl\"           # a pattern
  define  = { TILE = 16, T = \"float\" }   # macros of the host program
  include = [\"kernels/common\"]           # folders of included files
  options = \"-cl-std=CL2.0\"              # build options
  n       = 4096                         # the only size at which the kernels work";

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// Files of kernels, or patterns, as in 'kernels/**/*.cl'
    #[arg(value_name = "PATTERN", default_value = "**/*.cl")]
    pub files: Vec<String>,
    /// Write gpulab.toml with the macros that kernels take from their host, for you to fill in; checks nothing
    #[arg(long)]
    pub init: bool,
    /// Let warnings count as errors, and exit with code 7 if something was not looked at
    #[arg(long)]
    pub strict: bool,
    /// Keep answers in this folder: what did not change is not looked at again
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
    /// Print GitHub's annotations, too, as where GITHUB_ACTIONS is set
    #[arg(long)]
    pub github: bool,
    /// Write the verdict as JSON to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    pub json: Option<String>,
    /// Write the tables and findings as Markdown to FILE, at most 1 MiB; - is standard output
    #[arg(long, value_name = "FILE")]
    pub md: Option<String>,
    /// Write the findings as SARIF 2.1.0 to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<String>,
    /// Write the findings as JUnit's XML to FILE; - is standard output
    #[arg(long, value_name = "FILE")]
    pub junit: Option<String>,
}

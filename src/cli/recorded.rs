//! The options of commands that read recorded results.

use super::shared::{RowFiles, row_files};
use crate::data::Dtype;
use crate::report::picture::Theme;
use crate::values::{self, Condition, FailOn};
use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct Show {
    /// CSV or JSON files that gpulab wrote; or a device whose records come with gpulab, as in h200, and its families,
    /// experiments or files, as in reduce. Several devices before a name share it, as in h200 pocl-epyc-2 ceilings.
    /// Without arguments, gpulab lists these devices
    #[arg(value_name = "FILE|DEVICE [NAME]")]
    pub what: Vec<String>,
    /// Show bandwidths in tables as GiB/s, 2^30 bytes a second
    #[arg(long)]
    pub gib: bool,
    /// Explain below each ladder why its steps pay or not; one of the files must hold the device's ceilings. With --by:
    /// how far the model is from the measured times, one line for each value of COLUMN; with --by waste: what the model
    /// promises of each kind of waste, beside what the next rung reached; with --by step: the cause of each step of a tenth
    /// and more, and the share of the gain that it carries
    #[arg(long)]
    pub why: bool,
    /// Only records whose COLUMN has one of these values, as in n=2^28 or dtype=f32,i32; repeatable. COLUMN is one of
    /// `gpulab help columns`, or a setting, as in size=constant. For platform, device and driver, a part is enough
    #[arg(long = "where", value_name = "COLUMN=VALUE,...", value_parser = values::condition)]
    pub conditions: Vec<Condition>,
    /// Only these columns, in this order: a ladder's own, as in rung,time,gbs,of_limit, those of `gpulab help columns`, or
    /// settings
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub columns: Vec<String>,
    /// Put rungs side by side: one line for each value of this column, as in n, wg, dtype or device, and one column for
    /// each rung. Other programs' figures with the same columns stand beside them
    #[arg(long, value_name = "COLUMN", conflicts_with = "columns")]
    pub by: Option<String>,
    /// With --by: the column in the cells, as in gbs, gain or t_end_to_end_s [default: time]
    #[arg(long, value_name = "COLUMN", requires = "by", conflicts_with = "why")]
    pub value: Option<String>,
    /// Show only what each experiment found on each device, without its points
    #[arg(long, conflicts_with_all = ["columns", "by", "why"])]
    pub findings: bool,
    /// Also write Markdown; - is standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    pub md: Option<String>,
}

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// CSV or JSON files that gpulab wrote, or folders of them. Or a device whose records come with gpulab, as in h200,
    /// and its families, experiments or files, as in reduce. With --splice, Markdown documents
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// The file of the page; - is standard output. A folder, with a name that ends in /, gets a page for each folder of
    /// files and index.html, which compares them [default: report.html]
    #[arg(short, long, value_name = "FILE|FOLDER/", conflicts_with = "splice")]
    pub output: Option<String>,
    #[command(flatten)]
    pub splicing: SpliceArgs,
}

/// `gpulab report --splice`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Documents")]
pub struct SpliceArgs {
    /// Fill the blocks of these Markdown files. A block begins with a line <!-- gpulab show h200 dot --md - -->, or
    /// another command that needs no device, and ends with a line <!-- end -->. The command's output replaces the text
    /// between them; gpulab plot ... -o FILE.svg writes the picture and shows it there. A figure in the text is a
    /// number behind <!--= FILE CONDITIONS : FORMULA -->, as in <!--= results/nvidia-h200/dot n=2^28 rung=2 : step_x
    /// -->3.27. It is renewed from data/FILE.csv with the same number of decimals
    #[arg(long)]
    pub splice: bool,
    /// With --splice: write nothing, and exit with 1 if a block or a figure differs from what its command or file gives
    /// now
    #[arg(long, requires = "splice")]
    pub check: bool,
}

#[derive(Debug, Args)]
pub struct PlotArgs {
    /// CSV or JSON files that gpulab wrote, with the device's ceilings among them for a roofline. Or a device whose
    /// records come with gpulab, as in h200, and its families, experiments or files, as in reduce
    #[arg(required = true, value_name = "FILE|DEVICE [NAME]")]
    pub files: Vec<String>,
    /// What to draw
    #[arg(long, value_enum, value_name = "KIND")]
    pub what: PictureKind,
    /// The file of the picture: FILE.svg, or FILE.png for pixels; - is standard output, as SVG
    #[arg(short, long, value_name = "FILE")]
    pub output: String,
    /// Draw this family or experiment, if the files hold several
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Draw this number of elements, or columns of matrices [default: the largest]
    #[arg(short, long, value_name = "N", value_parser = values::size)]
    pub n: Option<u64>,
    /// Draw this element type
    #[arg(long, value_enum, value_name = "TYPE")]
    pub dtype: Option<Dtype>,
    /// Light or dark: auto follows the reader's system, and is light in PNG
    #[arg(long, value_enum, default_value_t = Theme::Auto)]
    pub theme: Theme,
    /// Width of a PNG in pixels
    #[arg(long, value_name = "PX", default_value_t = 1920)]
    pub width: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureKind {
    /// The rate of each rung, with its spread, against the limit
    Ladder,
    /// Ladders under the limits of memory and arithmetic
    Roofline,
    /// A map of rungs and work-groups
    Sweep,
    /// Time over the size of the problem
    Size,
    /// Lines over an experiment's varied parameter
    Experiment,
    /// Copies and kernels over time in the experiment overlap
    Timeline,
}

#[derive(Debug, Args)]
#[command(mut_args(|arg| row_files(arg, "case of each pair of files", "compared cases")))]
pub struct Compare {
    /// Files that --csv or --json wrote; the others are compared with the first. A verdict needs six runs of each side:
    /// one file of a ladder with --rounds 6, files joined by commas, as in a1.csv,a2.csv, or a folder of such files
    #[arg(required_unless_present = "noise", num_args = 2.., value_name = "FILE")]
    pub files: Vec<String>,
    /// Measure this kernel against itself, as in reduce:4: the smallest difference that this machine can show now
    #[arg(long, value_name = "FAMILY:RUNG", num_args = 0..=1, default_missing_value = "reduce:4")]
    #[arg(conflicts_with_all = ["files", "fail_on", "csv", "json"])]
    pub noise: Option<String>,
    /// Exit with code 6 if a case is SLOWER, with slower:5 only if by at least 5 %; with undecided if a case is UNDECIDED
    /// or only in the first file. A list takes both: slower:5,undecided
    #[arg(long, value_name = "slower[:PCT]|undecided", value_parser = values::fail_on, value_delimiter = ',')]
    pub fail_on: Vec<FailOn>,
    /// Cases that provably differ by less count as the same
    #[arg(long, value_name = "SHARE", value_parser = values::spread, default_value = "2%")]
    pub same: f64,
    #[command(flatten)]
    pub rows: RowFiles,
}

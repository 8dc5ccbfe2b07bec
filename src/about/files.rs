//! The files that a command line names: what each command writes, and what it reads, whoever names that.
//!
//! One rule holds for all of them, before any is opened: see [`check_outputs`].

use crate::adopt::{described, own, parted};
use crate::ceilings::{self, CEILINGS_FOLDER, CeilingRow};
use crate::cli::{Command, ExerciseAction, Output, TunedAction, WatchedKernel};
use crate::compare::ComparisonRow;
use crate::distances::next_path;
use crate::graph::write::is_written_npy;
use crate::input;
use crate::ladder::BASELINES;
use crate::outputs::Paths;
use crate::pages::is_folder;
use crate::prelude::*;
use crate::record::{CsvRecord, Point, SampleRow};
use crate::report::film::is_film;
use crate::report::markdown::MARKDOWN_MARK;
use crate::report::page::is_page;
use crate::report::picture::PNG_MARK;
use crate::shown::split_names;
use crate::store::{OutputFile, Rounds, begins_as_csv, begins_as_json, begins_as_object, check_outputs};
use crate::tune::TUNED_FOLDER;
use crate::workers::Parts;

/// Where `gpulab report` writes its page when nothing else is asked for.
pub(crate) const REPORT: &str = "report.html";

/// An option, the path that it was given, and whether a file is a result of the same kind.
type NamedOutput<'a> = (&'a str, Option<&'a str>, fn(&str) -> bool);

/// Refuses a command line with an output that would replace an input, another output, or a file that gpulab did not write.
pub(crate) fn check(command: &Command, global: &Global) -> Result<(), Error> {
    let outputs = outputs(command);
    let inputs = if outputs.is_empty() { Vec::new() } else { inputs(command) };
    check_outputs(&outputs, &inputs, global.force)
}

/// What a command writes where its options say, and beside that. Others write into folders, in which nothing that is there is
/// replaced but what they wrote themselves.
pub(crate) fn outputs<'a>(command: &'a Command) -> Vec<OutputFile<'a>> {
    let asked: Vec<NamedOutput<'_>> = match command {
        Command::Dot(options) => of_ladder(&options.ladder.output),
        Command::Reduce(options) => of_ladder(&options.ladder.output),
        Command::Transpose(options) => of_ladder(&options.ladder.output),
        Command::Ladder(options) => of_ladder(&options.ladder.output),
        Command::Minplus(options) => {
            let mut all = of_ladder(&options.ladder.output);
            all.push(("-o", options.graph.output.as_deref(), |head| {
                head.starts_with("from,to,distance") || is_written_npy(head)
            }));
            all
        }
        Command::Try(options) => {
            let output = &options.ladder.output;
            let mut all = of_ladder(output);
            all.retain(|(option, ..)| *option != "--json");
            all.push(("--json", output.json.as_deref(), |head| {
                begins_as_object(head, &["schema", "gpulab", "file", "family"])
            }));
            all
        }
        Command::Ceiling(options) => tables::<CeilingRow>(&options.rows),
        Command::Count(options) => {
            let mut all = tables::<CountRow>(&options.rows);
            all.push(("--save", options.save.as_deref(), |head| begins_as_object(head, &["gpulab_counts"])));
            all
        }
        Command::Compare(options) => tables::<ComparisonRow>(&options.rows),
        Command::Lab(options) => {
            let mut all = tables::<Point>(&options.rows);
            all.push(("--svg", options.svg.as_deref(), is_svg));
            all
        }
        // What is gone on with is read first, and says itself whether it can be.
        Command::Sweep(options) if options.resume => vec![("-o", Some(&options.output), |_| true)],
        Command::Sweep(options) => vec![("-o", Some(&options.output), begins_as_csv::<Row>)],
        Command::Tune(options) => {
            let mut all = tables::<Row>(&options.rows);
            all.push(("--export", options.export.get(1).map(String::as_str), |head: &str| {
                begins_as_object(head, &["schema_version", "device_name", "kernel_name"])
            }));
            all.push(("--md", options.md.as_deref(), is_markdown));
            all
        }
        Command::Merge { output, .. } => vec![("-o", Some(output), begins_as_csv::<Row>)],
        Command::Show(options) => vec![("--md", options.md.as_deref(), is_markdown)],
        Command::Plot(options) => return vec![picture(&options.output)],
        Command::Draw(options) => return options.output.iter().map(|path| picture(path)).collect(),
        Command::Film(options) => vec![("-o", Some(&options.output), is_film)],
        // Documents are filled, and the pages of a folder have names of their own: both are checked once these are known.
        Command::Report(options) if options.splicing.splice || options.output.as_deref().is_some_and(is_folder) => {
            Vec::new()
        }
        Command::Report(options) => vec![("-o", options.output.as_deref().or(Some(REPORT)), is_page)],
        Command::Devices { json } => {
            vec![("--json", json.as_deref(), |head| begins_as_object(head, &["cl_version", "selector", "vendor"]))]
        }
        Command::Doctor { json } => {
            vec![("--json", json.as_deref(), |head| begins_as_object(head, &["broken", "counting", "drivers"]))]
        }
        Command::Tuned { action: Some(TunedAction::Export { file }) } => {
            vec![("export", Some(file), |head| begins_as_object(head, &["platform", "device", "driver", "entries"]))]
        }
        Command::Exercise { action: Some(ExerciseAction::Check(options)) } => {
            let is_graded: fn(&str) -> bool =
                |head| ["exercise", "verdict", "hint"].iter().all(|key| head.contains(&format!("\"{key}\":")));
            vec![("--json", options.json.as_deref(), is_graded)]
        }
        // A test holds each option that names a file against these arms.
        _ => Vec::new(),
    };
    asked
        .into_iter()
        .filter_map(|(option, path, is_ours): NamedOutput<'a>| Some(OutputFile { option, path: path?.into(), is_ours }))
        .chain(beside(command))
        .collect()
}

/// Files that a command writes beside those that its options name.
fn beside(command: &Command) -> Vec<OutputFile<'_>> {
    let (option, rows, workers) = match command {
        Command::Minplus(options) => {
            let next = next_path(&options.graph).into_iter();
            return next.map(|path| OutputFile { option: "-o", path: path.into(), is_ours: is_written_npy }).collect();
        }
        Command::Sweep(options) => ("-o", Some(&options.output), &options.workers),
        Command::Tune(options) => ("--csv", options.rows.csv.as_ref(), &options.workers),
        _ => return Vec::new(),
    };
    let Some(rows) = rows.filter(|path| *path != "-") else { return Vec::new() };
    std::iter::once(Rounds::path(rows).into())
        .chain(Parts::left(workers, rows))
        .map(|path: PathBuf| {
            let is_ours: fn(&str) -> bool = match path.extension().and_then(|ending| ending.to_str()) {
                Some("csv") => begins_as_csv::<Row>,
                Some("rounds") => Rounds::is_ours,
                // What a task said or had not finished.
                Some("log" | "err" | "part") => |_| true,
                _ if path.components().any(|part| part.as_os_str() == "server") => |_| true,
                _ => |_| false,
            };
            OutputFile { option, path: path.display().to_string().into(), is_ours }
        })
        .collect()
}

fn tables<'a, T: CsvRecord>(rows: impl Into<Paths<'a>>) -> Vec<NamedOutput<'a>> {
    let Paths { csv, json, .. } = rows.into();
    vec![("--csv", csv, begins_as_csv::<T>), ("--json", json, begins_as_json::<T>)]
}

fn of_ladder(output: &Output) -> Vec<NamedOutput<'_>> {
    let paths = Paths::from(output);
    let mut all = tables::<Row>(paths);
    all.push(("--samples", paths.samples, begins_as_csv::<SampleRow>));
    all.push(("--md", paths.md, is_markdown));
    all
}

pub(crate) fn picture(path: &str) -> OutputFile<'_> {
    let is_png = Path::new(path).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("png"));
    let is_ours: fn(&str) -> bool = if is_png { |head| head.contains(PNG_MARK) } else { is_svg };
    OutputFile { option: "-o", path: path.into(), is_ours }
}

fn is_markdown(head: &str) -> bool {
    head.starts_with(MARKDOWN_MARK)
}

/// Whether an SVG is a picture of gpulab's: its parts have these names.
fn is_svg(head: &str) -> bool {
    head.starts_with("<svg") && head.contains("\"picture-title picture-about\"")
}

fn watched(what: &[String], options: &WatchedKernel) -> Vec<PathBuf> {
    what.iter().flat_map(|what| named(what, options.family.is_some())).collect()
}

/// The files of a reader's kernel or family.
fn named(what: &str, is_own: bool) -> Vec<PathBuf> {
    let name = parted(what).0;
    match is_own {
        true => kernel_files(Path::new(name)),
        false if is_family_file(name) => family_files(Path::new(name)),
        false => Vec::new(),
    }
}

/// The files of results that words name: of a folder all that lie below it.
pub(crate) fn shown(words: &[String]) -> Vec<PathBuf> {
    words
        .iter()
        .flat_map(
            |word: &String| if Path::new(word).is_dir() { files::below(Path::new(word)) } else { vec![word.into()] },
        )
        .collect()
}

/// Files that a command reads, and those that they name in turn.
pub(crate) fn inputs(command: &Command) -> Vec<PathBuf> {
    let data = |specs: &[&Option<String>]| {
        specs.iter().filter_map(|spec| Some(input::path(spec.as_deref()?).into())).collect()
    };
    let family = |name: Option<&str>| {
        name.filter(|name| is_family_file(name))
            .map(|name| family_files(Path::new(name)))
            .unwrap_or_default()
    };
    let kernel = |own: &Option<PathBuf>| own.as_deref().map(kernel_files).unwrap_or_default();
    let (named, cl_dir): (Vec<PathBuf>, &Option<PathBuf>) = match command {
        Command::Dot(options) => (data(&[&options.input, &options.input2]), &options.ladder.kernels.cl_dir),
        Command::Reduce(options) => (data(&[&options.input]), &options.ladder.kernels.cl_dir),
        Command::Transpose(options) => (Vec::new(), &options.ladder.kernels.cl_dir),
        Command::Minplus(options) => (data(&[&options.graph.input]), &options.ladder.kernels.cl_dir),
        Command::Try(options) => (kernel(&options.file), &options.ladder.kernels.cl_dir),
        Command::Ladder(options) => {
            (options.file.as_deref().map(family_files).unwrap_or_default(), &options.ladder.kernels.cl_dir)
        }
        Command::Count(options) => (
            [
                named(options.subject.name().unwrap_or_default(), options.solves.is_some()),
                kernel(&options.rungs.own),
                options.of.clone(),
                options.against.iter().cloned().collect(),
            ]
            .concat(),
            &options.kernels.cl_dir,
        ),
        Command::Sweep(options) => {
            ([family(options.subject.name()), kernel(&options.rungs.own)].concat(), &options.kernels.cl_dir)
        }
        Command::Tune(options) => {
            let family = family(options.subject.name());
            ([family, kernel(&options.rungs.own), options.replay.clone()].concat(), &options.kernels.cl_dir)
        }
        Command::Draw(options) => (watched(&options.what, &options.kernel), &None),
        Command::Film(options) => (watched(&options.what, &options.kernel), &None),
        Command::Asm(options) => {
            let files = options.what.iter().flat_map(|what| named(what, options.family.is_some()));
            (files.chain(options.listing.clone()).collect(), &options.kernels.cl_dir)
        }
        Command::Ceiling(options) => (Vec::new(), &options.kernels.cl_dir),
        Command::Lab(options) => (Vec::new(), &options.kernels.cl_dir),
        Command::Merge { files, .. } => (files.clone(), &None),
        Command::Show(options) => (shown(&options.what), &None),
        Command::Plot(options) => (shown(&options.files), &None),
        Command::Report(options) => (shown(&options.files), &None),
        Command::Compare(options) => {
            (options.files.iter().flat_map(|names| split_names(names)).map(PathBuf::from).collect(), &None)
        }
        Command::Exercise { action: Some(ExerciseAction::Check(options)) } => {
            let name = options.name.clone().unwrap_or_default().to_lowercase();
            let usual = ["cl", "txt"].map(|ending| PathBuf::from(format!("{name}.{ending}")));
            let own = options.file.as_deref().map_or_else(|| usual.to_vec(), kernel_files);
            let class = options.all.as_deref().map(files::below).unwrap_or_default();
            ([own, class].concat(), &None)
        }
        _ => (Vec::new(), &None),
    };
    let kept =
        |folder: PathBuf| [CEILINGS_FOLDER, TUNED_FOLDER, BASELINES].map(|name| files::below(&folder.join(name)));
    let kept = ceilings::folder().map(kept).unwrap_or_default().concat();
    named.into_iter().chain(cl_dir.as_deref().map(files::below).unwrap_or_default()).chain(kept).collect()
}

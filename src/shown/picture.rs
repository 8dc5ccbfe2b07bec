//! Pictures of recorded results: which of them are drawn, and how.

use super::{Material, PointStudy, material};
use crate::Error;
use crate::cli::{Paper, PictureKind, PlotArgs};
use crate::record::{Point, Row};
use crate::report::format;
use crate::report::groups::{elements, experiments, families, ladders, of_most_rungs, sizes, sweeps};
use crate::report::picture::{self, Drawn, PNG_WIDTHS, StudyText, Theme};
use std::cmp::Reverse;
use std::path::Path;

/// A picture as its file holds it.
pub(crate) struct FinishedPicture {
    /// What the reader learns from it.
    pub(crate) title: String,
    /// What it shows, for those who do not see it.
    pub(crate) about: String,
    pub(crate) bytes: Vec<u8>,
    /// What its maker should know.
    pub(crate) notes: Vec<String>,
}

/// The picture that was asked for; its file stays as it is.
pub(crate) fn finished(options: &PlotArgs) -> Result<FinishedPicture, Error> {
    let is_png = is_png(&options.output)?;
    if is_png && !PNG_WIDTHS.contains(&options.width) {
        let (least, most) = (PNG_WIDTHS.start(), PNG_WIDTHS.end());
        return Err(Error::Usage(format!("--width {}: give {least} to {most} pixels", options.width)));
    }
    let material = material(&options.files)?;
    let (drawn, others) = draw(&material, options)?;
    let picture = drawn.map_err(Error::Usage)?;
    let mut notes = material.torn;
    if !others.is_empty() {
        notes.push(format!("the files hold more: {}; choose with -n, --dtype and --name", others.join("; ")));
    }
    let theme = match options.theme {
        Paper::Auto => Theme::Auto,
        Paper::Light => Theme::Light,
        Paper::Dark => Theme::Dark,
    };
    let bytes = match is_png {
        true => picture::png(&picture, theme, options.width).map_err(Error::Failed)?,
        false => picture.svg(theme).into_bytes(),
    };
    Ok(FinishedPicture { title: picture.title, about: picture.about, bytes, notes })
}

/// Whether the output's name asks for pixels.
fn is_png(output: &str) -> Result<bool, Error> {
    let ending = Path::new(output).extension().map(|ending| ending.to_ascii_lowercase());
    match ending.as_ref().and_then(|ending| ending.to_str()) {
        _ if output == "-" => Ok(false),
        Some("svg") => Ok(false),
        Some("png") => Ok(true),
        _ => Err(Error::Usage(format!("-o {output}: a picture is FILE.svg or FILE.png, or - for SVG"))),
    }
}

/// The picture, and what else could have been drawn.
fn draw(material: &Material, options: &PlotArgs) -> Result<(Drawn, Vec<String>), Error> {
    let rows: Vec<Row> = material.rows.iter().filter(|row| is_meant(row, options)).cloned().collect();
    let ceilings = material.ceilings.as_slice();
    Ok(match options.what {
        PictureKind::Ladder => {
            let whole = of_most_rungs(ladders(&rows));
            let (own, others) = largest(whole, options, "ladder", "reduce.csv, as gpulab reduce --csv writes it")?;
            (picture::ladder(&own), others)
        }
        PictureKind::Roofline => {
            let all = of_each_family(ladders(&rows), options)?;
            (picture::roofline(&all, ceilings), Vec::new())
        }
        PictureKind::Sweep => {
            let (own, others) = largest(sweeps(&rows), options, "sweep", "what gpulab sweep -o writes")?;
            (picture::sweep(&own), others)
        }
        PictureKind::Size => {
            let (own, others) = of_most_sizes(families(&rows), options)?;
            (picture::size(&own, ceilings), others)
        }
        PictureKind::Experiment => {
            let points = chosen(&material.points, options)?;
            let study = PointStudy::of(&points);
            let told = StudyText { question: study.question, finding: &study.finding, label: &|x| study.label(x) };
            (picture::experiment(&points, &told), Vec::new())
        }
        PictureKind::Timeline => {
            let own: Vec<Point> = material.points.iter().filter(|p| p.experiment == "overlap").cloned().collect();
            let last = experiments(&own).pop().unwrap_or_default();
            (picture::overlap(&last), Vec::new())
        }
    })
}

fn is_meant(row: &Row, options: &PlotArgs) -> bool {
    options.name.as_ref().is_none_or(|name| row.family == *name)
        && options.n.is_none_or(|n| row.n == n)
        && options.dtype.is_none_or(|dtype| row.dtype == dtype)
}

/// `reduce i32, n = 16777216 on NVIDIA H200`.
fn told(rows: &[Row]) -> String {
    let Some(row) = rows.iter().find(|row| !row.on_host()).or(rows.first()) else { return String::new() };
    let device = format::device(&row.device);
    format!("{} {}, n = {} on {device}", row.family, row.dtype, format::count(row.n))
}

/// The largest problem, of equal ones the last, and what the others are.
///
/// Errors: `Usage`, if there is none; `example` is what has some.
fn largest(
    mut all: Vec<Vec<Row>>,
    options: &PlotArgs,
    what: &str,
    example: &str,
) -> Result<(Vec<Row>, Vec<String>), Error> {
    all.sort_by_key(|rows| Reverse(elements(rows)));
    let most = all.first().map_or(0, |rows| elements(rows));
    let equal = all.iter().take_while(|rows| elements(rows) == most).count();
    if equal == 0 {
        return Err(none(options, what, example));
    }
    let own = all.remove(equal - 1);
    Ok((own, others(&all)))
}

fn others(all: &[Vec<Row>]) -> Vec<String> {
    let mut names: Vec<String> = all.iter().map(|rows| told(rows)).collect();
    names.sort();
    names.dedup();
    names
}

fn none(options: &PlotArgs, what: &str, example: &str) -> Error {
    let chosen = options.name.is_some() || options.n.is_some() || options.dtype.is_some();
    let of = if chosen { " that --name, -n and --dtype choose" } else { "" };
    Error::Usage(format!("{} holds no {what}{of}: it is drawn from {example}", options.files.join(", ")))
}

/// The largest ladder of each family on the first ladder's device.
fn of_each_family(all: Vec<Vec<Row>>, options: &PlotArgs) -> Result<Vec<Vec<Row>>, Error> {
    let device = |rows: &Vec<Row>| rows.iter().find(|row| !row.on_host()).map(|row| row.device.clone());
    let first =
        all.iter().find_map(device).ok_or_else(|| none(options, "ladder", "what gpulab reduce --csv writes"))?;
    let own: Vec<Vec<Row>> = all.into_iter().filter(|rows| device(rows).as_ref() == Some(&first)).collect();
    let mut families: Vec<String> = own.iter().flatten().map(|row| row.family.clone()).collect();
    families.sort();
    families.dedup();
    let of = |family: &String| {
        let own = own.iter().filter(|rows| rows.iter().any(|row| row.family == *family)).cloned().collect();
        largest(of_most_rungs(own), options, "ladder", "").map(|(rows, _)| rows)
    };
    families.iter().map(of).collect()
}

/// The family of the most sizes.
fn of_most_sizes(mut all: Vec<Vec<Row>>, options: &PlotArgs) -> Result<(Vec<Row>, Vec<String>), Error> {
    all.sort_by_key(|rows| Reverse(sizes(rows)));
    if all.is_empty() {
        return Err(none(options, "ladder or sweep", "a sweep over -n, or ladders of several sizes"));
    }
    let own = all.remove(0);
    let others = all.iter().filter(|rows| sizes(rows) > 1).cloned().collect::<Vec<_>>();
    Ok((own, others_of_sizes(&others)))
}

fn others_of_sizes(all: &[Vec<Row>]) -> Vec<String> {
    let name = |rows: &Vec<Row>| {
        rows.first().map(|row| format!("{} {} on {}", row.family, row.dtype, format::device(&row.device)))
    };
    all.iter().filter_map(name).collect()
}

/// The points of the experiment that is meant: the last run of it.
///
/// Errors: `Usage` if there is none, or there are several and none was named.
fn chosen(points: &[Point], options: &PlotArgs) -> Result<Vec<Point>, Error> {
    let mut all = experiments(points);
    let mut names: Vec<String> = all.iter().filter_map(|own| own.first()).map(|p| p.experiment.clone()).collect();
    names.sort();
    names.dedup();
    if let Some(name) = &options.name {
        all.retain(|own| own.first().is_some_and(|p| p.experiment == *name));
    } else if names.len() > 1 {
        return Err(Error::Usage(format!("the files hold several experiments: --name {}", names.join(", --name "))));
    }
    all.pop().ok_or_else(|| match names.is_empty() {
        true => none(options, "experiment", "what gpulab lab NAME --csv writes"),
        false => Error::Usage(format!("the files hold no such experiment, but {}", names.join(", "))),
    })
}

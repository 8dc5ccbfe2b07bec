//! Pictures of recorded results: which of them are drawn, and how.

use super::material;
use crate::cli::{PictureKind, PlotArgs};
use crate::prelude::*;
use crate::record::Point;
use crate::report::groups::{experiments, families, ladders, of_most_rungs, sweeps};
use crate::report::picture::{self, Drawn, PNG_WIDTHS, Picture, StudyText, Theme};
use crate::report::shown::choice::{Choice, chosen, largest, of_each_family, of_most_sizes};
use crate::report::shown::{Material, PointStudy};

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
    // What cannot be rendered is refused before anything is read.
    check_picture(&options.output, options.width)?;
    let material = material(&options.files)?;
    let (drawn, others) = draw(&material, options)?;
    let picture = drawn.map_err(Error::Usage)?;
    let mut notes = material.torn;
    if !others.is_empty() {
        notes.push(format!("the files hold more: {}; choose with -n, --dtype and --name", others.join("; ")));
    }
    let bytes = rendered(&picture, &options.output, options.theme, options.width)?;
    Ok(FinishedPicture { title: picture.title, about: picture.about, bytes, notes })
}

/// The picture's bytes, in the format that the output's name asks for; pixels in rows of this width.
pub(crate) fn rendered(picture: &Picture, output: &str, theme: Theme, width: u32) -> Result<Vec<u8>, Error> {
    match check_picture(output, width)? {
        true => picture::png(picture, theme, width).map_err(Error::Failed),
        false => Ok(picture.svg(theme).into_bytes()),
    }
}

/// Whether the output asks for pixels.
pub(crate) fn check_picture(output: &str, width: u32) -> Result<bool, Error> {
    let is_png = is_png(output)?;
    if is_png && !PNG_WIDTHS.contains(&width) {
        let least = PNG_WIDTHS.start();
        let most = PNG_WIDTHS.end();
        return Err(Error::Usage(format!("--width {width}: give {least} to {most} pixels")));
    }
    Ok(is_png)
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
    let PlotArgs { files, name, n, dtype, .. } = options;
    let choice = Choice { files, name: name.as_deref(), n: *n, dtype: *dtype };
    let rows: Vec<Row> = material.rows.iter().filter(|row| choice.is_met(row)).cloned().collect();
    let ceilings = material.ceilings.as_slice();
    Ok(match options.what {
        PictureKind::Ladder => {
            let whole = of_most_rungs(ladders(&rows));
            let (own, others) = largest(whole, &choice, "ladder", "reduce.csv, as gpulab reduce --csv writes it")?;
            (picture::ladder(&own), others)
        }
        PictureKind::Roofline => {
            let all = of_each_family(ladders(&rows), &choice)?;
            (picture::roofline(&all, ceilings), Vec::new())
        }
        PictureKind::Sweep => {
            let (own, others) = largest(sweeps(&rows), &choice, "sweep", "what gpulab sweep -o writes")?;
            (picture::sweep(&own), others)
        }
        PictureKind::Size => {
            let (own, others) = of_most_sizes(families(&rows), &choice)?;
            (picture::size(&own, ceilings), others)
        }
        PictureKind::Experiment => {
            let points = chosen(&material.points, &choice)?;
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

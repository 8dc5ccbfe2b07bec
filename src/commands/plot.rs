//! `gpulab plot`: a picture of recorded results.

use crate::cli::{Global, PictureKind, PlotArgs};
use crate::commands::show::records::{asked, material};
use crate::record::Row;
use crate::report::groups::{families, ladders, of_most_rungs, sizes, sweeps};
use crate::report::picture::{self, Drawn};
use crate::report::shown::{Choice, Material, finding, question};
use crate::{Error, Result, outputs, usage_error};
use std::path::Path;

/// Draws what was asked for into its file.
pub fn run(global: &Global, options: &PlotArgs) -> Result<()> {
    check_picture(&options.output)?;
    let material = material(asked(&options.files)?)?;
    let picture = draw(&material, options)?.map_err(Error::Usage)?;
    material.torn.iter().for_each(|text| global.note(text));
    outputs::write_told(
        global,
        &options.output,
        picture.svg(),
        &format!(": {}", picture.title),
    )
}

/// Refuses what is no file of a picture, before anything is read or run.
pub fn check_picture(output: &str) -> Result<()> {
    let is_svg = Path::new(output)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("svg"));
    match output == "-" || is_svg {
        true => Ok(()),
        false => usage_error(format!(
            "-o {output}: a picture is FILE.svg, or - for standard output"
        )),
    }
}

fn draw(material: &Material, options: &PlotArgs) -> Result<Drawn> {
    let PlotArgs {
        files,
        name,
        n,
        dtype,
        ..
    } = options;
    let choice = Choice {
        files,
        name: name.as_deref(),
        n: *n,
        dtype: *dtype,
    };
    let rows: Vec<Row> = material
        .rows
        .iter()
        .filter(|row| choice.is_met(row))
        .cloned()
        .collect();
    Ok(match options.what {
        PictureKind::Ladder => {
            let example = "reduce.csv, as gpulab reduce --csv writes it";
            picture::ladder(&choice.largest(of_most_rungs(ladders(&rows)), "ladder", example)?)
        }
        PictureKind::Roofline => {
            picture::roofline(&choice.of_each_family(&ladders(&rows))?, &material.ceilings)
        }
        PictureKind::Sweep => picture::sweep(&choice.largest(
            sweeps(&rows),
            "sweep",
            "what gpulab sweep -o writes",
        )?),
        PictureKind::Size => {
            let own = families(&rows).into_iter().max_by_key(|rows| sizes(rows));
            picture::size(&own.unwrap_or_default(), &material.ceilings)
        }
        PictureKind::Experiment => {
            let points = choice.points(&material.points)?;
            picture::experiment(&points, question(&points), &finding(&points))
        }
    })
}

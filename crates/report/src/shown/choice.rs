//! Which of the recorded results a picture shows.

use crate::format;
use crate::groups::{elements, experiments, of_most_rungs, sizes};
use gpulab_model::Error;
use gpulab_model::data::Dtype;
use gpulab_record::{Point, Row};
use std::cmp::Reverse;

pub struct Choice<'a> {
    pub files: &'a [String],
    /// A family or an experiment.
    pub name: Option<&'a str>,
    /// Elements, or columns of matrices.
    pub n: Option<u64>,
    pub dtype: Option<Dtype>,
}

impl Choice<'_> {
    pub fn is_met(&self, row: &Row) -> bool {
        self.name.is_none_or(|name| row.family == name)
            && self.n.is_none_or(|n| row.n == n)
            && self.dtype.is_none_or(|dtype| row.dtype == dtype)
    }
}

/// `reduce i32, n = 16777216 on NVIDIA H200`.
fn title(rows: &[Row]) -> String {
    let Some(row) = rows.iter().find(|row| !row.on_host()).or(rows.first()) else { return String::new() };
    let device = format::device(&row.device);
    format!("{} {}, n = {} on {device}", row.family, row.dtype, format::count(row.n))
}

/// The largest problem, of equal ones the last, and what the others are.
///
/// Errors: `Usage`, if there is none; `example` is what has some.
pub fn largest(
    mut all: Vec<Vec<Row>>,
    choice: &Choice<'_>,
    what: &str,
    example: &str,
) -> Result<(Vec<Row>, Vec<String>), Error> {
    all.sort_by_key(|rows| Reverse(elements(rows)));
    let most = all.first().map_or(0, |rows| elements(rows));
    let equal = all.iter().take_while(|rows| elements(rows) == most).count();
    if equal == 0 {
        return Err(none(choice, what, example));
    }
    let own = all.remove(equal - 1);
    Ok((own, others(&all)))
}

fn others(all: &[Vec<Row>]) -> Vec<String> {
    let mut names: Vec<String> = all.iter().map(|rows| title(rows)).collect();
    names.sort();
    names.dedup();
    names
}

fn none(choice: &Choice<'_>, what: &str, example: &str) -> Error {
    let chosen = choice.name.is_some() || choice.n.is_some() || choice.dtype.is_some();
    let of = if chosen { " that --name, -n and --dtype choose" } else { "" };
    Error::Usage(format!("{} holds no {what}{of}: it is drawn from {example}", choice.files.join(", ")))
}

/// The largest ladder of each family on the first ladder's device.
pub fn of_each_family(all: Vec<Vec<Row>>, choice: &Choice<'_>) -> Result<Vec<Vec<Row>>, Error> {
    let device = |rows: &Vec<Row>| rows.iter().find(|row| !row.on_host()).map(|row| row.device.clone());
    let first = all.iter().find_map(device).ok_or_else(|| none(choice, "ladder", "what gpulab reduce --csv writes"))?;
    let own: Vec<Vec<Row>> = all.into_iter().filter(|rows| device(rows).as_ref() == Some(&first)).collect();
    let mut families: Vec<String> = own.iter().flatten().map(|row| row.family.clone()).collect();
    families.sort();
    families.dedup();
    families
        .iter()
        .map(|family: &String| {
            let own = own.iter().filter(|rows| rows.iter().any(|row| row.family == *family)).cloned().collect();
            largest(of_most_rungs(own), choice, "ladder", "").map(|(rows, _)| rows)
        })
        .collect()
}

pub fn of_most_sizes(mut all: Vec<Vec<Row>>, choice: &Choice<'_>) -> Result<(Vec<Row>, Vec<String>), Error> {
    all.sort_by_key(|rows| Reverse(sizes(rows)));
    if all.is_empty() {
        return Err(none(choice, "ladder or sweep", "a sweep over -n, or ladders of several sizes"));
    }
    let own = all.remove(0);
    let others = all.iter().filter(|rows| sizes(rows) > 1).filter_map(|rows| rows.first());
    Ok((
        own,
        others.map(|row: &Row| format!("{} {} on {}", row.family, row.dtype, format::device(&row.device))).collect(),
    ))
}

/// The points of the experiment that is meant: the last run of it.
///
/// Errors: `Usage` if there is none, or there are several and none was named.
pub fn chosen(points: &[Point], choice: &Choice<'_>) -> Result<Vec<Point>, Error> {
    let mut all = experiments(points);
    let mut names: Vec<String> = all.iter().filter_map(|own| own.first()).map(|p| p.experiment.clone()).collect();
    names.sort();
    names.dedup();
    if let Some(name) = choice.name {
        all.retain(|own| own.first().is_some_and(|p| p.experiment == name));
    } else if names.len() > 1 {
        return Err(Error::Usage(format!("the files hold several experiments: --name {}", names.join(", --name "))));
    }
    all.pop().ok_or_else(|| match names.is_empty() {
        true => none(choice, "experiment", "what gpulab lab NAME --csv writes"),
        false => Error::Usage(format!("the files hold no such experiment, but {}", names.join(", "))),
    })
}

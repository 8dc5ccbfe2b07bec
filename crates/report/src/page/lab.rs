//! Pictures beside the ladders: sweeps, sizes, experiments, overlap, single runs.

use super::material::{DevicePart, RecordedStudy};
use super::parts::{Ids, figure, figures, folded, prose};
use crate::format;
use crate::groups::{families, groups, sweeps as sweeps_of};
use crate::picture::{self, Picture, number, overlap, size, strip};
use gpulab_kernels::FAMILIES;
use gpulab_record::{Point, Row, SampleRow};
use maud::{Markup, html};
use std::cmp::Reverse;
use std::collections::HashSet;

/// How much of a rung's time the work-group decides.
pub(super) fn sweeps_heading(own: &DevicePart<'_>) -> String {
    let best = |rows: &Vec<Row>| rows.iter().filter_map(|row| row.t_median_s).fold(f64::INFINITY, f64::min);
    let factor = |of_rung: &Vec<Row>| {
        let times: Vec<f64> = groups(of_rung, |row| row.wg_text()).iter().map(best).filter(|t| t.is_finite()).collect();
        let (least, most) =
            (times.iter().copied().fold(f64::INFINITY, f64::min), times.iter().copied().fold(0.0, f64::max));
        most / least
    };
    let maps = sweeps_of(&own.rows);
    let rungs = maps.iter().filter(|rows| is_map(rows)).flat_map(|rows| groups(rows, |row| row.variant.clone()));
    let most = rungs.map(|of_rung| factor(&of_rung)).filter(|f| f.is_finite()).fold(1.0, f64::max);
    match most > 1.05 {
        true => format!("The work-group alone makes a rung up to {} times slower", number::value(most)),
        false => "Which settings are best".to_owned(),
    }
}

/// Maps of rungs and work-groups; those of one rung or one work-group folded.
pub(super) fn sweeps(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let mut all = sweeps_of(&own.rows);
    all.sort_by_key(|rows| place(rows));
    let (maps, lines): (Vec<Vec<Row>>, Vec<Vec<Row>>) = all.into_iter().partition(|rows| is_map(rows));
    let drawn = |all: &[Vec<Row>]| all.iter().filter_map(|rows| picture::sweep(rows).ok()).collect::<Vec<Picture>>();
    first_and_others(&drawn(&maps), &drawn(&lines), "of one rung or one work-group", ids)
}

/// Whether rows with a time are of two rungs or more, and of two work-groups or more.
fn is_map(rows: &[Row]) -> bool {
    let timed = || rows.iter().filter(|row| row.t_median_s.is_some());
    let Some(first) = timed().next() else { return false };
    timed().any(|row| row.variant != first.variant) && timed().any(|row| row.wg != first.wg)
}

/// Where a family stands in the syllabus; others last.
fn place(rows: &[Row]) -> usize {
    rows.first()
        .and_then(|row: &Row| FAMILIES.iter().position(|known| known.name == row.family))
        .unwrap_or(FAMILIES.len())
}

/// Pictures, and more of them folded; these alone where there are no first ones.
fn first_and_others(first: &[Picture], others: &[Picture], which: &str, ids: &Ids) -> Option<Markup> {
    let Some(shown) = figures(ids, first) else { return figures(ids, others) };
    let more = figures(ids, others);
    Some(html! {
        (shown)
        @if let Some(more) = more { (folded(&format!("{} more, {which}", others.len()), &more)) }
    })
}

/// Time over the size of the problem: of each family the type and cache with the most rungs and sizes, others folded.
pub(super) fn sizes(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let mut first = Vec::new();
    let mut others = Vec::new();
    let mut all = groups(&families(&own.rows), |rows| rows.first().map(|row| row.family.clone()));
    all.sort_by_key(|of_family| of_family.first().map_or(0, |rows| place(rows)));
    for mut of_family in all {
        of_family.sort_by_key(|rows| Reverse(cases(rows)));
        let is_known = of_family.first().is_some_and(|rows| place(rows) < FAMILIES.len());
        let mut drawn = of_family.iter().filter_map(|rows| size(rows, &own.ceilings).ok());
        first.extend(if is_known { drawn.next() } else { None });
        others.extend(drawn);
    }
    first_and_others(&first, &others, "of other types, caches and kernels", ids)
}

/// Rungs and sizes that rows have a time of.
fn cases(rows: &[Row]) -> usize {
    groups(rows, |row| (row.variant.clone(), row.n))
        .iter()
        .filter(|own| own.iter().any(|r| r.t_median_s.is_some()))
        .count()
}

/// How many experiments there are, and how many of them leave their question open.
pub(super) fn experiments_heading(own: &DevicePart<'_>) -> String {
    let (all, _) = last_and_earlier(own);
    match (
        all.len(),
        all.iter().filter(|study: &&&RecordedStudy| study.picture.as_ref().is_ok_and(Picture::is_open)).count(),
    ) {
        (1, _) => "What an experiment found".to_owned(),
        (all, 0) => format!("What {all} experiments found"),
        (all, open) => format!("What {all} experiments found; grey: undecided in {open}"),
    }
}

/// The experiments by name, of each its last run; and their earlier runs.
fn last_and_earlier<'a>(own: &DevicePart<'a>) -> (Vec<&'a RecordedStudy>, Vec<&'a RecordedStudy>) {
    fn first(study: &RecordedStudy, cell: fn(&Point) -> &str) -> String {
        study.points.first().map_or_else(String::new, |point| cell(point).to_owned())
    }
    let mut all = own.studies.clone();
    all.sort_by_cached_key(|study| (first(study, |p| &p.experiment), Reverse(first(study, |p| &p.time_utc))));
    let (mut last, mut earlier): (Vec<&RecordedStudy>, Vec<&RecordedStudy>) = (Vec::new(), Vec::new());
    for study in all {
        let is_known =
            last.last().is_some_and(|known| first(known, |p| &p.experiment) == first(study, |p| &p.experiment));
        if is_known { earlier.push(study) } else { last.push(study) }
    }
    (last, earlier)
}

/// Experiments by name: the last run of each, earlier ones folded.
pub(super) fn experiments(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let (last, earlier) = last_and_earlier(own);
    let shown = |which: &[&RecordedStudy]| html! { div.pair { @for study in which { (experiment(study, ids)) } } };
    (!last.is_empty()).then(|| html! {
        (shown(&last))
        @if !earlier.is_empty() { (folded(&format!("{} more: earlier runs of the same experiments", earlier.len()), &shown(&earlier))) }
    })
}

/// An experiment: its picture says what it asks and finds.
fn experiment(study: &RecordedStudy, ids: &Ids) -> Markup {
    let name = study.points.first().map(|point| format::terminal(&point.experiment)).unwrap_or_default();
    let id = ids.next("study");
    let question = prose(&study.question);
    let finding = prose(&study.finding);
    html! { article.study aria-labelledby=(id) {
        h3 #(id) { (name) }
        @match &study.picture {
            Ok(picture) if !picture.is_tall() => (figure(ids, picture)),
            Ok(picture) => {
                p.question { (question) }
                p { (finding) }
                (folded("the picture", &figure(ids, picture)))
            }
            Err(why) => {
                p.question { (question) }
                p { (finding) }
                p.quiet { "No picture: " (format::terminal(why)) "." }
            }
        }
    } }
}

pub(super) fn overlaps(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let own = own.studies.iter().filter(|study| study.points.first().is_some_and(|p| p.experiment == "overlap"));
    figures(ids, &own.filter_map(|study| overlap(&study.points).ok()).collect::<Vec<_>>())
}

pub(super) fn samples(own: &DevicePart<'_>, samples: &[SampleRow], ids: &Ids) -> Option<Markup> {
    let runs: HashSet<&str> = own.rows.iter().map(|row| row.run_id.as_str()).collect();
    let is_own = |sample: &&SampleRow| runs.contains(sample.run_id.as_str());
    let own: Vec<SampleRow> = samples.iter().filter(is_own).cloned().collect();
    let cases = groups(&own, |sample| (sample.run_id.clone(), sample.family.clone(), sample.n, sample.dtype));
    figures(ids, &cases.iter().filter_map(|samples| strip(samples).ok()).collect::<Vec<_>>())
}

//! Pictures beside the ladders: sweeps, sizes, experiments, overlap, single runs.

use super::DevicePart;
use super::RecordedStudy;
use super::parts::{Ids, figure, figures, folded};
use crate::record::SampleRow;
use crate::report::format;
use crate::report::groups::{families, groups, sizes as count_sizes, sweeps as sweeps_of};
use crate::report::picture::{self, Picture, overlap, size, strip};
use maud::{Markup, html};

/// Maps of rungs and work-groups.
pub(super) fn sweeps(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let maps: Vec<Picture> = sweeps_of(&own.rows).iter().filter_map(|rows| picture::sweep(rows).ok()).collect();
    figures(ids, &maps)
}

/// Time over the size of the problem: of each family the type with the most sizes, others folded.
pub(super) fn sizes(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for mut of_family in groups(&families(&own.rows), |rows| rows.first().map(|row| row.family.clone())) {
        of_family.sort_by_key(|rows| std::cmp::Reverse(count_sizes(rows)));
        let mut drawn = of_family.iter().filter_map(|rows| size(rows, &own.ceilings).ok());
        first.extend(drawn.next());
        others.extend(drawn);
    }
    let shown = figures(ids, &first)?;
    Some(html! {
        (shown)
        @if let Some(more) = figures(ids, &others) { (folded(&format!("{} more, of other types and caches", others.len()), &more)) }
    })
}

/// Experiments, each with what it asks and all that it found.
pub(super) fn experiments(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    (!own.studies.is_empty()).then(|| html! { div.grid { @for study in &own.studies { (experiment(study, ids)) } } })
}

fn experiment(study: &RecordedStudy, ids: &Ids) -> Markup {
    let name = study.points.first().map(|point| format::terminal(&point.experiment)).unwrap_or_default();
    let (id, question, finding) =
        (ids.next("study"), format::terminal(&study.question), format::terminal(&study.finding));
    html! { article.study aria-labelledby=(id) {
        h3 #(id) { (name) @if !question.is_empty() { ": " span.question { (question) } } }
        @match &study.picture {
            Ok(picture) if picture.is_tall() => { p { (finding) } (folded("the picture", &figure(ids, picture))) }
            Ok(picture) => { (figure(ids, picture)) (folded("the whole finding", &html! { p { (finding) } })) }
            Err(why) => { p { (finding) } p.quiet { "No picture: " (format::terminal(why)) "." } }
        }
    } }
}

/// What overlapped.
pub(super) fn overlaps(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let own = own.studies.iter().filter(|study| study.points.first().is_some_and(|p| p.experiment == "overlap"));
    figures(ids, &own.filter_map(|study| overlap(&study.points).ok()).collect::<Vec<_>>())
}

/// Single runs of the device's ladders.
pub(super) fn samples(own: &DevicePart<'_>, samples: &[SampleRow], ids: &Ids) -> Option<Markup> {
    let is_own = |sample: &&SampleRow| own.rows.iter().any(|row| row.run_id == sample.run_id);
    let own: Vec<SampleRow> = samples.iter().filter(is_own).cloned().collect();
    let cases = groups(&own, |sample| (sample.run_id.clone(), sample.family.clone(), sample.n, sample.dtype));
    figures(ids, &cases.iter().filter_map(|samples| strip(samples).ok()).collect::<Vec<_>>())
}

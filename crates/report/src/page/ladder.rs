//! Ladders: bars against the limit, gains, reasons with the sources' differences, and counts beside times.

use super::material::{DevicePart, PageMaterial};
use super::parts::{Ids, figure, folded, notes, prose, table};
use crate::cell::RateUnit;
use crate::diff::{self, KernelFile};
use crate::format;
use crate::groups::{elements, groups, ladders as ladders_of, of_most_rungs};
use crate::moment::FilmMoment;
use crate::picture::{self, number};
use crate::rungs::label;
use crate::view::{View, is_held_against_limit};
use crate::{payoff, why};
use gpulab_kernels::{Bound, FAMILIES, Registry, Sources, built_in, cited};
use gpulab_model::outcome::Status;
use gpulab_record::{Row, flag};
use gpulab_study::why::{DeviceRates, LadderReasons, RungTime, StepReason, reasons, results};
use maud::{Markup, html};

/// Characters of a line of a source.
const WIDTH: usize = 110;

/// How near the fastest rungs come to what the device can do.
pub(super) fn heading(own: &DevicePart<'_>) -> String {
    let best = |rows: &Vec<Row>| {
        let timed =
            rows.iter().filter(|row| row.rung.is_some() && row.status == Status::Ok && row.t_median_s.is_some());
        timed
            .min_by(|a, b| a.t_median_s.partial_cmp(&b.t_median_s).unwrap_or(std::cmp::Ordering::Equal))
            .filter(|row: &&Row| !row.flags.contains(flag::FITS_CACHE))?
            .ceiling_pct
    };
    let shares: Vec<f64> = of_today(own).iter().filter_map(best).collect();
    let (least, most) = shares.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), share| (a.min(*share), b.max(*share)));
    match (shares.len(), format!("{least:.0}"), format!("{most:.0}")) {
        (0, ..) => "Ladders: what each step brings, and why".to_owned(),
        (_, least, most) if least == most => {
            format!("The fastest rungs reach {most}\u{a0}% of the limit that bounds them")
        }
        (_, least, most) => format!("The fastest rungs reach {least} to {most}\u{a0}% of the limits that bound them"),
    }
}

pub(super) fn roofline_heading(own: &DevicePart<'_>) -> String {
    fn bound(rows: &[Row]) -> &'static str {
        match rows.iter().find_map(Row::bound).is_some_and(Bound::is_memory) {
            false => "arithmetic bounds",
            true if is_held_against_limit(rows.iter().filter(|row| !row.on_host())) => "memory bounds",
            true => "a cache holds the data of",
        }
    }
    let all = of_today(own);
    let told = ["memory bounds", "a cache holds the data of", "arithmetic bounds"].into_iter().filter_map(|what| {
        let names: Vec<&str> = all.iter().filter(|rows| bound(rows) == what).map(|rows| family(rows)).collect();
        let (last, others) = names.split_last()?;
        let names = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
        Some(format!("{what} {names}"))
    });
    let told: Vec<String> = told.collect();
    let mut text = format::terminal(&told.join(", "));
    text.get_mut(..1).map(str::make_ascii_uppercase);
    text
}

/// The ladders of a device: of each family that of the most rungs and the largest problem, others folded.
pub(super) fn ladders(own: &DevicePart<'_>, material: &PageMaterial<'_>, ids: &Ids) -> Option<Markup> {
    let families = by_family(own);
    (!families.is_empty()).then(|| html! { @for (first, others) in &families {
        (ladder(first, own, material, ids))
        @if !others.is_empty() {
            @let more = html! { div.pair { @for rows in others { @if let Ok(picture) = picture::ladder(rows) { (figure(ids, &picture)) } } } };
            (folded(&format!("{} more of {}: other sizes, types and settings", format::counted(others.len(), "ladder"), family(first)), &more))
        }
    } })
}

fn family(rows: &[Row]) -> &str {
    rows.first().map_or("", |row| row.family.as_str())
}

/// The ladders that can be drawn, family by family in the order of the syllabus: the one to look at, and the others.
pub(super) fn by_family(own: &DevicePart<'_>) -> Vec<(Vec<Row>, Vec<Vec<Row>>)> {
    let mut drawable = ladders_of(&own.rows);
    drawable.retain(|rows| picture::ladder(rows).is_ok());
    let place =
        |rows: &Vec<Row>| FAMILIES.iter().position(|known| known.name == family(rows)).unwrap_or(FAMILIES.len());
    let mut all = groups(&drawable, |rows| family(rows).to_owned());
    all.sort_by_key(|of_family| of_family.first().map_or(0, place));
    all.into_iter()
        .filter_map(|of_family: Vec<Vec<Row>>| {
            let whole = of_most_rungs(of_family.clone());
            // Of several as large the first.
            let first = whole.into_iter().rev().max_by_key(|rows| elements(rows))?;
            let others = of_family.into_iter().filter(|rows| *rows != first).collect();
            Some((first, others))
        })
        .collect()
}

/// The ladders to look at, but for those of the sources' kernels as printed: these were made for devices of their time.
fn of_today(own: &DevicePart<'_>) -> Vec<Vec<Row>> {
    let firsts = by_family(own).into_iter().map(|(first, _)| first);
    firsts.filter(|rows| cited(family(rows)).is_none()).collect()
}

/// The first ladders of all families under the limits of memory and arithmetic.
pub(super) fn roofline(own: &DevicePart<'_>, ids: &Ids) -> Option<Markup> {
    let firsts = of_today(own);
    let all = picture::roofline(&firsts, &own.ceilings).ok();
    let each = firsts.iter().filter_map(|rows| picture::roofline(std::slice::from_ref(rows), &own.ceilings).ok());
    let each: Vec<_> = if firsts.len() > 1 { each.collect() } else { Vec::new() };
    let pictures: Vec<_> = all.into_iter().chain(each).collect();
    super::parts::figures(ids, &pictures)
}

fn ladder(rows: &[Row], own: &DevicePart<'_>, material: &PageMaterial<'_>, ids: &Ids) -> Markup {
    let Some(row) = rows.iter().find(|row| !row.on_host()).or(rows.first()) else { return html! {} };
    let size = if row.m > 1 {
        format!("{} × {}", format::count(row.n), format::count(row.m))
    } else {
        format!("{} elements", format::count(row.n))
    };
    let is_gpu = !row.is_on_cpu_device();
    let why = DeviceRates::new(&own.ceilings, is_gpu)
        .map(|rates| reasons(&Registry::default(), rows, material.counts, &rates));
    let view = View::of(rows, RateUnit::GB);
    let said: Vec<String> = view.lesson.map(str::to_owned).into_iter().chain(view.notes).collect();
    let id = ids.next("ladder");
    html! { article.ladder aria-labelledby=(id) {
        h3 #(id) { (format::terminal(&row.family)) " " span.quiet { (row.dtype) ", " (size) ", " (row.cache.name()) " cache" } }
        div.pair {
            @if let Ok(picture) = picture::ladder(rows) { (figure(ids, &picture)) }
            @if let Ok(picture) = picture::waterfall(rows) { (figure(ids, &picture)) }
        }
        (notes(&said))
        @match &why {
            Ok(why) => (with_reasons(why, is_gpu, material)),
            Err(missing) => {
                p.quiet { (prose(&why::without_limit(missing, &row.device))) "." }
                (differences(rows, material))
            }
        }
    } }
}

fn with_reasons(why: &LadderReasons, is_gpu: bool, material: &PageMaterial<'_>) -> Markup {
    html! {
        h4 { "Why" }
        ol.steps { @for (pair, (gain, reason)) in why.rungs.windows(2).zip(&why.steps) {
            @let [before, after] = [&pair[0].row, &pair[1].row];
            li class=(mark(*gain, reason)) {
                (prose(&why::sentence(before, after, *gain, reason)))
                (difference(before, after, material))
            }
        } }
        @let pays = payoff::of_ladder(&why.rungs);
        @if !pays.is_empty() { h4 { "What would pay most, by the model" } (payoffs(&pays, material)) }
        h4 { "Counts beside times" }
        (counts(&why.rungs))
        (notes(&why::notes(why, is_gpu)))
        p.quiet { (why::model(is_gpu)) }
    }
}

/// What would pay, each with the moment that shows it: a link where the film lies beside, else the command that makes it.
fn payoffs(pays: &[(String, Option<FilmMoment>)], material: &PageMaterial<'_>) -> Markup {
    html! { ul.notes { @for (sentence, moment) in pays { li {
        (prose(sentence))
        @match moment {
            None => {}
            Some(moment) if material.films.contains(&moment.file()) => {
                span.film { "; " a href=(moment.address()) { "the moment in its film" } }
            }
            Some(moment) => { span.film { "; " code { (moment.command()) } } }
        }
    } } } }
}

/// What a step is to the eye.
fn mark(gain: f64, reason: &StepReason) -> &'static str {
    match reason {
        StepReason::Undecided(_) => "open",
        _ if gain >= 1.0 => "gain",
        _ => "loss",
    }
}

fn differences(rows: &[Row], material: &PageMaterial<'_>) -> Markup {
    let timed: Vec<&Row> =
        rows.iter().filter(|row| row.rung.is_some() && row.status == Status::Ok && row.is_plain()).collect();
    html! { ol.steps { @for pair in timed.windows(2) {
        @let [before, after] = [pair[0], pair[1]];
        li.open { (format::terminal(&label(before))) " to " (format::terminal(&label(after)))
            (difference(before, after, material)) }
    } } }
}

/// What changes in the source, folded; nothing of rungs that this gpulab does not have. Pages of a gallery, which are kept,
/// name the command that shows it: the sources go on changing.
fn difference(before: &Row, after: &Row, material: &PageMaterial<'_>) -> Markup {
    let file = |row: &Row| {
        let family = built_in(&row.family)?;
        let rung = family.rung(&row.variant)?;
        let text = Sources::default().read(&rung.path).ok()?;
        Some(KernelFile { label: format!("{} {}", family.name, rung.label()), path: format!("cl/{}", rung.path), text })
    };
    let Some((old, new)) = file(before).zip(file(after)).filter(|(old, new)| old.path != new.path) else {
        return html! {};
    };
    if material.home.is_some() {
        let command = format!("gpulab diff {} {} {}", before.family, before.variant, after.variant);
        return html! { p.quiet { "what changes in the source: " code { (format::terminal(&command)) } } };
    }
    let text = diff::text(&old, &new, WIDTH, false);
    folded(
        "what changes in the source",
        &html! { pre.diff tabindex="0" { code { @for line in text.lines() { (diff_line(line)) "\n" } } } },
    )
}

fn diff_line(line: &str) -> Markup {
    match line.get(..1) {
        Some("+") => html! { ins { (line) } },
        Some("-") => html! { del { (line) } },
        Some("@") => html! { b { (line) } },
        _ => html! { (line) },
    }
}

type CountCell = (&'static str, fn(&RungTime) -> Option<String>);

const COUNTS: [CountCell; 9] = [
    ("measured", |rung| Some(number::time(rung.measured))),
    ("model", |rung| Some(number::time(rung.model_time()?.whole()))),
    ("over model", |rung| Some(number::value(rung.over_model()?))),
    ("mostly", |rung| Some(why::part(rung.model_time()?.largest(), &rung.row).to_owned())),
    ("segments a load", |rung| tally(rung, |counts| counts.memory.global_read.segments_a_request())),
    ("segments a store", |rung| tally(rung, |counts| counts.memory.global_write.segments_a_request())),
    ("passes of local memory", |rung| tally(rung, |counts| counts.local().passes_a_request())),
    ("instructions a result", |rung| {
        let results = results(&rung.row, &rung.model.as_ref().ok()?.0);
        tally(rung, |counts| Some(counts.lanes as f64 / results))
    }),
    ("lanes busy", |rung| {
        let share = rung.model.as_ref().ok()?.0.counts.lanes_busy(gpulab_study::count::LockstepModel::USUAL.warp)?;
        Some(format!("{:.0} %", 100.0 * share))
    }),
];

fn tally(rung: &RungTime, count: impl Fn(&gpulab_study::count::Counts) -> Option<f64>) -> Option<String> {
    count(&rung.model.as_ref().ok()?.0.counts).map(number::value)
}

/// What was counted of each rung beside its time; columns without a count are left out.
fn counts(rungs: &[RungTime]) -> Markup {
    let cells = |(_, cell): &&CountCell| rungs.iter().any(|rung| cell(rung).is_some());
    let columns: Vec<&CountCell> = COUNTS.iter().filter(cells).collect();
    let head: Vec<String> =
        std::iter::once("rung").chain(columns.iter().map(|(head, _)| *head)).map(str::to_owned).collect();
    table(
        &head,
        &rungs
            .iter()
            .map(|rung: &RungTime| {
                let cells = columns.iter().map(|(_, cell)| cell(rung).unwrap_or_default());
                std::iter::once(label(&rung.row)).chain(cells).collect::<Vec<String>>()
            })
            .collect::<Vec<_>>(),
    )
}

//! Ladders: bars against the limit, gains, reasons with the sources' differences, and counts beside times.

use super::{Material, figure, figures, folded, next_id, notes, prose, table};
use crate::diff::{self, KernelFile};
use crate::format;
use crate::groups::{elements, groups, ladders as ladders_of, of_most_rungs};
use crate::payoff::{self, PayoffSentence};
use crate::picture::{self, number};
use crate::rungs::label;
use crate::view::{RateUnit, View, is_base};
use crate::why;
use gpulab_kernels::{FAMILIES, Registry, Sources, built_in, cited};
use gpulab_record::{Row, flag};
use gpulab_study::count::{CountRow, LockstepModel};
use gpulab_study::why::{DeviceRates, LadderReasons, RungTime, StepReason, reasons, results};
use maud::{Markup, html};
use std::cell::Cell;
use std::cmp::Ordering;

/// Characters of a line of a source.
const WIDTH: usize = 110;

/// The ladder of a family to look at, and its others.
pub type FamilyLadders = (Vec<Row>, Vec<Vec<Row>>);

/// How near the fastest rungs come to what the device can do.
pub fn heading(families: &[FamilyLadders]) -> String {
    let mut shares: Vec<f64> = Vec::new();
    for rows in of_today(families) {
        let timed = rows.iter().filter(|row| is_base(row));
        let best = timed.min_by(|a, b| {
            a.t_median_s
                .partial_cmp(&b.t_median_s)
                .unwrap_or(Ordering::Equal)
        });
        shares.extend(
            best.filter(|row| !row.flags.contains(flag::FITS_CACHE))
                .and_then(|row| row.ceiling_pct),
        );
    }
    shares.sort_by(f64::total_cmp);
    match &shares[..] {
        [] => "Ladders: what each step brings, and why".to_owned(),
        [only] => format!(
            "The fastest rung reaches {} of the limit that bounds it",
            number::share(*only)
        ),
        [least, .., most] => {
            let least = number::share(*least);
            format!(
                "The fastest rungs reach {least} to {} of the limits that bound them",
                number::share(*most)
            )
        }
    }
}

/// The ladders of some families: of each that of the most rungs and the largest problem, others folded.
pub fn ladders(
    families: &[FamilyLadders],
    own: &Material,
    counts: &[CountRow],
    ids: &Cell<usize>,
) -> Option<Markup> {
    (!families.is_empty()).then(|| {
        html! { @for (first, others) in families {
            (ladder(first, others, own, counts, ids))
        } }
    })
}

/// The ladders that can be drawn, family by family in the order of the syllabus: the one to look at, and the others.
pub fn by_family(own: &Material) -> Vec<FamilyLadders> {
    let mut drawable = ladders_of(&own.rows);
    drawable.retain(|rows| picture::ladder(rows).is_ok());
    let mut all = groups(&drawable, |rows| rows[0].family.clone());
    all.sort_by_key(|own| {
        FAMILIES
            .iter()
            .position(|known| known.name == own[0][0].family)
            .unwrap_or(FAMILIES.len())
    });
    let mut families = Vec::new();
    for of_family in all {
        // Of several as large the first.
        let whole = of_most_rungs(of_family.clone());
        if let Some(first) = whole.into_iter().rev().max_by_key(|rows| elements(rows)) {
            let others = of_family
                .into_iter()
                .filter(|rows| *rows != first)
                .collect();
            families.push((first, others));
        }
    }
    families
}

/// The ladders to look at, but for those of the sources' kernels as printed: these were made for devices of their time.
fn of_today(families: &[FamilyLadders]) -> impl Iterator<Item = &Vec<Row>> {
    let firsts = families.iter().map(|(first, _)| first);
    firsts.filter(|rows| cited(&rows[0].family).is_none())
}

/// The first ladders of families under the limits of memory and arithmetic: together, and each with its rungs' names.
pub fn roofline(families: &[FamilyLadders], own: &Material, ids: &Cell<usize>) -> Option<Markup> {
    let firsts: Vec<Vec<Row>> = of_today(families).cloned().collect();
    let mut all = vec![firsts.clone()];
    if firsts.len() > 1 {
        all.extend(firsts.into_iter().map(|rows| vec![rows]));
    }
    figures(ids, all, |ladders| {
        picture::roofline(ladders, &own.ceilings)
    })
}

fn ladder(
    rows: &[Row],
    others: &[Vec<Row>],
    own: &Material,
    counts: &[CountRow],
    ids: &Cell<usize>,
) -> Markup {
    let row = rows.iter().find(|row| !row.on_host()).unwrap_or(&rows[0]);
    let size = match row.m {
        1 => format!("{} elements", format::count(row.n)),
        m => format!("{} × {}", format::count(row.n), format::count(m)),
    };
    let is_gpu = !row.is_on_cpu_device();
    let why = DeviceRates::new(&own.ceilings, is_gpu)
        .map(|rates| reasons(&Registry::default(), rows, counts, &rates));
    let view = View::of(rows, RateUnit::GB);
    let id = next_id(ids, "ladder");
    html! { article.ladder aria-labelledby=(id) {
        h3 #(id) { (format::terminal(&row.family)) " " span.quiet { (row.dtype) ", " (size) ", " (row.cache.name()) " cache" } }
        div.pair {
            @if let Ok(picture) = picture::ladder(rows) { (figure(ids, &picture)) }
            @if let Ok(picture) = picture::waterfall(rows) { (figure(ids, &picture)) }
        }
        @if let Some(lesson) = view.lesson { p { (prose(lesson)) } }
        (folded("why each step gains or loses", &html! {
            (notes(&view.notes))
            @match &why {
                Ok(why) => (with_reasons(why, is_gpu)),
                Err(missing) => { p.quiet { (prose(&why::without_limit(missing, &row.device))) "." } }
            }
        }))
        @if let Some(more) = figures(ids, others.to_vec(), |rows| picture::ladder(rows)) {
            (folded("other sizes, types and settings", &more))
        }
    } }
}

fn with_reasons(why: &LadderReasons, is_gpu: bool) -> Markup {
    html! {
        h4 { "Why" }
        ol.steps { @for (pair, (gain, reason)) in why.rungs.windows(2).zip(&why.steps) {
            @let [before, after] = [&pair[0].row, &pair[1].row];
            li class=(mark(*gain, reason)) {
                (prose(&why::sentence(before, after, *gain, reason)))
                (difference(before, after))
            }
        } }
        @let pays = payoff::of_ladder(&why.rungs);
        @if !pays.is_empty() { h4 { "What would pay most, by the model" } (payoffs(&pays)) }
        h4 { "Counts beside times" }
        (counts(&why.rungs))
        (notes(&why::notes(why)))
        p.quiet { (why::model(is_gpu)) }
    }
}

/// What would pay, each with the command that makes the film of its moment.
fn payoffs(pays: &[PayoffSentence]) -> Markup {
    html! { ul.notes { @for one in pays { li {
        (prose(&one.text))
        @if let Some(line) = &one.line { span.film { "; " code { (line.command(&one.what)) } } }
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

/// What changes in the source, folded; nothing of rungs that this gpulab does not have.
fn difference(before: &Row, after: &Row) -> Markup {
    let [Some(old), Some(new)] = [before, after].map(kernel_file) else {
        return html! {};
    };
    if old.path == new.path {
        return html! {};
    }
    let text = diff::text(&old, &new, WIDTH, false);
    folded(
        "what changes in the source",
        &html! { pre.diff tabindex="0" { code { @for line in text.lines() { (diff_line(line)) "\n" } } } },
    )
}

fn kernel_file(row: &Row) -> Option<KernelFile> {
    let family = built_in(&row.family)?;
    let rung = family.rung(&row.variant)?;
    let text = Sources::default().read(&rung.path).ok()?;
    Some(KernelFile::new(family, rung, text))
}

fn diff_line(line: &str) -> Markup {
    match line.get(..1) {
        Some("+") => html! { ins { (line) } },
        Some("-") => html! { del { (line) } },
        Some("@") => html! { b { (line) } },
        _ => html! { (line) },
    }
}

/// What was counted of each rung beside its time.
fn counts(rungs: &[RungTime]) -> Markup {
    let head = [
        "rung",
        "measured",
        "model",
        "over model",
        "mostly",
        "segments per load",
        "segments per store",
        "passes of local memory",
        "instructions a result",
        "lanes busy",
    ];
    let mut rows = Vec::new();
    for rung in rungs {
        let counted = rung.model.as_ref().ok().map(|(counted, _)| counted);
        let counts = counted.map_or([None; 5], |row| {
            [
                row.counts.memory.global_read.segments_a_request(),
                row.counts.memory.global_write.segments_a_request(),
                row.counts.local().passes_a_request(),
                Some(row.counts.lanes as f64 / results(&rung.row, row)),
                row.counts.lanes_busy(LockstepModel::USUAL.warp),
            ]
        });
        let mut cells = vec![
            label(&rung.row),
            number::time(rung.measured),
            rung.model_time()
                .map(|time| number::time(time.whole()))
                .unwrap_or_default(),
            rung.over_model().map(number::value).unwrap_or_default(),
            rung.model_time()
                .map(|time| why::part(time.largest(), &rung.row).to_owned())
                .unwrap_or_default(),
        ];
        cells.extend(counts.map(|count| count.map(number::value).unwrap_or_default()));
        rows.push(cells);
    }
    table(&head.map(str::to_owned), &rows)
}

//! A kernel's run as a page that plays it: what each warp did, step by step, and what that asked of memory.

use crate::drawing::SMALLEST;
use crate::format::{counted, size};
use crate::moment::FilmLine;
use crate::payoff;
use gpulab_kernels::built_in;
use gpulab_model::Joined;
use gpulab_model::plan::{Case, Plan};
use gpulab_record::Run;
use gpulab_study::count::{
    CountRow, CountSubject, CountedCase, Counts, LockstepModel, RequestCounts, RequestKind,
    TracedLaunch, TracedRequest, TracedStep,
};
use gpulab_study::why::Payoffs;
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// What a kernel did in the simulator.
#[derive(Clone)]
pub struct Film {
    /// As in `reduce v2 interleaved`.
    pub title: String,
    /// That of the work-items, where two orders give two results.
    pub order: Option<&'static str>,
    pub case: Case,
    /// The time at which size on which GPU, if it was recorded.
    pub elsewhere: Option<String>,
    pub plan: Plan,
    /// The names of kernels' parameters, in their order.
    pub parameters: BTreeMap<String, Vec<String>>,
    pub model: LockstepModel,
    pub counted: CountedCase,
    /// What the first groups of each launch did.
    pub launches: Vec<TracedLaunch>,
    /// The lines of the sources that steps name.
    pub sources: BTreeMap<String, Vec<String>>,
}

impl Film {
    /// The text of a line, without the blanks before it.
    pub fn line(&self, file: &str, line: u64) -> Option<&str> {
        let lines = self.sources.get(file)?;
        lines
            .get(usize::try_from(line.checked_sub(1)?).ok()?)
            .map(|text| text.trim())
    }

    /// What a request costs beyond the least that so many bytes need.
    pub fn excess(&self, request: &TracedRequest) -> u64 {
        let RequestCounts {
            segments,
            bytes,
            moved,
            conflicts,
            ..
        } = request.counts;
        match request.kind.is_local() {
            true => conflicts,
            false if request.moved_pieces.is_empty() => {
                segments.saturating_sub(bytes.div_ceil(self.model.segment))
            }
            false => moved.saturating_sub(bytes) / SMALLEST,
        }
    }

    /// The lines that have steps, in words.
    pub fn lines(&self) -> String {
        let steps = self.launches.iter().flat_map(|launch| &launch.steps);
        let lines: BTreeSet<u64> = steps.clone().map(|step| step.line).collect();
        let lines = lines.iter().map(u64::to_string).joined(", ");
        let groups = steps.map(|step| step.group + 1).max().unwrap_or_default();
        format!("the film has lines {lines} of the first {groups} groups; --groups watches more")
    }

    /// What a request takes, in words.
    pub fn asked(
        &self,
        TracedRequest {
            kind,
            counts,
            moved_pieces,
            ..
        }: &TracedRequest,
    ) -> String {
        match kind {
            RequestKind::ConstantRead => counted(counts.words as usize, "word"),
            kind if kind.is_local() => format!(
                "{}, {} for bank conflicts",
                counted(counts.passes as usize, "pass"),
                counts.conflicts
            ),
            _ => {
                let piece = if moved_pieces.is_empty() {
                    "segment"
                } else {
                    "transaction"
                };
                let pieces = counted(counts.segments as usize, piece);
                let moved = match moved_pieces[..] {
                    [(_, first), (_, second)] => format!("{first} + {second}"),
                    _ => counts.moved.to_string(),
                };
                format!("{pieces}, {moved} bytes for {} asked", counts.bytes)
            }
        }
    }

    /// What a step costs, in words: its lanes, and what its requests take.
    pub fn cost(&self, step: &TracedStep) -> String {
        let lanes = format!("{} of {} lanes", step.lanes.count_ones(), self.model.warp);
        let request = step
            .requests
            .iter()
            .max_by_key(|request| self.excess(request));
        let asked =
            request.map_or_else(String::new, |request| format!(", {}", self.asked(request)));
        format!("line {}, {lanes}{asked}", step.line)
    }

    /// The step of a line that costs most beyond what it must, and of these the one with the fewest lanes.
    pub fn costliest(&self, line: &FilmLine) -> Option<&TracedStep> {
        let steps = self
            .launches
            .iter()
            .flat_map(|launch| &launch.steps)
            .filter(|step| line.is_of(step));
        // The first of those that are alike.
        steps
            .rev()
            .max_by_key(|step| (self.step_excess(step), Reverse(step.lanes.count_ones())))
    }

    /// Whether a step has masked lanes, or asks for more than it must.
    pub fn is_wasteful(&self, step: &TracedStep) -> bool {
        self.step_excess(step) > 0 || u64::from(step.lanes.count_ones()) < self.model.warp
    }

    fn step_excess(&self, step: &TracedStep) -> u64 {
        step.requests
            .iter()
            .map(|request| self.excess(request))
            .sum()
    }
}

/// The page before and behind its data.
const PAGE: &str = include_str!("film.html");

/// Where the data stand in it.
const DATA: &str = "\"FILMS\"";

/// What the page begins with.
const MARK: &str = "<!doctype html><!-- gpulab film -->";

/// Whether a file's beginning is that of a film.
pub fn is_film(head: &str) -> bool {
    head.starts_with(MARK)
}

/// The page of one film, or of two that play side by side, opened at a line or at the beginning. It needs no network.
pub fn page(films: &[Film], line: Option<&FilmLine>) -> String {
    let mut all: Vec<Value> = films.iter().map(of_film).collect();
    if let (Some(first), Some(line)) = (all.first_mut(), line) {
        first["opens"] = json!(line.to_string());
    }
    // A source may close the element that the data stand in.
    let data = Value::Array(all)
        .to_string()
        .replace("</", "<\\/")
        .replace("<!--", "<\\u0021--");
    let titles = films.iter().map(|film| film.title.as_str()).joined(" and ");
    let title = crate::format::terminal(&titles)
        .replace('&', "&amp;")
        .replace('<', "&lt;");
    PAGE.replace("TITLE", &title).replacen(DATA, &data, 1)
}

fn of_film(film: &Film) -> Value {
    let files: Vec<&String> = film.sources.keys().collect();
    let launches = film
        .counted
        .launches
        .iter()
        .zip(&film.launches)
        .map(|(counted, traced)| {
            let steps = traced.steps.iter();
            let steps = steps.map(|step| {
                of_step(
                    step,
                    files
                        .iter()
                        .position(|file| **file == step.file)
                        .unwrap_or_default(),
                )
            });
            json!({
                "kernel": traced.kernel,
                "groups": counted.counts.groups,
                "wg": counted.counts.wg,
                "barriers": counted.counts.barriers,
                "timed": counted.timed,
                "parting": traced.parting,
                "total": totals(&counted.counts.total()),
                "steps": steps.collect::<Vec<_>>(),
            })
        });
    let LockstepModel {
        warp,
        segment,
        banks,
        ..
    } = film.model;
    json!({
        "title": film.title,
        "order": film.order,
        "wrong": film.counted.wrong,
        "shape": format!("n = {}", size(film.case.shape.n, film.case.shape.m)),
        "dtype": film.case.dtype.name(),
        "warp": warp,
        "segment": segment,
        "banks": banks,
        "files": files.iter().map(|file| json!({ "name": file, "lines": film.sources[*file] })).collect::<Vec<_>>(),
        "launches": launches.collect::<Vec<_>>(),
        "elsewhere": film.elsewhere,
        "pays": pays(film),
    })
}

/// `[text, line]` of what would pay most, by the counts of all launches.
fn pays(film: &Film) -> Vec<Value> {
    let Film {
        case,
        model,
        counted,
        ..
    } = film;
    let run = Run::begin();
    let rung = built_in(&case.family).and_then(|family| family.rung(&case.variant)?.number());
    let subject = CountSubject {
        run: &run,
        simulator: "",
        model: *model,
        case,
        rung,
        trial: None,
        note: "",
    };
    let payoffs = Payoffs::of_case(&CountRow::of(&subject, counted));
    payoffs.map_or_else(Vec::new, |payoffs: Payoffs| {
        payoff::sentences(&payoffs, &case.family, rung)
            .into_iter()
            .map(|one| json!([one.text, one.line.map(|line| line.to_string())]))
            .collect()
    })
}

/// Instructions of warps and of items, floating-point operations, and requests with what they cost.
fn totals(counts: &Counts) -> Value {
    let global = counts.global();
    let local = counts.local();
    let atomics = counts.atomics();
    json!({
        "issued": counts.issued,
        "executed": counts.lanes,
        "flops": counts.flops,
        "global": global.requests,
        "bytes": global.bytes,
        "segments": global.segments,
        "local": local.requests,
        "passes": local.passes,
        "conflicts": local.conflicts,
        "atomics": atomics.passes,
    })
}

/// `[group, warp, phase, file, line, lanes, issued, executed, flops, requests]`, as the page reads it.
fn of_step(step: &TracedStep, file: usize) -> Value {
    let requests: Vec<Value> = step.requests.iter().map(of_request).collect();
    let lanes = format!("{:x}", step.lanes);
    json!([
        step.group,
        step.warp,
        step.phase,
        file,
        step.line,
        lanes,
        step.issued,
        step.executed,
        step.flops,
        requests
    ])
}

/// `[kind, array, bytes of a lane, lanes, addresses, stored, segments, passes, conflicts, moved, pieces]`: addresses as a
/// first one and a distance where all distances are the same; pieces: address and bytes of transactions of several sizes.
fn of_request(request: &TracedRequest) -> Value {
    let RequestCounts {
        segments,
        passes,
        conflicts,
        moved,
        ..
    } = request.counts;
    let lanes = format!("{:x}", request.lanes);
    let kind = format!("{:?}", request.kind);
    json!([
        kind,
        request.array,
        request.size,
        lanes,
        addresses(&request.at),
        request.stored,
        segments,
        passes,
        conflicts,
        moved,
        request.moved_pieces
    ])
}

fn addresses(at: &[u64]) -> Value {
    let [first, second, ..] = at else {
        return json!(at);
    };
    let step = *second as i64 - *first as i64;
    match at
        .windows(2)
        .all(|pair| pair[1] as i64 - pair[0] as i64 == step)
        && at.len() > 2
    {
        true => json!({ "from": first, "by": step }),
        false => json!(at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_at_equal_distances_are_two_numbers() {
        assert_eq!(addresses(&[8, 4, 0]), json!({ "from": 8, "by": -4 }));
        assert_eq!(addresses(&[0, 4]), json!([0, 4]));
        assert_eq!(addresses(&[0, 4, 12]), json!([0, 4, 12]));
    }
}

//! What a program on a bad driver must not do.

use super::trial::{Fault, Job, Ran};
use std::collections::BTreeMap;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    Panic,
    Signal,
    Hang,
    Row,
    Silence,
}

/// The kinds, in the words of the figure.
pub const KINDS: &[(Wrong, &str)] = &[
    (Wrong::Panic, "panics"),
    (Wrong::Signal, "signals"),
    (Wrong::Hang, "hangs"),
    (Wrong::Row, "wrong rows"),
    (Wrong::Silence, "failures with exit 0"),
];

/// Codes with which a device refuses a size or a shape.
const REFUSALS: &[&str] = &["fail:-4", "fail:-5", "fail:-6", "fail:-61"];

/// An unfaulted time is at most so many times the faulted one: machines that run this are busy.
const FASTER: f64 = 8.0;

/// Compares a run with the one on the good driver.
pub fn judge(job: &Job, fault: &Fault, good: &Ran, ran: &Ran) -> Result<(), (Wrong, String)> {
    let text = format!("{}{}", ran.stdout, ran.stderr);
    let last = ran.stderr.lines().last().unwrap_or_default();
    if text.contains("panicked at") {
        let panic = text
            .lines()
            .find(|line| line.contains("panicked at"))
            .unwrap_or_default();
        return Err((Wrong::Panic, panic.into()));
    }
    if ran.status.is_none() {
        return Err((
            Wrong::Hang,
            format!("had not ended after {:.0} s", ran.seconds),
        ));
    }
    if let Some(signal) = ran.signal() {
        return Err((Wrong::Signal, format!("ended by signal {signal}")));
    }
    let Some(code) = ran.code() else {
        return Err((Wrong::Signal, "ended without an exit code".into()));
    };
    if code >= 99 {
        return Err((Wrong::Signal, format!("exit code {code}: {last}")));
    }
    if ran.left_behind {
        return Err((Wrong::Hang, "left a process behind".into()));
    }
    if ran.stdout.contains("SHIM-GARBAGE") {
        return Err((
            Wrong::Row,
            "the driver's prints are among the results".into(),
        ));
    }
    for row in &ran.rows {
        check_row(job, good, row).map_err(|why| (Wrong::Row, format!("{}: {why}", label(row))))?;
        if is_about_time(fault) && status(row) == "timeout" {
            return Err((
                Wrong::Hang,
                format!("{}: lost its deadline to wrong event times", label(row)),
            ));
        }
    }
    if code != 0 {
        return match ran.stderr.trim().is_empty() {
            true => Err((Wrong::Silence, format!("exit code {code} without a word"))),
            false => Ok(()),
        };
    }
    let silent = |why: String| Err((Wrong::Silence, why));
    for row in ran.rows.iter().filter(|row| status(row) != "ok") {
        let refused =
            status(row) == "skipped" && (is_refusal(job, fault, ran) || was_skipped(good, row));
        if !refused {
            let reason = row.get("reason").map_or("", String::as_str);
            return silent(format!("{} is {}: {reason}", label(row), status(row)));
        }
    }
    if ran.rows.len() < good.rows.len() {
        return silent(format!("{} rows of {}", ran.rows.len(), good.rows.len()));
    }
    let is_told =
        |line: &&str| line.contains("gave no rate (") && !line.contains("gave no rate (skipped)");
    if let Some(line) = ran.stderr.lines().find(is_told) {
        return silent(line.to_owned());
    }
    if ran.stdout.contains("BROKEN") {
        return silent("something is called broken".into());
    }
    if !job.has_rows
        && shape(&ran.stdout) != shape(&good.stdout)
        && !is_display(fault)
        && !is_about_time(fault)
    {
        let differs = ran
            .stdout
            .lines()
            .find(|line| !shape(&good.stdout).contains(&shape(line)));
        return silent(format!("other output: {}", differs.unwrap_or("less of it")));
    }
    // Of launches back to back the first does what the others do again: a lost one shows in their time alone.
    if ran.missed_launch && fault.action.starts_with("drop") && fault.when.len() > 1 {
        return silent("launches that did nothing went unnoticed".into());
    }
    Ok(())
}

/// A row that is called ok must have the right result, and a time that is possible.
fn check_row(job: &Job, good: &Ran, row: &BTreeMap<String, String>) -> Result<(), String> {
    if !row.contains_key("status") {
        // Distances, which are the result.
        return if good.rows.contains(row) {
            Ok(())
        } else {
            Err(format!("{row:?} is not right"))
        };
    }
    if status(row) != "ok" {
        return Ok(());
    }
    let number = |row: &BTreeMap<String, String>, name: &str| {
        row.get(name).and_then(|cell| cell.parse::<f64>().ok())
    };
    let twin = good.rows.iter().find(|other| key(other) == key(row));
    if let (Some(got), Some(want)) = (
        number(row, "result"),
        twin.and_then(|twin| number(twin, "result")),
    ) {
        let difference = (got - want).abs();
        if difference.is_nan() || difference > 1e-4 * want.abs().max(1.0) {
            return Err(format!("called ok with {got}, where {want} is right"));
        }
    }
    let Some(median) = number(row, "t_median_s") else {
        return Ok(());
    };
    if !(median > 0.0 && median.is_finite()) {
        return Err(format!("called ok with a time of {median} s"));
    }
    if let Some(wall) = number(row, "t_wall_median_s").filter(|wall| median > 1.2 * wall) {
        return Err(format!(
            "called ok with {median:e} s, longer than the wall time {wall:e} s"
        ));
    }
    let on_device = row.get("clock").is_some() && row.get("platform").is_some_and(|p| p != "host");
    if !(job.is_long && on_device) {
        return Ok(());
    }
    for name in ["t_min_s", "t_batch_s"] {
        if let (Some(got), Some(want)) = (
            number(row, name),
            twin.and_then(|twin| number(twin, "t_min_s")),
        ) && got * FASTER < want
        {
            return Err(format!(
                "called ok with {name} {got:e} s, where the good driver takes {want:e} s"
            ));
        }
    }
    Ok(())
}

fn status(row: &BTreeMap<String, String>) -> &str {
    row.get("status").map_or("ok", String::as_str)
}

const KEY: &[&str] = &[
    "family", "variant", "dtype", "n", "m", "wg", "params", "cache",
];

fn key(row: &BTreeMap<String, String>) -> Vec<Option<&String>> {
    KEY.iter().map(|name| row.get(*name)).collect()
}

fn label(row: &BTreeMap<String, String>) -> String {
    let names = [
        "family",
        "variant",
        "experiment",
        "series",
        "x",
        "what",
        "element",
        "from",
        "to",
    ];
    let cells: Vec<&str> = names
        .iter()
        .filter_map(|name| row.get(*name))
        .map(String::as_str)
        .collect();
    cells.join(" ")
}

fn was_skipped(good: &Ran, row: &BTreeMap<String, String>) -> bool {
    good.rows
        .iter()
        .any(|other| key(other) == key(row) && status(other) == "skipped")
}

/// Whether what failed is what a device refuses a size or a shape by, before anything of it ran.
fn is_refusal(job: &Job, fault: &Fault, ran: &Ran) -> bool {
    let before = match fault.function.as_str() {
        // The cases of `zerocopy` are alike in kernel, range and numbers: they differ by where their buffers are.
        "clEnqueueNDRangeKernel" => !ran.ran_before || job.name == "lab-zerocopy",
        // Every rung has a program of its own, but the cases of a sweep, an experiment or a search may share one.
        "clCreateBuffer" | "clCreateImage" | "clSetKernelArg" => {
            let is_shared = ["sweep", "lab", "ceiling"]
                .iter()
                .any(|name| job.name.starts_with(name));
            is_shared || !ran.ran_before
        }
        _ => false,
    };
    before && REFUSALS.contains(&fault.action.as_str())
}

/// Whether what failed is only shown.
fn is_display(fault: &Fault) -> bool {
    ["clGetPlatformInfo", "clGetDeviceInfo"].contains(&fault.function.as_str())
}

fn is_about_time(fault: &Fault) -> bool {
    fault.function == "clGetEventProfilingInfo" && !fault.action.starts_with("sleep")
}

/// A text without its numbers.
fn shape(text: &str) -> String {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    text.split(digits)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join("#")
        .replace("ms", "us")
}

//! Times on a GPU that is not here, beside those of a ladder that was climbed here.

use crate::format::{self, Screen};
use crate::rungs::label;
use crate::table::Table;
use crate::why::faster;
use gpulab_record::Row;

/// A time in seconds, and whether it was measured there; else it is the model's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeElsewhere {
    pub seconds: f64,
    pub is_recorded: bool,
}

const MODEL: &str = "model: from counts, of large cases by those of small ones, and limits that were measured there; within 1.5 times for 61 of 65 kernels on an H200 (docs/elsewhere.md)";

/// Rungs as they were measured here, with their times on the device of this name, at this size; those without one are named below.
pub fn table(
    (device, size): (&str, &str),
    rungs: &[(Row, Option<TimeElsewhere>)],
    screen: Screen,
) -> String {
    let missing = rungs.iter().filter(|(_, time)| time.is_none());
    let missing: Vec<&str> = missing.map(|(row, _)| row.variant.as_str()).collect();
    let rungs: Vec<(&Row, TimeElsewhere)> = rungs
        .iter()
        .filter_map(|(row, time)| Some((row, (*time)?)))
        .collect();
    let times = rungs.iter().map(|(_, time)| time.seconds);
    let (unit, scale) = format::time_unit(times.clone());
    let here: Vec<f64> = rungs
        .iter()
        .map(|(row, _)| row.t_median_s.unwrap_or(f64::NAN))
        .collect();
    let there: Vec<f64> = times.clone().collect();
    let from = rungs.iter().map(|(_, time)| match time.is_recorded {
        true => "measured there".to_owned(),
        false => "model".to_owned(),
    });
    let mut table = Table::default().texts("rung", rungs.iter().map(|(row, _)| label(row)));
    if here.iter().any(|seconds| seconds.is_finite()) {
        table = table.numbers("gain\nhere".to_owned(), gains(&rungs, &here));
    }
    let table = table
        .numbers("gain\nthere".to_owned(), gains(&rungs, &there))
        .numbers(
            format!("{unit}\nthere"),
            times.map(|seconds| format::significant(seconds / scale, 3)),
        )
        .texts("from", from);
    let mut text = screen.wrap(&format!(
        "on an {device}, which is not here, with n = {size}:"
    ));
    if !rungs.is_empty() {
        text += &table.blocks(screen.width);
    }
    if rungs.iter().any(|(_, time)| !time.is_recorded) {
        text += &screen.wrap(MODEL);
    }
    if !missing.is_empty() {
        text += &screen.wrap_foreign(&format!(
            "no time of {}: not counted, or what the model does not know: doubles, arrays in private memory, launches until the data say so, or atomic operations \
             that meet",
            missing.join(", ")
        ));
    }
    format::on_screen(&text, screen)
}

/// What a step from one kernel to another gains on the device of this name, by the model.
pub fn step(device: &str, size: &str, [before, after]: [f64; 2]) -> String {
    let [old, new] = [before, after].map(format::time);
    format!(
        "on an {device}, by the model, with n = {size}: {new}, before {old}: {}",
        faster(before / after)
    )
}

/// How many times as fast each rung is as the one before it, where one is not measured and the other modelled.
fn gains(rungs: &[(&Row, TimeElsewhere)], seconds: &[f64]) -> Vec<String> {
    let mut gains = vec!["-".to_owned(); rungs.len().min(1)];
    for (pair, times) in rungs.windows(2).zip(seconds.windows(2)) {
        let is_step = pair[1].0.rung.is_some() && pair[0].1.is_recorded == pair[1].1.is_recorded;
        gains.push(match times[0] / times[1] {
            gain if is_step && gain.is_finite() => format::significant(gain, 3),
            _ => "-".to_owned(),
        });
    }
    gains
}

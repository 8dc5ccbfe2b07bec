//! What the records that come with gpulab are.

use crate::record::HOST;
use crate::report::format;
use crate::report::groups::{distinct, groups};
use crate::report::shown::{ShownContent, take_apart};
use crate::store::{Recorded, Shipped};

/// A line for each device whose records are shipped.
pub(crate) fn overview(all: &[Shipped]) -> String {
    let device = |own: &Vec<Shipped>| {
        let Some(first) = own.first() else { return String::new() };
        let names: Vec<&str> = own.iter().map(|file| file.name).collect();
        format::wrap(&format!("{}: {}", first.device, names.join(", ")), WIDTH, "  ")
    };
    let devices: String = groups(all, |file| file.device).iter().map(device).collect();
    let head = "Recorded results that come with gpulab. gpulab show DEVICE says what its files hold, gpulab show DEVICE \
                NAME shows a file, a family or an experiment:";
    format!("{}\n{devices}", format::wrap(head, WIDTH, ""))
}

const WIDTH: usize = 80;

/// What the files of devices hold, with the devices' names where they are several.
pub(crate) fn contents(own: &[Shipped]) -> String {
    let devices = groups(own, |file| file.device);
    own.iter()
        .map(|file: &Shipped| {
            let what = take_apart(file.text, file.name).map(|source| summary(&source.holds)).unwrap_or_default();
            let device = if devices.len() > 1 { format!("{} ", file.device) } else { String::new() };
            format::wrap(&format!("{device}{}: {what}", file.name), WIDTH, "  ")
        })
        .collect()
}

/// `ladders of dot`.
fn summary(holding: &ShownContent) -> String {
    match holding {
        ShownContent::Recorded(Recorded::Rows(rows)) => {
            let kind = if rows.iter().any(|row| !row.sweep_id.is_empty()) { "a sweep of" } else { "ladders of" };
            let devices = distinct(rows.iter().filter(|row| row.platform != HOST).map(|row| row.device.as_str()));
            format!(
                "{kind} {} on {}",
                distinct(rows.iter().map(|row| row.family.as_str())).join(", "),
                devices.join(", ")
            )
        }
        ShownContent::Recorded(Recorded::Points(points)) => {
            format!("experiments {}", distinct(points.iter().map(|point| point.experiment.as_str())).join(", "))
        }
        ShownContent::Recorded(_) => "another program's figures".to_owned(),
        ShownContent::Ceilings(_) => "measured limits".to_owned(),
        ShownContent::Counts(_) => "counts".to_owned(),
        ShownContent::Samples(_) => "single timed runs".to_owned(),
    }
}

//! `gpulab devices`: every platform and device, and how to select each.

use crate::cli::{DEVICE_VARIABLE, Global};
use crate::console;
use crate::device::doctor::{self, Listing};
use crate::device::select;
use crate::outputs::TextOrJson;
use crate::report::devices;
use crate::{Error, Result};
use std::time::Instant;

/// Prints the table, or of the device that is given only what it could mean. With `json`, writes the list to that file, or
/// in place of the table to `-`.
/// A driver that breaks is an error only after the devices of the others.
pub fn run(global: &Global, json: Option<&str>) -> Result<()> {
    let Listing {
        mut platforms,
        broken,
    } = doctor::listing(Instant::now() + doctor::LISTING).map_err(Error::NoDevice)?;
    if let Some(device) = global.device_given() {
        select::narrow(&mut platforms, device)?;
    }
    TextOrJson::open(json)?.tell(&devices::json(&platforms), || {
        let width = console::width();
        let table = devices::table(&platforms, width, global.verbose);
        if global.quiet {
            table
        } else {
            table + &devices::hint_to_select(&platforms, DEVICE_VARIABLE, width)
        }
    })?;
    if broken.is_empty() {
        return select::select(&platforms, None).map(|_| ());
    }
    let broken = broken.join("\n");
    Err(Error::Failed(match platforms.is_empty() {
        true => broken,
        false => format!(
            "{broken}; to use the others, point OCL_ICD_VENDORS to a folder without its file"
        ),
    }))
}

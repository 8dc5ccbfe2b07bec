//! `gpulab columns`: what the columns of files hold.

use crate::prelude::*;
use crate::report::dictionaries::ALL;
use crate::report::dictionary;

pub fn run(out: &mut Out, md: bool, json: bool) -> Result<(), Error> {
    match (md, json) {
        (true, _) => out.text(&dictionary::markdown(&ALL)),
        (_, true) => out.text(&dictionary::json(&ALL).map_err(|e| Error::Failed(e.to_string()))?),
        _ => out.text(&dictionary::text(&ALL)),
    }
}

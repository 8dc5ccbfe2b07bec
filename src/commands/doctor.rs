//! `gpulab doctor`: what works, what does not, and what to install.

use crate::device::doctor;
use crate::health::{Findings, Health, report};
use crate::outputs::TextOrJson;
use crate::prelude::*;

/// Prints the report, or writes what was found as JSON to `json`, for `-` in place of the report. Quietly only what is
/// wrong and the verdict; verbosely also what the environment says.
pub fn run(out: &mut Out, global: &Global, json: Option<&str>) -> Result<(), Error> {
    if let Some(answer) = doctor::child_answer() {
        return out.bytes(answer.as_bytes());
    }
    let answer = TextOrJson::open(json)?;
    let findings = Findings::collect();
    let lines = findings.lines();
    let health = findings.health(&lines);
    answer.tell(out, &findings.json(health), || report(&findings, &lines, health, global))?;
    match health {
        Health::Ready => Ok(()),
        Health::Partly => Err(Error::Failed("something that is installed is broken".to_owned())),
        Health::Nothing => Err(Error::NoDevice("no OpenCL device works".to_owned())),
    }
}

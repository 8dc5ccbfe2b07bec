//! What is asked of several devices, checked before any is opened.

use crate::cli::Ladder;
use crate::ladder::{LadderRun, checked_dtype};
use crate::outcome::{Cache, Clock};
use crate::prelude::*;

/// What all devices do.
pub(super) struct SharedRung<'a> {
    pub(super) dtype: Dtype,
    /// The rung that was named; else each device has its best.
    pub(super) rung: Option<&'a Rung>,
}

impl SharedRung<'_> {
    pub(super) fn case(&self, study: &LadderRun<'_>, options: &Ladder, rung: Option<&Rung>) -> Case {
        let variant = rung.or(self.rung).map_or("", Rung::variant);
        study.case(variant, self.dtype, options.wg.unwrap_or(WorkGroup::linear(1)), options.seed)
    }
}

pub(super) fn asked<'a>(options: &Ladder, study: &LadderRun<'a>, quiet: bool) -> Result<SharedRung<'a>, Error> {
    refuse(options, study)?;
    let rung = match options.variant.as_deref() {
        None => None,
        Some(list) => match values::variants(study.family, list).map_err(Error::Usage)?[..] {
            [rung] => Some(rung),
            ref several => {
                let count = several.len();
                return Err(Error::Usage(format!(
                    "--variant: several devices share one rung; choose one, not {count}"
                )));
            }
        },
    };
    let rungs = rung.map_or_else(|| study.family.kernels().collect(), |rung| vec![rung]);
    Ok(SharedRung { dtype: checked_dtype(study, &rungs, options, quiet)?, rung })
}

/// Refuses options that mean something on one device alone.
fn refuse(options: &Ladder, study: &LadderRun<'_>) -> Result<(), Error> {
    let settings = options.measure.settings();
    let of_one = [
        ("--as", study.source.is_some()),
        ("--stream", study.stream.is_some()),
        ("--why", options.why),
        ("--rounds", options.rounds.is_some_and(|rounds| rounds > 1)),
        ("--peak", !options.peak.is_empty()),
        ("--save", options.output.save.is_some()),
        ("--against", options.output.against.is_some()),
        ("--budget", options.measure.budget.is_some()),
        ("--in-process", options.measure.process.in_process),
        ("--cache cold", settings.cache == Cache::Cold),
        ("--clock batch", settings.clock == Clock::Batch),
    ];
    match of_one.iter().find(|(_, is_given)| *is_given) {
        Some((option, _)) => Err(Error::Usage(format!(
            "{option} is for one device: choose one with -d, or leave {option} out to share the work among several"
        ))),
        None => Ok(()),
    }
}

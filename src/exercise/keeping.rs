//! What a student has done so far, read and kept.

use super::{Bets, Progress, Standing};
use crate::ceilings;
use crate::console::note;

/// What was done so far. A folder that cannot be read is no reason to stop.
pub(crate) fn progress() -> Progress {
    let Ok(folder) = ceilings::folder() else { return Progress::default() };
    let (progress, why) = Progress::load(&folder);
    why.iter().for_each(|why| note(&format!("note: {why}")));
    progress
}

pub(crate) fn bets() -> Bets {
    let Ok(folder) = ceilings::folder() else { return Bets::default() };
    let (bets, why) = Bets::load(&folder);
    why.iter().for_each(|why| note(&format!("note: {why}")));
    bets
}

/// Changes the standing of an exercise and keeps it, if it can be kept; gives it as it is now.
pub(crate) fn keep(name: &str, change: impl FnOnce(&mut Standing)) -> Standing {
    let mut progress = progress();
    change(progress.change(name));
    let kept = ceilings::folder().and_then(|folder| progress.save(&folder));
    if let Err(error) = kept {
        note(&format!("note: your progress is not kept: {error}; set GPULAB_DATA to a folder that can be written to"));
    }
    progress.of(name)
}

//! What a student has done so far, read and kept.

use super::{Bets, Progress, Standing};
use crate::ceilings;
use crate::console::note;
use std::path::Path;

/// What was done so far.
pub(crate) fn progress() -> Progress {
    kept(Progress::load)
}

pub(crate) fn bets() -> Bets {
    kept(Bets::load)
}

/// What the user's folder keeps. One that cannot be read is no reason to stop.
fn kept<T: Default>(load: fn(&Path) -> (T, Option<String>)) -> T {
    let Ok(folder) = ceilings::folder() else { return T::default() };
    let (kept, why) = load(&folder);
    why.iter().for_each(|why| note(&format!("note: {why}")));
    kept
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

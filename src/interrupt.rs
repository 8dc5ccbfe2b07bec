//! Ctrl-C: asks the run to stop, so that what was measured is still printed.

use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C or a polite kill has come in.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// From now on an interrupt sets a flag; the second one ends the process at once.
pub(crate) fn watch() {
    // Without a handler an interrupt ends the process, as it would have anyway.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

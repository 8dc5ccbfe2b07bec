//! `gpulab record`: all that is worth keeping of a device, in one folder. Each part is a command of this program in a process
//! of its own, so that one that fails takes nothing with it.

use crate::bench;
use crate::cli::RecordArgs;
use crate::device::{doctor, select};
use crate::prelude::*;
use crate::recording::{
    FolderLock, Journal, Recording, Thoroughness, UNFINISHED, begin, command, folder_name, proposal, steps, summary,
    worst,
};

/// Records the device in the folder that is given, or says what that would be.
pub fn run(out: &mut Out, global: &Global, options: &RecordArgs) -> Result<(), Error> {
    let platforms = doctor::listing(Instant::now() + doctor::LISTING).map_err(Error::NoDevice)?.platforms;
    let info = select::select(&platforms, global.device.as_deref())?;
    let how = Thoroughness { device: global.device_given(), quick: options.quick, budget: options.budget };
    let steps = steps(&info.target, &how);
    let Some(folder) = &options.output else { return out.text(&proposal(info, &steps, &how)) };
    interrupt::watch();
    bench::announce(global, info);
    let lock = FolderLock::take(folder)?;
    let mut journal = Journal::open(folder, command(&folder_name(folder), &how), info, &steps)?;
    begin(folder, &platforms, info, &journal)?;
    let recorded = Recording { folder, quiet: global.quiet, steps: &steps }.run(&mut journal);
    // It stays where a file is left in it.
    let _ = fs::remove_dir(folder.join(UNFINISHED));
    drop(lock);
    recorded?;
    out.text(&summary(folder, journal.steps()))?;
    worst(journal.steps())
}

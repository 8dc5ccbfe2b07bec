//! Processes that this one starts, and does not wait for without end.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Waits for a child's end; one that takes longer than `limit` is killed, and has none.
pub fn ended_within(child: &mut Child, limit: Duration) -> io::Result<Option<ExitStatus>> {
    const TICK: Duration = Duration::from_millis(2);
    let began = Instant::now();
    while began.elapsed() < limit {
        match child.try_wait() {
            Ok(None) => thread::sleep(TICK),
            Ok(ended) => return Ok(ended),
            Err(lost) => {
                let _ = child.kill();
                return Err(lost);
            }
        }
    }
    child.kill().and_then(|()| child.wait())?;
    Ok(None)
}

/// Lets a child that is yet to be started lead a group of processes: those that it starts and does not end are in it.
pub fn lead_group(command: &mut Command) -> &mut Command {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    command
}

/// Kills a child that leads a group, if it still runs, and all others of the group.
pub fn kill_group(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process_group};
        // Mostly there are none.
        let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends this process at once, and the group that it leads, if it does.
pub fn end_group() -> ! {
    #[cfg(unix)]
    {
        use rustix::process::{Signal, getpgrp, getpid, kill_current_process_group};
        if getpgrp() == getpid() {
            let _ = kill_current_process_group(Signal::KILL);
        }
    }
    std::process::abort()
}

/// Asks this process to end when its parent does, where the system can; elsewhere only a killed parent leaves it behind until
/// it has done its work.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        let _ = set_parent_process_death_signal(Some(Signal::TERM));
    }
}

/// Asks a child to end, as Ctrl-C does.
pub fn interrupt(child: &mut Child) {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        // One that is gone meanwhile needs none.
        let _ = kill_process(Pid::from_child(child), Signal::INT);
    }
    #[cfg(not(unix))]
    let _ = child.kill();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_that_takes_too_long_is_killed() {
        let mut quick = Command::new("true").spawn().unwrap();
        assert!(ended_within(&mut quick, Duration::from_secs(30)).unwrap().unwrap().success());
        let began = Instant::now();
        let mut slow = Command::new("sleep").arg("30").spawn().unwrap();
        assert_eq!(ended_within(&mut slow, Duration::from_millis(20)).unwrap(), None);
        assert!(began.elapsed() < Duration::from_secs(20) && slow.try_wait().unwrap().is_some());
    }
}

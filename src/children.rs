//! Processes that this one starts, and does not wait for without end.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// Waits for a child's end; one that takes longer than `limit` is killed, and has none.
///
/// # Errors
/// What the system says of the child.
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

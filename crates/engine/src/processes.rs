//! Processes that this one starts, and does not wait for without end; how much memory they and this one may take, and in what
//! pages.

use rustix::process::{
    Pid, Resource, Rlimit, Signal, getpgrp, getpid, getrlimit, kill_current_process_group,
    kill_process, kill_process_group, setrlimit,
};
use rustix::time::{ClockId, clock_gettime};
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
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

/// Bytes that are kept of what a program prints.
const MOST: u64 = 256 << 20;

/// How a program ended that was given `input`, and what it printed, as fast as it came. [`io::ErrorKind::TimedOut`] if it took
/// longer than `limit`: then it was killed, with all that it started.
pub fn output_within(command: &mut Command, input: &str, limit: Duration) -> io::Result<Output> {
    let mut child = lead_group(command)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_owned();
        // One that does not read to the end says why.
        thread::Builder::new().spawn(move || drop(stdin.write_all(input.as_bytes())))?;
    }
    let out = read_all(child.stdout.take())?;
    let err = read_all(child.stderr.take())?;
    let Some(status) = ended_within(&mut child, limit)? else {
        kill_group(&mut child);
        return Err(io::Error::new(
            io::ErrorKind::TimedOut,
            format!("it did not end within {} s", limit.as_secs()),
        ));
    };
    // What it started, and left, may keep its pipes open.
    let [stdout, stderr] = [out, err].map(|from| {
        from.recv_timeout(Duration::from_secs(1))
            .unwrap_or_default()
    });
    Ok(Output {
        status,
        stdout,
        stderr,
    })
}

fn read_all(pipe: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    thread::Builder::new().spawn(move || {
        let mut text = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe
                .by_ref()
                .take(MOST)
                .read_to_end(&mut text)
                .and_then(|_| io::copy(&mut pipe, &mut io::sink()));
        }
        sender.send(text)
    })?;
    Ok(receiver)
}

/// Lets a child that is yet to be started lead a group of processes: those that it starts and does not end are in it.
pub fn lead_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kills a child that leads a group, if it still runs, and all others of the group.
pub fn kill_group(child: &mut Child) {
    // Mostly there are none.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends this process at once, and the group that it leads, if it does.
pub fn end_group() -> ! {
    if getpgrp() == getpid() {
        let _ = kill_current_process_group(Signal::KILL);
    }
    std::process::abort()
}

/// Asks this process to end when its parent does, where the system can; elsewhere only a killed parent leaves it behind until
/// it has done its work.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(Signal::TERM));
}

/// Asks a child to end, as Ctrl-C does.
pub fn interrupt(child: &mut Child) {
    // One that is gone meanwhile needs none.
    let _ = kill_process(Pid::from_child(child), Signal::INT);
}

/// Bytes of addresses below which no driver's process starts: threads and allocations of this program fail before that.
const LEAST_ADDRESSES: u64 = 256 << 20;

/// That this process may not use as many addresses as it likes, in words (`ulimit -v`): drivers die of it in many ways, and
/// hardly any says so.
pub fn address_space_limit() -> Option<String> {
    let size = addresses()? as f64 / f64::from(1 << 20);
    Some(format!(
        "this process may use {size:.0} MiB of address space (ulimit -v), which may be too little"
    ))
}

/// The same, where they are too few even to start a driver's process.
pub fn narrow_address_space() -> Option<String> {
    addresses()
        .filter(|bytes| *bytes < LEAST_ADDRESSES)
        .and_then(|_| address_space_limit())
}

/// Bytes of addresses that this process may use, if that is limited.
fn addresses() -> Option<u64> {
    getrlimit(Resource::As).current
}

/// From here on this process leaves no core file, and, if `addresses` says so, may take at most so many bytes of addresses
/// beyond those that it has. Where the system tells or limits no such thing, nothing changes.
pub fn limit_memory(bytes: u64, addresses: bool) {
    // A limit that cannot be set leaves the deadline.
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: Some(0),
        },
    );
    let there = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = there
        .as_deref()
        .and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let Some(pages) = pages.filter(|_| addresses) else {
        return;
    };
    let most = pages
        .saturating_mul(rustix::param::page_size() as u64)
        .saturating_add(bytes);
    let most = getrlimit(Resource::As)
        .current
        .map_or(most, |known| known.min(most));
    let _ = setrlimit(
        Resource::As,
        Rlimit {
            current: Some(most),
            maximum: Some(most),
        },
    );
}

/// The environment in which a process gets large pages, unless the user chose other settings of the C library. With pages of
/// 4 KiB a processor spends much of a walk through a large array on finding its pages. Arrays of this program and buffers of CPU
/// drivers come from the C library; only the GNU one heeds this.
pub fn large_pages() -> Option<(&'static str, &'static str)> {
    const TUNABLES: &str = "GLIBC_TUNABLES";
    std::env::var_os(TUNABLES)
        .is_none()
        .then_some((TUNABLES, "glibc.malloc.hugetlb=1"))
}

/// Seconds that all threads of this process have worked.
pub fn processor_seconds() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Bytes that can be allocated without swapping, where the system says so (Linux).
pub fn available_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_child_that_takes_too_long_is_killed() {
        let mut quick = Command::new("true").spawn().unwrap();
        assert!(
            ended_within(&mut quick, Duration::from_secs(30))
                .unwrap()
                .unwrap()
                .success()
        );
        let began = Instant::now();
        let mut slow = Command::new("sleep").arg("30").spawn().unwrap();
        assert_eq!(
            ended_within(&mut slow, Duration::from_millis(20)).unwrap(),
            None
        );
        assert!(began.elapsed() < Duration::from_secs(20) && slow.try_wait().unwrap().is_some());
        let ask = |script: &str, limit| {
            output_within(
                Command::new("sh").args(["-c", script]),
                "asked\n",
                Duration::from_millis(limit),
            )
        };
        let output = ask(
            "cat; yes line | head -n 1000000 >&2; sleep 30 & exit 3",
            20_000,
        )
        .unwrap();
        assert_eq!(
            (output.status.code(), &output.stdout[..]),
            (Some(3), &b""[..]),
            "what it left holds its pipes"
        );
        let output = ask("cat; yes line | head -n 1000000 >&2", 20_000).unwrap();
        assert_eq!((output.stdout.len(), output.stderr.len()), (6, 5_000_000));
        assert_eq!(
            ask("yes & sleep 30", 200).unwrap_err().kind(),
            io::ErrorKind::TimedOut
        );
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}

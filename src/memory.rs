//! How much memory the host has to give.

/// Bytes of addresses below which no driver's process starts: threads and allocations of this program fail before that.
const LEAST_ADDRESSES: u64 = 256 << 20;

/// That this process may not use as many addresses as it likes, in words (`ulimit -v`): drivers die of it in many ways, and
/// hardly any says so.
pub fn address_space_limit() -> Option<String> {
    let size = addresses()? as f64 / f64::from(1 << 20);
    Some(format!("this process may use {size:.0} MiB of address space (ulimit -v), which may be too little"))
}

/// The same, where they are too few even to start a driver's process.
pub fn narrow_address_space() -> Option<String> {
    addresses().filter(|bytes| *bytes < LEAST_ADDRESSES).and_then(|_| address_space_limit())
}

/// Bytes of addresses that this process may use, if that is limited.
#[cfg(unix)]
fn addresses() -> Option<u64> {
    use rustix::process::{Resource, getrlimit};
    getrlimit(Resource::As).current
}

/// Other systems have no such limit.
#[cfg(not(unix))]
fn addresses() -> Option<u64> {
    None
}

/// Bytes that can be allocated without swapping, where the system says so (Linux).
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

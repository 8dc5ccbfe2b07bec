//! How much memory the host has to give.

/// That this process may not use as many addresses as it likes, in words (`ulimit -v`): drivers die of it in many ways, and
/// hardly any says so.
#[cfg(unix)]
pub fn address_space_limit() -> Option<String> {
    use rustix::process::{Resource, getrlimit};
    let bytes = getrlimit(Resource::As).current?;
    let size = bytes as f64 / f64::from(1 << 20);
    Some(format!("this process may use {size:.0} MiB of address space (ulimit -v), which may be too little"))
}

/// Other systems have no such limit.
#[cfg(not(unix))]
pub fn address_space_limit() -> Option<String> {
    None
}

/// Bytes that can be allocated without swapping, where the system says so (Linux).
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

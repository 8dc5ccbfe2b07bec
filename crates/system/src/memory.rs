//! How much memory the host has to give, and in what pages.

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

/// From here on this process leaves no core file, and, if `addresses` says so, may take at most so many bytes of addresses
/// beyond those that it has. Where the system tells or limits no such thing, nothing changes.
#[cfg(unix)]
pub fn limit(bytes: u64, addresses: bool) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // A limit that cannot be set leaves the deadline.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let there = std::fs::read_to_string("/proc/self/statm").ok();
    let pages = there.as_deref().and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    let Some(pages) = pages.filter(|_| addresses) else { return };
    let most = pages.saturating_mul(rustix::param::page_size() as u64).saturating_add(bytes);
    let most = getrlimit(Resource::As).current.map_or(most, |known| known.min(most));
    let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
}

#[cfg(not(unix))]
pub fn limit(_: u64, _: bool) {}

/// The environment in which a process gets large pages, unless the user chose other settings of the C library. With pages of
/// 4 KiB a processor spends much of a walk through a large array on finding its pages. Arrays of this program and buffers of CPU
/// drivers come from the C library; only the GNU one heeds this.
pub fn large_pages() -> Option<(&'static str, &'static str)> {
    const TUNABLES: &str = "GLIBC_TUNABLES";
    std::env::var_os(TUNABLES).is_none().then_some((TUNABLES, "glibc.malloc.hugetlb=1"))
}

/// Bytes that can be allocated without swapping, where the system says so (Linux).
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

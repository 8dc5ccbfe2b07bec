//! Whether the release's baselines use the host, so that they flatter no device: in one run, the loop of all threads beside
//! the plain loop.

use crate::child::io;
use crate::{Options, Report};
use gpulab::store::{Recorded, recorded};
use std::path::Path;
use std::process::{Command, Stdio};

/// Families, their sizes, and how many times as fast as the plain loop `cpu_rayon` is, at least: half of what two threads of an
/// AMD EPYC give. What compilers make of one thread's loop without vectors, tiles or inlining is below it.
const LEAST: [(&str, u64, f64); 3] = [
    ("dot", 1 << 24, 1.6),
    ("transpose", 4096, 12.0),
    ("minplus", 1024, 60.0),
];

pub fn run(options: &Options) -> Result<Report, String> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("baselines");
    std::fs::create_dir_all(&target).map_err(io)?;
    let build = Command::new("cargo")
        .args(["build", "--release", "--locked", "--target-dir"])
        .arg(&target)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .status();
    if !build.map_err(io)?.success() {
        return Err("the release was not built".into());
    }
    let asked = |family: &str| {
        options
            .only
            .as_deref()
            .is_none_or(|only| family.contains(only))
    };
    let (mut passed, mut figures) = (true, Vec::new());
    for (family, n, least) in LEAST.into_iter().filter(|(family, ..)| asked(family)) {
        let times = measure(&target, family, n)?;
        passed &= times >= least;
        figures.push(format!(
            "{family}: {times:.1} times the plain loop ({least} at least)"
        ));
    }
    if figures.is_empty() {
        return Err("no family was measured".into());
    }
    let figure = figures.join(", ");
    Ok(Report { passed, figure })
}

/// How many times as fast as `cpu_sequential` `cpu_rayon` was.
fn measure(target: &Path, family: &str, n: u64) -> Result<f64, String> {
    let output = Command::new(target.join("release/gpulab"))
        .args([family, "--quick", "-q", "--variant", "naive", "--csv", "-"])
        .args(["-n", &n.to_string()])
        .stderr(Stdio::null())
        .output()
        .map_err(io)?;
    let (Recorded::Rows(rows), _) = recorded(&output.stdout, family).map_err(|e| e.to_string())?
    else {
        return Err(format!("{family} wrote no rows ({})", output.status));
    };
    let seconds = |name: &str| {
        let row = rows.iter().find(|row| row.variant == name);
        row.and_then(|row| row.t_median_s)
            .ok_or_else(|| format!("{family}: no time of {name}"))
    };
    Ok(seconds("cpu_sequential")? / seconds("cpu_rayon")?)
}

//! The binary as its users run it.
#![allow(dead_code, reason = "no test needs all of it")]

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A path at which nothing is and nothing can be: a file is no folder.
pub const NOWHERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/nowhere");

thread_local! {
    static OWN_DATA: TempDir = own_data();
}

fn own_data() -> TempDir {
    let tests = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (own, plugins) = (
        TempDir::with_prefix_in("data-", tests).unwrap(),
        tests.join("data/count"),
    );
    fs::create_dir_all(&plugins).unwrap();
    std::os::unix::fs::symlink(plugins, own.path().join("count")).unwrap();
    own
}

/// In place of the user's folder for data, one for each test, which runs in a thread of its own: what one measured is none of
/// another's business. The simulator's plugin, which takes long to build, is shared.
pub fn data() -> PathBuf {
    OWN_DATA.with(|own| own.path().to_owned())
}

/// The command with these arguments, whatever the environment says.
pub fn gpulab(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gpulab").unwrap();
    command
        .args(args)
        .env_remove("GPULAB_DEVICE")
        .env("NO_COLOR", "1");
    command.env("GPULAB_DATA", data());
    command
}

/// Standard output, standard error and exit code.
pub fn run(args: &[&str]) -> (String, String, i32) {
    let output = gpulab(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

/// Lines of an error but for what the parser of the command line adds to its one: candidates, usage, and where help is.
pub fn messages(err: &str) -> usize {
    let is_added = |line: &str| {
        ["  ", "Usage: ", "For more information, try "]
            .iter()
            .any(|begin| line.starts_with(begin))
            || line.is_empty()
    };
    err.lines().filter(|line| !is_added(line)).count()
}

/// A small run of one rung, with these options added.
pub fn quick(args: &[&str]) -> (String, String, i32) {
    let mut all = vec!["dot", "--quick", "--n", "50000", "--variant", "local"];
    all.extend(args);
    run(&all)
}

/// A file in a folder.
pub fn write(dir: &TempDir, name: &str, text: &[u8]) -> PathBuf {
    let path = dir.path().join(name);
    fs::write(&path, text).unwrap();
    path
}

/// Runs a command line of the shell with `$0` for the program.
pub fn shell(line: &str) -> (String, String, Option<i32>) {
    let program = assert_cmd::cargo::cargo_bin("gpulab");
    let mut command = std::process::Command::new("sh");
    command
        .args(["-c", line])
        .arg(program)
        .env_remove("GPULAB_DEVICE")
        .env("GPULAB_DATA", data());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (
        text(output.stdout),
        text(output.stderr),
        output.status.code(),
    )
}

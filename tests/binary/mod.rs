//! The binary as its users run it.
#![allow(dead_code, reason = "no test needs all of it")]

use assert_cmd::Command;

/// A path at which nothing is and nothing can be: a file is no folder.
pub const NOWHERE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml/nowhere");

/// In place of the user's folder for data, which is none of a test's business: ceilings that one test measured are there for
/// the next ones.
pub const DATA: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/data");

/// The command with these arguments, whatever the environment says.
pub fn gpulab(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("gpulab").unwrap();
    command.args(args).env_remove("GPULAB_DEVICE").env("NO_COLOR", "1");
    command.env("GPULAB_DATA", DATA);
    command
}

/// Standard output, standard error and exit code.
pub fn run(args: &[&str]) -> (String, String, i32) {
    let output = gpulab(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

//! Lets the program link on machines without OpenCL.
//!
//! `cl-sys` asks the linker for a library `OpenCL`. The program defines every function of it itself
//! (see `crates/engine/src/device/forward.rs`) and finds the real library at run time, so an empty archive is enough.

use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let Some(folder) = env::var_os("OUT_DIR") else {
        return Err(io::Error::other("OUT_DIR is not set: build with cargo"));
    };
    for name in ["libOpenCL.a", "OpenCL.lib"] {
        fs::write(Path::new(&folder).join(name), b"!<arch>\n")?;
    }
    println!(
        "cargo:rustc-link-search=native={}",
        Path::new(&folder).display()
    );
    Ok(())
}

//! The recorded runs that come with the program: `data/results`, for those who have no such device.

use include_dir::{Dir, include_dir};

static RESULTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/results");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The folder, which names driver, device or both, as in `nvidia-h200`.
    pub device: &'static str,
    /// The file's name without its ending, as in `reduce`.
    pub name: &'static str,
    pub text: &'static [u8],
}

/// All of them, by device and name.
pub fn shipped() -> Vec<Shipped> {
    let mut all: Vec<Shipped> = RESULTS
        .dirs()
        .flat_map(|device| {
            device.files().filter_map(|file| {
                let path = file.path();
                let is_csv = path.extension().is_some_and(|ending| ending == "csv");
                let device = device.path().to_str()?;
                is_csv.then_some(Shipped { device, name: path.file_stem()?.to_str()?, text: file.contents() })
            })
        })
        .collect();
    all.sort_by_key(|file| (file.device, file.name));
    all
}

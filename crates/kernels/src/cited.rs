//! The sources' kernels as printed: described families that are built into the binary.

use super::described::{Description, FamilyFile};
use include_dir::{Dir, include_dir};

/// The folder `data/sources/`, as it was when the binary was built.
static CITED: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../data/sources");

/// From that folder to gpulab's own kernels.
const OWN: &str = "../../cl/";

pub fn cited(name: &str) -> Option<FamilyFile> {
    let text = CITED.get_file(format!("{name}.toml"))?.contents_utf8()?;
    let description = Description::parse(text, name).ok()?;
    let sources = description
        .files()
        .into_iter()
        .map(|file: String| {
            let text = match file.strip_prefix(OWN) {
                Some(own) => crate::text(own),
                None => CITED.get_file(&file)?.contents_utf8(),
            };
            Some((file.clone(), format!("#line 1 {file:?}\n{}", text?)))
        })
        .collect::<Option<_>>()?;
    Some(FamilyFile { name: name.to_owned(), text: text.to_owned(), folder: ".".into(), sources })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_the_folder_is_a_family_with_all_its_kernels() {
        let names = CITED.files().filter_map(|file| file.path().to_str()?.strip_suffix(".toml"));
        let names: Vec<&str> = names.collect();
        assert!(names.len() > 5, "{names:?}");
        for name in names {
            assert!(cited(name).is_some_and(|file| !file.sources.is_empty()), "{name}");
        }
        assert!(cited("nobody").is_none());
    }
}

//! Films that lie beside a page.

use crate::prelude::*;
use crate::report::film::is_film;
use std::fs::File;
use std::io::Read;

pub(crate) fn films_beside(page: &str) -> Vec<String> {
    if page == "-" {
        return Vec::new();
    }
    let folder = Path::new(page).parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let paths = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let films = paths.filter(|path| path.extension().is_some_and(|ending| ending == "html") && begins_as_film(path));
    films.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
}

fn begins_as_film(path: &Path) -> bool {
    const HEAD: u64 = 64;
    let mut head = String::new();
    File::open(path).is_ok_and(|file| file.take(HEAD).read_to_string(&mut head).is_ok()) && is_film(&head)
}

//! What `gpulab compare` takes of files.

use super::files::read;
use crate::prelude::*;
use crate::store::Recorded;

/// The name of a file, those of several joined by commas, or those of the CSV and JSON files in a folder.
pub(crate) fn split_names(names: &str) -> Vec<String> {
    let path = Path::new(names);
    if path.is_dir() {
        let entries = fs::read_dir(path).into_iter().flatten().filter_map(Result::ok);
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        files.retain(|file| file.extension().is_some_and(|end| end == "csv" || end == "json"));
        files.sort();
        return files.iter().map(|file| file.display().to_string()).collect();
    }
    if path.exists() { vec![names.to_owned()] } else { names.split(',').map(str::to_owned).collect() }
}

/// The rows in a file, or in several joined by commas.
pub(crate) fn runs_of(names: &str, quiet: bool) -> Result<Vec<Row>, Error> {
    let mut all = Vec::new();
    let files = split_names(names);
    if files.is_empty() {
        return Err(Error::Usage(format!("{names} holds no .csv or .json file")));
    }
    for name in files {
        let (Recorded::Rows(rows), torn) = read(&name)? else {
            let why = "holds no rows: compare takes the --csv and --json files of ladders and sweeps";
            return Err(Error::Usage(format!("{name} {why}")));
        };
        torn.iter().filter(|_| !quiet).for_each(|torn| note(torn));
        all.extend(rows);
    }
    Ok(all)
}

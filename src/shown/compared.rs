//! What `gpulab compare` takes of files.

use super::files::read_some;
use crate::compare::{CaseRun, SharedTexts};
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

/// The runs in a file, or in several joined by commas.
pub(crate) fn runs_of(names: &str, quiet: bool) -> Result<Vec<CaseRun>, Error> {
    let mut all = Vec::new();
    let mut texts = SharedTexts::default();
    let files = split_names(names);
    if files.is_empty() {
        return Err(Error::Usage(format!("{names} holds no .csv or .json file")));
    }
    for name in files {
        let (holds, torn) = read_some(&name, &mut |row| {
            all.push(texts.run(row));
            false
        })?;
        torn.iter().filter(|_| !quiet).for_each(|torn| note(torn));
        match holds {
            // Those of JSON are read at once.
            Recorded::Rows(rows) => all.extend(rows.iter().map(|row| texts.run(row))),
            Recorded::Points(_) => {
                let why = "holds points of an experiment, which compare does not take: gpulab show FILE... shows them";
                return Err(Error::Usage(format!("{name} {why}; compare takes rows of ladders and sweeps")));
            }
            _ => {
                let why = "holds no rows: compare takes the --csv and --json files of ladders and sweeps";
                return Err(Error::Usage(format!("{name} {why}")));
            }
        }
    }
    Ok(all)
}

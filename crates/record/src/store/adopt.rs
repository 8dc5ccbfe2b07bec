//! Rows of one command joining those of others in one file.

use super::{ParsedCsv, unread};
use gpulab_model::Error;
use gpulab_system::files;
use std::path::Path;

/// The column that says which command wrote a row; files without it are of one command.
const COMMAND: &str = "command";

/// Moves the rows of the file `from` into the file `into`, in place of those that the same command wrote before, unless there
/// are fewer of them now. A torn last line is left out. Then `from` is gone.
pub fn adopt(into: &Path, from: &Path) -> Result<(), Error> {
    let new = read(from)?;
    let old =
        if into.exists() { read(into)? } else { ParsedCsv { header: new.header.clone(), ..ParsedCsv::default() } };
    if !new.records.is_empty() {
        let text = joined(old, new, &into.display().to_string())?;
        files::write_whole(into, &text).map_err(|e| output(into, e))?;
    }
    std::fs::remove_file(from).map_err(|e| output(from, e))
}

fn read(path: &Path) -> Result<ParsedCsv, Error> {
    let name = path.display().to_string();
    let mut text = files::open(path).map_err(|e| unread(&name, &e))?;
    ParsedCsv::parse(&mut text, &name)
}

/// All rows as one table: what other commands wrote, and of each command that both have rows of, those of the table with more.
fn joined(old: ParsedCsv, new: ParsedCsv, name: &str) -> Result<String, Error> {
    if !old.records.is_empty() && old.header != new.header {
        return Err(Error::Usage(format!("cannot add to {name}: it has other columns than this version writes")));
    }
    let at = new.header.iter().position(|column| column == COMMAND);
    let command = |row: &csv::ByteRecord| at.and_then(|at| row.get(at)).unwrap_or_default().to_owned();
    let count = |rows: &[csv::ByteRecord], of: &[u8]| rows.iter().filter(|row| command(row) == of).count();
    let is_newer = |of: &[u8]| count(&new.records, of) >= count(&old.records, of);
    let kept = old
        .records
        .iter()
        .filter(|row| !new.records.iter().any(|n| command(n) == command(row)) || !is_newer(&command(row)));
    let added = new.records.iter().filter(|row| is_newer(&command(row)));
    let mut writer = csv::Writer::from_writer(Vec::new());
    let mut rows = kept.chain(added);
    let written =
        writer.write_record(&new.header).and_then(|()| rows.try_for_each(|row| writer.write_byte_record(row)));
    let failed = |why: String| Error::Failed(format!("cannot join {name}: {why}"));
    written.map_err(|e| failed(e.to_string()))?;
    let bytes = writer.into_inner().map_err(|e| failed(e.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is not UTF-8 text".into()))
}

fn output(path: &Path, source: std::io::Error) -> Error {
    Error::Output { what: path.display().to_string(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// What becomes of a file that holds `old`, if it is there, and gets `new`.
    fn after(old: Option<&str>, new: &str) -> Result<String, Error> {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("a.csv");
        let from = folder.path().join("b.csv");
        old.iter().for_each(|old| fs::write(&into, old).unwrap());
        fs::write(&from, new).unwrap();
        adopt(&into, &from)?;
        assert!(!from.exists());
        Ok(fs::read_to_string(&into).unwrap_or_default())
    }

    #[test]
    fn rows_of_a_command_take_the_place_of_its_older_ones() {
        let old = "command,x\na,1\nb,2\na,3\n";
        assert_eq!(after(None, "command,x\na,1\n").unwrap(), "command,x\na,1\n");
        assert_eq!(after(Some(old), "command,x\na,7\na,8\n").unwrap(), "command,x\nb,2\na,7\na,8\n");
        assert_eq!(after(Some(old), "command,x\nc,\"9,\"\"\"\n").unwrap(), format!("{old}c,\"9,\"\"\"\n"));
    }

    #[test]
    fn nothing_that_was_measured_is_lost() {
        let old = "command,x\na,1\nb,2\na,3\n";
        assert_eq!(after(Some(old), "command,x\na,7\n").unwrap(), old, "fewer rows than before");
        assert_eq!(after(Some(old), "command,x\na,7\na,8\na,").unwrap(), "command,x\nb,2\na,7\na,8\n", "a torn line");
        assert_eq!(after(Some(old), "").unwrap(), old, "no row at all");
        assert_eq!(after(None, "").unwrap(), "");
        assert_eq!(after(Some("command,y\na,1\n"), "command,x\na,7\n").unwrap_err().exit_code(), 2);
        let ceilings = "what,value\nread,1\nwrite,2\n";
        assert_eq!(after(Some(ceilings), "what,value\nread,3\n").unwrap(), ceilings, "without commands");
    }
}

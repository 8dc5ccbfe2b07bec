//! A sweep's file: opened anew or continued, and the rounds that are noted beside it.

use crate::cli::Sweep;
use crate::prelude::*;
use crate::store::{CsvFile, Mode, Pool, Rounds, read_rows, write_rows};
use crate::sweep::{self, Configuration, Identity, Order};
use crate::terminal::Stdout;

/// Opens the output before anything runs; none if that is a terminal, which rows would flood. A file that has rows is
/// continued, never replaced.
pub(crate) fn open_output(options: &Sweep, is_forced: bool) -> Result<Option<CsvFile<Row>>, Error> {
    let path = options.output.as_str();
    if options.resume {
        if path == "-" || std::fs::metadata(path).is_ok_and(|m| !m.is_file()) {
            return Err(Error::Usage("--resume needs -o FILE with the file to continue, not a pipe or device".into()));
        }
        return CsvFile::open(path, Mode::Append).map(Some);
    }
    if path == "-" && Stdout.is_terminal() {
        return Out::check().map(|()| None);
    }
    let holds_something = std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() > 0);
    if path != "-"
        && holds_something
        && !is_forced
        && !read_rows(Path::new(path)).is_ok_and(|file| file.rows.is_empty())
    {
        let why = "continue it with --resume, give another file, or replace it with --force";
        return Err(Error::Usage(format!("{path} exists already: {why}")));
    }
    CsvFile::open(path, Mode::Create).map(Some)
}

/// The rows that the file to go on with has.
pub(crate) fn earlier_rows(
    options: &Sweep,
    global: &Global,
    (identity, plan): (&Identity, &[Configuration]),
    csv: Option<&CsvFile<Row>>,
) -> Result<Vec<Row>, Error> {
    let path = Path::new(&options.output);
    if !options.resume || !path.is_file() {
        return Ok(Vec::new());
    }
    if let Some(torn) = csv.and_then(CsvFile::torn).filter(|_| !global.quiet) {
        note(torn);
    }
    let rows = read_rows(path)?.rows;
    let finished = identity
        .finished(plan, &rows)
        .map_err(|why| Error::Usage(format!("cannot continue {}: {why}", options.output)))?;
    global.say(&format!("continuing {}: it has {} rows", options.output, finished.len()));
    Ok(rows)
}

/// The file and its rows without those that are to be measured again. They are dropped all at once, or not at all.
pub(crate) fn without_retried(
    options: &Sweep,
    global: &Global,
    csv: Option<CsvFile<Row>>,
    rows: Vec<Row>,
) -> Result<(Option<CsvFile<Row>>, Vec<Row>), Error> {
    let is_retried = |row: &Row| options.retry.iter().any(|status| status == row.status.name());
    let (retried, kept): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_retried);
    if retried.is_empty() {
        return Ok((csv, kept));
    }
    // A link stays one.
    let path = fs::canonicalize(&options.output).map_err(Error::unwritten(&options.output))?;
    write_rows(&path.to_string_lossy(), &kept)?;
    drop(csv);
    global.say(&format!("{} of them are measured again: {}", retried.len(), options.retry.join(", ")));
    Ok((Some(CsvFile::open(&options.output, Mode::Append)?), kept))
}

/// The whole sweep of these files of its shards. Says if one's device was slower than another's.
pub(crate) fn joined(files: &[PathBuf]) -> Result<Vec<Row>, Error> {
    let files = files
        .iter()
        .map(|path: &PathBuf| Ok((path.display().to_string(), read_rows(path)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    let rows = sweep::merge(files).map_err(Error::Usage)?;
    sweep::slower(&rows).into_iter().for_each(|told| note(&told));
    Ok(rows)
}

/// Where rounds are noted beside the file of rows, and what those of the sweep that is gone on with gave.
pub(crate) fn rounds(options: &Sweep, identity: &Identity) -> (Option<Rounds>, BTreeMap<u64, Pool>) {
    let path = Path::new(&options.output);
    if options.order == Order::Sequential || options.output == "-" || (path.exists() && !path.is_file()) {
        return (None, BTreeMap::new());
    }
    let mut rounds = Rounds::beside(&options.output, &identity.key());
    if !options.resume {
        // Of a sweep whose rows were removed.
        rounds.settle();
    }
    let earlier = rounds.read();
    (Some(rounds), earlier)
}

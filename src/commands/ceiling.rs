//! `gpulab ceiling`: what the device does at best, measured and kept.

use super::probe::say_gone_wrong;
use super::{Out, bench, interrupt, say};
use crate::Error;
use crate::ceilings::{self, CeilingRow, Effort, Kept, Quantity, all_kept};
use crate::cli::{Ceiling, Global};
use crate::device::{DeviceInfo, list_platforms, select};
use crate::record::Run;
use crate::report;
use crate::report::progress::{Line, Observer};
use crate::runner::Outcome;
use crate::store::{CsvFile, JsonFile, Mode};
use crate::worker::{Executor, Setup};

/// What the data of a probe may come to, for its deadline: the device is not known yet when deadlines are set.
const MOST_BYTES: u64 = 1 << 30;

/// Measures every quantity, keeps them and prints them; or prints what is kept. What was measured before an error or an
/// interrupt is kept and printed all the same.
///
/// # Errors
/// No device, a folder or an output that cannot be written, and the worst thing that happened to a quantity.
pub fn run(out: &mut Out, global: &Global, options: &Ceiling) -> Result<(), Error> {
    let mut files = Files::open(options)?;
    if options.show {
        let rows = kept(global)?.ceilings;
        rows.iter().try_for_each(|row| files.write(row))?;
        return files.finish(out, &rows, global.quiet);
    }
    let folder = ceilings::folder()?;
    interrupt::watch();
    let setup = Setup { device: global.device.clone(), cl_dir: options.cl_dir.clone(), ..Setup::default() };
    let deadline = options.deadline;
    let mut executor = bench::open_within(setup, options.in_process, deadline, MOST_BYTES, 0.0)?;
    let info = executor.info().clone();
    bench::announce(global, &info);
    let before = Kept::load(&folder, &info).unwrap_or_else(|error| {
        say(&format!("{error}; it will be replaced"));
        None
    });
    let mut kept = before.unwrap_or_else(|| Kept::empty(&info));
    // A folder that cannot be written to is found before anything is measured.
    kept.save(&folder)?;
    let mut rows = Vec::new();
    let measured = measure(&mut *executor, options, global, &mut |row| {
        files.write(&row)?;
        kept.add(row.clone());
        rows.push(row);
        kept.save(&folder).map(|_| ())
    });
    let told = files.finish(out, &rows, global.quiet);
    measured?;
    told?;
    if !global.quiet {
        say(&format!("kept in {}", kept.save(&folder)?.display()));
    }
    bench::gone_wrong(|status| rows.iter().find(|r| r.status == status).map(|r| r.probe.clone()))
}

/// Every quantity of this device, one after the other.
fn measure(
    executor: &mut dyn Executor,
    options: &Ceiling,
    global: &Global,
    take: &mut dyn FnMut(CeilingRow) -> Result<(), Error>,
) -> Result<(), Error> {
    let target = &executor.info().target;
    let effort = if options.quick { Effort::QUICK } else { Effort::full(target) };
    let quantities: Vec<Quantity> = ceilings::quantities(target, options.quick);
    let run = Run::begin();
    let mut observer = Line::new(global.quiet);
    let total = quantities.len();
    for (i, quantity) in quantities.iter().enumerate() {
        if interrupt::interrupted() {
            return Err(Error::Interrupted);
        }
        observer.case_started(i, total, &format!("{} {} ({})", quantity.what, quantity.element, quantity.place.name()));
        let mut tell = |outcome: &Outcome| observer.suspend(|| say_gone_wrong(outcome));
        take(ceilings::measure(quantity, effort, &run, executor, &mut tell)?)?;
    }
    Ok(())
}

/// What is kept of the device that was chosen; without a choice, of the only one of which something is kept.
fn kept(global: &Global) -> Result<Kept, Error> {
    let folder = ceilings::folder()?;
    if global.device.is_none() {
        match <[Kept; 1]>::try_from(all_kept(&folder)?) {
            Ok([only]) => return Ok(only),
            Err(all) if all.is_empty() => return Err(nothing("no device")),
            Err(_) => {}
        }
    }
    let platforms = list_platforms().map_err(|e| Error::NoDevice(e.to_string()))?;
    let info: &DeviceInfo = select::select(&platforms, global.device.as_deref())?;
    let kept = Kept::load(&folder, info)?.filter(|kept| !kept.ceilings.is_empty());
    kept.ok_or_else(|| nothing(&format!("{} with driver {}", info.name, info.driver)))
}

fn nothing(whose: &str) -> Error {
    Error::Failed(format!("no ceilings of {whose} are kept yet: gpulab ceiling measures them"))
}

/// The files that were asked for, opened before anything runs.
struct Files {
    csv: Option<CsvFile>,
    json: Option<JsonFile>,
    /// Whether one of them takes standard output, so that the table goes to standard error.
    taken: bool,
}

impl Files {
    fn open(options: &Ceiling) -> Result<Files, Error> {
        let (csv, json) = (options.csv.as_deref(), options.json.as_deref());
        if (csv, json) == (Some("-"), Some("-")) {
            return Err(Error::Usage("only one of --csv and --json can be -".into()));
        }
        Ok(Files {
            csv: csv.map(|path| CsvFile::ceilings(path, Mode::Create)).transpose()?,
            json: json.map(JsonFile::create).transpose()?,
            taken: [csv, json].contains(&Some("-")),
        })
    }

    fn write(&mut self, row: &CeilingRow) -> Result<(), Error> {
        if let Some(csv) = &mut self.csv {
            csv.write_ceiling(row)?;
        }
        self.json.as_mut().map_or(Ok(()), |json| json.write(row))
    }

    /// Completes the files and prints the table.
    fn finish(&mut self, out: &mut Out, rows: &[CeilingRow], quiet: bool) -> Result<(), Error> {
        let json = self.json.take().map_or(Ok(()), JsonFile::finish);
        json.and(super::tell(out, &report::ceilings::text(rows), self.taken, quiet))
    }
}

//! `gpulab show`: recorded results as the run itself told them, on any machine.

use crate::cli::Show;
use crate::outputs;
use crate::prelude::*;
use crate::report::shown::{ShownFile, filtered};
use crate::report::{Medium, RateUnit};
use crate::shown::{AskedRecords, Reasons, ShowingStyle, asked, contents, overview, records};
use crate::store::shipped;

/// Shows the files or the shipped records that were asked for, or lists the latter.
pub fn run(out: &mut Out, global: &Global, options: &Show) -> Result<(), Error> {
    if options.what.is_empty() {
        let none =
            options.conditions.is_empty() && options.columns.is_empty() && options.by.is_none() && !options.findings;
        return match none && options.md.is_none() {
            true => out.text(&overview(&shipped())),
            false => Err(Error::Usage("show what? Give files, or a device as in gpulab show h200".into())),
        };
    }
    let md = options.md.as_deref();
    let is_on_stdout = md == Some("-");
    let sources = match asked(&options.what)? {
        AskedRecords::Device(own) if is_plain(options) => return out.text(&contents(&own)),
        AskedRecords::Device(own) => records(&own)?,
        AskedRecords::Files(files) => {
            files.into_iter().map(ShownFile::no_samples).collect::<Result<Vec<_>, Error>>()?
        }
    };
    let sources = filtered(sources, &options.conditions)?;
    sources.iter().filter_map(|source| source.torn.as_deref()).filter(|_| !global.quiet).for_each(say);
    let unit = if options.gib { RateUnit::GiB } else { RateUnit::GB };
    let why = options.why.then(|| Reasons::of(&options.what)).transpose()?;
    let is_headed = sources.len() > 1 || !options.what.first().is_some_and(|path| Path::new(path).exists());
    let view = ShowingStyle { unit, verbose: global.verbose, why, is_headed, options };
    let text = (!is_on_stdout).then(|| view.text(&sources, Medium::Screen(screen(global.color)))).transpose()?;
    let document = md.map(|_| view.text(&sources, Medium::Markdown)).transpose()?;
    text.map_or(Ok(()), |text| out.text(&text))?;
    md.zip(document).map_or(Ok(()), |(path, text)| outputs::write_markdown(path, &text))
}

/// Whether nothing but devices' names was given: they are asked what they have.
fn is_plain(options: &Show) -> bool {
    let Show { what: _, gib: _, why, conditions, columns, by, value: _, findings, md } = options;
    !why && !findings && conditions.is_empty() && columns.is_empty() && by.is_none() && md.is_none()
}

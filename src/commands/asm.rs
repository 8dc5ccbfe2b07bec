//! `gpulab asm`: what the device's compiler made of a kernel.

use crate::adopt::{Brought, own};
use crate::assembly::{self, KernelListing};
use crate::bench;
use crate::cli::AsmArgs;
use crate::counting::{beside, source_line};
use crate::prelude::*;
use crate::report::asm;

/// Longest that the simulator may take.
const DEADLINE: Duration = Duration::from_secs(120);

/// A kernel that was asked for, with what became of it.
struct Shown {
    name: String,
    rung: Rung,
    listings: Vec<KernelListing>,
    counts: Vec<CountRow>,
}

/// Prints the instructions by line; of two kernels by kind.
pub fn run(out: &mut Out, global: &Global, options: &AsmArgs) -> Result<(), Error> {
    if options.listing.is_some() && options.what.len() > 1 {
        return Err(Error::Usage("--listing: it is of one kernel; leave the other out".into()));
    }
    interrupt::watch();
    let shown = options.what.iter().map(|what| show(what, global, options)).collect::<Result<Vec<_>, _>>()?;
    let screen = screen(global.color);
    match &shown[..] {
        [a, b] => {
            for (first, second) in a.listings.iter().zip(&b.listings) {
                let names = [a.name.as_str(), b.name.as_str()];
                out.text(&asm::side_by_side(&first.what, names, [&first.kernels, &second.kernels], screen))?;
            }
            Ok(())
        }
        all => all.iter().try_for_each(|one| {
            let sources = Sources { dir: options.kernels.cl_dir.clone() };
            let source = |file: &str, line: u64| line_of(&sources, &one.rung, file, line);
            let counted = |file: &str, line: u64| counted(&one.counts, file, line);
            let about = asm::ShownKernel {
                name: &one.name,
                file: &one.rung.path,
                source: &source,
                counted: options.counts.then_some(&counted),
                is_whole: global.verbose,
            };
            one.listings
                .iter()
                .try_for_each(|listing| out.text(&asm::by_line(&listing.what, &listing.kernels, &about, screen)))
        }),
    }
}

fn show(what: &str, global: &Global, options: &AsmArgs) -> Result<Shown, Error> {
    let (brought, list) = Brought::of(what, options.family.as_deref())?;
    let rung = brought.rung(what, list.as_deref())?.clone();
    let family = &brought.family;
    bench::check_sources(&[&rung], options.kernels.cl_dir.as_deref(), global.quiet)?;
    let n = match family.form {
        Form::Vector => 1 << 20,
        Form::Matrix => 1 << 10,
        Form::Square => 1 << 8,
    };
    let case = bench::case(family, &rung, &options.case, family.form.shape(n, None))?;
    let listings = match &options.listing {
        Some(file) => vec![assembly::read(file)?],
        None => assembly::of_device(global, &brought.registry, &case, options.kernels.cl_dir.as_deref())?,
    };
    let counts = match options.counts {
        true => beside(&brought.registry, (family, &rung), &[], &case, (DEADLINE, global.quiet))?,
        false => Vec::new(),
    };
    Ok(Shown { name: format!("{} {}", family.name, rung.label()), rung, listings, counts })
}

fn line_of(sources: &Sources, rung: &Rung, path: &str, line: u64) -> Option<String> {
    let begins = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    begins
        .map(|at| &path[at..])
        .filter(|file| !file.is_empty())
        .find_map(|file| source_line(sources, file, line).or_else(|| line_of(rung.own_text()?, file, line)))
}

/// Instructions of warps that the simulator counted at a line.
fn counted(rows: &[CountRow], path: &str, line: u64) -> u64 {
    rows.iter()
        .filter(|row: &&CountRow| row.line == Some(line) && row.timed == Some(true) && path.ends_with(&row.file))
        .filter_map(|row| row.warp_instructions)
        .sum()
}

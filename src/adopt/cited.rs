//! The sources' kernels as printed, which are built into gpulab.

use crate::cli::CitedLadder;
use crate::kernels::cited;
use crate::ladder::AsSource;
use crate::oracle;
use crate::prelude::*;
use crate::report::printed;
use clap::ValueEnum;

pub(crate) fn family<'a>(
    registry: &'a mut Registry,
    source: CitedLadder,
    faults: bool,
    device: Option<&str>,
) -> Result<&'a Family, Error> {
    let source = name(source);
    let file = cited(&if faults { format!("{source}_faults") } else { source.clone() });
    oracle::declare(
        registry,
        &file.ok_or_else(|| {
            Error::Usage(format!("all faults of {source}'s kernels show at its own sizes: leave --faults out"))
        })?,
        device,
    )
}

/// What a source's ladder has besides: its table, and its faults.
pub(crate) fn set_up(source: CitedLadder, family: &Family) -> AsSource {
    let source = name(source);
    let own = family.name.to_string();
    let faulty = family.kernels().map(|rung| rung.variant()).filter(|rung| printed::is_faulty(&own, rung));
    AsSource {
        variants: family.described().is_none().then_some("copy,local_copy,1-4"),
        faulty: faulty.map(str::to_owned).collect(),
        claim: Box::new(move |rows, units| {
            let table = if own.ends_with("_faults") { String::new() } else { printed::beside(&source, rows, units) };
            match printed::faults(&own, rows) {
                faults if faults.is_empty() || table.is_empty() => table + &faults,
                faults => format!("{table}\n{faults}"),
            }
        }),
    }
}

pub(crate) fn name(source: CitedLadder) -> String {
    source.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

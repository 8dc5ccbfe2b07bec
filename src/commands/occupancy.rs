//! `gpulab occupancy`: how many groups a compute unit holds at once, and what limits them.

use crate::adopt::Brought;
use crate::bench;
use crate::cli::Occupancy;
use crate::occupancy::{ComputeUnit, GroupNeeds, known};
use crate::prelude::*;
use crate::report::occupancy::{curves, limits, needs};

pub fn run(out: &mut Out, global: &Global, options: &Occupancy) -> Result<(), Error> {
    match (options.subject.name(), &options.variant) {
        (Some(family), Some(variant)) => {
            let brought = Brought::new(family)?;
            let case = case(options, &brought.family, variant)?;
            of_kernel(out, global, options, (&brought.registry, &case))
        }
        _ => of_numbers(out, global, options),
    }
}

/// What the options say that a group needs.
fn of_numbers(out: &mut Out, global: &Global, options: &Occupancy) -> Result<(), Error> {
    let registers = options.registers.ok_or_else(|| {
        Error::Usage(
            "give --registers N, as in gpulab occupancy --registers 64 --generation 9.0, or --kernel FAMILY --variant V to take \
             what a group needs from a build".into(),
        )
    })?;
    let (unit, whose) = match &options.generation {
        Some(_) if global.device.is_some() => {
            let why = "without --kernel, --generation replaces --device: leave out --device and GPULAB_DEVICE";
            return Err(Error::Usage(why.into()));
        }
        Some(name) => named(name)?,
        None => of_device(&mut bench::look(global, &Registry::default())?)?,
    };
    let need = GroupNeeds { registers, local: options.local, wg: options.wg.size() as u64 };
    let screen = screen(global.color);
    out.text(&limits(unit, &whose, need, &unit.resident(need)?, screen))?;
    if options.curves { out.text(&curves(unit, need, &unit.resident(need)?, screen)) } else { Ok(()) }
}

/// What a build of the case's kernels says that a group needs.
fn of_kernel(
    out: &mut Out,
    global: &Global,
    options: &Occupancy,
    (registry, case): (&Registry, &Case),
) -> Result<(), Error> {
    let asked = options.generation.as_deref().map(named).transpose()?;
    let mut worker = bench::look(global, registry)?;
    bench::announce(global, worker.info());
    let kernels = worker.inspect(case)?.map_err(|stop| bench::stopped(case, stop))?;
    let screen = screen(global.color);
    kernels.iter().try_for_each(|kernel| out.text(&needs(kernel, screen)))?;
    let (unit, whose) = asked.map_or_else(|| of_device(&mut worker), Ok)?;
    for kernel in &kernels {
        let registers = options.registers.or(kernel.told.registers).ok_or_else(|| {
            let name = &kernel.kernel;
            Error::Usage(format!(
                "the driver does not report the registers of {name} (NVIDIA's does): give them with --registers N"
            ))
        })?;
        let need = GroupNeeds { registers, local: kernel.local, wg: kernel.wg };
        out.text(&limits(unit, &format!("{} on {whose}", kernel.kernel), need, &unit.resident(need)?, screen))?;
        if options.curves {
            out.text(&curves(unit, need, &unit.resident(need)?, screen))?;
        }
    }
    Ok(())
}

/// The one rung that the options name, at the family's usual size.
fn case(options: &Occupancy, family: &Family, variant: &str) -> Result<Case, Error> {
    let rungs = values::variants(family, variant).map_err(Error::Usage)?;
    let [rung] = rungs[..] else {
        return Err(Error::Usage(format!("--variant {variant} names {} rungs; choose one", rungs.len())));
    };
    let dtype = bench::dtype(family, options.dtype)?;
    Ok(Case {
        wg: options.wg,
        ..Case::of(&family.name, rung.variant(), dtype, family.form.shape(family.form.default_size(), None))
    })
}

/// A generation that was asked for.
fn named(name: &str) -> Result<(&'static ComputeUnit, String), Error> {
    Ok((known(name)?, name.to_owned()))
}

fn of_device(worker: &mut WorkerProcess) -> Result<(&'static ComputeUnit, String), Error> {
    let generation = worker.generation()?;
    let device = &worker.info().name;
    let name = generation.unwrap_or_else(|| device.clone());
    Ok((known(&name)?, format!("{device} ({name})")))
}

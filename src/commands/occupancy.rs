//! `gpulab occupancy`: how many groups a compute unit holds at once, and what limits them.

use super::Out;
use crate::Error;
use crate::cli::{Global, Occupancy};
use crate::device::{DeviceInfo, generation, list_platforms, select};
use crate::occupancy::{Need, Resident, UNITS, Unit, unit};

/// Prints the answer.
///
/// # Errors
/// [`Error::Usage`] for impossible needs and generations that are not in the table; [`Error::NoDevice`] without a device.
pub fn run(out: &mut Out, global: &Global, options: &Occupancy) -> Result<(), Error> {
    let (unit, whose) = match &options.generation {
        Some(name) => (known(name)?, name.clone()),
        None => of_device(global)?,
    };
    let need = Need { registers: options.registers, local: options.local, wg: options.wg };
    out.text(&text(unit, &whose, need, &unit.resident(need)?))
}

fn known(name: &str) -> Result<&'static Unit, Error> {
    let names: Vec<&str> = UNITS.iter().map(|unit| unit.name).collect();
    unit(name).ok_or_else(|| {
        Error::Usage(format!(
            "nothing is known of `{name}`; --generation knows {}. What groups cost can be measured: gpulab lab occupancy",
            names.join(", ")
        ))
    })
}

/// The generation of the device that was chosen.
fn of_device(global: &Global) -> Result<(&'static Unit, String), Error> {
    let platforms = list_platforms().map_err(|e| Error::NoDevice(e.to_string()))?;
    let info: &DeviceInfo = select::select(&platforms, global.device.as_deref())?;
    let name = generation(info).unwrap_or_else(|| info.name.clone());
    Ok((known(&name)?, format!("{} ({name})", info.name)))
}

fn text(unit: &Unit, whose: &str, need: Need, resident: &Resident) -> String {
    let Resident { groups, warps, most_warps, limits } = resident;
    let share = 100.0 * *warps as f64 / *most_warps as f64;
    let mut text = format!(
        "{whose}: {groups} groups of {} work-items at once on a compute unit, {} of {} work-items ({share:.0}%)\n",
        need.wg,
        warps * unit.lockstep,
        most_warps * unit.lockstep,
    );
    for (name, groups) in limits {
        let allowed = if *groups == u64::MAX { "any number".to_owned() } else { groups.to_string() };
        text.push_str(&format!("  {name:<12} allow {allowed}\n"));
    }
    text.push_str(&format!("limited by {}\n", resident.limited_by().join(" and ")));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answer_names_what_limits() {
        let (unit, need) = (known("9.0").unwrap(), Need { registers: 40, local: 8192, wg: 256 });
        insta::assert_snapshot!(text(unit, "9.0", need, &unit.resident(need).unwrap()), @r"
        9.0: 6 groups of 256 work-items at once on a compute unit, 1536 of 2048 work-items (75%)
          registers    allow 6
          local memory allow 25
          work-items   allow 8
          groups       allow 32
        limited by registers
        ");
        let unknown = known("pthread").unwrap_err().to_string();
        assert!(unknown.contains("gfx90a") && unknown.contains("gpulab lab occupancy"), "{unknown}");
    }
}

//! How many groups a compute unit holds at once, as text.

use super::chart;
use crate::prelude::*;
use gpulab_kernels::occupancy::{ComputeUnit, Curve, GroupNeeds, LOCAL, Resident};
use gpulab_kernels::values;
use gpulab_model::outcome::Inspected;

/// One line on what a kernel's build says.
pub fn needs(kernel: &Inspected, screen: Screen) -> String {
    let Inspected { kernel, told, local, wg } = kernel;
    let registers = told.registers.map_or_else(|| "registers unknown".to_owned(), |n| format!("{n} registers"));
    let spills = match told.spills {
        Some([stores, loads]) if stores > 0 || loads > 0 => {
            format!(" (too few: {stores} bytes are stored and {loads} loaded in their place)")
        }
        _ => String::new(),
    };
    let text = format!("{kernel}: {registers}{spills}, {local} bytes of local memory, groups of {wg} work-items");
    format::wrap(&text, screen.width, "  ")
}

/// How many groups a unit holds at once, and how many each resource allows.
pub fn limits(unit: &ComputeUnit, whose: &str, need: GroupNeeds, resident: &Resident, screen: Screen) -> String {
    let answer = format!("{whose}: {}", answer(unit, need, resident));
    let mut text = format::wrap(&answer, screen.width, "  ").replace('\u{a0}', " ");
    for (name, groups) in &resident.limits {
        let allowed = if *groups == u64::MAX { "any number".to_owned() } else { groups.to_string() };
        let kept = match unit.local_kept {
            bytes if bytes > 0 && *name == LOCAL => format!(" (each group takes {} more)", values::binary(bytes)),
            _ => String::new(),
        };
        text.push_str(&format!("  {name:<12} allow {allowed}{kept}\n"));
    }
    text.push_str(&format!("limited by {}\n", resident.limited_by().join(" and ")));
    text
}

/// A chart of the share of warps over each need, and which values would fill the unit better.
pub fn curves(unit: &ComputeUnit, need: GroupNeeds, resident: &Resident, screen: Screen) -> String {
    let GroupNeeds { registers, local, wg } = need;
    let others = [
        format!("groups of {wg}, {local} bytes of local memory"),
        format!("groups of {wg}, {registers} registers"),
        format!("{registers} registers, {local} bytes of local memory"),
    ];
    let chart = |(curve, others): (Curve, String)| {
        let Curve { what, points, asked, .. } = &curve;
        let head = format!("over {what} ({others})");
        format!("\n{head}\n{}{}\n", chart::chart(points, *asked), better(&curve, resident.share()))
    };
    let charts: String = Curve::all(unit, need).into_iter().zip(others).map(chart).collect();
    let text = format!("\nshare of the {}s that a compute unit holds at once:\n{charts}", unit.warp);
    format::on_screen(&text, screen)
}

const SIZES: usize = 8;

/// Which values fill the unit best, and the nearest ones that fill more of it than `share`.
fn better(curve: &Curve, share: f64) -> String {
    let best = curve.best();
    let Some((last, most)) = best.last().and_then(|x| curve.points.iter().find(|(at, _)| at == x)) else {
        return "no value allows a single group".to_owned();
    };
    let most = format::percent(*most);
    if !curve.is_falling {
        let names: Vec<String> = best.iter().take(SIZES).map(u64::to_string).collect();
        let more = if best.len() > SIZES { format!(" and {} more", best.len() - SIZES) } else { String::new() };
        return format!("most: {most}, with {}{more}", names.join(", "));
    }
    let most = format!("most: {most}, up to {last}");
    match curve.better_below(share) {
        None => most,
        Some((x, next)) => format!("next step: {}, up to {x}; {most}", format::percent(next)),
    }
}

/// How many groups that is, and how much of the unit they fill: a part of a warp takes a whole one.
fn answer(unit: &ComputeUnit, need: GroupNeeds, resident: &Resident) -> String {
    let Resident { groups, warps, most_warps, .. } = resident;
    if *groups == 0 {
        let wg = need.wg;
        return format!(
            "not even one group of {wg} work-items fits on a compute unit: such a kernel cannot be launched"
        );
    }
    let share = 100.0 * resident.share();
    let noun = if *groups == 1 { "group" } else { "groups" };
    let wg = need.wg;
    let items = groups * need.wg;
    format!(
        "{groups} {noun} of {wg} work-items at once on a compute unit, {items} work-items \
         in\u{a0}{warps}\u{a0}of\u{a0}{most_warps}\u{a0}{}s\u{a0}({share:.0}%)",
        unit.warp
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::occupancy::known;
    use gpulab_model::outcome::Told;

    const SCREEN: Screen = Screen { width: 120, unicode: true, color: false };

    #[test]
    fn what_a_build_tells_is_a_line_for_each_kernel() {
        let line = |registers, spills| {
            let told = Told { registers, spills, local: None };
            needs(&Inspected { kernel: "k".into(), told, local: 1024, wg: 256 }, SCREEN)
        };
        assert_eq!(line(None, None), "k: registers unknown, 1024 bytes of local memory, groups of 256 work-items\n");
        assert_eq!(
            line(Some(40), Some([0, 0])),
            "k: 40 registers, 1024 bytes of local memory, groups of 256 work-items\n"
        );
        assert!(line(Some(255), Some([8, 12])).contains("255 registers (too few: 8 bytes are stored and 12 loaded"));
    }

    #[test]
    fn curves_tell_the_next_step_and_the_most() {
        let unit = known("1.0").unwrap();
        let need = GroupNeeds { registers: 20, local: 68, wg: 192 };
        let all = curves(unit, need, &unit.resident(need).unwrap(), SCREEN);
        assert!(all.lines().all(|line| line.chars().count() <= 80), "{all}");
        for line in [
            "over registers of a work-item (groups of 192, 68 bytes of local memory)",
            "next step: 75%, up to 13; most: 100%, up to 10",
            "most: 50%, up to 8192",
            "most: 50%, with 64, 128, 192, 384",
        ] {
            assert!(all.lines().any(|l| l == line), "{line}: {all}");
        }
    }

    #[test]
    fn the_answer_names_what_limits() {
        let unit = known("9.0").unwrap();
        let need = GroupNeeds { registers: 40, local: 8192, wg: 256 };
        insta::assert_snapshot!(limits(unit, "9.0", need, &unit.resident(need).unwrap(), SCREEN), @r"
        9.0: 6 groups of 256 work-items at once on a compute unit, 1536 work-items in 48 of 64 warps (75%)
          registers    allow 6
          local memory allow 25 (each group takes 1 KiB more)
          work-items   allow 8
          groups       allow 32
        limited by registers
        ");
        let first = |name, need: GroupNeeds| {
            let unit = known(name).unwrap();
            limits(unit, name, need, &unit.resident(need).unwrap(), SCREEN).lines().next().unwrap().to_owned()
        };
        let odd = GroupNeeds { registers: 32, local: 0, wg: 100 };
        assert!(first("9.0", odd).ends_with(
            "16 groups of 100 work-items at once on a compute unit, 1600 work-items in 64 of 64 warps (100%)"
        ));
        assert!(first("gfx90a", odd).ends_with("1600 work-items in 32 of 32 wavefronts (100%)"));
        let none = first("9.0", GroupNeeds { registers: 255, local: 0, wg: 1024 });
        assert!(none.contains("not even one group of 1024") && none.contains("cannot be launched"), "{none}");
    }
}

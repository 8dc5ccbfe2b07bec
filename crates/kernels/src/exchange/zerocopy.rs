//! Kernels that read the host's memory: where it lies, or after it was copied to the device.

use super::*;
use rayon::prelude::*;

/// The exchange's entry in the list: n words of 4 bytes, read [`PASSES_SET`] times.
pub const EXCHANGE: Exchange = Exchange {
    name: "zerocopy",
    variants: &[
        Variant::by_wall(COPIED),
        Variant::by_wall(FILLED),
        Variant::by_wall(IN_PLACE),
        Variant::by_wall(ON_DEVICE),
    ],
    sources: &[PATH],
    script,
};

/// From the host's memory to the device's own, then read there.
pub const COPIED: &str = "copied";
/// By way of a mapping into memory of the host that the device can reach, then read there.
pub const FILLED: &str = "filled";
/// Read in memory of the host that the device can reach, where they lie already.
pub const IN_PLACE: &str = "in_place";
/// Read in the device's own memory, where they lie already.
pub const ON_DEVICE: &str = "on_device";

/// Setting: how often the kernel reads all words.
pub const PASSES_SET: &str = "passes";

const PATH: &str = "exchange/zerocopy/passes.cl";

fn script(case: &Case, target: &Target) -> Result<Script, Refusal> {
    let bytes = bytes(case)?;
    let n = bytes / 4;
    let passes = setting(case, PASSES_SET, 1)?;
    let units = target.compute_units.max(1) as usize;
    let (wg, groups) = if target.gpu {
        (target.max_wg.min(256), 8 * units)
    } else {
        (1, chunks(target, n.saturating_mul(passes as usize)))
    };
    let items = wg * groups;
    let walk = WordsOfItem::new(target, n, items);
    // The kernel counts in 32 bits, beyond the end too.
    if 2 * n + items > u32::MAX as usize || passes > u64::from(u32::MAX) {
        return Err(Refusal::Size(format!("n = {n}, {PASSES_SET} = {passes}: the kernel counts in 32 bits")));
    }
    let numbers = [n, walk.near, walk.span, passes as usize, 0].map(|number| Arg::Uint(number as u32));
    let args = [0, 1].map(BufferId).map(Arg::Buffer).into_iter().chain(numbers).collect();
    let launch = Launch::linear("zerocopy_passes", items, wg, args);
    let transfer = Transfer { host: BufferId(0), from: 0, buffer: BufferId(0), at: 0, bytes };
    let variant = case.variant.as_str();
    let (before, moved) = match variant {
        COPIED => (Some(Action::Write(transfer)), bytes),
        FILLED => (Some(Action::Fill(transfer)), bytes),
        _ => (None, 0),
    };
    let actions = before.iter().cloned().chain([Action::Launch(launch)]);
    let place = if matches!(variant, FILLED | IN_PLACE) { MemoryKind::Host } else { MemoryKind::Device };
    let contents = if before.is_some() { Contents::Undefined } else { Contents::Pattern };
    Ok(Script {
        host: vec![HostSpec { bytes, is_pinned: false, contents: Contents::Pattern }],
        buffers: vec![
            DeviceSpec { bytes, place, contents },
            DeviceSpec { bytes: 4 * items, place: MemoryKind::Device, contents: Contents::Undefined },
        ],
        program: Some(Program { path: PATH, defines: walk.defines(), kernels: vec!["zerocopy_passes".into()] }),
        commands: actions.map(|action| QueuedCommand { queue: 0, action }).collect(),
        repeat: 1,
        reading: Reading::Span,
        answer: Answer::new(AnswerPlace::Buffer(1), Expected::Words(walk.sums(case.seed, n, items, passes as u32))),
        cost: Cost { bytes: bytes as f64 * passes as f64 + moved as f64, ops: n as f64 * passes as f64 },
        timeline: false,
    })
}

/// Chunks for the work-items of a CPU device, of loops with so many turns in all: a few for each core, but short ones, as
/// Mesa's driver ends the loops of an item after 65535 turns.
pub(super) fn chunks(target: &Target, turns: usize) -> usize {
    (4 * target.compute_units.max(1) as usize).max(turns.div_ceil(1 << 15))
}

/// Which words are a work-item's: from `near` times its id on, one after the other or one of each item's at a time, up to
/// `span` beyond.
pub(super) struct WordsOfItem {
    pub(super) near: usize,
    pub(super) span: usize,
    stride: usize,
}

impl WordsOfItem {
    /// A GPU's items read words side by side; those of a CPU device, each in a group of its own, one after the other.
    pub(super) fn new(target: &Target, n: usize, items: usize) -> WordsOfItem {
        let chunk = n.div_ceil(items);
        if target.gpu {
            WordsOfItem { near: 1, span: n, stride: items }
        } else {
            WordsOfItem { near: chunk, span: chunk, stride: 1 }
        }
    }

    /// The kernel's macro: a constant stride can be vectorised. That of a GPU's items is the default.
    pub(super) fn defines(&self) -> Vec<(String, String)> {
        if self.stride == 1 { vec![("STRIDE".into(), "1".into())] } else { Vec::new() }
    }

    /// What each work-item comes to.
    fn sums(&self, seed: u64, n: usize, items: usize, passes: u32) -> Vec<u32> {
        let own = |first: usize| (first..n.min(first + self.span)).step_by(self.stride);
        let sum = |id: usize| own(id * self.near).map(|i| pattern(seed, i)).fold(0, u32::wrapping_add);
        (0..items).into_par_iter().map(|id| passes.wrapping_mul(sum(id))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::case;
    use gpulab_model::outcome::fake_info;

    #[test]
    fn a_work_item_of_a_cpu_takes_few_turns() {
        let target = Target { gpu: false, ..fake_info().target };
        for (bytes, passes) in [(4 << 10, 1), (64 << 20, 1), (64 << 20, 16)] {
            let script = script(&case(&EXCHANGE, ON_DEVICE, bytes, &[(PASSES_SET, passes)], 1), &target).unwrap();
            let Action::Launch(launch) = &script.commands[0].action else { panic!("a launch is all there is") };
            let turns = (bytes / 4).div_ceil(launch.global[0] as u64) * passes;
            assert!((1..=65535).contains(&turns), "{bytes} bytes, {passes} passes: {turns}");
        }
    }

    #[test]
    fn a_copy_costs_its_bytes_too() {
        let bytes = |variant: &str| {
            let case = case(&EXCHANGE, variant, 1000, &[(PASSES_SET, 3)], 1);
            script(&case, &fake_info().target).unwrap().cost.bytes
        };
        assert_eq!([COPIED, FILLED].map(bytes), [16e3; 2]);
        assert_eq!([IN_PLACE, ON_DEVICE].map(bytes), [12e3; 2]);
    }
}

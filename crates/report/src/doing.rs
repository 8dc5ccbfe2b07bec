//! What was done for a row, for those who want to know: builds, launches, bytes, checks, runs, and limits used.

use super::format;
use super::ladder::WIDTH;
use gpulab_model::outcome::Outcome;
use gpulab_model::plan::{Pass, Plan};
use gpulab_record::{Ceiling, LaunchCost};
use gpulab_system::text::Joined;

/// What running a case took: its launches if its plan is known, its bytes by the cost model, and where the time went.
pub fn case(label: &str, plan: Option<&Plan>, outcome: &Outcome) -> String {
    let mut parts: Vec<String> = plan.into_iter().flat_map(|plan| &plan.passes).map(pass).collect();
    if outcome.bytes > 0.0 {
        parts.push(format!("{} moved, {} touched", bytes(outcome.bytes), bytes(outcome.working_set as f64)));
    }
    let spent = outcome.spent;
    let times = [("built", spent.build), ("data", spent.data), ("checked", spent.verify), ("timed", spent.measure)];
    let times = times.into_iter().filter(|(_, seconds)| *seconds > 0.0);
    parts.extend(times.map(|(what, seconds)| format!("{what} in {}", format::time(seconds))));
    if let Some(measured) = outcome.measured() {
        parts.push(format!("{} runs ({})", measured.samples.len(), measured.stopped_by));
    } else {
        parts.push(outcome.status().name().to_owned());
    }
    format::wrap(&format::terminal(&format!("{label}: {}", parts.join(", "))), WIDTH, "  ")
}

fn pass(pass: &Pass) -> String {
    format!("{} global {} local {}", pass.kernel, sizes(pass.global), sizes(pass.local))
}

/// `256`, or `16x16`.
fn sizes(sizes: [usize; 3]) -> String {
    let used = sizes.iter().rposition(|&size| size != 1).map_or(1, |last| last + 1);
    sizes[..used].iter().map(usize::to_string).joined("x")
}

fn bytes(bytes: f64) -> String {
    format!("{} MB", format::significant(bytes / 1e6, 4))
}

/// The limits that rows are held against.
pub fn limits(limit: Option<Ceiling>, launch: Option<LaunchCost>) -> String {
    let limit = limit.map(|limit| {
        let unit = if limit.bound.is_memory() { "GB/s" } else { "Gop/s" };
        format!("{} {} {unit}", limit.bound.name(), format::significant(limit.rate, 4))
    });
    let launch = launch.map(|cost| format!("a launch takes {}", format::time(cost.first)));
    let known: Vec<String> = limit.into_iter().chain(launch).collect();
    format!("limits used: {}\n", if known.is_empty() { "none".to_owned() } else { known.join(", ") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_kernels::Bound;
    use gpulab_model::outcome::Clock;

    #[test]
    fn sizes_are_as_many_as_are_used() {
        assert_eq!(
            [sizes([256, 1, 1]), sizes([16, 16, 1]), sizes([1, 1, 1]), sizes([4, 1, 2])],
            ["256", "16x16", "1", "4x1x2"]
        );
    }

    #[test]
    fn limits_have_their_units() {
        let limit = |bound| Some(Ceiling { bound, rate: 12.345 });
        let launch = LaunchCost { clock: Clock::Event, first: 2e-5, next: 1e-5 };
        assert_eq!(limits(limit(Bound::Read), Some(launch)), "limits used: read 12.35 GB/s, a launch takes 20.00 us\n");
        assert!(limits(limit(Bound::AddMin), None).ends_with("12.35 Gop/s\n"));
        assert_eq!(limits(None, None), "limits used: none\n");
    }
}

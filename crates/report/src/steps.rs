//! The steps of ladders as a table: what each gains, what the model carries of it, and its cause or what would tell it.

use super::rungs::short_label;
use super::why::{CARRIED, changed, experiment, faster};
use crate::prelude::*;
use gpulab_study::why::{LadderReasons, StepReason};

/// Gains below this are no lines of the table.
const LEAST: f64 = 1.1;

/// Every step that gains or loses at least a tenth; none if no step does.
pub fn table(ladders: &[LadderReasons], medium: Medium) -> Option<String> {
    let mut lines: Vec<[String; 5]> = Vec::new();
    for ladder in ladders {
        for (pair, (gain, reason)) in ladder.rungs.windows(2).zip(&ladder.steps) {
            if gain.max(1.0 / gain) < LEAST || matches!(reason, StepReason::Undecided(_)) {
                continue;
            }
            let before = &pair[0].row;
            let after = &pair[1].row;
            let step = format!("{} {} to {}", before.family, short_label(before), short_label(after));
            let carried = reason.carried(*gain);
            let share = carried.map_or_else(|| "-".into(), |share| format!("{:.0}%", 100.0 * share.min(1.0)));
            let model = pair[0].model_time().zip(pair[1].model_time());
            let model = model.map_or_else(|| "-".into(), |(old, new)| faster(old.whole() / new.whole()));
            let rest = || experiment(before, after, reason);
            let cause = match reason {
                StepReason::Uncounted(why) => (*why).to_owned(),
                StepReason::Explained { change, .. } if carried.is_some_and(|share| share < CARRIED) => {
                    format!("{}; {}", changed(change), rest())
                }
                StepReason::Explained { change, .. } => changed(change),
                _ => rest(),
            };
            lines.push([step, faster(*gain), model, share, cause]);
        }
    }
    let column = |at: usize| lines.iter().map(|line| line[at].clone()).collect::<Vec<String>>();
    let columns = vec![
        GridColumn::texts("step", column(0), 0),
        GridColumn::texts("measured", column(1), 0),
        GridColumn::texts("by the model", column(2), 0),
        GridColumn::numbers("carried", column(3), 0),
        GridColumn::texts("cause, or what would tell the rest", column(4), 0),
    ];
    (!lines.is_empty()).then(|| titled("steps of a tenth and more", TextGrid { columns }, medium))
}

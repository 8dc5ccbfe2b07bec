//! What the simulator finds in kernels: races, accesses out of bounds, values that were never set, barriers that not all reach.

use super::sources::{DraftedKernel, Source};
use super::{Cache, Look, SIMULATOR, WITH_WIDTH};
use crate::commands::r#try::simulate::{check, open_with};
use crate::count::{CheckFinding, FindingKind};
use crate::kernels::{Family, KernelDraft, Registry};
use crate::plan::{Case, WorkGroup};
use crate::report::format;
use crate::report::verdict::{Finding, NotLookedAt};
use crate::simulator::{self, CheckEnd, Checked, CheckingWorker, Simulator};
use crate::{Result, bench, ceilings};
use std::collections::BTreeMap;
use std::time::Duration;

/// Longest that a kernel may take in groups of 64. If it takes longer, it gets as long again in groups of 16, which are less work.
const LONGEST: Duration = Duration::from_secs(2);

/// The same, of a size that the settings name.
const LONGEST_NAMED: Duration = Duration::from_secs(10);

/// Work-items of sub-groups, as devices have them.
const WIDTHS: [u64; 4] = [8, 16, 32, 64];

/// Simulators, one without sub-groups and one for each of their widths, each opened for the first kernel that asks for it.
pub struct Simulators<'a> {
    registry: &'a Registry,
    version: String,
    workers: BTreeMap<Option<u64>, Result<CheckingWorker>>,
}

impl Simulators<'_> {
    pub fn new(registry: &Registry) -> Simulators<'_> {
        Simulators {
            registry,
            version: simulator::version().unwrap_or_default(),
            workers: BTreeMap::new(),
        }
    }

    /// What they find in a file: of each width, if it asks for sub-groups.
    pub fn look(&mut self, source: &mut Source, cache: &Cache<'_>) {
        let widths = match source.text.contains("sub_group") {
            true => WIDTHS.map(Some).to_vec(),
            false => vec![None],
        };
        for width in widths {
            let tool = width.map_or_else(
                || SIMULATOR.to_owned(),
                |width| format!("{WITH_WIDTH}{width}"),
            );
            let look = cache.look(&format!("{} {tool}", self.version), source, || {
                let mut look = Look::default();
                if source.kernels.is_empty() {
                    look.not_looked_at.push(NotLookedAt {
                        what: format!("{} in {SIMULATOR}", source.file),
                        why: "no kernel is seen in it, as where macros make them".to_owned(),
                    });
                }
                let worker = self.workers.entry(width);
                let worker = worker.or_insert_with(|| open(self.registry, width));
                for kernel in &source.kernels {
                    let checked = match (&mut *worker, &kernel.drafted) {
                        (Ok(worker), Ok((family, _))) => checked(worker, (source, family)),
                        (Err(why), _) => Ok(Checked::stopped(why.to_string())),
                        (_, Err(why)) => Ok(Checked::stopped(why)),
                    };
                    let checked = checked.unwrap_or_else(|why| Checked::stopped(why.to_string()));
                    add(&mut look, (source, kernel), &tool, checked);
                }
                look
            });
            source.looks.push(look);
        }
    }
}

fn open(registry: &Registry, width: Option<u64>) -> Result<CheckingWorker> {
    let simulator = match width {
        Some(_) => Some(Simulator::prepare(&ceilings::folder()?)?),
        None => None,
    };
    let subgroups = simulator.as_ref().zip(width);
    open_with(registry, LONGEST, subgroups, |_| ())
}

/// Runs a kernel in groups of 64, and of 16 where those do not end in time or are wrong.
fn checked(worker: &mut CheckingWorker, (source, family): (&Source, &Family)) -> Result<Checked> {
    let rung = &family.ladder[0];
    let small = family.usual_shape(family.form.ladder_size(true), true);
    let shape = source.n.map_or(small, |n| family.form.shape(n, None));
    let mut case = Case::of(
        &family.name,
        rung.variant(),
        bench::dtype(family, None)?,
        shape,
    );
    case.wg = rung.work_group().unwrap_or(WorkGroup::linear(64));
    if source.n.is_some() {
        // What images hold the simulator takes for never set.
        let looks_for_unset = !source.text.contains("_image");
        return worker.check(&case, LONGEST_NAMED, looks_for_unset);
    }
    let checked = check(worker, (family, rung), &case, LONGEST)?;
    if rung.work_group().is_some() || checked.doubt().is_none() || !checked.findings.is_empty() {
        return Ok(checked);
    }
    case.wg = WorkGroup::linear(16);
    let in_small_groups = check(worker, (family, rung), &case, LONGEST)?;
    Ok(match checked.end {
        CheckEnd::Stopped(why) if in_small_groups.doubt().is_none() => Checked {
            end: CheckEnd::Stopped(format!("{why} in groups of 64, only in groups of 16")),
            ..in_small_groups
        },
        _ => in_small_groups,
    })
}

/// Adds what was found in a kernel. Where it reaches out of a buffer whose length is a guess, the rest may follow from that.
fn add(look: &mut Look, (source, kernel): (&Source, &DraftedKernel), tool: &str, checked: Checked) {
    let draft = kernel.drafted.as_ref().map(|(_, draft)| draft);
    let makes_local = draft.is_ok_and(KernelDraft::has_local);
    let is_of_length =
        |found: &CheckFinding| source.n.is_none() && found.is_behind_end(makes_local);
    let mut all = checked.findings;
    if let Some(at) = all.iter().position(is_of_length) {
        all = vec![all.swap_remove(at)];
    }
    for found in &all {
        let mut finding = Finding {
            message: format!("kernel {}: {}", kernel.name, found.meaning()),
            tool: tool.to_owned(),
            file: Some(source.path_of(found.file.as_deref())),
            ..Finding::of_check(found, &kernel.name)
        };
        let guess = match draft {
            _ if is_of_length(found) => Some("a length"),
            Ok(draft) => {
                draft.guess_behind(found.kind == FindingKind::Race, found.memory.as_deref())
            }
            Err(_) => None,
        };
        finding.doubt(guess);
        look.findings.push(finding);
    }
    if let CheckEnd::Stopped(why) = checked.end {
        // The simulator's text is not the file's: its lines are others.
        let why = match why.split_once(": error: ") {
            Some((_, error)) => format!(
                "it does not build there: {}",
                error.lines().next().unwrap_or_default()
            ),
            None => format::shorten(&why.replace('\n', " "), 200),
        };
        look.not_looked_at.push(NotLookedAt {
            what: format!("{}, kernel {} in {SIMULATOR}", source.file, kernel.name),
            why,
        });
    }
}

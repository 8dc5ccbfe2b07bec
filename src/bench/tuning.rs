//! The use of what tuning found: settings for rungs that were given none.

use crate::prelude::*;
use crate::tune::Remembered;

/// What is remembered of a family on a device, if anything. That a damaged file was put aside is said.
pub(crate) fn load<'a>(
    family: &'a Family,
    info: &DeviceInfo,
    cl_dir: Option<&Path>,
    quiet: bool,
) -> Option<Remembered<'a>> {
    Remembered::load(family, info, &Sources { dir: cl_dir.map(Path::to_owned) }, &|text| {
        if !quiet {
            note(text);
        }
    })
}

/// The work-group that a case has if none is given.
pub(crate) fn default_work_group(info: &DeviceInfo) -> WorkGroup {
    WorkGroup::linear(info.target.max_wg.min(256))
}

/// The case of a rung as it was tuned, if no setting that the rung reads was given.
pub(crate) fn tuned(known: &Remembered<'_>, rung: &Rung, case: &Case) -> Option<Case> {
    let is_given = rung.tunables().any(|tunable| case.params.contains_key(tunable.name));
    if is_given { None } else { known.tuned(case) }
}

/// Says for which rungs remembered settings are used.
pub(crate) fn announce(family: &Family, variants: &[&str], quiet: bool) {
    if quiet || variants.is_empty() {
        return;
    }
    let rungs: Vec<String> = variants
        .iter()
        .map(|variant: &&str| {
            family.rung(variant).and_then(Rung::number).map_or_else(|| (*variant).to_owned(), |n| format!("v{n}"))
        })
        .collect();
    say(&format!("tuned settings for {} (gpulab tune --list shows them, --no-tuned ignores them)", rungs.join(", ")));
}

//! A case that is ready to run, and the second seed.

use super::prelude::*;

/// The variable that says what the second seed is, to repeat a run that named one.
pub(super) const SECOND_SEED: &str = "GPULAB_SECOND_SEED";

pub fn second_seed() -> Result<Option<u64>, String> {
    let Some(text) = std::env::var_os(SECOND_SEED) else { return Ok(None) };
    let seed = text.to_str().and_then(|text| text.parse().ok());
    seed.map(Some).ok_or_else(|| format!("{SECOND_SEED} is not a whole number: take one from a message"))
}

/// A case on its way: what was asked, and what it was turned into.
pub(super) struct ReadyCase<'a> {
    pub(super) case: &'a Case,
    pub(super) family: &'a Family,
    pub(super) plan: Plan,
    pub(super) program: ProgramId,
    /// The session's second seed: it draws data that no kernel can know, and the places of changes.
    pub(super) second_seed: u64,
    /// How the case was judged before, if it is only timed once more.
    pub(super) again: Option<Judged>,
}

impl ReadyCase<'_> {
    /// Where something was found that depends on the second seed, with how to find it again.
    pub(super) fn repeatable(&self, when: &str) -> String {
        match when.contains(SECOND_SEED) {
            true => when.to_owned(),
            false => format!("{when}; {SECOND_SEED}={} repeats it", self.second_seed),
        }
    }
}

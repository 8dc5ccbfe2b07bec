//! Kernels that a reader wrote, as rungs of a family.
//!
//! A file becomes a rung once it is adopted; from then on [`super::family`] gives a family whose ladder ends with it, so that
//! whatever works on rungs works on it: ladders, sweeps, tuning, counting. Adopted kernels live as long as the program.

mod declaration;
mod planner;
mod traits;

pub use declaration::DeclarationError;
pub use traits::SourceTraits;

use super::family::OWN;
use super::{Ask, Family, Rung};
use declaration::Declaration;
pub(super) use declaration::kernel_names;
use gpulab_model::plan::{Plan, Refusal, WorkGroup};
use serde::{Deserialize, Serialize};
use std::sync::{PoisonError, RwLock};

/// A reader's kernel: what a worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnKernel {
    /// The family whose problem it solves.
    pub family: String,
    /// Its name among the family's rungs.
    pub name: String,
    /// Its text, with what it includes.
    pub text: String,
}

/// An own kernel that is a rung.
struct Adopted {
    own: OwnKernel,
    path: &'static str,
    text: &'static str,
    declaration: &'static Declaration,
    family: &'static Family,
}

static ADOPTED: RwLock<Vec<Adopted>> = RwLock::new(Vec::new());

/// Makes a kernel a rung of this family, as it is so far.
pub(super) fn adopt(own: &OwnKernel, family: Option<&'static Family>) -> Result<&'static Rung, DeclarationError> {
    let unknown = || DeclarationError { line: None, why: format!("there is no family {}", own.family) };
    let family = family.ok_or_else(unknown)?;
    if let Some(known) = find(|adopted| adopted.own == *own, |adopted| adopted.path) {
        return family.ladder.iter().find(|rung| rung.path == known).ok_or_else(unknown);
    }
    let declaration: &'static Declaration = Box::leak(Box::new(Declaration::read(&own.text, family.form)?));
    let path: &'static str = Box::leak(format!("{OWN}/{}/{}.cl", family.name, own.name).into_boxed_str());
    let rung = super::rung(path, plan, &declaration.tunables);
    // What had its name before is an earlier version of it.
    let others = family.ladder.iter().copied().filter(|other| other.path != path);
    let ladder: Vec<Rung> = others.chain([rung]).collect();
    let ladder: &'static [Rung] = Box::leak(ladder.into_boxed_slice());
    let family: &'static Family = Box::leak(Box::new(Family { ladder, ..*family }));
    let text: &'static str = Box::leak(own.text.clone().into_boxed_str());
    let mut all = ADOPTED.write().unwrap_or_else(PoisonError::into_inner);
    all.retain(|adopted| adopted.path != path);
    all.push(Adopted { own: own.clone(), path, text, declaration, family });
    ladder.last().ok_or_else(unknown)
}

/// The work-group that an adopted kernel's file declares, if it does.
pub(super) fn work_group(rung: &Rung) -> Option<WorkGroup> {
    of_rung(rung, |adopted| adopted.declaration.wg)?
}

/// What an adopted kernel's text has.
pub fn own_traits(rung: &Rung) -> Option<SourceTraits> {
    of_rung(rung, |adopted| SourceTraits::of(adopted.text, &adopted.declaration.kernel))
}

/// The parameters that an adopted kernel must have, as they would be written.
pub fn own_parameters(rung: &Rung) -> Option<Vec<String>> {
    of_rung(rung, |adopted| adopted.declaration.parameters(adopted.family))
}

fn of_rung<T>(rung: &Rung, what: impl Fn(&Adopted) -> T) -> Option<T> {
    find(|adopted| adopted.path == rung.path, what)
}

/// All kernels that were adopted, for a worker to adopt as well.
pub fn adopted() -> Vec<OwnKernel> {
    let all = ADOPTED.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().map(|adopted| adopted.own.clone()).collect()
}

/// The family with the kernels that were adopted for it, if there are any.
pub(super) fn family(name: &str) -> Option<&'static Family> {
    find(|adopted| adopted.family.name == name, |adopted| adopted.family)
}

/// The text of an adopted kernel.
pub(super) fn text(path: &str) -> Option<&'static str> {
    find(|adopted| adopted.path == path, |adopted| adopted.text)
}

/// Of the kernel that was adopted last.
fn find<T>(is_meant: impl Fn(&Adopted) -> bool, what: impl Fn(&Adopted) -> T) -> Option<T> {
    let all = ADOPTED.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().rev().find(|adopted| is_meant(adopted)).map(what)
}

fn plan(ask: &Ask<'_>) -> Result<Plan, Refusal> {
    match find(|adopted| adopted.path == ask.rung.path, |adopted| adopted.declaration) {
        Some(declaration) => planner::plan(declaration, ask),
        None => Err(Refusal::Feature("its file was not read".into())),
    }
}

//! Kernels that a reader wrote, as rungs of a family.
//!
//! [`super::Registry::adopt`] makes a file the last rung of its family, so that whatever works on rungs works on it: ladders,
//! sweeps, tuning, counting.

mod declaration;
mod planner;
mod traits;

pub use declaration::DeclarationError;
pub use traits::SourceTraits;

use super::family::BroughtKernel;
use super::{Family, Rung};
use declaration::Declaration;
pub(super) use declaration::kernel_names;
use serde::{Deserialize, Serialize};
pub(crate) use traits::without_comments;

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

/// The rung that a kernel becomes in a family.
pub(super) fn rung(own: &OwnKernel, family: &Family) -> Result<Rung, DeclarationError> {
    let declaration = Declaration::read(&own.text, family.form)?;
    let kernel = BroughtKernel {
        text: own.text.clone(),
        work_group: declaration.wg,
        macros: declaration.tunables.clone(),
        traits: (SourceTraits::of(&own.text, &declaration.kernel), declaration.parameters(family)),
        plan: Box::new(move |ask| planner::plan(&declaration, ask)),
    };
    Ok(Rung::brought(&format!("{}/{}", family.name, own.name), None, kernel))
}

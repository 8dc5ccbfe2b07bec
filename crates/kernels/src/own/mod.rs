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
use super::tunable::DeclaredMacro;
use super::{Ask, Family, Rung};
use declaration::Declaration;
pub(super) use declaration::kernel_names;
use gpulab_model::plan::{Plan, Refusal, WorkGroup};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

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

/// The kernel of an own rung.
struct Adopted {
    text: String,
    declaration: Declaration,
}

/// The rung that a kernel becomes in a family.
pub(super) fn rung(own: &OwnKernel, family: &Family) -> Result<Rung, DeclarationError> {
    let declaration = Declaration::read(&own.text, family.form)?;
    let kernel = Adopted { text: own.text.clone(), declaration };
    Ok(Rung::brought(&format!("{}/{}", family.name, own.name), None, Arc::new(kernel)))
}

impl BroughtKernel for Adopted {
    fn text(&self) -> &str {
        &self.text
    }

    fn work_group(&self) -> Option<WorkGroup> {
        self.declaration.wg
    }

    fn macros(&self) -> &[DeclaredMacro] {
        &self.declaration.tunables
    }

    fn plan(&self, ask: &Ask<'_>) -> Result<Plan, Refusal> {
        planner::plan(&self.declaration, ask)
    }

    fn signature(&self, family: &Family) -> Option<(&str, Vec<String>)> {
        Some((&self.declaration.kernel, self.declaration.parameters(family)))
    }
}

/// What an own kernel's text has, and the parameters that it must have, as they would be written; nothing of other rungs.
pub fn own_traits(family: &Family, rung: &Rung) -> (SourceTraits, Vec<String>) {
    let own = rung.own().and_then(|own| Some((own.text(), own.signature(family)?)));
    own.map(|(text, (kernel, parameters))| (SourceTraits::of(text, kernel), parameters)).unwrap_or_default()
}

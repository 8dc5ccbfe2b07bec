//! Wrong probes of ceilings.

use super::mutant::{Mutant, kernel};

pub const MUTANTS: &[Mutant] = &[];

//! What only a simulator sees.

use super::mutant::{Mutant, kernel};

pub const MUTANTS: &[Mutant] = &[];

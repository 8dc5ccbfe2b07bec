//! Wrong kernels of exchanges.

use super::mutant::{Mutant, kernel};

pub const MUTANTS: &[Mutant] = &[];

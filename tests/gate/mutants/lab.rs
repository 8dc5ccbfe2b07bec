//! Wrong kernels of experiments.

use super::mutant::{Mutant, kernel};

pub const MUTANTS: &[Mutant] = &[];

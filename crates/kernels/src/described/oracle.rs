//! Who says what is right in a described family.

use gpulab_model::data::{Array, Dtype};
use gpulab_model::plan::Case;
use std::sync::Arc;

pub struct OracleQuestion<'a> {
    /// Sizes and type.
    pub case: &'a Case,
    /// The inputs, with their names.
    pub inputs: &'a [Array],
    /// Names of the inputs.
    pub names: Vec<&'a str>,
    /// Elements of the right answer.
    pub len: usize,
}

/// Who knows what is right, and what is in files.
pub trait Oracle: Send + Sync {
    /// The right answer.
    ///
    /// # Errors
    /// Why there is none.
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Array, String>;

    /// The elements of a file of data.
    ///
    /// # Errors
    /// Why they cannot be read.
    fn file(&self, name: &str, dtype: Dtype) -> Result<Arc<Array>, String>;

    /// Who it is, in words.
    fn describe(&self) -> String;
}

//! Who says what is right in a described family.

use gpulab_model::data::{Array, Dtype, Layout};
use gpulab_model::plan::{Case, Plan};
use std::sync::Arc;

/// A buffer of a question: an input, an output, or both.
pub struct OracleBuffer<'a> {
    pub name: &'a str,
    /// What its elements are, where a vector's numbers are elements of their own.
    pub layout: Layout,
    /// Numbers of a vector; 1 of others.
    pub lanes: usize,
    /// The type and the length of its array.
    pub dtype: Dtype,
    pub len: usize,
    /// What is in it before the run; none of what is only written.
    pub input: Option<&'a Array>,
    pub is_output: bool,
    /// Whether it is an image whose whole numbers kernels see as floats from 0 to 1.
    pub is_share: bool,
}

pub struct OracleQuestion<'a> {
    pub case: &'a Case,
    /// In the order in which the file names them.
    pub buffers: Vec<OracleBuffer<'a>>,
    /// The launches of the rung that says what is right, if one does; its inputs and outputs are the buffers.
    pub plan: Option<Plan>,
}

impl OracleQuestion<'_> {
    pub fn outputs(&self) -> impl Iterator<Item = &OracleBuffer<'_>> {
        self.buffers.iter().filter(|buffer| buffer.is_output)
    }
}

pub struct OracleFile {
    pub elements: Array,
    /// Pixels of a row, of a picture.
    pub width: Option<usize>,
}

/// Who knows what is right, and what is in files.
pub trait Oracle: Send + Sync {
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String>;

    /// The elements of a file of data, in an array of this type; of bytes those that the layout says, of a picture so many
    /// channels.
    fn file(&self, name: &str, dtype: Dtype, layout: &Layout, channels: usize) -> Result<Arc<OracleFile>, String>;

    fn describe(&self) -> String;
}

//! Readers' own kernels and families: their files, read and adopted for the registry.

pub(crate) mod described;
mod includes;
pub(crate) mod own;

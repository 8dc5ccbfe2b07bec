//! The registry: every family, its ladder of rungs, and the problem it solves, as plain data.
//!
//! Help texts, `list`, ladders, sweeps and tests all walk the lists of `registry.rs`; nothing is listed twice. What a reader
//! brings is in a [`Registry`], a value that is passed on.

mod builder;
mod c_text;
pub mod closure;
mod described;
pub mod dot;
pub mod exchange;
mod family;
pub mod lab;
pub mod minplus;
pub mod occupancy;
mod own;
mod prelude;
pub mod probes;
mod problem;
pub mod reduce;
mod registry;
pub mod remarks;
pub(crate) mod shape;
pub mod signature;
mod source;
pub mod transpose;
mod tunable;
pub mod values;

pub(crate) use builder::Builder;
pub use c_text::{ValueType, included as included_name, logical_lines, raw_strings};
pub use described::{
    Checker, DeclarationError, Description, FamilyFile, ITSELF, KernelDraft, Oracle, OracleBuffer,
    OracleQuestion, UNNAMED, draft, draft_alone, reference_kernel, result_file, rung_text,
};
pub use family::{
    AnyProblem, Ask, Bound, Family, Form, Rung, entry_point, ladder, rung, tile_of_a_group,
};
pub(crate) use family::{BuiltInFamily, Planned, ladder_from};
pub use gpulab_cpu::Baseline;
pub use own::{OwnKernel, SourceTraits};
pub use problem::{APART, Changed, Described, Fold, Lone, Problem, Spot};
pub(crate) use problem::{Exact, largest_exact, read_once, with_setting};
pub use registry::{FAMILIES, LAB, PROBES, Registry, built_in, everything, ladders};
pub use source::{
    Assembled, ShippedFile, Sources, assemble, assemble_rung, brought, brought_families,
    brought_input, cited, embedded, given, included, labelled, split_header, text, title,
    used_defines, usual_plan,
};
pub use tunable::{Kind, Tunable};

pub fn type_defines(dtype: gpulab_model::data::Dtype, elements: u64) -> Vec<(String, String)> {
    shape::defines(shape::signed(dtype), elements)
}

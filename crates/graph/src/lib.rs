//! Distances in graphs: edges become a matrix, min-plus steps make it distances, these are proved, and a table is written.
//!
//! Nothing here knows of devices or files: what makes distances of weights is a function that the caller gives, and the
//! engine reads the files. Matrices are of n x n elements, row after row.

mod closure;
mod graph;
mod length;
mod proof;
mod write;

pub use closure::{NegativeCycle, closure, negative_cycle, one_stop};
pub use graph::{Graph, GraphFile, MOST_NODES, Names};
pub use length::Length;
pub use proof::{Proof, check_step, prove};
pub use write::{Distances, is_written_npy};

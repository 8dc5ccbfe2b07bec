//! Distances in graphs: a file of edges becomes a matrix, min-plus steps make it distances, and a table is written.
//!
//! - [`length`] says what the numbers of each element type mean: no edge, too long, too small.
//! - [`names`] numbers the nodes; [`matrix`] turns a list of edges into a [`Graph`], which is a square matrix.
//! - [`closure`](mod@closure) repeats the step until nothing changes; [`cycle`] finds what has no shortest paths; [`check`] computes
//!   a step's rows once more.
//! - [`errors`] says why there are no distances; [`needs`] estimates the memory and the work.
//! - [`paths`] finds the next node on a shortest path; [`write`](mod@write) writes the table.
//!
//! Nothing here knows of devices or files: the step r\[i\]\[j\] = min over k of d\[i\]\[k\] + d\[k\]\[j\] is a function that
//! the caller gives, and the engine reads the files. Matrices are of n x n elements, row after row.

mod adjacency;
pub mod check;
pub mod closure;
pub mod cycle;
pub mod errors;
pub mod length;
pub mod matrix;
pub mod names;
pub mod needs;
pub mod paths;
pub mod write;

pub use check::CheckedRows;
pub use closure::{Closure, Stopped, closure, one_stop};
pub use errors::{checked_hops, refusal};
pub use length::Length;
pub use matrix::{EdgeList, Graph, Matrix};
pub use names::Names;
pub use needs::{memory_needed, step_bytes, step_operations};
pub use paths::{NextHops, next_hops};
pub use write::{Distances, Wanted};

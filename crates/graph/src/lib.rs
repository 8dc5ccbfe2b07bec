//! Distances in graphs: a file of edges becomes a matrix, min-plus steps make it distances, and a table is written.
//!
//! - [`length`] says what the numbers of each element type mean: no edge, too long, too small.
//! - [`formats`] reads DIMACS, Matrix Market and METIS, `graphml` what it is called after, all into [`listed`] edges; [`names`] numbers the nodes; [`matrix`] turns a list of edges into a [`Graph`], which is a square matrix.
//! - [`closure`](mod@closure) asks for all distances, and says what rules them out; [`cycle`] finds what has no shortest
//!   paths.
//! - [`check`] computes a step's rows once more; [`stops`](mod@stops) finds the stop of each of its walks.
//! - [`proof`] shows that all distances are right, and finds the paths.
//! - [`errors`] says why there are no distances; [`needs`] estimates the memory and the work.
//! - [`semiring`] makes longest and widest paths of shortest ones, and back.
//! - [`write`](mod@write) writes the table, with the next nodes on [`paths`].
//!
//! Nothing here knows of devices or files: what makes distances of weights is a function that the caller gives, and the
//! engine reads the files. Matrices are of n x n elements, row after row.

mod adjacency;
pub mod check;
pub mod closure;
pub mod cycle;
pub mod errors;
pub mod formats;
mod graphml;
pub mod length;
pub mod listed;
pub mod matrix;
pub mod names;
pub mod needs;
pub mod paths;
pub mod proof;
pub mod semiring;
pub mod stops;
pub mod write;

pub use check::CheckedRows;
pub use closure::{Closure, Stopped, closure, from_some, one_stop};
pub use errors::{proved, proved_rows, refusal};
pub use formats::GraphFormat;
pub use length::Length;
pub use listed::{ListedEdge, ListedEdges, MOST_NODES};
pub use matrix::{EdgeList, Graph, Matrix};
pub use names::Names;
pub use needs::{memory_needed, step_bytes, step_operations};
pub use paths::NextHops;
pub use proof::{Mismatch, Proof, prove, prove_rows};
pub use semiring::{from_device, least, on_device};
pub use stops::stops;
pub use write::{Distances, Wanted};

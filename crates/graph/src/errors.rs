//! Why there are no distances, in words.

use crate::closure::{Closure, Stopped};
use crate::length::Length;
use crate::matrix::Graph;
use crate::paths::{NextHops, next_hops};
use crate::write::Wanted;
use gpulab_model::Error;
use gpulab_model::data::Dtype;

/// Why the steps ended before there were distances.
pub fn refusal(stopped: Stopped<Error>, graph: &Graph) -> Error {
    let dtype = graph.weights.dtype();
    match stopped {
        Stopped::Step(error) => error,
        Stopped::TooFar(length) => Error::Usage(format!(
            "a distance has become {}, too large for another step in {dtype}: choose {}",
            // In the digits of its type.
            if dtype == Dtype::F32 { (length as f32).text() } else { length.text() },
            if dtype == Dtype::F64 { "a larger unit" } else { "--dtype f64" }
        )),
        Stopped::Negative(cycle) => {
            const MOST: usize = 10;
            let around = cycle.nodes.iter().chain(cycle.nodes.first()).map(|&node| graph.names.name(node));
            let mut names: Vec<&str> = around.collect();
            if names.len() > MOST {
                names.splice(MOST - 2..names.len() - 1, ["..."]);
            }
            let doubt = match (cycle.doubtful, dtype) {
                (false, _) => "",
                (true, Dtype::F64) => ". Rounding may have made it negative: choose whole weights and --dtype i32",
                (true, _) => {
                    ". Rounding may have made it negative: choose --dtype f64, or whole weights and --dtype i32"
                }
            };
            Error::Usage(format!(
                "there are no shortest distances, as a negative cycle makes paths ever shorter: {} has length \
                 {}{doubt}",
                names.join(" -> "),
                cycle.length.text()
            ))
        }
    }
}

/// The next nodes on shortest paths.
///
/// # Errors
/// [`Error::WrongResult`] for a distance that belongs to no path.
pub fn checked_hops(graph: &Graph, found: &Closure, wanted: &Wanted) -> Result<NextHops, Error> {
    let hops = next_hops(graph.len(), &found.weights, &found.distances, &wanted.to);
    hops.map_err(|mismatch| {
        let name = |node| graph.names.name(node);
        Error::WrongResult(format!(
            "the distance from {} to {} belongs to no path: the device's result is wrong; choose another rung with \
             --variant",
            name(mismatch.0),
            name(mismatch.1)
        ))
    })
}

//! Why there are no distances, in words.

use crate::closure::{Closure, Stopped};
use crate::length::Length;
use crate::matrix::Graph;
use crate::proof::{Proof, prove};
use gpulab_model::Error;
use gpulab_model::data::Dtype;

/// Why there are no distances.
pub fn refusal(stopped: Stopped<Error>, graph: &Graph) -> Error {
    let dtype = graph.weights.dtype();
    match stopped {
        Stopped::Compute(error) => error,
        Stopped::TooFar(length) => Error::Usage(format!(
            "a distance has become {}, too large to be added to in {dtype}: choose {}",
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

/// Shows that the distances are those of the graph; see [`prove`].
///
/// # Errors
/// [`Error::WrongResult`] for a distance that is wrong.
pub fn proved(graph: &Graph, found: &Closure, paths: &[usize]) -> Result<Proof, Error> {
    prove(graph.len(), &found.weights, &found.distances, paths).map_err(|wrong| {
        let name = |node| graph.names.name(node);
        let length = |x: f64| if x.is_finite() { x.text() } else { "none".to_owned() };
        Error::WrongResult(format!(
            "the distance from {} to {} is {}, and the shortest path has {}: the device's result is wrong; choose another \
             rung with --variant",
            name(wrong.from),
            name(wrong.to),
            length(wrong.got),
            length(wrong.want)
        ))
    })
}

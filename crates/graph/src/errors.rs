//! Why there are no distances, in words.

use crate::closure::{Closure, Stopped};
use crate::length::Length;
use crate::matrix::Graph;
use crate::proof::{Mismatch, Proof, prove, prove_rows};
use crate::semiring::words;
use gpulab_cpu::minplus::Semiring;
use gpulab_model::Error;
use gpulab_model::data::Dtype;

/// Why there are no distances.
pub fn refusal(stopped: Stopped<Error>, graph: &Graph) -> Error {
    let dtype = graph.weights.dtype();
    let semiring = graph.semiring;
    let is_greatest = semiring.is_greatest();
    let value = |x: f64| if is_greatest { 0.0 - x } else { x };
    let [name, _] = words(semiring);
    match stopped {
        Stopped::Compute(error) => error,
        Stopped::TooFar { from, to, length } => Error::Usage(format!(
            "the {name} from {} to {} has become {}, too large to be added to in {dtype}: choose {}",
            graph.names.name(from),
            graph.names.name(to),
            // In the digits of its type.
            if dtype == Dtype::F32 { (value(length) as f32).text() } else { value(length).text() },
            if dtype == Dtype::F64 { "a larger unit" } else { "--dtype f64" }
        )),
        Stopped::Negative(cycle) => {
            const MOST: usize = 10;
            let around = cycle.nodes.iter().chain(cycle.nodes.first()).map(|&node| graph.names.name(node));
            let mut names: Vec<&str> = around.collect();
            if names.len() > MOST {
                names.splice(MOST - 2..names.len() - 1, ["..."]);
            }
            let (what, sign, more) = match is_greatest {
                false => ("shortest distances", "negative", "shorter"),
                true => ("longest paths", "positive", "longer"),
            };
            let doubt = match (cycle.doubtful, dtype) {
                (false, _) => String::new(),
                (true, Dtype::F64) => {
                    format!(". Rounding may have made it {sign}: choose whole weights and --dtype i32")
                }
                (true, _) => {
                    format!(". Rounding may have made it {sign}: choose --dtype f64, or whole weights and --dtype i32")
                }
            };
            Error::Usage(format!(
                "there are no {what}, as a {sign} cycle makes paths ever {more}: {} has length {}{doubt}",
                names.join(" -> "),
                value(cycle.length).text()
            ))
        }
    }
}

/// Shows that the distances are those of the graph; see [`prove`].
///
/// # Errors
/// [`Error::WrongResult`] for a distance that is wrong.
pub fn proved(graph: &Graph, found: &Closure, paths: &[usize]) -> Result<Proof, Error> {
    let proof = prove(graph.semiring.join(), graph.len(), &found.weights, &found.distances, paths);
    proof.map_err(|wrong| mistake(wrong, graph))
}

/// As [`proved`], of rows from these nodes; returns the bound.
///
/// # Errors
/// As there.
pub fn proved_rows(graph: &Graph, found: &Closure, sources: &[usize]) -> Result<f64, Error> {
    let proof = prove_rows(graph.semiring.join(), graph.len(), &found.weights, &found.distances, sources);
    proof.map_err(|wrong| mistake(wrong, graph))
}

/// That the device's result is wrong.
fn mistake(wrong: Mismatch, graph: &Graph) -> Error {
    let name = |node| graph.names.name(node);
    let value = |x: f64| match graph.semiring {
        Semiring::MinPlus => x.text(),
        Semiring::MaxPlus | Semiring::MaxMin => (0.0 - x).text(),
        Semiring::OrAnd => (1.0 - x).text(),
    };
    let length = |x: f64| if x.is_finite() { value(x) } else { "none".to_owned() };
    Error::WrongResult(format!(
        "the {} from {} to {} is {}, and the best path has {}: the device's result is wrong; choose another rung with \
         --variant",
        words(graph.semiring)[0],
        name(wrong.from),
        name(wrong.to),
        length(wrong.got),
        length(wrong.want)
    ))
}

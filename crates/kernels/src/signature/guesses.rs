//! What the names that a text leaves to its host probably stand for.

use super::{AddressSpace, CSource};
use std::collections::BTreeMap;

impl CSource {
    /// Values of macros that nobody defines, in a launch of so many dimensions: `element` for the type of a kernel's buffers,
    /// and what a name says of itself, as `BLOCK_SIZE` of the work-group. Other names have none.
    pub(crate) fn guesses(&self, dimensions: usize, element: &str) -> BTreeMap<String, String> {
        let kernels = self.kernels();
        let of_buffers = kernels.iter().filter_map(|kernel| self.parameters(kernel)).flatten().filter(|parameter| {
            let is_buffer =
                matches!(parameter.space, AddressSpace::Global | AddressSpace::Constant | AddressSpace::Local);
            is_buffer && parameter.value_type.is_none() && is_elements_name(&parameter.type_name)
        });
        let types = of_buffers.map(|parameter| (parameter.type_name, element.to_owned()));
        let types = types.filter(|(name, _)| !self.macros.contains_key(name));
        let unset = self.host_names().unset.into_iter();
        let numbers = unset.filter_map(|name| named_value(&name, dimensions).map(|value| (name, value.to_owned())));
        numbers.chain(types).collect()
    }
}

/// Whether a type's name says that it is one number.
fn is_elements_name(name: &str) -> bool {
    let small = name.to_lowercase();
    ["real", "float", "type", "fp", "scalar"].iter().any(|part| small.contains(part))
        // A vector is more than an element, and so is a struct.
        && !name.ends_with(|c: char| c.is_ascii_digit())
        && !["param", "dim", "info", " "].iter().any(|part| small.contains(part))
}

/// What a macro of this name is in most kernels.
fn named_value(name: &str, dimensions: usize) -> Option<&'static str> {
    let small = name.to_lowercase().replace('_', "");
    let has = |parts: &[&str]| parts.iter().any(|part| small.contains(part));
    let is_group = has(&["block", "group", "wg", "local", "thread"]) && has(&["size", "dim", "items"])
        || ["wgx", "wgy", "wgz", "threads", "threadsx", "threadsy"].contains(&small.as_str());
    match () {
        () if has(&["vectorsize", "vectorwidth", "vecsize", "unroll", "workper", "wpt"]) || small == "vector" => {
            Some("1")
        }
        () if has(&["ispow2"]) => Some("0"),
        () if dimensions == 1 && has(&["numblocks", "numgroups", "wgnum", "numwg"]) => Some("ceil(n, WG)"),
        () if has(&["num", "count", "tile", "mem", "limit", "relax", "use"]) => None,
        () if is_group && small.ends_with('z') => Some("1"),
        () if is_group && dimensions == 1 && !small.ends_with('y') => Some("WG"),
        () if is_group && small.ends_with('y') => Some(if dimensions == 1 { "1" } else { "WG_Y" }),
        () if is_group => Some("WG_X"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hosts_are_guessed_where_they_say_what_they_are() {
        let text = "#ifdef SINGLE
            #define REAL float
            #endif
            kernel void k(global const REAL *x, global body_t *bodies, const KParam p, global real4 *v)
            { local REAL part[BLOCK_SIZE + blockDim_y + work_group_size_x + NUM_BLOCKS + TILE_SIZE + local_mem_size]; }";
        let guesses = CSource::new(text, &[]).guesses(2, "T");
        let guesses: Vec<String> = guesses.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(guesses, ["BLOCK_SIZE=WG_X", "REAL=T", "blockDim_y=WG_Y", "work_group_size_x=WG_X"]);
        let one = CSource::new(text, &[]).guesses(1, "float");
        assert_eq!(
            (one["BLOCK_SIZE"].as_str(), one["blockDim_y"].as_str(), one["REAL"].as_str()),
            ("WG", "1", "float")
        );
        assert_eq!(one["NUM_BLOCKS"], "ceil(n, WG)");
        let said = CSource::new(text, &[("REAL".into(), "double".into()), ("BLOCK_SIZE".into(), "8".into())]);
        assert!(!said.guesses(1, "T").contains_key("REAL") && !said.guesses(1, "T").contains_key("BLOCK_SIZE"));
    }
}

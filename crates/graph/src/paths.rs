//! The next nodes on shortest paths.

pub(super) const NONE: u32 = u32::MAX;

/// For each target, the next node from everywhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NextHops {
    /// By target: n nodes, or nothing for a target that was not asked for.
    pub(super) toward: Vec<Vec<u32>>,
}

impl NextHops {
    /// The node after `from` on a shortest path to `to`. `None` if there is no path, if `from` is `to`, and if `to` is
    /// no target that was asked for.
    pub fn next(&self, from: usize, to: usize) -> Option<usize> {
        self.toward.get(to)?.get(from).filter(|&&next| next != NONE).map(|&next| next as usize)
    }
}

//! Large arrays looked at piece by piece.

use rayon::prelude::*;

/// Elements that a thread looks at together; fewer are not worth waking others.
pub const PIECE: usize = 1 << 16;

/// The first index that `find` gives: it is given pieces of the whole with their places, by several threads at once.
pub fn first_in_pieces<T: Sync>(
    all: &[T],
    find: impl Fn(usize, &[T]) -> Option<usize> + Sync,
) -> Option<usize> {
    if all.len() <= PIECE {
        return find(0, all);
    }
    all.par_chunks(PIECE)
        .enumerate()
        .find_map_first(|(piece, elements)| {
            let at = piece * PIECE;
            find(at, elements).map(|index| at + index)
        })
}

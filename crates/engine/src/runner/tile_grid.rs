//! A square matrix of lengths in the host's memory, as square tiles that go through devices.

use super::prelude::*;
use crate::device::SharedHost;
use gpulab_cpu::minplus::{Semiring, element};
use rayon::prelude::*;

/// Longest side of a tile: from 2048 on its kernels take longer than its copies, and longer ones leave less to overlap.
const LONGEST: u64 = 8192;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileGrid {
    pub n: usize,
    /// Rows and columns of a tile. Those beyond the matrix count as no edge.
    pub side: usize,
    pub dtype: Dtype,
}

impl TileGrid {
    /// The tiles whose sides are multiples of `grain`, `fits` a device, and make the smallest whole; of these the largest.
    /// They are at least `rows` a side of the matrix, if they are not longer than they need to be. None fits: none.
    pub fn choose(n: usize, dtype: Dtype, grain: u64, rows: u64, fits: impl Fn(&TileGrid) -> bool) -> Option<TileGrid> {
        let grid = |blocks: u64| TileGrid { n, side: (blocks * grain) as usize, dtype };
        let most = (n as u64).div_ceil(rows.max(1)).div_ceil(grain).min(LONGEST / grain).max(1);
        let most = (1..=most).rev().find(|&blocks| fits(&grid(blocks)))?;
        (most.div_ceil(2)..=most).rev().map(grid).min_by_key(|grid| grid.rows() * grid.side)
    }

    /// Tiles of a row, or of a column.
    pub fn rows(&self) -> usize {
        self.n.div_ceil(self.side)
    }

    pub fn bytes(&self) -> usize {
        self.side * self.side * self.dtype.size()
    }

    /// Cuts the matrix; tiles lie row after row.
    pub fn cut(&self, matrix: &Array, semiring: Semiring, tiles: &[SharedHost]) {
        let missing = self.no_edge(semiring);
        let size = self.dtype.size();
        let source = matrix.as_bytes();
        tiles.par_iter().enumerate().for_each(|(at, tile)| {
            let lines = tile.bytes().chunks_mut(self.side * size);
            for (line, row) in lines.zip(at / self.rows() * self.side..) {
                let (inside, beyond) = line.split_at_mut(if row < self.n { self.width(at) * size } else { 0 });
                if !inside.is_empty() {
                    inside.copy_from_slice(&source[self.first(row, at) * size..][..inside.len()]);
                }
                beyond.chunks_mut(size).for_each(|element| element.copy_from_slice(missing.as_bytes()));
            }
        });
    }

    /// The matrix of its tiles. A large one is not to be in memory twice: each row of tiles goes as soon as it was copied.
    pub fn join(&self, mut tiles: Vec<SharedHost>) -> Array {
        let mut matrix = Array::zeros(self.dtype, self.n * self.n);
        let size = self.dtype.size();
        for strip in matrix.as_bytes_mut().chunks_mut(self.side * self.n * size) {
            let above: Vec<SharedHost> = tiles.drain(..self.rows()).collect();
            strip.par_chunks_mut(self.n * size).enumerate().for_each(|(row, line)| {
                for (at, tile) in above.iter().enumerate() {
                    let start = at * self.side * size;
                    let len = self.width(at) * size;
                    line[start..start + len].copy_from_slice(&tile.bytes()[row * self.side * size..][..len]);
                }
            });
        }
        matrix
    }

    /// Columns of a tile that are within the matrix.
    fn width(&self, at: usize) -> usize {
        self.side.min(self.n - at % self.rows() * self.side)
    }

    /// The place in the matrix of a tile's first element of this row.
    fn first(&self, row: usize, at: usize) -> usize {
        row * self.n + at % self.rows() * self.side
    }

    fn no_edge(&self, semiring: Semiring) -> Array {
        let (single, double, whole) = element(semiring.units()[0]);
        match self.dtype {
            Dtype::F32 => vec![single].into(),
            Dtype::F64 => vec![double].into(),
            Dtype::I32 | Dtype::I64 | Dtype::U8 => vec![whole].into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::fake::FakeDevice;
    use gpulab_model::data::NO_EDGE;
    use gpulab_model::plan::Holding;

    fn grid(n: usize, rows: u64, most: usize) -> Option<TileGrid> {
        TileGrid::choose(n, Dtype::F32, 128, rows, |grid| grid.side <= most)
    }

    #[test]
    fn a_matrix_is_cut_and_joined_again() {
        let mut device = FakeDevice::new(Box::new(|_, _| Ok(1)));
        for (n, side) in [(1, 4), (7, 4), (8, 4), (9, 4)] {
            let grid = TileGrid { n, side, dtype: Dtype::I32 };
            let mut tile = || {
                let host = device.hold(Holding::Pageable, grid.bytes()).unwrap();
                device.share(host).unwrap()
            };
            let tiles: Vec<SharedHost> = (0..grid.rows() * grid.rows()).map(|_| tile()).collect();
            let matrix: Array = (0..(n * n) as i32).collect::<Vec<_>>().into();
            grid.cut(&matrix, Semiring::MinPlus, &tiles);
            let end = tiles[tiles.len() - 1].clone();
            let last: &[i32] = bytemuck::cast_slice(end.bytes());
            let inside = |at: usize| [at / side, at % side].iter().all(|i| (grid.rows() - 1) * side + i < n);
            assert!((0..side * side).all(|at| inside(at) || last[at] == NO_EDGE), "{n}: {last:?}");
            assert_eq!(grid.join(tiles), matrix);
        }
    }

    #[test]
    fn sides_fit_and_leave_little_beyond_the_matrix() {
        let side = |n, rows, most| grid(n, rows, most).map(|grid| (grid.side, grid.rows()));
        assert_eq!(side(30_000, 1, 1 << 20), Some((6016, 5)));
        assert_eq!(side(30_000, 1, 4096), Some((2176, 14)));
        assert_eq!(side(1, 1, 1 << 20), Some((128, 1)));
        assert_eq!(side(1000, 4, 1 << 20), Some((256, 4)));
        assert_eq!(side(1000, 4, 127), None);
    }
}

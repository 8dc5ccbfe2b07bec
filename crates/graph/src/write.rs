//! Distances as comma-separated values, and as a matrix for NumPy.

use super::semiring::{on_device, value, words};
use super::{Length, Names, NextHops};
use gpulab_cpu::minplus::Semiring;
use gpulab_model::data::{Array, Dtype};
use gpulab_model::each_array;
use rayon::prelude::*;
use std::io::{self, Write};

/// Which pairs are written; the nodes in order of first appearance.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// Nodes where paths start.
    pub from: Vec<usize>,
    /// Nodes where they end.
    pub to: Vec<usize>,
}

impl Wanted {
    /// Pairs of different nodes.
    pub fn pairs(&self) -> u64 {
        let same = self.from.iter().filter(|from| self.to.binary_search(from).is_ok()).count();
        (self.from.len() * self.to.len() - same) as u64
    }

    /// The pairs between the nodes of these names; an empty list means all nodes.
    ///
    /// # Errors
    /// A name that no node has, with the nearest ones.
    pub fn new(names: &Names, from: &[String], to: &[String]) -> Result<Wanted, String> {
        let nodes = |wanted: &[String]| {
            if wanted.is_empty() {
                return Ok((0..names.len()).collect());
            }
            let mut nodes = wanted.iter().map(|name| names.find_all(name)).collect::<Result<Vec<_>, _>>()?.concat();
            nodes.sort_unstable();
            nodes.dedup();
            Ok::<_, String>(nodes)
        };
        Ok(Wanted { from: nodes(from)?, to: nodes(to)? })
    }
}

/// What is written.
pub struct Distances<'a> {
    /// The nodes.
    pub names: &'a Names,
    /// Rows of n distances: one for each of `rows`.
    pub distances: &'a Array,
    /// The nodes whose rows these are, in order.
    pub rows: &'a [usize],
    /// The next nodes on paths, for another column.
    pub next: Option<&'a NextHops>,
    /// The pairs.
    pub wanted: &'a Wanted,
    /// Digits behind the point that the weights have, as of [`super::EdgeList`].
    pub decimals: Option<usize>,
    /// What the paths are; distances are as [`super::least`] makes weights.
    pub semiring: Semiring,
}

impl Distances<'_> {
    /// Writes the columns `from,to,distance` and, with paths, `next`; a line for each pair of different nodes that has a
    /// path, by the first node and then by the second. Returns how many pairs there are.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, mut out: impl Write) -> io::Result<u64> {
        /// Pairs whose lines are in memory at once.
        const PAIRS: usize = 1 << 22;
        let next = if self.next.is_some() { ",next" } else { "" };
        writeln!(out, "from,to,{}{next}", words(self.semiring)[0])?;
        let names: Vec<Vec<u8>> = (0..self.names.len()).map(|node| cell(self.names.name(node))).collect();
        let mut written = 0;
        for from in self.wanted.from.chunks((PAIRS / self.wanted.to.len().max(1)).max(1)) {
            let lines = |from: &usize| each_array!(self.distances, d => self.lines(*from, d, &names));
            for (lines, count) in from.par_iter().map(lines).collect::<Vec<_>>() {
                out.write_all(&lines)?;
                written += count;
            }
        }
        out.flush()?;
        Ok(written)
    }

    /// Where a node's row begins.
    fn start(&self, from: usize) -> usize {
        self.rows.binary_search(&from).unwrap_or_default() * self.names.len()
    }

    /// The lines of the pairs from a node, and how many they are.
    fn lines<T: Length>(&self, from: usize, distances: &[T], names: &[Vec<u8>]) -> (Vec<u8>, u64) {
        let mut lines = Vec::new();
        let mut count = 0;
        let row = &distances[self.start(from)..];
        for &to in self.wanted.to.iter().filter(|&&to| to != from && row[to].is_some()) {
            let distance = value(self.semiring, row[to]).with_decimals(self.decimals);
            for part in [&names[from], &b","[..], &names[to], b",", distance.as_bytes()] {
                lines.extend_from_slice(part);
            }
            if let Some(hops) = self.next {
                lines.push(b',');
                lines.extend_from_slice(hops.next(from, to).map_or(&[], |next| &names[next]));
            }
            lines.push(b'\n');
            count += 1;
        }
        (lines, count)
    }

    /// Writes NumPy's `.npy`: a row for each node where paths start, a column for each where they end; without a path
    /// [`Length::NO_EDGE`], or what the semiring has for it. Returns how many pairs of different nodes have a path.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_npy(&self, mut out: impl Write) -> io::Result<u64> {
        let Wanted { from, to } = self.wanted;
        let kind = if matches!(self.distances.dtype(), Dtype::F32 | Dtype::F64) { 'f' } else { 'i' };
        let size = self.distances.dtype().size();
        let n = self.names.len();
        self.write_header(&mut out, &format!("{kind}{size}"))?;
        let values = on_device(self.semiring, self.distances);
        let row_of = |from: usize| &values.as_bytes()[self.start(from) * size..][..n * size];
        for &from in from {
            let row = row_of(from);
            match to.len() == n {
                true => out.write_all(row)?,
                false => to.iter().try_for_each(|to| out.write_all(&row[to * size..][..size]))?,
            }
        }
        out.flush()?;
        Ok(each_array!(self.distances, d => {
            from.par_iter().map(|&from: &usize| to.iter().filter(|&&to| to != from && d[self.start(from) + to].is_some()).count() as u64).sum()
        }))
    }

    /// Writes NumPy's `.npy` of the next nodes, in the rows and columns of [`Distances::write_npy`]: their numbers in the order
    /// of first appearance, from 0, and -1 where there is none.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_next_npy(&self, mut out: impl Write) -> io::Result<()> {
        let Wanted { from, to } = self.wanted;
        self.write_header(&mut out, "i4")?;
        for &from in from {
            let next = |&to: &usize| self.next.and_then(|hops| hops.next(from, to)).map_or(-1, |next| next as i32);
            let row: Vec<i32> = to.iter().map(next).collect();
            out.write_all(Array::I32(row).as_bytes())?;
        }
        out.flush()
    }

    /// The head of a `.npy` of this type; without the last comma that NumPy's own have, see [`is_written_npy`].
    fn write_header(&self, out: &mut impl Write, kind: &str) -> io::Result<()> {
        let shape = format!("({}, {})", self.wanted.from.len(), self.wanted.to.len());
        let header = format!("{{'descr': '<{kind}', 'fortran_order': False, 'shape': {shape}}}");
        // Magic, version and length take 10 bytes; a line's end is the last of a multiple of 64.
        let length = (header.len() + 11).next_multiple_of(64) - 10;
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(length as u16).to_le_bytes())?;
        writeln!(out, "{header:0$}", length - 1)
    }
}

/// Whether a file begins as a `.npy` that was written here.
pub fn is_written_npy(head: &str) -> bool {
    head.starts_with("\u{fffd}NUMPY") && head.contains(")}")
}

/// A name as a cell of a line.
fn cell(name: &str) -> Vec<u8> {
    let breaks = name.contains(['\n', '\r']);
    let style = if breaks { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary };
    let mut writer =
        csv::WriterBuilder::new().quote_style(style).terminator(csv::Terminator::Any(b',')).from_writer(Vec::new());
    // Writing to memory does not fail.
    let mut cell = writer.write_record([name]).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    cell.pop();
    cell
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(distances: Array, names: &[&str], wanted: impl Fn(&Names) -> Wanted) -> String {
        let mut known = Names::default();
        names.iter().for_each(|name| _ = known.number(name));
        let wanted = wanted(&known);
        let mut text = Vec::new();
        let rows: Vec<usize> = (0..known.len()).collect();
        Distances {
            names: &known,
            distances: &distances,
            rows: &rows,
            next: None,
            wanted: &wanted,
            decimals: None,
            semiring: Semiring::MinPlus,
        }
        .write(&mut text)
        .unwrap();
        String::from_utf8(text).unwrap()
    }

    fn all(names: &Names) -> Wanted {
        Wanted::new(names, &[], &[]).unwrap()
    }

    #[test]
    fn pairs_without_a_path_and_of_one_node_are_left_out() {
        let d = Array::F32(vec![0.0, 0.1, f32::INFINITY, 0.0]);
        assert_eq!(table(d, &["a,b", "say \"x\""], all), "from,to,distance\n\"a,b\",\"say \"\"x\"\"\",0.1\n");
        assert_eq!(table(Array::I32(vec![0]), &["é"], all), "from,to,distance\n");
    }

    #[test]
    fn numpy_reads_a_row_for_each_start() {
        let mut names = Names::default();
        ["a", "b", "c"].iter().for_each(|name| _ = names.number(name));
        let distances = Array::I32(vec![0, 1, 2, 3, 0, i32::NO_EDGE, 6, 7, 0]);
        let rows: Vec<usize> = (0..3).collect();
        let npy = |from: &[usize], to: &[usize]| {
            let wanted = Wanted { from: from.to_vec(), to: to.to_vec() };
            let table = Distances {
                names: &names,
                distances: &distances,
                rows: &rows,
                next: None,
                wanted: &wanted,
                decimals: None,
                semiring: Semiring::MinPlus,
            };
            let mut bytes = Vec::new();
            let pairs = table.write_npy(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes[10..128]).into_owned();
            assert!(bytes.starts_with(b"\x93NUMPY\x01\x00\x76\x00") && text.ends_with(" \n"), "{text:?}");
            (pairs, text.trim_end().to_owned(), bytes[128..].to_vec())
        };
        let (pairs, header, data) = npy(&[0, 1, 2], &[0, 1, 2]);
        assert_eq!((pairs, data.as_slice()), (5, distances.as_bytes()));
        assert_eq!(header, "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 3)}");
        let (pairs, header, data) = npy(&[1], &[0, 2]);
        assert_eq!((pairs, data.as_slice()), (1, Array::I32(vec![3, i32::NO_EDGE]).as_bytes()));
        assert!(header.contains("(1, 2)"));
    }

    #[test]
    fn rows_and_columns_are_chosen_in_the_files_order() {
        assert_eq!(
            table(Array::I32(vec![0, 1, 2, 0]), &["a", "b"], |names: &Names| Wanted::new(
                names,
                &["b".into(), "a".into(), "b".into()],
                &["a".into()]
            )
            .unwrap()),
            "from,to,distance\nb,a,2\n"
        );
    }

    #[test]
    fn distances_read_back_as_the_same_numbers() {
        for x in [0.1f32, 1e-30, 16_777_216.0, 3.0e37, -2.5, 1.0 / 3.0] {
            assert_eq!(x.text().parse(), Ok(x), "{x}");
        }
        for x in [0.1f64, 1e300, 5e-200, -0.3, 123_456_789.123_456_78] {
            assert_eq!(x.text().parse(), Ok(x), "{x}");
        }
        assert_eq!((2.0f32.text(), 1e30f64.text(), 7i32.text()), ("2".into(), "1e30".into(), "7".into()));
    }
}

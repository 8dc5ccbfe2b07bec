//! Distances as comma-separated values, and as a matrix for NumPy.

use super::{Graph, Length, Proof};
use gpulab_model::data::Array;
use gpulab_model::each_array;
use rayon::prelude::*;
use std::io::{self, Write};

/// What is written: the pairs from some nodes to some.
pub struct Distances<'a> {
    pub graph: &'a Graph,
    /// n x n of them, row after row.
    pub distances: &'a Array,
    /// The next nodes on paths, for another column.
    pub next: Option<&'a Proof>,
    /// Nodes where paths start, and where they end, in order.
    pub from: &'a [usize],
    pub to: &'a [usize],
}

impl Distances<'_> {
    /// How many pairs of different nodes are asked for, and how many of them have a path.
    pub fn pairs(&self) -> [usize; 2] {
        let n = self.graph.size();
        let pairs = || {
            self.from
                .par_iter()
                .flat_map_iter(|&i| self.to.iter().map(move |&j| (i, j)))
                .filter(|(i, j)| i != j)
        };
        [
            pairs().count(),
            each_array!(self.distances, d => pairs().filter(|(i, j)| d[i * n + j].is_some()).count()),
        ]
    }

    /// Writes the columns `from,to,distance` and, with paths, `next`; a line for each pair of different nodes that has a
    /// path, by the first node and then by the second.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        /// Pairs whose lines are in memory at once.
        const PAIRS: usize = 1 << 22;
        writeln!(
            out,
            "from,to,distance{}",
            if self.next.is_some() { ",next" } else { "" }
        )?;
        for rows in self.from.chunks((PAIRS / self.to.len().max(1)).max(1)) {
            let lines = rows
                .par_iter()
                .map(|&from| each_array!(self.distances, d => self.lines(from, d)));
            for lines in lines.collect::<io::Result<Vec<_>>>()? {
                out.write_all(&lines)?;
            }
        }
        out.flush()
    }

    /// The lines of the pairs from a node.
    fn lines<T: Length>(&self, from: usize, distances: &[T]) -> io::Result<Vec<u8>> {
        let names = self.graph.names.list();
        let row = &distances[from * names.len()..][..names.len()];
        let mut lines = csv::Writer::from_writer(Vec::new());
        for &to in self
            .to
            .iter()
            .filter(|&&to| to != from && row[to].is_some())
        {
            lines.write_field(&names[from])?;
            lines.write_field(&names[to])?;
            lines.write_field(row[to].with_decimals(self.graph.decimals))?;
            if let Some(proof) = self.next {
                lines.write_field(proof.next(from, to).map_or("", |next| &names[next]))?;
            }
            lines.write_record(None::<&[u8]>)?;
        }
        lines.into_inner().map_err(csv::IntoInnerError::into_error)
    }

    /// Writes NumPy's `.npy`: a row for each node where paths start, a column for each where they end; without a path
    /// [`Length::NO_EDGE`].
    ///
    /// # Errors
    /// What the writer says.
    pub fn write_npy(&self, out: &mut dyn Write) -> io::Result<()> {
        let dtype = self.distances.dtype();
        let size = dtype.size();
        let kind = if dtype.is_float() { 'f' } else { 'i' };
        let shape = format!("({}, {})", self.from.len(), self.to.len());
        let header =
            format!("{{'descr': '<{kind}{size}', 'fortran_order': False, 'shape': {shape}}}");
        // Magic, version and length take 10 bytes; a line's end is the last of a multiple of 64.
        let length = (header.len() + 11).next_multiple_of(64) - 10;
        out.write_all(b"\x93NUMPY\x01\x00")?;
        out.write_all(&(length as u16).to_le_bytes())?;
        writeln!(out, "{header:0$}", length - 1)?;
        let n = self.graph.size();
        for &from in self.from {
            let row = &self.distances.as_bytes()[from * n * size..][..n * size];
            match self.to.len() == n {
                true => out.write_all(row)?,
                false => self
                    .to
                    .iter()
                    .try_for_each(|to| out.write_all(&row[to * size..][..size]))?,
            }
        }
        out.flush()
    }
}

/// Whether a file begins as a `.npy` that was written here: without the last comma that NumPy's own have.
pub fn is_written_npy(head: &str) -> bool {
    head.starts_with("\u{fffd}NUMPY") && head.contains(")}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Names;

    fn graph(names: &[&str]) -> Graph {
        let mut known = Names::default();
        names.iter().for_each(|name| _ = known.number(name));
        Graph {
            names: known,
            weights: Array::I32(Vec::new()),
            decimals: None,
            notes: Vec::new(),
        }
    }

    #[test]
    fn pairs_without_a_path_and_of_one_node_are_left_out_and_names_are_quoted() {
        for (names, distances, from, want) in [
            (
                &["a,b", "say \"x\""][..],
                vec![0.0, 0.1, f32::INFINITY, 0.0],
                &[0, 1][..],
                "\"a,b\",\"say \"\"x\"\"\",0.1\n",
            ),
            (&["é"], vec![0.0], &[0], ""),
            (
                &["a", "two\nlines"],
                vec![0.0, 1.0, 2.0, 0.0],
                &[1],
                "\"two\nlines\",a,2\n",
            ),
        ] {
            let to: Vec<usize> = (0..names.len()).collect();
            let table = Distances {
                graph: &graph(names),
                distances: &Array::F32(distances),
                next: None,
                from,
                to: &to,
            };
            let mut text = Vec::new();
            table.write(&mut text).unwrap();
            assert_eq!(
                String::from_utf8(text).unwrap(),
                format!("from,to,distance\n{want}")
            );
        }
    }

    #[test]
    fn numpy_reads_a_row_for_each_start() {
        let distances = Array::I32(vec![0, 1, 2, 3, 0, i32::NO_EDGE, 6, 7, 0]);
        let npy = |from: &[usize], to: &[usize]| {
            let table = Distances {
                graph: &graph(&["a", "b", "c"]),
                distances: &distances,
                next: None,
                from,
                to,
            };
            let mut bytes = Vec::new();
            table.write_npy(&mut bytes).unwrap();
            let text = String::from_utf8_lossy(&bytes[10..128]).into_owned();
            assert!(
                bytes.starts_with(b"\x93NUMPY\x01\x00\x76\x00") && text.ends_with(" \n"),
                "{text:?}"
            );
            (
                table.pairs(),
                text.trim_end().to_owned(),
                bytes[128..].to_vec(),
            )
        };
        let (pairs, header, data) = npy(&[0, 1, 2], &[0, 1, 2]);
        assert_eq!((pairs, data.as_slice()), ([6, 5], distances.as_bytes()));
        assert_eq!(
            header,
            "{'descr': '<i4', 'fortran_order': False, 'shape': (3, 3)}"
        );
        let (pairs, header, data) = npy(&[1], &[0, 2]);
        assert_eq!(
            (pairs, data.as_slice()),
            ([2, 1], Array::I32(vec![3, i32::NO_EDGE]).as_bytes())
        );
        assert!(header.contains("(1, 2)"));
    }
}

//! Distances as comma-separated values.

use super::{Length, Names, NextHops};
use gpulab_model::data::Array;
use gpulab_model::each_array;
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
            let mut nodes: Vec<usize> = wanted.iter().map(|name| names.find(name)).collect::<Result<_, _>>()?;
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
    /// n x n distances, row after row.
    pub distances: &'a Array,
    /// The next nodes on paths, for another column.
    pub next: Option<&'a NextHops>,
    /// The pairs.
    pub wanted: &'a Wanted,
    /// Digits behind the point that the weights have, as of [`super::EdgeList`].
    pub decimals: Option<usize>,
}

impl Distances<'_> {
    /// Writes the columns `from,to,distance` and, with paths, `next`; a line for each pair of different nodes that has a
    /// path, by the first node and then by the second. Returns how many pairs there are.
    ///
    /// # Errors
    /// What the writer says.
    pub fn write(&self, out: impl Write) -> io::Result<u64> {
        const BUFFER: usize = 1 << 16;
        let mut csv = csv::WriterBuilder::new().buffer_capacity(BUFFER).from_writer(out);
        let written = each_array!(self.distances, d => self.rows(&mut csv, d));
        let written = written.map_err(|error| match error.into_kind() {
            // So that its kind is not lost: a closed pipe is no other error.
            csv::ErrorKind::Io(source) => source,
            other => io::Error::other(format!("{other:?}")),
        })?;
        csv.flush()?;
        Ok(written)
    }

    fn rows<T: Length>(&self, csv: &mut csv::Writer<impl Write>, distances: &[T]) -> csv::Result<u64> {
        let columns = ["from", "to", "distance", "next"];
        csv.write_record(&columns[..if self.next.is_some() { 4 } else { 3 }])?;
        let (n, mut written) = (self.names.len(), 0);
        for &from in &self.wanted.from {
            for &to in &self.wanted.to {
                let distance = distances[from * n + to];
                if from == to || !distance.is_some() {
                    continue;
                }
                csv.write_field(self.names.name(from))?;
                csv.write_field(self.names.name(to))?;
                csv.write_field(distance.with_decimals(self.decimals))?;
                if let Some(hops) = self.next {
                    csv.write_field(hops.next(from, to).map_or("", |next| self.names.name(next)))?;
                }
                csv.write_record(None::<&[u8]>)?;
                written += 1;
            }
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(distances: Array, names: &[&str], wanted: impl Fn(&Names) -> Wanted) -> String {
        let mut known = Names::default();
        names.iter().for_each(|name| _ = known.number(name));
        let (wanted, mut text) = (wanted(&known), Vec::new());
        Distances { names: &known, distances: &distances, next: None, wanted: &wanted, decimals: None }
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
    fn rows_and_columns_are_chosen_in_the_files_order() {
        let wanted = |names: &Names| Wanted::new(names, &["b".into(), "a".into(), "b".into()], &["a".into()]).unwrap();
        assert_eq!(table(Array::I32(vec![0, 1, 2, 0]), &["a", "b"], wanted), "from,to,distance\nb,a,2\n");
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

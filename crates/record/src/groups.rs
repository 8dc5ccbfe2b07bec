//! Records that belong together, and values without those that came before.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Records with the same key, in the order of their first ones.
pub fn groups<T: Clone, K: Eq + Hash>(records: &[T], key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    let mut places: HashMap<K, usize> = HashMap::new();
    for record in records {
        let place = *places.entry(key(record)).or_insert(groups.len());
        match groups.get_mut(place) {
            Some(group) => group.push(record.clone()),
            None => groups.push(vec![record.clone()]),
        }
    }
    groups
}

/// Each value once, in the order of their first ones.
pub fn distinct<T: Clone + Eq + Hash>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    values
        .into_iter()
        .filter(|value| seen.insert(value.clone()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static COMPARED: Cell<u64> = const { Cell::new(0) };
    }

    /// A value that counts how often it is compared.
    #[derive(Clone, Copy, Debug, Eq)]
    struct Counted(u64);

    impl Hash for Counted {
        fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
            self.0.hash(state);
        }
    }

    impl PartialEq for Counted {
        fn eq(&self, other: &Counted) -> bool {
            COMPARED.set(COMPARED.get() + 1);
            self.0 == other.0
        }
    }

    #[test]
    fn many_values_are_not_compared_with_each_other() {
        let values: Vec<Counted> = (0..1000).chain(0..1000).map(Counted).collect();
        let both = [
            distinct(values.iter().copied()).len(),
            groups(&values, |value| *value).len(),
        ];
        let compared = COMPARED.get();
        assert_eq!(both, [1000, 1000]);
        assert!(compared < 10_000, "{compared} comparisons");
    }
}

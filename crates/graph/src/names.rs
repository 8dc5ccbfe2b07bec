//! The nodes' names, and their numbers in order of first appearance.

use std::collections::HashMap;

/// Names of nodes, each with its number from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Names {
    /// The names `0`, `1`, ... of a matrix's rows, as NumPy counts.
    pub fn numbered(n: usize) -> Names {
        let mut names = Names::default();
        for i in 0..n {
            names.number(&i.to_string());
        }
        names
    }

    /// The names `1` to `n`, as most file formats count.
    pub fn counted(n: usize) -> Names {
        let mut names = Names::default();
        for i in 1..=n {
            names.number(&i.to_string());
        }
        names
    }

    /// The number of a name, which is the next free one if the name is new.
    pub fn number(&mut self, name: &str) -> usize {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.list.len();
        self.list.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The number of a name, if it has one.
    pub fn get(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The name of a number; empty for one that was never given.
    pub fn name(&self, number: usize) -> &str {
        self.list.get(number).map_or("", String::as_str)
    }

    /// The number of a name that someone typed.
    ///
    /// # Errors
    /// A sentence with the nearest names, if there is no such node.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        self.get(name.trim()).ok_or_else(|| {
            let near = self.near(name);
            let hint = if near.is_empty() { String::new() } else { format!("; did you mean {}?", near.join(", ")) };
            format!("there is no node {name:?} among the {}{hint}", self.len())
        })
    }

    /// The numbers of a name, or of several between commas, that someone typed.
    ///
    /// # Errors
    /// As [`Names::find`].
    pub fn find_all(&self, names: &str) -> Result<Vec<usize>, String> {
        let one = self.find(names);
        let several = || names.split(',').map(|name| self.find(name)).collect::<Result<Vec<usize>, String>>();
        match one {
            Err(why) if names.contains(',') => several().map_err(|_| why),
            one => one.map(|number| vec![number]),
        }
    }

    /// Up to three names that look like this one, the most similar first.
    fn near(&self, name: &str) -> Vec<String> {
        const ALIKE: f64 = 0.7;
        let wanted = name.to_lowercase();
        let similarity = |known: &String| {
            let known = known.to_lowercase();
            let part = if known.contains(&wanted) && !wanted.is_empty() { 1.0 } else { 0.0 };
            strsim::jaro_winkler(&wanted, &known).max(part)
        };
        let mut scored: Vec<(f64, &String)> = self.list.iter().map(|known| (similarity(known), known)).collect();
        scored.retain(|(score, _)| *score >= ALIKE);
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().take(3).map(|(_, known)| format!("{known:?}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_the_first_appearance() {
        let mut names = Names::default();
        assert_eq!(["b", "a", "b", "é, \"x\""].map(|name| names.number(name)), [0, 1, 0, 2]);
        assert_eq!((names.len(), names.name(2), names.name(9)), (3, "é, \"x\"", ""));
        assert_eq!(Names::numbered(3).find("2"), Ok(2));
    }

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        let mut names = Names::default();
        for name in ["Lisbon", "Paris", "Prague", "San Marino"] {
            names.number(name);
        }
        assert!(names.find("lisbon").unwrap_err().ends_with("did you mean \"Lisbon\"?"));
        assert!(names.find("Pariss").unwrap_err().contains("did you mean \"Paris\""));
        assert!(names.find("marino").unwrap_err().contains("San Marino"));
        assert!(!names.find("Xyzzy").unwrap_err().contains("did you mean"));
        assert!(names.find("").is_err());
        assert_eq!(names.find(" Paris "), Ok(1));
        names.number("Lisbon,Paris");
        assert_eq!((names.find_all("Paris, Prague"), names.find_all("Lisbon,Paris")), (Ok(vec![1, 2]), Ok(vec![4])));
        assert!(names.find_all("Paris,Xyzzy").unwrap_err().contains("no node \"Paris,Xyzzy\""));
    }
}

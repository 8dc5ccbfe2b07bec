//! How many of the settings that a reader's file spans are left on a device.

use gpulab_model::plan::Refusal;
use std::collections::BTreeMap;

/// What the settings of a rung came to, before anything was built.
#[derive(Clone, Debug, Default)]
pub struct Narrowing {
    /// Settings that can run.
    left: usize,
    /// How many each condition of the file excludes.
    excluded: BTreeMap<String, usize>,
    /// How many the device is too small for, and why it is for the first of them.
    unfit: (usize, String),
}

impl Narrowing {
    /// Takes a setting in: whether it is none that a search or a sweep has to come to.
    pub fn drops(&mut self, refusal: Option<&Refusal>) -> bool {
        match refusal {
            None => self.left += 1,
            Some(Refusal::Excluded(condition)) => *self.excluded.entry(condition.clone()).or_default() += 1,
            Some(why @ (Refusal::Group(_) | Refusal::Memory(_))) => {
                if self.unfit.0 == 0 {
                    self.unfit.1 = why.to_string();
                }
                self.unfit.0 += 1;
            }
            Some(_) => return false,
        }
        refusal.is_some()
    }

    /// How many of how many are left; nothing where all are.
    pub fn text(&self) -> Option<String> {
        let excluded: usize = self.excluded.values().sum();
        let left = self.left;
        let unfit = self.unfit.0;
        let met = left + unfit;
        let whole = left + unfit + excluded;
        let each = |(condition, count): (&String, &usize)| format!("{condition:?} excludes {count}");
        let conditions: Vec<String> = self.excluded.iter().map(each).collect();
        Some(match (excluded, unfit, left) {
            (0, 0, _) => return None,
            (_, 0, 0) => format!("none of {whole} settings meets `where`: {}", conditions.join(", ")),
            (0, _, 0) => format!("none of {whole} settings fits this device: {}", self.unfit.1),
            (_, _, 0) => {
                format!("{met} of {whole} settings meet `where`, and none of them fits this device: {}", self.unfit.1)
            }
            (_, 0, _) => format!("{met} of {whole} settings meet `where`"),
            (0, ..) => format!("{left} of {whole} settings fit this device"),
            _ => format!("{met} of {whole} settings meet `where`, and {left} of them fit this device"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_told_with_the_conditions_that_leave_nothing() {
        let text = |left: usize, excluded: &[&str], unfit: usize| {
            let mut narrowing = Narrowing::default();
            (0..left).for_each(|_| assert!(!narrowing.drops(None)));
            excluded.iter().for_each(|text| assert!(narrowing.drops(Some(&Refusal::Excluded((*text).into())))));
            (0..unfit).for_each(|_| assert!(narrowing.drops(Some(&Refusal::Group("too large".into())))));
            assert!(!narrowing.drops(Some(&Refusal::Size("9 rows".into()))), "a row says why");
            narrowing.text()
        };
        assert_eq!(text(3, &[], 0), None);
        assert_eq!(text(3, &["a == 1", "b < 2"], 0).unwrap(), "3 of 5 settings meet `where`");
        assert_eq!(text(3, &[], 1).unwrap(), "3 of 4 settings fit this device");
        assert_eq!(text(3, &["a == 1"], 1).unwrap(), "4 of 5 settings meet `where`, and 3 of them fit this device");
        let none = text(0, &["b < 2", "a == 1", "b < 2"], 0).unwrap();
        assert_eq!(none, "none of 3 settings meets `where`: \"a == 1\" excludes 1, \"b < 2\" excludes 2");
        assert_eq!(text(0, &[], 2).unwrap(), "none of 2 settings fits this device: too large");
        assert!(text(0, &["a == 1"], 2).unwrap().starts_with("2 of 3 settings meet `where`, and none of them fits"));
    }
}

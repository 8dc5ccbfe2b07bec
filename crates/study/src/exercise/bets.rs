//! What a reader bet on the steps of ladders, before they were measured.

use super::progress::{load_file, save_file};
use gpulab_model::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

const FILE: &str = "bets.json";

/// A factor between bet and measurement up to which the bet counts as near.
pub const NEAR_BET: f64 = 1.5;

/// Times by which a step would make a kernel faster: as bet, and as measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepBet {
    pub family: String,
    /// The ideas of both rungs.
    pub from: String,
    pub to: String,
    pub device: String,
    pub bet: f64,
    pub measured: f64,
    /// Whether the run cannot tell the measured factor from 1: then there is nothing to be right about.
    #[serde(default)]
    pub is_undecided: bool,
}

impl StepBet {
    /// The larger of both over the smaller.
    pub fn factor(&self) -> f64 {
        (self.bet / self.measured).max(self.measured / self.bet)
    }

    pub fn is_near(&self) -> bool {
        self.factor() <= NEAR_BET
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bets(pub Vec<StepBet>);

impl Bets {
    /// Those that are kept below `folder`; none, and why, if they cannot be read. A damaged file is put aside.
    pub fn load(folder: &Path) -> (Bets, Option<String>) {
        load_file(&folder.join(FILE), "bets")
    }

    pub fn save(&self, folder: &Path) -> Result<(), Error> {
        save_file(self, &folder.join(FILE), "bets")
    }

    /// Those that were made before the step's factor was seen: the first on each step, of those that were decided.
    pub fn scored(&self) -> Vec<&StepBet> {
        let mut seen = BTreeSet::new();
        self.0.iter().filter(|bet| !bet.is_undecided && seen.insert((&bet.family, &bet.to))).collect()
    }

    pub fn has(&self, family: &str, to: &str) -> bool {
        self.0.iter().any(|bet| (bet.family.as_str(), bet.to.as_str()) == (family, to))
    }
}

/// A bet as it is written: `2.5`, or `2.5x`; below 1 for a step that makes it slower.
pub fn parse_bet(text: &str) -> Result<f64, String> {
    let bet = text.trim().trim_end_matches(['x', 'X']).trim().parse::<f64>().ok();
    bet.filter(|bet| (1e-6..=1e6).contains(bet)).ok_or_else(|| {
        let text: String = text.trim().chars().take(40).collect();
        format!("{text:?} is no factor: write how many times faster, as in 2.5, or 0.8 if it gets slower")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bet_on_a_step_counts() {
        let bet = |family: &str, to: &str, bet| StepBet {
            family: family.into(),
            from: "naive".into(),
            to: to.into(),
            device: "GPU".into(),
            bet,
            measured: 2.0,
            is_undecided: false,
        };
        let undecided = StepBet { is_undecided: true, ..bet("minplus", "local", 7.0) };
        let all = [undecided, bet("dot", "local", 9.0), bet("dot", "local", 2.0), bet("reduce", "local", 2.0)];
        let bets = Bets(all.to_vec());
        assert_eq!(bets.scored().iter().map(|bet| bet.bet).collect::<Vec<_>>(), [9.0, 2.0]);
    }

    #[test]
    fn bets_are_factors_above_0() {
        assert_eq!([parse_bet("2.5"), parse_bet(" 2x\n"), parse_bet("0.5")], [Ok(2.5), Ok(2.0), Ok(0.5)]);
        for wrong in ["", "x", "0", "-2", "nan", "inf", "1e99", "two", "2,5", "2 3"] {
            assert!(parse_bet(wrong).unwrap_err().contains("as in 2.5"), "{wrong}");
        }
    }
}

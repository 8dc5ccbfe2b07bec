//! What comparisons take of a row: a file may hold a million, and a whole row takes many times as much room.

use crate::{Row, params_text};
use gpulab_model::data::Dtype;
use gpulab_model::outcome::{Cache, Clock, Status};
use gpulab_model::plan::WorkGroup;
use std::collections::HashSet;
use std::sync::Arc;

/// A case in a run of the program; what its fields mean, [`Row`] tells.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseRun {
    pub run_id: Arc<str>,
    pub time_utc: Arc<str>,
    pub platform: Arc<str>,
    pub device: Arc<str>,
    pub family: Arc<str>,
    pub rung: Option<u32>,
    pub variant: Arc<str>,
    pub dtype: Dtype,
    pub n: u64,
    pub m: u64,
    pub wg: Option<WorkGroup>,
    /// As files have them.
    pub params: Arc<str>,
    pub cache: Cache,
    pub clock: Clock,
    pub status: Status,
    pub runs: u64,
    pub t_median_s: Option<f64>,
    /// The times' inter-quartile range over their median.
    pub spread: Option<f64>,
    pub t_case_s: Option<f64>,
    pub is_tuned: bool,
    pub is_plain: bool,
    pub drift: f64,
}

impl CaseRun {
    pub fn wg_text(&self) -> String {
        self.wg.map_or_else(String::new, |wg| wg.to_string())
    }
}

impl From<&Row> for CaseRun {
    fn from(row: &Row) -> CaseRun {
        SharedTexts::default().run(row)
    }
}

/// The texts of runs, each in memory once.
#[derive(Default)]
pub struct SharedTexts(HashSet<Arc<str>>);

impl SharedTexts {
    pub fn run(&mut self, row: &Row) -> CaseRun {
        CaseRun {
            run_id: self.text(&row.run_id),
            time_utc: self.text(&row.time_utc),
            platform: self.text(&row.platform),
            device: self.text(&row.device),
            family: self.text(&row.family),
            rung: row.rung,
            variant: self.text(&row.variant),
            dtype: row.dtype,
            n: row.n,
            m: row.m,
            wg: row.wg,
            params: self.text(&params_text(&row.params)),
            cache: row.cache,
            clock: row.clock,
            status: row.status,
            runs: row.runs,
            t_median_s: row.t_median_s,
            spread: row.t_q1_s.zip(row.t_q3_s).zip(row.t_median_s).map(|((q1, q3), median)| (q3 - q1) / median),
            t_case_s: row.t_case_s,
            is_tuned: row.is_tuned(),
            is_plain: row.is_plain(),
            drift: row.drift(),
        }
    }

    pub fn text(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return known.clone();
        }
        let new: Arc<str> = text.into();
        self.0.insert(new.clone());
        new
    }
}

/// What comparisons take of these rows.
pub fn runs<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Vec<CaseRun> {
    let mut texts = SharedTexts::default();
    rows.into_iter().map(|row| texts.run(row)).collect()
}

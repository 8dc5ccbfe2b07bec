//! What is told of a row of a sweep: there may be a million, and a whole row takes many times as much room.

use crate::cell::Value;
use crate::columns::of_limit;
use crate::rungs::{limit, rate};
use gpulab_record::compare::{CaseRun, SharedTexts};
use gpulab_record::{Flags, Row};
use std::ops::Deref;
use std::sync::Arc;

#[derive(Clone)]
pub struct Swept {
    run: CaseRun,
    pub(super) sweep_id: Arc<str>,
    pub(super) case_index: Option<u64>,
    pub(super) reason: Arc<str>,
    pub(super) flags: Flags,
    pub(super) is_believed: bool,
    /// How often the kernel repeats its work inside, where it does.
    pub(super) repeats: Option<f64>,
    /// The limit that it was held against, by name.
    pub(super) limit: Option<(Arc<str>, (&'static str, f64))>,
    pub(super) rate: (&'static str, Option<f64>),
    pub(super) of_limit: Option<Value>,
}

impl Deref for Swept {
    type Target = CaseRun;

    fn deref(&self) -> &CaseRun {
        &self.run
    }
}

impl Swept {
    pub fn new(row: &Row, texts: &mut SharedTexts) -> Swept {
        Swept {
            run: texts.run(row),
            sweep_id: texts.text(&row.sweep_id),
            case_index: row.case_index,
            reason: texts.text(&row.reason),
            flags: row.flags,
            is_believed: row.is_believed(),
            repeats: row.repeats().map(|count| count.parse().unwrap_or(1.0)),
            limit: limit(row).map(|limit| (texts.text(&row.ceiling), limit)),
            rate: rate(row),
            of_limit: of_limit(row),
        }
    }
}

pub fn swept(rows: &[Row]) -> Vec<Swept> {
    let mut texts = SharedTexts::default();
    rows.iter().map(|row| Swept::new(row, &mut texts)).collect()
}

//! What recorded points of an experiment mean: its question, and the finding that follows from them.

use crate::groups::number_key;
use gpulab_record::Point;
use gpulab_study::experiments::experiment;
use std::collections::HashMap;

/// Points of one run from which findings are drawn at most, several times as many as any experiment has: findings look for points
/// among all.
const MOST: usize = 2000;

pub struct PointStudy<'a> {
    labels: HashMap<u64, &'a str>,
    pub question: &'static str,
    pub finding: String,
    own_label: fn(f64) -> String,
}

impl<'a> PointStudy<'a> {
    pub fn of(points: &'a [Point]) -> PointStudy<'a> {
        let mut labels = HashMap::new();
        for point in points {
            labels.entry(number_key(point.x)).or_insert(point.x_label.as_str());
        }
        let name = points.first().map_or("", |point| point.experiment.as_str());
        match experiment(name) {
            Some(known) if points.len() > MOST => {
                let finding = format!("these are {} points, more than an experiment has: no finding", points.len());
                PointStudy { labels, question: known.question, finding, own_label: known.x_label }
            }
            Some(known) => {
                let finding = known.finding(points);
                PointStudy { labels, question: known.question, finding, own_label: known.x_label }
            }
            None => {
                let finding = format!("this gpulab has no experiment {name}, so its points give no finding");
                PointStudy { labels, question: "", finding, own_label: |x| x.to_string() }
            }
        }
    }

    /// How reports name a value of what is varied: as it was recorded, or as the experiment names it.
    pub fn label(&self, x: f64) -> String {
        let recorded = self.labels.get(&number_key(x)).filter(|label| !label.is_empty());
        recorded.map_or_else(|| (self.own_label)(x), |label| (*label).to_owned())
    }
}

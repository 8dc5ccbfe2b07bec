//! What of a search is remembered: the best configuration of each rung, and of all rungs where all were tuned.

use super::search::Tuning;
use crate::prelude::*;
use crate::report::sweep::wrapped;
use crate::sweep::Configuration;
use crate::tune::{
    SizeClass, TunedEntry, TunedFile, TuningMemory, choices, fastest, is_faster, least_of, source_hash, time_of,
};

impl<'a> Tuning<'a> {
    /// Remembers what was found, and says for what.
    pub(crate) fn remember(&self, global: &Global) -> Result<(), Error> {
        let entries = self.entries()?;
        if entries.is_empty() {
            if !self.undecided().is_empty() {
                global.note("nothing is remembered: nothing is shown to be faster than its rung's default");
            }
            return Ok(());
        }
        let device = TunedFile::empty(self.executor.info());
        let memory = TuningMemory::open()?;
        memory.add(&device, &entries)?.iter().for_each(|why| note(why));
        if !global.quiet {
            let size = SizeClass::of(self.asked.shape).text(self.asked.family.form);
            let name = &self.asked.family.name;
            let user = self.asked.file.as_ref().map_or_else(|| name.to_string(), |file| format!("ladder {file}"));
            let text = format!(
                "remembered for {name} {}, {}, {size}: gpulab {user} uses it, unless --no-tuned is given",
                entries
                    .iter()
                    .map(|entry: &TunedEntry| {
                        let same = if entry.default_x == Some(1.0) { " (its default)" } else { "" };
                        format!("{}{same}", entry.rung.as_deref().unwrap_or("the best rung"))
                    })
                    .joined(", "),
                self.asked.dtype,
            );
            say(&wrapped(&text, Screen::stderr()));
        }
        Ok(())
    }

    /// Of each rung that was searched, and of all rungs where all were, what is to be remembered.
    pub(crate) fn entries(&self) -> Result<Vec<TunedEntry>, Error> {
        let rows = self.rows.latest();
        let mut entries = Vec::new();
        let is_lasting = |rung: &Rung| self.asked.family.described().is_some() || !rung.is_own();
        // A reader's single kernel may be another one tomorrow.
        for rung in self.space.rungs.iter().filter(|rung| is_lasting(rung)) {
            let own: Vec<Row> = rows.iter().filter(|row| row.variant == rung.variant()).cloned().collect();
            // Of one configuration nothing is known to be best, unless there is no other.
            let has_others = self.space.candidates.iter().filter(|c| c.case.variant == rung.variant()).count() > 1;
            if own.len() > 1 || !has_others {
                entries.extend(self.entry(Some(rung), &own)?);
            }
        }
        let is_tried = |rung: &&Rung| rows.iter().any(|row| row.variant == rung.variant());
        let is_whole = self.asked.rungs.iter().all(|rung| is_lasting(rung))
            && self.asked.rungs.len() == self.asked.family.ladder.len()
            && self.space.rungs.iter().all(is_tried);
        let any = if is_whole { self.entry(None, &rows)? } else { None };
        Ok(entries.into_iter().chain(any).collect())
    }

    fn entry(&self, rung: Option<&Rung>, rows: &[Row]) -> Result<Option<TunedEntry>, Error> {
        let Some((best, default)) = self.winner(rows) else { return Ok(None) };
        let configuration = &self.space.candidates[best.case_index.unwrap_or_default() as usize];
        let family = self.asked.family;
        let (Some(own), Some(seconds)) = (family.rung(&best.variant), time_of(best)) else { return Ok(None) };
        let target = &self.executor.info().target;
        let Ok(plan) = family.plan(own, &configuration.case, target) else { return Ok(None) };
        let rungs = rung.map_or_else(|| family.ladder.iter().collect(), |rung| vec![rung]);
        let sources = Sources { dir: self.options.kernels.cl_dir.clone() };
        let params: Params = configuration.case.params.clone();
        let is_choice = |name: &str| family.choices.iter().any(|choice| choice.name == name);
        Ok(Some(TunedEntry {
            source: source_hash(&rungs, &sources)?,
            family: family.name.to_string(),
            file: self.asked.file.clone(),
            rung: rung.map(|rung| rung.variant().to_owned()),
            dtype: self.asked.dtype,
            choices: choices(family, &plan),
            size: SizeClass::of(self.asked.shape),
            variant: best.variant.clone(),
            wg: configuration.case.wg,
            ran_wg: Some(configuration.wg),
            params: params.into_iter().filter(|(name, _)| !is_choice(name)).collect(),
            n: self.asked.shape.n,
            m: self.asked.shape.m,
            t_median_s: seconds,
            ceiling_pct: best.ceiling_pct,
            default_x: default.and_then(least_of).zip(least_of(best)).map(|(default, best)| default / best),
            tried: rows.len(),
            time_utc: self.scene.run.time_utc.clone(),
            gpulab: env!("CARGO_PKG_VERSION").into(),
        }))
    }

    /// The fastest row, and that of its rung's default; none where it is undecided whether it is faster than that.
    pub(super) fn winner<'r>(&self, rows: &'r [Row]) -> Option<(&'r Row, Option<&'r Row>)> {
        self.rivals(rows).filter(|(best, default)| !is_undecided(best, *default))
    }

    fn rivals<'r>(&self, rows: impl IntoIterator<Item = &'r Row> + Clone) -> Option<(&'r Row, Option<&'r Row>)> {
        let best = fastest(rows.clone())?;
        let index = self.space.default_of(&best.variant).map(|default| default.index);
        let default = rows.into_iter().find(|row| row.case_index == index && time_of(row).is_some());
        Some((best, default))
    }

    /// Of the rungs of which it is undecided, the best configuration and the default.
    pub(super) fn undecided(&self) -> Vec<&'a Configuration> {
        let rows = self.rows.latest();
        let space = self.space;
        let open = space
            .rungs
            .iter()
            .filter_map(|rung: &&Rung| self.rivals(rows.iter().filter(|row| row.variant == rung.variant())))
            .filter(|(best, default)| is_undecided(best, *default));
        let rivals = open.flat_map(|(best, default)| [Some(best), default]).flatten();
        rivals.filter_map(|row| space.candidates.get(row.case_index? as usize)).collect()
    }
}

fn is_undecided(best: &Row, default: Option<&Row>) -> bool {
    default.is_some_and(|default| default.case_index != best.case_index && !is_faster(best, default))
}

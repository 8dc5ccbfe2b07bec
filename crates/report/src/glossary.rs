//! What the columns of ladders' tables mean.

use crate::columns::{BESIDE, COLUMNS};
use crate::prelude::*;
use gpulab_kernels::FAMILIES;

/// The columns of a ladder's table and what stands beside them, one an entry, in lines of a terminal's width; then in which
/// order they go where there is no room for all.
pub fn explained(width: usize) -> String {
    let [rung, rest @ ..] = BESIDE;
    let named = COLUMNS.iter().map(|column| (column.name(), column.about, column.drop));
    let beside = |(name, about, drop): (&str, &'static str, u8)| (name.to_owned(), about, drop);
    let mut all: Vec<(String, &str, u8)> = [beside(rung)].into_iter().chain(named).collect();
    all.extend(rest.map(beside));
    let longest = all.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
    let entry = |(name, about, _): &(String, &str, u8)| hung(about, &format!("{name:<longest$}  "), width);
    let entries: String = all.iter().map(entry).collect();
    let mut dropped: Vec<&(String, &str, u8)> = all.iter().filter(|(.., drop)| *drop > 0).collect();
    dropped.sort_by_key(|(.., drop)| std::cmp::Reverse(*drop));
    dropped.dedup_by_key(|(.., drop)| *drop);
    let names: Vec<&str> = dropped.iter().map(|(name, ..)| name.as_str()).collect();
    let order = format!("Where the table is too wide, columns go in this order: {}.", names.join(", "));
    let baselines = "Below the rungs stand the CPU's programs, which solve the same problem without OpenCL:";
    let files = "`gpulab help columns` explains the columns of files.";
    format!(
        "{entries}\n{}{}\n{}{}",
        wrapped(baselines, "", "", width),
        explained_baselines(width),
        wrapped(&order, "", "", width),
        wrapped(files, "", "", width)
    )
}

/// The CPU's rows of each family, one an entry; those that several families say alike once.
fn explained_baselines(width: usize) -> String {
    let mut all: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for (family, baseline) in FAMILIES.iter().flat_map(|f| f.problem.baselines().iter().map(move |b| (&*f.name, b))) {
        match all.iter_mut().find(|(name, about, _)| (*name, *about) == (baseline.name, baseline.about)) {
            Some((.., families)) => families.push(family),
            None => all.push((baseline.name, baseline.about, vec![family])),
        }
    }
    all.sort_by_key(|(name, ..)| *name);
    let longest = all.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    all.iter()
        .map(|(name, about, families): &(&str, &str, Vec<&str>)| {
            hung(&format!("{about} ({})", families.join(", ")), &format!("{name:<longest$}  "), width)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_explained_within_the_width() {
        let text = explained(80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for column in COLUMNS {
            assert!(text.contains(&format!("\n{} ", column.name())), "{}: {text}", column.name());
        }
        for baseline in FAMILIES.iter().flat_map(|family| family.problem.baselines()) {
            assert!(text.contains(&format!("\n{} ", baseline.name)), "{}: {text}", baseline.name);
        }
        assert!(text.starts_with("rung ") && text.contains("\nverdict "), "{text}");
    }
}

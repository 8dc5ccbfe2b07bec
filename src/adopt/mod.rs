//! Readers' own kernels and families: their files, read into a registry.

pub(crate) mod cited;
pub(crate) mod described;
pub(crate) mod exercises;
mod includes;
pub(crate) mod own;
mod raw_strings;

pub(crate) use includes::asks;

use crate::prelude::*;

/// The family that a command works with, and a registry that has it with what the reader brought.
pub(crate) struct Brought {
    pub(crate) registry: Registry,
    pub(crate) family: Family,
    /// The reader's own kernel, which the family has.
    pub(crate) own: Option<Rung>,
}

/// What a command names, and what stands behind its colon: `reduce:3`, `mine/family.toml:tiled`, `my.cl:kernel`.
pub(crate) fn parted(what: &str) -> (&str, Option<&str>) {
    match what.rsplit_once(':') {
        Some((name, part)) if !Path::new(what).exists() => (name, Some(part)),
        _ => (what, None),
    }
}

impl Brought {
    /// What a command names: a family and a list of its rungs, a reader's kernel and the family whose problem it solves, or an
    /// exercise's.
    pub(crate) fn of(what: &str, solves: Option<&str>) -> Result<(Brought, Option<String>), Error> {
        let (name, part) = parted(what);
        if let (None, Some(exercise), true) = (solves, part, exercises::is_kind(name)) {
            let (registry, family) = exercises::adopt(name, exercise)?;
            let own = family.ladder.last().cloned();
            return Ok((Brought { registry, family, own }, None));
        }
        if let Some(family) = solves {
            let lines: Vec<String> = part.map(|kernel| format!("kernel {kernel}")).into_iter().collect();
            return Ok((Brought::with_lines(family, Path::new(name), &lines)?, None));
        }
        if name.ends_with(".cl") {
            let why = format!("{name}: name the family whose problem it solves, as in --as reduce");
            return Err(Error::Usage(why));
        }
        Ok((Brought::new(name, None)?, part.map(str::to_owned)))
    }

    /// One of gpulab's families, or a reader's by its file; with the kernel of a file.
    pub(crate) fn new(name: &str, own: Option<&Path>) -> Result<Brought, Error> {
        let mut registry = Registry::default();
        let mut family = described::named(&mut registry, name)?.clone();
        let mut rung = None;
        if let Some(path) = own {
            family = own::adopt(&mut registry, path, &family)?.clone();
            rung = family.ladder.last().cloned();
        }
        Ok(Brought { registry, family, own: rung })
    }

    /// As [`Brought::new`], with a kernel of which these lines are declared besides.
    pub(crate) fn with_lines(name: &str, path: &Path, lines: &[String]) -> Result<Brought, Error> {
        let mut registry = Registry::default();
        let family = described::named(&mut registry, name)?.clone();
        let family = own::adopt_with(&mut registry, path, &family, lines)?.clone();
        let rung = family.ladder.last().cloned();
        Ok(Brought { registry, family, own: rung })
    }

    /// The one rung that is meant, of a ladder without a list its first; or the reader's kernel.
    pub(crate) fn rung(&self, what: &str, list: Option<&str>) -> Result<&Rung, Error> {
        if let Some(own) = &self.own {
            return Ok(own);
        }
        match values::variants(&self.family, list.unwrap_or("1")).map_err(Error::Usage)?[..] {
            [rung] => Ok(rung),
            _ => Err(Error::Usage(format!("{what}: name one rung, as in {}:1", parted(what).0))),
        }
    }

    /// The rungs that a list names, or all of the ladder; with the reader's kernel, which without a list is alone.
    pub(crate) fn rungs(&self, list: Option<&str>) -> Result<Vec<&Rung>, Error> {
        let mut rungs = match (list, &self.own) {
            (Some(list), _) => values::variants(&self.family, list).map_err(Error::Usage)?,
            (None, Some(_)) => Vec::new(),
            (None, None) => self.family.ladder.iter().collect(),
        };
        if let Some(own) = self.own.as_ref().filter(|own| rungs.iter().all(|rung| rung.path != own.path)) {
            rungs.push(own);
        }
        Ok(rungs)
    }
}

//! Readers' own kernels and families: their files, read into a registry.

pub(crate) mod described;
mod includes;
pub(crate) mod own;

use crate::kernels::{Family, Registry, Rung};
use crate::{Error, values};
use std::path::Path;

/// The family that a command works with, and a registry that has it with what the reader brought.
pub(crate) struct Brought {
    pub(crate) registry: Registry,
    pub(crate) family: Family,
    /// The reader's own kernel, which the family has.
    pub(crate) own: Option<Rung>,
}

impl Brought {
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

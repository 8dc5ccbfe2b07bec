//! What a team works for: the results that are right, and the file in which its members' parts of one meet.

use crate::runner::verdict::judge_real;
use crate::runner::{JOINING, Portion, PortionPlace, drawn_reference};
use gpulab_kernels::{Family, Form};
use gpulab_model::Error;
use gpulab_model::data::Array;
use gpulab_model::outcome::{Judged, Stop};
use gpulab_model::plan::{Case, Reference};
use gpulab_system::files::ScratchFolder;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;

pub struct Goal<'a> {
    pub(super) family: &'a Family,
    /// The whole.
    pub(super) case: Case,
    real: Reference,
    /// What is right over data whose result is exact, where those of the case may be rounded.
    exact: Option<Reference>,
    folder: ScratchFolder,
}

impl<'a> Goal<'a> {
    /// Works out on the CPU what is right for a case; `files` take the place of its random data.
    pub fn new(family: &'a Family, case: &Case, files: Option<&[Array]>) -> Result<Goal<'a>, Error> {
        let folder = ScratchFolder::new().map_err(|error| {
            Error::Failed(format!("no folder for results in {}: {error}", std::env::temp_dir().display()))
        })?;
        let real = match files {
            Some(files) => family.problem.reference(case, files),
            None => drawn_reference(family, case, false),
        };
        let is_exact = family.problem.fold().is_none() || case.shape.elements() == 0;
        let exact = (!is_exact).then(|| drawn_reference(family, case, true));
        Ok(Goal { family, case: case.clone(), real, exact, folder })
    }

    /// Whether a result over exact data is to be judged, too.
    pub(super) fn has_exact(&self) -> bool {
        self.exact.is_some()
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("result")
    }

    /// Elements of a portion's result, and the first one's place among those of all; `index` is the member's.
    fn place_of(&self, index: usize, portion: Portion) -> (u64, u64) {
        match self.family.form {
            Form::Vector => (index as u64, 1),
            Form::Matrix | Form::Square => (portion.from * self.case.shape.n, portion.len * self.case.shape.n),
        }
    }

    /// Where the result of this member's portion goes.
    pub(super) fn place(&self, index: usize, portion: Portion) -> PortionPlace {
        let (first, _) = self.place_of(index, portion);
        PortionPlace { path: self.path(), at: first * self.case.dtype.size() as u64 }
    }

    /// Empties the file: what a member does not write is not there.
    pub(super) fn begin(&self) -> Result<(), Stop> {
        File::create(self.path()).map(drop).map_err(|error| self.failed(&error))
    }

    /// Makes one result of the members' own.
    pub(super) fn join(&self, portions: &[Portion]) -> Result<Array, Stop> {
        let parts = portions.iter().enumerate().map(|(index, portion)| self.place_of(index, *portion).1);
        let mut joined = Array::zeros(self.case.dtype, parts.sum::<u64>() as usize);
        let mut read = || File::open(self.path())?.read_exact(joined.as_bytes_mut());
        read().map_err(|error| self.failed(&error))?;
        Ok(self.family.problem.finish(&self.case, joined, &[]))
    }

    /// Compares a joined result with what is right; `depth` is how often a term was rounded by a member.
    pub(super) fn judge(&self, joined: &Array, exact: bool, depth: u64, when: &str) -> Result<Judged, Stop> {
        let right = if exact { self.exact.as_ref() } else { Some(&self.real) };
        let Some(right) = right else { return Err(Stop::failed("there is no reference")) };
        judge_real(joined, right, depth + JOINING, when)
    }

    fn failed(&self, error: &io::Error) -> Stop {
        Stop::failed(format!("the joined result, {}: {error}", self.path().display()))
    }
}

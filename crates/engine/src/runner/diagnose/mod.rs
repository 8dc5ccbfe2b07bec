//! What a wrong kernel does, found out by running it over data of our choice at small sizes.
//!
//! Facts only, and no arrays: a worker finds them out, and whoever asked it says in words what they mean.

mod matrices;
mod probe;
mod vectors;

use super::session::Session;
use gpulab_kernels::Form;
use gpulab_model::outcome::{Stop, Symptoms};
use gpulab_model::plan::Case;

impl Session {
    /// Looks at what a kernel does wrong. The case's own size does not matter: small ones are chosen.
    pub fn diagnose(&mut self, case: &Case) -> Result<Symptoms, Stop> {
        let registry = self.registry.clone();
        let family = registry.find(&case.family)?;
        match family.form {
            Form::Vector => vectors::diagnose(self, family, case),
            Form::Matrix | Form::Square => matrices::diagnose(self, family, case),
        }
    }
}

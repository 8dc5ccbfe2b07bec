//! What a worker is asked that shares a case's work with others. That it ends or hangs is an answer: others do its portion.

use super::process::{Lost, WorkerProcess, held};
use super::{Reply, Request};
use crate::runner::{PortionFacts, PortionPlace, PortionRun, PortionTimes, PortionWork};
use gpulab_model::Error;
use gpulab_model::outcome::{Status, Stop};

impl WorkerProcess {
    pub fn hold_portion(&mut self, work: &PortionWork) -> Result<Result<PortionFacts, Stop>, Error> {
        self.ask_for_portion(&Request::HoldPortion(Box::new(work.clone())), held!(*PortionHeld))
    }

    pub fn run_portion(&mut self, run: &PortionRun) -> Result<Result<PortionTimes, Stop>, Error> {
        self.ask_for_portion(&Request::RunPortion(run.clone()), held!(PortionRan))
    }

    pub fn give_portion(&mut self, place: &PortionPlace) -> Result<Result<(), Stop>, Error> {
        self.ask_for_portion(&Request::GivePortion(place.clone()), held!(PortionGiven))
    }

    fn ask_for_portion<T>(
        &mut self,
        request: &Request,
        take: impl FnOnce(Reply) -> Option<Result<T, Stop>>,
    ) -> Result<Result<T, Stop>, Error> {
        Ok(self.ask_within("the kernel", request, self.deadline, take)?.unwrap_or_else(|lost| {
            Err(match lost {
                Lost::Died(how) => Stop::failed(how),
                Lost::Late(_) => Stop::new(Status::Timeout, format!("{lost}; --deadline changes it")),
            })
        }))
    }
}

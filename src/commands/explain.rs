//! `gpulab explain`: a ladder's story, a rung, or an experiment.

use crate::console;
use crate::lesson::{Lesson, lesson};
use crate::prelude::*;
use crate::report::explain::{kernel, story, study};

pub fn run(out: &mut Out, word: &str) -> Result<(), Error> {
    let width = console::width();
    out.text(&match lesson(word)? {
        Lesson::Ladder(family) => story(family, width),
        Lesson::Kernel(family, rung) => kernel(family, rung, width),
        Lesson::Study(experiment) => study(experiment, width),
    })
}

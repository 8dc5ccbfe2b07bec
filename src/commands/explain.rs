//! `gpulab explain`: a ladder's story, a rung, or an experiment; and what a word of it and of `source` names.

use crate::console::{self, print};
use crate::experiments::{EXPERIMENTS, Experiment, experiment};
use crate::kernels::{Family, Rung, built_in, ladders};
use crate::report::explain::{all_rungs, kernel, story, study};
use crate::report::glossary;
use crate::{Error, Result, suggest, usage_error, values};

pub fn run(word: &str) -> Result<()> {
    let width = console::width();
    print(&match lesson(word)? {
        Lesson::Ladder(family) => story(family, width),
        Lesson::Kernel(family, rung) => kernel(family, rung, width),
        Lesson::Study(experiment) => study(experiment, width),
        Lesson::Word(entry) => glossary::text(entry, width),
    })
}

pub enum Lesson {
    Ladder(&'static Family),
    Kernel(&'static Family, &'static Rung),
    Study(&'static Experiment),
    /// An entry of the glossary.
    Word(&'static str),
}

/// What a word names: a family, one of its rungs as in `reduce:3`, or an experiment. Where an experiment and a family of its
/// kernels bear one name, it is the experiment; `banks:1` is the kernel.
pub fn lesson(word: &str) -> Result<Lesson> {
    let name = word.to_lowercase();
    let found = match name.split_once(':') {
        Some((family, rung)) => match built_in(family) {
            Some(family) => Some(Lesson::Kernel(family, rung_of(family, rung)?)),
            None => None,
        },
        None => {
            let ladder = ladders()
                .find(|family| family.name == name)
                .map(Lesson::Ladder);
            ladder
                .or_else(|| experiment(&name).map(Lesson::Study))
                .or_else(|| glossary::entry(&name).map(Lesson::Word))
                .or_else(|| built_in(&name).map(Lesson::Ladder))
        }
    };
    found.ok_or_else(|| {
        let names = ladders()
            .map(|f| f.name.to_string())
            .chain(EXPERIMENTS.iter().map(|e| e.name.to_owned()));
        let names = names.chain(glossary::words().map(str::to_owned));
        let names: Vec<String> = names.chain(all_rungs()).collect();
        Error::Usage(suggest::unknown(
            "family, rung, experiment or word",
            &name,
            &names,
        ))
    })
}

/// The one rung of a family that a number or a name selects.
pub fn rung_of<'a>(family: &'a Family, text: &str) -> Result<&'a Rung> {
    match values::variants(family, text).map_err(Error::Usage)?[..] {
        [rung] => Ok(rung),
        ref rungs => usage_error(format!(
            "{text:?} names {} rungs of {}: choose one",
            rungs.len(),
            family.name
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_name_ladders_rungs_and_experiments() {
        for (word, want) in [
            ("reduce", "reduce"),
            ("Reduce:3", "reduce/sequential.cl"),
            ("transpose:copy", "transpose/copy.cl"),
            ("minplus:0", "minplus/naive.cl"),
            ("banks", "lab banks"),
            ("banks:1", "lab/banks/strided.cl"),
            ("gather", "gather"),
            ("Bank-Conflict", "Local memory has 32 banks"),
            ("redcue", "did you mean `reduce`?"),
            ("strde", "did you mean `stride`?"),
            ("reduce:sequentail", "did you mean `sequential`?"),
            ("reduce:99", "reduce has no rung \"99\""),
            ("reduce:2-3", "choose one"),
            ("xyzzy", "there is reduce, dot"),
        ] {
            let name = match lesson(word) {
                Ok(Lesson::Ladder(family)) => family.name.to_string(),
                Ok(Lesson::Kernel(_, rung)) => rung.path.to_string(),
                Ok(Lesson::Study(experiment)) => format!("lab {}", experiment.name),
                Ok(Lesson::Word(entry)) => entry.to_owned(),
                Err(error) => error.to_string(),
            };
            assert!(name.contains(want), "{word}: {name}");
        }
    }
}

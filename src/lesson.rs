//! What a word of `source`, `diff` and `explain` names: a family, one of its rungs as in `reduce:3`, or an experiment.

use crate::experiments::{EXPERIMENTS, Experiment, experiment};
use crate::kernels::ladders;
use crate::prelude::*;
use crate::report::explain::short_name;
use crate::suggest::{did_you_mean, nearest};
use crate::words;

#[derive(Clone, Copy)]
pub(crate) enum Lesson {
    Ladder(&'static Family),
    Kernel(&'static Family, &'static Rung),
    Study(&'static Experiment),
}

/// What a word names. Where an experiment and a family of its kernels bear one name, it is the experiment; `banks:1` is the
/// kernel.
pub(crate) fn lesson(word: &str) -> Result<Lesson, Error> {
    let name = word.to_lowercase();
    if let Some((family, rung)) = name.split_once(':') {
        let family = built_in(family).ok_or_else(|| unknown(family, ladders().map(|f| &*f.name)))?;
        return Ok(Lesson::Kernel(family, rung_of(family, rung)?));
    }
    let ladder = ladders().find(|family| family.name == name).map(Lesson::Ladder);
    let names = || ladders().map(|f| &*f.name).chain(EXPERIMENTS.iter().map(|e| e.name));
    ladder
        .or_else(|| experiment(&name).map(Lesson::Study))
        .or_else(|| built_in(&name).map(Lesson::Ladder))
        .ok_or_else(|| unknown(&name, names()))
}

/// The one rung of a family that a number or a name selects.
pub(crate) fn rung_of<'a>(family: &'a Family, text: &str) -> Result<&'a Rung, Error> {
    match values::variants(family, text).map_err(Error::Usage)?[..] {
        [rung] => Ok(rung),
        ref rungs => Err(Error::Usage(format!("{text:?} names {} rungs of {}: choose one", rungs.len(), family.name))),
    }
}

/// That nothing has this name. A rung's idea alone has: several families may have it.
fn unknown(name: &str, names: impl Iterator<Item = &'static str>) -> Error {
    let rungs = ladders().flat_map(|family| family.kernels().map(move |rung| (family, rung)));
    let meant = nearest(name, rungs, |(_, rung)| rung.variant());
    let meant: Vec<String> = meant.into_iter().map(|(family, rung)| short_name(family, rung)).collect();
    let names: Vec<&str> = names.collect();
    let is_rung = ladders().flat_map(Family::kernels).any(|rung| rung.variant() == name);
    let is_near = !is_rung && !nearest(name, &names, |name| name).is_empty();
    match meant.is_empty() || is_near {
        true => Error::Usage(words::unknown("family, rung or experiment", name, &names)),
        false => Error::Usage(format!("there is no family or experiment {name:?}{}", did_you_mean(&meant))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(word: &str) -> String {
        match lesson(word) {
            Ok(Lesson::Ladder(family)) => family.name.to_string(),
            Ok(Lesson::Kernel(_, rung)) => rung.path.to_string(),
            Ok(Lesson::Study(experiment)) => format!("lab {}", experiment.name),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn words_name_ladders_rungs_and_experiments() {
        for (word, want) in [
            ("reduce", "reduce"),
            ("Reduce:3", "reduce/sequential.cl"),
            ("reduce:sequential", "reduce/sequential.cl"),
            ("transpose:copy", "transpose/copy.cl"),
            ("minplus:0", "minplus/naive.cl"),
            ("stride", "lab stride"),
            ("banks", "lab banks"),
            ("banks:1", "lab/banks/strided.cl"),
            ("gather", "gather"),
        ] {
            assert_eq!(name(word), want);
        }
    }

    #[test]
    fn what_there_is_not_is_told_with_what_was_meant() {
        for (word, want) in [
            ("redcue", "did you mean `reduce`?"),
            ("sequential", "did you mean `reduce:3`?"),
            ("naive", "did you mean `dot:1`, `transpose:1` or `minplus:0`?"),
            ("strde", "did you mean `stride`?"),
            ("redcue:3", "did you mean `reduce`?"),
            ("reduce:sequentail", "did you mean `sequential`?"),
            ("reduce:99", "reduce has no rung \"99\""),
            ("reduce:2-3", "choose one"),
            ("xyzzy", "there is reduce, dot"),
        ] {
            assert!(name(word).contains(want), "{word}: {}", name(word));
        }
    }

    #[test]
    fn every_rungs_short_name_names_it() {
        for family in ladders() {
            for rung in family.kernels() {
                assert_eq!(name(&short_name(family, rung)), rung.path);
            }
        }
        assert!(crate::report::explain::all_rungs().any(|name| name == "reduce:3"));
    }
}

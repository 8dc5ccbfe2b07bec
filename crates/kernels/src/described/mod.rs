//! Families that a reader described in a TOML file, with kernels of their own.
//!
//! [`super::Registry::declare`] makes a file a family, so that whatever works on families works on it. What is right is asked of
//! an [`Oracle`], which may run programs: nothing here does.

mod description;
mod formula;
mod oracle;
mod planner;
mod problem;

pub use description::{ArrayFormat, Checker, Description};
pub use oracle::{Oracle, OracleQuestion};

use super::family::BroughtKernel;
use super::own::kernel_names;
use super::tunable::DeclaredMacro;
use super::{AnyProblem, DeclarationError, Family, Rung};
use description::DescribedRung;
use problem::DescribedProblem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// A reader's family: what a worker is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FamilyFile {
    /// The file's text.
    pub text: String,
    /// Its folder, from the root: programs are run there, and files of data are there.
    pub folder: PathBuf,
    /// The texts of its kernels, with what they include, by the names of their files.
    pub sources: BTreeMap<String, String>,
}

/// The family that a file describes.
pub(super) fn family(file: &FamilyFile, oracle: Box<dyn Oracle>) -> Result<Family, DeclarationError> {
    let description = Description::parse(&file.text)?;
    let whole = |why: String| DeclarationError { line: None, why };
    for rung in &description.rung {
        check_kernels(file, rung).map_err(whole)?;
    }
    if let Checker::Kernel { file: name } = description.checker().map_err(whole)? {
        reference_kernel(file, &name).map_err(whole)?;
    }
    let problem = Arc::new(DescribedProblem { description, oracle });
    let described = &problem.description;
    let rung = |(at, own): (usize, &DescribedRung)| {
        let problem = problem.clone();
        let kernel = BroughtKernel {
            text: file.sources.get(&own.file).cloned().unwrap_or_default(),
            work_group: own.work_group().ok().flatten(),
            macros: own.tune.iter().map(|(name, values)| DeclaredMacro::new(name, values)).collect(),
            traits: Default::default(),
            plan: Box::new(move |ask| planner::plan(&problem, &problem.description.rung[at], ask)),
        };
        Rung::brought(&format!("{}/{}", described.name, own.name), Some(at as u32 + 1), kernel)
    };
    Ok(Family {
        name: described.name.clone().into(),
        about: described.about.clone().into(),
        form: described.form(),
        ladder: described.rung.iter().enumerate().map(rung).collect(),
        choices: &[],
        dtypes: described.types.clone().into(),
        // It was looked at before.
        ceiling: described.bound().unwrap_or(super::Bound::Copy),
        problem: AnyProblem::Described(problem.clone()),
    })
}

/// Refuses a rung without its file, or with a launch of a kernel that is not there.
fn check_kernels(file: &FamilyFile, rung: &DescribedRung) -> Result<(), String> {
    let text = file.sources.get(&rung.file).ok_or_else(|| format!("{} was not read", rung.file))?;
    let kernels = kernel_names(text);
    match rung.launch.iter().find(|launch| !kernels.contains(&launch.kernel)) {
        None if rung.launch.is_empty() => Err(format!("[[rung]] {}: it has no [[rung.launch]]", rung.name)),
        None => Ok(()),
        Some(launch) => Err(format!(
            "[[rung]] {}: there is no kernel {} in {}; it has {}",
            rung.name,
            launch.kernel,
            rung.file,
            kernels.join(", ")
        )),
    }
}

/// The only kernel of a reference's file, and the file's text.
///
/// # Errors
/// A file with none or with several.
pub fn reference_kernel<'a>(file: &'a FamilyFile, name: &str) -> Result<(String, &'a str), String> {
    let text = file.sources.get(name).ok_or_else(|| format!("{name} was not read"))?;
    match &kernel_names(text)[..] {
        [only] => Ok((only.clone(), text)),
        all => Err(format!("[check] kernel: {name} must have one kernel, and has {}", all.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::description::tests::TOML;
    use super::*;
    use crate::Registry;
    use gpulab_model::data::{Array, Dtype, Params, Shape};
    use gpulab_model::plan::{Case, Reference, Target, WorkGroup};

    /// Says that each element is to be twice what it is; or what it is told to say.
    struct Twice(Option<Result<Array, String>>);

    impl Oracle for Twice {
        fn answer(&self, question: &OracleQuestion<'_>) -> Result<Array, String> {
            let Array::I32(x) = &question.inputs[0] else { return Ok(question.inputs[0].clone()) };
            self.0.clone().unwrap_or_else(|| Ok(Array::I32(x.iter().map(|x| 2 * x).collect())))
        }

        fn file(&self, _: &str, _: Dtype) -> Result<std::sync::Arc<Array>, String> {
            Err("none".into())
        }

        fn describe(&self) -> String {
            "two times".into()
        }
    }

    fn file(name: &str, text: &str) -> FamilyFile {
        let kernel = "__kernel void doubled(__global const T *x, __global T *out, const INDEX n) { }";
        FamilyFile {
            text: text.replacen("\"doubled\"", &format!("{name:?}"), 1),
            folder: PathBuf::from("/"),
            sources: BTreeMap::from([("naive.cl".to_owned(), kernel.to_owned())]),
        }
    }

    fn case(family: &Family, dtype: Dtype, n: u64) -> Case {
        Case {
            wg: WorkGroup::linear(64),
            params: Params::from([("items".to_owned(), "2".to_owned())]),
            ..Case::of(&family.name, "naive", dtype, Shape::vector(n))
        }
    }

    #[test]
    fn a_file_becomes_a_family_with_plans() {
        let family = &family(&file("doubled", TOML), Box::new(Twice(None))).unwrap();
        let rung = family.rung("naive").unwrap();
        assert_eq!((rung.label().as_str(), rung.is_own()), ("v1 naive", true));
        assert!(rung.text().unwrap().contains("doubled"));
        let plan = family.plan(rung, &case(family, Dtype::I32, 1000), &Target::with_everything(true)).unwrap();
        assert_eq!((plan.passes[0].global, plan.passes[0].local), ([512, 1, 1], [64, 1, 1]));
        assert!(plan.defines.contains(&("ITEMS".into(), "2".into())));
        assert!(plan.defines.contains(&("T".into(), "int".into())));
        let cost = family.problem.cost(&case(family, Dtype::I32, 1000));
        assert_eq!((cost.bytes, cost.ops), (8000.0, 1000.0));
    }

    #[test]
    fn names_and_kernels_that_are_not_possible_are_refused() {
        let why = |file: &FamilyFile| Registry::default().declare(file, Box::new(Twice(None))).err().unwrap().why;
        assert!(why(&file("reduce", TOML)).contains("gpulab already has a family"));
        assert!(why(&file("read", TOML)).contains("gpulab already has a family"), "a probe's name");
        let other = TOML.replace("kernel = \"doubled\"", "kernel = \"tripled\"");
        assert!(why(&file("doubled", &other)).contains("it has doubled"));
    }

    #[test]
    fn answers_that_are_none_make_no_reference() {
        for (answer, why) in [
            (Err("it crashed".to_owned()), "it crashed"),
            (Ok(Array::I32(vec![1])), "1 elements"),
            (Ok(Array::F32(vec![1.0; 10])), "f32"),
        ] {
            let family = &family(&file("doubled", TOML), Box::new(Twice(Some(answer)))).unwrap();
            let inputs = [Array::I32(vec![1; 10])];
            let Reference::Unknown(said) = family.problem.reference(&case(family, Dtype::I32, 10), &inputs) else {
                panic!("{why}")
            };
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn nan_is_no_answer_and_no_tolerance_hides_zeros() {
        let exact = &family(&file("doubled", TOML), Box::new(Twice(None))).unwrap();
        let of = |family: &Family, x: f32| {
            family.problem.reference(&case(family, Dtype::F32, 2), &[Array::F32(vec![x, 1.0])])
        };
        assert!(matches!(of(exact, 2.0), Reference::Near(_)));
        assert!(matches!(of(exact, f32::NAN), Reference::Unknown(why) if why.contains("element 0 is NaN")));
        let wide = TOML.replace("reason", "absolute = 3\nreason");
        let wide = &family(&file("doubled", &wide), Box::new(Twice(None))).unwrap();
        assert!(matches!(of(wide, 2.0), Reference::Unknown(why) if why.contains("zeros")));
        assert!(matches!(of(wide, 4.0), Reference::Near(_)));
    }

    #[test]
    fn lengths_that_are_nothing_are_refused_by_plans() {
        let text = TOML.replacen("length = \"n\"", "length = \"n - 10\"", 1);
        let family = &family(&file("doubled", &text), Box::new(Twice(None))).unwrap();
        let rung = family.rung("naive").unwrap();
        for n in [5, 10] {
            let refused = family.plan(rung, &case(family, Dtype::I32, n), &Target::with_everything(false)).unwrap_err();
            assert!(refused.to_string().contains("n - 10"), "{refused}");
        }
        let companions = |n| {
            let case = case(family, Dtype::I32, n);
            let plan = family.plan(rung, &case, &Target::with_everything(false)).unwrap();
            family.companions(&case, &plan)
        };
        assert!(companions(1000).iter().all(|case| case.shape.n > 10));
        assert!(companions(1000).len() > 2);
    }
}

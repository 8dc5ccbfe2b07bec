//! Families that a reader described in a TOML file, with kernels of their own.
//!
//! A file becomes a family once it is declared; from then on [`super::family`] gives it, so that whatever works on families
//! works on it. What is right is asked of an [`Oracle`], which may run programs: nothing here does.

mod description;
mod formula;
mod oracle;
mod planner;
mod problem;

pub use description::{ArrayFormat, Checker, Description};
pub use oracle::{Oracle, OracleQuestion};

use super::family::OWN;
use super::own::kernel_names;
use super::{DeclarationError, Family, Rung, Tunable};
use description::DescribedRung;
use gpulab_model::data::Shape;
use gpulab_model::plan::{Case, Plan, Refusal, Target, WorkGroup};
use problem::DescribedProblem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

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

/// A family that was declared.
#[derive(Clone, Copy)]
struct Described {
    file: &'static FamilyFile,
    problem: &'static DescribedProblem,
    family: &'static Family,
}

static DESCRIBED: RwLock<Vec<Described>> = RwLock::new(Vec::new());

/// Makes a family of a file, unless its name is taken.
pub(super) fn declare(
    file: &FamilyFile,
    oracle: Box<dyn Oracle>,
    is_taken: &dyn Fn(&str) -> bool,
) -> Result<&'static Family, DeclarationError> {
    if let Some(known) = find(|known| known.file == file) {
        return Ok(known.family);
    }
    let description = Description::parse(&file.text)?;
    let whole = |why: String| DeclarationError { line: None, why };
    if is_taken(&description.name) {
        return Err(whole(format!("name: gpulab already has a family {:?}: choose another name", description.name)));
    }
    for rung in &description.rung {
        check_kernels(file, rung).map_err(whole)?;
    }
    if let Checker::Kernel { file: name } = description.checker().map_err(whole)? {
        reference_kernel(file, &name).map_err(whole)?;
    }
    let described = leaked(file, description, oracle);
    let mut all = DESCRIBED.write().unwrap_or_else(PoisonError::into_inner);
    all.retain(|known| known.family.name != described.family.name);
    all.push(described);
    Ok(described.family)
}

/// The family and all it refers to, which live as long as the program.
fn leaked(file: &FamilyFile, description: Description, oracle: Box<dyn Oracle>) -> Described {
    let file: &'static FamilyFile = Box::leak(Box::new(file.clone()));
    let problem: &'static DescribedProblem = Box::leak(Box::new(DescribedProblem { description, oracle, is_possible }));
    let described = &problem.description;
    let rungs: Vec<Rung> =
        (1..).zip(&described.rung).map(|(number, rung)| leaked_rung(described, number, rung)).collect();
    let family: &'static Family = Box::leak(Box::new(Family {
        name: &described.name,
        about: &described.about,
        form: described.form(),
        problem,
        references: &[],
        ladder: Box::leak(rungs.into_boxed_slice()),
        choices: &[],
        dtypes: &described.types,
        // It was looked at before.
        ceiling: described.bound().unwrap_or(super::Bound::Copy),
    }));
    Described { file, problem, family }
}

fn leaked_rung(description: &'static Description, number: u32, rung: &'static DescribedRung) -> Rung {
    let path = format!("{}/{}/{}.cl", OWN, description.name, rung.name);
    let tunables: Vec<Tunable> = rung.tune.iter().map(|(name, values)| Tunable::declared(name, values)).collect();
    let tunables = Box::leak(tunables.into_boxed_slice());
    Rung { number: Some(number), ..super::rung(Box::leak(path.into_boxed_str()), plan, tunables) }
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

/// All families that were declared, for a worker to declare as well.
pub fn described() -> Vec<FamilyFile> {
    let all = DESCRIBED.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().map(|described| described.file.clone()).collect()
}

/// The work-group that a declared family's rung has, unless another is asked for.
pub(super) fn work_group(rung: &Rung) -> Option<WorkGroup> {
    let described = find(|known| known.family.ladder.iter().any(|own| own.path == rung.path))?;
    rung_of(&described, rung.path)?.work_group().ok().flatten()
}

/// The default shape of a declared family, by [`Description::usual_shape`].
pub(super) fn usual_shape(family: &Family, usual: u64, small: bool) -> Option<Shape> {
    let described = find(|known| known.family.name == family.name)?;
    Some(described.problem.description.usual_shape(usual, small))
}

/// Who says what is right in a declared family: the program, or the kernel and its device.
pub fn oracle_of(family: &Family) -> Option<String> {
    find(|known| known.family.name == family.name).map(|known| known.problem.oracle.describe())
}

/// Why a declared family cannot have this shape and type, if it cannot.
///
/// # Errors
/// A length that is out of range, or a file of data that is too short or of another type.
pub fn check_described(family: &Family, shape: Shape, dtype: gpulab_model::data::Dtype) -> Result<(), Refusal> {
    find(|known| known.family.name == family.name).map_or(Ok(()), |known| known.problem.check(shape, dtype))
}

/// The declared family of this name.
pub(super) fn family(name: &str) -> Option<&'static Family> {
    find(|known| known.family.name == name).map(|known| known.family)
}

/// The text of a declared family's kernel.
pub(super) fn text(path: &str) -> Option<&'static str> {
    let described = find(|known| known.family.ladder.iter().any(|rung| rung.path == path))?;
    described.file.sources.get(&rung_of(&described, path)?.file).map(String::as_str)
}

fn rung_of(described: &Described, path: &str) -> Option<&'static DescribedRung> {
    let at = described.family.ladder.iter().position(|rung| rung.path == path)?;
    described.problem.description.rung.get(at)
}

fn find(is_meant: impl Fn(&Described) -> bool) -> Option<Described> {
    let all = DESCRIBED.read().unwrap_or_else(PoisonError::into_inner);
    all.iter().find(|known| is_meant(known)).copied()
}

/// Whether a case has a plan on some device: of few elements a launch may have nothing to do.
fn is_possible(case: &Case) -> bool {
    let planned = |family: &'static Family| {
        let rung = family.rung(&case.variant)?;
        family.plan(rung, case, &Target::with_everything(true)).ok()
    };
    family(&case.family).and_then(planned).is_some()
}

fn plan(ask: &super::Ask<'_>) -> Result<Plan, Refusal> {
    let described = find(|known| known.family.name == ask.family.name);
    match described.and_then(|described| Some((described, rung_of(&described, ask.rung.path)?))) {
        Some((described, rung)) => planner::plan(described.problem, rung, ask),
        None => Err(Refusal::Feature("its file was not read".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::description::tests::TOML;
    use super::*;
    use crate::declare;
    use gpulab_model::data::{Array, Dtype, Params};
    use gpulab_model::plan::Reference;

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
            ..Case::of(family.name, "naive", dtype, Shape::vector(n))
        }
    }

    #[test]
    fn a_file_becomes_a_family_with_plans() {
        let family = declare(&file("doubled_a", TOML), Box::new(Twice(None))).unwrap();
        assert!(std::ptr::eq(super::super::family("doubled_a").unwrap(), family));
        let rung = family.rung("naive").unwrap();
        assert_eq!((rung.label().as_str(), rung.is_own()), ("v1 naive", true));
        assert!(super::super::text(rung.path).unwrap().contains("doubled"));
        let plan = family.plan(rung, &case(family, Dtype::I32, 1000), &Target::with_everything(true)).unwrap();
        assert_eq!((plan.passes[0].global, plan.passes[0].local), ([512, 1, 1], [64, 1, 1]));
        assert!(plan.defines.contains(&("ITEMS".into(), "2".into())));
        assert!(plan.defines.contains(&("T".into(), "int".into())));
        let cost = family.problem.cost(&case(family, Dtype::I32, 1000));
        assert_eq!((cost.bytes, cost.ops), (8000.0, 1000.0));
    }

    #[test]
    fn names_and_kernels_that_are_not_possible_are_refused() {
        let why = |file: &FamilyFile| declare(file, Box::new(Twice(None))).err().unwrap().why;
        assert!(why(&file("reduce", TOML)).contains("gpulab already has a family"));
        assert!(why(&file("read", TOML)).contains("gpulab already has a family"), "a probe's name");
        let other = TOML.replace("kernel = \"doubled\"", "kernel = \"tripled\"");
        assert!(why(&file("doubled_b", &other)).contains("it has doubled"));
    }

    #[test]
    fn answers_that_are_none_make_no_reference() {
        for (number, (answer, why)) in [
            (Err("it crashed".to_owned()), "it crashed"),
            (Ok(Array::I32(vec![1])), "1 elements"),
            (Ok(Array::F32(vec![1.0; 10])), "f32"),
        ]
        .into_iter()
        .enumerate()
        {
            let file = file(&format!("doubled_c{number}"), TOML);
            let family = declare(&file, Box::new(Twice(Some(answer)))).unwrap();
            let inputs = [Array::I32(vec![1; 10])];
            let Reference::Unknown(said) = family.problem.reference(&case(family, Dtype::I32, 10), &inputs) else {
                panic!("{why}")
            };
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn nan_is_no_answer_and_no_tolerance_hides_zeros() {
        let family = declare(&file("doubled_d", TOML), Box::new(Twice(None))).unwrap();
        let of = |family: &Family, x: f32| {
            family.problem.reference(&case(family, Dtype::F32, 2), &[Array::F32(vec![x, 1.0])])
        };
        assert!(matches!(of(family, 2.0), Reference::Near(_)));
        assert!(matches!(of(family, f32::NAN), Reference::Unknown(why) if why.contains("element 0 is NaN")));
        let wide = TOML.replace("reason", "absolute = 3\nreason");
        let wide = declare(&file("doubled_e", &wide), Box::new(Twice(None))).unwrap();
        assert!(matches!(of(wide, 2.0), Reference::Unknown(why) if why.contains("zeros")));
        assert!(matches!(of(wide, 4.0), Reference::Near(_)));
    }

    #[test]
    fn lengths_that_are_nothing_are_refused_by_plans() {
        let text = TOML.replacen("length = \"n\"", "length = \"n - 10\"", 1);
        let family = declare(&file("doubled_f", &text), Box::new(Twice(None))).unwrap();
        let rung = family.rung("naive").unwrap();
        for n in [5, 10] {
            let refused = family.plan(rung, &case(family, Dtype::I32, n), &Target::with_everything(false)).unwrap_err();
            assert!(refused.to_string().contains("n - 10"), "{refused}");
        }
        let companions = |n| {
            let case = case(family, Dtype::I32, n);
            let plan = family.plan(rung, &case, &Target::with_everything(false)).unwrap();
            family.problem.companions(&case, &plan)
        };
        assert!(companions(1000).iter().all(|case| case.shape.n > 10));
        assert!(companions(1000).len() > 2);
    }
}

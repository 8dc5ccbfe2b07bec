//! Families that a reader described in a TOML file, with kernels of their own.
//!
//! [`super::Registry::declare`] makes a file a family, so that whatever works on families works on it. What is right is asked of
//! an [`Oracle`], which may run programs: nothing here does.

mod args;
mod description;
mod draft;
mod formula;
mod planner;
mod problem;
mod resolve;

pub(crate) use args::{DescribedArg, parse_arg};
pub(crate) use description::check_option;
pub use description::{Checker, DeclarationError, Description, FamilyFile, ITSELF, result_file};
pub(crate) use draft::is_guarded;
pub use draft::{KernelDraft, UNNAMED, draft, draft_alone};
pub(crate) use formula::{Formula, is_name, macro_value, parts};
pub(crate) use planner::bound;

use crate::builder::RESTORE;
use crate::c_text::without_definitions;
use crate::family::BroughtKernel;
use crate::signature::{CSource, hidden_macros};
use crate::tunable::DeclaredMacro;
use crate::{AnyProblem, Family, Rung, SourceTraits};
use args::{BufferRole, Content, Declared};
use description::{DescribedRung, RungStep};
use gpulab_model::data::{Array, Dtype, Layout};
use gpulab_model::plan::{Case, Plan};
use problem::DescribedProblem;
use std::sync::Arc;

/// A buffer of a question: an input, an output, or both.
pub struct OracleBuffer<'a> {
    pub name: &'a str,
    /// What its elements are, where a vector's numbers are elements of their own.
    pub layout: Layout,
    /// Numbers of a vector; 1 of others.
    pub lanes: usize,
    /// The type and the length of its array.
    pub dtype: Dtype,
    pub len: usize,
    /// What is in it before the run; none of what is only written.
    pub input: Option<&'a Array>,
    pub is_output: bool,
    /// Whether it is an image whose whole numbers kernels see as floats from 0 to 1.
    pub is_share: bool,
}

pub struct OracleQuestion<'a> {
    pub case: &'a Case,
    /// In the order in which the file names them.
    pub buffers: Vec<OracleBuffer<'a>>,
    /// The launches of the rung that says what is right, if one does; its inputs and outputs are the buffers.
    pub plan: Option<Plan>,
}

impl OracleQuestion<'_> {
    pub fn outputs(&self) -> impl Iterator<Item = &OracleBuffer<'_>> {
        self.buffers.iter().filter(|buffer| buffer.is_output)
    }
}

/// Who knows what is right, and what is in files.
pub trait Oracle: Send + Sync {
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String>;

    /// The elements of a file of data, in an array of this type; of bytes those that the layout says.
    fn file(&self, name: &str, dtype: Dtype, layout: &Layout) -> Result<Arc<Array>, String>;

    fn describe(&self) -> String;
}

pub(super) fn family(
    file: &FamilyFile,
    oracle: Box<dyn Oracle>,
) -> Result<Family, DeclarationError> {
    let mut description = Description::parse(&file.text, &file.name)?;
    resolve::resolve(&mut description, file)?;
    if let Checker::Kernel(name) = &description.checker {
        reference_kernel(file, name).map_err(|why| DeclarationError { line: None, why })?;
    }
    let texts = description.rungs.iter().map(|own| text_of(own, file));
    let problem = Arc::new(DescribedProblem {
        hidden: texts
            .map(|text| hidden_macros(&text.unwrap_or_default()))
            .collect(),
        description,
        oracle,
        planner: planner::plan,
    });
    let described = &problem.description;
    Ok(Family {
        name: described.name.clone().into(),
        about: described.about.clone().into(),
        form: described.form,
        ladder: described
            .rungs
            .iter()
            .enumerate()
            .map(|(at, own): (usize, &DescribedRung)| {
                let problem = problem.clone();
                let text = text_of(own, file).unwrap_or_default();
                let traits = SourceTraits::of(&text, own.first_kernel());
                let kernel = BroughtKernel {
                    text,
                    work_group: own.wg,
                    work_groups: own.groups.clone(),
                    declaration: file.text.clone(),
                    macros: own
                        .tune
                        .iter()
                        .map(|(name, values)| DeclaredMacro::new(name, values))
                        .collect(),
                    traits: (traits, Vec::new()),
                    multiple: described.multiple,
                    dtype: None,
                    guess: None,
                    plan: Box::new(move |ask| {
                        for tunable in ask.rung.tunables() {
                            tunable.given(&ask.case.params)?;
                        }
                        planner::plan(&problem, at, ask.case, ask.target)
                    }),
                };
                let rung = Rung::brought(
                    &format!("{}/{}", described.name, own.name),
                    Some(at as u32 + 1),
                    kernel,
                );
                rung.with(if is_restored(described, own) {
                    &[RESTORE]
                } else {
                    &[]
                })
            })
            .collect(),
        choices: &[],
        dtypes: described.types.clone().into(),
        ceiling: described.bound,
        problem: AnyProblem::Described(problem.clone()),
    })
}

/// Whether a rung's launches need those that put data back.
fn is_restored(description: &Description, rung: &DescribedRung) -> bool {
    let is_restored = |declared: &Declared| {
        declared.role == BufferRole::InOut || declared.content == Content::Zeros
    };
    description
        .buffers
        .iter()
        .chain(&rung.scratch)
        .any(is_restored)
        || rung.steps.iter().any(RungStep::needs_restoring)
}

pub fn rung_text(description: &Description, rung: &str, file: &FamilyFile) -> Option<String> {
    let restore = crate::text(RESTORE).unwrap_or_default();
    let rung = description.rungs.iter().find(|known| known.name == rung)?;
    Some(format!("{}\n{restore}", text_of(rung, file)?))
}

/// The text of a rung's file, in which the family's own definitions of macros count.
fn text_of(rung: &DescribedRung, file: &FamilyFile) -> Option<String> {
    Some(without_definitions(
        file.sources.get(&rung.file)?,
        |name: &str| rung.defines.contains_key(name) || rung.tune.contains_key(name),
    ))
}

/// The only kernel of a reference's file, and the file's text.
pub fn reference_kernel<'a>(file: &'a FamilyFile, name: &str) -> Result<(String, &'a str), String> {
    let text = file
        .sources
        .get(name)
        .ok_or_else(|| format!("{name} was not read"))?;
    match &CSource::new(text, &[]).kernels()[..] {
        [only] => Ok((only.clone(), text)),
        all => Err(format!(
            "[check] kernel: {name} must have one kernel, and has {}",
            all.len()
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::description::tests::TOML;
    use super::*;
    use crate::Registry;
    use gpulab_model::data::{Array, Dtype, Layout, Params, Shape};
    use gpulab_model::plan::{Case, Reference, Target, WorkGroup};
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    /// Says that each element is to be twice what it is; or what it is told to say.
    struct Twice(Option<Result<Array, String>>);

    impl Oracle for Twice {
        fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
            let input = question.buffers[0].input.unwrap();
            let Array::I32(x) = input else {
                return Ok(vec![input.clone()]);
            };
            let answer = self
                .0
                .clone()
                .unwrap_or_else(|| Ok(Array::I32(x.iter().map(|x| 2 * x).collect())));
            answer.map(|answer| vec![answer])
        }

        fn file(&self, _: &str, _: Dtype, _: &Layout) -> Result<std::sync::Arc<Array>, String> {
            Err("none".into())
        }

        fn describe(&self) -> String {
            "two times".into()
        }
    }

    fn file(name: &str, text: &str) -> FamilyFile {
        let kernel =
            "__kernel void doubled(__global const T *x, __global T *out, const INDEX n) { }";
        FamilyFile {
            name: "mine".into(),
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
        let plan = family
            .plan(
                rung,
                &case(family, Dtype::I32, 1000),
                &Target::with_everything(true),
            )
            .unwrap();
        assert_eq!(
            (plan.passes[0].global, plan.passes[0].local),
            ([512, 1, 1], [64, 1, 1])
        );
        assert!(plan.defines.contains(&("ITEMS".into(), "2".into())));
        assert!(plan.defines.contains(&("T".into(), "int".into())));
        let cost = family.problem.cost(&case(family, Dtype::I32, 1000));
        assert_eq!((cost.bytes, cost.ops), (8000.0, 1000.0));
    }

    #[test]
    fn names_and_kernels_that_are_not_possible_are_refused() {
        let why = |file: &FamilyFile| {
            Registry::default()
                .declare(file, Box::new(Twice(None)))
                .err()
                .unwrap()
                .why
        };
        assert!(why(&file("reduce", TOML)).contains("gpulab already has a family"));
        assert!(
            why(&file("read", TOML)).contains("gpulab already has a family"),
            "a probe's name"
        );
        let other = TOML.replace("kernel = \"doubled\"", "kernel = \"tripled\"");
        assert!(why(&file("doubled", &other)).contains("it has doubled"));
        let short = TOML.replace(", \"n\"]", "]");
        let error = Registry::default()
            .declare(&file("doubled", &short), Box::new(Twice(None)))
            .err()
            .unwrap();
        assert!(
            error.line == Some(23) && error.why.contains("3 parameters"),
            "{error}"
        );
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
            let Reference::Unknown(said) = family
                .problem
                .reference(&case(family, Dtype::I32, 10), &inputs)
            else {
                panic!("{why}")
            };
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn nan_is_no_answer_and_no_tolerance_hides_zeros() {
        let exact = &family(&file("doubled", TOML), Box::new(Twice(None))).unwrap();
        let of = |family: &Family, x: f32| {
            family
                .problem
                .reference(&case(family, Dtype::F32, 2), &[Array::F32(vec![x, 1.0])])
        };
        assert!(matches!(of(exact, 2.0), Reference::Near { .. }));
        assert!(
            matches!(of(exact, f32::NAN), Reference::Unknown(why) if why.contains("element 0 is NaN"))
        );
        let wide = TOML.replace("tolerance = 0", "tolerance = { absolute = 3 }");
        let wide = &family(&file("doubled", &wide), Box::new(Twice(None))).unwrap();
        assert!(matches!(of(wide, 2.0), Reference::Unknown(why) if why.contains("zeros")));
        assert!(matches!(of(wide, 4.0), Reference::Near { .. }));
    }

    #[test]
    fn lengths_that_are_nothing_are_refused_by_plans() {
        let text = TOML.replacen("out[n]", "out[n - 10]", 1);
        let family = &family(&file("doubled", &text), Box::new(Twice(None))).unwrap();
        let rung = family.rung("naive").unwrap();
        for n in [5, 10] {
            let refused = family
                .plan(
                    rung,
                    &case(family, Dtype::I32, n),
                    &Target::with_everything(false),
                )
                .unwrap_err();
            assert!(refused.to_string().contains("n - 10"), "{refused}");
        }
        let companions = |n| {
            let case = case(family, Dtype::I32, n);
            let target = Target {
                max_wg: 4096,
                max_wg_dims: [4096; 3],
                ..Target::with_everything(false)
            };
            let plan = family.plan(rung, &case, &target).unwrap();
            family.companions(
                &Case {
                    wg: WorkGroup::linear(2048),
                    ..case
                },
                &plan,
                &target,
            )
        };
        let edges = companions(1000).unwrap();
        assert!(edges.len() > 2 && edges.iter().all(|case| case.shape.n > 10));
        assert!(
            companions(11).is_err_and(|why| why.to_string().contains("n - 10")),
            "no edge size has elements"
        );
    }
}

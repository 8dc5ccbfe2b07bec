//! A description beside its kernels' texts: each buffer, number and piece of local memory gets the type of its parameter.

use super::args::{BufferElement, BufferRole, Declared, DescribedArg, ElementName};
use super::description::{DescribedLaunch, DescribedRung, Description, line_at};
use super::file::FamilyFile;
use crate::DeclarationError;
use crate::signature::{AddressSpace, CSource, KernelParameter, ValueType};
use gpulab_model::data::Dtype;
use gpulab_model::plan::ImageKind;
use std::collections::BTreeMap;

/// The elements of each buffer: of inputs and outputs, and of each rung's own.
#[derive(Debug, Default)]
pub(super) struct Elements {
    shared: BTreeMap<String, BufferElement>,
    scratch: Vec<BTreeMap<String, BufferElement>>,
}

impl Elements {
    /// Those of an input or an output.
    pub(super) fn of(&self, name: &str) -> &BufferElement {
        self.shared.get(name).unwrap_or(&BufferElement::Case)
    }

    pub(super) fn of_scratch(&self, rung: usize, name: &str) -> &BufferElement {
        self.scratch.get(rung).and_then(|own| own.get(name)).unwrap_or(&BufferElement::Case)
    }
}

/// Gives all arguments their types, and finds those of the buffers.
pub(super) fn resolve(description: &mut Description, file: &FamilyFile) -> Result<Elements, DeclarationError> {
    let mut elements = Elements::default();
    let declared: Vec<Declared> = description.buffers.iter().map(|buffer| buffer.declared.clone()).collect();
    for rung in &mut description.rungs {
        let text = file
            .sources
            .get(&rung.file)
            .ok_or_else(|| DeclarationError { line: None, why: format!("{} was not read", rung.file) })?;
        let source = source_of(text, rung);
        let mut own = BTreeMap::new();
        let scratch = rung.scratch.clone();
        let name = rung.name.clone();
        let path = rung.file.clone();
        for launch in rung.steps.iter_mut().flat_map(|step| step.launches_mut()) {
            let resolver = Resolver { source: &source, declared: &declared, scratch: &scratch };
            let line = line_at(&file.text, launch.at);
            resolver.launch(launch, &mut elements.shared, &mut own).map_err(|why| DeclarationError {
                line,
                why: format!("rung {name}: {why}").replace("{file}", &path),
            })?;
        }
        elements.scratch.push(own);
    }
    if description.types.is_empty() {
        let has_case = elements
            .shared
            .values()
            .chain(elements.scratch.iter().flat_map(BTreeMap::values))
            .any(|element: &BufferElement| *element == BufferElement::Case);
        let first = description.outputs().next().map(|output| elements.of(&output.declared.name));
        let dtype = match first {
            Some(BufferElement::Number(scalar, _)) => scalar.dtype().unwrap_or(Dtype::U8),
            Some(BufferElement::Struct(_)) => Dtype::U8,
            _ => Dtype::F32,
        };
        description.types = vec![if has_case && dtype == Dtype::U8 { Dtype::F32 } else { dtype }];
    }
    Ok(elements)
}

/// The rung's text, with the macros that it is built with as far as they are names of types.
fn source_of(text: &str, rung: &DescribedRung) -> CSource {
    let tuned = rung.tune.iter().filter_map(|(name, values)| Some((name.clone(), values.first()?.to_string())));
    let defines: Vec<(String, String)> =
        rung.defines.iter().map(|(name, value)| (name.clone(), value.clone())).chain(tuned).collect();
    CSource::new(text, &defines)
}

struct Resolver<'a> {
    source: &'a CSource,
    declared: &'a [Declared],
    scratch: &'a [Declared],
}

impl Resolver<'_> {
    fn launch(
        &self,
        launch: &mut DescribedLaunch,
        shared: &mut BTreeMap<String, BufferElement>,
        own: &mut BTreeMap<String, BufferElement>,
    ) -> Result<(), String> {
        let kernels = self.source.kernels();
        if launch.kernel.is_empty() {
            match &kernels[..] {
                [only] => launch.kernel.clone_from(only),
                [] => return Err("there is no kernel in {file}".into()),
                all => {
                    return Err(format!(
                        "{{file}} has {} kernels: write which is launched, as in kernel = \"{{file}}:{}\"; it has {}",
                        all.len(),
                        all[0],
                        all.join(", ")
                    ));
                }
            }
        }
        let kernel = launch.kernel.clone();
        let Some(parameters) = self.source.parameters(&kernel) else {
            return Err(format!("there is no kernel {kernel} in {{file}}; it has {}", kernels.join(", ")));
        };
        if parameters.len() != launch.args.len() {
            let names: Vec<&str> = parameters.iter().map(|parameter| parameter.name.as_str()).collect();
            return Err(format!(
                "kernel {kernel} has {} parameters ({}), and args has {}",
                parameters.len(),
                names.join(", "),
                launch.args.len()
            ));
        }
        for (number, (arg, parameter)) in (1..).zip(launch.args.iter_mut().zip(&parameters)) {
            let KernelParameter { type_name, name, .. } = parameter;
            let wrong = |why: String| format!("parameter {number} of {kernel}, `{type_name} {name}`: {why}");
            match arg {
                DescribedArg::Buffer(name) => {
                    let of = |declared: &&Declared| declared.name == *name;
                    let (declared, into) = match self.declared.iter().find(of) {
                        Some(declared) => (declared, &mut *shared),
                        None => match self.scratch.iter().find(of) {
                            Some(declared) => (declared, &mut *own),
                            None => return Err(wrong(format!("there is no buffer {name}"))),
                        },
                    };
                    self.buffer(declared, parameter, into).map_err(wrong)?;
                }
                DescribedArg::Number(_, of) => {
                    demand(parameter, AddressSpace::Value, "a number").map_err(wrong)?;
                    *of = of.take().or_else(|| parameter.value_type.clone());
                }
                DescribedArg::Numbers(values, of) => {
                    demand(parameter, AddressSpace::Value, "a struct or a vector").map_err(wrong)?;
                    *of = of.take().or_else(|| parameter.value_type.clone());
                    let wanted = match of {
                        Some(ValueType::Number(_, lanes)) => *lanes,
                        Some(ValueType::Struct(layout)) => layout.fields.len(),
                        _ => {
                            return Err(wrong(
                                "its fields are not known here: write them, as in struct <ffi> {1.0, 2.0, 3}".into(),
                            ));
                        }
                    };
                    let has = values.len();
                    if has != wanted {
                        return Err(wrong(format!("it has {wanted} numbers, and args gives {has}")));
                    }
                }
                DescribedArg::Local(_, of) => {
                    demand(parameter, AddressSpace::Local, "local memory").map_err(wrong)?;
                    *of = of.take().or_else(|| parameter.value_type.clone());
                }
                DescribedArg::Sampler(_) => demand(parameter, AddressSpace::Sampler, "a sampler").map_err(wrong)?,
            }
        }
        Ok(())
    }

    /// Notes a buffer's elements; they must be those of each parameter that it is given to.
    fn buffer(
        &self,
        declared: &Declared,
        parameter: &KernelParameter,
        known: &mut BTreeMap<String, BufferElement>,
    ) -> Result<(), String> {
        let name = &declared.name;
        if let ElementName::Pixels(format) = declared.element {
            demand(parameter, AddressSpace::Image, name)?;
            let pixel = BufferElement::Pixel(format, image_kind(declared, parameter)?);
            return match known.entry(name.clone()).or_insert_with(|| pixel.clone()) {
                known if *known == pixel => Ok(()),
                _ => Err(format!("{name} is an image of another kind elsewhere")),
            };
        }
        let space =
            if parameter.space == AddressSpace::Constant { AddressSpace::Constant } else { AddressSpace::Global };
        demand(parameter, space, name)?;
        if parameter.is_const && declared.role == BufferRole::Out {
            return Err(format!("it is const, and args says that {name} is an output"));
        }
        let of_parameter = parameter.value_type.as_ref().and_then(BufferElement::of);
        let element = match &declared.element {
            ElementName::Parameter => of_parameter.clone().ok_or_else(|| {
                format!(
                    "the type {:?} is not known here: write the elements' type, as in \"f32 {name}[...]\"",
                    parameter.type_name
                )
            })?,
            ElementName::Case => BufferElement::Case,
            ElementName::Number(scalar) => BufferElement::Number(*scalar, 1),
            ElementName::Letters(layout) => BufferElement::Struct(layout.clone()),
            ElementName::Named(of) => {
                let value_type = self.source.value_type(of).as_ref().and_then(BufferElement::of);
                value_type.ok_or_else(|| format!("there is no type {of:?} for {name}"))?
            }
            ElementName::Pixels(format) => BufferElement::Pixel(*format, ImageKind::Plane),
        };
        // One buffer may be vectors to one kernel, and numbers to another.
        let number =
            |element: &BufferElement| if let BufferElement::Number(scalar, _) = element { Some(*scalar) } else { None };
        for other in [of_parameter.as_ref(), known.get(name)].into_iter().flatten() {
            if let (Some(own), Some(other)) = (number(&element), number(other))
                && own != other
            {
                return Err(format!("it has elements of {}, and those of {name} are {}", other.name(), own.name()));
            }
        }
        known.entry(name.clone()).or_insert(element);
        Ok(())
    }
}

fn demand(parameter: &KernelParameter, space: AddressSpace, given: &str) -> Result<(), String> {
    match (parameter.space, space) {
        (has, wanted) if has == wanted => Ok(()),
        (AddressSpace::Image, _) => Err(format!(
            "it is an image, and args gives {given}: write \"image FORMAT {}[m, n]\" with a format such as rgba8 or r32f",
            parameter.name
        )),
        (AddressSpace::Sampler, _) => {
            Err(format!("it is a sampler, and args gives {given}: write one as in \"sampler clamp_to_edge nearest\""))
        }
        (AddressSpace::Global | AddressSpace::Constant, _) => Err(format!("it is a buffer, and args gives {given}")),
        (AddressSpace::Local, _) => {
            Err(format!("it is local memory, and args gives {given}: write \"local ELEMENTS\""))
        }
        (AddressSpace::Value, _) => Err(format!("it is handed over by value, and args gives {given}")),
    }
}

fn image_kind(declared: &Declared, parameter: &KernelParameter) -> Result<ImageKind, String> {
    let name = &declared.name;
    let sides = declared.sides.len();
    let Some(kind) = ImageKind::in_c(&parameter.type_name) else {
        let known = "image1d_t, image1d_buffer_t, image2d_t and image3d_t";
        return Err(format!("{} cannot be given; {known} can", parameter.type_name));
    };
    if sides != kind.dimensions() {
        let wanted = ["n", "m, n", "16, m, n"][kind.dimensions() - 1];
        return Err(format!("{name} has {sides} of {} sides: write them as in {name}[{wanted}]", kind.dimensions()));
    }
    match (declared.role, parameter.is_const) {
        (BufferRole::In, false) => {
            Err(format!("it is written, and args says that {name} is an input: write out {name}"))
        }
        _ => Ok(kind),
    }
}

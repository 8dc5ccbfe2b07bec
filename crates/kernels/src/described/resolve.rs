//! A description beside its kernels' texts: each buffer, number and piece of local memory gets the type of its parameter.

use super::args::{BufferRole, Content, Declared, DescribedArg, ElementName};
use super::description::{DeclarationError, DescribedLaunch, Description, FamilyFile};
use crate::c_text::ValueType;
use crate::signature::{AddressSpace, CSource, KernelParameter};
use gpulab_model::Joined;
use gpulab_model::data::Dtype;
use gpulab_model::plan::ImageKind;

/// Gives all arguments and buffers their types.
pub fn resolve(description: &mut Description, file: &FamilyFile) -> Result<(), DeclarationError> {
    for rung in &mut description.rungs {
        let wrong = |line, why: String| DeclarationError {
            line,
            why: format!("rung {}: {why}", rung.name),
        };
        let text = file
            .sources
            .get(&rung.file)
            .ok_or_else(|| wrong(None, format!("{} was not read", rung.file)))?;
        // With the macros that it is built with, as far as they are names of types.
        let tuned = rung
            .tune
            .iter()
            .filter_map(|(name, values)| Some((name.clone(), values.first()?.to_string())));
        let defines: Vec<(String, String)> =
            rung.defines.clone().into_iter().chain(tuned).collect();
        let source = CSource::new(text, &defines);
        let mut buffers: Vec<&mut Declared> = description
            .buffers
            .iter_mut()
            .chain(&mut rung.scratch)
            .collect();
        for launch in rung.steps.iter_mut().flat_map(|step| step.launches()) {
            let line = launch.line;
            resolve_launch(launch, &source, &rung.file, &mut buffers)
                .map_err(|why| wrong(line, why))?;
            if launch.wg.is_none() && rung.wg.is_none() && rung.groups.is_empty() {
                launch.wg = source.required_group(&launch.kernel);
            }
        }
    }
    if description.types.is_empty() {
        let scratch = description.rungs.iter().flat_map(|rung| &rung.scratch);
        let has_case = description
            .buffers
            .iter()
            .chain(scratch)
            .any(|buffer| buffer.resolved == Some(ValueType::Case));
        let dtype = match description
            .outputs()
            .next()
            .and_then(|output| output.resolved.as_ref())
        {
            Some(ValueType::Number(scalar, _)) => scalar.dtype().unwrap_or(Dtype::U8),
            Some(ValueType::Struct(_)) => Dtype::U8,
            _ => Dtype::F32,
        };
        description.types = vec![if has_case && dtype == Dtype::U8 {
            Dtype::F32
        } else {
            dtype
        }];
    }
    Ok(())
}

fn resolve_launch(
    launch: &mut DescribedLaunch,
    source: &CSource,
    file: &str,
    buffers: &mut [&mut Declared],
) -> Result<(), String> {
    let named = Some(launch.kernel.as_str()).filter(|name| !name.is_empty());
    let kernel = source.kernel(named, file)?;
    launch.kernel.clone_from(&kernel);
    let parameters = source.parameters(&kernel).unwrap_or_default();
    if parameters.len() != launch.args.len() {
        let names = parameters.iter().map(|parameter| parameter.name.as_str());
        return Err(format!(
            "kernel {kernel} has {} parameters ({}), and args has {}",
            parameters.len(),
            names.joined(", "),
            launch.args.len()
        ));
    }
    for (number, (arg, parameter)) in (1..).zip(launch.args.iter_mut().zip(&parameters)) {
        let KernelParameter {
            type_name, name, ..
        } = parameter;
        let wrong =
            |why: String| format!("parameter {number} of {kernel}, `{type_name} {name}`: {why}");
        arg.take_type(&parameter.value_type);
        match arg {
            DescribedArg::Buffer(name) => {
                match buffers.iter_mut().find(|buffer| buffer.name == *name) {
                    Some(buffer) => resolve_buffer(buffer, parameter, source).map_err(wrong)?,
                    None => return Err(wrong(format!("there is no buffer {name}"))),
                }
            }
            DescribedArg::Number(..) => {
                demand(parameter, AddressSpace::Value, "a number").map_err(wrong)?
            }
            DescribedArg::Numbers(values, of) => {
                demand(parameter, AddressSpace::Value, "a struct or a vector").map_err(wrong)?;
                let wanted = match of {
                    Some(ValueType::Number(_, lanes)) => *lanes,
                    Some(ValueType::Struct(layout)) => layout.fields.len(),
                    _ => {
                        let why = "its fields are not known here: write them, as in struct <ffi> {1.0, 2.0, 3}";
                        return Err(wrong(why.into()));
                    }
                };
                let has = values.len();
                if has != wanted {
                    return Err(wrong(format!(
                        "it has {wanted} numbers, and args gives {has}"
                    )));
                }
            }
            DescribedArg::Local(..) => {
                demand(parameter, AddressSpace::Local, "local memory").map_err(wrong)?
            }
            DescribedArg::Sampler(_) => {
                demand(parameter, AddressSpace::Sampler, "a sampler").map_err(wrong)?
            }
        }
    }
    Ok(())
}

/// Notes a buffer's elements; they must be those of each parameter that it is given to.
fn resolve_buffer(
    declared: &mut Declared,
    parameter: &KernelParameter,
    source: &CSource,
) -> Result<(), String> {
    let name = &declared.name;
    if let ElementName::Pixels(format) = declared.element {
        demand(parameter, AddressSpace::Image, name)?;
        let pixel = ValueType::Pixel(format, image_kind(declared, parameter)?);
        return match declared.resolved.get_or_insert_with(|| pixel.clone()) {
            known if *known == pixel => Ok(()),
            _ => Err(format!(
                "{} is an image of another kind elsewhere",
                declared.name
            )),
        };
    }
    let space = if parameter.space == AddressSpace::Constant {
        AddressSpace::Constant
    } else {
        AddressSpace::Global
    };
    demand(parameter, space, name)?;
    if parameter.is_const && declared.role == BufferRole::Out {
        return Err(format!(
            "it is const, and args says that {name} is an output"
        ));
    }
    let of_parameter = parameter
        .value_type
        .as_ref()
        .filter(|of| **of != ValueType::Index);
    let element = match &declared.element {
        ElementName::Parameter => of_parameter.cloned().ok_or_else(|| {
            format!(
                "the type {:?} is not known here: write the elements' type, as in \"f32 {name}[...]\"",
                parameter.type_name
            )
        })?,
        ElementName::Case => ValueType::Case,
        ElementName::Number(scalar) => ValueType::Number(*scalar, 1),
        ElementName::Letters(layout) => ValueType::Struct(layout.clone()),
        ElementName::Named(of) => {
            let value_type = source.value_type(of).filter(|of| *of != ValueType::Index);
            value_type.ok_or_else(|| format!("there is no type {of:?} for {name}"))?
        }
        ElementName::Pixels(format) => ValueType::Pixel(*format, ImageKind::Plane),
    };
    // One buffer may be vectors to one kernel, and numbers to another.
    for other in of_parameter.into_iter().chain(&declared.resolved) {
        if let (ValueType::Number(own, _), ValueType::Number(other, _)) = (&element, other)
            && own != other
            // Programs hand over all kinds of data as bytes.
            && other.size() > 1
        {
            return Err(format!(
                "it has elements of {}, and those of {name} are {}",
                other.name(),
                own.name()
            ));
        }
    }
    if let (ValueType::Number(own, 1), Some(ValueType::Struct(layout))) = (&element, of_parameter)
        && parameter.type_name.ends_with('3')
        && layout.size == 4 * own.size()
        && declared
            .length
            .value(&|_| Some(1))
            .is_ok_and(|count| count % 4 != 0)
    {
        return Err(format!(
            "it takes {} bytes in memory, and {name} has {} for each: read packed numbers by vload3 from a pointer to {}, or \
             hand over vectors of four",
            layout.size,
            3 * own.size(),
            own.name()
        ));
    }
    if let (ValueType::Struct(_), Content::Fill(kind, _)) = (&element, &declared.content)
        && kind.has_structure()
    {
        return Err(format!(
            "{name} is declared as data of an order, which structs do not have: write their numbers into a file, as in \
             \"{name}[...] file {name}.npy\""
        ));
    }
    declared.resolved.get_or_insert(element);
    Ok(())
}

fn demand(parameter: &KernelParameter, space: AddressSpace, given: &str) -> Result<(), String> {
    match (parameter.space, space) {
        (has, wanted) if has == wanted => Ok(()),
        (AddressSpace::Image, _) => Err(format!(
            "it is an image, and args gives {given}: write \"image FORMAT {}[m, n]\" with a format such as rgba8 or r32f",
            parameter.name
        )),
        (AddressSpace::Sampler, _) => Err(format!(
            "it is a sampler, and args gives {given}: write one as in \"sampler clamp_to_edge nearest\""
        )),
        (AddressSpace::Global | AddressSpace::Constant, _) => {
            Err(format!("it is a buffer, and args gives {given}"))
        }
        (AddressSpace::Local, _) => Err(format!(
            "it is local memory, and args gives {given}: write \"local ELEMENTS\""
        )),
        (AddressSpace::Value, _) => Err(format!(
            "it is handed over by value, and args gives {given}"
        )),
    }
}

fn image_kind(declared: &Declared, parameter: &KernelParameter) -> Result<ImageKind, String> {
    let name = &declared.name;
    let sides = declared.sides.len();
    let Some(kind) = ImageKind::in_c(&parameter.type_name) else {
        let known = "image1d_t, image1d_buffer_t, image2d_t and image3d_t";
        return Err(format!(
            "{} cannot be given; {known} can",
            parameter.type_name
        ));
    };
    if sides != kind.dimensions() {
        let wanted = ["n", "m, n", "16, m, n"][kind.dimensions() - 1];
        return Err(format!(
            "{name} has {sides} of {} sides: write them as in {name}[{wanted}]",
            kind.dimensions()
        ));
    }
    match (declared.role, parameter.is_const) {
        (BufferRole::In, false) => Err(format!(
            "it is written, and args says that {name} is an input: write out {name}"
        )),
        _ => Ok(kind),
    }
}

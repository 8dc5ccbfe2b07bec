//! Whether the argument lists of kernels in public repositories fit into a family's file.
//!
//! `signatures.csv` has lists that between them have every kind of argument, each with a kernel that has it. For each a stub kernel with exactly these
//! parameters is described and run: each output depends on every input and every value.

use super::{case, run};
use crate::drivers::on_pocl;
use gpulab::data::{Array, Dtype, Layout, NumberValue, Scalar};
use gpulab::kernels::{FamilyFile, Oracle, OracleQuestion, Registry};
use gpulab::outcome::Status;
use gpulab::plan::Case;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

const SIGNATURES: &str = include_str!("signatures.csv");

/// Elements of each buffer: three groups and a rest.
const N: i64 = 200;
const WG: i64 = 64;

#[derive(Deserialize)]
struct Signature {
    repository: String,
    kernel: String,
    /// As in `global const float*; scalar int; local float*`.
    arguments: String,
    /// What is special in them, and in what the kernel does.
    needs: String,
}

/// Names of types that the repositories define somewhere, and plain types to stand for them.
const ALIASES: [(&str, &str); 9] = [
    ("To", "double"),
    ("Ti", "short"),
    ("accType", "float"),
    ("in_t", "ushort"),
    ("idx_t", "uint"),
    ("dim_t", "long"),
    ("realM", "float2"),
    ("realN", "float4"),
    ("floatvec", "float8"),
];

/// A field of a struct: its name, its type, and the length of its array.
type Field = (&'static str, Scalar, usize);

/// Structs of the repositories, with fields of the same kinds.
const STRUCTS: [(&str, &[Field]); 4] = {
    use Scalar::{F32, F64, I32, I64, U8, U32};
    [
        (
            "KParam",
            &[("dims", I64, 4), ("strides", I64, 4), ("offset", I64, 1)],
        ),
        ("dcomplex", &[("real", F64, 1), ("imag", F64, 1)]),
        (
            "simParams_t",
            &[
                ("origin", F32, 3),
                ("cells", U32, 1),
                ("gravity", F64, 1),
                ("flag", U8, 1),
            ],
        ),
        (
            "knode",
            &[
                ("location", I32, 1),
                ("indices", I32, 5),
                ("keys", I32, 5),
                ("is_leaf", U8, 1),
            ],
        ),
    ]
};

/// A number of a value: how it is named behind the value's name, and its type.
type Component = (String, Scalar);

/// The numbers of a type of OpenCL C; none of what cannot be handed over.
fn components(type_name: &str) -> Vec<Component> {
    if let Some((_, fields)) = STRUCTS.iter().find(|(name, _)| *name == type_name) {
        let of = |&(name, scalar, count): &Field| -> Vec<Component> {
            match count {
                1 => vec![(format!(".{name}"), scalar)],
                _ => (0..count)
                    .map(|at| (format!(".{name}[{at}]"), scalar))
                    .collect(),
            }
        };
        return fields.iter().flat_map(of).collect();
    }
    if type_name.starts_with("image") {
        return vec![(String::new(), Scalar::I32)];
    }
    let plain = ALIASES
        .iter()
        .find(|(name, _)| *name == type_name)
        .map_or(type_name, |(_, plain)| plain);
    if plain == "T" {
        return vec![(String::new(), Scalar::F32)];
    }
    if let Some(scalar) = Scalar::in_c(plain) {
        return vec![(String::new(), scalar)];
    }
    let base = plain.trim_end_matches(|c: char| c.is_ascii_digit());
    let lanes = plain[base.len()..].parse().unwrap_or(0);
    Scalar::in_c(base).map_or(Vec::new(), |scalar| {
        (0..lanes)
            .map(|lane| (format!(".s{lane:x}"), scalar))
            .collect()
    })
}

/// What a file that uses this type says of it.
fn definition(type_name: &str) -> String {
    if let Some((_, plain)) = ALIASES.iter().find(|(name, _)| *name == type_name) {
        return match type_name.starts_with(|c: char| c.is_ascii_uppercase()) {
            true => format!("#define {type_name} {plain}\n"),
            false => format!("typedef {plain} {type_name};\n"),
        };
    }
    let Some((_, fields)) = STRUCTS.iter().find(|(name, _)| *name == type_name) else {
        return String::new();
    };
    let field = |&(name, scalar, count): &Field| match count {
        1 => format!("    {} {name};\n", scalar.c_name()),
        _ => format!("    {} {name}[{count}];\n", scalar.c_name()),
    };
    format!(
        "typedef struct\n{{\n{}}} {type_name};\n",
        fields.iter().map(field).collect::<String>()
    )
}

/// What a number counts for: all of its bits, and few enough that sums are exact in every type.
fn counted(number: NumberValue, scalar: Scalar) -> i64 {
    match number {
        NumberValue::Real(real) => (2.0 * real) as i64,
        NumberValue::Whole(whole) if scalar.size() == 8 => {
            (whole as i64 & 255) + (whole as i64 >> 32)
        }
        NumberValue::Whole(whole) => whole as i64,
    }
}

/// [`counted`] in OpenCL C.
fn counted_in_c(value: &str, scalar: Scalar) -> String {
    match scalar {
        _ if scalar.is_float() => format!("(long)(2 * {value})"),
        Scalar::I64 | Scalar::U64 => format!("(((long){value} & 255) + ((long){value} >> 32))"),
        _ => format!("(long){value}"),
    }
}

/// A stub kernel and its description.
struct Stub {
    kernel: String,
    toml: String,
    oracle: Sums,
}

/// What a stub makes of its arguments: a sum, in which each number has a weight of its own.
#[derive(Default)]
struct Sums {
    /// Of all values.
    values: i64,
    /// Of local memory, for each place in the group.
    local: i64,
}

/// The weight of a component of a parameter.
fn weight(parameter: usize, component: usize) -> i64 {
    (parameter as i64 + 1) * (component as i64 + 1)
}

/// What is added in a component of an output.
fn added(output: usize, component: usize) -> i64 {
    1000 * component as i64 + 17 * output as i64
}

impl Oracle for Sums {
    fn answer(&self, question: &OracleQuestion<'_>) -> Result<Vec<Array>, String> {
        let elements = |layout: &Layout, lanes: usize| -> Vec<(usize, Scalar)> {
            let lane = |lane: usize| {
                layout
                    .fields
                    .iter()
                    .map(move |field| (lane * layout.size + field.at, field.scalar))
            };
            (0..lanes).flat_map(lane).collect()
        };
        let mut sums: Vec<i64> = (0..N)
            .map(|i| self.values + self.local * (i % WG))
            .collect();
        for buffer in &question.buffers {
            let Some(input) = buffer.input else { continue };
            let parameter: usize = buffer.name[1..].parse().unwrap();
            let each = elements(&buffer.layout, buffer.lanes);
            for (sum, bytes) in sums
                .iter_mut()
                .zip(input.as_bytes().chunks(buffer.layout.size * buffer.lanes))
            {
                for (component, &(at, scalar)) in each.iter().enumerate() {
                    let number = scalar.read(&bytes[at..at + scalar.size()]);
                    *sum += weight(parameter, component) * counted(number, scalar);
                }
            }
        }
        let answer = |(output, buffer): (usize, &gpulab::kernels::OracleBuffer<'_>)| {
            let mut array = Array::zeros(buffer.dtype, buffer.len);
            let size = buffer.layout.size * buffer.lanes;
            for (sum, bytes) in sums.iter().zip(array.as_bytes_mut().chunks_mut(size)) {
                for (component, (at, scalar)) in elements(&buffer.layout, buffer.lanes)
                    .into_iter()
                    .enumerate()
                {
                    let number = sum + added(output, component);
                    let value = match scalar.is_float() {
                        true => scalar.bytes(NumberValue::Real(number as f64)).unwrap(),
                        false => number.to_le_bytes()[..scalar.size()].to_vec(),
                    };
                    bytes[at..at + value.len()].copy_from_slice(&value);
                }
            }
            array
        };
        Ok(question.outputs().enumerate().map(answer).collect())
    }

    fn file(&self, _: &str, _: Dtype, _: &Layout) -> Result<Arc<Array>, String> {
        Err("there are no files".into())
    }

    fn describe(&self) -> String {
        "sums".into()
    }
}

/// Of each parameter that is a buffer how the file declares it: what is const is an input, and of the others the last is an
/// output, the last two where there are several, or the first is changed in place.
fn roles(arguments: &[(&str, &str, bool)], needs: &str) -> BTreeMap<usize, &'static str> {
    let is_buffer = |at: &usize| matches!(arguments[*at].0, "global" | "constant");
    // The only kernel with a buffer of truth values reads them.
    let is_written = |at: &usize| {
        arguments[*at].0 == "global" && !arguments[*at].2 && arguments[*at].1 != "bool"
    };
    let mut roles: BTreeMap<usize, &str> = (0..arguments.len())
        .filter(is_buffer)
        .map(|at| (at, ""))
        .collect();
    let written: Vec<usize> = (0..arguments.len()).filter(is_written).collect();
    let outputs = if needs.contains("several outputs") {
        2
    } else {
        1
    };
    written
        .iter()
        .rev()
        .take(outputs)
        .for_each(|at| _ = roles.insert(*at, "out "));
    if needs.contains("in-place") {
        written
            .iter()
            .take(1)
            .for_each(|at| _ = roles.insert(*at, "inout "));
    }
    // Where nothing else is written, the last image is.
    let images = (0..arguments.len()).filter(|at| arguments[*at].0 == "image");
    roles.extend(images.map(|at| (at, "")));
    if roles.values().all(|role| role.is_empty())
        && let Some((_, role)) = roles
            .iter_mut()
            .rfind(|(at, _)| arguments[**at].0 == "image")
    {
        *role = "out ";
    }
    roles
}

fn stub(signature: &Signature, name: &str) -> Stub {
    let arguments: Vec<(&str, &str, bool)> = signature
        .arguments
        .split("; ")
        .map(|argument| {
            let (space, of) = argument.split_once(' ').unwrap();
            let of = of.trim_end_matches('*');
            (
                space,
                of.strip_prefix("const ").unwrap_or(of),
                of.starts_with("const "),
            )
        })
        .collect();
    let roles = roles(&arguments, &signature.needs);
    let mut oracle = Sums::default();
    let (mut parameters, mut sums, mut stores, mut args) =
        (Vec::new(), String::new(), String::new(), Vec::new());
    let (mut outputs, mut has_n) = (0, false);
    for (at, &(space, of, is_const)) in arguments.iter().enumerate() {
        let all = components(of);
        let qualifier = if is_const { "const " } else { "" };
        match space {
            "global" | "constant" => {
                let role = roles[&at];
                parameters.push(format!("__{space} {qualifier}{of} *p{at}"));
                args.push(match role {
                    "out " => format!("out p{at}[n]"),
                    _ if of == "bool" => format!("p{at}[n] below 2"),
                    _ => format!("{role}p{at}[n] small 8"),
                });
                for (number, (suffix, scalar)) in all.iter().enumerate() {
                    let value = format!("p{at}[i]{suffix}");
                    if role != "out " {
                        let counted = counted_in_c(&value, *scalar);
                        writeln!(sums, "    sum += {} * {counted};", weight(at, number)).unwrap();
                    }
                    if !role.is_empty() {
                        let c = scalar.c_name();
                        writeln!(
                            stores,
                            "    {value} = ({c})(sum + {});",
                            added(outputs, number)
                        )
                        .unwrap();
                    }
                }
                outputs += usize::from(!role.is_empty());
            }
            "local" => {
                parameters.push(format!("__local {of} *p{at}"));
                args.push("local WG".into());
                let place = format!("((__local uchar *)p{at})[get_local_id(0)]");
                writeln!(
                    sums,
                    "    {place} = get_local_id(0);\n    sum += {} * {place};",
                    weight(at, 0)
                )
                .unwrap();
                oracle.local += weight(at, 0);
            }
            "scalar" => {
                parameters.push(format!("{qualifier}{of} p{at}"));
                let mut written = Vec::new();
                for (number, (suffix, scalar)) in all.iter().enumerate() {
                    let sized = at as i64 + number as i64 + 3;
                    let (value, text) = match scalar {
                        _ if scalar.is_float() => {
                            (NumberValue::Real(sized as f64 + 0.5), format!("{sized}.5"))
                        }
                        Scalar::I64 | Scalar::U64 => {
                            let whole = (sized << 32) + sized;
                            (NumberValue::Whole(whole.into()), whole.to_string())
                        }
                        Scalar::I32 | Scalar::U32 if !has_n && all.len() == 1 => {
                            has_n = true;
                            (NumberValue::Whole(N.into()), "n".into())
                        }
                        _ => (NumberValue::Whole(sized.into()), sized.to_string()),
                    };
                    oracle.values += weight(at, number) * counted(value, *scalar);
                    let counted = counted_in_c(&format!("p{at}{suffix}"), *scalar);
                    writeln!(sums, "    sum += {} * {counted};", weight(at, number)).unwrap();
                    written.push(text);
                }
                args.push(
                    match (
                        &written[..],
                        all.first()
                            .is_some_and(|(suffix, _)| suffix.starts_with(".s")),
                    ) {
                        ([only], _) if all[0].0.is_empty() => only.clone(),
                        (_, true) if !STRUCTS.iter().any(|(name, _)| *name == of) => {
                            format!("({})", written.join(", "))
                        }
                        _ => format!("{{{}}}", written.join(", ")),
                    },
                );
            }
            "image" => {
                let (sides, place) = match of {
                    "image3d_t" => ("5, 4, 10", "(int4)(i % 10, i / 10 % 4, i / 40, 0)"),
                    _ => ("20, 10", "(int2)(i % 10, i / 10)"),
                };
                let is_read = roles[&at].is_empty();
                let (access, role) = if is_read {
                    ("__read_only", "")
                } else {
                    ("__write_only", "out ")
                };
                parameters.push(format!("{access} {of} p{at}"));
                args.push(format!(
                    "{role}image r32i p{at}[{sides}]{}",
                    if is_read { " small 8" } else { "" }
                ));
                let sampler = arguments.iter().position(|(space, ..)| *space == "sampler");
                let sampler = sampler.map_or(String::new(), |at| format!("p{at}, "));
                if is_read {
                    writeln!(
                        sums,
                        "    sum += {} * read_imagei(p{at}, {sampler}{place}).x;",
                        weight(at, 0)
                    )
                    .unwrap();
                } else {
                    writeln!(
                        stores,
                        "    write_imagei(p{at}, {place}, (int4)(sum + {}));",
                        added(outputs, 0)
                    )
                    .unwrap();
                    outputs += 1;
                }
            }
            _ => {
                parameters.push(format!("{of} p{at}"));
                args.push("sampler clamp_to_edge nearest".into());
            }
        }
    }
    let types: BTreeSet<&str> = arguments.iter().map(|(_, of, _)| *of).collect();
    let definitions: String = types.iter().map(|of| definition(of)).collect();
    let kernel = format!(
        "{definitions}\n__kernel void {}({})\n{{\n    const size_t i = get_global_id(0);\n    if (i >= N)\n        \
         return;\n    long sum = 0;\n{sums}{stores}}}\n",
        signature.kernel,
        parameters.join(",\n    ")
    );
    let case = if types.contains("T") {
        "types = [\"f32\"]\n"
    } else {
        ""
    };
    let written: Vec<String> = roles
        .iter()
        .filter(|(_, role)| !role.is_empty())
        .map(|(at, _)| format!("p{at}"))
        .collect();
    let toml = format!(
        "name = {name:?}\nkernel = \"stub.cl\"\n{case}n = {N}\nsizes = \"only\"\ndefine = {{ N = \"n\" }}\nitems = \
         \"n\"\nwg = {WG}\nargs = {args:?}\ntolerance = 0\ncheck = \"numpy: {} = 0\"\n",
        written.join(" = ")
    );
    Stub {
        kernel,
        toml,
        oracle,
    }
}

/// Of these signatures those that do not fit, and why.
fn misfits(driver: &str, signatures: &[Signature]) -> Vec<String> {
    let mut families = Registry::default();
    let declare = |(number, signature): (usize, &Signature)| {
        let Stub {
            kernel,
            toml,
            oracle,
        } = stub(signature, &format!("signature_{number}"));
        let sources = BTreeMap::from([("stub.cl".to_owned(), kernel)]);
        let file = FamilyFile {
            name: "stub".into(),
            text: toml,
            folder: PathBuf::from("/"),
            sources,
        };
        let family = families
            .declare(&file, Box::new(oracle))
            .map_err(|error| error.to_string())?;
        Ok(case(family, &family.ladder[0]))
    };
    let cases: Vec<Result<Case, String>> = signatures.iter().enumerate().map(declare).collect();
    let mut outcomes = run(driver, families, cases.iter().flatten()).into_iter();
    let why = |(signature, case): (&Signature, &Result<Case, String>)| {
        let why = match case {
            Ok(_) => outcomes
                .next()
                .filter(|outcome| outcome.status() != Status::Ok)?
                .reason()
                .to_owned(),
            Err(why) => why.clone(),
        };
        let Signature {
            repository,
            kernel,
            arguments,
            needs,
        } = signature;
        Some(format!(
            "{repository}: {kernel}({arguments}), which needs {needs}: {why}"
        ))
    };
    signatures.iter().zip(&cases).filter_map(why).collect()
}

#[test]
fn argument_lists_of_public_kernels_fit() {
    on_pocl(|driver| {
        let all = csv::Reader::from_reader(SIGNATURES.as_bytes()).into_deserialize();
        let all: Vec<Signature> = all.collect::<Result<_, _>>().unwrap();
        let misfits = misfits(driver, &all);
        assert!(
            misfits.is_empty(),
            "{}",
            misfits.join(
                "
"
            )
        );
        all.len()
    });
}

//! The parameters of kernels, as the driver tells, held against what they are given.
//!
//! Drivers believe the caller. Where a type is wrong they crash, or take a whole number's bits for a float's.

use super::query;
use gpulab_model::plan::Arg;
use gpulab_system::text::Joined;
use ocl::core::Kernel;

/// Qualifiers of address, and that of access which all but images have.
const GLOBAL: u64 = 0x119B;
const LOCAL: u64 = 0x119C;
const CONSTANT: u64 = 0x119D;
const NONE: u64 = 0x11A3;

#[derive(Debug)]
pub(super) struct Parameter {
    kind: ParameterKind,
    /// As it is declared: qualifier, type and name.
    declared: String,
    name: String,
}

#[derive(Debug, PartialEq)]
enum ParameterKind {
    /// A pointer to global or constant memory.
    Buffer,
    Image,
    Local,
    /// A whole number of so many bytes.
    Whole(usize),
    Float,
    Sampler,
    /// Of another type: handed over by value.
    Other,
    /// Of a type that nothing is known of: the driver compares sizes.
    Unknown,
}

/// The parameters of a kernel; none if the driver does not tell.
pub(super) fn parameters(kernel: &Kernel, text: &str) -> Vec<Parameter> {
    const NUM_ARGS: u32 = 0x1191;
    let count = query::kernel(kernel, NUM_ARGS).ok().and_then(|answer| answer.number()).unwrap_or(0);
    let told = (0..count).map(|index| {
        let ask = |key| query::kernel_arg(kernel, index as u32, key).ok();
        let [address, access] = [0x1196, 0x1197].map(|key| ask(key).and_then(|answer| answer.number()));
        let [type_name, name] = [0x1198, 0x119A].map(|key| ask(key).map(|answer| answer.text()));
        Some(Parameter::new(address?, access?, &type_name?, name.unwrap_or_default(), text))
    });
    told.collect::<Option<_>>().unwrap_or_default()
}

impl Parameter {
    /// From OpenCL's qualifiers of address and access; `text` is what its type may be defined in.
    fn new(address: u64, access: u64, type_name: &str, name: String, text: &str) -> Parameter {
        let (kind, qualifier) = match address {
            GLOBAL | CONSTANT if access != NONE => (ParameterKind::Image, ""),
            GLOBAL => (ParameterKind::Buffer, "__global "),
            CONSTANT => (ParameterKind::Buffer, "__constant "),
            LOCAL => (ParameterKind::Local, "__local "),
            _ => (by_value(type_name, text), ""),
        };
        Parameter { kind, declared: format!("{qualifier}{type_name} {name}").trim_end().to_owned(), name }
    }

    /// Why it cannot be given this argument; a `wide_index` has 8 bytes.
    pub(super) fn refusal<B>(&self, arg: &Arg<B>, is_image: bool, wide_index: bool) -> Option<String> {
        let index_bytes = if wide_index { 8 } else { 4 };
        let (wanted, given, right) = match arg {
            Arg::Buffer(_) if is_image => (ParameterKind::Image, "an image".to_owned(), "image"),
            Arg::Buffer(_) => (ParameterKind::Buffer, "a buffer".to_owned(), "__global T *"),
            Arg::Local(_) => (ParameterKind::Local, "local memory".to_owned(), "__local T *"),
            Arg::Index(_) => {
                let index = if wide_index { "ulong" } else { "uint" };
                (ParameterKind::Whole(index_bytes), format!("a whole number of type INDEX ({index})"), "const INDEX ")
            }
            Arg::Uint(_) => (ParameterKind::Whole(4), "a uint".to_owned(), "const uint "),
            Arg::Float(_) => (ParameterKind::Float, "a float".to_owned(), "const float "),
            Arg::Int(_) => (ParameterKind::Whole(4), "an int".to_owned(), "const int "),
            Arg::Sampler(_) => (ParameterKind::Sampler, "a sampler".to_owned(), "sampler_t "),
            // Its type was read from the kernel's own text.
            Arg::Value(value) => match &self.kind {
                ParameterKind::Whole(bytes) if *bytes == value.bytes().len() => return None,
                ParameterKind::Float if value.bytes().len() == 4 => return None,
                ParameterKind::Other | ParameterKind::Unknown => return None,
                _ => (ParameterKind::Unknown, format!("a value of {} bytes", value.bytes().len()), "const int "),
            },
        };
        let is_by_value = matches!(wanted, ParameterKind::Whole(_) | ParameterKind::Float | ParameterKind::Sampler);
        if self.kind == wanted || (self.kind == ParameterKind::Unknown && is_by_value) {
            return None;
        }
        let name = if self.name.is_empty() { "name" } else { &self.name };
        Some(format!("is declared `{}` and is given {given}: declare it `{right}{name}`", self.declared))
    }
}

/// What is handed over by value, by the name of its type.
fn by_value(type_name: &str, text: &str) -> ParameterKind {
    /// Deeper definitions are left to the driver.
    const MOST: usize = 8;
    let mut name = type_name.to_owned();
    for _ in 0..MOST {
        name = defined_by(&name, text).unwrap_or(name);
    }
    let scalar = name.trim_end_matches(|c: char| c.is_ascii_digit());
    match name.as_str() {
        "int" | "uint" | "unsigned" | "unsigned int" => ParameterKind::Whole(4),
        "long" | "ulong" | "unsigned long" => ParameterKind::Whole(8),
        "float" => ParameterKind::Float,
        "sampler_t" => ParameterKind::Sampler,
        _ if OTHERS.contains(&scalar) || name.starts_with("struct") || name.starts_with("union") => {
            ParameterKind::Other
        }
        _ => ParameterKind::Unknown,
    }
}

/// Types that are no whole number of 4 or 8 bytes, and those of which there are vectors.
const OTHERS: [&str; 13] =
    ["int", "uint", "long", "ulong", "char", "uchar", "short", "ushort", "half", "float", "double", "event_t", "bool"];

/// What a type's name stands for, if the text defines it.
fn defined_by(name: &str, text: &str) -> Option<String> {
    text.split(';').find_map(|statement| {
        let before = statement
            .trim_end()
            .strip_suffix(name)
            .filter(|before| !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))?
            .trim_end();
        let meaning = before.rsplit("typedef").next().filter(|meaning| meaning.len() < before.len());
        let of_fields = before.ends_with('}').then_some("struct");
        of_fields.or(meaning).map(|meaning| meaning.split_whitespace().joined(" "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpulab_model::plan::BufferId;

    const PRIVATE: u64 = 0x119E;
    const READ_ONLY: u64 = 0x11A0;
    const BUFFER: Arg<BufferId> = Arg::Buffer(BufferId(1));

    fn refusal(address: u64, access: u64, type_name: &str, text: &str, arg: Arg<BufferId>) -> Option<String> {
        Parameter::new(address, access, type_name, "e".into(), text).refusal(&arg, false, false)
    }

    #[test]
    fn each_kind_of_parameter_takes_what_is_of_its_kind_alone() {
        for (address, access, type_name, takes) in [
            (GLOBAL, NONE, "float*", 0),
            (GLOBAL, NONE, "S*", 0),
            (CONSTANT, NONE, "int*", 0),
            (LOCAL, NONE, "float*", 1),
            (PRIVATE, NONE, "uint", 2),
            (PRIVATE, NONE, "int", 2),
            (PRIVATE, NONE, "float", 3),
            (PRIVATE, NONE, "double", 3),
            (PRIVATE, NONE, "int2", 3),
            (PRIVATE, NONE, "ulong", 3),
            (PRIVATE, NONE, "short", 3),
            (PRIVATE, NONE, "struct S", 3),
            (PRIVATE, NONE, "sampler_t", 3),
            (GLOBAL, READ_ONLY, "image2d_t", 3),
        ] {
            for (kind, arg) in [BUFFER, Arg::Local(64), Arg::Index(5)].into_iter().enumerate() {
                let refused = refusal(address, access, type_name, "", arg);
                assert_eq!(refused.is_none(), kind == takes, "{type_name}: {refused:?}");
            }
        }
        assert_eq!(
            refusal(PRIVATE, NONE, "float", "", Arg::Index(5)).unwrap(),
            "is declared `float e` and is given a whole number of type INDEX (uint): declare it `const INDEX e`"
        );
    }

    #[test]
    fn an_image_takes_an_image_and_wide_numbers_are_wide() {
        let image = Parameter::new(GLOBAL, READ_ONLY, "image2d_t", "e".into(), "");
        assert_eq!(image.refusal(&BUFFER, true, false), None);
        let long = Parameter::new(PRIVATE, NONE, "ulong", "e".into(), "");
        assert_eq!(long.refusal(&Arg::<BufferId>::Index(5), false, true), None);
        let pointer = Parameter::new(GLOBAL, NONE, "float*", "e".into(), "");
        assert!(pointer.refusal(&BUFFER, true, false).is_some());
    }

    #[test]
    fn types_of_other_names_are_looked_up() {
        let text = "typedef float real;\n#define X\ntypedef unsigned  int u32; typedef u32 count;\n\
                    typedef struct { float a; int b; } S;\nint b;";
        for (type_name, is_right) in [("real", false), ("u32", true), ("count", true), ("S", false), ("unheard", true)]
        {
            assert_eq!(refusal(PRIVATE, NONE, type_name, text, Arg::Index(5)).is_none(), is_right, "{type_name}");
        }
    }
}

//! Building a unit: source in, kernels out, or the compiler's log.

use super::error::{DeviceError, DeviceResult, guarded, retained};
use super::{BuildUnit, TriedBuild, doctor, info, native};
use crate::processes;
use gpulab_model::is_among;
use gpulab_model::outcome::Inspected;
use gpulab_model::plan::{Arg, BUILD_OPTIONS, MAX_REGISTERS};
use gpulab_record::terminal;
use ocl::core::{self, Context, DeviceId, Kernel, Program, ProgramInfo, ProgramInfoResult};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::time::{SystemTime, UNIX_EPOCH};

/// A definition that, unless it is 0, asks for the option of that name too.
const FAST_MATH: &str = "FAST_RELAXED_MATH";

/// Of the extension `cl_nv_compiler_options`: the option that [`MAX_REGISTERS`] asks for, with its value.
const NV_MAX_REGISTERS: &str = "-cl-nv-maxrregcount";

/// Of the extension `cl_nv_compiler_options`: the assembler tells in the build's log what it made of each kernel.
const NV_VERBOSE: &str = "-cl-nv-verbose";

/// Keeps the lines of the source in the PTX: NVIDIA's driver takes it, whatever the extension says.
const NV_LINES: &str = "-nv-line-info";

/// Status codes of a build that are the source's fault, not the driver's.
const SOURCE_CODES: &[i32] = &[-11, -15, -17, -43, -45, -46, -47];

/// A built unit and its kernels. Kernels come first: they are released before their program.
pub struct Built {
    kernels: BTreeMap<String, Vec<Kernel>>,
    parameters: BTreeMap<String, Vec<Parameter>>,
    program: Program,
    pub unit: BuildUnit,
    /// Whether `INDEX` is 64 bits wide in it.
    pub wide_index: bool,
}

impl Built {
    /// Compiles the unit and creates all its kernels: drivers may say that a program was built when
    /// it was not, but then it has no kernels.
    pub fn new(context: &Context, device: DeviceId, unit: &BuildUnit) -> DeviceResult<Built> {
        Built::with(context, device, unit, BUILD_OPTIONS)
    }

    /// As [`Built::new`]; native code that may reach beyond OpenCL C is an error.
    pub fn of_opencl_c(
        context: &Context,
        device: DeviceId,
        unit: &BuildUnit,
        is_native: bool,
    ) -> DeviceResult<Built> {
        if !is_native {
            return Built::new(context, device, unit);
        }
        let options = native::options(&unit.text, BUILD_OPTIONS)?;
        let built = Built::with(context, device, unit, &options)?;
        // Where a driver gives no binary, nothing is seen.
        native::demand_own_functions(&built.binary().unwrap_or_default())?;
        Ok(built)
    }

    /// As [`Built::new`], with these options beside the unit's definitions.
    fn with(
        context: &Context,
        device: DeviceId,
        unit: &BuildUnit,
        options: &str,
    ) -> DeviceResult<Built> {
        let options = with_defines(options, &unit.defines)?;
        let call = "clCreateProgramWithSource";
        let source = CString::new(unit.text.as_str()).map_err(|e| DeviceError::other(call, e))?;
        let program = guarded(call, || {
            core::create_program_with_source(context, &[source])
        })?;
        let built = guarded("clBuildProgram", || {
            core::build_program(&program, Some(&[device]), &options, None, None)
        });
        judge(built, &program, device, unit)?;
        let index = unit.defines.iter().find(|(name, _)| name == "INDEX");
        let wide_index = index.is_some_and(|(_, value)| value == "ulong" || value == "size_t");
        let mut built = Built {
            kernels: BTreeMap::new(),
            parameters: BTreeMap::new(),
            program,
            unit: unit.clone(),
            wide_index,
        };
        for name in &unit.kernels {
            let kernel = built
                .create(name)
                .map_err(|error| missing(name, error, &built.program, device, unit))?;
            built.parameters.insert(name.clone(), parameters(&kernel));
            built.kernels.insert(name.clone(), vec![kernel]);
        }
        Ok(built)
    }

    fn binary(&self) -> DeviceResult<Vec<u8>> {
        let call = "clGetProgramInfo";
        match guarded(call, || {
            core::get_program_info(&self.program, ProgramInfo::Binaries)
        })? {
            ProgramInfoResult::Binaries(all) if !all.iter().all(Vec::is_empty) => Ok(all.concat()),
            _ => Err(DeviceError::other(
                call,
                "the driver gives no binary of the program",
            )),
        }
    }

    fn create(&self, name: &str) -> DeviceResult<Kernel> {
        guarded("clCreateKernel", || {
            core::create_kernel(&self.program, name)
        })
    }

    /// A kernel, of which each copy has arguments of its own; the copies before it were asked for before.
    pub fn kernel(&mut self, name: &str, copy: usize) -> DeviceResult<Kernel> {
        if self
            .kernels
            .get(name)
            .ok_or_else(|| self.unknown(name))?
            .len()
            <= copy
        {
            let kernel = self.create(name)?;
            self.kernels
                .entry(name.to_owned())
                .or_default()
                .push(kernel);
        }
        retained("clRetainKernel", &self.kernels[name][copy])
    }

    /// The parameters of a kernel; none if the driver does not tell.
    pub fn parameters(&self, name: &str) -> &[Parameter] {
        self.parameters.get(name).map_or(&[], Vec::as_slice)
    }

    fn unknown(&self, name: &str) -> DeviceError {
        DeviceError::other(
            "clCreateKernel",
            format!("{} has no kernel `{name}`", self.unit.path),
        )
    }
}

/// Builds a unit anew and returns what the driver tells of each of its kernels, in order.
pub fn inspect(
    context: &Context,
    device: DeviceId,
    unit: &BuildUnit,
    takes_nv_options: bool,
) -> DeviceResult<Vec<Inspected>> {
    const LOCAL_MEM_SIZE: u32 = 0x11B2;
    let mut built = if takes_nv_options {
        Built::with(
            context,
            device,
            &renewed(unit),
            &format!("{BUILD_OPTIONS} {NV_VERBOSE}"),
        )?
    } else {
        Built::new(context, device, unit)?
    };
    let log = build_log(&built.program, device, unit);
    let assembled = ptxas(&log);
    unit.kernels
        .iter()
        .map(|name: &String| {
            let logged = assembled.get(name.as_str()).cloned().unwrap_or_default();
            let local = info::kernel_work_group(&built.kernel(name, 0)?, device, LOCAL_MEM_SIZE)?;
            Ok(Inspected {
                own_local: local.number().or(logged.own_local),
                ..logged
            })
        })
        .collect()
}

/// Builds a unit anew, and returns the program's binary.
pub fn binary(
    context: &Context,
    device: DeviceId,
    unit: &BuildUnit,
    takes_nv_options: bool,
) -> DeviceResult<Vec<u8>> {
    let built = match takes_nv_options {
        true => Built::with(
            context,
            device,
            unit,
            &format!("{BUILD_OPTIONS} {NV_LINES}"),
        )
        .ok(),
        false => None,
    };
    let built = built.map_or_else(|| Built::new(context, device, unit), Ok)?;
    built.binary()
}

/// Builds a text that no cache holds, and again.
pub fn try_build(
    context: &Context,
    device: DeviceId,
    unit: &BuildUnit,
) -> DeviceResult<TriedBuild> {
    let unit = BuildUnit {
        // Drivers may say that a program was built when it was not, but then it has no kernels.
        kernels: vec![RENEWED.to_owned()],
        ..renewed(unit)
    };
    let mut tried = TriedBuild::default();
    for at in 0..tried.seconds.len() {
        let before = processes::processor_seconds();
        let built = Built::new(context, device, &unit);
        tried.seconds[at] = processes::processor_seconds() - before;
        match built {
            Ok(built) if at == 0 => tried.log = build_log(&built.program, device, &unit),
            Ok(_) => tried.is_built = true,
            Err(DeviceError::Build { log }) => {
                tried.log = log;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(tried)
}

/// The kernel that makes a text another one.
const RENEWED: &str = "renewed";

/// The unit with one more kernel, which writes the time: a program that the driver finds in its cache has no log. What no
/// kernel uses might be dropped before the cache is asked, so a kernel it is.
fn renewed(unit: &BuildUnit) -> BuildUnit {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos()) as u64;
    let kernel = format!("__kernel void {RENEWED}(__global ulong *out) {{ *out = {now}UL; }}");
    BuildUnit {
        text: format!("{}\n{kernel}\n", unit.text),
        ..unit.clone()
    }
}

fn with_defines(options: &str, defines: &[(String, String)]) -> DeviceResult<CString> {
    let says_version = |option: &&str| option.starts_with("-cl-std=");
    let is_replaced = defines.iter().any(|(name, _)| says_version(&name.as_str()));
    let kept = options
        .split(' ')
        .filter(|option| !is_replaced || !says_version(option));
    let mut text = kept.collect::<Vec<_>>().join(" ");
    for (name, value) in defines {
        if name.starts_with('-') {
            text.push(' ');
            text.push_str(name);
            continue;
        }
        if name.is_empty()
            || [name, value]
                .iter()
                .any(|s| s.contains(|c: char| c.is_whitespace() || c.is_control()))
        {
            return Err(DeviceError::other(
                "clBuildProgram",
                format!("a definition has a blank in it: `{name}={value}`"),
            ));
        }
        text.push_str(" -D ");
        text.push_str(name);
        text.push('=');
        text.push_str(value);
        if name == FAST_MATH && value != "0" {
            text.push_str(" -cl-fast-relaxed-math");
        }
        if name == MAX_REGISTERS && value != "0" {
            text.push_str(&format!(" {NV_MAX_REGISTERS}={value}"));
        }
    }
    CString::new(text).map_err(|e| DeviceError::other("clBuildProgram", e))
}

/// Decides whether a build worked from its result and from what the driver says afterwards.
fn judge(
    built: DeviceResult<()>,
    program: &Program,
    device: DeviceId,
    unit: &BuildUnit,
) -> DeviceResult<()> {
    const BUILD_STATUS: u32 = 0x1181;
    const SUCCESS: u64 = 0;
    built.map_err(|error: DeviceError| match &error {
        DeviceError::Call { code, .. } if !SOURCE_CODES.contains(code) => error,
        _ => build_error(&error.to_string(), program, device, unit),
    })?;
    match info::build(program, device, BUILD_STATUS)?.number() {
        Some(SUCCESS) => Ok(()),
        _ => Err(build_error(
            "the driver does not say why",
            program,
            device,
            unit,
        )),
    }
}

/// What a kernel that a built program lacks says about the build.
fn missing(
    name: &str,
    error: DeviceError,
    program: &Program,
    device: DeviceId,
    unit: &BuildUnit,
) -> DeviceError {
    if !error
        .code()
        .is_some_and(|code| SOURCE_CODES.contains(&code))
    {
        return error;
    }
    let problem = format!(
        "{}: no kernel `{name}` came out of the build: {error}",
        unit.path
    );
    DeviceError::Build {
        log: format!("{problem}\n{}", build_log(program, device, unit))
            .trim_end()
            .to_owned(),
    }
}

/// A build error with the driver's log, or with `otherwise` where the log is empty.
fn build_error(
    otherwise: &str,
    program: &Program,
    device: DeviceId,
    unit: &BuildUnit,
) -> DeviceError {
    let mut log = build_log(program, device, unit);
    if log.is_empty() {
        otherwise.clone_into(&mut log);
    }
    // All that PoCL says where it cannot keep what it compiles.
    if log.ends_with("failed to build the program")
        && let Some(problem) = doctor::pocl_cache_problem()
    {
        log = format!("{log}; if this is PoCL, {problem}");
    }
    DeviceError::Build { log }
}

/// The driver's log, fit to be shown; empty if there is none.
fn build_log(program: &Program, device: DeviceId, unit: &BuildUnit) -> String {
    const BUILD_LOG: u32 = 0x1183;
    let raw = info::build(program, device, BUILD_LOG)
        .map(|a| a.text())
        .unwrap_or_default();
    let home = std::env::var("HOME").ok();
    clean(&raw, &unit.path, home.as_deref())
}

/// What compilers call a source that came as a string.
const ANONYMOUS: [&str; 3] = ["<kernel>:", "<program source>:", "<stdin>:"];

/// Drops the NUL at the end and blank ends, shows control characters as escapes, the home folder as `~`,
/// and the unit's path where the compiler has a name of its own for it.
pub fn clean(log: &str, path: &str, home: Option<&str>) -> String {
    let mut text = log
        .trim_end_matches(['\0', '\n', '\r', ' '])
        .trim_start_matches(['\n', '\r'])
        .replace("\r\n", "\n");
    if let Some(home) = home
        .map(|h| h.trim_end_matches('/'))
        .filter(|h| h.len() > 1)
    {
        text = text.replace(home, "~");
    }
    for name in ANONYMOUS {
        text = text.replace(name, &format!("{path}:"));
    }
    terminal::text(&text)
}

/// What NVIDIA's assembler tells of each function in the log of a verbose build.
pub fn ptxas(log: &str) -> BTreeMap<&str, Inspected> {
    let mut all: BTreeMap<&str, Inspected> = BTreeMap::new();
    let mut entry = None;
    let mut function = None;
    for line in log.lines() {
        if let Some(name) = name_after(line, "Compiling entry function") {
            (entry, function) = (Some(name), Some(name));
        } else if let Some(name) = name_after(line, "Function properties for") {
            function = Some(name);
        } else if let Some(registers) = number_before(line, "registers") {
            // A kernel's functions may be told of between its name and its registers.
            let Some(name) = entry
                .filter(|name| all.get(name).is_none_or(|usage| usage.registers.is_none()))
                .or(function)
            else {
                continue;
            };
            let usage = all.entry(name).or_default();
            (usage.registers, usage.own_local) = (
                Some(registers),
                Some(number_before(line, "bytes smem").unwrap_or(0)),
            );
        } else if let Some(stores) = number_before(line, "bytes spill stores")
            && let Some(name) = function
        {
            let loads = number_before(line, "bytes spill loads").unwrap_or(0);
            all.entry(name).or_default().spills = Some([stores, loads]);
        }
    }
    all
}

/// The name behind these words, with or without quotes.
fn name_after<'a>(line: &'a str, words: &str) -> Option<&'a str> {
    let rest = line
        .split_once(words)?
        .1
        .trim_start()
        .trim_start_matches('\'');
    rest.split(['\'', ' ', ':'])
        .next()
        .filter(|name| !name.is_empty())
}

/// The number before this unit, in whichever of a line's parts it is.
fn number_before(line: &str, unit: &str) -> Option<u64> {
    line.split([',', ':']).find_map(|part: &str| {
        part.trim()
            .strip_suffix(unit)?
            .split_whitespace()
            .last()?
            .parse()
            .ok()
    })
}

/// Qualifiers of address, and that of access which all but images have.
const GLOBAL: u64 = 0x119B;
const LOCAL: u64 = 0x119C;
const CONSTANT: u64 = 0x119D;
const NONE: u64 = 0x11A3;

#[derive(Debug)]
pub struct Parameter {
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
pub fn parameters(kernel: &Kernel) -> Vec<Parameter> {
    const NUM_ARGS: u32 = 0x1191;
    let count = info::kernel(kernel, NUM_ARGS)
        .ok()
        .and_then(|answer| answer.number())
        .unwrap_or(0);
    let told = (0..count).map(|index| {
        let [address, access, type_name, name] = [0x1196, 0x1197, 0x1198, 0x119A]
            .map(|key| info::kernel_arg(kernel, index as u32, key).ok());
        let name = name.map(|name| name.text()).unwrap_or_default();
        Some(Parameter::new(
            address?.number()?,
            access?.number()?,
            &type_name?.text(),
            name,
        ))
    });
    told.collect::<Option<_>>().unwrap_or_default()
}

impl Parameter {
    /// From OpenCL's qualifiers of address and access.
    fn new(address: u64, access: u64, type_name: &str, name: String) -> Parameter {
        let (kind, qualifier) = match address {
            GLOBAL | CONSTANT if access != NONE => (ParameterKind::Image, ""),
            GLOBAL => (ParameterKind::Buffer, "__global "),
            CONSTANT => (ParameterKind::Buffer, "__constant "),
            LOCAL => (ParameterKind::Local, "__local "),
            _ => (by_value(type_name), ""),
        };
        Parameter {
            kind,
            declared: format!("{qualifier}{type_name} {name}")
                .trim_end()
                .to_owned(),
            name,
        }
    }

    /// Why it cannot be given this argument; a `wide_index` has 8 bytes.
    pub fn refusal<B>(&self, arg: &Arg<B>, is_image: bool, wide_index: bool) -> Option<String> {
        let index_bytes = if wide_index { 8 } else { 4 };
        let (wanted, given, right) = match arg {
            Arg::Buffer(_) if is_image => (ParameterKind::Image, "an image".to_owned(), "image"),
            Arg::Buffer(_) => (ParameterKind::Buffer, "a buffer".to_owned(), "__global T *"),
            Arg::Local(_) => (
                ParameterKind::Local,
                "local memory".to_owned(),
                "__local T *",
            ),
            Arg::Index(_) => {
                let index = if wide_index { "ulong" } else { "uint" };
                (
                    ParameterKind::Whole(index_bytes),
                    format!("a whole number of type INDEX ({index})"),
                    "const INDEX ",
                )
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
                _ => (
                    ParameterKind::Unknown,
                    format!("a value of {} bytes", value.bytes().len()),
                    "const int ",
                ),
            },
        };
        let is_by_value = matches!(
            wanted,
            ParameterKind::Whole(_) | ParameterKind::Float | ParameterKind::Sampler
        );
        if self.kind == wanted || (self.kind == ParameterKind::Unknown && is_by_value) {
            return None;
        }
        let name = if self.name.is_empty() {
            "name"
        } else {
            &self.name
        };
        Some(format!(
            "is declared `{}` and is given {given}: declare it `{right}{name}`",
            self.declared
        ))
    }
}

/// What is handed over by value, by the name of its type: of one that has another name, the driver compares sizes.
fn by_value(type_name: &str) -> ParameterKind {
    match type_name {
        "int" | "uint" | "unsigned" | "unsigned int" => ParameterKind::Whole(4),
        "long" | "ulong" | "unsigned long" => ParameterKind::Whole(8),
        "float" => ParameterKind::Float,
        "sampler_t" => ParameterKind::Sampler,
        _ if is_among(
            type_name.trim_end_matches(|c: char| c.is_ascii_digit()),
            OTHERS,
        ) =>
        {
            ParameterKind::Other
        }
        _ if type_name.starts_with("struct") || type_name.starts_with("union") => {
            ParameterKind::Other
        }
        _ => ParameterKind::Unknown,
    }
}

/// Types that are no whole number of 4 or 8 bytes, and those of which there are vectors.
const OTHERS: &str = "int uint long ulong char uchar short ushort half float double event_t bool";

#[cfg(test)]
mod tests {
    use super::*;

    fn define(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn definitions_become_options() {
        let made =
            with_defines(BUILD_OPTIONS, &[define("T", "float"), define("WG", "256")]).unwrap();
        assert_eq!(
            made.to_str().unwrap(),
            "-cl-std=CL1.2 -cl-kernel-arg-info -D T=float -D WG=256"
        );
        for (value, wanted) in [("1", true), ("0", false)] {
            let made = with_defines(BUILD_OPTIONS, &[define(FAST_MATH, value)]).unwrap();
            assert_eq!(
                made.to_str().unwrap().ends_with("=1 -cl-fast-relaxed-math"),
                wanted,
                "{made:?}"
            );
        }
        for (value, end) in [
            ("32", "=32 -cl-nv-maxrregcount=32"),
            ("0", " -D MAX_REGISTERS=0"),
        ] {
            let made = with_defines(BUILD_OPTIONS, &[define(MAX_REGISTERS, value)]).unwrap();
            assert!(made.to_str().unwrap().ends_with(end), "{made:?}");
        }
    }

    #[test]
    fn definitions_cannot_smuggle_options() {
        for (name, value) in [
            ("T", "float -I /etc"),
            ("", "1"),
            ("A\tB", "1"),
            ("T", "a\0b"),
        ] {
            assert!(
                with_defines(BUILD_OPTIONS, &[define(name, value)]).is_err(),
                "{name}={value}"
            );
        }
    }

    const TWO_KERNELS: &str = "
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'reduce_vectorised' for 'sm_90'
ptxas info    : Function properties for reduce_vectorised
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 1024 bytes smem, 400 bytes cmem[0]
ptxas info    : Compile time = 4.332 ms
ptxas info    : Compiling entry function 'reduce_finish' for 'sm_90'
ptxas info    : Function properties for reduce_finish
ptxas         .     16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 1 barriers, 400 bytes cmem[0], 255 registers
";

    fn usage(registers: u64, spills: Option<[u64; 2]>, local: u64) -> Inspected {
        Inspected {
            registers: Some(registers),
            spills,
            own_local: Some(local),
            ..Inspected::default()
        }
    }

    #[test]
    fn the_assembler_tells_of_each_kernel() {
        let all = ptxas(TWO_KERNELS);
        assert_eq!(all["reduce_vectorised"], usage(40, Some([0, 0]), 1024));
        assert_eq!(all["reduce_finish"], usage(255, Some([8, 12]), 0));
        assert_eq!(all.len(), 2);
    }

    #[test]
    fn functions_of_a_kernel_are_told_from_it() {
        let between = "ptxas info    : Compiling entry function 'k' for 'sm_61'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for helper
    8 bytes stack frame, 4 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 12 registers, 328 bytes cmem[0]";
        assert_eq!(ptxas(between)["k"], usage(12, Some([0, 0]), 0));
        let behind = "ptxas info    : Compiling entry function 'k' for 'sm_121a'
ptxas info    : Function properties for k
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 58 registers, 4096 bytes smem
ptxas info    : Function properties for helper
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 22 registers, used 0 barriers";
        assert_eq!(ptxas(behind)["k"], usage(58, Some([0, 0]), 4096));
        let by_the_linker = "info    : Function properties for 'k':
info    : used 28 registers, 0 stack, 64 bytes smem, 412 bytes cmem[0], 0 bytes lmem";
        assert_eq!(ptxas(by_the_linker)["k"], usage(28, None, 64));
    }

    #[test]
    fn logs_of_others_tell_nothing() {
        for log in [
            "",
            "\n\0",
            "1 warning generated.",
            "x.cl:1:2: note: Used 4 registers,",
            "Compiling entry function '",
        ] {
            assert!(ptxas(log).is_empty(), "{log}");
        }
        let unfinished = "ptxas info    : Compiling entry function 'k' for 'sm_90'\nptxas info    : Used many registers";
        assert!(ptxas(unfinished).is_empty());
    }

    #[test]
    fn home_control_characters_and_the_last_nul_go_and_anonymous_sources_get_their_path() {
        let log = "/home/ada/.cache/pocl/x.cl:1:2: error\u{1b}[0m\r\nnext\tline\0\0\n\0";
        assert_eq!(
            clean(log, "a/b.cl", Some("/home/ada/")),
            "~/.cache/pocl/x.cl:1:2: error\\x1b[0m\nnext\tline"
        );
        assert_eq!(clean("/some/x\n", "a/b.cl", None), "/some/x");
        assert_eq!(
            clean("a/b", "a/b.cl", Some("/")),
            "a/b",
            "a home of / is no home"
        );
        assert_eq!(
            clean("<kernel>:3:61: error: x", "dot/naive.cl", None),
            "dot/naive.cl:3:61: error: x"
        );
    }

    use gpulab_model::plan::BufferId;

    const PRIVATE: u64 = 0x119E;
    const READ_ONLY: u64 = 0x11A0;
    const BUFFER: Arg<BufferId> = Arg::Buffer(BufferId(1));

    fn refusal(address: u64, access: u64, type_name: &str, arg: Arg<BufferId>) -> Option<String> {
        Parameter::new(address, access, type_name, "e".into()).refusal(&arg, false, false)
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
            for (kind, arg) in [BUFFER, Arg::Local(64), Arg::Index(5)]
                .into_iter()
                .enumerate()
            {
                let refused = refusal(address, access, type_name, arg);
                assert_eq!(refused.is_none(), kind == takes, "{type_name}: {refused:?}");
            }
        }
        assert_eq!(
            refusal(PRIVATE, NONE, "float", Arg::Index(5)).unwrap(),
            "is declared `float e` and is given a whole number of type INDEX (uint): declare it `const INDEX e`"
        );
    }
}

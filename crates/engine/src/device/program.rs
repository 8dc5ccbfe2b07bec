//! Building a unit: source in, kernels out, or the compiler's log.

use super::error::{DeviceError, guarded};
use super::parameter::{Parameter, parameters};
use super::{BuildUnit, causes, log, query};
use gpulab_model::outcome::Told;
use gpulab_model::plan::BUILD_OPTIONS;
use gpulab_model::plan::MAX_REGISTERS;
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
pub(super) struct Built {
    kernels: BTreeMap<String, Vec<Kernel>>,
    parameters: BTreeMap<String, Vec<Parameter>>,
    program: Program,
    pub(super) unit: BuildUnit,
    /// Whether `INDEX` is 64 bits wide in it.
    pub(super) wide_index: bool,
}

impl Built {
    /// Compiles the unit and creates all its kernels: drivers may say that a program was built when
    /// it was not, but then it has no kernels.
    pub(super) fn new(context: &Context, device: DeviceId, unit: &BuildUnit) -> Result<Built, DeviceError> {
        Built::with(context, device, unit, BUILD_OPTIONS)
    }

    /// As [`Built::new`], with these options beside the unit's definitions.
    fn with(context: &Context, device: DeviceId, unit: &BuildUnit, options: &str) -> Result<Built, DeviceError> {
        let options = with_defines(options, &unit.defines)?;
        let call = "clCreateProgramWithSource";
        let source = CString::new(unit.text.as_str()).map_err(|e| DeviceError::other(call, e))?;
        let program = guarded(call, || core::create_program_with_source(context, &[source]))?;
        let built = guarded("clBuildProgram", || core::build_program(&program, Some(&[device]), &options, None, None));
        judge(built, &program, device, unit)?;
        let index = unit.defines.iter().find(|(name, _)| name == "INDEX");
        let wide_index = index.is_some_and(|(_, value)| value == "ulong" || value == "size_t");
        let mut built =
            Built { kernels: BTreeMap::new(), parameters: BTreeMap::new(), program, unit: unit.clone(), wide_index };
        for name in &unit.kernels {
            let kernel = built.create(name).map_err(|error| missing(name, error, &built.program, device, unit))?;
            built.parameters.insert(name.clone(), parameters(&kernel, &unit.text));
            built.kernels.insert(name.clone(), vec![kernel]);
        }
        Ok(built)
    }

    fn create(&self, name: &str) -> Result<Kernel, DeviceError> {
        guarded("clCreateKernel", || core::create_kernel(&self.program, name))
    }

    /// Makes sure that there are `copies` of a kernel, each with arguments of its own.
    pub(super) fn provide(&mut self, name: &str, copies: usize) -> Result<(), DeviceError> {
        let mut have = self.kernels.get(name).map(Vec::len).ok_or_else(|| self.unknown(name))?;
        while have < copies {
            let kernel = self.create(name)?;
            self.kernels.entry(name.to_owned()).or_default().push(kernel);
            have += 1;
        }
        Ok(())
    }

    pub(super) fn kernel(&self, name: &str, copy: usize) -> Result<&Kernel, DeviceError> {
        let found = self.kernels.get(name).and_then(|copies| copies.get(copy));
        found.ok_or_else(|| self.unknown(name))
    }

    /// The parameters of a kernel; none if the driver does not tell.
    pub(super) fn parameters(&self, name: &str) -> &[Parameter] {
        self.parameters.get(name).map_or(&[], Vec::as_slice)
    }

    fn unknown(&self, name: &str) -> DeviceError {
        DeviceError::other("clCreateKernel", format!("{} has no kernel `{name}`", self.unit.path))
    }
}

/// Builds a unit anew and returns what the driver tells of each of its kernels, in order.
pub(super) fn inspect(
    context: &Context,
    device: DeviceId,
    unit: &BuildUnit,
    takes_nv_options: bool,
) -> Result<Vec<Told>, DeviceError> {
    const LOCAL_MEM_SIZE: u32 = 0x11B2;
    let built = if takes_nv_options {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Built::with(context, device, &renewed(unit, now as u64), &format!("{BUILD_OPTIONS} {NV_VERBOSE}"))?
    } else {
        Built::new(context, device, unit)?
    };
    let log = build_log(&built.program, device, unit);
    let assembled = log::ptxas(&log);
    unit.kernels
        .iter()
        .map(|name: &String| {
            let logged = assembled.get(name.as_str()).cloned().unwrap_or_default();
            let local = query::kernel_work_group(built.kernel(name, 0)?, device, LOCAL_MEM_SIZE)?;
            Ok(Told { local: local.number().or(logged.local), ..logged })
        })
        .collect()
}

/// Builds a unit anew, and returns the program's binary.
pub(super) fn binary(
    context: &Context,
    device: DeviceId,
    unit: &BuildUnit,
    takes_nv_options: bool,
) -> Result<Vec<u8>, DeviceError> {
    let with_lines = || Built::with(context, device, unit, &format!("{BUILD_OPTIONS} {NV_LINES}")).ok();
    let built = if takes_nv_options { with_lines() } else { None };
    let built = built.map_or_else(|| Built::new(context, device, unit), Ok)?;
    let call = "clGetProgramInfo";
    match guarded(call, || core::get_program_info(&built.program, ProgramInfo::Binaries))? {
        ProgramInfoResult::Binaries(all) if !all.iter().all(Vec::is_empty) => Ok(all.concat()),
        _ => Err(DeviceError::other(call, "the driver gives no binary of the program")),
    }
}

/// The unit with one more kernel, which writes `value`: a program that the driver finds in its cache has no log. What no
/// kernel uses might be dropped before the cache is asked, so a kernel it is.
fn renewed(unit: &BuildUnit, value: u64) -> BuildUnit {
    let kernel = format!("__kernel void renewed(__global ulong *out) {{ *out = {value}UL; }}");
    BuildUnit { text: format!("{}\n{kernel}\n", unit.text), ..unit.clone() }
}

pub fn build_options(defines: &[(String, String)]) -> Result<String, DeviceError> {
    with_defines(BUILD_OPTIONS, defines).map(|options| options.to_string_lossy().into_owned())
}

fn with_defines(options: &str, defines: &[(String, String)]) -> Result<CString, DeviceError> {
    let mut text = options.to_owned();
    for (name, value) in defines {
        if name.is_empty() || [name, value].iter().any(|s| s.contains(|c: char| c.is_whitespace() || c.is_control())) {
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
    built: Result<(), DeviceError>,
    program: &Program,
    device: DeviceId,
    unit: &BuildUnit,
) -> Result<(), DeviceError> {
    const BUILD_STATUS: u32 = 0x1181;
    const SUCCESS: u64 = 0;
    built.map_err(|error: DeviceError| match &error {
        DeviceError::Call { code, .. } if !SOURCE_CODES.contains(code) => error,
        _ => build_error(&error.to_string(), program, device, unit),
    })?;
    match query::build(program, device, BUILD_STATUS)?.number() {
        Some(SUCCESS) => Ok(()),
        _ => Err(build_error("the driver does not say why", program, device, unit)),
    }
}

/// What a kernel that a built program lacks says about the build.
fn missing(name: &str, error: DeviceError, program: &Program, device: DeviceId, unit: &BuildUnit) -> DeviceError {
    if !error.code().is_some_and(|code| SOURCE_CODES.contains(&code)) {
        return error;
    }
    let problem = format!("{}: no kernel `{name}` came out of the build: {error}", unit.path);
    DeviceError::Build { log: format!("{problem}\n{}", build_log(program, device, unit)).trim_end().to_owned() }
}

/// A build error with the driver's log, or with `otherwise` where the log is empty.
fn build_error(otherwise: &str, program: &Program, device: DeviceId, unit: &BuildUnit) -> DeviceError {
    let mut log = build_log(program, device, unit);
    if log.is_empty() {
        otherwise.clone_into(&mut log);
    }
    // All that PoCL says where it cannot keep what it compiles.
    if log.ends_with("failed to build the program")
        && let Some(problem) = causes::pocl_cache_problem()
    {
        log = format!("{log}; if this is PoCL, {problem}");
    }
    DeviceError::Build { log }
}

/// The driver's log, fit to be shown; empty if there is none.
fn build_log(program: &Program, device: DeviceId, unit: &BuildUnit) -> String {
    const BUILD_LOG: u32 = 0x1183;
    let raw = query::build(program, device, BUILD_LOG).map(|a| a.text()).unwrap_or_default();
    let home = std::env::var("HOME").ok();
    log::clean(&raw, &unit.path, home.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn define(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn definitions_become_options() {
        let made = with_defines(BUILD_OPTIONS, &[define("T", "float"), define("WG", "256")]).unwrap();
        assert_eq!(made.to_str().unwrap(), "-cl-std=CL1.2 -cl-kernel-arg-info -D T=float -D WG=256");
        for (value, wanted) in [("1", true), ("0", false)] {
            let made = with_defines(BUILD_OPTIONS, &[define(FAST_MATH, value)]).unwrap();
            assert_eq!(made.to_str().unwrap().ends_with("=1 -cl-fast-relaxed-math"), wanted, "{made:?}");
        }
        for (value, end) in [("32", "=32 -cl-nv-maxrregcount=32"), ("0", " -D MAX_REGISTERS=0")] {
            let made = with_defines(BUILD_OPTIONS, &[define(MAX_REGISTERS, value)]).unwrap();
            assert!(made.to_str().unwrap().ends_with(end), "{made:?}");
        }
    }

    #[test]
    fn definitions_cannot_smuggle_options() {
        for (name, value) in [("T", "float -I /etc"), ("", "1"), ("A\tB", "1"), ("T", "a\0b")] {
            assert!(with_defines(BUILD_OPTIONS, &[define(name, value)]).is_err(), "{name}={value}");
        }
    }

    #[test]
    fn a_renewed_unit_compiles_to_another_program_with_the_same_kernels() {
        let unit =
            BuildUnit { path: "a/b.cl".into(), text: "one\n".into(), defines: Vec::new(), kernels: vec!["k".into()] };
        let made = renewed(&unit, 7);
        assert_eq!(made.text, "one\n\n__kernel void renewed(__global ulong *out) { *out = 7UL; }\n");
        assert_eq!(BuildUnit { text: unit.text.clone(), ..made.clone() }, unit);
        assert_ne!(made, renewed(&unit, 8));
    }
}

//! The library that fails on demand: written from the program's own list of functions, and compiled.

use super::text;
use std::path::{Path, PathBuf};
use std::process::Command;

const SOURCE: &str = include_str!("shim.c");
const FORWARDED: &str = include_str!("../../../crates/engine/src/device/forward.rs");

/// A compiled shim.
pub struct Shim {
    /// Where it lies.
    pub path: PathBuf,
    /// The functions that it has, in the order in which it counts them.
    pub functions: Vec<Function>,
}

/// One of OpenCL's functions.
pub struct Function {
    pub name: String,
    /// Types and names of the parameters.
    params: Vec<(String, String)>,
    /// Whether it returns a pointer and writes its code where its last parameter points.
    creates: bool,
    /// Whether gpulab ignores its code.
    pub releases: bool,
}

/// Writes and compiles the shim into a folder.
pub fn compile(folder: &Path) -> Result<Shim, String> {
    let functions = functions(FORWARDED);
    if functions.len() < 60 {
        return Err(format!(
            "only {} functions were found in crates/engine/src/device/forward.rs",
            functions.len()
        ));
    }
    let definitions: Vec<String> = functions
        .iter()
        .enumerate()
        .map(|(id, f)| f.definition(id))
        .collect();
    std::fs::write(folder.join("shim.c"), SOURCE).map_err(text)?;
    std::fs::write(folder.join("functions.inc"), definitions.concat()).map_err(text)?;
    let path = folder.join("shim.so");
    let built = Command::new("cc")
        .args([
            "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror", "-o",
        ])
        .arg(&path)
        .arg(folder.join("shim.c"))
        .arg("-ldl")
        .output()
        .map_err(|e| format!("cannot start cc: {e}"))?;
    match built.status.success() {
        true => Ok(Shim { path, functions }),
        false => Err(format!(
            "the shim does not compile:\n{}",
            String::from_utf8_lossy(&built.stderr)
        )),
    }
}

/// The functions that the program forwards: `name(parameter: type, ...);` in three lists.
fn functions(source: &str) -> Vec<Function> {
    let list = source
        .split("\nforward! {")
        .nth(1)
        .and_then(|rest| rest.split("\n}").next())
        .unwrap_or_default();
    let (mut found, mut kind) = (Vec::new(), "");
    for line in list.lines().map(str::trim) {
        if let Some(name) = line.strip_suffix(" {") {
            kind = name;
        } else if let Some(item) = line.strip_suffix(';') {
            let (name, params) = item.split_once('(').unwrap_or((item, "object: Ptr)"));
            let params = params
                .trim_end_matches(')')
                .split(", ")
                .filter_map(|p| p.split_once(": "));
            let mut params: Vec<_> = params
                .map(|(name, ty)| (ty.to_owned(), name.to_owned()))
                .collect();
            if kind == "create" {
                params.push(("i32 *".into(), "errcode".into()));
            }
            found.push(Function {
                name: name.into(),
                params,
                creates: kind == "create",
                releases: kind == "release",
            });
        }
    }
    found
}

impl Function {
    /// Its C code, which uses what `shim.c` has for this function.
    fn definition(&self, id: usize) -> String {
        let Function {
            name,
            params,
            creates,
            ..
        } = self;
        let has = |what: &str| SOURCE.contains(&format!(" {what}_{name}("));
        let result = if *creates { "Ptr" } else { "i32" };
        let types = params
            .iter()
            .map(|(ty, _)| ty.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let declared = params
            .iter()
            .map(|(ty, name)| format!("{ty} {name}"))
            .collect::<Vec<_>>()
            .join(", ");
        let given = params
            .iter()
            .map(|(_, name)| name.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let before = if has("before") {
            format!("    before_{name}(meeting, {given});\n")
        } else {
            String::new()
        };
        let after = if has("after") {
            format!("    after_{name}(answer, {given});\n")
        } else {
            String::new()
        };
        let fail = match creates {
            true => "{ if (errcode) *errcode = code; return NULL; }",
            false => "return code;",
        };
        let lie = match has("lie") {
            true => format!("return lie_{name}((Ptr)real, {given});"),
            false => "_exit(98);".into(),
        };
        format!(
            "{result} {name}({declared})\n{{\n    static {result} (*real)({types});\n    \
             if (!real) real = find(\"{name}\");\n    i32 code = 0;\n    \
             enum meeting meeting = meet({id}, \"{name}\", &code);\n{before}    \
             if (meeting == FAIL) {fail}\n    if (meeting == LIE) {lie}\n    \
             {result} answer = real({given});\n{after}    return answer;\n}}\n"
        )
    }
}

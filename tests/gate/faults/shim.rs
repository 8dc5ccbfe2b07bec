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
    /// Names of the parameters, each a word.
    params: Vec<String>,
    /// Whether it returns a handle and writes its code where its last parameter points.
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

/// The functions that the program forwards: in lists of each kind `(its parameters) name name;`, and releases by name.
fn functions(source: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for kind in ["status", "create", "release"] {
        let list = source
            .split(&format!("\n{kind}! {{"))
            .nth(1)
            .and_then(|rest| rest.split("\n}").next())
            .unwrap_or_default();
        for alike in list.split(';') {
            let (params, names) = match alike.trim().strip_prefix('(') {
                Some(rest) => rest.split_once(')').unwrap_or_default(),
                None => ("object", alike),
            };
            let errcode = (kind == "create").then_some("errcode");
            let params: Vec<String> = params
                .split_whitespace()
                .chain(errcode)
                .map(str::to_owned)
                .collect();
            found.extend(names.split_whitespace().map(|name| Function {
                name: name.into(),
                params: params.clone(),
                creates: kind == "create",
                releases: kind == "release",
            }));
        }
    }
    found
}

impl Function {
    /// Its C code, which uses what `shim.c` has for this function.
    fn definition(&self, id: usize) -> String {
        let name = &self.name;
        let result = if self.creates { "usize" } else { "i32" };
        let types = vec!["usize"; self.params.len()].join(", ");
        let declared = self.params.iter().map(|param| format!("usize {param}"));
        let declared = declared.collect::<Vec<_>>().join(", ");
        let given = self.params.join(", ");
        let before = match self.arguments("before") {
            Some(given) => format!("    before_{name}(meeting, {given});\n"),
            None => String::new(),
        };
        let after = match self.arguments("after") {
            Some(given) => format!("    after_{name}(answer, {given});\n"),
            None => String::new(),
        };
        let fail = match self.creates {
            true => "{ if (errcode) *(i32 *)errcode = code; return 0; }",
            false => "return code;",
        };
        let lie = match self.arguments("lie") {
            Some(given) => format!("return ({result})lie_{name}((Ptr)real, {given});"),
            None => "_exit(98);".into(),
        };
        format!(
            "{result} {name}({declared})\n{{\n    static {result} (*real)({types});\n    \
             if (!real) real = ({result} (*)({types}))find(\"{name}\");\n    i32 code = 0;\n    \
             enum meeting meeting = meet({id}, \"{name}\", &code);\n{before}    \
             if (meeting == FAIL) {fail}\n    if (meeting == LIE) {lie}\n    \
             {result} answer = real({given});\n{after}    return answer;\n}}\n"
        )
    }

    /// Its arguments for what `shim.c` has for this function, if that is there: words, as the types that it takes behind its
    /// first parameter.
    fn arguments(&self, what: &str) -> Option<String> {
        let (_, taken) = SOURCE.split_once(&format!(" {what}_{}(", self.name))?;
        let types = taken
            .split_once(')')?
            .0
            .split(',')
            .skip(1)
            .map(|parameter| {
                parameter.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
            });
        let given = types
            .zip(&self.params)
            .map(|(ty, name)| format!("({}){name}", ty.trim()));
        Some(given.collect::<Vec<_>>().join(", "))
    }
}

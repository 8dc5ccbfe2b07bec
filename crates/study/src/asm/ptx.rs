//! PTX, the virtual machine code of NVIDIA's compilers (NVIDIA, "Parallel Thread Execution ISA").

use super::{AsmInstruction, AsmKernel, AsmKind};
use gpulab_system::text::Joined;
use std::collections::BTreeMap;

/// Functions with a body, in order.
pub(super) fn parse(text: &str) -> Vec<AsmKernel> {
    let files: BTreeMap<&str, &str> = text.lines().filter_map(file).collect();
    let mut kernels: Vec<AsmKernel> = Vec::new();
    let mut depth = 0usize;
    let mut name = None;
    let mut place = None;
    let mut statement = String::new();
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim();
        if depth == 0 {
            name = function(line).map(str::to_owned).or(name);
            if line == "{"
                && let Some(name) = name.take()
            {
                (depth, place) = (1, None);
                kernels.push(AsmKernel { name, instructions: Vec::new() });
            }
            continue;
        }
        match line {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ if line.starts_with(".loc") => place = location(line, &files),
            // A declaration, or a label.
            _ if statement.is_empty() && (line.starts_with('.') || line.ends_with(':')) => {}
            _ => {
                statement += line;
                if let (Some(text), Some(kernel)) = (statement.strip_suffix(';'), kernels.last_mut())
                    && let Some(instruction) = instruction(text, place.clone())
                {
                    kernel.instructions.push(instruction);
                }
                if statement.ends_with(';') {
                    statement.clear();
                }
            }
        }
    }
    kernels.retain(|kernel| !kernel.instructions.is_empty());
    kernels
}

/// The number and the name of `.file 1 "reduce/strided.cl"`.
fn file(line: &str) -> Option<(&str, &str)> {
    let (number, name) = line.trim().strip_prefix(".file")?.trim().split_once(char::is_whitespace)?;
    Some((number, name.trim().strip_prefix('"')?.split('"').next()?))
}

/// The name behind `.entry` or `.func`, which may return something.
fn function(line: &str) -> Option<&str> {
    let at = [".entry", ".func"].iter().find_map(|word| Some(line.split_once(word)?.1))?.trim_start();
    let at = if at.starts_with('(') { at.split_once(')')?.1.trim_start() } else { at };
    Some(at.split(['(', ' ', ';']).next()?.trim()).filter(|name| !name.is_empty())
}

/// The place of `.loc 1 26 9`; none of line 0.
fn location(line: &str, files: &BTreeMap<&str, &str>) -> Option<(String, u64)> {
    let mut words = line.split_whitespace().skip(1);
    let file = files.get(words.next()?)?;
    let line = words.next()?.trim_end_matches(',').parse().ok().filter(|line| *line > 0)?;
    Some(((*file).to_owned(), line))
}

fn instruction(text: &str, place: Option<(String, u64)>) -> Option<AsmInstruction> {
    let text = text.trim();
    let bare = if text.starts_with('@') { text.split_once(char::is_whitespace)?.1.trim_start() } else { text };
    let opcode = bare.split(char::is_whitespace).next().filter(|opcode| !opcode.is_empty())?;
    let parts: Vec<&str> = opcode.split('.').collect();
    let is_vector = parts.iter().any(|part| ["v2", "v4", "v8", "f16x2", "bf16x2"].contains(part));
    let text = text.split_whitespace().joined(" ");
    Some(AsmInstruction { kind: kind(&parts), memory: None, is_vector, place, text })
}

fn kind(parts: &[&str]) -> AsmKind {
    let has = |part: &str| parts.iter().any(|one| *one == part || one.split("::").next() == Some(part));
    let is_float = parts.last().is_some_and(|ty| ty.trim_start_matches('b').starts_with('f'));
    let memory = |global, local| match () {
        () if has("shared") => local,
        () if has("local") => AsmKind::Private,
        () if has("param") || has("const") => AsmKind::Constant,
        () => global,
    };
    match *parts.first().unwrap_or(&"") {
        "ld" | "ldu" => memory(AsmKind::Load, AsmKind::LocalLoad),
        "st" => memory(AsmKind::Store, AsmKind::LocalStore),
        "tex" | "suld" => AsmKind::Load,
        "sust" => AsmKind::Store,
        "atom" | "red" => AsmKind::Atomic,
        "fma" => AsmKind::Fma,
        "mad" if is_float => AsmKind::Fma,
        "add" | "sub" if is_float => AsmKind::Add,
        "mul" if is_float => AsmKind::Mul,
        "cvt" => AsmKind::Convert,
        "mov" | "selp" | "slct" | "prmt" | "cvta" => AsmKind::Move,
        "bra" | "brx" | "ret" | "exit" | "call" | "trap" => AsmKind::Branch,
        "bar" | "barrier" | "membar" | "fence" => AsmKind::Barrier,
        "shfl" | "vote" | "match" | "redux" | "activemask" => AsmKind::Exchange,
        "div" | "rem" if !is_float => AsmKind::Division,
        _ if is_float => AsmKind::Float,
        "add" | "sub" | "mul" | "mul24" | "mad" | "mad24" | "addc" | "subc" | "madc" | "and" | "or" | "xor" | "not"
        | "shl" | "shr" | "shf" | "setp" | "set" | "min" | "max" | "neg" | "abs" | "bfe" | "bfi" | "popc" | "clz"
        | "brev" | "lop3" | "sad" | "dp4a" | "bfind" | "cnot" | "fns" => AsmKind::Integer,
        _ => AsmKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::AsmKind::{self, *};

    const SCALE: &str = include_str!("scale.ptx");

    #[test]
    fn instructions_are_sorted_by_kind_and_line() {
        // As a driver gives it: with a NUL behind it.
        let kernels = parse(&format!("{SCALE}\0")).unwrap();
        let [scale] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!(scale.name, "scale");
        let kinds = |place: (&str, u64)| {
            let lines = scale.lines();
            let line = lines.iter().find(|line| line.place == Some(place)).unwrap();
            line.instructions.iter().map(|one| one.kind).collect::<Vec<AsmKind>>()
        };
        assert_eq!(kinds(("scale.cl", 5)), [Constant, Constant, Constant, Move]);
        assert_eq!(kinds(("scale.cl", 7)), [Move, Move, Integer, Integer, Branch]);
        let product = [Integer, Integer, Load, Fma, Add, Move, Integer, Integer];
        assert_eq!(kinds(("scale.cl", 8)), product);
        assert_eq!(kinds(("common/tree.cl", 3)), [LocalStore, Barrier]);
        assert_eq!(kinds(("scale.cl", 9)), [LocalLoad, Division, Integer, Integer, Store]);
        assert_eq!((scale.vectors(Load), scale.count(Load), scale.vectors(Store)), (1, 1, 0));
        assert_eq!(scale.instructions[8].text, "@%p1 bra BB0_2");
        assert!(scale.instructions.iter().all(|one| one.kind != Other), "{scale:?}");
    }

    #[test]
    fn without_lines_there_are_kinds() {
        let bare: String =
            SCALE.lines().filter(|line| !line.contains(".loc")).map(|line| line.to_owned() + "\n").collect();
        let kernels = parse(&bare).unwrap();
        assert_eq!(kernels[0].lines().len(), 1);
        assert_eq!(kernels[0].count(Fma), 1);
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for wrong in ["", "\0", "hello", ".version 8.0\n", ".version 8.0\n.entry k(\n)\n{\n}\n", "\u{7f}ELF"] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        // Cut short in the middle of an instruction.
        let half = &SCALE[..SCALE.find("ld.global").unwrap()];
        assert_eq!(parse(half).unwrap()[0].count(Load), 0);
    }
}

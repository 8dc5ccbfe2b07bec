//! SASS, the machine code of NVIDIA's GPUs, as `nvdisasm -c -g` prints it (NVIDIA, "CUDA Binary Utilities").

use super::{AsmInstruction, AsmKernel, AsmKind};

pub(super) fn parse(text: &str) -> Vec<AsmKernel> {
    let mut kernels: Vec<AsmKernel> = Vec::new();
    let mut place = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(name) = line.strip_prefix(".text.").and_then(|rest| rest.strip_suffix(':')) {
            kernels.push(AsmKernel { name: name.to_owned(), instructions: Vec::new() });
            place = None;
        } else if let Some(found) = line.strip_prefix("//## File \"") {
            place = location(found).or(place);
        } else if let (Some((_, text)), Some(kernel)) =
            (line.strip_prefix("/*").and_then(|at| at.split_once("*/")), kernels.last_mut())
        {
            kernel.instructions.extend(instruction(text.trim().trim_end_matches(';').trim_end(), place.clone()));
        }
    }
    kernels.retain(|kernel| !kernel.instructions.is_empty());
    kernels
}

/// The place of `scale.cl", line 7`.
fn location(found: &str) -> Option<(String, u64)> {
    let (file, rest) = found.split_once("\", line ")?;
    let line = rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?;
    Some((file.to_owned(), line))
}

fn instruction(text: &str, place: Option<(String, u64)>) -> Option<AsmInstruction> {
    let bare = if text.starts_with('@') { text.split_once(char::is_whitespace)?.1.trim_start() } else { text };
    let (opcode, operands) = bare.split_once(char::is_whitespace).unwrap_or((bare, ""));
    let parts: Vec<&str> = opcode.split('.').collect();
    let base = *parts.first().filter(|base| base.starts_with(|c: char| c.is_ascii_uppercase()))?;
    // What fills a section to its end.
    if base == "NOP" {
        return None;
    }
    let kind = match (base, operands.contains("-RZ, RZ,")) {
        // A constant, made by an idle unit.
        ("HFMA2", true) => AsmKind::Move,
        ("IMAD" | "UIMAD", _) if parts.contains(&"MOV") => AsmKind::Move,
        _ => kind(base),
    };
    let is_memory = ["LD", "ST"].iter().any(|begin| base.starts_with(begin));
    let is_vector = is_memory && (parts.contains(&"64") || parts.contains(&"128"));
    Some(AsmInstruction { kind, memory: None, is_vector, place, text: text.to_owned() })
}

fn kind(base: &str) -> AsmKind {
    match base {
        "LDG" | "LD" | "TEX" | "TLD" | "SULD" => AsmKind::Load,
        "STG" | "ST" | "SUST" => AsmKind::Store,
        "LDS" | "LDSM" => AsmKind::LocalLoad,
        "STS" | "STSM" => AsmKind::LocalStore,
        "LDGSTS" => AsmKind::Load,
        "LDL" | "STL" => AsmKind::Private,
        "LDC" | "ULDC" | "LDCU" => AsmKind::Constant,
        "FFMA" | "DFMA" | "HFMA2" | "FFMA2" => AsmKind::Fma,
        "FADD" | "DADD" | "HADD2" | "FADD2" => AsmKind::Add,
        "FMUL" | "DMUL" | "HMUL2" | "FMUL2" => AsmKind::Mul,
        "I2F" | "F2I" | "F2F" | "I2I" | "I2FP" | "F2FP" | "FRND" | "F2IP" => AsmKind::Convert,
        "MOV" | "UMOV" | "SEL" | "USEL" | "PRMT" | "UPRMT" | "S2R" | "CS2R" | "S2UR" | "R2UR" | "P2R" | "R2P"
        | "HFMA2_MMA" => AsmKind::Move,
        "BRA" | "BRX" | "EXIT" | "RET" | "CALL" | "BSSY" | "BSYNC" | "JMP" | "BREAK" | "WARPSYNC" | "YIELD" | "BPT" => {
            AsmKind::Branch
        }
        "BAR" | "DEPBAR" | "MEMBAR" | "ERRBAR" | "CCTL" | "FENCE" | "LDGDEPBAR" => AsmKind::Barrier,
        "SHFL" | "VOTE" | "VOTEU" | "MATCH" | "REDUX" => AsmKind::Exchange,
        _ if base.starts_with("ATOM") || base.starts_with("RED") => AsmKind::Atomic,
        "FLO" | "UFLO" => AsmKind::Integer,
        "MUFU" => AsmKind::Float,
        _ if base.starts_with(['F', 'D', 'H']) => AsmKind::Float,
        _ if base.starts_with(['I', 'U', 'L', 'V', 'S', 'P', 'B']) => AsmKind::Integer,
        _ => AsmKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::AsmKind::{self, *};

    #[test]
    fn instructions_are_sorted_by_kind_and_line() {
        let kernels = parse(include_str!("scale.sass")).unwrap();
        let [scale] = &kernels[..] else { panic!("{kernels:?}") };
        let kinds = |place: (&str, u64)| {
            let lines = scale.lines();
            let line = lines.iter().find(|line| line.place == Some(place)).unwrap();
            line.instructions.iter().map(|one| one.kind).collect::<Vec<AsmKind>>()
        };
        assert_eq!(kinds(("scale.cl", 7)), [Constant, Move, Integer, Integer, Branch]);
        assert_eq!(kinds(("common/tree.cl", 3)), [LocalStore, Barrier]);
        // The division by a number that the compiler does not know is a routine without a division.
        assert_eq!(
            [Division, Convert, Load, Store, LocalLoad, Fma, Add].map(|kind| scale.count(kind)),
            [0, 2, 1, 1, 1, 1, 1]
        );
        assert_eq!(scale.vectors(Load), 1);
        assert!(scale.instructions.iter().all(|one| one.kind != Other && !one.text.contains("NOP")), "{scale:?}");
    }
}

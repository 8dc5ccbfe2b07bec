//! The machine code of x86-64, as `objdump -d -l --no-show-raw-insn` prints it.

use super::{AsmInstruction, AsmKernel, AsmKind};
use gpulab_system::text::Joined;

pub(super) fn parse(text: &str) -> Vec<AsmKernel> {
    let mut kernels: Vec<AsmKernel> = Vec::new();
    let mut place = None;
    for line in text.lines() {
        if let Some((_, name)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
            kernels.push(AsmKernel { name: name.trim_end_matches(">:").to_owned(), instructions: Vec::new() });
            place = None;
        } else if let Some((_, text)) = line.split_once(":\t") {
            if let Some(kernel) = kernels.last_mut() {
                kernel.instructions.extend(instruction(text.trim(), place.clone()));
            }
        } else {
            place = location(line).or(place);
        }
    }
    kernels.retain(|kernel| !kernel.instructions.is_empty());
    kernels
}

/// The place of `/tmp/reduce/strided.cl:26 (discriminator 2)`.
fn location(line: &str) -> Option<(String, u64)> {
    let (file, number) = line.split_once(" (").map_or(line, |(place, _)| place).rsplit_once(':')?;
    Some((file.to_owned(), number.parse().ok()?))
}

fn instruction(text: &str, place: Option<(String, u64)>) -> Option<AsmInstruction> {
    let text = text.split('#').next().unwrap_or_default().trim_end();
    let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operands = operands.trim();
    // What fills code up to the next line of the cache.
    let is_filling =
        mnemonic.starts_with("nop") || text.contains("nopw") || text == "xchg   %ax,%ax" || mnemonic == "data16";
    if is_filling || mnemonic.starts_with('(') {
        return None;
    }
    let (kind, memory) = kinds(mnemonic, operands);
    let wide = operands.contains("%ymm") || operands.contains("%zmm");
    let bare = mnemonic.trim_start_matches('v');
    let is_packed = bare.ends_with("ps") || bare.ends_with("pd") || bare.starts_with('p') || bare.starts_with("movdq");
    let is_vector =
        wide || operands.contains("%xmm") && is_packed && !bare.starts_with("pextr") && !bare.starts_with("pinsr");
    let text = text.split_whitespace().joined(" ");
    Some(AsmInstruction { kind, memory, is_vector, place, text })
}

/// What an instruction does, and how it uses memory besides. The last operand is written.
fn kinds(mnemonic: &str, operands: &str) -> (AsmKind, Option<AsmKind>) {
    let bare = mnemonic.strip_prefix('v').filter(|bare| !bare.is_empty()).unwrap_or(mnemonic);
    let begins = |words: &[&str]| words.iter().any(|word| bare.starts_with(word));
    let written = last(operands);
    let is_address = |operand: &str| operand.contains('(');
    let private = |operand: &str| operand.contains("(%rsp") || operand.contains("(%rbp");
    let load = match operands {
        _ if !is_address(operands) => None,
        _ if operands.contains("(%rip)") => Some(AsmKind::Constant),
        _ if private(operands) => Some(AsmKind::Private),
        _ => Some(AsmKind::Load),
    };
    let store = if private(written) { AsmKind::Private } else { AsmKind::Store };
    let arithmetic = |kind| (kind, load);
    match bare {
        _ if mnemonic == "lock" || begins(&["cmpxchg", "xadd"]) => (AsmKind::Atomic, None),
        "xchg" if is_address(operands) => (AsmKind::Atomic, None),
        _ if begins(&["movnt"]) => (AsmKind::StreamStore, None),
        _ if begins(&["gather", "pgather"]) => (AsmKind::Load, None),
        _ if begins(&["scatter", "pscatter"]) => (AsmKind::Store, None),
        "push" | "pop" | "leave" => (AsmKind::Private, None),
        _ if begins(&["mov", "maskmov", "pmaskmov", "broadcast", "pbroadcast", "lddqu", "pextr", "extract"]) => {
            match load {
                Some(_) if is_address(written) => (store, None),
                Some(load) => (load, None),
                None if begins(&["extract", "pextr", "broadcast", "pbroadcast"]) => (AsmKind::Exchange, None),
                None => (AsmKind::Move, None),
            }
        }
        _ if begins(&["fmadd", "fmsub", "fnmadd", "fnmsub"]) => arithmetic(AsmKind::Fma),
        _ if begins(&["cvt"]) || ["cltq", "cqto", "cltd", "cwtl"].contains(&bare) => arithmetic(AsmKind::Convert),
        _ if begins(&[
            "shufp", "perm", "pshuf", "unpck", "punpck", "insert", "pinsr", "palignr", "blend", "pblend", "perm",
        ]) =>
        {
            arithmetic(AsmKind::Exchange)
        }
        // A register is cleared.
        _ if begins(&["xorp", "pxor"]) && load.is_none() => (AsmKind::Move, None),
        _ if is_float(bare) && begins(&["add", "sub", "hadd"]) => arithmetic(AsmKind::Add),
        _ if is_float(bare) && begins(&["mul"]) => arithmetic(AsmKind::Mul),
        _ if is_float(bare) => arithmetic(AsmKind::Float),
        "div" | "divl" | "divq" | "idiv" | "idivl" | "idivq" => arithmetic(AsmKind::Division),
        "lea" => (AsmKind::Integer, None),
        _ if begins(&["cmov"]) => arithmetic(AsmKind::Move),
        _ if begins(&["j", "call", "ret", "loop"]) => (AsmKind::Branch, None),
        _ if begins(&["mfence", "sfence", "lfence"]) => (AsmKind::Barrier, None),
        "zeroupper" | "zeroall" => (AsmKind::Move, None),
        _ if begins(&[
            "add", "sub", "adc", "sbb", "and", "or", "xor", "not", "neg", "inc", "dec", "imul", "mul", "shl", "shr",
        ]) || begins(&[
            "sar", "sal", "rol", "ror", "cmp", "test", "set", "bt", "bsf", "bsr", "lzcnt", "tzcnt", "popcnt",
        ]) || begins(&["bextr", "bzhi", "rorx", "pext", "pdep", "bswap", "p", "kmov", "k"]) =>
        {
            // A word of memory that is changed in place.
            (AsmKind::Integer, if is_address(written) && !begins(&["cmp", "test", "bt"]) { Some(store) } else { load })
        }
        _ => (AsmKind::Other, load),
    }
}

/// Whether an instruction is of floating-point numbers: `addps`, `ucomiss`, `sqrtsd`.
fn is_float(bare: &str) -> bool {
    ["ps", "pd", "ss", "sd"].iter().any(|end| bare.ends_with(end)) && !bare.starts_with('p')
}

/// The last operand: behind the last comma that is in no bracket.
fn last(operands: &str) -> &str {
    let mut depth = 0;
    let comma = operands.char_indices().rev().find(|(_, c)| {
        match c {
            ')' => depth += 1,
            '(' => depth -= 1,
            _ => {}
        }
        depth == 0 && *c == ','
    });
    comma.map_or(operands, |(at, _)| &operands[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::AsmKind::{self, *};
    use super::kinds;

    #[test]
    fn instructions_have_kinds() {
        let of = |text: &str| {
            let (mnemonic, operands) = text.split_once(' ').unwrap_or((text, ""));
            kinds(mnemonic, operands)
        };
        let cases: &[(&str, AsmKind, Option<AsmKind>)] = &[
            ("mov (%r11,%rax,4),%eax", Load, None),
            ("mov %eax,(%rcx)", Store, None),
            ("movl $0x0,0x540(%rsp)", Private, None),
            ("vmovdqa 0x17ca(%rip),%xmm5", Constant, None),
            ("vmovntps %ymm0,(%rdi)", StreamStore, None),
            ("vpaddd (%rsi,%rax,4),%ymm0,%ymm0", Integer, Some(Load)),
            ("vaddps %ymm1,%ymm0,%ymm0", Add, None),
            ("vmulss 0x4(%rax),%xmm0,%xmm0", Mul, Some(Load)),
            ("vfmadd231ps (%rcx,%rdx,4),%ymm1,%ymm0", Fma, Some(Load)),
            ("add %eax,(%rdi,%rcx,4)", Integer, Some(Store)),
            ("cmp %eax,(%rdi)", Integer, Some(Load)),
            ("lea 0x4(%rcx,%rax,1),%rsi", Integer, None),
            ("lock incl (%rax)", Atomic, None),
            ("xchg %ecx,(%r10)", Atomic, None),
            ("div %ecx", Division, None),
            ("jb 1ad4", Branch, None),
            ("vpbroadcastd %xmm0,%ymm0", Exchange, None),
            ("vsqrtss %xmm1,%xmm1,%xmm0", Float, None),
            ("vxorps %xmm0,%xmm0,%xmm0", Move, None),
            ("vcvtdq2ps %ymm0,%ymm0", Convert, None),
            ("ret", Branch, None),
        ];
        for (text, kind, memory) in cases {
            assert_eq!(of(text), (*kind, *memory), "{text}");
        }
    }

    #[test]
    fn lines_and_vectors_are_found() {
        let listing = "\nk.so:     file format elf64-x86-64\n\n0000000000001000 <k>:\nk():\n/tmp/dot/naive.cl:26\n    1000:\tpush   %rbp\n\
             /tmp/dot/naive.cl:27 (discriminator 2)\n    1001:\tvaddps (%rax),%ymm0,%ymm0\n    1005:\tnopw   0x0(%rax,%rax,1)\n    \
             100a:\tvaddss %xmm1,%xmm0,%xmm0\n\n0000000000001010 <other>:\n    1010:\tret\n";
        let kernels = parse(listing).unwrap();
        let [k, other] = &kernels[..] else { panic!("{kernels:?}") };
        assert_eq!((k.count(Add), k.vectors(Add), k.count(Load), k.instructions.len()), (2, 1, 1, 3));
        let places: Vec<_> = k.lines().into_iter().map(|line| (line.place, line.instructions.len())).collect();
        assert_eq!(places, [(Some(("/tmp/dot/naive.cl", 26)), 1), (Some(("/tmp/dot/naive.cl", 27)), 2)]);
        assert_eq!(other.lines()[0].place, None);
    }
}

//! What compilers made of kernels: listings of instructions, by kind and by line of the source. Two are read: PTX, the virtual
//! machine code of NVIDIA's compilers (NVIDIA, "Parallel Thread Execution ISA"), and x86-64.

use gpulab_model::Joined;
use gpulab_model::{is_among, named_enum};
use std::collections::BTreeMap;

named_enum! {
    /// What an instruction does, as far as it tells kernels apart.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub enum AsmKind {
        /// A load from global memory; of CPUs, that from any buffer.
        Load = "load",
        Store = "store",
        /// A store past the cache.
        StreamStore = "store past cache",
        LocalLoad = "local load",
        LocalStore = "local store",
        Atomic = "atomic",
        /// A load or store of an item's own memory: arrays, and what registers had no room for.
        Private = "private",
        /// A load of a parameter or a constant.
        Constant = "constant",
        Fma = "fma",
        Add = "add",
        Mul = "mul",
        /// Other arithmetic of floating-point numbers.
        Float = "other float",
        Integer = "integer",
        /// A division of integers, or its remainder.
        Division = "division",
        Convert = "convert",
        /// An exchange between items, or between the parts of a vector.
        Exchange = "exchange",
        Move = "move",
        Branch = "branch",
        Barrier = "barrier",
        #[default]
        Other = "other",
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsmInstruction {
    pub kind: AsmKind,
    /// Of an instruction that also reads or writes memory, how.
    pub memory: Option<AsmKind>,
    pub is_vector: bool,
    /// The file and line of the source, where the listing tells.
    pub place: Option<(String, u64)>,
    pub text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AsmKernel {
    pub name: String,
    pub instructions: Vec<AsmInstruction>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmLine<'a> {
    pub place: Option<(&'a str, u64)>,
    pub instructions: Vec<&'a AsmInstruction>,
}

impl AsmInstruction {
    pub fn is(&self, kind: AsmKind) -> bool {
        self.kind == kind || self.memory == Some(kind)
    }
}

impl AsmKernel {
    pub fn count(&self, kind: AsmKind) -> usize {
        self.instructions.iter().filter(|one| one.is(kind)).count()
    }

    /// Instructions of this kind that work on several elements at once.
    pub fn vectors(&self, kind: AsmKind) -> usize {
        self.instructions
            .iter()
            .filter(|one| one.is_vector && one.is(kind))
            .count()
    }

    /// By file and line; first those without one.
    pub fn lines(&self) -> Vec<AsmLine<'_>> {
        let mut lines: Vec<AsmLine<'_>> = Vec::new();
        for one in &self.instructions {
            let place = one
                .place
                .as_ref()
                .map(|(file, line)| (file.as_str(), *line));
            match lines.iter_mut().find(|line| line.place == place) {
                Some(line) => line.instructions.push(one),
                None => lines.push(AsmLine {
                    place,
                    instructions: vec![one],
                }),
            }
        }
        lines.sort_by_key(|line| line.place);
        lines
    }
}

type AsmPlace = Option<(String, u64)>;

/// What a line of a listing says.
enum AsmEvent<'a> {
    Function(&'a str),
    Place(AsmPlace),
    Instruction(&'a str),
}

/// Reads a listing: PTX, or x86-64 as `objdump -d -l --no-show-raw-insn` prints it. What listings it knows, if this is none of
/// them.
pub fn parse(text: &str) -> Result<Vec<AsmKernel>, String> {
    let text = text.trim_end_matches('\0');
    let files: BTreeMap<&str, &str> = text.lines().filter_map(ptx_file).collect();
    type Reader<'a> = (
        &'a dyn Fn(&'a str) -> Option<AsmEvent<'a>>,
        fn(&str) -> Option<AsmInstruction>,
    );
    let reader: Reader<'_> = if text
        .lines()
        .any(|line| line.trim_start().starts_with(".version"))
    {
        (&|line| ptx_event(line, &files), ptx_instruction)
    } else if text.contains("file format elf64-x86-64") {
        (&x86_event, x86_instruction)
    } else {
        let known = "PTX, or x86-64 as objdump -d -l --no-show-raw-insn prints it";
        return Err(format!("it is no listing that gpulab reads: {known}"));
    };
    let mut kernels: Vec<AsmKernel> = Vec::new();
    let mut place = None;
    for event in text.lines().filter_map(reader.0) {
        match event {
            AsmEvent::Function(name) => {
                kernels.push(AsmKernel {
                    name: name.to_owned(),
                    instructions: Vec::new(),
                });
                place = None;
            }
            AsmEvent::Place(found) => place = found,
            AsmEvent::Instruction(text) => {
                let one = reader.1(text).map(|one| AsmInstruction {
                    place: place.clone(),
                    ..one
                });
                if let Some(kernel) = kernels.last_mut() {
                    kernel.instructions.extend(one);
                }
            }
        }
    }
    kernels.retain(|kernel| !kernel.instructions.is_empty());
    if kernels.is_empty() {
        Err("the listing has no instructions".to_owned())
    } else {
        Ok(kernels)
    }
}

/// The number and the name of `.file 1 "reduce/strided.cl"`.
fn ptx_file(line: &str) -> Option<(&str, &str)> {
    let (number, name) = line
        .trim()
        .strip_prefix(".file")?
        .trim()
        .split_once(char::is_whitespace)?;
    Some((number, name.trim().strip_prefix('"')?.split('"').next()?))
}

fn ptx_event<'a>(line: &'a str, files: &BTreeMap<&str, &str>) -> Option<AsmEvent<'a>> {
    let line = line.split("//").next()?.trim();
    if let Some((_, at)) = [".entry", ".func"]
        .iter()
        .find_map(|word| line.split_once(word))
    {
        // A function may return something.
        let at = at.trim_start();
        let at = if at.starts_with('(') {
            at.split_once(')')?.1.trim_start()
        } else {
            at
        };
        return Some(AsmEvent::Function(
            at.split(['(', ' ', ';'])
                .next()
                .filter(|name| !name.is_empty())?,
        ));
    }
    if let Some(place) = line
        .strip_prefix(".loc")
        .filter(|place| place.starts_with(char::is_whitespace))
    {
        // As in `1 26 9`; none of line 0.
        let mut words = place.split_whitespace();
        let file = files.get(words.next()?)?;
        let line = words
            .next()?
            .trim_end_matches(',')
            .parse()
            .ok()
            .filter(|line| *line > 0);
        return Some(AsmEvent::Place(line.map(|line| ((*file).to_owned(), line))));
    }
    // Not a declaration or a label; of a call, which takes several lines, the first.
    let is_instruction = line.starts_with(|c: char| c == '@' || c.is_ascii_lowercase());
    let is_whole = line.ends_with(';') || line.starts_with("call");
    (is_instruction && is_whole).then(|| AsmEvent::Instruction(line.trim_end_matches(';')))
}

fn ptx_instruction(text: &str) -> Option<AsmInstruction> {
    let bare = if text.starts_with('@') {
        text.split_once(char::is_whitespace)?.1.trim_start()
    } else {
        text
    };
    let opcode = bare
        .split(char::is_whitespace)
        .next()
        .filter(|opcode| !opcode.is_empty())?;
    let parts: Vec<&str> = opcode.split('.').collect();
    let is_vector = parts
        .iter()
        .any(|part| ["v2", "v4", "v8", "f16x2", "bf16x2"].contains(part));
    let text = text.split_whitespace().joined(" ");
    Some(AsmInstruction {
        kind: ptx_kind(&parts),
        is_vector,
        text,
        ..AsmInstruction::default()
    })
}

fn ptx_kind(parts: &[&str]) -> AsmKind {
    const INTEGER: &str = "add sub mul mul24 mad mad24 addc subc madc and or xor not shl shr shf setp set min max neg abs bfe bfi popc clz brev lop3 sad dp4a bfind cnot fns";
    let has = |part: &str| {
        parts
            .iter()
            .any(|one| *one == part || one.split("::").next() == Some(part))
    };
    let is_float = parts
        .last()
        .is_some_and(|ty| ty.trim_start_matches('b').starts_with('f'));
    match *parts.first().unwrap_or(&"") {
        "ld" | "ldu" if has("shared") => AsmKind::LocalLoad,
        "st" if has("shared") => AsmKind::LocalStore,
        "ld" | "ldu" | "st" if has("local") => AsmKind::Private,
        "ld" | "ldu" | "st" if has("param") || has("const") => AsmKind::Constant,
        "ld" | "ldu" => AsmKind::Load,
        "st" => AsmKind::Store,
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
        other if is_among(other, INTEGER) => AsmKind::Integer,
        _ => AsmKind::Other,
    }
}

fn x86_event(line: &str) -> Option<AsmEvent<'_>> {
    if let Some((_, name)) = line.split_once(" <").filter(|_| line.ends_with(">:")) {
        return Some(AsmEvent::Function(name.trim_end_matches(">:")));
    }
    if let Some((_, text)) = line.split_once(":\t") {
        return Some(AsmEvent::Instruction(text.trim()));
    }
    // As in `/tmp/reduce/strided.cl:26 (discriminator 2)`.
    let (file, number) = line.split(" (").next()?.rsplit_once(':')?;
    Some(AsmEvent::Place(Some((
        file.to_owned(),
        number.parse().ok()?,
    ))))
}

fn x86_instruction(text: &str) -> Option<AsmInstruction> {
    let text = text.split('#').next().unwrap_or_default().trim_end();
    let (mnemonic, operands) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let operands = operands.trim();
    // What fills code up to the next line of the cache.
    let is_filling = mnemonic.starts_with("nop")
        || text.contains("nopw")
        || text == "xchg   %ax,%ax"
        || mnemonic == "data16";
    if is_filling || mnemonic.starts_with('(') {
        return None;
    }
    let (kind, memory) = x86_kinds(mnemonic, operands);
    let wide = operands.contains("%ymm") || operands.contains("%zmm");
    let bare = mnemonic.trim_start_matches('v');
    let is_packed = bare.ends_with("ps")
        || bare.ends_with("pd")
        || bare.starts_with('p')
        || bare.starts_with("movdq");
    let is_vector = wide
        || operands.contains("%xmm")
            && is_packed
            && !bare.starts_with("pextr")
            && !bare.starts_with("pinsr");
    let text = text.split_whitespace().joined(" ");
    Some(AsmInstruction {
        kind,
        memory,
        is_vector,
        place: None,
        text,
    })
}

fn is_on_stack(operand: &str) -> bool {
    operand.contains("(%rsp") || operand.contains("(%rbp")
}

/// What an instruction does, and how it uses memory besides. The last operand is written.
fn x86_kinds(mnemonic: &str, operands: &str) -> (AsmKind, Option<AsmKind>) {
    let bare = mnemonic
        .strip_prefix('v')
        .filter(|bare| !bare.is_empty())
        .unwrap_or(mnemonic);
    let begins = |words: &str| words.split(' ').any(|word| bare.starts_with(word));
    let written = last_operand(operands);
    let load = match operands {
        _ if !operands.contains('(') => None,
        _ if operands.contains("(%rip)") => Some(AsmKind::Constant),
        _ if is_on_stack(operands) => Some(AsmKind::Private),
        _ => Some(AsmKind::Load),
    };
    let store = if is_on_stack(written) {
        AsmKind::Private
    } else {
        AsmKind::Store
    };
    let arithmetic = |kind| (kind, load);
    match bare {
        _ if mnemonic == "lock" || begins("cmpxchg xadd") => (AsmKind::Atomic, None),
        "xchg" if operands.contains('(') => (AsmKind::Atomic, None),
        _ if begins("movnt") => (AsmKind::StreamStore, None),
        _ if begins("gather pgather") => (AsmKind::Load, None),
        _ if begins("scatter pscatter") => (AsmKind::Store, None),
        "push" | "pop" | "leave" => (AsmKind::Private, None),
        _ if begins("mov maskmov pmaskmov broadcast pbroadcast lddqu pextr extract") => {
            match load {
                Some(_) if written.contains('(') => (store, None),
                Some(load) => (load, None),
                None if begins("extract pextr broadcast pbroadcast") => (AsmKind::Exchange, None),
                None => (AsmKind::Move, None),
            }
        }
        _ if begins("fmadd fmsub fnmadd fnmsub") => arithmetic(AsmKind::Fma),
        _ if begins("cvt") || is_among(bare, "cltq cqto cltd cwtl") => arithmetic(AsmKind::Convert),
        _ if begins("shufp perm pshuf unpck punpck insert pinsr palignr blend pblend") => {
            arithmetic(AsmKind::Exchange)
        }
        // A register is cleared.
        _ if begins("xorp pxor") && load.is_none() => (AsmKind::Move, None),
        _ if is_x86_float(bare) && begins("add sub hadd") => arithmetic(AsmKind::Add),
        _ if is_x86_float(bare) && begins("mul") => arithmetic(AsmKind::Mul),
        _ if is_x86_float(bare) => arithmetic(AsmKind::Float),
        "div" | "divl" | "divq" | "idiv" | "idivl" | "idivq" => arithmetic(AsmKind::Division),
        "lea" => (AsmKind::Integer, None),
        _ if begins("cmov") => arithmetic(AsmKind::Move),
        _ if begins("j call ret loop") => (AsmKind::Branch, None),
        _ if begins("mfence sfence lfence") => (AsmKind::Barrier, None),
        "zeroupper" | "zeroall" => (AsmKind::Move, None),
        _ if begins(
            "add sub adc sbb and or xor not neg inc dec imul mul shl shr sar sal rol ror cmp test set bt bsf bsr lzcnt tzcnt bextr bzhi rorx bswap p k",
        ) =>
        {
            // A word of memory that is changed in place.
            (
                AsmKind::Integer,
                if written.contains('(') && !begins("cmp test bt") {
                    Some(store)
                } else {
                    load
                },
            )
        }
        _ => (AsmKind::Other, load),
    }
}

/// Whether an instruction is of floating-point numbers: `addps`, `ucomiss`, `sqrtsd`.
fn is_x86_float(bare: &str) -> bool {
    ["ps", "pd", "ss", "sd"]
        .iter()
        .any(|end| bare.ends_with(end))
        && !bare.starts_with('p')
}

/// The last operand: behind the last comma that is in no bracket.
fn last_operand(operands: &str) -> &str {
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
    use super::AsmKind::{self, *};
    use super::{parse, x86_kinds};

    const SCALE: &str = include_str!("asm/scale.ptx");

    #[test]
    fn instructions_are_sorted_by_kind_and_line() {
        // As a driver gives it: with a NUL behind it.
        let kernels = parse(&format!("{SCALE}\0")).unwrap();
        let [scale] = &kernels[..] else {
            panic!("{kernels:?}")
        };
        assert_eq!(scale.name, "scale");
        let kinds = |place: (&str, u64)| {
            let lines = scale.lines();
            let line = lines.iter().find(|line| line.place == Some(place)).unwrap();
            line.instructions
                .iter()
                .map(|one| one.kind)
                .collect::<Vec<AsmKind>>()
        };
        assert_eq!(kinds(("scale.cl", 5)), [Constant, Constant, Constant, Move]);
        assert_eq!(
            kinds(("scale.cl", 7)),
            [Move, Move, Integer, Integer, Branch]
        );
        let product = [Integer, Integer, Load, Fma, Add, Move, Integer, Integer];
        assert_eq!(kinds(("scale.cl", 8)), product);
        assert_eq!(kinds(("common/tree.cl", 3)), [LocalStore, Barrier]);
        assert_eq!(
            kinds(("scale.cl", 9)),
            [LocalLoad, Division, Integer, Integer, Store]
        );
        assert_eq!(
            (scale.vectors(Load), scale.count(Load), scale.vectors(Store)),
            (1, 1, 0)
        );
        assert_eq!(scale.instructions[8].text, "@%p1 bra BB0_2");
        assert!(
            scale.instructions.iter().all(|one| one.kind != Other),
            "{scale:?}"
        );
    }

    #[test]
    fn what_is_no_listing_is_refused() {
        for wrong in [
            "",
            "\0",
            "hello",
            ".version 8.0\n",
            ".version 8.0\n.entry k(\n)\n{\n}\n",
            "\u{7f}ELF",
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        // Cut short in the middle of an instruction.
        let half = &SCALE[..SCALE.find("ld.global").unwrap()];
        assert_eq!(parse(half).unwrap()[0].count(Load), 0);
    }

    #[test]
    fn instructions_have_kinds() {
        let of = |text: &str| {
            let (mnemonic, operands) = text.split_once(' ').unwrap_or((text, ""));
            x86_kinds(mnemonic, operands)
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
        let [k, other] = &kernels[..] else {
            panic!("{kernels:?}")
        };
        assert_eq!(
            (
                k.count(Add),
                k.vectors(Add),
                k.count(Load),
                k.instructions.len()
            ),
            (2, 1, 1, 3)
        );
        let places: Vec<_> = k
            .lines()
            .into_iter()
            .map(|line| (line.place, line.instructions.len()))
            .collect();
        assert_eq!(
            places,
            [
                (Some(("/tmp/dot/naive.cl", 26)), 1),
                (Some(("/tmp/dot/naive.cl", 27)), 2)
            ]
        );
        assert_eq!(other.lines()[0].place, None);
    }
}

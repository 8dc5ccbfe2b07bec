//! A listing's kernels, and their instructions by line.

use super::kind::AsmKind;

#[derive(Clone, Debug, PartialEq, Eq)]
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
        self.instructions.iter().filter(|one| one.is_vector && one.is(kind)).count()
    }

    /// By file and line; first those without one.
    pub fn lines(&self) -> Vec<AsmLine<'_>> {
        let mut lines: Vec<AsmLine<'_>> = Vec::new();
        for one in &self.instructions {
            let place = one.place.as_ref().map(|(file, line)| (file.as_str(), *line));
            match lines.iter_mut().find(|line| line.place == place) {
                Some(line) => line.instructions.push(one),
                None => lines.push(AsmLine { place, instructions: vec![one] }),
            }
        }
        lines.sort_by_key(|line| line.place);
        lines
    }
}

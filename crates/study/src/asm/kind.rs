//! Kinds of instructions.

/// What an instruction does, as far as it tells kernels apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AsmKind {
    /// A load from global memory; of CPUs, that from any buffer.
    Load,
    Store,
    /// A store past the cache.
    StreamStore,
    LocalLoad,
    LocalStore,
    Atomic,
    /// A load or store of an item's own memory: arrays, and what registers had no room for.
    Private,
    /// A load of a parameter or a constant.
    Constant,
    Fma,
    Add,
    Mul,
    /// Other arithmetic of floating-point numbers.
    Float,
    Integer,
    /// A division of integers, or its remainder.
    Division,
    Convert,
    /// An exchange between items, or between the parts of a vector.
    Exchange,
    Move,
    Branch,
    Barrier,
    Other,
}

impl AsmKind {
    /// In the order of columns.
    pub const ALL: [AsmKind; 20] = [
        AsmKind::Load,
        AsmKind::Store,
        AsmKind::StreamStore,
        AsmKind::LocalLoad,
        AsmKind::LocalStore,
        AsmKind::Atomic,
        AsmKind::Private,
        AsmKind::Constant,
        AsmKind::Fma,
        AsmKind::Add,
        AsmKind::Mul,
        AsmKind::Float,
        AsmKind::Integer,
        AsmKind::Division,
        AsmKind::Convert,
        AsmKind::Exchange,
        AsmKind::Move,
        AsmKind::Branch,
        AsmKind::Barrier,
        AsmKind::Other,
    ];

    pub fn name(self) -> &'static str {
        match self {
            AsmKind::Load => "load",
            AsmKind::Store => "store",
            AsmKind::StreamStore => "store past cache",
            AsmKind::LocalLoad => "local load",
            AsmKind::LocalStore => "local store",
            AsmKind::Atomic => "atomic",
            AsmKind::Private => "private",
            AsmKind::Constant => "constant",
            AsmKind::Fma => "fma",
            AsmKind::Add => "add",
            AsmKind::Mul => "mul",
            AsmKind::Float => "other float",
            AsmKind::Integer => "integer",
            AsmKind::Division => "division",
            AsmKind::Convert => "convert",
            AsmKind::Exchange => "exchange",
            AsmKind::Move => "move",
            AsmKind::Branch => "branch",
            AsmKind::Barrier => "barrier",
            AsmKind::Other => "other",
        }
    }
}

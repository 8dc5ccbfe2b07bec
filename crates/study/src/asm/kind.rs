//! Kinds of instructions.

use gpulab_model::named_enum;

named_enum! {
    /// What an instruction does, as far as it tells kernels apart.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
        Other = "other",
    }
}

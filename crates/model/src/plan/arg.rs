//! What kernels are given.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A kernel argument; of a plan, or, with [`BufferId`], of a launch on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arg<B = usize> {
    /// A buffer: of a plan its index there.
    Buffer(B),
    /// An element index or count; its width in the kernel is the macro `INDEX`.
    Index(u64),
    Uint(u32),
    /// A `float`, by its bits.
    Float(u32),
    Int(i32),
    /// `__local` memory of this many bytes.
    Local(usize),
}

impl Arg {
    /// The same argument, with the buffer that a plan's index stands for.
    pub fn bound(self, buffer: impl FnOnce(usize) -> BufferId) -> Arg<BufferId> {
        match self {
            Arg::Buffer(index) => Arg::Buffer(buffer(index)),
            Arg::Index(index) => Arg::Index(index),
            Arg::Uint(value) => Arg::Uint(value),
            Arg::Float(bits) => Arg::Float(bits),
            Arg::Int(value) => Arg::Int(value),
            Arg::Local(bytes) => Arg::Local(bytes),
        }
    }
}

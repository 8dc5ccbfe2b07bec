//! What kernels are given.

use super::image::Sampler;
use crate::data::{NumberValue, Scalar};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

/// A kernel argument; of a plan, or, with [`BufferId`], of a launch on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "plans have few arguments, and copies are simpler than owners")]
pub enum Arg<B = usize> {
    /// A buffer: of a plan its index there.
    Buffer(B),
    /// An element index or count; its width in the kernel is the macro `INDEX`.
    Index(u64),
    Uint(u32),
    /// A `float`, by its bits.
    Float(u32),
    Int(i32),
    /// A number of another type, or a struct.
    Value(ArgValue),
    /// `__local` memory of this many bytes.
    Local(usize),
    Sampler(Sampler),
}

/// Bytes that are handed over by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgValue {
    len: u16,
    bytes: [u8; ArgValue::MOST],
}

impl ArgValue {
    /// Most bytes: OpenCL promises 256 for all arguments of a kernel together in its embedded profile.
    pub const MOST: usize = 256;

    /// These bytes, at most [`ArgValue::MOST`]; none of more.
    pub fn new(bytes: &[u8]) -> Option<ArgValue> {
        let mut value = ArgValue { len: bytes.len().try_into().ok()?, bytes: [0; ArgValue::MOST] };
        value.bytes.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(value)
    }

    /// A number of this type; none that the type does not hold.
    pub fn of(scalar: Scalar, number: NumberValue) -> Option<ArgValue> {
        ArgValue::new(&scalar.bytes(number)?)
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len.into()]
    }
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
            Arg::Value(value) => Arg::Value(value),
            Arg::Local(bytes) => Arg::Local(bytes),
            Arg::Sampler(sampler) => Arg::Sampler(sampler),
        }
    }
}

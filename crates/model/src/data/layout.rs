//! Elements that are bytes: numbers of any type, or structs of them, at fixed places.

use super::{Array, Dtype, Fill, generate};
use half::f16;
use serde::{Deserialize, Serialize};

/// A type of numbers in OpenCL C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    /// IEEE 754 binary16.
    F16,
    F32,
    F64,
}

/// A number, as it is printed and compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NumberValue {
    Whole(i128),
    Real(f64),
}

impl std::fmt::Display for NumberValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NumberValue::Whole(number) => write!(f, "{number}"),
            NumberValue::Real(number) => write!(f, "{number:?}"),
        }
    }
}

/// Names of a type: gpulab's, and those of OpenCL C and of its host's headers.
const NAMES: [(Scalar, &str, &[&str]); 11] = [
    (
        Scalar::I8,
        "i8",
        &["char", "signed char", "cl_char", "int8_t"],
    ),
    (
        Scalar::U8,
        "u8",
        &["uchar", "unsigned char", "cl_uchar", "uint8_t", "bool"],
    ),
    (
        Scalar::I16,
        "i16",
        &["short", "signed short", "short int", "cl_short", "int16_t"],
    ),
    (
        Scalar::U16,
        "u16",
        &[
            "ushort",
            "unsigned short",
            "unsigned short int",
            "cl_ushort",
            "uint16_t",
        ],
    ),
    (
        Scalar::I32,
        "i32",
        &["int", "signed int", "signed", "cl_int", "int32_t"],
    ),
    (
        Scalar::U32,
        "u32",
        &["uint", "unsigned int", "unsigned", "cl_uint", "uint32_t"],
    ),
    (
        Scalar::I64,
        "i64",
        &[
            "long",
            "signed long",
            "long int",
            "long long",
            "cl_long",
            "int64_t",
            "ptrdiff_t",
        ],
    ),
    (
        Scalar::U64,
        "u64",
        &[
            "ulong",
            "unsigned long",
            "unsigned long int",
            "unsigned long long",
            "cl_ulong",
            "uint64_t",
            "size_t",
        ],
    ),
    (Scalar::F16, "f16", &["half", "cl_half"]),
    (Scalar::F32, "f32", &["float", "cl_float"]),
    (Scalar::F64, "f64", &["double", "cl_double"]),
];

impl From<Dtype> for Scalar {
    fn from(dtype: Dtype) -> Scalar {
        match dtype {
            Dtype::F32 => Scalar::F32,
            Dtype::F64 => Scalar::F64,
            Dtype::I32 => Scalar::I32,
            Dtype::I64 => Scalar::I64,
            Dtype::U8 => Scalar::U8,
        }
    }
}

impl Scalar {
    /// The type that has this name here, as `u16`.
    pub fn named(name: &str) -> Option<Scalar> {
        NAMES
            .iter()
            .find(|(_, own, _)| *own == name)
            .map(|(scalar, ..)| *scalar)
    }

    /// The type that has this name in OpenCL C, as `ushort`.
    pub fn in_c(name: &str) -> Option<Scalar> {
        NAMES
            .iter()
            .find(|(_, _, names)| names.contains(&name))
            .map(|(scalar, ..)| *scalar)
    }

    /// As in `u16`.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// As in `ushort`.
    pub fn c_name(self) -> &'static str {
        NAMES[self as usize].2[0]
    }

    pub fn size(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// The type of arrays of it, where there are such arrays.
    pub fn dtype(self) -> Option<Dtype> {
        match self {
            Scalar::F32 => Some(Dtype::F32),
            Scalar::F64 => Some(Dtype::F64),
            Scalar::I32 => Some(Dtype::I32),
            Scalar::I64 => Some(Dtype::I64),
            _ => None,
        }
    }

    /// The number that these bytes are, as many as [`Scalar::size`], in the host's order.
    pub fn read(self, bytes: &[u8]) -> NumberValue {
        macro_rules! of {
            ($t:ty) => {
                <$t>::from_ne_bytes(bytes.try_into().unwrap_or_default())
            };
        }
        match self {
            Scalar::I8 => NumberValue::Whole(of!(i8).into()),
            Scalar::U8 => NumberValue::Whole(of!(u8).into()),
            Scalar::I16 => NumberValue::Whole(of!(i16).into()),
            Scalar::U16 => NumberValue::Whole(of!(u16).into()),
            Scalar::I32 => NumberValue::Whole(of!(i32).into()),
            Scalar::U32 => NumberValue::Whole(of!(u32).into()),
            Scalar::I64 => NumberValue::Whole(of!(i64).into()),
            Scalar::U64 => NumberValue::Whole(of!(u64).into()),
            Scalar::F16 => NumberValue::Real(f16::from_bits(of!(u16)).to_f64()),
            Scalar::F32 => NumberValue::Real(of!(f32).into()),
            Scalar::F64 => NumberValue::Real(of!(f64)),
        }
    }

    /// The bytes of a number, in the host's order; none if the type does not hold it. Floats are rounded.
    pub fn bytes(self, number: NumberValue) -> Option<Vec<u8>> {
        let real = match number {
            NumberValue::Whole(whole) => whole as f64,
            NumberValue::Real(real) => real,
        };
        macro_rules! whole {
            ($t:ty) => {
                match number {
                    NumberValue::Whole(whole) => <$t>::try_from(whole).ok()?.to_ne_bytes().to_vec(),
                    NumberValue::Real(_) => return None,
                }
            };
        }
        Some(match self {
            Scalar::I8 => whole!(i8),
            Scalar::U8 => whole!(u8),
            Scalar::I16 => whole!(i16),
            Scalar::U16 => whole!(u16),
            Scalar::I32 => whole!(i32),
            Scalar::U32 => whole!(u32),
            Scalar::I64 => whole!(i64),
            Scalar::U64 => whole!(u64),
            Scalar::F16 => f16::from_f64(real).to_bits().to_ne_bytes().to_vec(),
            Scalar::F32 => (real as f32).to_ne_bytes().to_vec(),
            Scalar::F64 => real.to_ne_bytes().to_vec(),
        })
    }

    /// The bytes of `len` elements of test data: those of the nearest type of arrays, cut to this one. Signs are dropped where
    /// there are none.
    fn generated(self, fill: Fill, seed: u64, stream: u64, start: u64, len: usize) -> Vec<u8> {
        let near = match self {
            Scalar::F16 => Dtype::F32,
            Scalar::I64 | Scalar::U64 => Dtype::I64,
            other => other.dtype().unwrap_or(Dtype::I32),
        };
        let array = generate(fill, near, seed, stream, start, len);
        match &array {
            Array::F32(v) if self == Scalar::F16 => v
                .iter()
                .flat_map(|x| f16::from_f32(*x).to_bits().to_ne_bytes())
                .collect(),
            Array::I32(v) if self != Scalar::I32 => v
                .iter()
                .flat_map(|x| self.cut(fill, near, (*x).into()))
                .collect(),
            Array::I64(v) if self != Scalar::I64 => {
                v.iter().flat_map(|x| self.cut(fill, near, *x)).collect()
            }
            _ => array.as_bytes().to_vec(),
        }
    }

    fn cut(self, fill: Fill, near: Dtype, number: i64) -> Vec<u8> {
        let is_small = matches!(fill, Fill::Exact(_) | Fill::Below(_) | Fill::Positive);
        let sign = if is_small && self.is_unsigned() {
            number.unsigned_abs()
        } else {
            number.cast_unsigned()
        };
        // Large positive numbers are so in fewer bits, too.
        let kept = if fill == Fill::Positive {
            sign >> (8 * (near.size() - self.size()))
        } else {
            sign
        };
        kept.to_le_bytes()[..self.size()].to_vec()
    }

    fn is_unsigned(self) -> bool {
        matches!(self, Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64)
    }
}

/// A number of an element.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// Empty where it is all of the element.
    pub name: String,
    /// Its first byte in the element.
    pub at: usize,
    pub scalar: Scalar,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    /// From one element to the next, in bytes.
    pub size: usize,
    /// What the place of an element in a struct is a multiple of.
    pub alignment: usize,
    pub fields: Vec<Field>,
}

impl From<Scalar> for Layout {
    fn from(scalar: Scalar) -> Layout {
        let size = scalar.size();
        Layout {
            size,
            alignment: size,
            fields: vec![Field {
                name: String::new(),
                at: 0,
                scalar,
            }],
        }
    }
}

impl Layout {
    /// The number that each element is, if it is one.
    pub fn scalar(&self) -> Option<Scalar> {
        match &self.fields[..] {
            [only] if only.at == 0 && only.scalar.size() == self.size => Some(only.scalar),
            _ => None,
        }
    }

    /// The bytes of `len` elements of test data, from index `start` on; fields are streams of their own, and what lies
    /// between them is random, which no kernel may rely on.
    pub fn generate(&self, fill: Fill, seed: u64, stream: u64, start: u64, len: usize) -> Vec<u8> {
        if let Some(scalar) = self.scalar() {
            return scalar.generated(fill, seed, stream, start, len);
        }
        let padding = generate(
            Fill::Real,
            Dtype::U8,
            seed,
            stream,
            start * self.size as u64,
            self.size * len,
        );
        let mut bytes = padding.as_bytes().to_vec();
        for (number, field) in (1..).zip(&self.fields) {
            let size = field.scalar.size();
            let values = field
                .scalar
                .generated(fill, seed, stream + (number << 32), start, len);
            for (element, value) in bytes.chunks_mut(self.size).zip(values.chunks(size)) {
                element[field.at..][..size].copy_from_slice(value);
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_types() {
        for (scalar, name, names) in NAMES {
            assert_eq!((scalar.name(), scalar.c_name()), (name, names[0]));
            assert_eq!(
                (Scalar::named(name), Scalar::in_c(names[0])),
                (Some(scalar), Some(scalar))
            );
        }
    }

    #[test]
    fn numbers_come_back_from_their_bytes_and_what_does_not_fit_has_none() {
        for (scalar, number) in [
            (Scalar::I8, NumberValue::Whole(-128)),
            (Scalar::U16, NumberValue::Whole(65535)),
            (Scalar::U64, NumberValue::Whole(i128::from(u64::MAX))),
            (Scalar::F16, NumberValue::Real(0.5)),
            (Scalar::F32, NumberValue::Real(0.25)),
            (Scalar::F64, NumberValue::Real(0.1)),
        ] {
            assert_eq!(scalar.read(&scalar.bytes(number).unwrap()), number);
        }
        assert_eq!(Scalar::U8.bytes(NumberValue::Whole(256)), None);
        assert_eq!(
            Scalar::I32.bytes(NumberValue::Real(0.5)),
            None,
            "a float's bits are no whole number"
        );
        assert_eq!(
            Scalar::F32.bytes(NumberValue::Whole(2)),
            Scalar::F32.bytes(NumberValue::Real(2.0))
        );
    }

    #[test]
    fn fields_are_filled_apart_and_parts_are_those_of_the_whole() {
        let fields = [("a", 0, Scalar::U8), ("x", 4, Scalar::F32)];
        let fields = fields.map(|(name, at, scalar)| Field {
            name: name.into(),
            at,
            scalar,
        });
        let layout = Layout {
            size: 8,
            alignment: 4,
            fields: fields.into(),
        };
        let all = layout.generate(Fill::Exact(8), 1, 0, 0, 100);
        assert_eq!(
            all[8 * 40..8 * 60],
            layout.generate(Fill::Exact(8), 1, 0, 40, 20)
        );
        for element in all.chunks(8) {
            let NumberValue::Whole(a) = Scalar::U8.read(&element[..1]) else {
                panic!()
            };
            let NumberValue::Real(x) = Scalar::F32.read(&element[4..]) else {
                panic!()
            };
            assert!((1..=8).contains(&a) && (1.0..=8.0).contains(&x.abs()));
        }
        assert!(all.chunks(8).any(|element| element[0] != all[0]));
        assert!(
            all.chunks(8).any(|element| element[1..4] != all[1..4]),
            "nothing is to be read between fields"
        );
    }
}

//! Types of C, and how their fields lie in memory.

use gpulab_model::data::{Field, Layout, Scalar};

/// A type of elements or values.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueType {
    /// `T`, the element type that a case asks for.
    Case,
    /// `INDEX`, which counts elements.
    Index,
    /// A number, or a vector of as many.
    Number(Scalar, usize),
    Struct(Layout),
}

impl ValueType {
    /// Bytes, where a case's elements have `size`.
    pub fn size(&self, size: usize) -> usize {
        match self {
            ValueType::Case => size,
            ValueType::Index => 8,
            ValueType::Number(scalar, lanes) => scalar.size() * lanes,
            ValueType::Struct(layout) => layout.size,
        }
    }
}

/// `float3`: three numbers in the place of four; the fourth is padding. Its fields are named by numbers, as no struct's are.
pub(crate) fn vector_of_three(scalar: Scalar) -> ValueType {
    let size = scalar.size();
    let fields = (0..3).map(|lane| Field { name: lane.to_string(), at: lane * size, scalar });
    ValueType::Struct(Layout { size: 4 * size, alignment: 4 * size, fields: fields.collect() })
}

/// Puts fields behind each other, as C aligns them.
#[derive(Default)]
pub(crate) struct LayoutMaker {
    pub(crate) is_packed: bool,
    pub(crate) at: usize,
    pub(crate) alignment: usize,
    pub(crate) fields: Vec<Field>,
}

impl LayoutMaker {
    /// Most numbers of a struct.
    pub(crate) const MOST: usize = 4096;

    pub(crate) fn add(&mut self, name: &str, of: &ValueType, count: usize) -> Option<()> {
        let (size, alignment) = match of {
            ValueType::Number(scalar, lanes) => (scalar.size() * lanes, scalar.size() * lanes),
            ValueType::Struct(layout) => (layout.size, layout.alignment),
            ValueType::Case | ValueType::Index => return None,
        };
        let alignment = if self.is_packed { 1 } else { alignment };
        self.at = self.at.next_multiple_of(alignment);
        self.alignment = self.alignment.max(alignment);
        for element in 0..count {
            let name = if count > 1 { format!("{name}_{element}") } else { name.to_owned() };
            match of {
                ValueType::Number(scalar, lanes) => {
                    for lane in 0..*lanes {
                        let name = if *lanes > 1 { format!("{name}_{lane}") } else { name.clone() };
                        self.fields.push(Field { name, at: self.at + lane * scalar.size(), scalar: *scalar });
                    }
                }
                ValueType::Struct(layout) => {
                    let inner = layout.fields.iter().map(|field| Field {
                        name: format!("{name}_{}", field.name),
                        at: self.at + field.at,
                        scalar: field.scalar,
                    });
                    self.fields.extend(inner);
                }
                ValueType::Case | ValueType::Index => return None,
            }
            self.at += size;
            if self.fields.len() > Self::MOST {
                return None;
            }
        }
        Some(())
    }

    pub(crate) fn layout(self) -> Layout {
        let alignment = self.alignment.max(1);
        Layout { size: self.at.next_multiple_of(alignment).max(1), alignment, fields: self.fields }
    }
}

/// The layout of a struct that is written by its fields' types, as C aligns them: `ffi` are two floats and an int, `4f` four
/// floats. Letters are those of Python's module `struct`: b B h H i I l L q Q e f d.
pub fn layout_of_letters(letters: &str) -> Result<Layout, String> {
    let mut maker = LayoutMaker::default();
    let mut count = String::new();
    for (number, letter) in letters.chars().filter(|c| !c.is_whitespace()).enumerate() {
        if letter.is_ascii_digit() {
            count.push(letter);
            continue;
        }
        let scalar = match letter {
            'b' => Scalar::I8,
            'B' => Scalar::U8,
            'h' => Scalar::I16,
            'H' => Scalar::U16,
            'i' => Scalar::I32,
            'I' => Scalar::U32,
            'l' | 'q' => Scalar::I64,
            'L' | 'Q' => Scalar::U64,
            'e' => Scalar::F16,
            'f' => Scalar::F32,
            'd' => Scalar::F64,
            _ => return Err(format!("<{letters}>: there is no type {letter:?}; there are b B h H i I q Q e f d")),
        };
        let times = if count.is_empty() { 1 } else { count.parse().unwrap_or(usize::MAX) };
        count.clear();
        let added = (times <= LayoutMaker::MOST)
            .then(|| maker.add(&format!("f{number}"), &ValueType::Number(scalar, 1), times))
            .flatten();
        added.ok_or_else(|| format!("<{letters}> has more than {} numbers", LayoutMaker::MOST))?;
    }
    if maker.fields.is_empty() {
        return Err("<> has no fields: write <ffi> for two floats and an int".into());
    }
    Ok(maker.layout())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_fields() {
        assert_eq!(layout_of_letters("ffi").unwrap().size, 12);
        assert_eq!(layout_of_letters("b 2d").unwrap().fields[2].at, 16);
        assert!(layout_of_letters("fx").unwrap_err().contains("'x'"));
        assert!(layout_of_letters("99999f").is_err() && layout_of_letters("").is_err());
    }
}

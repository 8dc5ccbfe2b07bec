//! Images and samplers: what kernels reach by coordinates.

use crate::data::Scalar;

/// How a pixel's channels are stored, and what kernels see of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PixelFormat {
    /// 1, 2 or 4.
    pub channels: usize,
    pub scalar: Scalar,
    /// Whether a channel is a whole number of which kernels see the share of the largest: a float from 0 to 1.
    pub is_share: bool,
}

/// The types of channels, behind the letters of these: `rgba8`, `r32f`, `rg16ui`.
const CHANNELS: [(&str, Scalar, bool); 10] = [
    ("8", Scalar::U8, true),
    ("16", Scalar::U16, true),
    ("8i", Scalar::I8, false),
    ("16i", Scalar::I16, false),
    ("32i", Scalar::I32, false),
    ("8ui", Scalar::U8, false),
    ("16ui", Scalar::U16, false),
    ("32ui", Scalar::U32, false),
    ("16f", Scalar::F16, false),
    ("32f", Scalar::F32, false),
];

impl PixelFormat {
    pub fn named(name: &str) -> Option<PixelFormat> {
        let digits = name.find(|c: char| c.is_ascii_digit())?;
        let channels = match &name[..digits] {
            "r" => 1,
            "rg" => 2,
            "rgba" => 4,
            _ => return None,
        };
        let found = CHANNELS
            .into_iter()
            .find(|(of, ..)| *of == &name[digits..])?;
        Some(PixelFormat {
            channels,
            scalar: found.1,
            is_share: found.2,
        })
    }

    pub fn bytes(self) -> usize {
        self.channels * self.scalar.size()
    }
}

impl std::fmt::Display for PixelFormat {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let of = CHANNELS
            .iter()
            .find(|(_, scalar, is_share)| (*scalar, *is_share) == (self.scalar, self.is_share));
        write!(
            f,
            "{}{}",
            &"rgba"[..self.channels],
            of.map_or("", |(name, ..)| name)
        )
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageKind {
    /// An `image1d_buffer_t`.
    Buffer,
    /// An `image1d_t`.
    Line,
    /// An `image2d_t`.
    Plane,
    /// An `image3d_t`.
    Volume,
}

impl ImageKind {
    /// The kind that has this name in OpenCL C.
    pub fn in_c(name: &str) -> Option<ImageKind> {
        match name {
            "image1d_buffer_t" => Some(ImageKind::Buffer),
            "image1d_t" => Some(ImageKind::Line),
            "image2d_t" => Some(ImageKind::Plane),
            "image3d_t" => Some(ImageKind::Volume),
            _ => None,
        }
    }

    /// How many coordinates a pixel has.
    pub fn dimensions(self) -> usize {
        match self {
            ImageKind::Buffer | ImageKind::Line => 1,
            ImageKind::Plane => 2,
            ImageKind::Volume => 3,
        }
    }
}

/// An image of the first pixels of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    pub kind: ImageKind,
    /// Pixels of a row, rows, and slices; 1 of those that it has not.
    pub sides: [usize; 3],
    pub format: PixelFormat,
    pub is_written: bool,
}

impl Image {
    /// Its pixels; none if they are more than can be counted.
    pub fn pixels(&self) -> Option<usize> {
        self.sides
            .iter()
            .try_fold(1usize, |pixels, side| pixels.checked_mul(*side))
    }

    /// Its bytes; none if they are more than can be counted.
    pub fn bytes(&self) -> Option<usize> {
        self.pixels()?.checked_mul(self.format.bytes())
    }
}

/// What a kernel sees beyond an image's edge: OpenCL's addressing modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Addressing {
    None,
    ClampToEdge,
    Clamp,
    Repeat,
    MirroredRepeat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sampler {
    pub addressing: Addressing,
    /// Whether pixels are mixed, or the nearest is taken.
    pub is_linear: bool,
    /// Whether coordinates go from 0 to 1.
    pub is_normalised: bool,
}

/// The words of a sampler, as OpenCL C has them behind `CLK_ADDRESS_`.
const ADDRESSINGS: [(&str, Addressing); 5] = [
    ("none", Addressing::None),
    ("clamp_to_edge", Addressing::ClampToEdge),
    ("clamp", Addressing::Clamp),
    ("repeat", Addressing::Repeat),
    ("mirrored_repeat", Addressing::MirroredRepeat),
];

impl Sampler {
    /// Understands words such as `clamp_to_edge linear normalized`; those that are missing are none, nearest, and coordinates in
    /// pixels.
    pub fn parse(words: &str) -> Result<Sampler, String> {
        let mut sampler = Sampler {
            addressing: Addressing::None,
            is_linear: false,
            is_normalised: false,
        };
        for word in words.split_whitespace() {
            let addressing = ADDRESSINGS.iter().find(|(name, _)| *name == word);
            match (word, addressing) {
                (_, Some((_, addressing))) => sampler.addressing = *addressing,
                ("nearest", _) => sampler.is_linear = false,
                ("linear", _) => sampler.is_linear = true,
                ("normalized" | "normalised", _) => sampler.is_normalised = true,
                _ => {
                    let names = ADDRESSINGS.map(|(name, _)| name).join(", ");
                    return Err(format!(
                        "a sampler has no {word:?}: write it as in \"sampler clamp_to_edge nearest\"; there is {names}, \
                         nearest, linear and normalized"
                    ));
                }
            }
        }
        let repeats = matches!(
            sampler.addressing,
            Addressing::Repeat | Addressing::MirroredRepeat
        );
        match repeats && !sampler.is_normalised {
            true => {
                Err("a sampler that repeats needs coordinates from 0 to 1: write \"sampler repeat normalized\"".into())
            }
            false => Ok(sampler),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_one_name_each() {
        for name in [
            "rgba8", "r32f", "rgba32f", "rg16ui", "r8i", "rgba16f", "r16",
        ] {
            assert_eq!(PixelFormat::named(name).unwrap().to_string(), name);
        }
        assert_eq!(PixelFormat::named("rgba8").unwrap().bytes(), 4);
        for name in ["", "rgb8", "rgba", "8", "rgba64f", "r32", "é8"] {
            assert_eq!(PixelFormat::named(name), None, "{name}");
        }
    }

    #[test]
    fn samplers_are_written_in_opencl_cs_words() {
        let clamp = Sampler {
            addressing: Addressing::Clamp,
            is_linear: true,
            is_normalised: false,
        };
        assert_eq!(Sampler::parse("clamp linear"), Ok(clamp));
        assert_eq!(Sampler::parse("").unwrap().addressing, Addressing::None);
        assert!(
            Sampler::parse("clamp bilinear")
                .unwrap_err()
                .contains("no \"bilinear\"")
        );
        assert!(
            Sampler::parse("repeat nearest")
                .unwrap_err()
                .contains("repeat normalized")
        );
    }
}

//! Pictures as pixels, for slides.

use super::{Picture, Theme, font};
use resvg::{tiny_skia, usvg};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Pixels that a picture may be wide.
pub const PNG_WIDTHS: RangeInclusive<u32> = 240..=8192;

/// What a PNG of ours says of who made it: a keyword of the format, and its text.
pub const PNG_MARK: &str = "Software\0gpulab";

pub fn png(picture: &Picture, theme: Theme, width: u32) -> Result<Vec<u8>, String> {
    if !PNG_WIDTHS.contains(&width) {
        return Err(format!("a width of {width} pixels is not from {} to {}", PNG_WIDTHS.start(), PNG_WIDTHS.end()));
    }
    // Pixels know no reader to ask.
    let theme = if theme == Theme::Auto { Theme::Light } else { theme };
    let mut options = usvg::Options { font_family: "DejaVu Sans".to_owned(), ..usvg::Options::default() };
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(font::DEJAVU_SANS.to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = usvg::Tree::from_str(&picture.svg(theme), &options).map_err(|e| e.to_string())?;
    let scale = width as f32 / tree.size().width();
    let height = (tree.size().height() * scale).ceil().max(1.0) as u32;
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or("the picture is too large")?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    let bytes = pixels.encode_png().map_err(|e| e.to_string())?;
    Ok(marked(&bytes))
}

/// The file with a chunk of text behind its header: <https://www.w3.org/TR/png-3/#11tEXt>.
fn marked(png: &[u8]) -> Vec<u8> {
    /// The signature, and the header's length, name, 13 bytes and checksum.
    const HEADER: usize = 8 + 4 + 4 + 13 + 4;
    let chunk = [b"tEXt", PNG_MARK.as_bytes()].concat();
    let mut crc = flate2::Crc::new();
    crc.update(&chunk);
    let (header, rest) = png.split_at(HEADER);
    let length = (PNG_MARK.len() as u32).to_be_bytes();
    [header, &length, &chunk, &crc.sum().to_be_bytes(), rest].concat()
}

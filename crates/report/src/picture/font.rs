//! How wide texts are, and the font that says so.
//!
//! Browsers take a sans-serif font of their own. DejaVu Sans is among the widest of them, so what has room in it has room in
//! them; pictures of pixels are drawn with it.

use std::sync::LazyLock;
use ttf_parser::Face;

/// Latin, Greek and signs of DejaVu Sans 2.37; its licence lies beside it.
pub(super) static DEJAVU_SANS: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/fonts/DejaVuSans.ttf"));

/// The fonts that texts ask for, the first that there is.
pub(super) const FAMILY: &str = "system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif";

static FACE: LazyLock<Option<Face<'static>>> = LazyLock::new(|| Face::parse(DEJAVU_SANS, 0).ok());

/// The width of a line of text whose letters are `size` units high.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let Some(face) = FACE.as_ref() else { return size * text.chars().count() as f64 };
    let em = f64::from(face.units_per_em());
    // What the font lacks may be as wide as it is high.
    text.chars()
        .map(|c: char| face.glyph_index(c).and_then(|glyph| face.glyph_hor_advance(glyph)).map_or(em, f64::from))
        .sum::<f64>()
        * size
        / em
}

/// Text in lines of at most this width, broken at blanks; a longer word is cut.
pub(super) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // A no-break space holds a number and its unit together.
    for word in text.split([' ', '\n', '\t']).filter(|word| !word.is_empty()) {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(" ", size) + width(word, size) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(fitted(word, size, most)),
        }
    }
    lines
}

/// Text of at most this width, an ellipsis in place of what was cut off.
pub(super) fn fitted(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > most {
            kept.pop();
            break;
        }
    }
    format!("{}…", kept.trim_end())
}

pub(super) fn widest<'a>(texts: impl IntoIterator<Item = &'a str>, size: f64) -> f64 {
    texts.into_iter().map(|text| width(text, size)).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // DejaVu Sans: 2048 units an em; a digit 1303, a blank 651.
        approx::assert_relative_eq!(width("10", 2048.0), 2606.0);
        approx::assert_relative_eq!(width("1 0", 1024.0), 1628.5);
        assert_eq!(width("\u{4e00}", 10.0), 10.0, "an em for what the font lacks");
    }

    #[test]
    fn texts_fit_where_they_are_put() {
        let text = "v3 sequential is fastest on averyveryverylongname";
        for most in [40.0, 100.0, 400.0] {
            for line in wrapped(text, 12.0, most) {
                assert!(width(&line, 12.0) <= most, "{line}");
            }
            assert!(width(&fitted(text, 12.0, most), 12.0) <= most);
        }
        assert_eq!(wrapped(text, 12.0, 4000.0), [text]);
        assert_eq!(fitted("short", 12.0, 100.0), "short");
    }

    #[test]
    fn the_font_has_every_sign_that_pictures_use() {
        for sign in "µ×·…≤≥–★●■▲▼²⁻\u{202f}".chars() {
            assert!(FACE.as_ref().unwrap().glyph_index(sign).is_some(), "{sign}");
        }
    }
}

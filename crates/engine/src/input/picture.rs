//! Pictures in PNG files, as channels of 8 bits.

use super::Why;
use gpulab_model::data::Array;
use png::{ColorType, Decoder, Limits, Transformations};
use std::io::Cursor;

/// Most pixels: few bytes of a file may unfold to any number.
const MOST: usize = 1 << 26;

/// The pixels, one row after the other, and how many there are in a row. Grey ones are as bright in each colour.
pub fn read(bytes: &[u8], channels: usize) -> Result<(Array, usize), Why> {
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), Limits { bytes: 4 * MOST });
    decoder.set_transformations(Transformations::EXPAND | Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(unread)?;
    let width = reader.info().width as usize;
    let height = reader.info().height as usize;
    let pixels = width.checked_mul(height).filter(|pixels| *pixels <= MOST);
    let size = pixels.and_then(|_| reader.output_buffer_size());
    let size = size.ok_or_else(|| {
        Why::from(format!(
            "it has {width} x {height} pixels, and {MOST} can be read"
        ))
    })?;
    let mut samples = vec![0; size];
    let frame = reader.next_frame(&mut samples).map_err(unread)?;
    samples.truncate(frame.buffer_size());
    let rgba: Vec<[u8; 4]> = match frame.color_type {
        ColorType::Grayscale => samples.iter().map(|&v| [v, v, v, 255]).collect(),
        ColorType::GrayscaleAlpha => samples
            .chunks_exact(2)
            .map(|v| [v[0], v[0], v[0], v[1]])
            .collect(),
        ColorType::Rgb => samples
            .chunks_exact(3)
            .map(|v| [v[0], v[1], v[2], 255])
            .collect(),
        ColorType::Rgba => samples
            .chunks_exact(4)
            .map(|v| [v[0], v[1], v[2], v[3]])
            .collect(),
        ColorType::Indexed => return Err("its colours are not understood".into()),
    };
    if channels == 1 && rgba.iter().any(|[r, g, b, _]| r != g || g != b) {
        return Err("it has colours, and one channel is asked for: make it grey first, or declare image rgba8".into());
    }
    Ok((
        Array::U8(
            rgba.iter()
                .flat_map(|pixel| &pixel[..channels.min(4)])
                .copied()
                .collect(),
        ),
        width,
    ))
}

fn unread(error: png::DecodingError) -> Why {
    format!("it is no PNG that can be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(width: u32, height: u32, color: ColorType, samples: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, width, height);
        encoder.set_color(color);
        encoder
            .write_header()
            .unwrap()
            .write_image_data(samples)
            .unwrap();
        bytes
    }

    #[test]
    fn channels_are_those_that_are_asked_for() {
        let grey = file(2, 1, ColorType::Grayscale, &[7, 200]);
        assert_eq!(
            read(&grey, 4).unwrap(),
            (Array::U8(vec![7, 7, 7, 255, 200, 200, 200, 255]), 2)
        );
        assert_eq!(read(&grey, 1).unwrap(), (Array::U8(vec![7, 200]), 2));
        let colours = file(1, 2, ColorType::Rgb, &[1, 2, 3, 4, 5, 6]);
        assert_eq!(
            read(&colours, 4).unwrap(),
            (Array::U8(vec![1, 2, 3, 255, 4, 5, 6, 255]), 1)
        );
        assert!(
            read(&colours, 1)
                .unwrap_err()
                .to_string()
                .contains("make it grey")
        );
    }

    #[test]
    fn what_is_no_picture_is_refused() {
        assert!(read(b"not a picture", 4).is_err());
        let mut cut = file(8, 8, ColorType::Grayscale, &[1; 64]);
        cut.truncate(cut.len() - 20);
        assert!(read(&cut, 1).is_err());
        // A header that promises far more than any memory holds.
        let mut bomb = file(1, 1, ColorType::Grayscale, &[1]);
        bomb[16..24].fill(0x7f);
        let header = crc(&bomb[12..29]);
        bomb[29..33].copy_from_slice(&header.to_be_bytes());
        assert!(
            read(&bomb, 1)
                .unwrap_err()
                .to_string()
                .contains("can be read")
        );
    }

    fn crc(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0u32, |crc, byte| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
                if crc & 1 == 1 {
                    crc >> 1 ^ 0xedb8_8320
                } else {
                    crc >> 1
                }
            })
        })
    }
}

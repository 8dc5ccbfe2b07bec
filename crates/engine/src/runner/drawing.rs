//! Test data that the device draws itself, and the proof that it drew them right.
//!
//! What is right comes from the host alone: it draws the same elements for the reference, and sums up their print meanwhile.
//! A driver that draws wrongly leaves another print, and elements that the host reads back are others. A kernel that changes
//! its inputs leaves another print, too.

use super::buffers::Fenced;
use crate::device::{BuildUnit, Device, DeviceError, ProgramId};
use gpulab_kernels::Sources;
use gpulab_model::data::{self, Array, DrawnInput, Dtype, Fill};
use gpulab_model::outcome::Stop;
use gpulab_model::plan::{Arg, Launch};

const DRAW: &str = "runner/draw.cl";
const PRINT: &str = "runner/print.cl";

/// Work-items of a group of these kernels, and groups for each compute unit.
const WG: usize = 64;
const GROUPS: usize = 32;

/// Most bytes of inputs that the host makes by default.
pub(super) const MOST_HELD: u64 = 512 << 20;

/// Whether the device's kernel draws such data: those of vectors, but no bits of floats.
pub(super) fn is_drawable(fill: Fill, dtype: Dtype) -> bool {
    macros(fill, dtype, 1.0).is_some()
}

/// Builds what makes prints.
pub(super) fn printer(device: &mut dyn Device, sources: &Sources) -> Result<ProgramId, Stop> {
    let text = sources.assemble(PRINT)?;
    let defines = with_turns(device, vec![("INDEX".to_owned(), "ulong".to_owned())]);
    Ok(device.build(&BuildUnit { path: PRINT.into(), text, defines, kernels: vec!["print_words".into()] })?)
}

/// Draws an input on the device, and compares it with what the host draws: its print, and elements here and there.
pub(super) fn draw(
    device: &mut dyn Device,
    sources: &Sources,
    printer: ProgramId,
    (drawn, print): (&DrawnInput, u64),
    fenced: &Fenced,
) -> Result<(), Stop> {
    let unchanged = DrawnInput::new(drawn.fill, drawn.dtype, drawn.seed, drawn.stream, drawn.len);
    let Some(defines) = macros(drawn.fill, drawn.dtype, drawn.scale()) else {
        return Err(Stop::failed(format!("no kernel draws {} of {}", drawn.fill, drawn.dtype)));
    };
    let text = sources.assemble(DRAW)?;
    let defines = with_turns(device, defines);
    let program =
        device.build(&BuildUnit { path: DRAW.into(), text, defines, kernels: vec!["draw_elements".into()] })?;
    let args = vec![Arg::Buffer(fenced.id), Arg::Index(drawn.len as u64), Arg::Index(drawn.key())];
    let launch = Launch::linear("draw_elements", items(device, drawn.len as u64), local(device), args);
    device.run(program, &[launch])?;
    for (start, len) in samples(&unchanged) {
        let mut there = Array::zeros(drawn.dtype, len);
        device.read(fenced.id, start * drawn.dtype.size(), there.as_bytes_mut())?;
        let want = unchanged.part(start, len);
        if there.as_bytes() != want.as_bytes() {
            return Err(misdrawn(&format!("elements {start} to {} are others", start + len - 1)));
        }
    }
    match print_of(device, printer, fenced)? == print {
        true => Ok(()),
        false => Err(misdrawn("the sum over all of its elements is another one")),
    }
}

fn misdrawn(what: &str) -> Stop {
    Stop::failed(format!(
        "the device's test data differ from the host's, {what}: its driver or its memory is at fault ({DRAW} has the \
         kernel); below {} MiB of inputs, the host makes the data",
        MOST_HELD >> 20
    ))
}

pub(super) fn print_of(device: &mut dyn Device, printer: ProgramId, fenced: &Fenced) -> Result<u64, DeviceError> {
    let count = fenced.bytes as u64 / 4;
    let items = items(device, count / 2);
    let sums = device.alloc(8 * items)?;
    let _kept = device.keep(sums.0);
    let args = vec![Arg::Buffer(fenced.id), Arg::Buffer(sums), Arg::Index(count)];
    let launch = Launch::linear("print_words", items, local(device), args);
    let mut parts = vec![0u64; items];
    // Items that do not run leave no sum of another run.
    device.write(sums, 0, &vec![0xA5; 8 * items])?;
    device.run(printer, &[launch])?;
    device.read(sums, 0, bytemuck::cast_slice_mut(&mut parts))?;
    Ok(parts.into_iter().fold(0, u64::wrapping_add))
}

/// With what says how work-items share their turns.
fn with_turns(device: &dyn Device, mut defines: Vec<(String, String)>) -> Vec<(String, String)> {
    if !device.info().target.gpu {
        defines.push(("CHUNKED".to_owned(), "1".to_owned()));
    }
    defines
}

/// Work-items of a group; of a CPU one, which is a loop of its own.
fn local(device: &dyn Device) -> usize {
    let target = &device.info().target;
    if target.gpu { target.max_wg.clamp(1, WG) } else { 1 }
}

/// Work-items for so many turns: no more than there are, and enough to fill the device.
fn items(device: &dyn Device, turns: u64) -> usize {
    let target = &device.info().target;
    let local = local(device);
    let most = GROUPS * target.compute_units.max(1) as usize * local;
    (turns as usize).clamp(1, most).next_multiple_of(local)
}

/// Places that are read back: the ends, about each power of two, and some at random; where each begins, and how long it is.
fn samples(drawn: &DrawnInput) -> Vec<(usize, usize)> {
    const LEN: usize = 64;
    const RANDOM: u64 = 24;
    let last = drawn.len.saturating_sub(LEN);
    let powers = (0..usize::BITS).map(|power| (1usize << power).saturating_sub(LEN / 2)).take_while(|&at| at < last);
    let random = (0..RANDOM).map(|number| (data::draw(!drawn.key(), number) % (last as u64 + 1)) as usize);
    let mut starts: Vec<usize> = [0, last].into_iter().chain(powers).chain(random).collect();
    starts.sort_unstable();
    starts.dedup();
    starts.into_iter().map(|start| (start, LEN.min(drawn.len))).collect()
}

/// What makes the kernel draw such data; nothing where it has no function for them. `scale` is that of [`Fill::Scaled`].
fn macros(fill: Fill, dtype: Dtype, scale: f64) -> Option<Vec<(String, String)>> {
    let is_float = dtype.is_float();
    let bits = 8 * dtype.size() as u32;
    let element = ["float", "double", "uint", "ulong"][dtype as usize];
    // Bits of a significand behind its first; of integers what is left of their range.
    let significand = if dtype == Dtype::F32 { 23 } else { 52 };
    let unit = 2f64.powi(-significand);
    let upper = |shift: u32, base: i64| vec![("SHIFT", shift.to_string()), ("BASE", format!("{base}L"))];
    let scaled = |scale: f64| ("SCALE", if is_float { hex(scale, dtype) } else { format!("{scale}") });
    let whole = |name: &str| ("WHOLE", name.to_owned());
    let mut all = match fill {
        Fill::Real if is_float => {
            [upper(63 - significand as u32, 0), vec![scaled(unit), ("OFFSET", "-1".into())]].concat()
        }
        Fill::Real => upper(0, 0),
        Fill::Positive | Fill::Negative => {
            let sign = if fill == Fill::Positive { 1.0 } else { -1.0 };
            match is_float {
                true => [upper(64 - significand as u32, 0), vec![scaled(sign * unit), ("OFFSET", format!("{sign}"))]]
                    .concat(),
                false => [upper(68 - bits, 1 << (bits - 4)), vec![scaled(sign)]].concat(),
            }
        }
        Fill::Near { negative, small } => {
            let sign = if negative { -1.0 } else { 1.0 };
            let (places, size) = data::near_places(dtype, negative, small);
            let [power, last, flip] = places;
            let numbers = upper(63 - last, (1 << power) + (1 << last) + 1);
            [numbers, vec![("FLIP", flip.to_string()), scaled(sign * 2f64.powi(size)), whole("close")]].concat()
        }
        Fill::Sizes(most) if is_float => vec![("EXPONENTS", "1".into()), ("MOST", most.to_string())],
        Fill::Sizes(most) => vec![("MOST", most.min(bits - 1).to_string()), whole("narrow")],
        Fill::Exact(most) | Fill::Fractions(most) | Fill::Scaled(most) => {
            let scale = match fill {
                Fill::Fractions(_) if is_float => 0.25,
                Fill::Scaled(_) if is_float => scale,
                _ => 1.0,
            };
            vec![("MOST", format!("{most}UL")), scaled(scale), whole("exact")]
        }
        Fill::Ones => vec![whole("one")],
        Fill::MostBits if !is_float => vec![whole("most_bits")],
        Fill::FewBits if !is_float => vec![whole("few_bits")],
        _ => return None,
    };
    all.extend([("T", element.to_owned()), ("INDEX", "ulong".to_owned()), ("BITS", bits.to_string())]);
    Some(all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A power of two, with its sign, as a literal of the type.
fn hex(power: f64, dtype: Dtype) -> String {
    let exponent = power.abs().log2() as i32;
    let sign = if power < 0.0 { "-" } else { "" };
    format!("{sign}0x1p{exponent}{}", if dtype == Dtype::F32 { "f" } else { "" })
}

//! Transfers between host and device: from pageable and pinned memory, and by way of a mapping; in one or many pieces.

use super::*;

/// The exchange's entry in the list: n words of 4 bytes in one direction.
pub const EXCHANGE: Exchange = Exchange { name: "transfer", variants: &VARIANTS, sources: &[], script };

/// To the device (`in`) or back (`out`).
const VARIANTS: [Variant; 6] = [
    Variant::by_wall("pageable_in"),
    Variant::by_wall("pageable_out"),
    Variant::by_wall("pinned_in"),
    Variant::by_wall("pinned_out"),
    Variant::by_wall("mapped_in"),
    Variant::by_wall("mapped_out"),
];

/// Setting: bytes of a piece, where the words go in several.
pub const PIECE: &str = "piece";

/// Most commands in a row.
const MOST_PIECES: usize = 1 << 14;

fn script(case: &Case, _: &Target) -> Result<Script, Refusal> {
    let bytes = bytes(case)?;
    let (how, is_in) = case.variant.split_once('_').map_or(("", false), |(how, way)| (how, way == "in"));
    let piece = usize::try_from(setting(case, PIECE, bytes as u64)?).unwrap_or(bytes).min(bytes);
    if bytes.div_ceil(piece) > MOST_PIECES {
        return Err(Refusal::Setting(format!("{PIECE}={piece}: more than {MOST_PIECES} pieces")));
    }
    let action = match (how, is_in) {
        ("mapped", true) => Action::Fill,
        ("mapped", false) => Action::Fetch,
        (_, true) => Action::Write,
        (_, false) => Action::Read,
    };
    let command = |from: usize| {
        let part = Transfer { host: BufferId(0), from, buffer: BufferId(0), at: from, bytes: piece.min(bytes - from) };
        QueuedCommand { queue: 0, action: action(part) }
    };
    let source = Contents::Pattern;
    let result = Contents::Undefined;
    let [host, buffer] = if is_in { [source, result] } else { [result, source] };
    Ok(Script {
        host: vec![HostSpec { bytes, is_pinned: how == "pinned", contents: host }],
        // What is mapped lies where both sides reach it.
        buffers: vec![DeviceSpec {
            bytes,
            place: if how == "mapped" { MemoryKind::Host } else { MemoryKind::Device },
            contents: buffer,
        }],
        program: None,
        commands: (0..bytes).step_by(piece).map(command).collect(),
        repeat: 1,
        reading: Reading::Span,
        answer: Answer::new(if is_in { AnswerPlace::Buffer(0) } else { AnswerPlace::Host(0) }, Expected::Pattern),
        cost: Cost { bytes: bytes as f64, ops: 0.0 },
        timeline: false,
    })
}

//! What warps did in the simulator, step by step, as the plugin writes it, and what the simulator finds by itself.

use super::RequestCounts;
use gpulab_model::named_enum;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The steps of a launch's first groups, group by group, phase by phase and warp by warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedLaunch {
    pub kernel: String,
    pub steps: Vec<TracedStep>,
    pub parting: Option<Parting>,
}

/// The first read that got another value than in another order of the work-items.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Parting {
    /// As in `line 12: work-item 3 of group 0 reads scratch[7]`.
    pub reads: String,
    /// What it got and who had stored it, in the order before and in this one.
    pub gets: [String; 2],
    /// Where that is, for a film's page.
    place: Value,
}

/// Instructions of one line that the same lanes of a warp execute, one after the other.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TracedStep {
    pub group: u64,
    /// The warp's number in its group.
    pub warp: u64,
    /// Barriers that the group has met.
    pub phase: u64,
    /// Path of the source below `cl/`.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// A bit for each lane that executes it.
    #[serde(deserialize_with = "bits")]
    pub lanes: u64,
    /// Instructions of the warp.
    pub issued: u64,
    /// Instructions of all its items.
    pub executed: u64,
    pub flops: u64,
    pub requests: Vec<TracedRequest>,
}

/// What the lanes of a warp ask of memory by one instruction.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct TracedRequest {
    pub kind: RequestKind,
    /// The kernel's name of what it reaches: a parameter or a local array; empty where it is not known.
    pub array: String,
    /// Bytes that a lane asks for.
    pub size: u64,
    /// A bit for each lane that asks.
    #[serde(deserialize_with = "bits")]
    pub lanes: u64,
    /// The lanes' addresses, in bytes from the array's beginning, in their order.
    #[serde(deserialize_with = "offsets")]
    pub at: Vec<u64>,
    /// What the lanes store, where these are single numbers.
    pub stored: Vec<String>,
    /// Address and bytes of each transaction of global memory, where these are not whole segments of one size.
    #[serde(default, deserialize_with = "pieces")]
    pub moved_pieces: Vec<(u64, u64)>,
    #[serde(flatten)]
    pub counts: RequestCounts,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestKind {
    GlobalRead,
    GlobalWrite,
    LocalRead,
    LocalWrite,
    ConstantRead,
    GlobalAtomic,
    LocalAtomic,
}

impl RequestKind {
    pub fn is_local(self) -> bool {
        matches!(
            self,
            RequestKind::LocalRead | RequestKind::LocalWrite | RequestKind::LocalAtomic
        )
    }

    pub fn is_read(self) -> bool {
        matches!(
            self,
            RequestKind::GlobalRead | RequestKind::LocalRead | RequestKind::ConstantRead
        )
    }
}

fn bits<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    u64::from_str_radix(&String::deserialize(from)?, 16).map_err(serde::de::Error::custom)
}

/// Oclgrind's addresses have the buffer's number above 48 bits.
const OFFSET: u64 = (1 << 48) - 1;

fn offsets<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u64>, D::Error> {
    Ok(Vec::<u64>::deserialize(from)?
        .into_iter()
        .map(|address| address & OFFSET)
        .collect())
}

fn pieces<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(u64, u64)>, D::Error> {
    let pieces = Vec::<(u64, u64)>::deserialize(from)?;
    Ok(pieces
        .into_iter()
        .map(|(address, bytes)| (address & OFFSET, bytes))
        .collect())
}

/// The launches of the lines that the plugin wrote, in their order.
pub fn traced(text: &str) -> Result<Vec<TracedLaunch>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TraceLine {
        Step(TracedStep),
        Parting { parting: Parting },
        Launch { kernel: String },
    }
    let mut launches: Vec<TracedLaunch> = Vec::new();
    for line in text.lines() {
        match serde_json::from_str(line)? {
            TraceLine::Launch { kernel } => launches.push(TracedLaunch {
                kernel,
                steps: Vec::new(),
                parting: None,
            }),
            TraceLine::Step(step) => launches
                .last_mut()
                .map_or((), |launch| launch.steps.push(step)),
            TraceLine::Parting { parting } => launches
                .last_mut()
                .map_or((), |launch| launch.parting = Some(parting)),
        }
    }
    Ok(launches)
}

/// What the simulator found at a place of a kernel's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFinding {
    pub kind: FindingKind,
    /// In the simulator's words, without addresses.
    pub said: String,
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<u64>,
    /// Of which memory it is: `global`, `local`, `private` or `constant`.
    pub memory: Option<String>,
    /// Whether it lies before the start of a buffer.
    pub is_before: bool,
    /// Of a race, the file and the line of the other access.
    pub other: Option<(String, u64)>,
    /// Whether it is a race between work-items of two groups.
    pub between_groups: bool,
    /// How often it was found.
    pub times: u64,
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FindingKind {
        /// Two work-items at one place, at least one of which writes, with nothing between them.
        Race = "race",
        ReadOutside = "read_outside",
        WriteOutside = "write_outside",
        Unset = "unset",
        /// Not all work-items of a group reach a barrier.
        Divergence = "divergence",
        /// A call that OpenCL refused.
        Call = "call",
        Other = "other",
    }
}

impl CheckFinding {
    /// Where it is, if that is known, what it means, and what to do.
    pub fn sentence(&self) -> String {
        let place = match (&self.file, self.line) {
            (Some(file), Some(line)) => format!("{file}, line {line}: "),
            _ => String::new(),
        };
        place + &self.meaning()
    }

    /// Whether it lies behind the end of a buffer that the host makes as long as it likes; of local memory, too, if the host makes that.
    pub fn is_behind_end(&self, makes_local: bool) -> bool {
        let is_outside = [FindingKind::ReadOutside, FindingKind::WriteOutside].contains(&self.kind);
        let is_of_host = match self.memory.as_deref() {
            Some("private") => false,
            Some("local") => makes_local,
            _ => true,
        };
        is_outside && is_of_host && !self.is_before
    }

    pub fn meaning(&self) -> String {
        let memory = self.memory.as_deref().unwrap_or("device");
        let outside = match memory {
            _ if self.is_before => "of a buffer, before its start: compare the index with 0 before",
            "local" => {
                "of the group's local memory: compare the index with its size (hosts give clSetKernelArg bytes, not elements)"
            }
            "private" => "of an array of the work-item: compare the index with its size before",
            _ => "of a buffer: compare the index with its size before",
        };
        match self.kind {
            FindingKind::Race => {
                let with = match &self.other {
                    Some((file, line)) if Some(file) != self.file.as_ref() => format!("{file}, line {line}"),
                    Some((_, line)) if Some(*line) != self.line => format!("line {line}"),
                    _ => "this line itself".to_owned(),
                };
                let why = match memory {
                    _ if self.between_groups => {
                        "by two work-groups: a barrier orders the work-items of one group only. Use an atomic \
                         operation, a place for each group, or another launch"
                            .to_owned()
                    }
                    _ => format!(
                        "by two work-items of a group: no barrier(CLK_{}_MEM_FENCE) orders them",
                        memory.to_uppercase()
                    ),
                };
                format!("a race in {memory} memory with {with}, {why}")
            }
            FindingKind::ReadOutside => format!("a read outside {outside}"),
            FindingKind::WriteOutside => format!("a write outside {outside}"),
            FindingKind::Unset => "a value is used here that was never set".to_owned(),
            FindingKind::Divergence => {
                "not all work-items of a group reach this barrier: put it outside of branches, and behind no return"
                    .to_owned()
            }
            FindingKind::Call => format!("a call was refused: {}", self.said),
            FindingKind::Other => self.said.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_belong_to_the_launch_before_them() {
        let text = r#"{"kernel":"first"}
{"kernel":"second"}
{"group":1,"warp":0,"phase":2,"file":"a.cl","line":7,"lanes":"ff","issued":3,"executed":24,"flops":8,"requests":[{"kind":"local_write","array":"tile","size":4,"lanes":"3","at":[281474976710656,281474976710660],"stored":["1","2.5"],"requests":1,"items":2,"bytes":8,"segments":0,"passes":1,"conflicts":0,"broadcasts":0,"words":0}]}"#;
        let launches = traced(text).unwrap();
        assert_eq!((launches.len(), launches[0].steps.len()), (2, 0));
        let step = &launches[1].steps[0];
        assert_eq!(
            (step.group, step.phase, step.line, step.lanes),
            (1, 2, 7, 0xff)
        );
        assert_eq!(
            (
                step.requests[0].at.as_slice(),
                step.requests[0].counts.passes
            ),
            ([0, 4].as_slice(), 1)
        );
        assert!(traced("{").is_err());
    }
}

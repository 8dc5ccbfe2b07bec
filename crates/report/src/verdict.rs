//! What a command found, for programs: the schema `gpulab.verdict/1`, which `docs/verdict.md` describes.

use crate::format;
use gpulab_model::{Error, Result, named_enum, usage_error};
use gpulab_record::compare::{ComparisonRow, RatioInterval, SpeedVerdict};
use gpulab_study::count::CheckFinding;
use serde::{Deserialize, Serialize, Serializer};

/// The name and the number of the fields below.
pub const SCHEMA: &str = "gpulab.verdict/1";

named_enum! {
    /// The one word of a verdict.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Word {
        Faster = "FASTER",
        Slower = "SLOWER",
        /// Within a few per cent, or one device code.
        Same = "SAME",
        Undecided = "UNDECIDED",
        /// A result, or memory that it left changed, is wrong.
        Incorrect = "INCORRECT",
        /// Right, but its time cannot be believed, or the simulator found a fault that this device forgave.
        Suspect = "SUSPECT",
        NotBuilt = "NOT BUILT",
        /// Compared with nothing, and something was found.
        Found = "FOUND",
        /// Compared with nothing, and nothing was found where it was looked.
        NothingFound = "NOTHING FOUND",
        /// Nobody looked at anything.
        NotLookedAt = "NOT LOOKED AT",
    }
}

impl Word {
    pub fn exit_code(self) -> u8 {
        match self {
            Word::Faster | Word::Same | Word::NothingFound => 0,
            Word::Incorrect | Word::Suspect | Word::Found => 4,
            Word::NotBuilt => 5,
            Word::Slower => 6,
            Word::NotLookedAt => 7,
            Word::Undecided => 8,
        }
    }
}

impl From<SpeedVerdict> for Word {
    fn from(of_times: SpeedVerdict) -> Word {
        match of_times {
            SpeedVerdict::Faster => Word::Faster,
            SpeedVerdict::Same => Word::Same,
            SpeedVerdict::Slower => Word::Slower,
            SpeedVerdict::Undecided => Word::Undecided,
        }
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

named_enum! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Level {
        Error = "error",
        Warning = "warning",
        Note = "note",
    }
}

/// Something that is wrong with a kernel, or that a reader should know of it, at its place.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind it is, as in `race`, `read_outside`, `build_error`, `build_warning`.
    pub rule: String,
    pub level: Level,
    pub message: String,
    /// Who says so: a driver, a compiler's target, or the simulator.
    pub tool: String,
    pub kernel: Option<String>,
    pub file: Option<String>,
    /// The line there, from 1.
    pub line: Option<u64>,
}

impl Finding {
    /// An error, of which a tool says no place.
    pub fn new(rule: &str, message: String, tool: &str) -> Finding {
        Finding {
            rule: rule.to_owned(),
            level: Level::Error,
            message,
            tool: tool.to_owned(),
            kernel: None,
            file: None,
            line: None,
        }
    }

    /// Takes it for no fault as yet if it may follow from something that was guessed, in words.
    pub fn doubt(&mut self, guess: Option<&str>) {
        if let Some(guess) = guess {
            self.level = Level::Warning;
            self.message += &format!(
                "; this may follow from {guess} that was guessed, as gpulab try --draft shows"
            );
        }
    }

    /// Whether another tool says the same.
    pub fn is_like(&self, other: &Finding) -> bool {
        let tool = self.tool.clone();
        let other = other.clone();
        *self == Finding { tool, ..other }
    }

    /// Of the simulator, in a kernel of this name.
    pub fn of_check(found: &CheckFinding, kernel: &str) -> Finding {
        Finding {
            kernel: Some(kernel.to_owned()),
            file: found.file.clone(),
            line: found.line,
            ..Finding::new(found.kind.name(), found.sentence(), "Oclgrind")
        }
    }
}

/// Something that nobody looked at, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NotLookedAt {
    pub what: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    pub schema: &'static str,
    /// The version of gpulab.
    pub gpulab: &'static str,
    /// The subcommand.
    pub command: &'static str,
    pub verdict: Word,
    pub exit_code: u8,
    /// The kernel, file or program that it is about.
    pub subject: String,
    /// What that is compared with.
    pub reference: Option<String>,
    pub device: Option<String>,
    /// Times of the subject as parts of those of the reference.
    pub ratio: Option<RatioInterval>,
    /// Why the verdict is this one.
    pub reason: String,
    pub findings: Vec<Finding>,
    pub not_looked_at: Vec<NotLookedAt>,
    /// A command that leads on.
    pub next: Option<String>,
    /// The cases of recorded runs, where these are compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cases: Vec<ComparisonRow>,
}

impl Verdict {
    /// Nothing was found yet.
    pub fn new(command: &'static str, subject: &str) -> Verdict {
        Verdict {
            schema: SCHEMA,
            gpulab: env!("CARGO_PKG_VERSION"),
            command,
            verdict: Word::NothingFound,
            exit_code: 0,
            subject: subject.to_owned(),
            reference: None,
            device: None,
            ratio: None,
            reason: String::new(),
            findings: Vec::new(),
            not_looked_at: Vec::new(),
            next: None,
            cases: Vec::new(),
        }
    }

    /// Notes that nobody looked at something, and why.
    pub fn leave(&mut self, what: String, why: String) {
        self.not_looked_at.push(NotLookedAt { what, why });
    }

    /// Seconds of pairs of runs decide, where differences of less than `same` (as a share) do not count.
    ///
    /// Errors: too few pairs.
    pub fn decide(&mut self, pairs: &[[f64; 2]], same: f64) -> Result<()> {
        let Some(interval) = RatioInterval::of_pairs(pairs) else {
            return usage_error(format!(
                "{} pairs of runs are too few for a verdict: give them a larger --budget, or less to do",
                pairs.len()
            ));
        };
        self.ratio = Some(interval);
        self.verdict = SpeedVerdict::of(&interval, same).into();
        Ok(())
    }

    /// Cases of files decide: all are as fast as before only if each is shown to be. The ratio is that of the one among the worst
    /// whose time changed most.
    pub fn decide_cases(&mut self) {
        const WORST_FIRST: [SpeedVerdict; 4] = [
            SpeedVerdict::Slower,
            SpeedVerdict::Undecided,
            SpeedVerdict::Faster,
            SpeedVerdict::Same,
        ];
        let cases = &self.cases;
        let of = |word: SpeedVerdict| cases.iter().filter(move |case| case.verdict == word);
        let away = |case: &ComparisonRow| case.ratio.ln().abs();
        let worst = WORST_FIRST
            .iter()
            .find_map(|word| of(*word).max_by(|one, other| away(one).total_cmp(&away(other))));
        let Some(worst) = worst else {
            self.verdict = Word::NotLookedAt;
            self.reason = "the files share no case".to_owned();
            return;
        };
        self.verdict = worst.verdict.into();
        let ends = worst.ratio_low.zip(worst.ratio_high);
        self.ratio = ends.map(|(low, high)| RatioInterval {
            ratio: worst.ratio,
            low,
            high,
        });
        let counts = WORST_FIRST.map(|word| format!("{} {}", of(word).count(), word.name()));
        self.reason = format!(
            "{} {}, {}, n = {}: {} times the time; {}",
            worst.family,
            worst.variant,
            worst.dtype,
            worst.n,
            format::significant(worst.ratio, 4),
            counts.join(", ")
        );
    }

    /// The end of the command, by the exit code.
    pub fn end(&self) -> Result<()> {
        match self.exit_code {
            0 => Ok(()),
            code => Err(Error::Told(code)),
        }
    }
}

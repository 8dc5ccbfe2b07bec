//! What a mutant is, and how one is written down in a line or two.

use super::Seen;
use crate::child::Driver;
use gpulab::data::{Dtype, Params, Shape};
use gpulab::kernels;
use gpulab::outcome::{Cache, Clock, Settings};
use gpulab::plan::{Case, WorkGroup};

type Patch = (&'static str, &'static str);

/// A wrong kernel.
#[derive(Debug)]
pub struct Mutant {
    pub label: &'static str,
    /// Below `cl/`, if not the rung's own file.
    pub file: Option<&'static str>,
    /// What is found in the file, and what is put in its place.
    patch: Patch,
    more: &'static [Patch],
    /// How often each patch's text is there.
    pub times: usize,
    pub control: Control,
    pub expect: Expect,
    /// Whether the rung needs sub-groups, which Intel's driver has.
    pub in_subgroups: bool,
}

/// What is run, over the patched kernels and over the real ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    pub subject: Subject,
    n: u64,
    m: u64,
    dtype: Option<Dtype>,
    wg: [usize; 3],
    params: &'static str,
    clock: Clock,
    cache: Cache,
    /// Further rounds, as sweeps and experiments have them.
    pub again: u32,
    /// Whether an experiment's last such trial is meant, and not its first.
    pub is_last: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Subject {
    /// A rung, a probe or an exchange's kind: `FOLDER/FILE` without its ending.
    Kernel(&'static str),
    /// Of an experiment, the first trial of this kernel and series.
    Trial(&'static str, &'static str, &'static str),
    /// A command line of gpulab; `ROWS` is a file for its rows.
    Command(&'static str),
}

/// How a mutant must be rejected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    /// A wrong result, or a time that cannot be.
    Wrong,
    /// Wrong, or the end of the process: what is destroyed may be the driver's.
    Broken,
    /// It does not end, and its row says so.
    Hangs,
    /// Oclgrind's log has these words.
    Log(&'static str),
    /// It is right, for this reason.
    Equivalent(&'static str),
    /// It is wrong and the checker cannot see it, for this reason: told apart in the gate's figure.
    Escapes(&'static str),
}

impl Expect {
    pub fn is_met(self, seen: &Seen) -> bool {
        let status = seen.status.as_str();
        match self {
            Expect::Wrong => ["wrong_result", "suspect"].contains(&status),
            Expect::Broken => ["wrong_result", "suspect", "failed", "died"].contains(&status),
            Expect::Hangs => status == "timeout",
            Expect::Log(words) => seen.log.contains(words),
            Expect::Equivalent(_) | Expect::Escapes(_) => false,
        }
    }
}

/// A mutant of a rung, a probe or an exchange's kernel, with the sizes of its family.
pub const fn kernel(
    rung: &'static str,
    label: &'static str,
    find: &'static str,
    put: &'static str,
) -> Mutant {
    mutant(Subject::Kernel(rung), label, (find, put))
}

/// A mutant of an experiment's kernel.
pub const fn trial(
    experiment: &'static str,
    kernel: &'static str,
    series: &'static str,
    label: &'static str,
    find: &'static str,
    put: &'static str,
) -> Mutant {
    mutant(
        Subject::Trial(experiment, kernel, series),
        label,
        (find, put),
    )
}

/// A mutant that a command must reject.
pub const fn command(
    args: &'static str,
    file: &'static str,
    label: &'static str,
    find: &'static str,
    put: &'static str,
) -> Mutant {
    Mutant {
        file: Some(file),
        ..mutant(Subject::Command(args), label, (find, put))
    }
}

const fn mutant(subject: Subject, label: &'static str, patch: Patch) -> Mutant {
    let control = Control {
        subject,
        n: 10_007,
        m: 1,
        dtype: None,
        wg: [64, 1, 1],
        params: "",
        clock: Clock::Event,
        cache: Cache::Warm,
        again: 0,
        is_last: false,
    };
    Mutant {
        label,
        file: None,
        patch,
        more: &[],
        times: 1,
        control,
        expect: Expect::Wrong,
        in_subgroups: false,
    }
}

impl Mutant {
    pub fn patches(&self) -> impl Iterator<Item = &Patch> {
        std::iter::once(&self.patch).chain(self.more)
    }

    /// With further patches.
    pub const fn and(mut self, more: &'static [Patch]) -> Mutant {
        self.more = more;
        self
    }

    pub const fn file_is(mut self, file: &'static str) -> Mutant {
        self.file = Some(file);
        self
    }

    pub const fn times(mut self, times: usize) -> Mutant {
        self.times = times;
        self
    }

    pub const fn n(mut self, n: u64) -> Mutant {
        self.control.n = n;
        self
    }

    pub const fn shape(mut self, n: u64, m: u64) -> Mutant {
        self.control.n = n;
        self.control.m = m;
        self
    }

    pub const fn dtype(mut self, dtype: Dtype) -> Mutant {
        self.control.dtype = Some(dtype);
        self
    }

    pub const fn wg(mut self, wg: usize) -> Mutant {
        self.control.wg = [wg, 1, 1];
        self
    }

    /// Settings, as `name=value name=value`.
    pub const fn with(mut self, params: &'static str) -> Mutant {
        self.control.params = params;
        self
    }

    pub const fn batch(mut self) -> Mutant {
        self.control.clock = Clock::Batch;
        self
    }

    pub const fn wall(mut self) -> Mutant {
        self.control.clock = Clock::Wall;
        self
    }

    pub const fn cold(mut self) -> Mutant {
        self.control.cache = Cache::Cold;
        self
    }

    pub const fn again(mut self) -> Mutant {
        self.control.again = 2;
        self
    }

    pub const fn last(mut self) -> Mutant {
        self.control.is_last = true;
        self
    }

    pub const fn expect(mut self, expect: Expect) -> Mutant {
        self.expect = expect;
        self
    }

    pub const fn in_subgroups(mut self) -> Mutant {
        self.in_subgroups = true;
        self
    }

    /// Found by Oclgrind, whose log has these words.
    pub const fn logged(self, words: &'static str) -> Mutant {
        self.expect(Expect::Log(words))
    }

    pub const fn broken(self) -> Mutant {
        self.expect(Expect::Broken)
    }

    pub const fn equivalent(self, why: &'static str) -> Mutant {
        self.expect(Expect::Equivalent(why))
    }

    pub const fn escapes(self, why: &'static str) -> Mutant {
        self.expect(Expect::Escapes(why))
    }

    /// `reduce/interleaved op=min: drops the last element`.
    pub fn name(&self) -> String {
        let Control {
            subject,
            params,
            dtype,
            ..
        } = self.control;
        let what = match subject {
            Subject::Kernel(rung) => rung.to_owned(),
            Subject::Trial(experiment, kernel, _) => format!("lab {experiment} {kernel}"),
            Subject::Command(args) => args.split(" -").next().unwrap_or(args).to_owned(),
        };
        let dtype = dtype.map(|dtype| format!(" {dtype}")).unwrap_or_default();
        let params = if params.is_empty() {
            String::new()
        } else {
            format!(" {params}")
        };
        format!("{what}{dtype}{params}: {}", self.label)
    }

    pub fn file(&self) -> String {
        match (self.file, self.control.subject) {
            (Some(file), _) => file.to_owned(),
            (
                None,
                Subject::Kernel(kernel) | Subject::Trial(_, kernel, _) | Subject::Command(kernel),
            ) => {
                let (family, name) = kernel.split_once('/').unwrap_or((kernel, ""));
                let is_meant = |rung: &&kernels::Rung| rung.variant() == name;
                let rung =
                    kernels::built_in(family).and_then(|family| family.kernels().find(is_meant));
                rung.map_or_else(|| format!("{kernel}.cl"), |rung| rung.path.to_string())
            }
        }
    }

    /// Whether it is tried on this driver: what only a simulator sees is, and what only it does not see is not.
    pub fn is_for(&self, driver: Driver) -> bool {
        match driver {
            Driver::Oclgrind => matches!(self.expect, Expect::Log(_)),
            _ if matches!(self.expect, Expect::Log(_)) => false,
            Driver::Pocl => !self.in_subgroups,
            Driver::Intel => true,
        }
    }
}

impl Control {
    /// What an experiment and its trial are called.
    pub fn trial(&self) -> Option<(String, String, String)> {
        match self.subject {
            Subject::Trial(experiment, kernel, series) => {
                Some((experiment.into(), kernel.into(), series.into()))
            }
            _ => None,
        }
    }

    /// The case, where it does not depend on the device; a small one for a simulator.
    pub fn case(&self, simulated: bool) -> Result<Option<Case>, String> {
        let Subject::Kernel(rung) = self.subject else {
            return Ok(None);
        };
        let (family, stem) = rung
            .split_once('/')
            .ok_or_else(|| format!("{rung}: FOLDER/FILE is needed"))?;
        let known = kernels::built_in(family);
        let rung = known.and_then(|known| known.kernels().find(|kernel| kernel.variant() == stem));
        let dtype = self
            .dtype
            .or(known.map(|known| known.dtypes[0]))
            .unwrap_or(Dtype::I32);
        let (n, m) = match family {
            "transpose" if self.m == 1 => (130, 67),
            "minplus" | "rows" if simulated => (20, 20),
            "minplus" | "rows" if self.n == 10_007 => (67, 67),
            // Several blocks of nodes, the last not a whole one.
            "closure" if self.n == 10_007 => (200, 200),
            "minplus" | "rows" | "closure" => (self.n, self.n),
            "reduce" | "dot" if simulated && self.n == 10_007 => (1007, 1),
            _ => (self.n, self.m),
        };
        let wg = if family == "transpose" && self.wg == [64, 1, 1] {
            [256, 1, 1]
        } else {
            self.wg
        };
        let setting = |text: &str| {
            text.split_once('=')
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
        };
        Ok(Some(Case {
            family: family.to_owned(),
            variant: rung.map_or(stem, |rung| rung.variant()).to_owned(),
            dtype,
            shape: Shape { n, m },
            wg: WorkGroup(wg),
            params: self
                .params
                .split_whitespace()
                .filter_map(setting)
                .collect::<Params>(),
            seed: 7,
        }))
    }

    /// As `--quick`, with a bound on the time.
    pub fn settings(&self) -> Settings {
        let quick = Settings {
            warmup: 2,
            min_runs: 3,
            max_runs: 10,
            min_time: 0.0,
            timeout: 0.1,
            ..Settings::default()
        };
        Settings {
            cache: self.cache,
            clock: self.clock,
            ..quick
        }
    }
}

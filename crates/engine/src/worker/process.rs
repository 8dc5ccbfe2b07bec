//! The parent's side: starts workers, gives each case its deadline, and replaces a worker that dies.

use super::printed::{Listener, Printed};
use super::{Reply, Request, Setup, Wrapper};
use crate::device::{BuildUnit, TriedBuild};
use crate::processes;
use crate::runner::PairJob;
use gpulab_kernels::{Rung, built_in};
use gpulab_model::outcome::{
    Clock, DeviceInfo, Executor, Inspected, Job, LaunchedOnce, Outcome, ProgramBinary, Status,
    Stop, Symptoms,
};
use gpulab_model::plan::Case;
use gpulab_model::{Error, Result};
use gpulab_record::files::ScratchFolder;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How many times longer than its limit a simulator may take, and a kernel on a CPU device, while other programs keep the
/// processors busy. What stands still does not work, and is waited for that long, too.
const SIMULATOR_PATIENCE: u32 = 10;
const CPU_PATIENCE: u32 = 3;

/// How often a wait looks whether the user pressed Ctrl-C.
const TICK: Duration = Duration::from_millis(50);

/// Whether the user asked to stop.
pub type Interrupted = fn() -> bool;

/// Tells the user what a kernel or a driver printed.
pub type Tell = fn(&str);

pub struct WorkerProcess {
    setup: Setup,
    wrapper: Option<Wrapper>,
    pub(super) deadline: Duration,
    interrupted: Interrupted,
    tell: Tell,
    info: DeviceInfo,
    link: Option<Link>,
}

struct Link {
    child: Child,
    stdin: ChildStdin,
    replies: Receiver<(u64, Reply)>,
    printed: Listener,
    /// Of the last request. It begins anywhere, so that no kernel can guess it.
    number: u64,
    /// Where readers' programs find their files, and leave theirs.
    _scratch: Option<ScratchFolder>,
    /// How many times its limit a request may take on a machine that is busy with other work.
    patience: u32,
}

/// How a kernel kept a worker from its answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Lost {
    /// The worker did not answer within so many seconds.
    Late(f64),
    Died(String),
}

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lost::Late(limit) => write!(f, "no result within {limit:.0} s"),
            Lost::Died(how) => f.write_str(how),
        }
    }
}

/// Takes what a reply of this kind holds, or holds in a box.
macro_rules! held {
    ($kind:ident) => {
        |reply| {
            if let Reply::$kind(held) = reply {
                Some(held)
            } else {
                None
            }
        }
    };
    (*$kind:ident) => {
        |reply| {
            if let Reply::$kind(held) = reply {
                Some(*held)
            } else {
                None
            }
        }
    };
}

impl WorkerProcess {
    /// Starts a worker and opens its device. `deadline` is what each case may take on top of its own
    /// time limit; `tell` is given what kernels and drivers print meanwhile. A `wrapper` runs the worker, as a simulator does.
    pub fn open(
        setup: Setup,
        wrapper: Option<Wrapper>,
        deadline: Duration,
        interrupted: Interrupted,
        tell: Tell,
    ) -> Result<WorkerProcess> {
        let (link, info) = start(&setup, wrapper.as_ref(), deadline, interrupted)?;
        Ok(WorkerProcess {
            setup,
            wrapper,
            deadline,
            interrupted,
            tell,
            info,
            link: Some(link),
        })
    }

    /// Another worker like this one, within something else.
    pub(crate) fn within(&self, wrapper: Wrapper) -> Result<WorkerProcess> {
        WorkerProcess::open(
            self.setup.clone(),
            Some(wrapper),
            self.deadline,
            self.interrupted,
            self.tell,
        )
    }

    /// A link to the worker: the one there is, or one to a new worker.
    fn link(&mut self) -> Result<Link> {
        match self.link.take() {
            Some(link) => Ok(link),
            None => Ok(start(
                &self.setup,
                self.wrapper.as_ref(),
                self.deadline,
                self.interrupted,
            )?
            .0),
        }
    }

    /// Builds a case's kernels and says what they need, or what stops the case.
    pub fn inspect(&mut self, case: &Case) -> Result<Result<Vec<Inspected>, Stop>> {
        self.ask(
            &Request::Inspect(case.clone()),
            "building a kernel",
            held!(Inspected),
        )
    }

    pub fn binary(&mut self, case: &Case) -> Result<Result<ProgramBinary, Stop>> {
        self.ask(
            &Request::Binary(case.clone()),
            "building a kernel",
            held!(Binary),
        )
    }

    /// Builds a text on the worker's device, within `limit`. That the compiler ends the worker or never ends stops it, too.
    pub fn try_build(
        &mut self,
        unit: BuildUnit,
        limit: Duration,
    ) -> Result<Result<TriedBuild, Stop>> {
        let request = Request::TryBuild(unit);
        let came = self.ask_within("the compiler", &request, limit, held!(TriedBuild))?;
        Ok(came.unwrap_or_else(|lost| Err(Stop::failed(format!("its compiler failed: {lost}")))))
    }

    pub fn verify(&mut self, case: &Case, limit: Duration) -> Result<Result<Outcome, Lost>> {
        self.ask_within(
            "the kernel",
            &Request::Verify(case.clone()),
            limit,
            held!(*Done),
        )
    }

    pub fn run_within(&mut self, job: &Job, limit: Duration) -> Result<Result<Outcome, Lost>> {
        self.ask_within(
            "the kernel",
            &Request::Run(Box::new(job.clone())),
            limit,
            held!(*Done),
        )
    }

    /// Launches a case's kernels once each, within `limit`; says what was launched, or what stops the case. That a kernel ends
    /// the worker or never ends is an answer, too.
    pub fn launch_once_within(
        &mut self,
        case: &Case,
        limit: Duration,
    ) -> Result<Result<Result<LaunchedOnce, Stop>, Lost>> {
        self.ask_within(
            "the kernel",
            &Request::LaunchOnce(case.clone()),
            limit,
            held!(LaunchedOnce),
        )
    }

    /// Times two cases in turn: the seconds of each pair of runs, or what stops them.
    pub fn pair(&mut self, job: &PairJob) -> Result<Result<Vec<[f64; 2]>, Stop>> {
        let limit = self.deadline + 6 * Duration::from_secs_f64(job.limit);
        let came = self.ask_within(
            "the kernels",
            &Request::Pair(Box::new(job.clone())),
            limit,
            held!(Paired),
        )?;
        Ok(came.unwrap_or_else(|lost| Err(Stop::failed(lost.to_string()))))
    }

    /// Looks at what a case's kernels do wrong; within `limit`.
    pub fn diagnose(
        &mut self,
        case: &Case,
        limit: Duration,
    ) -> Result<Result<Result<Symptoms, Stop>, Lost>> {
        self.ask_within(
            "the kernel",
            &Request::Diagnose(case.clone()),
            limit,
            held!(*Diagnosed),
        )
    }

    /// Asks, where a kernel may end the worker or never end, which is an answer, too; `take` has the reply that is due. Tells
    /// what `whom` printed meanwhile.
    fn ask_within<T>(
        &mut self,
        whom: &str,
        request: &Request,
        limit: Duration,
        take: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<Result<T, Lost>> {
        let mut link = self.link()?;
        match link.ask(request, limit, self.interrupted) {
            Ok(Ok(reply)) => {
                let printed = link.printed.until(Some(link.number));
                // What a compiler prints is in its log.
                let is_built = !matches!(&reply, Reply::Done(outcome) if outcome.status() == Status::BuildFailed);
                printed
                    .summary(whom)
                    .iter()
                    .filter(|_| is_built)
                    .for_each(|text| (self.tell)(text));
                self.link = Some(link);
                take(reply)
                    .map(Ok)
                    .ok_or_else(|| Error::Failed(STRANGE.into()))
            }
            lost => {
                link.kill()
                    .summary(whom)
                    .iter()
                    .for_each(|text| (self.tell)(text));
                Ok(Err(lost?
                    .err()
                    .unwrap_or_else(|| Lost::Died(STRANGE.into()))))
            }
        }
    }

    /// The device's generation, where its driver tells.
    pub fn generation(&mut self) -> Result<Option<String>> {
        self.ask(
            &Request::Generation,
            "asking for the device's generation",
            held!(Generation),
        )
    }

    /// Asks for what is no job: without an answer there is nothing to go on with.
    fn ask<T>(
        &mut self,
        request: &Request,
        doing: &str,
        take: impl FnOnce(Reply) -> Option<T>,
    ) -> Result<T> {
        self.ask_within("the driver", request, self.deadline, take)?
            .map_err(|lost| match lost {
                Lost::Died(how) => Error::Failed(format!("while {doing}, {how}")),
                Lost::Late(limit) => Error::Failed(format!(
                    "while {doing}, the driver did not answer within {limit:.0} s"
                )),
            })
    }
}

/// What is said of a worker that answers something else.
const STRANGE: &str = "the worker's answer does not belong to the question";

impl Executor for WorkerProcess {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn renew(&mut self) {
        self.end();
    }

    fn ask_reference(&mut self, case: &Case) -> Result<Option<String>> {
        let request = Request::AskReference(case.clone());
        let doing = "asking the reference for the right result";
        let answer = self.ask(&request, doing, held!(AskedReference));
        answer?.map_err(|stop| Error::Failed(stop.reason))
    }

    fn run(&mut self, job: &Job) -> Result<Outcome> {
        let mut link = self.link()?;
        let limit = self.deadline + Duration::from_secs_f64(job.settings.timeout.clamp(0.0, 1e6));
        let reply = link.ask(
            &Request::Run(Box::new(job.clone())),
            limit,
            self.interrupted,
        );
        let stop = match reply {
            Ok(Ok(Reply::Done(outcome))) => {
                tell_of(job, &link.printed.until(Some(link.number)), self.tell);
                self.link = Some(link);
                return Ok(*outcome);
            }
            Err(interrupted) => {
                link.kill();
                return Err(interrupted);
            }
            Ok(Ok(_)) => Stop::failed(STRANGE),
            Ok(Err(Lost::Died(how))) => Stop::failed(how),
            Ok(Err(late)) => Stop::new(Status::Timeout, format!("{late}; --deadline changes it")),
        };
        tell_of(job, &link.kill(), self.tell);
        let clock = if job.baseline {
            Clock::Wall
        } else {
            job.settings.clock
        };
        Ok(Outcome::pending(&job.case, clock).ended(Err(stop)))
    }
}

/// Tells what was printed meanwhile, with what the job is called.
fn tell_of(job: &Job, printed: &Printed, tell: Tell) {
    let case = &job.case;
    let rung = built_in(&case.family).and_then(|family| family.rung(&case.variant));
    let name = format!(
        "{} {}",
        case.family,
        rung.map_or_else(|| case.variant.clone(), Rung::label)
    );
    printed.summary(&name).iter().for_each(|text| tell(text));
}

impl WorkerProcess {
    fn end(&mut self) {
        if let Some(mut link) = self.link.take() {
            let _ = link.send(&Request::Quit);
            // A worker that does not leave at once may be stuck in its driver's clean-up.
            let asked = Instant::now();
            while asked.elapsed() < Duration::from_secs(1)
                && matches!(link.child.try_wait(), Ok(None))
            {
                std::thread::sleep(Duration::from_millis(2));
            }
            link.kill();
        }
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

fn start(
    setup: &Setup,
    wrapper: Option<&Wrapper>,
    limit: Duration,
    interrupted: Interrupted,
) -> Result<(Link, DeviceInfo)> {
    if let Some(limit) = processes::narrow_address_space() {
        return Err(Error::NoDevice(format!("{limit} for drivers to load")));
    }
    // Without one, who needs it says why.
    let scratch = if setup.families.is_empty() {
        None
    } else {
        ScratchFolder::new().ok()
    };
    let mut link = Link::spawn(wrapper, scratch)
        .map_err(|e| Error::Failed(format!("cannot start the worker process: {e}")))?;
    match link.ask(&Request::Open(setup.clone()), limit, interrupted) {
        Ok(Ok(Reply::Ready(info))) => {
            link.patience = match wrapper.and_then(|wrapper| wrapper.program.as_ref()) {
                Some(_) => SIMULATOR_PATIENCE,
                None if info.kind == "cpu" => CPU_PATIENCE,
                None => 1,
            };
            Ok((link, *info))
        }
        Ok(Ok(Reply::Refused { exit_code, message })) => Err(refused(exit_code, message)),
        Ok(Ok(_)) => Err(Error::Failed(
            "the worker answered before it was asked".into(),
        )),
        Err(interrupted) => {
            link.kill();
            Err(interrupted)
        }
        Ok(Err(lost)) => {
            link.kill();
            Err(Error::Failed(match lost {
                Lost::Died(how) => format!(
                    "while opening the device, {how}; `gpulab devices` names a broken driver"
                ),
                Lost::Late(limit) => format!(
                    "the driver did not open its device within {limit:.0} s; `gpulab doctor` looks at each driver"
                ),
            }))
        }
    }
}

/// How long all threads of a child have worked; none where the system does not tell.
fn processor_time(child: &Child) -> Option<Duration> {
    /// Linux counts in hundredths of a second, for other programs at least.
    const TICKS_A_SECOND: u64 = 100;
    let text = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The program's name, in brackets, may hold anything.
    let mut numbers = text
        .rsplit_once(')')?
        .1
        .split_whitespace()
        .skip(11)
        .map(str::parse::<u64>);
    let user = numbers.next()?.ok()?;
    let system = numbers.next()?.ok()?;
    Some(Duration::from_millis(
        (user + system) * 1000 / TICKS_A_SECOND,
    ))
}

fn refused(exit_code: u8, message: String) -> Error {
    match exit_code {
        2 => Error::Usage(message),
        3 => Error::NoDevice(message),
        _ => Error::Failed(message),
    }
}

fn command(wrapper: Option<&Wrapper>, program: &Path) -> Command {
    let Some(Wrapper {
        program: wrapping,
        args,
        variables,
    }) = wrapper
    else {
        return Command::new(program);
    };
    let mut command = Command::new(wrapping.as_deref().unwrap_or(program));
    if wrapping.is_some() {
        command.args(args).arg(program);
    }
    command.envs(variables.iter().map(|(name, value)| (name, value)));
    command
}

impl Link {
    fn spawn(wrapper: Option<&Wrapper>, scratch: Option<ScratchFolder>) -> std::io::Result<Link> {
        let mut command = command(wrapper, &std::env::current_exe()?);
        // A worker that is killed removes nothing: its parent does.
        command.envs(scratch.iter().map(|scratch| ("TMPDIR", scratch.path())));
        let mut child = processes::lead_group(&mut command)
            .arg("worker")
            // What a dying worker says last is shown: a stack would push it out.
            .env("RUST_BACKTRACE", "0")
            .envs(processes::large_pages())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(std::io::Error::other("a pipe to the worker is missing"));
        };
        let (sender, replies) = mpsc::channel();
        std::thread::Builder::new().spawn(move || {
            // Where drivers can print among the replies, what they print is no reply.
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if let Ok(reply) = serde_json::from_slice(&line)
                    && sender.send(reply).is_err()
                {
                    return;
                }
            }
        })?;
        let number = RandomState::new().build_hasher().finish();
        let patience = if wrapper.is_some() {
            SIMULATOR_PATIENCE
        } else {
            1
        };
        Ok(Link {
            child,
            stdin,
            replies,
            printed: Listener::new(stderr)?,
            number,
            patience,
            _scratch: scratch,
        })
    }

    fn send(&mut self, request: &Request) -> std::io::Result<()> {
        self.number = self.number.wrapping_add(1);
        let mut line = serde_json::to_vec(&(self.number, request))?;
        line.push(b'\n');
        self.stdin.write_all(&line)?;
        self.stdin.flush()
    }

    /// An interrupt is an error; that no reply came else is an answer, too.
    fn ask(
        &mut self,
        request: &Request,
        limit: Duration,
        interrupted: Interrupted,
    ) -> Result<Result<Reply, Lost>> {
        if self.send(request).is_err() {
            return Ok(Err(Lost::Died(self.last_words())));
        }
        let asked = Instant::now();
        let worked = processor_time(&self.child);
        loop {
            match self.replies.recv_timeout(TICK) {
                Ok((number, reply)) if number == self.number => return Ok(Ok(reply)),
                // Nothing that was asked.
                Ok(_) if !self.is_late(asked, worked, limit) => {}
                Err(_) if interrupted() => return Err(Error::Interrupted),
                Err(RecvTimeoutError::Disconnected) => {
                    return Ok(Err(Lost::Died(self.last_words())));
                }
                Err(RecvTimeoutError::Timeout) if !self.is_late(asked, worked, limit) => {}
                Ok(_) | Err(RecvTimeoutError::Timeout) => {
                    return Ok(Err(Lost::Late(limit.as_secs_f64())));
                }
            }
        }
    }

    /// Whether a request that was made then, when the worker had worked so long, has taken longer than its limit. Where kernels
    /// run on this machine's processors, what other programs took of them does not count, for a while.
    fn is_late(&self, asked: Instant, worked: Option<Duration>, limit: Duration) -> bool {
        let elapsed = asked.elapsed();
        if elapsed < limit || self.patience == 1 || elapsed >= limit.saturating_mul(self.patience) {
            return elapsed >= limit;
        }
        worked
            .zip(processor_time(&self.child))
            .is_none_or(|(before, now)| now.saturating_sub(before) >= limit)
    }

    /// How the worker ended, and what it or its driver said last.
    fn last_words(&mut self) -> String {
        // One that has closed its answers may go on without end.
        let how = match processes::ended_within(&mut self.child, Duration::from_secs(1)) {
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "it gave no more answers".to_owned(),
            Err(error) => error.to_string(),
        };
        let last_words = self.printed.until(None).last_words();
        let limited = processes::address_space_limit()
            .map(|limit| format!("; {limit}"))
            .unwrap_or_default();
        format!("the driver ended the worker process ({how}){last_words}{limited}")
    }

    /// Ends the worker, and what it has started. What it had printed since the last reply.
    fn kill(mut self) -> Printed {
        processes::kill_group(&mut self.child);
        self.printed.until(None)
    }
}

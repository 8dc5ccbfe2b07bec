//! The worker's side: reads requests until there are no more.

use super::{Reply, Request, Setup, printed, run_in};
use crate::device::{flush_printed, generation, list_platforms, opencl::OpenClDevice, select};
use crate::input;
use crate::oracle;
use crate::processes;
use crate::runner::{Session, second_seed};
use gpulab_kernels::{Registry, Sources};
use gpulab_model::plan::Target;
use gpulab_model::{Error, Result, usage_error};
use gpulab_record::files::ScratchFolder;
use gpulab_record::terminal::Stdout;
use std::io::{self, BufRead, Write};
use std::sync::{Arc, mpsc};
use std::time::Duration;

pub fn open_session(setup: &Setup) -> Result<Session> {
    let mut registry = Registry::default();
    for family in &setup.families {
        oracle::declare(&mut registry, family, setup.device.as_deref())?;
    }
    for own in &setup.own {
        registry
            .adopt(own.clone())
            .map_err(|error| Error::Usage(format!("{}: {error}", own.name)))?;
    }
    let files = setup
        .inputs
        .iter()
        .map(|spec| input::read(spec, setup.dtype))
        .collect::<Result<Vec<_>, _>>()?;
    let platforms = list_platforms().map_err(|e| Error::NoDevice(e.to_string()))?;
    let mut info = select::select(&platforms, setup.device.as_deref())?.clone();
    if let Some(compute_units) = setup.as_gpu {
        info.target = Target {
            gpu: true,
            compute_units,
            ..info.target
        };
    }
    info.target.subgroups |= setup.subgroups;
    let device =
        OpenClDevice::open(&info).map_err(|e| Error::Failed(format!("{}: {e}", info.name)))?;
    let sources = Sources {
        dir: setup.cl_dir.clone(),
    };
    let mut session = Session::new(
        Box::new(device),
        sources,
        (!files.is_empty()).then_some(files),
    );
    session.registry = Arc::new(registry);
    session.fill = setup.fill;
    session.may_be_wrong = setup.may_be_wrong;
    if let Some(seed) = second_seed().map_err(Error::Usage)? {
        session.second_seed = seed;
    }
    Ok(session)
}

/// Serves requests from standard input until `Quit`. Replies go to what was standard output when the process began.
pub fn serve() -> Result<()> {
    let requests =
        read_requests().map_err(|e| Error::Failed(format!("no thread could be started: {e}")))?;
    let mut session = None;
    let mut was_asked = false;
    for request in requests {
        let (number, what): (u64, Request) =
            request.map_err(|e| Error::Failed(format!("this is not a request: {e}")))?;
        was_asked = true;
        let reply = match (what, session.as_mut()) {
            (Request::Quit, _) => break,
            (Request::Open(setup), _) => match open_session(&setup) {
                Ok(opened) => {
                    let info = opened.device().info().clone();
                    if let Some(bytes) = setup.memory {
                        processes::limit_memory(bytes, info.kind == "cpu");
                    }
                    session = Some(opened);
                    Reply::Ready(Box::new(info))
                }
                Err(error) => Reply::Refused {
                    exit_code: error.exit_code(),
                    message: error.to_string(),
                },
            },
            (_, None) => Reply::Refused {
                exit_code: 1,
                message: "no device was opened".into(),
            },
            (Request::Run(job), Some(session)) => Reply::Done(Box::new(run_in(session, &job))),
            (Request::Inspect(case), Some(session)) => Reply::Inspected(session.inspect(&case)),
            (Request::Binary(case), Some(session)) => Reply::Binary(session.binary(&case)),
            (Request::LaunchOnce(case), Some(session)) => {
                Reply::LaunchedOnce(session.launch_once(&case))
            }
            (Request::Pair(job), Some(session)) => Reply::Paired(session.pair(&job)),
            (Request::Verify(case), Some(session)) => {
                Reply::Done(Box::new(session.verify_without_companions(&case)))
            }
            (Request::Diagnose(case), Some(session)) => {
                Reply::Diagnosed(Box::new(session.diagnose(&case)))
            }
            (Request::AskReference(case), Some(session)) => {
                Reply::AskedReference(session.ask_reference(&case))
            }
            (Request::TryBuild(unit), Some(session)) => Reply::TriedBuild(session.try_build(&unit)),
            (Request::Generation, Some(session)) => {
                Reply::Generation(generation(session.device().info()))
            }
        };
        flush_printed();
        printed::end(number);
        send(number, &reply)?;
    }
    if was_asked {
        return Ok(());
    }
    let why = "other commands start gpulab worker to run kernels; it received no request";
    usage_error(why)
}

/// Requests arrive on a thread of their own, so that the end of the parent is noticed while a kernel
/// hangs: then nothing but the end of this process stops it.
fn read_requests() -> io::Result<mpsc::Receiver<serde_json::Result<(u64, Request)>>> {
    const PATIENCE: Duration = Duration::from_secs(1);
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let request = serde_json::from_str(&line);
            let is_last = matches!(request, Err(_) | Ok((_, Request::Quit)));
            if sender.send(request).is_err() || is_last {
                return;
            }
        }
        // The parent was killed, and with it who removes this.
        ScratchFolder::remove_of(&std::env::temp_dir());
        // Whoever waits for a request ends by itself.
        drop(sender);
        std::thread::sleep(PATIENCE);
        processes::end_group();
    })?;
    Ok(receiver)
}

fn send(number: u64, reply: &Reply) -> Result<()> {
    let mut line =
        serde_json::to_vec(&(number, reply)).map_err(|e| Error::Failed(e.to_string()))?;
    line.push(b'\n');
    (&Stdout).write_all(&line).map_err(|source| Error::Output {
        what: "the worker's pipe".into(),
        source,
    })
}

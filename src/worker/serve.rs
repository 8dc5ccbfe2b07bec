//! The worker's side: reads requests until there are no more.

use super::{Reply, Request, Setup, run_in};
use crate::device::opencl::OpenClDevice;
use crate::device::{list_platforms, select};
use crate::runner::{Session, Sources};
use crate::{Error, input};
use std::io::{BufRead, Write};
use std::sync::mpsc;

/// Opens the device and reads the inputs that a setup names.
///
/// # Errors
/// [`Error::NoDevice`] without a driver or a matching device, [`Error::Usage`] for unreadable inputs.
pub fn open_session(setup: &Setup) -> Result<Session, Error> {
    let files = setup.inputs.iter().map(|spec| input::read(spec, setup.dtype)).collect::<Result<Vec<_>, _>>()?;
    let platforms = list_platforms().map_err(|e| Error::NoDevice(e.to_string()))?;
    let info = select::select(&platforms, setup.device.as_deref())?;
    let device = OpenClDevice::open(info).map_err(|e| Error::Failed(format!("{}: {e}", info.name)))?;
    let sources = Sources { dir: setup.cl_dir.clone() };
    Ok(Session::new(Box::new(device), sources, (!files.is_empty()).then_some(files)))
}

/// Serves requests from standard input until `Quit`.
///
/// # Errors
/// [`Error::Output`] if the parent is gone.
pub fn serve() -> Result<(), Error> {
    let requests = read_requests();
    let mut session = None;
    for request in requests {
        let reply = match request {
            Request::Open(setup) => match open_session(&setup) {
                Ok(opened) => {
                    let info = opened.device().info().clone();
                    session = Some(opened);
                    Reply::Ready(Box::new(info))
                }
                Err(error) => Reply::Refused { exit_code: error.exit_code(), message: error.to_string() },
            },
            Request::Run(job) => match &mut session {
                Some(session) => Reply::Done(Box::new(run_in(session, &job))),
                None => Reply::Refused { exit_code: 1, message: "no device was opened".into() },
            },
            Request::Quit => break,
        };
        send(&reply)?;
    }
    Ok(())
}

/// Requests arrive on a thread of their own, so that the end of the parent is noticed while a kernel
/// hangs: then nothing but the end of this process stops it.
fn read_requests() -> mpsc::Receiver<Request> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let Ok(request) = serde_json::from_str(&line) else { break };
            let last = matches!(request, Request::Quit);
            if sender.send(request).is_err() || last {
                return;
            }
        }
        std::process::abort();
    });
    receiver
}

fn send(reply: &Reply) -> Result<(), Error> {
    let output = |source| Error::Output { what: "the worker's pipe".into(), source };
    let mut line = serde_json::to_vec(reply).map_err(|e| Error::Failed(e.to_string()))?;
    line.push(b'\n');
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(&line).and_then(|()| stdout.flush()).map_err(output)
}

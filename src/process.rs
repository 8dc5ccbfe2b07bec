//! What only the process itself can know or set, before anything else runs.
#![allow(
    unsafe_code,
    reason = "asking for a descriptor, setting signals, and running before main"
)]

use std::sync::atomic::{AtomicBool, Ordering};

static NO_STDOUT: AtomicBool = AtomicBool::new(false);

/// Tells the library what was found before `main`, and lets a file that may not grow be an error of a write instead of
/// the end of the process.
pub fn prepare() {
    if NO_STDOUT.load(Ordering::Relaxed) {
        gpulab::terminal::note_closed_stdout();
    }
    // SAFETY: no handler is installed, the signal is only ignored, and no thread has been started.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    keep_hangups_ignored();
}

/// What `nohup` starts goes on without its terminal, though a handler takes the place of what ignores that signal.
fn keep_hangups_ignored() {
    // SAFETY: both structures are plain data that the calls fill in; no thread has been started, so that all will have
    // the mask.
    unsafe {
        let mut now: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGHUP, std::ptr::null(), &raw mut now) == 0
            && now.sa_sigaction == libc::SIG_IGN
        {
            let mut blocked: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut blocked);
            libc::sigaddset(&raw mut blocked, libc::SIGHUP);
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const blocked, std::ptr::null_mut());
        }
    }
}

/// Before `main`, Rust opens the null device in place of a closed standard output, and all is lost that is written
/// to it. So this runs before Rust does.
extern "C" fn look() {
    // SAFETY: F_GETFD takes no third argument and changes nothing.
    let is_closed = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1;
    NO_STDOUT.store(is_closed, Ordering::Relaxed);
}

#[used]
#[cfg_attr(
    target_vendor = "apple",
    unsafe(link_section = "__DATA,__mod_init_func")
)]
#[cfg_attr(not(target_vendor = "apple"), unsafe(link_section = ".init_array"))]
static LOOK: extern "C" fn() = look;

//! `gpulab draw`: one access of a kernel, as lanes and words, and other pictures of what its warps do.

use crate::cli::{DrawArgs, Global};
use crate::console::{Out, note, screen};
use crate::filming::watch;
use crate::report::drawing::{self, Chosen};
use crate::report::picture::Theme;
use crate::shown::rendered;
use crate::{Error, outputs};

/// Draws what the options choose: in the terminal, or into a file.
///
/// # Errors
/// What names no kernel, no simulator, a kernel that is wrong, a line without an access, a picture that cannot be written.
pub fn run(out: &mut Out, global: &Global, options: &DrawArgs) -> Result<(), Error> {
    let film = watch(&options.what, &options.kernel)?;
    let chosen = Chosen { view: options.view, line: options.line, warp: options.warp, group: options.group };
    let drawn = drawing::draw(&film, &chosen).map_err(Error::Usage)?;
    let Some(path) = &options.output else { return out.painted(&drawing::text(&drawn, screen(global.color))) };
    let bytes = rendered(&drawing::picture(&drawn), path, Theme::Auto, options.width)?;
    outputs::write(path, &bytes)?;
    if !global.quiet && path != "-" {
        note(&format!("wrote {path}"));
    }
    Ok(())
}

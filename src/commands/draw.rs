//! `gpulab draw`: one access of a kernel, as lanes and words, and other pictures of what its warps do.

use super::plot::check_picture;
use crate::cli::DrawArgs;
use crate::filming::watch;
use crate::outputs;
use crate::prelude::*;
use crate::report::drawing::{self, Chosen, DrawnGrids};
use crate::report::picture::of_grids;

/// Draws what the options choose: in the terminal, or into a file.
pub fn run(out: &mut Out, global: &Global, options: &DrawArgs) -> Result<(), Error> {
    // What cannot be written is refused before the simulator runs.
    options.output.as_deref().map_or(Ok(()), check_picture)?;
    let mut drawn: Vec<DrawnGrids> = Vec::new();
    for what in &options.what {
        // Of a second kernel the access that stands in the place of the first one's.
        let like = drawn.first().and_then(|first| first.of.clone());
        let film = watch(what, &options.kernel)?;
        let &DrawArgs { view, line, step, warp, group, .. } = options;
        let step = step.map(|number| usize::try_from(number).unwrap_or(usize::MAX));
        let chosen = Chosen { view, line, step, warp, group, like };
        drawn.push(drawing::draw(&film, &chosen).map_err(Error::Usage)?);
    }
    let Some(path) = &options.output else {
        let texts: Vec<String> = drawn.iter().map(|one| drawing::text(one, screen(global.color))).collect();
        return out.text(&texts.join("\n"));
    };
    outputs::write_told(global, path, of_grids(&drawn).svg(), "")
}

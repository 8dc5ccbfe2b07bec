//! `gpulab try`: a reader's kernel on the ladder of a family.

use super::ladder::LadderRun;
use super::{Out, bench, ladder, own};
use crate::Error;
use crate::cli::{Global, TryArgs};
use crate::data::{Params, Shape};
use crate::kernels::{Form, text};

/// Checks the kernel, times it between the family's rungs, and says where it lands.
///
/// # Errors
/// Bad options, a file that is no kernel, no device, a wrong result, a failed build, an output that cannot be written.
pub fn run(out: &mut Out, global: &Global, options: &TryArgs) -> Result<(), Error> {
    if let Some(name) = &options.template {
        return template(out, name);
    }
    let (Some(file), Some(name)) = (&options.file, &options.family) else {
        return Err(Error::Usage("give a kernel and its family, as in gpulab try my.cl --as reduce".into()));
    };
    let (_, rung) = own::adopt(file, bench::family(name)?)?;
    let family = bench::family(name)?;
    let n = options.n.unwrap_or_else(|| options.ladder.default_size(family.form));
    let shape = match family.form {
        Form::Vector => Shape::vector(n),
        form => form.shape(n, options.m),
    };
    let mut study = LadderRun::new(family, shape, &options.ladder, &Params::new());
    study.own = Some(rung);
    ladder::run(out, global, &options.ladder, &study)
}

/// Prints a kernel to begin with.
fn template(out: &mut Out, name: &str) -> Result<(), Error> {
    let family = bench::family(name)?;
    let none = || Error::Usage(format!("there is no template for {}", family.name));
    out.text(text(&format!("templates/{}.cl", family.name)).ok_or_else(none)?)
}

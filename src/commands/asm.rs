//! `gpulab asm`: what the device's compiler made of a kernel, from the driver's binary or by a disassembler, and how many of its
//! groups a compute unit holds at once.

use crate::asm::{AsmKernel, parse};
use crate::brought::{Brought, line_of};
use crate::cli::{AsmArgs, Global};
use crate::commands::count::counter::source_line;
use crate::console::{print, screen};
use crate::files::{self, ScratchFolder};
use crate::kernels::{Form, Registry, Rung, Sources};
use crate::occupancy;
use crate::outcome::Executor;
use crate::plan::Case;
use crate::processes::output_within;
use crate::report::asm;
use crate::terminal::say;
use crate::worker::{WorkerProcess, Wrapper};
use crate::{Error, Result, bench, interrupt};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Longest that a tool may take.
const LONGEST: Duration = Duration::from_secs(120);

/// A kernel that was asked for, with what became of it.
struct Shown {
    name: String,
    rung: Rung,
    /// What its instructions are, as in `PTX of NVIDIA H200`.
    what: String,
    kernels: Vec<AsmKernel>,
    /// What is said of its groups.
    groups: Vec<String>,
}

/// Prints the instructions by line; of two kernels by kind.
pub fn run(global: &Global, options: &AsmArgs) -> Result<()> {
    options
        .generation
        .as_deref()
        .map(occupancy::unit)
        .transpose()?;
    interrupt::watch();
    let shown = options
        .what
        .iter()
        .map(|what| show(what, global, options))
        .collect::<Result<Vec<_>, _>>()?;
    let screen = screen(global.color);
    if let [a, b] = &shown[..] {
        let names = [a.name.as_str(), b.name.as_str()];
        let kernels = [&a.kernels[..], &b.kernels];
        print(&asm::side_by_side(&a.what, names, kernels, screen))?;
    } else {
        for one in &shown {
            let sources = Sources {
                dir: options.cl_dir.clone(),
            };
            let source = |file: &str, line| text_of_line(&sources, &one.rung, file, line);
            let title = format!("{}: {}", one.name, one.what);
            print(&asm::by_line(
                &title,
                &one.kernels,
                &one.rung.path,
                &source,
                global.verbose,
                screen,
            ))?;
        }
    }
    let groups = shown.iter().flat_map(|one| &one.groups);
    groups
        .into_iter()
        .try_for_each(|said| print(&screen.wrap(said)))
}

fn show(what: &str, global: &Global, options: &AsmArgs) -> Result<Shown> {
    let (brought, rung) = Brought::with_rung(what, options.family.as_deref())?;
    let family = &brought.family;
    bench::check_sources(&[&rung], options.cl_dir.as_deref(), global.quiet)?;
    let n = match family.form {
        Form::Vector => 1 << 20,
        Form::Matrix => 1 << 10,
        Form::Square => 1 << 8,
    };
    let case = bench::case(family, &rung, &options.case, family.usual_shape(n, true))?;
    let name = format!("{} {}", family.name, rung.label());
    let mut shown = Shown {
        name,
        rung,
        what: String::new(),
        kernels: Vec::new(),
        groups: Vec::new(),
    };
    of_device(global, &brought.registry, &case, options, &mut shown)?;
    Ok(shown)
}

fn text_of_line(sources: &Sources, rung: &Rung, path: &str, line: u64) -> Option<String> {
    let begins = std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1));
    begins
        .map(|at| &path[at..])
        .filter(|file| !file.is_empty())
        .find_map(|file| {
            source_line(sources, file, line).or_else(|| line_of(rung.own_text()?, file, line))
        })
}

fn of_device(
    global: &Global,
    registry: &Registry,
    case: &Case,
    options: &AsmArgs,
    shown: &mut Shown,
) -> Result<()> {
    let scratch = ScratchFolder::new()
        .map_err(|error| Error::Failed(format!("no temporary folder: {error}")))?;
    // PoCL keeps the machine code that it makes for a size of groups in its cache.
    let variables = vec![
        ("POCL_CACHE_DIR", scratch.path().as_os_str().to_owned()),
        ("POCL_EXTRA_BUILD_FLAGS", "-g".into()),
    ];
    let setup = global.setup(options.cl_dir.as_ref(), registry);
    let wrapper = Wrapper {
        variables,
        ..Wrapper::default()
    };
    let mut worker = WorkerProcess::open(
        setup,
        Some(wrapper),
        bench::LOOK,
        interrupt::interrupted,
        say,
    )?;
    bench::announce(global, worker.info());
    let device = worker.info().name.clone();
    shown.groups = of_groups(&mut worker, case, options)?;
    if worker
        .info()
        .platform
        .contains("Portable Computing Language")
    {
        return of_pocl(&mut worker, case, scratch.path(), shown);
    }
    let binary = worker
        .binary(case)?
        .map_err(|stop| bench::stopped(case, stop))?;
    let Some(text) = binary.text else {
        let platform = &worker.info().platform;
        return Err(Error::Failed(format!(
            "{platform} gives a program of {} bytes that is no text: gpulab reads NVIDIA's PTX and PoCL's machine code. Use -d \
             to choose such a device",
            binary.bytes
        )));
    };
    shown.kernels =
        parse(&text).map_err(|why| Error::Failed(format!("the binary of {device}: {why}")))?;
    shown.what = format!("PTX for {device}");
    Ok(())
}

/// What the kernels' groups need, and how many of them a compute unit holds at once, where both are known.
fn of_groups(worker: &mut WorkerProcess, case: &Case, options: &AsmArgs) -> Result<Vec<String>> {
    let kernels = worker
        .inspect(case)?
        .map_err(|stop| bench::stopped(case, stop))?;
    let generation = options
        .generation
        .clone()
        .map_or_else(|| worker.generation(), |name| Ok(Some(name)))?;
    let mut said = Vec::new();
    for mut kernel in kernels {
        kernel.registers = options.registers.or(kernel.registers);
        let unit = generation
            .as_deref()
            .and_then(|name| occupancy::unit(name).ok());
        let resident = unit
            .zip(kernel.registers)
            .map(|(unit, registers)| unit.resident(registers, kernel.local, kernel.wg))
            .transpose()?;
        said.push(asm::groups(
            &kernel,
            generation.as_deref().zip(resident.as_ref()),
        ));
    }
    Ok(said)
}

/// The machine code in PoCL's cache, once the case ran.
fn of_pocl(worker: &mut WorkerProcess, case: &Case, cache: &Path, shown: &mut Shown) -> Result<()> {
    let launched = worker
        .launch_once_within(case, bench::LOOK)?
        .map_err(|lost| Error::Failed(format!("while running the kernel once, {lost}")))?
        .map_err(|stop| bench::stopped(case, stop))?;
    let mut names: Vec<String> = launched
        .launches
        .into_iter()
        .map(|(kernel, _)| kernel)
        .collect();
    names.dedup();
    let found = files::below(cache);
    for name in &names {
        let library = format!("{name}.so");
        let file = found
            .iter()
            .find(|file| file.file_name() == Some(OsStr::new(&library)));
        let file = file.ok_or_else(|| {
            Error::Failed(format!("PoCL keeps no machine code of {name} in its cache"))
        })?;
        let text = tool(
            "objdump",
            "binutils",
            &["-d", "-l", "--no-show-raw-insn"],
            file,
        )?;
        let all =
            parse(&text).map_err(|why| Error::Failed(format!("{name}, by objdump: {why}")))?;
        // One of its functions has the lines of the source, the others call it or hold copies of it.
        let own = ["", "_workgroup"].map(|end| format!("_pocl_kernel_{name}{end}"));
        let kernel = own
            .iter()
            .find_map(|own| all.iter().find(|kernel| kernel.name == *own));
        let kernel = kernel.ok_or_else(|| {
            Error::Failed(format!("PoCL's machine code has no function of {name}"))
        })?;
        shown.kernels.push(AsmKernel {
            name: name.clone(),
            instructions: kernel.instructions.clone(),
        });
    }
    shown.what = format!("x86-64 by PoCL for {}", worker.info().name);
    Ok(())
}

fn tool(program: &str, package: &str, args: &[&str], file: &Path) -> Result<String> {
    let output = output_within(
        Command::new(program)
            .args(args)
            .arg(file)
            .env("LC_ALL", "C"),
        "",
        LONGEST,
    );
    let output = output.map_err(|error| match error.kind() {
        ErrorKind::NotFound => {
            Error::NoDevice(format!("{program} is not installed: install {package}"))
        }
        _ => Error::Failed(format!("{program} gives no listing: {error}")),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Error::Failed(format!(
            "{program}: {}",
            said.lines().next().unwrap_or("it failed")
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

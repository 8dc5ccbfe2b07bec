//! The page that leads from the sources' slides to commands: what it names exists.

use clap::Parser;
use gpulab::cli::{Cli, Command};
use gpulab::experiments::EXPERIMENTS;
use gpulab::report::sources;
use gpulab::{kernels, values};
use std::path::Path;

const PAGE: &str = include_str!("../../docs/sources.md");

/// Every command in the page's code, in tables and in text.
fn commands() -> Vec<&'static str> {
    PAGE.split('`').skip(1).step_by(2).filter(|code| code.starts_with("gpulab ")).collect()
}

/// Why a command is none, if it is none.
fn fault(command: &str) -> Option<String> {
    let cli = match Cli::try_parse_from(command.split(' ')) {
        Ok(cli) => cli,
        Err(error) => return Some(error.to_string()),
    };
    let rungs = |family, variant: &Option<String>| values::variants(family, variant.as_deref()?).err();
    match cli.command.as_ref()? {
        Command::List { source: Some(name), .. } => {
            sources::all().iter().all(|s| s.name() != *name).then(|| format!("no source {name}"))
        }
        Command::Lab(lab) => {
            let name = lab.name.as_deref()?;
            EXPERIMENTS.iter().all(|e| e.name != name).then(|| format!("no experiment {name}"))
        }
        Command::Dot(args) => rungs(&kernels::dot::FAMILY, &args.ladder.variant),
        Command::Reduce(args) => rungs(&kernels::reduce::FAMILY, &args.ladder.variant),
        Command::Transpose(args) => rungs(&kernels::transpose::FAMILY, &args.ladder.variant),
        Command::Minplus(args) => rungs(&kernels::minplus::FAMILY, &args.ladder.variant),
        Command::Sweep(args) => rungs(kernels::family(args.swept.name())?, &args.variant),
        _ => None,
    }
}

#[test]
fn every_command_of_the_page_exists() {
    let commands = commands();
    assert!(commands.len() > 50, "{commands:?}");
    for command in commands {
        assert_eq!(fault(command), None, "{command}");
    }
    for wrong in ["gpulab climb", "gpulab lab nothing", "gpulab dot --variant 99", "gpulab list --source nobody"] {
        assert!(fault(wrong).is_some(), "{wrong}");
    }
}

#[test]
fn every_source_has_its_road_and_every_row_its_command() {
    let sources = sources::all();
    let names: Vec<String> = sources.iter().map(sources::CitedSource::name).collect();
    assert_eq!(names, ["bornhofen", "ppc", "cmsoft", "nvidia", "maruyama"]);
    let rows = PAGE.lines().filter(|line| line.contains("| `gpulab ")).count();
    assert_eq!(sources.iter().map(|s| s.steps.len()).sum::<usize>(), rows, "each row of a table has four cells");
    for step in sources.iter().flat_map(|s| &s.steps) {
        assert!(step.command.starts_with("gpulab ") && !step.command.contains('`'), "{step:?}");
        assert!([step.place, step.see, step.today].iter().all(|cell| !cell.is_empty()), "{step:?}");
    }
}

/// What a row gives for the H200 stands in a file that is there.
#[test]
fn every_file_of_results_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named: Vec<&str> = PAGE.split('`').skip(1).step_by(2).filter(|code| code.ends_with(".csv")).collect();
    assert!(named.len() > 10, "{named:?}");
    for file in named {
        let path = if file.contains('/') { root.join(file) } else { root.join("data/results/nvidia-h200").join(file) };
        assert!(path.is_file(), "{file}");
    }
}

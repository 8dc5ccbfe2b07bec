//! The recipes of CONTRIBUTING.md, each followed in a copy of this tree: what it adds is built without optimisation and run, and
//! what the recipe promises is looked for on screen.

use crate::child::io;
use crate::{Options, Report};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Texts of a file, and what each is replaced by.
type Replacements = &'static [(&'static str, &'static str)];

/// What one follows, and what it leads to.
struct Recipe {
    /// The words that its heading ends in.
    heading: &'static str,
    /// Words of code that it must have, as they are what is done here.
    named: &'static [&'static str],
    /// Files with the file that each is made from, and what of that is replaced by what.
    edits: &'static [(&'static str, &'static str, Replacements)],
    /// Commands and what they must show, beside what the recipe itself promises.
    shown: &'static [(&'static str, &'static str)],
}

const DOT: &str = "crates/kernels/src/dot.rs";
const ROW: &str = "crates/record/src/row.rs";
const DERIVE: &str = "crates/record/src/derive.rs";
const OUTCOME: &str = "crates/model/src/outcome/mod.rs";
const CLI: &str = "src/cli/mod.rs";
const COMMANDS: &str = "src/commands/mod.rs";

#[rustfmt::skip]
const RECIPES: &[Recipe] = &[
    Recipe {
        heading: "rung",
        named: &["cl/dot/pairs.cl", DOT, "rung(\"dot/pairs.cl\", pairs, &[ITEMS, PRESUM, MAD]) .with(&[\"common/tree.cl\", \"dot/presum_groups.cl\"])"],
        edits: &[
            ("cl/dot/pairs.cl", "cl/dot/local.cl", &[("dot_local", "dot_pairs"), ("// Idea: ", "// Idea: in pairs: ")]),
            (DOT, DOT, &[
                ("rung(\"dot/vectorised.cl\"", "rung(\"dot/pairs.cl\", pairs, &[ITEMS, PRESUM, MAD]).with(&[\"common/tree.cl\", \"dot/presum_groups.cl\"]),\nrung(\"dot/vectorised.cl\""),
                ("fn local(ask", "fn pairs(ask: &Ask<'_>) -> Planned {\n    local(ask)\n}\n\nfn local(ask"),
            ]),
        ],
        shown: &[],
    },
    Recipe {
        heading: "tunable",
        named: &["cl/dot/naive.cl", DOT, "plan.set(UNROLL.name, UNROLL.get(&ask.case.params)?.unwrap_or(1))", "rung(\"dot/naive.cl\", naive, &[ITEMS, UNROLL, MAD])"],
        edits: &[
            ("cl/dot/naive.cl", "cl/dot/naive.cl", &[
                ("#include \"muladd.cl\"\n", "// Given:   UNROLL, turns of the loop that are written out.\n#include \"muladd.cl\"\n"),
                ("    for (INDEX i = begin; i < end; i++)\n", "    for (INDEX j = begin; j < end; j += UNROLL)\n    for (INDEX i = j; i < min(j + UNROLL, end); i++)\n"),
            ]),
            (DOT, DOT, &[
                ("naive, &[ITEMS, MAD]", "naive, &[ITEMS, UNROLL, MAD]"),
                ("pub(crate) struct Dot;", "const UNROLL: Tunable = Tunable::number(\"unroll\", \"turns of the loop that are written out\", (1, 16), \"1 2 4\").by_default(\"1\");\npub(crate) struct Dot;"),
                ("    let partial = plan.output(grid.items());\n    plan.pass(", "    let partial = plan.output(grid.items());\n    plan.set(UNROLL.name, UNROLL.get(&ask.case.params)?.unwrap_or(1));\n    plan.pass("),
            ]),
        ],
        shown: &[],
    },
    Recipe {
        heading: "record column",
        named: &[OUTCOME, ROW, DERIVE, "preparation: Option<f64>", "t_preparation_s: Option<f64>", "t_preparation_s: seconds(|m| m.preparation)", "#[unit = \"s\"]"],
        edits: &[
            (OUTCOME, OUTCOME, &[("    pub preparation: Option<f64>,\n", "    pub preparation: Option<f64>,\n    /// A recipe's.\n    pub recipe: Option<f64>,\n")]),
            (DERIVE, DERIVE, &[
                ("            t_preparation_s: seconds(|m| m.preparation),", "            t_preparation_s: seconds(|m| m.preparation),\n            t_recipe_s: seconds(|m| m.recipe),"),
            ]),
            (ROW, ROW, &[
                ("        pub t_canary_s: Option<f64>,\n", "        pub t_canary_s: Option<f64>,\n        /// What a recipe measures.\n        #[unit = \"s\"]\n        pub t_recipe_s: Option<f64>,\n"),
            ]),
        ],
        shown: &[
            ("help columns", "t_recipe_s"),
            ("help columns", "What a recipe measures."),
            ("reduce -n 5000 --quick --csv -", ",t_recipe_s"),
            ("reduce -n 5000 --quick --json -", "\"t_recipe_s\":null"),
            ("show data/results/nvidia-h200/dot.csv", "dot"),
        ],
    },
    Recipe {
        heading: "experiment",
        named: &["crates/study/src/experiments/mod.rs", "crates/kernels/src/lab/", "crates/kernels/src/registry.rs"],
        edits: &[
            ("cl/lab/forks/two_ways.cl", "cl/lab/divergence/two_ways.cl", &[("divergence", "forks")]),
            ("crates/kernels/src/lab/forks.rs", "crates/kernels/src/lab/divergence.rs", &[("\"divergence\"", "\"forks\""), ("lab/divergence/", "lab/forks/")]),
            ("crates/kernels/src/lab/mod.rs", "crates/kernels/src/lab/mod.rs", &[("pub mod divergence;", "pub mod divergence;\npub mod forks;")]),
            ("crates/kernels/src/registry.rs", "crates/kernels/src/registry.rs", &[("    &lab::divergence::FAMILY,", "    &lab::divergence::FAMILY,\n    &lab::forks::FAMILY,")]),
            ("crates/study/src/experiments/forks.rs", "crates/study/src/experiments/arithmetic.rs", &[("name: \"divergence\"", "name: \"forks\""), ("(\"divergence\", \"two_ways\")", "(\"forks\", \"two_ways\")")]),
            ("crates/study/src/experiments/mod.rs", "crates/study/src/experiments/mod.rs", &[("mod arithmetic;", "mod arithmetic;\nmod forks;"), ("    &arithmetic::DIVERGENCE,", "    &arithmetic::DIVERGENCE,\n    &forks::DIVERGENCE,")]),
        ],
        shown: &[("lab", "forks "), ("lab forks --quick", "finding:"), ("lab forks --quick", " ┤")],
    },
    Recipe {
        heading: "subcommand",
        named: &[CLI, COMMANDS, "Scan(Scan)", "src/commands/scan.rs"],
        edits: &[
            (CLI, CLI, &[
                ("pub enum Command {\n", "pub enum Command {\n    /// Follow a recipe\n    Scan(Scan),\n"),
                ("devices doctor help", "devices doctor help scan"),
                ("use device::COUNT_HELP;", "use device::COUNT_HELP;\n#[derive(Args, Debug)]\npub struct Scan {\n    /// So many times\n    #[arg(long, default_value_t = 1)]\n    pub times: usize,\n}"),
            ]),
            (COMMANDS, COMMANDS, &[
                ("mod plot;", "mod plot;\nmod scan {\n    pub fn run(options: &crate::cli::Scan) -> Result<(), Error> {\n        print(&\"a recipe's line\\n\".repeat(options.times))\n    }\n    use crate::{Error, console::print};\n}"),
                ("        Command::Worker =>", "        Command::Scan(options) => scan::run(options),\n        Command::Worker =>"),
            ]),
        ],
        shown: &[("scan --times 2", "a recipe's line a recipe's line"), ("help scan", "So many times"), ("--help", "Follow a recipe")],
    },
];

pub fn run(options: &Options) -> Result<Report, String> {
    let is_meant = |recipe: &&Recipe| {
        options
            .only
            .as_ref()
            .is_none_or(|only| recipe.heading.contains(only.as_str()))
    };
    let most = if options.quick { 1 } else { RECIPES.len() };
    let mut told = Vec::new();
    let mut passed = true;
    for recipe in RECIPES.iter().filter(is_meant).take(most) {
        told.push(match recipe.follow() {
            Ok(promises) => format!("{}: {promises} promises kept", recipe.heading),
            Err(why) => {
                eprintln!("{}: {why}", recipe.heading);
                passed = false;
                format!("{}: FAILED", recipe.heading)
            }
        });
    }
    Ok(Report {
        passed: passed && !told.is_empty(),
        figure: told.join(", "),
    })
}

impl Recipe {
    /// Does what the recipe says and looks for what it promises; how many promises are kept.
    fn follow(&self) -> Result<usize, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("recipes");
        let (root, target) = (folder.join("tree"), folder.join("target"));
        copy(Path::new(env!("CARGO_MANIFEST_DIR")), &root).map_err(io)?;
        let page = fs::read_to_string(root.join("CONTRIBUTING.md")).map_err(io)?;
        let section = page.split("\n## ").find(|part| {
            part.lines()
                .next()
                .is_some_and(|h| h.ends_with(self.heading))
        });
        let section = section
            .ok_or("CONTRIBUTING.md has no such recipe")?
            .replace("\n\n", "\u{1}");
        let words = section.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(lost) = self
            .named
            .iter()
            .find(|name| !code(&words).any(|word| word.contains(*name)))
        {
            return Err(format!("it no longer says {lost}"));
        }
        for (to, from, replaced) in self.edits {
            let mut text =
                fs::read_to_string(root.join(from)).map_err(|e| format!("{from}: {e}"))?;
            for (old, new) in *replaced {
                if !text.contains(old) {
                    return Err(format!("{from} has no {old:?}"));
                }
                text = text.replace(old, new);
            }
            let to = root.join(to);
            to.parent()
                .map_or(Ok(()), fs::create_dir_all)
                .and_then(|()| fs::write(&to, text))
                .map_err(io)?;
        }
        build(&root, &target)?;
        let on_screen = words
            .split("On screen:")
            .nth(1)
            .and_then(|rest| rest.split('\u{1}').next())
            .unwrap_or_default();
        let mut promises: Vec<(String, String)> = self
            .shown
            .iter()
            .map(|(command, text)| (format!("gpulab {command}"), (*text).to_owned()))
            .collect();
        let mut last = String::new();
        for word in code(on_screen).filter(|word| !word.contains('<')) {
            match ["gpulab ", "cargo ", "INSTA_UPDATE"]
                .iter()
                .any(|begin| word.starts_with(begin))
            {
                true => {
                    last = word.to_owned();
                    promises.push((last.clone(), String::new()));
                }
                // A path is where something is, and not on screen.
                false if !word.contains('/') => promises.push((last.clone(), word.to_owned())),
                false => {}
            }
        }
        promises.retain(|(command, _)| command.starts_with("gpulab "));
        for (command, text) in &promises {
            demand(&target, &root, command, text)?;
        }
        if promises.is_empty() {
            Err("nothing is promised on screen".into())
        } else {
            Ok(promises.len())
        }
    }
}

/// Words of code.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Builds the program as the tests are built, but nothing optimised.
fn build(root: &Path, target: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args([
        "build",
        "--quiet",
        "--bin",
        "gpulab",
        "--locked",
        "--profile",
        "checked",
    ]);
    for package in ["model", "kernels", "graph", "engine"] {
        command.args([
            "--config",
            &format!("profile.checked.package.gpulab-{package}.opt-level=0"),
        ]);
    }
    let output = command
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .output()
        .map_err(io)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// That a command shows a text, however its blanks are. It must not fail, but for what it lacks here.
fn demand(target: &Path, root: &Path, line: &str, text: &str) -> Result<(), String> {
    let words: Vec<&str> = line.split(' ').skip(1).collect();
    // What lets a command measure little.
    let little: &[&str] = match words[..] {
        [.., "--help"] | ["lab", ..] => &[],
        ["dot" | "sweep", ..] => &["-n", "5000", "--quick"],
        _ => &[],
    };
    let mut command = Command::new(target.join("checked/gpulab"));
    command
        .args(words)
        .args(little)
        .current_dir(root)
        .env("GPULAB_DATA", target.join("data"))
        .env("NO_COLOR", "1");
    let output = command.output().map_err(io)?;
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    match output.status.code() {
        // A promised mistake has promised words; no simulator; times that cannot be trusted.
        Some(0 | 3 | 7) if text.is_empty() => Ok(()),
        Some(0 | 2 | 3 | 7) if flat(&said).contains(&flat(text)) && !text.is_empty() => Ok(()),
        Some(2) if text.is_empty() && line.contains(" 99") => Ok(()),
        code => Err(format!(
            "{line}: ended with {code:?}, and {text:?} is not in:\n{said}"
        )),
    }
}

/// Copies what a build needs, and no folder that hides or is built, to the place of the last copy: what is the same is not
/// written, so that little is built again.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for path in fs::read_dir(to)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<PathBuf>, _>>()?
    {
        match path.is_dir() {
            _ if from.join(path.file_name().unwrap_or_default()).exists() => {}
            true => fs::remove_dir_all(path)?,
            false => fs::remove_file(path)?,
        }
    }
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let target = to.join(name);
        let is_built = path.join("CACHEDIR.TAG").exists()
            || Path::new(env!("CARGO_TARGET_TMPDIR")).starts_with(&path);
        if name.to_string_lossy().starts_with('.') || is_built {
            continue;
        }
        if path.is_dir() {
            copy(&path, &target)?;
        } else if fs::read(&target).ok() != Some(fs::read(&path)?) {
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

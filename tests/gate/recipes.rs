//! The recipes of CONTRIBUTING.md, each followed in a copy of this tree: what it adds is built without optimisation and run, and
//! what the recipe promises is looked for on screen.
//!
//! Names come out of the recipes. A recipe that can no longer be followed, or promises what is not shown, fails.

mod page;
mod tree;

use crate::{Options, Report};
use page::Page;
use tree::Tree;

type Recipe = fn(&Tree, &Page) -> Result<usize, String>;

/// By the words that its heading ends in.
const RECIPES: &[(&str, Recipe)] = &[
    ("rung", rung),
    ("tunable", tunable),
    ("record column", column),
    ("experiment", experiment),
    ("subcommand", subcommand),
];

/// What lets a command measure little, behind its words.
fn little(words: &[&str]) -> &'static [&'static str] {
    match words {
        [.., "--help"] | ["lab"] => &[],
        ["lab", ..] => &["--quick"],
        ["dot" | "reduce" | "transpose" | "minplus" | "sweep", ..] => &["-n", "5000", "--quick"],
        _ => &[],
    }
}

pub fn run(options: &Options) -> Result<Report, String> {
    let meant = |name: &str| options.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let recipes: Vec<_> = RECIPES.iter().filter(|(name, _)| meant(name)).collect();
    let mut told = Vec::new();
    let mut passed = !recipes.is_empty();
    for (name, follow) in recipes.into_iter().take(if options.quick { 1 } else { RECIPES.len() }) {
        let tree = Tree::copied()?;
        let page = Page::of(&tree.read("CONTRIBUTING.md")?, name)?;
        match follow(&tree, &page) {
            Ok(promises) => told.push(format!("{name}: {promises} promises kept")),
            Err(why) => {
                eprintln!("{name}: {why}");
                told.push(format!("{name}: FAILED"));
                passed = false;
            }
        }
    }
    Ok(Report { passed, figure: told.join(", ") })
}

/// Runs each command of the part "On screen" and looks for the texts behind it; how many were found.
fn on_screen(tree: &Tree, page: &Page, filled: impl Fn(&str) -> String) -> Result<usize, String> {
    let promises = page.promises();
    for (command, texts) in &promises {
        let command = filled(command);
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let words = [&words[..], little(&words)].concat();
        let (said, code) = tree.gpulab(&words)?;
        // A promised mistake has promised words.
        if code == 2 && texts.is_empty() {
            return Err(format!("{command}: {said}"));
        }
        for text in texts {
            tree::demand(&said, &filled(text), &command)?;
        }
    }
    if promises.is_empty() { Err("nothing is promised on screen".into()) } else { Ok(promises.len()) }
}

/// A copy of the rung before it, under its own name.
fn rung(tree: &Tree, page: &Page) -> Result<usize, String> {
    let file = page.span(|span| span.starts_with("cl/") && span.ends_with(".cl"))?;
    let line = page.span(|span| span.starts_with("rung(\""))?;
    let planner = line.split(", ").nth(1).ok_or("the line in the ladder names no planner")?;
    let source = page.span(|span| span.starts_with("crates/kernels/src/"))?;
    let family = file.split('/').nth(1).ok_or("the file is in no family")?;
    let shown = page.promises().iter().flat_map(|(_, texts)| texts.clone()).next().ok_or("no number is promised")?;
    let number: usize = shown.split(' ').next().and_then(|n| n.parse().ok()).ok_or("no number is promised")?;
    let ladder = tree.lines(&source, &format!("rung(\"{family}/"))?;
    let path = |line: &str| line.split('"').nth(1).map(|path| format!("cl/{path}")).ok_or("no path");
    let before = path(ladder.get(number - 2).ok_or("there is no rung before it")?)?;
    let entry = |file: &str| tree::stem(file).map(|stem| format!("{family}_{stem}"));
    let text = tree.read(&before)?.replace(&entry(&before)?, &entry(&file)?);
    let text = text.replacen("// Idea: ", "// Idea: in pairs: ", 1);
    let rungs_behind = &ladder[number - 1..];
    move_up(tree, &source, rungs_behind)?;
    tree.write(&file, &text)?;
    let next = tree.lines(&source, &format!("rung(\"{family}/"))?[number - 1].clone();
    tree.replace(&source, &next, &format!("{line},\n        {next}"))?;
    let model = ladder[number - 2].split(", ").nth(1).ok_or("no planner")?;
    let function = tree.function(&source, model)?;
    let copy = function.replacen(&format!("fn {model}("), &format!("fn {planner}("), 1);
    tree.replace(&source, &function, &format!("{function}\n\n{copy}"))?;
    tree.build()?;
    on_screen(tree, page, str::to_owned)
}

/// Gives the rungs behind the new one the next number, where files bear numbers.
fn move_up(tree: &Tree, source: &str, ladder: &[String]) -> Result<(), String> {
    for line in ladder.iter().rev() {
        let path = line.split('"').nth(1).unwrap_or_default();
        let stem = tree::stem(path)?;
        let Some((number, name)) = stem.strip_prefix('v').and_then(|rest| rest.split_once('_')) else { continue };
        let Ok(number) = number.parse::<usize>() else { continue };
        let moved = format!("v{}_{name}", number + 1);
        let text = tree.read(&format!("cl/{path}"))?.replace(&stem, &moved);
        tree.remove(&format!("cl/{path}"))?;
        tree.write(&format!("cl/{}", path.replace(&stem, &moved)), &text)?;
        tree.replace(source, path, &path.replace(&stem, &moved))?;
    }
    Ok(())
}

/// A loop of as many turns as the tunable says inside the kernel's loop.
fn tunable(tree: &Tree, page: &Page) -> Result<usize, String> {
    let file = page.span(|span| span.starts_with("cl/") && span.ends_with(".cl"))?;
    let source = page.span(|span| span.starts_with("crates/kernels/src/"))?;
    let line = page.span(|span| span.starts_with("rung(\""))?;
    let declaration = page.span(|span| span.starts_with("const ") && span.contains("Tunable"))?;
    let set = page.span(|span| span.starts_with("plan.set("))?;
    let name = declaration.split([' ', ':']).nth(1).ok_or("the declaration names nothing")?;
    tree.replace(&file, "#ifndef T\n", &format!("#ifndef {name}\n#define {name} 1\n#endif\n#ifndef T\n"))?;
    let turn = "for (INDEX i = begin; i < end; i++)\n        sum = MULADD(x[i], y[i], sum);";
    let turns = format!(
        "for (INDEX i = begin; i < end; i += {name})\n        for (INDEX j = i; j < min(i + {name}, end); j++)\n            \
         sum = MULADD(x[j], y[j], sum);"
    );
    tree.replace(&file, turn, &turns)?;
    let path = line.split('"').nth(1).unwrap_or_default();
    let old = tree.lines(&source, &format!("rung(\"{path}\""))?;
    tree.replace(&source, old.first().ok_or("the rung is not in the ladder")?, &format!("{line},"))?;
    tree.replace(&source, "pub(crate) struct Dot;", &format!("{declaration};\n\npub(crate) struct Dot;"))?;
    let planner = line.split(", ").nth(1).ok_or("the line in the ladder names no planner")?;
    let function = tree.function(&source, planner)?;
    tree.replace(&source, &function, &function.replacen("plan.pass(", &format!("{set};\n    plan.pass("), 1))?;
    tree.build()?;
    on_screen(tree, page, str::to_owned)
}

/// A column like the recipe's, which there is already, under another name.
fn column(tree: &Tree, page: &Page) -> Result<usize, String> {
    let outcome = page.span(|span| span.ends_with("outcome/mod.rs"))?;
    let timing = page.span(|span| span.ends_with("timing.rs"))?;
    let rows = page.span(|span| span.ends_with("row.rs"))?;
    let field = page.span(|span| span.ends_with(": Option<f64>") && !span.starts_with("t_"))?;
    let column = page.span(|span| span.ends_with(": Option<f64>") && span.starts_with("t_"))?;
    let unit = page.span(|span| span.starts_with("#[unit"))?;
    let line = page.span(|span| span.contains("seconds(|m|"))?;
    let was = field.split(':').next().unwrap_or_default();
    let renamed = |text: &str| text.replace(was, "recipe");
    tree.replace(
        &outcome,
        &format!("    pub {field},\n"),
        &format!("    pub {field},\n    /// A recipe's.\n    pub {},\n", renamed(&field)),
    )?;
    tree.replace(&rows, &format!("{line},"), &format!("{line},\n            {},", renamed(&line)))?;
    let last = tree.last_field(&rows)?;
    tree.replace(
        &rows,
        &last,
        &format!("{last}\n        /// What a recipe measures.\n        {unit}\n        pub {},", renamed(&column)),
    )?;
    if !tree.read(&timing)?.contains(was) {
        return Err(format!("{timing} fills in no {was}"));
    }
    tree.build()?;
    let name = renamed(column.split(':').next().unwrap_or_default());
    let columns = tree.gpulab(&["help", "columns"])?.0;
    tree::demand(&columns, &format!("{name} "), "gpulab help columns")?;
    tree::demand(&columns, "What a recipe measures.", "gpulab help columns")?;
    let command = page.promises().into_iter().map(|(command, _)| command).next().ok_or("no command is named")?;
    let words: Vec<&str> = command.split(' ').skip(1).chain(["-n", "5000"]).collect();
    let (csv, _) = tree.gpulab(&[&words[..], &["-q"]].concat())?;
    let header = csv.lines().find(|line| line.starts_with("schema,")).unwrap_or_default();
    if !header.ends_with(&format!(",{name}")) || !csv.lines().any(|line| line.ends_with(',')) {
        return Err(format!("{command}: {name} is not the last column, and empty:\n{csv}"));
    }
    let words: Vec<&str> = words.iter().map(|word| if *word == "--csv" { "--json" } else { word }).collect();
    let (json, _) = tree.gpulab(&[&words[..], &["-q"]].concat())?;
    tree::demand(&json, &format!("\"{name}\":null"), "--json -")?;
    let (out, _) = tree.gpulab(&["show", "data/results/nvidia-h200/dot.csv"])?;
    tree::demand(&out, "dot", "a file without the column is still read")?;
    Ok(5)
}

/// A copy of the example, with its kernels, under another name.
fn experiment(tree: &Tree, page: &Page) -> Result<usize, String> {
    const NAME: &str = "forks";
    let file = page.span(|span| span.ends_with("experiments/arithmetic.rs"))?;
    let list = page.span(|span| span.ends_with("experiments/mod.rs"))?;
    let registry = page.span(|span| span.ends_with("registry.rs"))?;
    let kernels = page.span(|span| span.starts_with("crates/") && span.ends_with("src/lab/"))?;
    let sources = page.span(|span| span.starts_with("cl/lab/"))?.replace("<family>/", "");
    let example = page.behind("with kernels of its own", |span| span.ends_with(".rs") && !span.contains('/'))?;
    let model = example.trim_end_matches(".rs").to_owned();
    let other_case = |word: &str| word[..1].to_uppercase() + &word[1..];
    let renamed = |text: &str| {
        let text = text.replace(&model, NAME).replace(&model.to_uppercase(), &NAME.to_uppercase());
        text.replace(&other_case(&model), &other_case(NAME))
    };
    let copy = |from: &str, to: &str| tree.write(to, &renamed(&tree.read(from)?));
    let theme = tree.read(&file)?;
    let begin = theme.find(&format!("pub(super) const {}", model.to_uppercase())).ok_or("the example is elsewhere")?;
    let length = theme[begin..].find("\n};\n").ok_or("the example has no end")? + "\n};\n".len();
    tree.write(&file, &format!("{theme}\n{}", renamed(&theme[begin..begin + length])))?;
    copy(&format!("{kernels}{model}.rs"), &format!("{kernels}{NAME}.rs"))?;
    for path in tree.files(&format!("{sources}{model}"))? {
        copy(&path, &renamed(&path))?;
    }
    let lab = format!("{kernels}mod.rs");
    for (file, line) in [
        (&list, format!("    &arithmetic::{},", model.to_uppercase())),
        (&lab, format!("pub mod {model};")),
        (&registry, format!("    &lab::{model}::FAMILY,")),
    ] {
        tree.replace(file, &line, &format!("{line}\n{}", renamed(&line)))?;
    }
    tree.build()?;
    let kept = on_screen(tree, page, |text| text.replace("<name>", NAME))?;
    tree::demand(&tree.gpulab(&["lab"])?.0, &format!("{NAME} "), "gpulab lab lists it")?;
    let (said, _) = tree.gpulab(&["lab", NAME, "--quick"])?;
    for what in ["finding:", " ┤"] {
        tree::demand(&said, what, "gpulab lab shows the bars and the finding")?;
    }
    Ok(kept + 3)
}

/// A command that prints a line. Without what the compiler names it does not build.
fn subcommand(tree: &Tree, page: &Page) -> Result<usize, String> {
    let name = page.behind("example", |_| true)?;
    let parser = page.span(|span| span.ends_with("cli/mod.rs"))?;
    let variant = page.span(|span| span.contains('(') && span.ends_with(')') && !span.contains(' '))?;
    let file = page.span(|span| span.ends_with(&format!("{name}.rs")))?;
    let word = variant.split('(').next().unwrap_or_default();
    tree.replace(
        &parser,
        "pub enum Command {\n",
        &format!("pub enum Command {{\n    /// Follow a recipe\n    {variant},\n"),
    )?;
    let options = format!(
        "#[derive(Args, Debug)]\npub struct {word} {{\n    /// So many times\n    #[arg(long, default_value_t = 1)]\n    pub times: usize,\n}}\n"
    );
    let text = tree.read(&parser)?;
    tree.write(&parser, &format!("{text}\n{options}"))?;
    let run = format!(
        "//! A recipe's command.\n\nuse crate::Error;\nuse crate::cli::{{Global, {word}}};\nuse crate::console::Out;\n\n\
         pub fn run(out: &mut Out, _: &Global, options: &{word}) -> Result<(), Error> {{\n    \
         out.text(&\"a recipe's line\\n\".repeat(options.times))\n}}\n"
    );
    tree.write(&file, &run)?;
    let places = page.spans_between("The compiler names", "A test names", |span| span.starts_with("src/"));
    let [dispatch, others @ ..] = &places[..] else { return Err("the compiler names nothing".into()) };
    let refused = tree.build().err().ok_or("it builds without what the compiler is to name")?;
    for place in &places {
        tree::demand(&refused, place, "the compiler names what is left")?;
    }
    tree.replace(dispatch, "mod plot;", &format!("mod plot;\nmod {name};"))?;
    tree.replace(
        dispatch,
        "Command::Worker =>",
        &format!("Command::{word}(options) => {name}::run(out, global, options),\n        Command::Worker =>"),
    )?;
    for place in others {
        let next = "        Command::Ceiling(_) =>";
        tree.replace(place, next, &format!("        Command::{word}(_) => \"gpulab list\".to_owned(),\n{next}"))?;
    }
    tree.build()?;
    tree::demand(&tree.gpulab(&[&name, "--times", "2"])?.0, "a recipe's line\na recipe's line\n", "gpulab")?;
    tree::demand(&tree.gpulab(&["help", &name])?.0, "So many times", "gpulab help")?;
    tree::demand(&tree.gpulab(&["--help"])?.0, "Follow a recipe", "gpulab --help")?;
    Ok(places.len() + 3)
}

//! What to run next: one line at the end of a command, for people at a terminal.

use crate::adopt::cited;
use crate::cli::{CitedLadder, Command, ExerciseAction, Lab, Ladder, PlotArgs, ReportArgs, Sweep, TuneArgs};
use crate::commands::exercise::progress;
use crate::exercise::NAMES;
use crate::experiments::{EXPERIMENTS, experiment};
use crate::kernels::ladders;
use crate::prelude::*;
use crate::report::sources;
use crate::shell::{joined, quoted};
use crate::values::variants;
use clap_complete::Shell;

/// The options of ladders that name files to write.
const OUTPUTS: [&str; 4] = ["--csv", "--json", "--md", "--samples"];

pub(crate) struct Done<'a> {
    pub command: &'a Command,
    /// The device that the command line names.
    pub device: Option<&'a str>,
    /// The words of the command line behind the program's name.
    pub words: &'a [String],
}

pub(crate) fn next(done: &Done<'_>) -> Option<String> {
    Some(match done.command {
        Command::Devices { .. } | Command::Doctor { .. } => done.on_device("gpulab dot -n 1M --quick"),
        Command::List { source: Some(source), .. } => {
            let source = sources::all().into_iter().find(|known| known.name() == source.to_lowercase())?;
            done.on_device(source.steps.first()?.command)
        }
        Command::List { name: None, .. } => "gpulab list reduce".to_owned(),
        Command::List { name: Some(name), .. } => done.after_list(name),
        Command::Explain { lesson } => done.after_explain(lesson),
        Command::Source(options) => after_source(&options.lesson),
        Command::Diff(options) => done.on_device(&format!(
            "gpulab {} --variant {},{}",
            options.family.to_lowercase(),
            quoted(&options.from),
            quoted(&options.to)
        )),
        Command::Reduce(options) => done.after_ladder("reduce", &options.ladder),
        Command::Dot(options) => done.after_ladder("dot", &options.ladder),
        Command::Transpose(options) => done.after_ladder("transpose", &options.ladder),
        Command::Minplus(options) => match (&options.graph.input, options.graph.closure) {
            (None, _) => done.after_ladder("minplus", &options.ladder),
            (Some(_), false) => done.again("", &["--closure"]),
            (Some(_), true) => done.on_device("gpulab minplus --quick"),
        },
        Command::Try(options) => match &options.family {
            Some(family) => done.on_device(&format!("gpulab explain {}", family.to_lowercase())),
            None => "gpulab try my.cl --as FAMILY, with what was printed in my.cl".to_owned(),
        },
        Command::Ladder(options) if options.source.is_some() => match (options.source?, options.faults) {
            (CitedLadder::Maruyama, _) => "gpulab list --source maruyama".to_owned(),
            (source, true) => format!("gpulab list --source {}", cited::name(source)),
            (source, false) => done.on_device(&format!("gpulab ladder --as {} --faults", cited::name(source))),
        },
        Command::Ladder(options) => {
            let file = options.file.clone().or_else(|| Some(options.template.as_ref()?.join("family.toml")))?;
            let file = quoted(&file.display().to_string());
            match options.template {
                Some(_) => done.on_device(&format!("gpulab ladder {file}")),
                None => done.on_device(&format!("gpulab tune {file}")),
            }
        }
        Command::Exercise { action } => after_exercise(action.as_ref())?,
        Command::Ceiling(_) => done.on_device("gpulab reduce"),
        Command::Lab(options) => done.after_lab(options),
        Command::Count(options) if options.save.as_deref() == Some("-") => return None,
        Command::Count(options) if options.save.is_some() => {
            let words: Vec<String> = done.words.iter().map(|word| word.replacen("--save", "--against", 1)).collect();
            Done { words: &words, ..*done }.again("", &["--fail-on", "all:2%"])
        }
        Command::Count(options) if options.lines || options.against.is_some() => done.on_device("gpulab reduce"),
        Command::Count(_) => done.again("", &["--lines"]),
        Command::Draw(options) => format!("gpulab film {} -o film.html", joined(&options.what)),
        Command::Film(options) => format!("gpulab count {} --lines", quoted(options.what[0].split(':').next()?)),
        Command::Asm(options) => match &options.what[..] {
            [one] if options.family.is_none() => format!("gpulab count {} --lines", quoted(one)),
            _ => done.again("", &["-v"]),
        },
        Command::Occupancy(_) => done.on_device("gpulab lab occupancy"),
        Command::Sweep(options) => done.after_sweep(options),
        Command::Tune(options) => done.after_tune(options),
        Command::Tuned { .. } => done.on_device("gpulab tune transpose"),
        Command::Merge { output, .. } if output != "-" => format!("gpulab show {}", quoted(output)),
        Command::Show(options) => after_show(&options.what),
        Command::Report(options) if options.splicing.check => done.again("--check", &[]),
        Command::Report(options) if options.splicing.splice => format!("git diff {}", joined(&options.files)),
        Command::Plot(PlotArgs { files, .. }) | Command::Report(ReportArgs { files, .. }) => {
            format!("gpulab show {}", joined(files))
        }
        Command::Compare(_) => done.again("", &["-v"]),
        Command::Noise(_) => done.on_device("gpulab dot --save base"),
        Command::Record(options) => {
            format!("gpulab report {}", quoted(&format!("{}/", options.output.as_ref()?.display())))
        }
        Command::Columns { .. } => "gpulab help columns".to_owned(),
        Command::Merge { .. } | Command::Help { .. } => "gpulab list".to_owned(),
        Command::Completions { shell } => format!("gpulab completions {shell} > {}", completion_file(*shell)),
        Command::Man { dir } => format!("man {}", quoted(&dir.join("gpulab.1").display().to_string())),
        Command::Worker => return None,
    })
}

impl Done<'_> {
    fn on_device(&self, command: &str) -> String {
        let device = self.device.map(|device| format!(" -d {}", quoted(device))).unwrap_or_default();
        format!("{command}{device}")
    }

    /// The same command without a word that it is over with, and with more words. Files that it wrote are left out: they
    /// would be overwritten.
    fn again(&self, without: &str, more: &[&str]) -> String {
        let kept: Vec<&str> = self.without_outputs().into_iter().filter(|word| *word != without).collect();
        // Behind -- stands another program's command line.
        let (own, program) = kept.split_at(kept.iter().position(|word| *word == "--").unwrap_or(kept.len()));
        let words: Vec<String> = own.iter().chain(more).chain(program).map(|word| quoted(word)).collect();
        format!("gpulab {}", words.join(" "))
    }

    /// The same command without a word that it is over with.
    fn with_files(&self, without: &str) -> String {
        let words: Vec<String> = self.words.iter().filter(|word| *word != without).map(|word| quoted(word)).collect();
        format!("gpulab {}", words.join(" "))
    }

    /// The words without the options that name files to write, and these.
    fn without_outputs(&self) -> Vec<&str> {
        let is_output = |word: &str| OUTPUTS.contains(&word);
        let has_own = |word: &str| {
            OUTPUTS.iter().any(|output| word.strip_prefix(output).is_some_and(|rest| rest.starts_with('=')))
        };
        let mut kept = Vec::new();
        let mut words = self.words.iter().map(String::as_str);
        while let Some(word) = words.next() {
            match is_output(word) {
                true => _ = words.next(),
                false if has_own(word) => {}
                false => kept.push(word),
            }
        }
        kept
    }

    /// Behind a first look the whole ladder; behind the ladder the ideas of its rungs.
    fn after_ladder(&self, family: &str, options: &Ladder) -> String {
        if options.measure.quick { self.again("--quick", &[]) } else { format!("gpulab list {family}") }
    }

    fn after_list(&self, name: &str) -> String {
        let name = name.to_lowercase();
        match FAMILIES.iter().any(|family| family.name == name) {
            true => self.on_device(&format!("gpulab sweep {name} --quick -o {name}.csv")),
            false if experiment(&name).is_none() => "gpulab lab".to_owned(),
            false => self.on_device(&format!("gpulab lab {name}")),
        }
    }

    /// Behind a ladder's story its first rung; behind a rung its kernel; behind an experiment what it finds.
    fn after_explain(&self, lesson: &str) -> String {
        let name = lesson.to_lowercase();
        match FAMILIES.iter().find(|family| family.name == name).map(|family| (&family.name, &*family.ladder)) {
            Some((name, [first, ..])) => format!("gpulab explain {name}:{}", first.number().unwrap_or_default()),
            _ if experiment(&name).is_some() => self.on_device(&format!("gpulab lab {name}")),
            _ => format!("gpulab source {}", quoted(&name)),
        }
    }

    /// Behind an experiment the one below it in the list.
    fn after_lab(&self, options: &Lab) -> String {
        let at = options.name.as_deref().and_then(experiment);
        let place = at.and_then(|at| EXPERIMENTS.iter().position(|e| e.name == at.name));
        match (&options.name, place.and_then(|place| EXPERIMENTS.get(place + 1))) {
            (None, _) => self.on_device("gpulab lab banks --quick"),
            (Some(_), Some(next)) => self.on_device(&format!("gpulab lab {}", next.name)),
            (Some(_), None) => "gpulab list".to_owned(),
        }
    }

    /// Behind a search the ladder that uses what it found; behind a replay the search itself.
    fn after_tune(&self, options: &TuneArgs) -> String {
        match (options.subject.name(), options.dry_run) {
            (None, _) => self.on_device("gpulab tune transpose"),
            (Some(_), true) => self.again("--dry-run", &[]),
            (Some(family), false) => {
                let size = options.n.map(|n| format!(" -n {n}")).unwrap_or_default();
                self.on_device(&format!("gpulab {family}{size}"))
            }
        }
    }

    fn after_sweep(&self, options: &Sweep) -> String {
        let family = options.subject.name().unwrap_or_default();
        let file = format!("{family}.csv");
        match (options.output.as_str(), options.dry_run, options.shard) {
            ("-", ..) => self.again("--dry-run", &["-o", &file]),
            // Nothing was written yet.
            (_, true, _) => self.with_files("--dry-run"),
            (file, false, Some(_)) => format!("gpulab merge {} OTHERS... -o whole.csv", quoted(file)),
            (file, false, None) => format!("gpulab show {}", quoted(file)),
        }
    }
}

/// Behind the list of records one of them, behind a device's list its reduction, behind tables what files hold.
fn after_show(what: &[String]) -> String {
    match what {
        [] => "gpulab show h200 reduce".to_owned(),
        [device] if !device.contains(['.', '/']) => format!("gpulab show {} reduce", quoted(device)),
        _ => "gpulab columns".to_owned(),
    }
}

/// Behind a rung's source what changed since the rung before it, or, of the first, to the next one; behind an experiment's
/// the experiment.
fn after_source(lesson: &str) -> String {
    let what = lesson.to_lowercase();
    let Some((name, rung)) = what.split_once(':') else {
        return experiment(&what)
            .map_or("gpulab lab".to_owned(), |experiment| format!("gpulab lab {}", experiment.name));
    };
    let family = FAMILIES.iter().find(|family| family.name == name);
    let rungs = family.and_then(|family| variants(family, rung).ok());
    let place =
        family.zip(rungs).and_then(|(family, rungs)| family.ladder.iter().position(|r| r.path == rungs[0].path));
    match (family, place) {
        (Some(family), Some(place)) => {
            let first = place.saturating_sub(1);
            let [old, new] =
                [first, first + 1].map(|at| family.ladder.get(at).and_then(Rung::number).unwrap_or_default());
            format!("gpulab diff {name} {old} {new}")
        }
        (Some(_), None) => format!("gpulab list {name}"),
        (None, _) => "gpulab lab".to_owned(),
    }
}

/// Behind the list the first open exercise, behind a task or a starting file its check.
fn after_exercise(action: Option<&ExerciseAction>) -> Option<String> {
    match action {
        None | Some(ExerciseAction::List) => {
            let progress = progress();
            let open = NAMES.iter().find(|name| !progress.of(name).passed)?;
            Some(format!("gpulab exercise start {open}"))
        }
        Some(ExerciseAction::Show { name, .. }) => Some(format!("gpulab exercise check {name}")),
        Some(ExerciseAction::Start { name, output: None }) => Some(format!("gpulab exercise check {name}")),
        Some(ExerciseAction::Start { .. }) => None,
        Some(ExerciseAction::Check(options)) if options.all.is_some() => None,
        Some(ExerciseAction::Check(_)) => Some("gpulab exercise list".into()),
    }
}

fn completion_file(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => "~/.local/share/bash-completion/completions/gpulab",
        Shell::Zsh => "~/.zfunc/_gpulab",
        Shell::Fish => "~/.config/fish/completions/gpulab.fish",
        Shell::Elvish => "~/.config/elvish/lib/gpulab.elv",
        _ => "gpulab-completions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::Parser;

    fn after(line: &str) -> Option<String> {
        let words: Vec<String> = line.split(' ').skip(1).map(str::to_owned).collect();
        let cli = Cli::try_parse_from(line.split(' ')).unwrap();
        let device = cli.global.device.as_deref();
        next(&Done { command: cli.command.as_ref().unwrap(), device, words: &words })
    }

    /// Each command, and what comes next.
    const NEXT: [(&str, &str); 55] = [
        ("gpulab devices", "gpulab dot -n 1M --quick"),
        ("gpulab doctor", "gpulab dot -n 1M --quick"),
        ("gpulab list", "gpulab list reduce"),
        ("gpulab list reduce", "gpulab sweep reduce --quick -o reduce.csv"),
        ("gpulab list banks -d gpu", "gpulab lab banks -d gpu"),
        ("gpulab list --source cmsoft", "gpulab lab stride"),
        ("gpulab explain minplus", "gpulab explain minplus:0"),
        ("gpulab explain reduce:sequential", "gpulab source reduce:sequential"),
        ("gpulab explain stride -d gpu", "gpulab lab stride -d gpu"),
        ("gpulab explain banks:1", "gpulab source banks:1"),
        ("gpulab source reduce:3", "gpulab diff reduce 2 3"),
        ("gpulab source minplus:naive", "gpulab diff minplus 0 1"),
        ("gpulab source transpose:copy", "gpulab list transpose"),
        ("gpulab source banks:1", "gpulab lab"),
        ("gpulab source stride", "gpulab lab stride"),
        ("gpulab diff reduce 2 3 -d gpu", "gpulab reduce --variant 2,3 -d gpu"),
        ("gpulab reduce --quick -n 1M -d 0:0", "gpulab reduce -n 1M -d 0:0"),
        ("gpulab dot --quick --csv a.csv -n 1M --json=b.json", "gpulab dot -n 1M"),
        ("gpulab dot --md - --samples s.csv --quick", "gpulab dot"),
        ("gpulab sweep dot --csv a.csv --dry-run", "gpulab sweep dot --csv a.csv"),
        ("gpulab transpose", "gpulab list transpose"),
        ("gpulab dot -d h200", "gpulab list dot"),
        ("gpulab minplus --quick", "gpulab minplus"),
        ("gpulab minplus --input a.csv", "gpulab minplus --input a.csv --closure"),
        ("gpulab minplus --input a.csv --closure", "gpulab minplus --quick"),
        ("gpulab ceiling --show", "gpulab reduce"),
        ("gpulab lab", "gpulab lab banks --quick"),
        ("gpulab lab banks -d it's", r"gpulab lab camping -d 'it'\''s'"),
        ("gpulab lab zerocopy", "gpulab list"),
        ("gpulab lab all", "gpulab list"),
        ("gpulab occupancy reduce --variant 3", "gpulab lab occupancy"),
        ("gpulab count dot:2 --csv a.csv --save b.json", "gpulab count dot:2 --against b.json --fail-on all:2%"),
        ("gpulab count dot:2 --against b.json", "gpulab reduce"),
        ("gpulab count -- ./program 64", "gpulab count --lines -- ./program 64"),
        ("gpulab count --save b.json -- ./program", "gpulab count --against b.json --fail-on all:2% -- ./program"),
        ("gpulab asm dot:2", "gpulab count dot:2 --lines"),
        ("gpulab asm dot:2 dot:3 -d gpu", "gpulab asm dot:2 dot:3 -d gpu -v"),
        ("gpulab sweep dot --dry-run -d gpu", "gpulab sweep dot -d gpu -o dot.csv"),
        ("gpulab sweep dot -o a.csv --dry-run", "gpulab sweep dot -o a.csv"),
        ("gpulab sweep --kernel dot --csv a.csv", "gpulab show a.csv"),
        ("gpulab sweep dot -o a;b --shard 1/2", "gpulab merge 'a;b' OTHERS... -o whole.csv"),
        ("gpulab tune dot -n 5", "gpulab dot -n 5"),
        ("gpulab tune dot --dry-run", "gpulab tune dot"),
        ("gpulab tune --replay a.csv", "gpulab tune transpose"),
        ("gpulab tuned list", "gpulab tune transpose"),
        ("gpulab merge a b -o c", "gpulab show c"),
        ("gpulab merge a b -o -", "gpulab list"),
        ("gpulab show", "gpulab show h200 reduce"),
        ("gpulab show h200", "gpulab show h200 reduce"),
        ("gpulab show a.csv", "gpulab columns"),
        ("gpulab record --quick -o a;b", "gpulab report 'a;b/'"),
        ("gpulab report --splice a.md --check", "gpulab report --splice a.md"),
        ("gpulab report --splice a.md", "git diff a.md"),
        ("gpulab columns", "gpulab help columns"),
        ("gpulab man dir", "man dir/gpulab.1"),
    ];

    #[test]
    fn each_command_has_a_next_one() {
        for (line, want) in NEXT {
            assert_eq!(after(line).as_deref(), Some(want), "{line}");
        }
        assert_eq!(after("gpulab worker"), None);
    }

    #[test]
    fn what_is_next_is_a_command() {
        for (_, next) in NEXT.into_iter().filter(|(_, next)| next.starts_with("gpulab ")) {
            let parsed = Cli::try_parse_from(next.split(' '));
            assert!(parsed.is_ok(), "{next}: {}", parsed.unwrap_err());
        }
        for e in EXPERIMENTS {
            assert!(after(&format!("gpulab lab {}", e.name)).is_some());
        }
    }
}

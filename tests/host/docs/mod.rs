//! The pages for readers: every link leads somewhere, every command can be given and names what there is, and those that need
//! no device run.

mod command;
mod page;

use page::Page;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Commands and files that a page makes up, and says so: what a contributor would add, and mistakes.
const MADE_UP: &[&str] = &[
    "cl/dot/pairs.cl",
    ".github/workflows/counts.yml",
    "cl/scale/naive.cl",
    "gpulab dot --unroll 99",
    "gpulab scale --quick",
    "gpulab sweep --kernel dot --variant 1 --set unroll=1,2",
    "gpulab sweep --kernel scale",
    "src/commands/scale.rs",
    "src/commands/scan.rs",
    "crates/cpu/src/scale.rs",
    "crates/kernels/src/scale.rs",
];

/// Folders whose files pages name by their paths. Those of `scripts/` are commands.
const FOLDERS: [&str; 8] = [
    "benches/", "cl/", "crates/", "data/", "docs/", "src/", "tests/", ".github/",
];

/// All pages, by their paths from the root.
fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
    ]
    .map(PathBuf::from)
    .into();
    let mut folders: Vec<PathBuf> = ["docs", "data", "scripts"].map(PathBuf::from).into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(Path::new(ROOT).join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            match entry.path() {
                below if below.is_dir() => folders.push(path),
                below if below.extension().is_some_and(|ending| ending == "md") => pages.push(path),
                _ => {}
            }
        }
    }
    pages.sort();
    pages
}

/// What is wrong with a page, with what it is wrong with.
fn faults(path: &Path, text: &str) -> Vec<String> {
    let page = Page::parse(text);
    let links = page
        .links
        .iter()
        .filter_map(|link| Some((link.clone(), link_fault(path, &page, link)?)));
    let spans = page.spans.iter().filter_map(|span| command::in_line(span));
    let lines = page.lines.iter().filter_map(|line| command::in_line(line));
    let commands: BTreeSet<String> = spans
        .chain(lines)
        .filter(|line| !MADE_UP.contains(&line.as_str()))
        .collect();
    let commands = commands
        .into_iter()
        .filter_map(|line| Some((line.clone(), command::fault(&line)?)));
    let files = page
        .spans
        .iter()
        .filter(|span| !MADE_UP.contains(&span.as_str()));
    let files = files
        .filter(|span| is_missing(span))
        .map(|span| (span.clone(), "there is no such file".to_owned()));
    links
        .chain(commands)
        .chain(files)
        .map(|(what, why)| format!("{}: {what}: {why}", path.display()))
        .collect()
}

/// Why a link leads nowhere. What is on other machines is not asked.
fn link_fault(path: &Path, page: &Page, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = Path::new(ROOT).join(path.parent().unwrap()).join(file);
    if !file.is_empty() && !target.exists() {
        return Some("there is no such file".into());
    }
    let has = |page: &Page| anchor.is_empty() || page.anchors.iter().any(|known| known == anchor);
    let is_there = match file {
        "" => has(page),
        _ if anchor.is_empty() => true,
        _ => has(&Page::parse(&fs::read_to_string(target).unwrap())),
    };
    (!is_there).then(|| "there is no such heading".into())
}

/// Whether code is the path of a file in one of our folders that is not there.
fn is_missing(span: &str) -> bool {
    let is_path = FOLDERS.iter().any(|folder| span.starts_with(folder));
    let is_pattern = span.contains(['*', '<', '{', ' ', ':']) || span.contains("NAME");
    is_path && !is_pattern && !Path::new(ROOT).join(span).exists()
}

#[test]
fn every_link_and_every_command_of_the_pages_is_good() {
    if !Path::new(ROOT).join("scripts").exists() {
        println!("skipped: packages of gpulab come without scripts");
        return;
    }
    let pages = pages();
    assert!(pages.len() >= 7, "{pages:?}");
    let text = |path: &PathBuf| fs::read_to_string(Path::new(ROOT).join(path)).unwrap();
    let all: Vec<String> = pages
        .iter()
        .flat_map(|path| faults(path, &text(path)))
        .collect();
    assert_eq!(all, Vec::<String>::new(), "{}", all.join("\n"));
    let code: Vec<String> = pages
        .iter()
        .flat_map(|path| Page::parse(&text(path)).spans)
        .collect();
    for made_up in MADE_UP {
        assert!(
            code.iter().any(|span| span == made_up),
            "no page has {made_up}: take it out of MADE_UP"
        );
    }
}

/// Pages that hold what a command prints, from the line with it in a comment to the next such line, or the end.
const GENERATED: [(&str, &str); 2] = [
    ("docs/commands.md", "help --md"),
    ("docs/columns.md", "help columns --md"),
];

/// With `GPULAB_RENEW=1` the pages are renewed.
#[test]
fn the_generated_pages_are_good_and_current() {
    for (path, command) in GENERATED {
        let (printed, err, code) = crate::binary::run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 0, "{err}");
        assert_eq!(faults(Path::new(path), &printed), Vec::<String>::new());
        let file = Path::new(ROOT).join(path);
        let page = fs::read_to_string(&file).unwrap();
        let (before, rest) = page
            .split_once(&format!("<!-- gpulab {command} -->\n"))
            .unwrap();
        let (held, after) = rest.split_once("<!-- end -->\n").unwrap();
        if std::env::var_os("GPULAB_RENEW").is_some() {
            fs::write(
                &file,
                format!("{before}<!-- gpulab {command} -->\n{printed}<!-- end -->\n{after}"),
            )
            .unwrap();
            continue;
        }
        assert!(
            held == printed,
            "{path} is not what gpulab {command} prints: GPULAB_RENEW=1 cargo test renews it"
        );
    }
}

/// Each of these is wrong in one way.
const PLANTED: &[&str] = &[
    "[x](docs/none.md)",
    "[x](#nothing)",
    "[x](docs/sources.md#nothing)",
    "<img src=\"none.png\">",
    "`gpulab climb`",
    "`gpulab dot --nosuch`",
    "`gpulab dot --variant 99`",
    "`gpulab\nminplus --variant nosuch`",
    "`gpulab lab nosuch`",
    "`gpulab sweep nosuch`",
    "`gpulab sweep dot --set nosuch=1`",
    "`gpulab tune reduce --variant nosuch`",
    "`gpulab count nosuch`",
    "`gpulab explain nosuch`",
    "`gpulab explain reduce:99`",
    "`gpulab source nosuch`",
    "`gpulab source dot:3 dot:99`",
    "`gpulab list --source nosuch`",
    "`gpulab show h200 nosuch`",
    "`gpulab help nosuch`",
    "`gpulab minplus --input data/inputs/none.csv`",
    "`gpulab compare data/results/none/a.csv data/results/none/b.csv`",
    "```sh\n$ gpulab reduce -n many\n```",
    "```\nGPULAB_DEVICE=gpu gpulab transpose --nosuch | head\n```",
    "x\n\n    scripts/gpulab dot --nosuch",
    "`scripts/none`",
    "`data/results/none.csv`",
    "`cl/dot/none.cl`",
];

#[test]
fn a_planted_mistake_is_found() {
    for planted in PLANTED {
        let found = faults(Path::new("README.md"), &format!("# Page\n\n{planted}\n"));
        assert_eq!(found.len(), 1, "{planted}: {found:?}");
    }
    let good = "# Page\n\n[x](#page) [x](docs/sources.md) `gpulab lab [NAME]` `gpulab list dot` `gpulab` `cl/dot/local.cl`\n";
    assert_eq!(faults(Path::new("README.md"), good), Vec::<String>::new());
}

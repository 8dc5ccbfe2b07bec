//! `gpulab report --splice`: documents whose tables and pictures commands make.

use crate::binary::{NOWHERE, gpulab};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// What `gpulab report --splice` prints in a folder, on a machine without OpenCL, and its exit code.
fn splice(folder: &Path, args: &[&str]) -> (String, String, i32) {
    let mut command = gpulab(&[&["report", "--splice"], args].concat());
    let command = command.current_dir(folder).env("GPULAB_OPENCL_LIB", NOWHERE);
    // What the reader's terminal is like is no document's business.
    let output = command.env("COLUMNS", "50").env("LC_ALL", "C").env("GPULAB_DEVICE", "nothing").output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

/// Every file below a folder with what it holds.
fn holds(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files = gpulab::files::below(folder);
    files.sort();
    files.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

/// Marks of blocks, without those that a document shows as code.
fn marks(text: &str) -> usize {
    let apart: Vec<&str> = text.split("\n```").collect();
    let outside = apart.iter().step_by(2).flat_map(|part| part.lines());
    outside.filter(|line| line.starts_with("<!-- gpulab ")).count()
}

#[test]
fn the_repositorys_documents_have_what_their_commands_give() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut documents = vec!["README.md".to_owned()];
    for entry in fs::read_dir(root.join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        documents.extend(name.ends_with(".md").then(|| format!("docs/{name}")));
    }
    let mut args = vec!["--check"];
    args.extend(documents.iter().map(String::as_str));
    let (said, wrong, code) = splice(root, &args);
    println!("{said}");
    assert_eq!(code, 0, "{said}{wrong}");
    let blocks: usize = said.split(' ').next().unwrap().parse().unwrap();
    let marks: usize = documents.iter().map(|path| marks(&fs::read_to_string(root.join(path)).unwrap())).sum();
    assert_eq!(blocks, marks, "{said}");
    assert!(blocks > 20, "tables are pasted by hand: {said}");
    assert!(said.contains(&format!(" in {} files", documents.len())), "{said}");
}

/// README explains a table's columns below some of its lines.
#[test]
fn the_lines_that_readme_explains_are_those_of_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let explained: Vec<&str> = readme.lines().skip_while(|line| !line.starts_with("  rung")).take(4).collect();
    assert_eq!(explained.len(), 4, "README explains no lines");
    let (table, _, _) = crate::binary::run(&["-q", "show", "h200", "reduce", "--where", "n=2^28"]);
    for line in explained {
        assert!(table.lines().any(|own| own == line), "{line}: not in\n{table}");
    }
}

const DOC: &str = "# A
<!-- gpulab list banks -->
<!-- end -->
```
<!-- gpulab list -->
```
<!-- gpulab help columns --md -->
by hand
<!-- end -->
<!-- gpulab plot h200 dot --what ladder -n 2^28 -o docs/pictures/dot.svg -->
<!-- end -->
the end
";

#[test]
fn blocks_are_filled_and_stay() {
    let folder = folder(&[("docs/a.md", DOC), ("b.md", "no blocks\n")]);
    let (said, wrong, code) = splice(folder.path(), &["docs/a.md", "b.md"]);
    assert_eq!((said.as_str(), code), ("3 blocks in 2 files: 3 renewed\n", 0), "{wrong}");
    let text = fs::read_to_string(folder.path().join("docs/a.md")).unwrap();
    assert!(text.contains("<!-- gpulab list banks -->\n```text\nbanks: "), "{text}");
    assert!(text.contains("```\n<!-- gpulab list -->\n```\n"), "{text}");
    assert!(text.contains("<!-- gpulab help columns --md -->\n## results\n") && !text.contains("by hand"), "{text}");
    assert!(text.contains("\n![") && text.contains("](pictures/dot.svg)\n<!-- end -->\nthe end\n"), "{text}");
    assert!(text.contains("Bars of bandwidth (GB/s), limit"), "who does not see the picture reads what it shows");
    let widths = text.lines().skip_while(|line| !line.starts_with("banks: ")).take_while(|line| *line != "```");
    assert!(widths.map(|line| line.chars().count()).max() > Some(80), "lines of 100 characters: {text}");
    let svg = fs::read_to_string(folder.path().join("docs/pictures/dot.svg")).unwrap();
    assert!(svg.starts_with("<svg "), "{svg}");
    let before = holds(folder.path());
    assert_eq!(splice(folder.path(), &["docs/a.md"]).0, "3 blocks in 1 file: 0 renewed\n");
    let (said, _, code) = splice(folder.path(), &["--check", "docs/a.md"]);
    assert_eq!((said.as_str(), code), ("3 blocks in 1 file: all are up to date\n", 0));
    assert_eq!(holds(folder.path()), before);
}

#[test]
fn stale_blocks_are_named_and_left() {
    let folder = folder(&[("docs/a.md", DOC)]);
    let path = folder.path().join("docs/a.md");
    assert_eq!(splice(folder.path(), &["docs/a.md"]).2, 0);
    let text = fs::read_to_string(&path).unwrap().replace("| column | type |", "| column | typo |");
    fs::write(&path, &text).unwrap();
    let line = (1..).zip(text.lines()).find(|(_, line)| line.contains("typo")).unwrap().0;
    let mark = (1..).zip(text.lines()).find(|(_, line)| line.starts_with("<!-- gpulab help columns")).unwrap().0;
    let picture = folder.path().join("docs/pictures/dot.svg");
    fs::write(&picture, fs::read_to_string(&picture).unwrap() + "\n").unwrap();
    let before = holds(folder.path());
    let (said, wrong, code) = splice(folder.path(), &["--check", "docs/a.md"]);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!((lines.len(), code), (2, 1), "{said}");
    let start = format!("docs/a.md:{mark}: gpulab help columns --md: line {line} is \"| column | typo | ");
    assert!(lines[0].starts_with(&start) && lines[0].contains(", and should be \"| column | type | "), "{said}");
    assert!(lines[1].contains("docs/pictures/dot.svg is another picture"), "{said}");
    assert!(wrong.contains("2 of 3 blocks are stale: gpulab report --splice"), "{wrong}");
    assert_eq!(holds(folder.path()), before, "--check writes nothing");
    assert_eq!(splice(folder.path(), &["docs/a.md"]).0, "3 blocks in 1 file: 2 renewed\n");
    fs::remove_file(folder.path().join("docs/pictures/dot.svg")).unwrap();
    assert!(splice(folder.path(), &["--check", "docs/a.md"]).0.contains("dot.svg: No such file"));
    fs::write(&path, "no block\n").unwrap();
    let (_, wrong, code) = splice(folder.path(), &["--check", "docs/a.md"]);
    assert!(code == 2 && wrong.contains("neither a block nor a figure to check"), "{wrong}");
}

#[test]
fn what_is_wrong_is_named_by_file_and_line_and_nothing_is_written() {
    let good = "<!-- gpulab list -->\n<!-- end -->\n";
    let says = |text: &str, code: i32, what: &str| {
        let folder = folder(&[("good.md", good), ("bad.md", text)]);
        let before = holds(folder.path());
        let (said, wrong, ended) = splice(folder.path(), &["good.md", "bad.md"]);
        assert!(ended == code && wrong.replace('\n', " ").contains(what), "{text}: {ended}, {said}{wrong}");
        assert_eq!(holds(folder.path()), before, "{text}");
    };
    says("a\n<!-- gpulab list -->\n", 2, "bad.md:2: the block is not closed");
    says("<!-- gpulab list -->\n<!-- gpulab list -->\n<!-- end -->\n", 2, "bad.md:2: a block begins within");
    says("<!-- end -->\n", 2, "bad.md:1: <!-- end --> ends no block");
    let block = |command: &str| format!("\n<!-- {command} -->\n<!-- end -->\n");
    says(&block("gpulab shwo h200"), 2, "bad.md:2: gpulab shwo h200: there is no command");
    says(&block("gpulab dot"), 2, "bad.md:2: gpulab dot: it needs a device");
    says(&block("gpulab report --splice good.md"), 2, "bad.md:2: gpulab report --splice good.md: it writes documents");
    says(&block("gpulab show nothing.csv"), 1, "bad.md:2: gpulab show nothing.csv: cannot read nothing.csv");
    says(&block("gpulab plot none.csv --what ladder -o x.svg"), 1, "-o x.svg: cannot read none.csv");
    says(&block("gpulab plot h200 dot --what ladder -o good.md"), 2, "are one file: give another one");
    let twice = block("gpulab plot h200 dot --what ladder -n 2^28 -o x.svg").repeat(2);
    says(&block("gpulab plot h200 dot --what ladder -o x.pdf"), 1, "-o x.pdf: -o x.pdf: a picture is FILE.svg");
    says(&twice, 2, "plot -o x.svg and plot -o x.svg are one file");
    let folder = folder(&[("good.md", good)]);
    for (args, code) in [(&["none.md"][..], 1), (&["good.md", "./good.md"][..], 2), (&[][..], 2)] {
        assert_eq!(splice(folder.path(), args).2, code, "{args:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("good.md")).unwrap(), good);
}

#[test]
fn figures_in_prose_are_renewed_from_their_cells() {
    const CSV: &str = "rung,n,t_median_s,step_x\n1,1024,0.5,\n2,1024,0.125,4\n";
    let text = "gains <!--= results/a n=2^10 rung=2 : step_x -->3.9 times, \
                <!--= results/a : t_median_s{rung=1} / t_median_s{rung=2} * 10 -->40\n";
    let folder = folder(&[("a.md", text), ("data/results/a.csv", CSV), ("same.md", "no figure\n")]);
    let (said, wrong, code) = splice(folder.path(), &["--check", "a.md"]);
    let stale = "a.md:1: results/a n=2^10 rung=2 : step_x: the figure is 3.9, and should be 4.0\n";
    assert_eq!((said.as_str(), code), (stale, 1));
    assert!(wrong.contains("1 of 2 figures is stale"), "{wrong}");
    assert_eq!(fs::read_to_string(folder.path().join("a.md")).unwrap(), text);
    let (said, wrong, code) = splice(folder.path(), &["a.md", "same.md"]);
    assert_eq!((said.as_str(), code), ("2 figures in 2 files: 1 renewed\n", 0), "{wrong}");
    assert_eq!(fs::read_to_string(folder.path().join("a.md")).unwrap(), text.replace("3.9", "4.0"));
    for (mark, why) in [
        ("results/none : x", "data/results/none.csv: No such file"),
        ("../a : x", "a figure's file lies below data/"),
        ("results/a : step_y", "these rows have no \"step_y\""),
    ] {
        fs::write(folder.path().join("a.md"), format!("<!--= {mark} -->1\n")).unwrap();
        let (_, wrong, code) = splice(folder.path(), &["a.md"]);
        assert!(code == 2 && wrong.contains(&format!("a.md:1: {mark}: ")) && wrong.contains(why), "{wrong}");
    }
}

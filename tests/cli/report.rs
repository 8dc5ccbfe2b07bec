//! `gpulab report`, as a user runs it, on a machine without OpenCL: pages of the records that come with the program.

use crate::binary::{NOWHERE, gpulab};
use scraper::{ElementRef, Html, Selector};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Standard output, standard error and exit code; in a folder, if one is given.
fn report(args: &[&str], folder: Option<&Path>) -> (String, String, i32) {
    let mut command = gpulab(&[&["report"], args].concat());
    folder.into_iter().for_each(|folder| {
        command.current_dir(folder);
    });
    let output = command.env("GPULAB_OPENCL_LIB", NOWHERE).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (
        text(&output.stdout),
        text(&output.stderr),
        output.status.code().unwrap(),
    )
}

/// The page of these words.
fn page_of(words: &[&str]) -> Page {
    let (page, said, code) = report(&[words, &["-o", "-"]].concat(), None);
    assert_eq!((said.as_str(), code), ("", 0));
    Page::of(&page)
}

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/results");

#[test]
fn the_page_of_a_device_is_whole_small_and_on_its_own() {
    let page = page_of(&["h200"]);
    page.is_valid();
    page.needs_nothing();
    page.charts_are_told();
    assert!(page.text.len() < 3 << 20, "{} bytes", page.text.len());
    let headings = page.texts("h2").join("\n");
    let shown = page.texts("section > h2");
    assert!(
        shown.len() == 2
            && shown[0] == "What the device can do"
            && shown[1].contains("of the limits that bound them"),
        "{shown:?}"
    );
    for learned in ["May this be trusted?", "What experiments found"] {
        assert!(
            headings.contains(learned),
            "{learned:?} is not in {headings}"
        );
    }
    for family in ["reduce", "dot", "transpose", "minplus"] {
        assert!(
            page.texts("article.ladder h3")
                .iter()
                .any(|head| head.starts_with(family)),
            "{family}"
        );
    }
    assert!(
        page.texts("ol.steps li")
            .iter()
            .any(|step| step.contains("v2 to v3") && step.contains("+")),
        "no source"
    );
    let data = page.attributes("ul.files a", "href");
    assert!(
        data.len() > 30
            && data
                .iter()
                .all(|link| link.starts_with("data:application/gzip;base64,H4sI")),
        "no data"
    );
    assert!(page.texts("pre.commands")[0].contains("gpulab tune dot"));
}

#[test]
fn words_choose_what_is_on_the_page() {
    let page = page_of(&["h200", "overlap", "reduce"]);
    page.is_valid();
    assert_eq!(page.texts("article.study h3"), ["overlap"]);
    assert!(
        page.texts("article.ladder h3")
            .iter()
            .all(|head| head.starts_with("reduce"))
    );
    assert_eq!(page.texts("ul.files a"), ["overlap.csv", "reduce.csv"]);
    assert!(
        page.texts("svg > title")
            .iter()
            .any(|title| title.contains("Alone it takes 1225 us"))
    );
}

#[test]
fn without_an_output_the_page_is_in_the_current_folder_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let (out, said, code) = report(&["h200", "stride"], Some(folder.path()));
    assert!(
        out.is_empty() && code == 0 && said.contains("wrote report.html"),
        "{said}"
    );
    assert!(
        fs::read_to_string(folder.path().join("report.html"))
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
}

#[test]
fn bad_input_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let says = |args: &[&str], code: i32, what: &str| {
        let (_, said, ended) = report(args, Some(folder.path()));
        assert!(
            ended == code && said.contains(what),
            "{args:?}: {ended}, {said}"
        );
    };
    says(&["h300"], 2, "no file \"h300\"");
    says(&["h200", "nothing"], 2, "there are");
    says(&[&at("none.csv")], 1, "cannot read");
    says(&[&at("")], 2, "no CSV or JSON file in");
    fs::write(at("other.csv"), "a,b\n1,2\n").unwrap();
    says(&[&at("other.csv")], 2, "holds no results");
    says(&[&at("")], 2, "other.csv holds no results");
    let rows = at("rows.csv");
    fs::copy(Path::new(RESULTS).join("nvidia-h200/reduce.csv"), &rows).unwrap();
    says(&[&rows, "-o", &rows], 2, "is the input");
    says(&[&rows, "-o", &at("no/such/x.html")], 74, "x.html");
    assert!(
        !Path::new(&at("report.html")).exists(),
        "a page of nothing was written"
    );
}

/// What is in no cell of an honest file.
const HOSTILE: &str = "</style></title><script>alert(1)</script><img src=//evil.example/x onerror=alert(2)>\"'&lt;\u{7}\u{202e}]]>";

#[test]
fn cells_cannot_become_markup() {
    const CELLS: &str =
        "device platform driver cl_version host_cpu os command reason gpulab time_utc x_label series x_name
    ceiling unit element";
    let tainted = |file: &str, more: &[&str]| {
        let mut reader = csv::Reader::from_path(Path::new(RESULTS).join(file)).unwrap();
        let head = reader.headers().unwrap().clone();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&head).unwrap();
        for record in reader.records() {
            let record = record.unwrap();
            let cells = head.iter().zip(&record).map(|(name, cell)| {
                match CELLS.split_whitespace().any(|cell| cell == name) || more.contains(&name) {
                    true if cell != "host" => format!("{cell}{HOSTILE}"),
                    _ => cell.to_owned(),
                }
            });
            writer.write_record(cells).unwrap();
        }
        writer.into_inner().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "<b>rows&.csv",
            tainted("nvidia-h200/reduce.csv", &["variant"]),
        ),
        (
            "family.csv",
            tainted("nvidia-h200/minplus.csv", &["family"]),
        ),
        (
            "swept.csv",
            tainted("nvidia-h200/reduce_sweep.csv", &["variant", "params"]),
        ),
        (
            "points.csv",
            tainted("nvidia-h200/lab_chip.csv", &["metric"]),
        ),
        (
            "unknown.csv",
            tainted("nvidia-h200/transfer.csv", &["experiment"]),
        ),
        ("overlap.csv", tainted("nvidia-h200/overlap.csv", &[])),
        (
            "limits.csv",
            tainted("nvidia-h200/ceilings.csv", &["what", "probe"]),
        ),
        ("peers.csv", tainted("nvidia-h200/cub_sum.csv", &["peer"])),
    ];
    for (name, text) in &files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let own = folder.path().display().to_string();
    let page = page_of(&[&own]);
    page.is_valid();
    page.needs_nothing();
    page.charts_are_told();
    assert!(
        page.texts("h1")
            .iter()
            .any(|head| head.contains("<script>alert(1)</script>")),
        "the name is told as it is"
    );
    for (typed, refusal) in [
        ("params", "is no setting"),
        ("wg", "is not a work-group size"),
        ("flags", "is no flag"),
    ] {
        let file = folder.path().join(format!("{typed}.txt"));
        fs::write(&file, tainted("nvidia-h200/reduce.csv", &[typed])).unwrap();
        let (page, said, code) = report(&[&file.display().to_string(), "-o", "-"], None);
        assert!(page.is_empty() && code == 2, "{typed}: {said}");
        assert!(
            said.contains(refusal) && said.lines().count() == 1,
            "{typed}: {said}"
        );
    }
}

/// A page's text, and its elements.
struct Page {
    text: String,
    tree: Html,
}

fn selector(css: &str) -> Selector {
    Selector::parse(css).unwrap()
}

fn text(element: ElementRef<'_>) -> String {
    element.text().collect::<String>().trim().to_owned()
}

/// Elements that a page has; any other came from a cell.
const ELEMENTS: &str =
    "html head meta title style body header main nav section article figure figcaption h1 h2 h3 h4 p a b br
    code pre ins del span div ul ol li dl dt dd details summary table thead tbody tr th td svg desc text line
    rect polyline polygon circle path g tspan em strong abbr time";

/// Attributes that a page has. Only those of `a` lead anywhere.
const ATTRIBUTES: &str =
    "lang charset name content class id href download aria-labelledby aria-label tabindex scope open xmlns
    viewBox width height role font-family font-size font-weight text-anchor x y x1 y1 x2 y2 r rx cx cy points
    stroke-width stroke-dasharray stroke-linejoin stroke-linecap fill-opacity transform d dx dy opacity fill
    stroke";

impl Page {
    fn of(text: &str) -> Page {
        Page {
            text: text.to_owned(),
            tree: Html::parse_document(text),
        }
    }

    fn all(&self, css: &str) -> Vec<ElementRef<'_>> {
        self.tree.select(&selector(css)).collect()
    }

    fn texts(&self, css: &str) -> Vec<String> {
        self.all(css).into_iter().map(text).collect()
    }

    fn attributes(&self, css: &str, name: &str) -> Vec<String> {
        self.all(css)
            .into_iter()
            .filter_map(|element| element.value().attr(name))
            .map(str::to_owned)
            .collect()
    }

    /// The parser finds nothing wrong, ids are given once and found, headings step down one by one, and tables have as many
    /// cells in each row as heads.
    fn is_valid(&self) {
        assert_eq!(self.tree.errors, Vec::<String>::new());
        let ids = self.attributes("[id]", "id");
        let known: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        assert_eq!(known.len(), ids.len(), "an id is given twice");
        for named in self.attributes("[aria-labelledby]", "aria-labelledby") {
            assert!(
                named.split(' ').all(|id| known.contains(id)),
                "{named} is no id"
            );
        }
        for link in self.attributes("a[href^='#']", "href") {
            assert!(known.contains(&link[1..]), "{link} leads nowhere");
        }
        let levels: Vec<usize> = self
            .all("h1, h2, h3, h4")
            .iter()
            .map(|h| h.value().name()[1..].parse().unwrap())
            .collect();
        assert!(
            levels.first() == Some(&1) && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
            "{levels:?}"
        );
        for table in self.all("table") {
            let heads = table.select(&selector("thead th")).count();
            for row in table.select(&selector("tbody tr")) {
                assert_eq!(
                    row.select(&selector("td, th")).count(),
                    heads,
                    "{}",
                    text(row)
                );
            }
        }
        assert!(
            !self.text.chars().any(|c| c.is_control() && c != '\n'),
            "a control character"
        );
    }

    /// No script, nothing that a browser would fetch, and only elements and attributes that gpulab writes.
    fn needs_nothing(&self) {
        for element in self.all("*") {
            let name = element.value().name();
            assert!(
                ELEMENTS.split_whitespace().any(|known| known == name),
                "<{name}> is not of gpulab"
            );
            for (attribute, value) in element.value().attrs() {
                assert!(
                    ATTRIBUTES
                        .split_whitespace()
                        .any(|known| known == attribute),
                    "{attribute}={value:?} of <{name}> is not of gpulab"
                );
                let leads = attribute == "href" || value.contains("url(");
                assert!(
                    !leads || name == "a",
                    "<{name} {attribute}={value:?}> leads out"
                );
                let goes = ["javascript:", "http:", "//", "vbscript:"]
                    .iter()
                    .any(|to| value.trim().starts_with(to));
                assert!(
                    !goes || attribute == "xmlns" || attribute == "content",
                    "<{name} {attribute}={value:?}>"
                );
            }
        }
        for style in self.texts("style") {
            assert!(
                !style.contains("url(") && !style.contains("@import") && !style.contains('<'),
                "{style}"
            );
        }
    }

    /// Each chart has a title, words for those who do not see it, axes with names, and its numbers.
    fn charts_are_told(&self) {
        let charts = self.all("svg");
        assert!(
            charts.len() == self.all("figure").len(),
            "a chart stands outside of a figure"
        );
        for figure in self.all("figure") {
            let one = |css: &str| {
                let found: Vec<ElementRef<'_>> = figure.select(&selector(css)).collect();
                assert_eq!(found.len(), 1, "{css} in {}", text(figure));
                text(found[0])
            };
            let title = one("svg[role=img][aria-labelledby] > title");
            assert!(!title.is_empty(), "a chart has no title");
            assert!(one("svg > desc").len() > 20, "{title}: no words");
            one("details.numbers table");
            assert!(
                figure.select(&selector("svg > text")).count() > 2,
                "{title}: no axes"
            );
            let rows = figure.select(&selector("details.numbers tbody tr")).count();
            assert!(rows > 0, "{title}: no numbers");
        }
    }
}

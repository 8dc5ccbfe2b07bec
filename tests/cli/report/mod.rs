//! `gpulab report`, as a user runs it, on a machine without OpenCL: pages of the records that come with the program.

pub(crate) mod browser;
mod page;

use crate::binary::{NOWHERE, gpulab};
use page::Page;
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
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
}

/// The page of these words.
fn page_of(words: &[&str]) -> Page {
    let (page, said, code) = report(&[words, &["-o", "-"]].concat(), None);
    assert_eq!((said.as_str(), code), ("", 0));
    Page::of(&page)
}

/// Copies a folder of folders of files.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let own = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &own),
            false => fs::write(own, fs::read(&path).unwrap()).unwrap(),
        }
    }
}

const RESULTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/results");

#[test]
#[ignore = "long"]
fn the_page_of_a_device_is_whole_small_and_on_its_own() {
    let page = page_of(&["h200"]);
    page.is_valid();
    page.needs_nothing();
    page.charts_are_told();
    assert!(page.text.len() < 3 << 20, "{} bytes", page.text.len());
    let headings = page.texts("h2").join("\n");
    for learned in
        ["May this be trusted?", "At best it reads 4570 GB/s", "of the limits that bound them", "Memory bounds"]
    {
        assert!(headings.contains(learned), "{learned:?} is not in {headings}");
    }
    for family in ["reduce", "dot", "transpose", "minplus"] {
        assert!(page.texts("article.ladder h3").iter().any(|head| head.starts_with(family)), "{family}");
    }
    assert!(page.texts("ol.steps li").iter().any(|step| step.contains("v2 to v3") && step.contains("+")), "no source");
    let data = page.attributes("ul.files a", "href");
    assert!(
        data.len() > 30 && data.iter().all(|link| link.starts_with("data:application/gzip;base64,H4sI")),
        "no data"
    );
    assert!(page.texts("pre.commands")[0].contains("gpulab tune dot"));
}

#[test]
fn words_choose_what_is_on_the_page() {
    let page = page_of(&["h200", "overlap", "reduce"]);
    page.is_valid();
    assert_eq!(page.texts("article.study h3"), ["overlap"]);
    assert!(page.texts("article.ladder h3").iter().all(|head| head.starts_with("reduce")));
    assert_eq!(page.texts("ul.files a"), ["overlap.csv", "reduce.csv"]);
    assert!(page.texts("figcaption .title").iter().any(|title| title.contains("queues hide")));
}

#[test]
fn without_an_output_the_page_is_in_the_current_folder_and_said_so() {
    let folder = tempfile::tempdir().unwrap();
    let (out, said, code) = report(&["h200", "stride"], Some(folder.path()));
    assert!(out.is_empty() && code == 0 && said.contains("wrote report.html"), "{said}");
    assert!(fs::read_to_string(folder.path().join("report.html")).unwrap().starts_with("<!DOCTYPE html>"));
}

#[test]
fn the_same_files_give_the_same_page() {
    let page = || report(&["h200", "minplus", "-o", "-"], None).0;
    assert_eq!(page(), page());
}

#[test]
fn single_runs_are_a_strip() {
    let folder = tempfile::tempdir().unwrap();
    let rows = fs::read_to_string(Path::new(RESULTS).join("nvidia-h200/minplus.csv")).unwrap();
    let run = rows.lines().nth(1).unwrap().split(',').nth(1).unwrap();
    let mut samples = String::from("schema,run_id,family,rung,variant,dtype,n,m,wg,params,sample,event_s,wall_s\n");
    for (at, time) in ["1e-3", "1.1e-3", "1.2e-3"].iter().enumerate() {
        samples.push_str(&format!("1,{run},minplus,1,naive,f32,64,64,8x8,,{at},{time},2e-3\n"));
    }
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("rows.csv"), rows).unwrap();
    fs::write(at("samples.csv"), samples).unwrap();
    let page = page_of(&[&at("rows.csv"), &at("samples.csv")]);
    page.is_valid();
    let strip = page.texts("figcaption .title").into_iter().find(|title| title.contains("spreads most"));
    assert_eq!(strip.as_deref(), Some("v1 naive spreads most: the middle half of its runs over 9.09\u{a0}%"));
}

#[test]
fn bad_input_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let says = |args: &[&str], code: i32, what: &str| {
        let (_, said, ended) = report(args, Some(folder.path()));
        assert!(ended == code && said.contains(what), "{args:?}: {ended}, {said}");
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
    says(&[&rows, "-o", &format!("{rows}/")], 74, "rows.csv");
    assert!(!Path::new(&at("report.html")).exists(), "a page of nothing was written");
}

/// What is in no cell of an honest file.
const HOSTILE: &str =
    "</style></title><script>alert(1)</script><img src=//evil.example/x onerror=alert(2)>\"'&lt;\u{7}\u{202e}]]>";

#[test]
#[ignore = "long"]
fn cells_cannot_become_markup() {
    const CELLS: [&str; 16] = [
        "device",
        "platform",
        "driver",
        "cl_version",
        "host_cpu",
        "os",
        "command",
        "reason",
        "gpulab",
        "time_utc",
        "x_label",
        "series",
        "x_name",
        "ceiling",
        "unit",
        "element",
    ];
    let tainted = |file: &str, more: &[&str]| {
        let mut reader = csv::Reader::from_path(Path::new(RESULTS).join(file)).unwrap();
        let head = reader.headers().unwrap().clone();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&head).unwrap();
        for record in reader.records() {
            let record = record.unwrap();
            let cells =
                head.iter().zip(&record).map(|(name, cell)| match CELLS.contains(&name) || more.contains(&name) {
                    true if cell != "host" => format!("{cell}{HOSTILE}"),
                    _ => cell.to_owned(),
                });
            writer.write_record(cells).unwrap();
        }
        writer.into_inner().unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("<b>rows&.csv", tainted("nvidia-h200/reduce.csv", &["variant"])),
        ("family.csv", tainted("nvidia-h200/minplus.csv", &["family"])),
        ("swept.csv", tainted("nvidia-h200/reduce_sweep.csv", &["variant", "params"])),
        ("points.csv", tainted("nvidia-h200/lab_chip.csv", &["metric"])),
        ("unknown.csv", tainted("nvidia-h200/transfer.csv", &["experiment"])),
        ("overlap.csv", tainted("nvidia-h200/overlap.csv", &[])),
        ("limits.csv", tainted("nvidia-h200/ceilings.csv", &["what", "probe"])),
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
        page.texts("h1").iter().any(|head| head.contains("<script>alert(1)</script>")),
        "the name is told as it is"
    );
    let gallery = folder.path().join("pages");
    let (_, said, code) = report(&[&own, "-q", "-o", &format!("{}/", gallery.display())], None);
    assert_eq!((said.as_str(), code), ("", 0));
    for entry in fs::read_dir(gallery).unwrap() {
        let page = Page::of(&fs::read_to_string(entry.unwrap().path()).unwrap());
        page.is_valid();
        page.needs_nothing();
    }
    for (typed, refusal) in [("params", "is no setting"), ("wg", "is not a work-group size"), ("flags", "is no flag")] {
        let file = folder.path().join(format!("{typed}.txt"));
        fs::write(&file, tainted("nvidia-h200/reduce.csv", &[typed])).unwrap();
        let (page, said, code) = report(&[&file.display().to_string(), "-o", "-"], None);
        assert!(page.is_empty() && code == 2, "{typed}: {said}");
        assert!(said.contains(refusal) && said.lines().count() == 1, "{typed}: {said}");
    }
}

/// The files of a folder, by name.
fn listed(folder: &Path) -> BTreeSet<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn the_gallery_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root.join("docs/gallery").exists() && !root.join(".git").exists() {
        println!("skipped: packages of gpulab come without the gallery");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy(Path::new(RESULTS), &folder.path().join("data/results"));
    let (_, said, code) = report(&["data/results/**", "-o", "docs/gallery/"], Some(folder.path()));
    assert!(code == 0 && said.contains("wrote docs/gallery/"), "{said}");
    let (own, committed) = (folder.path().join("docs/gallery"), root.join("docs/gallery"));
    let renew = "rm docs/gallery/*; gpulab report data/results/** -o docs/gallery/";
    assert_eq!(listed(&own), listed(&committed), "renew it: {renew}");
    let mut bytes = 0;
    for name in listed(&own) {
        let text = fs::read_to_string(own.join(&name)).unwrap();
        bytes += text.len();
        let is_current = fs::read_to_string(committed.join(&name)).unwrap() == text;
        assert!(is_current, "docs/gallery/{name} is not current: {renew}");
        let page = Page::of(&text);
        page.is_valid();
        page.needs_nothing();
        page.charts_are_told();
        for link in page.attributes("a", "href").iter().filter(|link| !link.starts_with('#')) {
            assert!(committed.join(link).is_file(), "{name} links {link}, which is not there");
        }
    }
    assert!(bytes < 6 << 20, "{bytes} bytes");
}

#[test]
fn machines_of_the_same_name_stay_apart() {
    let at = |name: &str| Path::new(RESULTS).join(name).display().to_string();
    let page = page_of(&[&at("intel-epyc-2"), &at("intel-epyc-4")]);
    page.is_valid();
    let devices = page.texts("h2.device");
    assert!(
        devices.len() == 2 && devices[0].contains("intel-epyc-2") && devices[1].contains("intel-epyc-4"),
        "{devices:?}"
    );
    let columns = page.texts("table.matrix th[scope=col]");
    let has = |folder: &str| columns.iter().any(|head| head.contains(folder));
    assert!(has("intel-epyc-2") && has("intel-epyc-4"), "{columns:?}");
}

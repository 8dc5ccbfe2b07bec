//! A page in a real browser, where there is one: what it loads, says and looks like at several widths.

use super::report;
use std::process::Command;
use std::{env, fs};

/// Runs in a page around the page: at each width, what was fetched, what is wider than the window, which texts of charts are
/// cut or lie on each other, and which have too little contrast (WCAG 2.2, 1.4.3: 4.5 to 1).
const PROBE: &str = include_str!("probe.js");

/// The browser's name: that of GPULAB_CHROMIUM, or one that is installed.
pub(crate) fn chromium() -> Option<String> {
    let given = env::var("GPULAB_CHROMIUM").ok();
    let known = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"].map(str::to_owned);
    let answers =
        |name: &String| Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success());
    given.into_iter().chain(known).find(answers)
}

/// What the probe says of a page, and what the browser's console says.
fn probed(browser: &str, page: &str) -> (String, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let held = page.replace('&', "&amp;").replace('"', "&quot;");
    let frames: String =
        ["390", "1400"].map(|width| format!("<iframe width={width} height=900 srcdoc=\"{held}\"></iframe>")).concat();
    let around = format!("<!DOCTYPE html><title>probe</title><pre id=said></pre>{frames}<script>{PROBE}</script>");
    let path = folder.path().join("probe.html");
    fs::write(&path, around).unwrap();
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
        .args(["--virtual-time-budget=20000", "--host-resolver-rules=MAP * ~NOTFOUND"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = dom.split("<pre id=\"said\">").nth(1).and_then(|rest| rest.split("</pre>").next()).unwrap_or_default();
    let console = String::from_utf8_lossy(&output.stderr);
    (said.to_owned(), console.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect())
}

#[test]
#[ignore = "long"]
fn a_browser_shows_the_page_whole_and_fetches_nothing() {
    let Some(browser) = chromium() else {
        println!("skipped: neither chromium nor chrome is installed, and GPULAB_CHROMIUM names none");
        return;
    };
    let (page, _, _) = report(&["h200", "-o", "-"], None);
    let (said, console) = probed(&browser, &page);
    assert_eq!(said.trim(), "390: well\n1400: well");
    assert!(console.len() == 1 && console[0].contains("probed"), "{console:?}");
}

#[test]
#[ignore = "long"]
fn the_probe_sees_what_is_wrong() {
    let Some(browser) = chromium() else {
        println!("skipped: neither chromium nor chrome is installed, and GPULAB_CHROMIUM names none");
        return;
    };
    let faults = [
        ("<div style='width:500px'>x</div>", "390: wider than the window: DIV"),
        ("<img src='http://gpulab.invalid/x.png'>", "390: fetched http://gpulab.invalid/x.png"),
        ("<p style='color:#999'>pale</p>", "390: pale: contrast 2.8"),
        (
            "<figure><svg viewBox='0 0 100 20'><text x='90' y='10'>outside of it</text></svg></figure>",
            "cut: outside of it",
        ),
        (
            "<figure><svg viewBox='0 0 100 20'><text x='5' y='10'>one</text><text x='6' y='11'>two</text></svg></figure>",
            "one lies on two",
        ),
    ];
    for (fault, found) in faults {
        let page = format!("<!DOCTYPE html><html lang=en><title>x</title><body style='margin:0'>{fault}</body></html>");
        let (said, _) = probed(&browser, &page);
        assert!(said.contains(found), "{fault}: {said}");
    }
}

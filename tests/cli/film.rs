//! `gpulab film` and `gpulab draw`: what they show is what `gpulab count` counts, and the page plays in a browser.

use crate::binary::{one_in, run};
use crate::report::browser::chromium;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// Kernels with their options, and what counts the same: every rung at sizes of a film.
const FILMS: [(&str, &str, u32); 4] =
    [("reduce", "-n 2048", 8), ("dot", "-n 2048", 5), ("transpose", "-n 64", 5), ("minplus", "-n 32", 5)];

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The data of a film's page.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

/// Instructions of warps and items, floating-point operations, segments, passes and conflicts of all frames of a launch.
fn of_frames(launch: &Value) -> [u64; 6] {
    let mut sum = [0; 6];
    for step in launch["steps"].as_array().unwrap() {
        (0..3).for_each(|i| sum[i] += step[6 + i].as_u64().unwrap());
        for request in step[9].as_array().unwrap() {
            let kind = request[0].as_str().unwrap();
            if ["GlobalRead", "GlobalWrite"].contains(&kind) {
                sum[3] += request[6].as_u64().unwrap();
            }
            if ["LocalRead", "LocalWrite"].contains(&kind) {
                sum[4] += request[7].as_u64().unwrap();
                sum[5] += request[8].as_u64().unwrap();
            }
        }
    }
    sum
}

/// The same numbers of each launch, as `gpulab count` writes them.
fn counted(family: &str, rung: u32, size: &str) -> Vec<[u64; 6]> {
    let rung = rung.to_string();
    let line = [&["count", family, "--variant", &rung, "-q", "--json", "-"][..], &words(size)].concat();
    let (json, said, code) = run(&line);
    assert_eq!(code, 0, "{family}:{rung}: {said}");
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    let of = |row: &Value| {
        let sum = |names: &[&str]| names.iter().map(|name| row[name].as_u64().unwrap_or_default()).sum();
        [
            sum(&["warp_instructions"]),
            sum(&["item_instructions"]),
            sum(&["flops"]),
            sum(&["global_read_segments", "global_write_segments"]),
            sum(&["local_read_passes", "local_write_passes"]),
            sum(&["local_read_conflicts", "local_write_conflicts"]),
        ]
    };
    rows.iter().map(of).collect()
}

#[test]
fn the_frames_of_a_film_add_up_to_what_is_counted() {
    let mut tried = 0;
    for (family, size, rungs) in FILMS {
        for rung in (1..=rungs).step_by(one_in(2)) {
            let what = format!("{family}:{rung}");
            let (page, said, code) =
                run(&[&["film", &what, "-q", "--groups", "64", "-o", "-"][..], &words(size)].concat());
            assert_eq!(code, 0, "{what}: {said}");
            let film = data(&page);
            let launches = film[0]["launches"].as_array().unwrap();
            let frames: Vec<[u64; 6]> = launches.iter().map(of_frames).collect();
            assert_eq!(frames, counted(family, rung, size), "{what}");
            if what == "reduce:1" {
                let first = film[0]["pays"][0].as_str().unwrap();
                assert!(first.starts_with("interleaved.cl:30: ") && first.contains("of the lanes are busy"), "{first}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 11, "{tried}");
}

#[test]
fn a_picture_shows_the_access_that_costs_most() {
    let (drawn, said, code) = run(&["draw", "transpose:2"]);
    assert_eq!(code, 0, "{said}");
    assert!(drawn.contains("1 request in 32 passes (31 of them for bank"), "{drawn}");
    assert!(drawn.lines().all(|line| line.chars().count() <= 80), "{drawn}");
    for (line, right) in [
        ("draw reduce:2 --view mask", "% of its lanes busy"),
        ("draw reduce:2 --view phases", "after 8 barriers"),
        ("draw transpose:3 --view reach", "# work-item 0 of warp 0 touches it"),
        ("draw banks", "lab/banks/"),
        ("draw reduce:1 -o -", "<svg"),
    ] {
        let (drawn, said, code) = run(&words(line));
        assert!(code == 0 && drawn.contains(right), "{line}: {drawn}{said}");
    }
}

#[test]
fn what_cannot_be_watched_is_told() {
    for (line, why) in [
        ("draw redcue:2", "did you mean `reduce`"),
        ("draw reduce:99", "reduce has no rung"),
        ("draw reduce:2 --line 9999", "the film has lines"),
        ("draw reduce:1-3", "name one rung"),
        ("draw mine.cl", "--as reduce"),
        ("draw transfer", "no kernel to count"),
        ("draw reduce:1 -o picture.gif", "FILE.svg or FILE.png"),
        ("film a b c -o film.html", "unexpected"),
    ] {
        let (out, said, code) = run(&words(line));
        assert!(code == 2 && said.contains(why), "{line}: {code} {out}{said}");
    }
}

/// Follows a film as a reader does, by its marks, and says what it found as the page's title.
const FOLLOW: &str = r#"
<script>
addEventListener("load", () => {
  const press = id => document.getElementById(id).click();
  press("worst");
  const worst = document.querySelector(".said").textContent, bad = document.querySelector(".said.bad") !== null;
  const line = document.querySelector(".code .now").dataset.line;
  const cells = document.querySelectorAll(".film .grid span.bad").length;
  press("first");
  const before = document.getElementById("at").textContent;
  press("next");
  const after = document.getElementById("at").textContent;
  const scrub = document.getElementById("scrub");
  scrub.value = scrub.max;
  scrub.dispatchEvent(new Event("input"));
  const last = document.getElementById("at").textContent;
  dispatchEvent(new KeyboardEvent("keydown", { key: "b" }));
  const fetched = performance.getEntriesByType("resource").length;
  const wide = document.documentElement.scrollWidth > innerWidth;
  document.body.replaceChildren(JSON.stringify({ worst, bad, line, cells, before, after, last, fetched, wide, films: films.length }));
});
</script>"#;

#[test]
fn a_browser_plays_two_films_side_by_side() {
    let Some(browser) = chromium() else {
        println!("skipped: neither chromium nor chrome is installed, and GPULAB_CHROMIUM names none");
        return;
    };
    let (page, said, code) = run(&["film", "transpose:2", "transpose:3", "-q", "-o", "-"]);
    assert_eq!(code, 0, "{said}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.html");
    fs::write(&path, page.replace("</body>", &format!("{FOLLOW}</body>"))).unwrap();
    for width in ["390", "1400"] {
        let output = Command::new(&browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom"])
            .args(["--virtual-time-budget=20000", "--host-resolver-rules=MAP * ~NOTFOUND"])
            .arg(format!("--window-size={width},900"))
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("file://{}", path.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let console = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!console.contains(":CONSOLE"), "{console}");
        let body = dom.split("<body").nth(1).unwrap().split_once('>').unwrap().1.split("</body>").next().unwrap();
        let found: Value = serde_json::from_str(body.trim()).unwrap_or_else(|e| panic!("{e}: {body}"));
        assert!(found["worst"].as_str().unwrap().contains("32 passes, 31 for conflicts"), "{found}");
        assert!(found["bad"] == true && found["cells"].as_u64().unwrap() >= 32, "{found}");
        assert!(found["before"].as_str().unwrap().starts_with("1 / "), "{found}");
        assert!(found["after"].as_str().unwrap().starts_with("2 / "), "{found}");
        let (at, of) = found["last"].as_str().unwrap().split_once(" / ").unwrap();
        assert!(at == of && found["fetched"] == 0 && found["films"] == 2 && found["wide"] == false, "{found}");
    }
}

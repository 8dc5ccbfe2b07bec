//! `gpulab draw` and its films: what they show is what `gpulab count` counts, and the page plays in a browser.

use crate::binary::run;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The browser's name: that of GPULAB_CHROMIUM, or one that is installed.
fn chromium() -> Option<String> {
    let given = env::var("GPULAB_CHROMIUM").ok();
    let known = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    ]
    .map(str::to_owned);
    let answers = |name: &String| {
        Command::new(name)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    given.into_iter().chain(known).find(answers)
}

/// Families, and sizes of which a film has all groups.
const SIZES: [(&str, &str); 4] = [
    ("reduce", "-n 2048"),
    ("dot", "-n 2048"),
    ("transpose", "-n 64"),
    ("minplus", "-n 32"),
];

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

/// The same numbers of a launch, as `gpulab count` writes them.
fn of_row(row: &Value) -> [u64; 6] {
    let sum = |names: &[&str]| {
        names
            .iter()
            .map(|name| row[name].as_u64().unwrap_or_default())
            .sum()
    };
    [
        sum(&["warp_instructions"]),
        sum(&["item_instructions"]),
        sum(&["flops"]),
        sum(&["global_read_segments", "global_write_segments"]),
        sum(&["local_read_passes", "local_write_passes"]),
        sum(&["local_read_conflicts", "local_write_conflicts"]),
    ]
}

/// What `gpulab count` says of what can be counted.
fn counted(what: &str, size: &str) -> Vec<Value> {
    let (json, said, code) =
        run(&[&["count", what, "-q", "--json", "-"][..], &words(size)].concat());
    assert_eq!(code, 0, "{what}: {said}");
    let rows: Vec<Value> = serde_json::from_str(&json).unwrap();
    rows.into_iter()
        .filter(|row| row["status"] == "ok")
        .collect()
}

/// A film of all groups, and what each of its launches adds up to.
fn filmed(what: &str, size: &str) -> (Value, Vec<[u64; 6]>) {
    let (page, said, code) = run(&[
        &["draw", what, "-q", "--groups", "64", "--film", "-"][..],
        &words(size),
    ]
    .concat());
    assert_eq!(code, 0, "{what}: {said}");
    let film = data(&page)[0].take();
    let frames = film["launches"]
        .as_array()
        .unwrap()
        .iter()
        .map(of_frames)
        .collect();
    (film, frames)
}

#[test]
fn the_frames_of_a_kernels_film_add_up_to_what_is_counted() {
    for (family, rung) in [
        ("reduce", 1),
        ("reduce", 8),
        ("dot", 6),
        ("transpose", 4),
        ("minplus", 3),
    ] {
        let (_, size) = SIZES
            .into_iter()
            .find(|(known, _)| *known == family)
            .unwrap();
        let (film, frames) = filmed(&format!("{family}:{rung}"), size);
        let rows = counted(&format!("{family}:{rung}"), size);
        assert_eq!(
            frames,
            rows.iter().map(of_row).collect::<Vec<_>>(),
            "{family}:{rung}"
        );
        if rung == 1 {
            let (text, line) = (film["pays"][0][0].as_str().unwrap(), &film["pays"][0][1]);
            assert!(
                text.starts_with("interleaved.cl:21: integers are divided"),
                "{text}"
            );
            assert_eq!(line, "interleaved.cl:21");
        }
    }
    for (what, size) in [
        ("exercise:banks", SIZES[0].1),
        ("solution:transpose-banks", SIZES[2].1),
    ] {
        let rows: Vec<[u64; 6]> = counted(what, size).iter().map(of_row).collect();
        assert_eq!(filmed(what, size).1, rows, "{what}");
    }
}

/// The trial that a film of an experiment takes; of launches with more than 64 groups the totals.
#[test]
fn the_frames_of_an_experiments_film_add_up_to_what_is_counted() {
    for name in ["banks", "divergence"] {
        let (film, frames) = filmed(name, "");
        let (named, x) = film["title"].as_str().unwrap().rsplit_once(" at ").unwrap();
        let (series, x) = (
            named.strip_prefix(name).unwrap().trim(),
            x.parse::<f64>().unwrap(),
        );
        let rows = counted(name, "");
        let own = rows
            .iter()
            .filter(|row| row["series"] == series && row["x"] == x);
        let own: Vec<[u64; 6]> = own.map(of_row).collect();
        let launches = film["launches"].as_array().unwrap();
        let keys = [
            "issued",
            "executed",
            "flops",
            "segments",
            "passes",
            "conflicts",
        ];
        let totals: Vec<_> = launches
            .iter()
            .map(|one| keys.map(|key| one["total"][key].as_u64().unwrap()))
            .collect();
        assert_eq!(totals, own, "{name}");
        let all_groups = launches
            .iter()
            .all(|launch| launch["groups"].as_u64() <= Some(64));
        assert!(!all_groups || frames == own, "{name}: {frames:?}");
    }
}

#[test]
fn a_film_opens_at_the_moment_of_a_line_and_says_which_costs_most() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.html");
    let path = path.to_str().unwrap();
    let (_, said, code) = run(&[
        "draw",
        "reduce:2",
        "-n",
        "2048",
        "--line",
        "strided.cl:25",
        "--film",
        path,
    ]);
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("line 25, 8 of 32 lanes, 8 passes, 7 for bank conflicts"),
        "{said}"
    );
    assert!(said.contains("film.html#line=strided.cl:25)"), "{said}");
    assert_eq!(
        data(&fs::read_to_string(path).unwrap())[0]["opens"],
        "strided.cl:25"
    );
}

#[test]
fn a_report_leads_to_the_moment_that_shows_the_fault() {
    let (page, said, code) = run(&["report", "nvidia-h200", "reduce", "-o", "-"]);
    assert_eq!(code, 0, "{said}");
    assert!(page.contains(
        "<code>gpulab draw reduce:1 --line interleaved.cl:21 --film reduce-1.html</code>"
    ));
    assert!(
        page.contains(
            "<code>gpulab draw reduce:2 --line strided.cl:25 --film reduce-2.html</code>"
        )
    );
    let (explained, _, _) = run(&["explain", "reduce:2"]);
    assert!(
        explained.contains("gpulab draw reduce:2 --line worst --film reduce-2.html"),
        "{explained}"
    );
}

#[test]
fn a_picture_shows_the_access_that_costs_most() {
    let (drawn, said, code) = run(&["draw", "transpose:2"]);
    assert_eq!(code, 0, "{said}");
    assert!(
        drawn.contains("32 passes, 31 for bank conflicts"),
        "{drawn}"
    );
    assert!(
        drawn.lines().all(|line| line.chars().count() <= 80),
        "{drawn}"
    );
    for (line, right) in [
        ("draw reduce:2 --view mask", "% of its lanes busy"),
        (
            "draw transpose:3 --view reach",
            "in it work-item 0 of warp 0",
        ),
        ("draw reduce:2 --each 25", "turn 4 of line 25"),
        ("draw reduce:3 --view tree --data ones", "values   16"),
        ("draw reduce:3 --view tree --data ramp --wg 8", "values  28"),
        (
            "draw dot:3 --view launches",
            "launch 2  r|r|+  dot_local: 16 groups",
        ),
        (
            "draw data/examples/sort/family.toml:naive --view launches -n 16",
            "launch 1  r|w  gpulab copies the input: 1 group",
        ),
        ("draw exercise:banks", "exercise banks"),
        ("draw minplus:0 --wg 32", "group 0 (8x4 work-items)"),
        (
            "draw minplus:1 --wg 16x8 --view items --machine wave64",
            "warp 1, (0, 4)   0  1",
        ),
        (
            "draw dot:1 --wg 250 -n 1000 --view items",
            "warp 7, (224, 0)   0  1",
        ),
        ("draw reduce:1 -o -", "<svg"),
    ] {
        let (drawn, said, code) = run(&words(line));
        assert!(code == 0 && drawn.contains(right), "{line}: {drawn}{said}");
        let is_narrow = drawn.lines().all(|line| line.chars().count() <= 80);
        assert!(is_narrow || right == "<svg", "{line}: {drawn}");
    }
}

/// The values are those of runs: the results are the host's sums, and PoCL, which runs items one after another, gets the wrong one.
#[test]
fn a_race_is_filmed_in_an_order_that_wins_and_one_that_loses() {
    let (page, said, code) = run(&words("draw race:unordered --film -"));
    assert_eq!(code, 0, "{said}");
    let films = data(&page);
    let results = [0, 1].map(|film| (&films[film]["order"], &films[film]["wrong"]));
    assert_eq!(
        results,
        [
            (&json!("all work-items in step"), &Value::Null),
            (
                &json!("work-item after work-item, first to last"),
                &json!("got 20, want 59 (launched once)")
            )
        ]
    );
    let parting = &films[1]["launches"][0]["parting"];
    assert_eq!(
        parting["reads"],
        "line 10: work-item 0 of group 0 reads s[4]"
    );
    let gets = [
        "4, which work-item 4 stored in line 10",
        "2, which work-item 4 stored in line 6",
    ];
    assert_eq!(parting["gets"], json!(gets));
    // Either order executes what the other does, by other warps.
    let [step, single] = [0, 1].map(|film| films[film]["launches"][0]["total"]["executed"].clone());
    assert_eq!(step, single);
    let (page, said, _) = run(&words("draw race:ordered --film -"));
    let verdict = "5 of 5 orders of a group's work-items finished: the result is right in each";
    assert!(said.contains(verdict), "{said}");
    assert_eq!(data(&page).as_array().map(Vec::len), Some(1));
}

/// A family of one kernel in a folder of its own, filmed: the page, and what is said beside it.
fn film_of(body: &str, right: &str) -> (String, String) {
    let folder = tempfile::tempdir().unwrap();
    let kernel = |more: &str, body: &str| {
        format!("__kernel void k(__global const int *x, __global int *out{more}) {{ {body} }}")
    };
    let family = r#"
        name = "mine"
        n = 64
        multiple = 32
        wg = 32
        check = "kernel: right.cl"
        [[rung]]
        kernel = "k.cl"
        items = "n"
        args = ["int x[n] below 10", "out int out[n]"]"#;
    let own = format!("int i = get_local_id(0), g = get_global_id(0); {body}");
    let files = [
        ("k.cl", kernel("", &own)),
        ("right.cl", kernel(", const INDEX n", right)),
        ("family.toml", family.to_owned()),
    ];
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    let file = folder.path().join("family.toml:1").display().to_string();
    let (page, said, code) = run(&["draw", &file, "--film", "-"]);
    assert_eq!(code, 0, "{said}");
    (page, words(&said).join(" "))
}

#[test]
fn an_order_in_which_a_kernel_hangs_is_named_and_the_next_ones_are_tried() {
    let body = "__local volatile int flag; if (i == 0) flag = 0; barrier(CLK_LOCAL_MEM_FENCE); if (i == 0) flag = 1;\
                if (i == 31) while (flag == 0); out[g] = x[g];";
    let (page, said) = film_of(body, "for (int i = 0; i < 64; i++) out[i] = x[i];");
    let stop = "work-item after work-item, last to first: while running a case's kernels once";
    assert!(
        said.contains(stop) && said.contains("4 of 5 orders"),
        "{said}"
    );
    assert_eq!(data(&page).as_array().map(Vec::len), Some(1));
}

#[test]
fn of_a_vector_the_element_that_differs_is_named_and_of_a_copy_the_group() {
    let body = "__local int s[256]; event_t e = async_work_group_copy(s, x, 32, 0); wait_group_events(1, &e);\
                vstore8((int8)(g + 1), i, s); out[g] = vload8((i + 1) % 32, s).s7;";
    let right = "for (int g = 0; g < 64; g++) out[g] = g / 32 * 32 + (g + 1) % 32 + 1;";
    let (page, _) = film_of(body, right);
    let parting = &data(&page)[1]["launches"][0]["parting"];
    let reads = parting["reads"].as_str().unwrap();
    assert!(
        reads.ends_with("work-item 0 of group 0 reads s[8]"),
        "{parting}"
    );
    assert_eq!(parting["gets"][0], "2, which work-item 1 stored in line 1");
    let copied = parting["gets"][1].as_str().unwrap();
    assert!(
        copied.ends_with(", which the copy of the group stored"),
        "{parting}"
    );
}

/// What each picture of the page must show.
const PICTURES: &str = include_str!("pictures.txt");

#[test]
fn each_picture_of_the_sources_page_shows_what_its_row_is_about() {
    let mut wanted: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in PICTURES.split("\ngpulab ").skip(1) {
        let (command, lines) = entry.split_once('\n').unwrap();
        wanted.insert(command, lines.lines().map(str::trim).collect());
    }
    let page = include_str!("../../docs/sources.md").split('`');
    let commands: BTreeSet<&str> = page
        .filter_map(|code| code.strip_prefix("gpulab "))
        .filter(|command| command.starts_with("draw "))
        .collect();
    for command in commands {
        let lines = wanted.remove(command);
        let lines = lines.unwrap_or_else(|| panic!("{command}: is not in pictures.txt"));
        let args = words(command);
        let to = args.iter().position(|arg| ["--film", "-o"].contains(arg));
        let mut args: Vec<&str> = args[..to.map_or(args.len(), |to| to + 1)].to_vec();
        args.extend(to.map(|_| "-"));
        let (drawn, said, code) = run(&args);
        let drawn = words(&drawn).join(" ");
        assert!(code == 0 && !lines.is_empty(), "{command}: {said}");
        for line in lines {
            assert!(drawn.contains(line), "{command} lacks {line}: {drawn}");
        }
    }
    assert!(wanted.is_empty(), "not on the page: {wanted:?}");
}

#[test]
fn what_cannot_be_watched_is_told() {
    for (line, why) in [
        ("draw redcue:2", "did you mean `reduce`"),
        ("draw nothing", "race"),
        ("draw", "as in gpulab draw dot:1"),
        ("exercise predict", "as in gpulab exercise predict dot:2"),
        ("draw reduce:99", "reduce has no rung"),
        ("draw reduce:2 --line 9999", "the film has lines"),
        ("draw reduce:1-3", "name one rung"),
        ("draw reduce:2 --each 9999", "nothing happens there"),
        ("draw reduce:2 --view tree --wg 32", "--wg 16 has fewer"),
        ("draw reduce:2 --data twos", "give ones, ramp or small"),
        ("draw mine.cl", "--as reduce"),
        ("draw reduce:3 --view units", "--machine gtx280 has 30"),
        ("draw transfer", "no kernel to count"),
        ("draw reduce:2 -n 1M", "-n 16384 shows the same"),
        (
            "draw minplus:2 -n 1000 --film film.html",
            "-n 64 shows the same",
        ),
        ("draw reduce:1 -o picture.gif", "a picture is FILE.svg"),
        ("draw a b c --film film.html", "unexpected"),
        (
            "draw reduce:2 --line 9999 --film film.html",
            "no step is of this line",
        ),
        ("draw reduce:2 --line best --film film.html", "or worst"),
        ("draw solution:bnaks", "did you mean `banks`"),
    ] {
        let (out, said, code) = run(&words(line));
        assert!(
            code == 2 && said.contains(why),
            "{line}: {code} {out}{said}"
        );
    }
}

/// Made by the commands that their index names; with `GPULAB_RENEW=1` they are made anew.
#[test]
fn the_films_that_are_shown_are_what_their_commands_make() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures");
    let index = fs::read_to_string(folder.join("index.html")).unwrap();
    let mut made = 0;
    for code in index.split("<code>gpulab ").skip(1) {
        let (command, _) = code.split_once("</code>").unwrap();
        let Some((line, file)) = command.split_once(" --film ") else {
            continue;
        };
        let (page, said, code) = run(&words(&format!("{line} -q --film -")));
        assert!(code == 0 && page.len() < 120_000, "{command}: {said}");
        let path = folder.join(file);
        if env::var_os("GPULAB_RENEW").is_some() {
            fs::write(&path, &page).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap() == page,
            "{command} makes another film: GPULAB_RENEW=1 cargo test --test cli films_that_are_shown"
        );
        made += 1;
    }
    assert_eq!(made, 6);
}

/// Follows a film as a reader does, by its marks, and says what it found as the page's title.
const FOLLOW: &str = r##"
<script>
addEventListener("load", () => {
  const press = id => document.getElementById(id).click();
  const opened = document.querySelector(".film .grid") !== null;
  press("worst");
  const worst = document.querySelector(".said").textContent, bad = document.querySelector(".said.bad") !== null;
  const line = document.querySelector(".code .now").dataset.line;
  history.replaceState(null, "", "#line=strided.cl:20");
  fromLink();
  const linked = document.querySelector(".code .now").dataset.line;
  scrub.focus();
  scrub.dispatchEvent(new KeyboardEvent("keydown", { key: "w", bubbles: true }));
  const cells = document.querySelectorAll(".film .grid span.bad").length;
  const met = [...document.querySelectorAll(".film > .dim")].map(one => one.textContent.split(", ").pop()).filter(one => one.endsWith("met"));
  const below = document.querySelector(".film .grid").getBoundingClientRect().bottom > innerHeight;
  let sheets = 0;
  window.print = () => sheets = document.querySelectorAll(".sheet").length;
  press("frames");
  dispatchEvent(new Event("afterprint"));
  press("first");
  const before = document.getElementById("at").textContent;
  press("next");
  const after = document.getElementById("at").textContent;
  scrub.value = scrub.max;
  scrub.dispatchEvent(new Event("input"));
  const last = document.getElementById("at").textContent;
  dispatchEvent(new KeyboardEvent("keydown", { key: "b" }));
  const fetched = performance.getEntriesByType("resource").length;
  const wide = document.documentElement.scrollWidth > innerWidth;
  press("worst");
  const light = color => color.match(/[\d.]+/g).slice(0, 3).map(part => part / 255)
    .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = one => {
    const color = getComputedStyle(one).backgroundColor;
    return /, 0\)$/.test(color) && one.parentElement ? behind(one.parentElement) : color;
  };
  const faint = [...document.querySelectorAll("body *:not(script)")].filter(one => {
    if (![...one.childNodes].some(part => part.nodeType === 3 && part.data.trim())) return false;
    const [a, b] = [light(getComputedStyle(one).color), light(behind(one))];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5;
  }).length;
  const named = "button, input, select, [role=img], [role=region], [role=list], [role=toolbar]";
  const unnamed = [...document.querySelectorAll(named)].filter(one =>
    !one.getAttribute("aria-label") && !one.textContent.trim()).length;
  const orders = new Set(Array.from({ length: 64 }, () => {
    drawn.forEach((_, group) => drawn.set(group, Math.random()));
    return groups().join(" ");
  }));
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  document.body.replaceChildren(JSON.stringify({ met, opened, orders: [...orders].sort(), below, sheets, faint, unnamed, dark, worst, bad, line, linked, cells, before, after, last, fetched, wide, films: films.length }));
});
</script>"##;

const SKIPPED: &str =
    "skipped: neither chromium nor chrome is installed, and GPULAB_CHROMIUM names none";

/// What a script at the end of a page leaves as its body in a browser, which has nothing to fetch and nothing to complain of. Of
/// colour schemes, 0 is dark and 1 is light.
fn browsed(browser: &str, page: &str, script: &str, size: &str, scheme: &str) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.html");
    fs::write(&path, page.replace("</body>", &format!("{script}</body>"))).unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .args([
            "--virtual-time-budget=20000",
            "--host-resolver-rules=MAP * ~NOTFOUND",
        ])
        .arg(format!("--window-size={size}"))
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!(
            "--user-data-dir={}",
            folder.path().join("profile").display()
        ))
        .arg(format!("file://{}", path.display()))
        .output()
        .unwrap();
    let console = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!console.contains(":CONSOLE"), "{console}");
    let dom = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, body) = dom.split_once("<body").unwrap().1.split_once('>').unwrap();
    let body = body.split("</body>").next().unwrap().trim();
    serde_json::from_str(body).unwrap_or_else(|e| panic!("{e}: {body}"))
}

/// The page of a device with many records is one that a reader scrolls through on a telephone.
#[test]
fn a_browser_shows_a_devices_page_on_a_telephone() {
    const MEASURE: &str = r#"<script>addEventListener("load", () => {
  const { scrollHeight, scrollWidth } = document.documentElement;
  const fetched = performance.getEntriesByType("resource").length;
  document.body.textContent = JSON.stringify({ high: scrollHeight, wide: scrollWidth > innerWidth, fetched });
});</script>"#;
    let Some(browser) = chromium() else {
        println!("{SKIPPED}");
        return;
    };
    let (page, _, code) = run(&["report", "nvidia-h200", "-o", "-"]);
    assert_eq!(code, 0);
    let found = browsed(&browser, &page, MEASURE, "390,844", "1");
    assert!(found["high"].as_u64() < Some(6000), "{found}");
    assert!(found["wide"] == false && found["fetched"] == 0, "{found}");
}

#[test]
fn a_browser_plays_two_films_side_by_side() {
    let Some(browser) = chromium() else {
        println!("{SKIPPED}");
        return;
    };
    let (page, said, code) = run(&["draw", "reduce:2", "reduce:3", "-q", "--film", "-"]);
    assert_eq!(code, 0, "{said}");
    for (size, scheme) in [("390,844", "1"), ("1024,768", "1"), ("1400,900", "0")] {
        let found = browsed(&browser, &page, FOLLOW, size, scheme);
        assert!(
            found["worst"]
                .as_str()
                .unwrap()
                .contains("8 passes, 7 for conflicts"),
            "{found}"
        );
        assert!(
            found["dark"] == (scheme == "0") && found["faint"] == 0 && found["unnamed"] == 0,
            "{found}"
        );
        assert_eq!(found["orders"], json!(["0 1", "1 0"]));
        assert!(found["line"] == "25" && found["linked"] == "20", "{found}");
        // Both stand at the same barrier; a page is printed for each.
        assert_eq!(
            found["met"],
            json!(["5 of 8 barriers met", "5 of 8 barriers met"])
        );
        assert!(
            found["below"] == false && found["opened"] == true && found["sheets"] == 9,
            "{found}"
        );
        assert!(found["bad"] == true && found["cells"] == 16, "{found}");
        assert!(
            found["before"].as_str().unwrap().starts_with("1 / "),
            "{found}"
        );
        assert!(
            found["after"].as_str().unwrap().starts_with("2 / "),
            "{found}"
        );
        let (at, of) = found["last"].as_str().unwrap().split_once(" / ").unwrap();
        assert!(
            at == of && found["fetched"] == 0 && found["films"] == 2 && found["wide"] == false,
            "{found}"
        );
    }
}

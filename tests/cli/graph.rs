//! `gpulab minplus --input` through the binary.

use crate::binary::NOWHERE;
use crate::sources::edited_kernels;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Standard output, standard error and exit code.
fn run(args: &[&str]) -> (String, String, i32) {
    crate::binary::run(&[&["minplus"], args].concat())
}

/// The table of a file of this text.
fn table(csv: &str, args: &[&str]) -> (String, String, i32) {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("graph.csv");
    fs::write(&path, csv).unwrap();
    run(&[&["--input", path.to_str().unwrap()], args].concat())
}

const CHAIN: &str = "from,to,weight\na,b,1\nb,c,2\nc,d,3.5\na,c,9\na,a,0\na,b,4\n";

#[test]
fn one_stop_is_the_default() {
    let (out, err, code) = table(CHAIN, &[]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        out,
        "from,to,distance\na,b,1\na,c,3\na,d,12.5\nb,c,2\nb,d,5.5\nc,d,3.5\n"
    );
    for part in [
        "csv: a list of 6 edges between 4 nodes, f32",
        "duplicate edges: 1",
        "itself: 1",
        "minplus/",
        "s of kernels",
        "checked on the CPU: all rows",
        "path: 6, without: 6",
    ] {
        assert!(err.contains(part), "{part:?} is missing in {err}");
    }
    let (_, err, _) = table(CHAIN, &["-q"]);
    assert!(err.is_empty(), "{err}");
}

#[test]
fn the_closure_and_its_paths() {
    let (out, err, code) = table(CHAIN, &["--closure", "--paths", "--dtype", "f64"]);
    // Devices without fp64 say so.
    if code == 2 && err.contains("fp64") {
        return;
    }
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        out,
        "from,to,distance,next\na,b,1,b\na,c,3,b\na,d,6.5,b\nb,c,2,c\nb,d,5.5,c\nc,d,3.5,d\n"
    );
    let (out, err, code) = table(
        CHAIN,
        &[
            "--closure",
            "--from",
            "d",
            "--undirected",
            "--to",
            "a",
            "--to",
            "c",
        ],
    );
    assert_eq!(
        (out.as_str(), code),
        ("from,to,distance\nd,a,6.5\nd,c,3.5\n", 0),
        "{err}"
    );
}

#[test]
fn every_variant_and_type_gives_the_same_distances() {
    let csv = "from,to,weight\nx,y,3\ny,z,-2\nz,w,5\nw,x,1\nx,z,2\n";
    let (want, err, code) = table(csv, &["--closure"]);
    assert_eq!(code, 0, "{err}");
    assert!(want.contains("x,z,1\n"), "{want}");
    let natural = csv.replace("-2", "2");
    let (wanted, ..) = table(&natural, &["--closure"]);
    // Compilers take long: signs of one type, and none of the other.
    for rung in &*gpulab::kernels::closure::FAMILY.ladder {
        for (dtype, csv, want) in [("f32", csv, &want), ("i32", &natural, &wanted)] {
            let args = ["--closure", "--variant", rung.variant(), "--dtype", dtype];
            let (out, err, code) = table(csv, &args);
            assert!(
                out == *want || (code == 2 && out.is_empty()),
                "{args:?}: {out}{err}"
            );
        }
    }
}

#[test]
fn every_format_of_a_graph_gives_the_same_distances() {
    const EDGES: [(&str, &str, &str); 4] = [
        ("1", "2", "2.5"),
        ("2", "3", "11.099"),
        ("1", "4", "20"),
        ("3", "4", "5"),
    ];
    let lines = |format: &dyn Fn(&str, &str, &str) -> String| -> String {
        EDGES
            .iter()
            .map(|&(from, to, weight)| format(from, to, weight) + "\n")
            .collect()
    };
    let market = "%%MatrixMarket matrix coordinate real symmetric\n";
    let tabs = lines(&|from, to, weight| format!("{from}\t{to}\t{weight}"));
    let files = [
        (
            "g.csv",
            format!(
                "from,to,weight\n{}",
                lines(&|from, to, weight| format!("{from},{to},{weight}"))
            ),
            "a list of 4",
        ),
        ("snap.txt", format!("# From To\n{tabs}"), "a list of 4"),
        (
            "g.mtx",
            format!(
                "{market}4 4 4\n{}",
                lines(&|from, to, w| format!("{to} {from} {w}"))
            ),
            "Matrix Market, 4",
        ),
    ];
    let dir = TempDir::new().unwrap();
    let distances = |name: &str, bytes: &[u8], kind: &str| {
        let path = dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let (out, err, code) = run(&[
            "--input",
            path.to_str().unwrap(),
            "--closure",
            "--undirected",
        ]);
        assert!(
            code == 0 && err.contains(&format!("{name}: {kind} edges between 4 nodes")),
            "{name}: {err}"
        );
        assert!(!err.contains("duplicate"), "{name}: {err}");
        let mut lines: Vec<String> = out.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    let want = distances(files[0].0, files[0].1.as_bytes(), files[0].2);
    assert!(want.contains(&"1,4,18.599".to_owned()), "{want:?}");
    for (name, text, kind) in &files {
        assert_eq!(distances(name, text.as_bytes(), kind), want, "{name}");
    }
    let (out, err, code) = table("from,to\na,b\n", &[]);
    assert!(
        code == 0
            && out.ends_with("\na,b,1\n")
            && err.contains("no weights: each edge has weight 1"),
        "{out}{err}"
    );
}

#[test]
fn what_is_wrong_with_a_graph_is_one_line_and_exit_code_2() {
    let cases: &[(&str, &[&str], &str)] = &[
        ("", &[], "empty"),
        ("from,to,weight\n", &[], "no edges"),
        ("from,to,cost\na,b,1\n", &[], "no column 'weight'"),
        (
            "# c\np sp 999999999999 3\n",
            &[],
            "line 2 has 4 columns: name them in a first line",
        ),
        (
            "%%MatrixMarket matrix coordinate real general\n999999999999 999999999999 3\n",
            &[],
            "line 2 announces 999999999999 nodes",
        ),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 9\n1 2 3\n",
            &[],
            "line 2 announces 9 edges, and the file has 1",
        ),
        (
            "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 5\n",
            &[],
            "line 3: nodes are numbers from 1 to 2",
        ),
        (
            "from,source,to,weight\na,b,c,1\n",
            &[],
            "keep one of 1 'from', 2 'source'",
        ),
        (
            "from,to,weight\na,b,x\n",
            &[],
            "line 2: 'x' is not a number",
        ),
        ("from,to,weight\na,b,1\nb,c\n", &[], "line 3 has 2 cells"),
        ("from,to,weight\na,b,nan\n", &[], "line 2: NaN"),
        ("from,to,weight\na,b,-inf\n", &[], "line 2: minus infinity"),
        (
            "from,to,weight\na,b,268435456\n",
            &["--dtype", "i32"],
            "2^28",
        ),
        (
            "from,to,weight\na,b,0.5\n",
            &["--dtype", "i32"],
            "choose another --dtype",
        ),
        (
            "from,to,weight\nLisbon,Madrid,1\n",
            &["--from", "Lissbon"],
            "did you mean `Lisbon`?",
        ),
        ("from,to,weight\na,b,-1\nb,a,0.5\n", &["--closure"], "-> "),
        (
            "from,to,weight\na,a,-1\n",
            &["--closure"],
            "a -> a has length -1",
        ),
        (
            "from,to,weight\na,b,-2e8\nb,c,-2e8\nc,a,-2e8\n",
            &["--closure", "--dtype", "i32"],
            "has length -600000000",
        ),
        (
            "from,to,weight\na,b,200000000\nb,c,200000000\n",
            &["--closure", "--dtype", "i32"],
            "--dtype f64",
        ),
        (
            "from,to,weight\na,b,1e38\nb,c,1e38\n",
            &["--closure"],
            "the distance from a to c has become 2e38, too large to be added to",
        ),
        (CHAIN, &["--dtype", "i64"], "i64"),
        (CHAIN, &["--variant", "0-1"], "one rung"),
        (CHAIN, &["--variant", "99"], "no rung"),
        (CHAIN, &["--cl-dir", NOWHERE], "nowhere"),
        (CHAIN, &["--paths"], "--closure"),
        (
            CHAIN,
            &["--closure", "--paths", "-o", "d.npy"],
            "--paths adds a column",
        ),
        (
            CHAIN,
            &["-o", "d.npz"],
            ".npz is not written; end the name in .csv or .npy",
        ),
        (CHAIN, &["--closure", "--variant", "three_way"], "no rung"),
        (CHAIN, &["--n", "100"], "--n"),
        (CHAIN, &["--csv", "-"], "--csv"),
        (CHAIN, &["--quick"], "--quick"),
        (CHAIN, &["--wg", "64"], "--wg"),
        (CHAIN, &["--tile", "64x64"], "--tile"),
    ];
    for (csv, args, word) in cases {
        let (out, err, code) = table(csv, &[&["-q"], *args].concat());
        assert_eq!(code, 2, "{csv:?} {args:?}: {err}");
        assert!(
            err.contains(word),
            "{csv:?} {args:?}: {word:?} is missing in {err}"
        );
        assert!(
            out.is_empty() && !err.contains("panicked"),
            "{csv:?} {args:?}: {out}{err}"
        );
    }
    for (args, word) in [
        (vec!["--closure"], "--input"),
        (vec!["--input", NOWHERE], "nowhere"),
    ] {
        let (_, err, code) = run(&args);
        assert!(code == 2 && err.contains(word), "{args:?}: {err}");
    }
}

#[test]
fn more_nodes_than_memory_are_refused_before_anything_is_made() {
    let edges: String = (0..400_000).map(|i| format!("{i},{},1\n", i + 1)).collect();
    let (_, err, code) = table(&format!("from,to,weight\n{edges}"), &["-q"]);
    assert!(code == 2 && err.contains("400001 nodes need"), "{err}");
}

#[test]
fn a_wrong_kernel_is_exit_code_4_and_writes_nothing() {
    let kernels = edited_kernels("minplus/naive.cl", "k < n;", "k + 1 < n;");
    let dir = kernels.path().to_str().unwrap();
    let (out, err, code) = table(CHAIN, &["--variant", "naive", "--cl-dir", dir]);
    assert_eq!(code, 4, "{err}");
    assert!(
        out.is_empty() && err.contains("the distance from d to d is"),
        "{out}{err}"
    );
}

#[test]
fn distances_that_no_path_has_are_exit_code_4() {
    let chain: String = (0..40).map(|i| format!("{i},{},1.5\n", i + 1)).collect();
    // Launch k comes too early or not at all, and a sum is not that of two parts.
    for (old, new) in [
        ("i != k", "i != k && k != 20"),
        (
            "+ d[k * n + j]",
            "+ d[k * n + j] * (k == 7 ? 1.001f : 1.0f)",
        ),
    ] {
        let kernels = edited_kernels("closure/textbook.cl", old, new);
        let args = [
            "--closure",
            "--variant",
            "textbook",
            "--cl-dir",
            kernels.path().to_str().unwrap(),
        ];
        let (out, err, code) = table(&format!("from,to,weight\n{chain}"), &args);
        assert!(
            code == 4 && out.is_empty() && err.contains("the distance from 0 to "),
            "{out}{err}"
        );
    }
}

#[test]
fn a_matrix_for_numpy_is_a_graph_again() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("d.npy");
    let path = path.to_str().unwrap();
    let (out, err, code) = table(CHAIN, &["--closure", "-o", path]);
    assert!(
        code == 0 && out.is_empty() && err.contains("path: 6, without: 6"),
        "{out}{err}"
    );
    // What gpulab wrote it replaces; a list of edges, which may be the reader's, is left alone.
    let edges = dir.path().join("trips.csv");
    let edges = edges.to_str().unwrap();
    fs::write(edges, "from,to,distance\na,b,3\n").unwrap();
    assert_eq!(table(CHAIN, &["--closure", "-o", edges]).2, 2);
    assert_eq!(
        fs::read_to_string(edges).unwrap(),
        "from,to,distance\na,b,3\n"
    );
    assert_eq!(table(CHAIN, &["--closure", "-o", path]).2, 0);
    let (out, err, code) = run(&["--input", path, "--from", "0"]);
    assert_eq!(
        (out.as_str(), code),
        ("from,to,distance\n0,1,1\n0,2,3\n0,3,6.5\n", 0),
        "{err}"
    );
}

#[test]
fn a_run_that_fails_leaves_the_output_as_it_was() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("out.csv");
    let args = ["-o", path.to_str().unwrap()];
    for csv in ["from,to,weight\na,b,x\n", "from,to,weight\na,a,-1\n"] {
        let (_, err, code) = table(csv, &[&["--closure"], &args[..]].concat());
        assert!(code == 2 && !path.exists(), "{csv:?}: {err}");
    }
    for old in ["", "old\n"] {
        fs::write(&path, old).unwrap();
        assert_eq!(table("from,to,weight\na,b,x\n", &args).2, 2);
        assert_eq!(fs::read_to_string(&path).unwrap(), old);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_code_74() {
    assert_eq!(table(CHAIN, &["-o", "/dev/full"]).2, 74);
}

#[test]
fn names_with_line_breaks_are_quoted() {
    let (out, err, code) = table("from,to,weight\n\"two\nlines\",b,2\n", &[]);
    assert_eq!(
        (out.as_str(), code),
        ("from,to,distance\n\"two\nlines\",b,2\n", 0),
        "{err}"
    );
}

#[test]
fn an_interrupt_ends_it_at_once_and_leaves_no_file() {
    use rustix::process::{Pid, Signal, kill_process};
    let dir = TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    // A cycle of so many nodes takes seconds on many processors, too.
    let edges: String = (0..6000)
        .map(|node| format!("{node},{},1\n", (node + 1) % 6000))
        .collect();
    fs::write(path("graph.csv"), format!("from,to,weight\n{edges}")).unwrap();
    let mut command = std::process::Command::new(crate::binary::gpulab(&[]).get_program());
    command.args([
        "minplus",
        "--input",
        &path("graph.csv"),
        "--closure",
        "-o",
        &path("out.csv"),
    ]);
    let child = command
        .env_remove("GPULAB_DEVICE")
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{log}");
    assert!(log.ends_with("gpulab: interrupted\n"), "{log}");
    assert!(!Path::new(&path("out.csv")).exists());
}

#[test]
fn a_pivot_that_shortens_once_is_seen_among_weights_of_either_sign() {
    let wrong = edited_kernels(
        "closure/pivot.cl",
        "mine[i * SIDE * pitch + j * SIDE] = best[i][j];",
        "mine[i * SIDE * pitch + j * SIDE] = best[i][j] - (first && get_local_id(0) == 1 && i + j == 0 ? 40 : 0);",
    );
    let draw = |at: u64| gpulab::data::draw(5, at);
    for (unit, proved) in [
        (1.0, "to all nodes, exactly"),
        (0.37, "to all nodes, each to within "),
    ] {
        let edge = |at: u64| {
            let (length, to) = (
                unit * (1 + draw(2 * at) % 1000) as f64,
                (at + 1 + draw(2 * at + 1) % 598) % 600,
            );
            format!(
                "{},{to},{}\n",
                at % 600,
                if at == 7 { -1.0 } else { length }
            )
        };
        let graph = "from,to,weight\n".to_owned() + &(0..3000).map(edge).collect::<String>();
        let args = ["--closure", "--variant", "blocked", "--to", "1"];
        let (_, err, code) = table(&graph, &args);
        assert!(code == 0 && err.contains(proved), "{unit}: {code} {err}");
        let (_, err, code) = table(
            &graph,
            &[&args[..], &["--cl-dir", wrong.path().to_str().unwrap()]].concat(),
        );
        assert!(
            code == 4 && err.contains("the device's result is wrong"),
            "{unit}: {code} {err}"
        );
    }
}

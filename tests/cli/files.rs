//! Outputs replace nothing that a command reads and nothing that gpulab did not write; what is ended leaves nothing behind.

use crate::binary::gpulab;
use clap::CommandFactory;
use gpulab::cli::Cli;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Each option that names an output: a command line with one file of each kind that it reads, and how its files begin.
/// `{}` is the output's path; the words before `->` are the command and the option's name in the parser.
#[rustfmt::skip]
const OUTPUTS: &[&str] = &[
    "dot csv -> dot -n 99 --csv {}",
    "dot json -> dot --input e.f32 --input2 e.f32 --json {}",
    "dot md -> dot --input e.f32 --md {}",
    "dot samples -> dot --cl-dir cl --samples {}",
    "reduce csv -> reduce --input e.f32 --csv {}",
    "reduce json -> reduce --input e.f32 --json {}",
    "reduce md -> reduce --input e.f32 --md {}",
    "reduce samples -> reduce --input e.f32 --samples {}",
    "transpose csv -> transpose --cl-dir cl --csv {}",
    "transpose json -> transpose --cl-dir cl --json {}",
    "transpose md -> transpose --cl-dir cl --md {}",
    "transpose samples -> transpose --cl-dir cl --samples {}",
    "minplus csv -> minplus --cl-dir cl --csv {}",
    "minplus json -> minplus --cl-dir cl --json {}",
    "minplus md -> minplus --cl-dir cl --md {}",
    "minplus samples -> minplus --cl-dir cl --samples {}",
    "minplus output -> minplus --input edges.csv -o {}",
    "try csv -> try own.cl --as reduce --csv {}",
    "try json -> try own.cl --as reduce --json {}",
    "try md -> try own.cl --as reduce --md {}",
    "try samples -> try own.cl --as reduce --samples {}",
    "ceiling csv -> ceiling --cl-dir cl --csv {}",
    "ceiling json -> ceiling --cl-dir cl --json {}",
    "lab csv -> lab stride --cl-dir cl --csv {}",
    "lab json -> lab stride --cl-dir cl --json {}",
    "count csv -> count mine/family.toml --csv {}",
    "count json -> count reduce --own own.cl --json {}",
    "sweep output -> sweep mine/family.toml --own own.cl -o {}",
    "tune csv -> tune mine/family.toml --csv {}",
    "tune json -> tune reduce --own own.cl --json {}",
    "plot output -> plot rows.csv --what ladder -o {}",
    "report output -> report rows.csv points.csv -o {}",
    "sheet output -> exercise sheet banks -o {}",
    "draw output -> draw own.cl --as reduce -o {}",
    "draw film -> draw own.cl --as reduce --film {}",
    "compare csv -> compare rows.csv,copy.csv copy.csv --csv {}",
    "compare json -> compare rows.csv copy.csv --json {}",
    "devices json -> devices --json {}",
    "time csv -> time --csv {} -- ./p own.cl",
    "time json -> time --json {} -- ./p own.cl",
    "time output -> time --keep k -o {} -- ./p own.cl",
    "try output -> try --keep k -o {} -- ./p own.cl",
    "check json -> exercise check strides strides.cl --json {}",
    "check md -> check own.cl --md {}",
    "check sarif -> check own.cl --sarif {}",
    "check junit -> check own.cl --junit {}",
];

/// Options and arguments that name what is read, or a folder; a file that is never there before.
const OTHERS: &str = "dot:input,input2,cl_dir reduce:input,cl_dir transpose:cl_dir minplus:input,cl_dir try:file,template,from,cl_dir \
                      ceiling:cl_dir asm:cl_dir lab:cl_dir count:of,own,cl_dir,against \
                      sweep:own,cl_dir,merge tune:own,cl_dir,import show:what plot:files report:files compare:files \
                      start:output check:file,all,cache record:output source:cl_dir mcp:folder";

/// The files that a command line reads, by a word of it.
const READ: &[(&str, &[&str])] = &[
    (
        "mine/family.toml",
        &[
            "mine/family.toml",
            "mine/naive.cl",
            "mine/part.h",
            "mine/tiled.cl",
            "mine/reference.cl",
            "mine/in.f32",
        ],
    ),
    ("own.cl", &["own.cl", "part.h"]),
    ("e.f32", &["e.f32"]),
    ("edges.csv", &["edges.csv"]),
    ("cl", &["cl/dot/naive.cl"]),
    ("rows.csv", &["rows.csv"]),
    ("rows.csv,copy.csv", &["rows.csv", "copy.csv"]),
    ("points.csv", &["points.csv"]),
    ("copy.csv", &["copy.csv"]),
    ("sweep.csv", &["sweep.csv"]),
    ("strides.cl", &["strides.cl"]),
    ("hand-in", &["hand-in/ada/strides.cl"]),
];

/// A folder with the files that the command lines above name.
fn folder() -> TempDir {
    let dir = TempDir::new().unwrap();
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let put = |name: &str, text: &str| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let text = |name: &str| fs::read_to_string(repository.join(name)).unwrap();
    for name in ["family.toml", "naive.cl", "tiled.cl", "reference.cl"] {
        put(
            &format!("mine/{name}"),
            &text(&format!("data/examples/template/{name}")),
        );
    }
    let toml =
        text("data/examples/template/family.toml").replace("RADIUS] random", "RADIUS] file in.f32");
    put("mine/family.toml", &toml);
    put(
        "mine/naive.cl",
        &format!(
            "#include \"part.h\"\n{}",
            text("data/examples/template/naive.cl")
        ),
    );
    put("mine/in.f32", &"0000".repeat(1 << 10));
    for name in ["part.h", "mine/part.h"] {
        put(name, "// nothing\n");
    }
    put(
        "own.cl",
        "#include \"part.h\"\n__kernel void own(__global const T *x, __global T *out, const INDEX n) { }\n",
    );
    put("e.f32", "00001111");
    put("edges.csv", "from,to,weight\na,b,1\n");
    put("strides.cl", "__kernel void strides() { }\n");
    put("hand-in/ada/strides.cl", "__kernel void strides() { }\n");
    put("cl/dot/naive.cl", &text("cl/dot/naive.cl"));
    for (name, from) in [("rows", "dot"), ("copy", "dot"), ("points", "lab")] {
        put(
            &format!("{name}.csv"),
            &text(&format!("data/results/pocl-epyc-2/{from}.csv")),
        );
    }
    let header = text("data/results/pocl-epyc-2/dot.csv")
        .lines()
        .next()
        .unwrap()
        .to_owned();
    put("sweep.csv", &(header + "\n"));
    dir
}

/// The words of a line of [`OUTPUTS`] with this output.
fn words<'a>(line: &'a str, output: &'a str) -> Vec<&'a str> {
    let command = line.split_once(" -> ").unwrap().1;
    command
        .split(' ')
        .map(|word| if word == "{}" { output } else { word })
        .collect()
}

fn run_in(dir: &Path, args: &[&str]) -> (String, i32) {
    let output = gpulab(args)
        .current_dir(dir)
        .env("GPULAB_DATA", dir.join("data"))
        .output()
        .unwrap();
    let all = [output.stdout, output.stderr].concat();
    (
        String::from_utf8(all).unwrap().replace('\n', " "),
        output.status.code().unwrap(),
    )
}

/// A family of gpulab's is taken by its bare name, and said; no file of the reader's is read, missed or lost in its place.
#[test]
fn files_of_gpulab_are_no_files_of_the_reader() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let run = |words: &str| run_in(dir.path(), &words.split(' ').collect::<Vec<_>>());
    let (said, code) = run("count sum.cl --as reduce");
    assert!(code == 2 && said.contains("cannot read sum.cl"), "{said}");
    let (said, code) = run("list spmv");
    let is_told = said.contains("spmv: the file that comes with gpulab");
    assert!(code == 0 && is_told, "{said}");
    let mut written = fs::read_dir(at("data/files")).unwrap();
    let written = written.next().unwrap().unwrap().path();
    let edited = written.join("spmv/naive.cl");
    let mine = fs::read_to_string(&edited).unwrap() + "// mine\n";
    fs::write(&edited, &mine).unwrap();
    assert_eq!(run("list spmv").1, 0);
    assert_eq!(fs::read_to_string(&edited).unwrap(), mine);
    fs::write(at("ppc"), "mine").unwrap();
    let (said, code) = run("try --source ppc -n 64 --quick --variant version_2");
    assert!(code == 0, "{said}");
    fs::create_dir(at("scan")).unwrap();
    let (said, code) = run("list scan");
    assert!(code == 2 && said.contains("scan/family.toml"), "{said}");
    fs::remove_dir_all(at("data")).unwrap();
    fs::write(at("data"), "no folder").unwrap();
    let (said, code) = run("list spmv");
    assert!(code == 0, "{said}");
    let report = "<!DOCTYPE html><meta name=\"generator\" content=\"gpulab\">";
    fs::write(at("page.html"), report).unwrap();
    assert_eq!(run("exercise sheet banks -o page.html").1, 2);
    assert_eq!(fs::read_to_string(at("page.html")).unwrap(), report);
}

#[test]
fn every_option_that_names_a_file_is_known_here() {
    let mut outputs: BTreeSet<(String, String)> = BTreeSet::new();
    fn walk(
        command: &clap::Command,
        outputs: &mut BTreeSet<(String, String)>,
        others: &BTreeMap<&str, Vec<&str>>,
    ) {
        for arg in command
            .get_arguments()
            .filter(|arg| arg.get_action().takes_values())
        {
            let values: Vec<String> = arg
                .get_value_names()
                .unwrap_or_default()
                .iter()
                .map(|v| v.to_string())
                .collect();
            let names_a_path = values.iter().any(|v| {
                ["FILE", "DIR", "FOLDER"]
                    .iter()
                    .any(|word| v.contains(word))
            });
            let id = arg.get_id().as_str();
            let is_other = others
                .get(command.get_name())
                .is_some_and(|all| all.contains(&id));
            if (names_a_path || ["dir", "input"].contains(&id))
                && !(is_other && (id, command.get_name()) != ("output", "minplus"))
            {
                outputs.insert((command.get_name().to_owned(), id.to_owned()));
            }
        }
        command
            .get_subcommands()
            .for_each(|command| walk(command, outputs, others));
    }
    let others = OTHERS
        .split_whitespace()
        .map(|line| line.split_once(':').unwrap());
    let others = others
        .map(|(command, ids)| (command, ids.split(',').collect()))
        .collect();
    walk(&Cli::command(), &mut outputs, &others);
    let known: BTreeSet<(String, String)> = OUTPUTS
        .iter()
        .map(|line| line.split_once(" -> ").unwrap().0.split_once(' ').unwrap())
        .map(|(command, id)| (command.to_owned(), id.to_owned()))
        .collect();
    assert_eq!(outputs, known);
}

#[test]
fn no_output_replaces_what_the_command_reads() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    for (number, line) in OUTPUTS.iter().enumerate() {
        let read = words(line, "")
            .into_iter()
            .filter_map(|word| READ.iter().find(|(known, _)| *known == word));
        for (nth, name) in read.flat_map(|(_, files)| *files).enumerate() {
            let before = fs::read(at(name)).unwrap();
            let (soft, hard) = (
                format!("soft-{number}-{nth}"),
                format!("hard-{number}-{nth}"),
            );
            std::os::unix::fs::symlink(at(name), at(&soft)).unwrap();
            fs::hard_link(at(name), at(&hard)).unwrap();
            let other_way = format!("./mine/../{name}");
            // All ways to a file are one to the rule: each is tried with some options.
            let ways = [name.to_string(), soft, hard, other_way];
            let way = if line.starts_with("plot") {
                &ways[0]
            } else {
                &ways[(number + nth) % 4]
            };
            let (said, code) = run_in(dir.path(), &[&words(line, way)[..], &["--force"]].concat());
            let is_picture = line.starts_with("plot") && code == 2;
            assert!(
                code == 2 && (is_picture || said.contains("is the input")),
                "{line}: {way}: {code} {said}"
            );
            assert_eq!(fs::read(at(name)).unwrap(), before, "{line}: {way}");
        }
    }
}

/// Command lines that write more files than they name, each with such a file; those of a record are in a folder that it goes on
/// with, else any file is refused there.
const BESIDE: &[(&str, &str)] = &[
    ("record --quick -o mine-too", "mine-too/dot.csv"),
    ("exercise start strides -o new.cl", "new.cl"),
];

#[test]
fn what_is_written_beside_replaces_nothing_and_goes_through_no_pipe_or_link() {
    for (line, name) in BESIDE {
        let dir = folder();
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let refused = |what: &str, force: &[&str]| {
            let words: Vec<&str> = line.split(' ').chain(force.iter().copied()).collect();
            let began = Instant::now();
            let (said, code) = run_in(dir.path(), &words);
            assert!(
                [2, 74].contains(&code) && began.elapsed().as_secs() < 5,
                "{line}, {what}: {code} {said}"
            );
            said
        };
        // What NumPy writes is not what gpulab wrote.
        let foreign =
            b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
        fs::write(&path, foreign).unwrap();
        refused("another's file", &[]);
        assert_eq!(fs::read(&path).unwrap(), foreign, "{line}");
        fs::remove_file(&path).unwrap();
        let target = dir.path().join("made");
        std::os::unix::fs::symlink(&target, &path).unwrap();
        refused("a link to nothing", &["--force"]);
        assert!(!target.exists() && path.is_symlink(), "{line}");
        fs::remove_file(&path).unwrap();
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&path)
                .status()
                .unwrap()
                .success()
        );
        refused("a pipe", &["--force"]);
        // Somebody reads: nothing goes through.
        let reader = fs::File::options()
            .read(true)
            .write(true)
            .open(&path)
            .unwrap();
        refused("a pipe that is read", &["--force"]);
        drop(reader);
    }
    // The input itself, whatever is forced.
}

#[test]
fn an_output_that_is_a_pipe_a_device_or_a_link_to_nothing_is_refused() {
    let dir = folder();
    let at = |name: &str| dir.path().join(name);
    std::os::unix::fs::symlink(at("made.txt"), at("dangling.svg")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(at("pipe.svg"))
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink(at("pipe.svg"), at("link.svg")).unwrap();
    for line in OUTPUTS {
        for name in ["dangling.svg", "pipe.svg", "link.svg", "/dev/zero"] {
            let is_picture = line.starts_with("plot") && name == "/dev/zero";
            let is_usual =
                is_picture || (OUTPUTS.iter().position(|one| one == line).unwrap() % 3 == 0);
            // Each way is tried with some options.
            if is_usual {
                let (said, code) =
                    run_in(dir.path(), &[&words(line, name)[..], &["--force"]].concat());
                let is_told =
                    said.contains("a pipe or a device") || said.contains("a link to nothing");
                assert!(
                    (is_told && code == 74) || (is_picture && code == 2),
                    "{line}: {name}: {code} {said}"
                );
            }
        }
    }
    assert!(!at("made.txt").exists());
    let show = |to: &str| format!("\"$0\" compare rows.csv copy.csv --csv {to}");
    let in_dir =
        |line: String| crate::binary::shell(&format!("cd '{}' && {line}", dir.path().display()));
    let (text, _, _) = in_dir(show("-"));
    let (piped, _, code) = in_dir(show("/dev/stdout") + " | cat");
    assert!(
        code == Some(0) && piped.contains("schema") == text.contains("schema") && !piped.is_empty()
    );
    assert_eq!(in_dir(show("/dev/null")).2, Some(0));
    assert_eq!(
        in_dir(show("/dev/stdout") + " | true").2,
        Some(0),
        "nobody reads"
    );
}

#[test]
fn a_file_that_gpulab_did_not_write_stays_without_force() {
    let dir = folder();
    let foreign = "[package]\nname = \"mine\"\n";
    for line in OUTPUTS {
        let name = if line.starts_with("plot") {
            "mine.svg"
        } else {
            "mine.txt"
        };
        fs::write(dir.path().join(name), foreign).unwrap();
        let (said, code) = run_in(dir.path(), &words(line, name));
        assert!(
            code == 2 && said.contains("exists") && said.contains("--force"),
            "{line}: {code} {said}"
        );
        assert_eq!(
            fs::read_to_string(dir.path().join(name)).unwrap(),
            foreign,
            "{line}"
        );
        // What is empty is nobody's.
        fs::write(dir.path().join(name), "").unwrap();
        let (said, _) = run_in(
            dir.path(),
            &[&words(line, name)[..], &["-d", "no such device"]].concat(),
        );
        assert!(!said.contains("--force"), "{line}: {said}");
    }
}

#[test]
fn results_of_the_same_kind_are_replaced_and_others_with_force() {
    let dir = folder();
    let text = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap_or_default();
    for (line, name) in [
        ("plot rows.csv --what ladder -o {}", "a.svg"),
        ("report rows.csv -o {}", "a.html"),
        ("compare rows.csv copy.csv --csv {}", "a.csv"),
        ("compare rows.csv copy.csv --json {}", "a.json"),
    ] {
        let all: Vec<&str> = line
            .split(' ')
            .map(|word| if word == "{}" { name } else { word })
            .collect();
        let (said, code) = run_in(dir.path(), &all);
        assert_eq!(code, 0, "{line}: {said}");
        let first = fs::read(dir.path().join(name)).unwrap_or_default();
        let (said, code) = run_in(dir.path(), &all);
        assert_eq!(
            (code, fs::read(dir.path().join(name)).unwrap_or_default()),
            (0, first.clone()),
            "{line}: {said}"
        );
        fs::write(dir.path().join(name), "mine").unwrap();
        let (said, code) = run_in(dir.path(), &[&all[..], &["--force"]].concat());
        assert_eq!(
            (code, fs::read(dir.path().join(name)).unwrap()),
            (0, first),
            "{line}: {said}"
        );
    }
    // Of another kind: rows in place of a comparison.
    let (said, code) = run_in(dir.path(), &["dot", "--csv", "a.csv"]);
    assert!(code == 2 && said.contains("--force"), "{said}");
    // Until there is something, results stay: no device, no kernel.
    let before = text("rows.csv");
    for refused in [&["-d", "no such device"][..], &["--variant", "99"]] {
        let (said, code) = run_in(
            dir.path(),
            &[&["dot", "--csv", "rows.csv"], refused].concat(),
        );
        assert!(code != 0 && !said.contains("--force"), "{said}");
        assert_eq!(text("rows.csv"), before);
    }
    // Rows of a sweep are gone on with, or replaced when that is asked for.
    let (said, code) = run_in(dir.path(), &["sweep", "dot", "-o", "rows.csv"]);
    assert!(
        code == 2 && said.contains("--resume") && said.contains("--force"),
        "{said}"
    );
    let left: Vec<PathBuf> = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(
        left.iter()
            .all(|path| !path.to_string_lossy().contains(".part")),
        "{left:?}"
    );
}

#[cfg(target_os = "linux")]
mod ended {
    use super::*;
    use rustix::process::{Pid, Signal, kill_process};
    use std::process::{Child, Command, Stdio};

    /// Starts a program of its own data folder, by which its processes are known.
    fn start(dir: &Path, args: &[&str]) -> Child {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gpulab"));
        command
            .args(args)
            .current_dir(dir)
            .env("GPULAB_DATA", dir.join("data"))
            .env("TMPDIR", dir.join("tmp-{n}"));
        command
            .env_remove("GPULAB_DEVICE")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.spawn().unwrap()
    }

    /// Command lines of all processes that have this folder in their environment.
    fn processes(dir: &Path) -> Vec<String> {
        let text = |path: PathBuf| {
            fs::read(path)
                .map(|b| String::from_utf8_lossy(&b).replace('\0', " "))
                .unwrap_or_default()
        };
        let all = fs::read_dir("/proc")
            .unwrap()
            .filter_map(|entry| Some(entry.ok()?.path()));
        let own =
            all.filter(|path| text(path.join("environ")).contains(&dir.display().to_string()));
        own.map(|path| text(path.join("cmdline")))
            .filter(|line| !line.is_empty())
            .collect()
    }

    fn wait_until(what: &str, is_so: impl Fn() -> bool) {
        let began = Instant::now();
        while !is_so() {
            assert!(began.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    #[test]
    fn a_reference_and_its_files_end_with_gpulab() {
        for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::KILL] {
            let dir = folder();
            let temporary = dir.path().join("tmp-{n}");
            fs::create_dir(&temporary).unwrap();
            let toml = fs::read_to_string(dir.path().join("mine/family.toml")).unwrap();
            // Lines that start a program, and wait for it.
            let slow = "check = \"numpy: import os; out = os.system('sleep 55')\"";
            let toml = toml
                .replace("check = \"kernel: reference.cl\"", slow)
                .replace("RADIUS] file in.f32", "RADIUS] random");
            fs::write(dir.path().join("mine/family.toml"), toml).unwrap();
            let mut child = start(
                dir.path(),
                &["try", "mine/family.toml", "-n", "1000", "--csv", "new.csv"],
            );
            let is_asked = || {
                processes(dir.path())
                    .iter()
                    .any(|line| line.starts_with("sleep 55"))
            };
            wait_until("the reference runs", is_asked);
            assert_eq!(fs::read_dir(&temporary).unwrap().count(), 1);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(
                status.code(),
                (signal != Signal::KILL).then_some(130),
                "{signal:?}"
            );
            wait_until("nothing runs", || processes(dir.path()).is_empty());
            let left: Vec<_> = fs::read_dir(&temporary)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            assert!(left.is_empty(), "{signal:?}: {left:?}");
            assert!(
                signal == Signal::KILL || !dir.path().join("new.csv").exists(),
                "an empty file stays"
            );
        }
    }

    #[test]
    fn a_record_takes_its_command_with_it() {
        for signal in [Signal::TERM, Signal::KILL] {
            let dir = TempDir::new().unwrap();
            let mut child = start(dir.path(), &["record", "--quick", "-o", "mine"]);
            wait_until("a worker runs", || {
                processes(dir.path())
                    .iter()
                    .any(|line| line.trim().ends_with("worker"))
            });
            kill_process(Pid::from_child(&child), signal).unwrap();
            let status = child.wait().unwrap();
            assert_eq!(
                status.code(),
                (signal != Signal::KILL).then_some(130),
                "{signal:?}"
            );
            let ended = Instant::now();
            wait_until("nothing runs", || processes(dir.path()).is_empty());
            assert!(
                ended.elapsed() < Duration::from_secs(20),
                "{signal:?}: it went on measuring"
            );
        }
    }
}

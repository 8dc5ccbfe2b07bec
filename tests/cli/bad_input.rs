//! Bad input of every kind: the exit code, one clear line that says what is wrong, and nothing else.

use crate::binary::{NOWHERE, gpulab, messages};
use gpulab::ceilings::CeilingRow;
use gpulab::count::CountRow;
use gpulab::kernels::Registry;
use gpulab::record::Row;
use gpulab::report::format::Screen;
use gpulab::report::shown::{reasons_text, take_apart};
use gpulab::store::{of_csv, write_rows};

/// Exit code, command line, and a word of the message. `{}` is a path at which nothing can be, `''` an empty word.
const BAD: &str = r#"
2 | stride | unrecognized subcommand 'stride'
2 | redcue | a similar subcommand exists: 'reduce'
2 | sequential | unrecognized subcommand 'sequential'
2 | Stride --quick | unrecognized subcommand 'Stride'
2 | xyzzy | unrecognized subcommand 'xyzzy'
2 | -d pocl lob | 'lab'
2 | ppc | unrecognized subcommand 'ppc'
2 | worke | unrecognized subcommand 'worke'
2 | --nosuch | --nosuch
2 | -x | -x
2 | --color pink list | auto, always, never
2 | -q -v list | cannot be used with
2 | list nothing | there is no family or experiment
2 | list redcue | `reduce`
2 | list sequential | no family or experiment "sequential"
2 | list --source nobody | maruyama
2 | list --source bornhofe | `bornhofen`
2 | list reduce --source ppc | cannot be used with
2 | list reduce dot | dot
2 | explain | EXPERIMENT
2 | explain nothing | there is reduce
2 | explain redcue:3 | `reduce:3`
2 | explain sequential | no family, rung, experiment or word "sequential"
2 | explain reduce:99 | reduce has no rung
2 | explain strde | `stride`
2 | explain reduce dot | dot
2 | source | RUNG
2 | source nothing | there is reduce
2 | source reduce | 11 rungs: choose one, as in reduce:1
2 | source reduce:99 | reduce has no rung
2 | source redcue:3 | `reduce:3`
2 | source sequential | no family, rung, experiment or word "sequential"
2 | source reduce:2-3 | choose one
2 | source transfer | runs no kernel
2 | source reduce:3 --cl-dir {} | nowhere
2 | diff reduce 2 | as in reduce:2 reduce:3
2 | diff stride 1 2 | no family "stride"
2 | diff reduce 2 99 | no rung
2 | diff reduce 3 sequential | both are reduce v3
2 | diff reduce 1-2 3 | choose one
2 | diff reduce 1 2 --cl-dir {} | nowhere
2 | source reduce 1 2 --expanded | it is of one kernel
2 | help nothing | there is no command
2 | help worker | there is no command
2 | help colums | no command "colums"
2 | lab reduce | no experiment "reduce"
2 | lab strde | `stride`
2 | lab nothing | banks
2 | lab pitch all | all
2 | lab --csv points.csv | NAME
2 | lab pitch --csv - --json - | only one
2 | lab pitch --max-noise 0 | 0.05
2 | lab pitch --seed x | --seed
2 | lab pitch --cl-dir {} | nowhere
74 | lab pitch --csv {} | nowhere
3 | lab pitch -d nonesuch | nonesuch
2 | asm | WHAT
2 | asm nothing | there is no family
2 | asm reduce:99 | 1 interleaved
2 | asm reduce:1-2 | name one rung
2 | asm my.cl | --as reduce
2 | asm reduce:3 --set nothing=1 | no such tunable
3 | asm reduce:3 -d nonesuch | nonesuch
2 | count | NAME
2 | count redcue | `reduce`
2 | count nothing | there is no family or experiment
2 | count reduce --kernel dot | cannot be used with
2 | count reduce -d pocl | a simulator counts kernels
2 | count reduce --variant 99 | 1 interleaved
2 | count reduce:99 | 1 interleaved
2 | count reduce:3 --variant 3 | names the rung already
2 | count my.cl | --as reduce
2 | count my.cl --as reduce | my.cl
2 | count reduce --fail-on passes | --against
2 | count reduce --against b.json --fail-on pases | passes
2 | count reduce --against b.json --fail-on passes:x | a share is needed
2 | count reduce --against {} | nowhere
2 | count reduce -n 0 | no launch to count
2 | count reduce -n 1e12 | GiB
2 | count reduce --m 4 | no matrix
2 | count reduce --dtype f16 | f32
2 | count reduce --machine gtx290 | gtx280
2 | draw reduce:1 --machine x | cc1.0
2 | count reduce --set nothing=1 | no such tunable
2 | count reduce --variant 11 --set wg | NAME=VALUE
2 | count dot --set items=64,128 | give one
2 | count stride --wg 64 | --wg
2 | count reduce --cl-dir {} | nowhere
2 | count reduce --csv - --json - | only one
2 | count reduce --deadline 0 | --deadline
74 | count reduce --csv {} | nowhere
3 | devices -d nonesuch | nonesuch
3 | devices -d 99 | 99
3 | devices -d 7:7 | 7:7
74 | devices --json {} | nowhere
2 | devices all | all
2 | doctor now | now
3 | -d nonesuch | nonesuch
2 | reduce -n 0x10 | 1Mi
2 | reduce -n -5 | -5
2 | reduce -n 1e12 | GiB
2 | reduce --n 2^63 | bytes
2 | reduce --n 2^99 | 1Mi
2 | reduce --n | --n
2 | reduce --n 1 --n 2 | cannot be used multiple times
2 | reduce --wg 0 | work-group
2 | reduce --wg 16x | work-group
2 | reduce --wg 100000 | at most
2 | reduce --variant 99 | 1 interleaved
2 | reduce --variant 0 | 1 interleaved
2 | reduce --variant 5-2 | 1 interleaved
2 | reduce --variant sequental | `sequential`
2 | reduce --variant 1,nothing | 1 interleaved
2 | reduce sequental | unexpected argument 'sequental'
2 | reduce 3 | 3
2 | reduce --dtype f16 | f32
2 | reduce --op avg | sum, min, max
2 | reduce --op xor --dtype f32 | i32
2 | reduce --items 0 | from 1
2 | reduce --acc 17 | 17
2 | reduce --size nothing | runtime, constant
2 | reduce --finish gpu | host, device
2 | reduce --max-noise NaN | 0.05
2 | reduce --max-noise -0.1 | above 0
2 | reduce --min-runs 0 | 1..
2 | reduce --max-runs x | x
2 | reduce --warmup -1 | -1
2 | reduce --min-time inf | seconds
2 | reduce --deadline -1 | from 0
2 | reduce --deadline 0 | above 0
2 | lab banks --deadline 0.0 | above 0
2 | ceiling --deadline 0 | above 0
2 | reduce --budget soon | 10s
2 | reduce --sample-time inf | seconds
2 | reduce --timeout -1 | from 0
2 | reduce --cache hot | warm, cold
2 | reduce --clock sun | event, wall
2 | reduce --seed -1 | -1
2 | reduce --peak fast | 4800GB/s
2 | reduce --csv - --json - | only one
2 | reduce --csv a --json a | a
2 | reduce --cl-dir {} | nowhere
2 | reduce --input {} | nowhere
2 | reduce --input a.csv -n 5 | cannot be used with
2 | reduce --quik | --quick
74 | reduce --csv {} | nowhere
74 | reduce --json {} | nowhere
74 | reduce --md {} | nowhere
74 | reduce --samples {} | nowhere
3 | reduce -d nonesuch | nonesuch
3 | reduce -d accelerator | there is no device of type accelerator
2 | dot --input2 a.csv | --input
2 | dot --as nobody | cmsoft
2 | dot --as cmsoft --input a.csv | cannot be used with
2 | dot --presum gpu | host
2 | dot --mad 2 | 0, 1
2 | dot --dtype i64 | dot has no i64 kernels
2 | transpose -n 64 --width 64 --height 64 | cannot be used with
2 | transpose --width 64 | --height
2 | transpose --nreps 1 | 2..=10000
2 | transpose --loop outside | kernel, inside
2 | transpose --n 10000000 | choose a smaller size
2 | transpose --variant 3 --vec 4 | --vec
2 | transpose --tile 7 -n 64 --variant copy | 7x7
2 | tune | FAMILY
2 | tune nothing | there is no family
2 | tune dot --kernel dot | cannot be used with
2 | tune dot -n 0 | no launch to tune
2 | tune dot -n 1e12 | GiB
2 | tune dot --m 5 | no matrix with rows of its own
2 | tune dot --variant 99 | 1 naive
2 | tune dot --dtype i64 | dot has no i64 kernels
2 | tune dot --budget soon | 60s or 2m
2 | tune dot --budget 0 | 200
2 | tune dot --budget -5 | 200
2 | tune dot --strategy luck | exhaustive
2 | tune dot --set itmes=4 | presum
2 | tune dot --set acc=99 | 1 to 16
2 | tune reduce --set op=sum,max | give one
2 | tune dot --wg 0 | work-group
2 | tune dot --wg 100000 --variant 1 | at most
2 | tune dot --cl-dir {} | nowhere
74 | tune dot --csv {} | nowhere
3 | tune dot -d nonesuch | nonesuch
2 | tune nothing --list | there is no family
2 | tune nothing --forget | there is no family
2 | minplus --dtype i64 | minplus has no i64 kernels
2 | minplus --tile 64 | 64x64
2 | minplus --weights some | non_negative, signed
2 | minplus --closure | --input
2 | minplus --paths | --input
2 | minplus --input {} | nowhere
2 | minplus --input a.csv --wg 64 | cannot be used with
2 | minplus --from a | --input
2 | ceiling now | now
2 | ceiling --quick --show | cannot be used with
2 | ceiling --cl-dir {} | nowhere
2 | ceiling --deadline x | seconds
2 | sweep | <FAMILY>
2 | sweep nothing | there is no family
2 | sweep redcue | `reduce`
2 | sweep stride | no family "stride"
2 | sweep reduce --kernel reduce | cannot be used with
2 | sweep dot -n 10..1+1 | backwards
2 | sweep dot --n 1..10*1 | never
2 | sweep dot --m 5 | no number of rows
2 | sweep dot --wg 0..4+1 | work-group
2 | sweep dot --variant nave | `naive`
2 | sweep dot --dtype i64 | i64
2 | sweep dot --set itmes=4 | presum
2 | sweep dot --set items | NAME=VALUE
2 | sweep dot --set items=1 --set items=2 | twice
2 | sweep dot --shard 3/2 | 2/4
2 | sweep dot --shard 1 | 2/4
2 | sweep dot --resume | -o FILE
2 | sweep dot --csv a -o b | cannot be used multiple times
2 | sweep dot --cl-dir {} | nowhere
74 | sweep dot --csv {} | nowhere
3 | sweep dot --dry-run -d nonesuch | nonesuch
2 | completions | SHELL
2 | completions cmd | bash
2 | show src | there is no file "src"
2 | show Cargo.toml | gpulab wrote
2 | show '' | several devices
2 | show h2000 | nvidia-h200
2 | show reduce | `gpulab show nvidia-h100 reduce`
2 | show banks | no file "banks"
2 | show h200 nothing | reduce_sweep
2 | show pocl | several devices
1 | show /dev/null | regular file
74 | dot --csv src -n 10 | Is a directory
74 | dot --csv '' -n 10 | without a name
74 | dot --csv Cargo.toml/rows.csv -n 10 | Not a directory
74 | dot --csv /dev/full -n 10 | No space left
2 | dot --input src | Is a directory
2 | dot --input /dev/null | regular file
2 | dot --input data/inputs/europe.csv | save its column with numpy.save
2 | reduce -n 1M,2M | gpulab sweep measures several
2 | reduce -n 1,5e6 | has a decimal comma: write 1.5e6
2 | dot --budget 0,5s | has a decimal comma: write 0.5s
2 | reduce -n 1.5 | 1Mi
2 | reduce -n 1e400 | 1Mi
2 | reduce -n NaN | 1Mi
2 | reduce -n '' | 1Mi
2 | reduce --seed 99999999999999999999 | too large
2 | reduce --seed 1.5 | whole number
2 | reduce --warmup 4294967296 | too large
2 | reduce --wg 8x8x8x8 | 16x16
2 | reduce --variant '' | 1 interleaved
2 | reduce --variant 3- | 1 interleaved
2 | reduce --variant , | 1 interleaved
2 | reduce --peak 0GB/s | 4800GB/s
2 | reduce --peak 5GB/s,6GB/s | at most
2 | reduce --max-runs 99999999999 | 4294967295
2 | reduce --budget -5s | 10s
2 | reduce --budget 0 | above 0
2 | reduce --budget 5s --max-runs 3 | cannot be used with
2 | sweep dot --budget 5s --sample-time 1 | cannot be used with
2 | lab banks --budget 5s --min-time 1 | cannot be used with
2 | lab banks --budget soon | 10s
2 | ceiling --budget 5s | unexpected argument '--budget'
2 | dot --op max | unexpected argument '--op'
2 | minplus --input a.csv --budget 5s | cannot be used with
2 | minplus --input src | directory
2 | minplus --input data/inputs/europe.csv -o data/inputs/europe.csv | itself
74 | minplus --input data/inputs/europe.csv -o src | Is a directory
2 | sweep dot --shard 0/3 | 2/4
2 | sweep dot --shard 1/0 | 2/4
2 | sweep dot -n 5..1 | step
2 | sweep dot -n 1..1000000000+1 | 1000000 values
2 | sweep dot --set = | NAME=VALUE
2 | sweep dot --set items= | whole number
2 | sweep dot -o Cargo.toml | exists
2 | sweep dot -o Cargo.toml --resume | cells
74 | sweep dot -o src | Is a directory
2 | lab banks --csv a --json a | one file
2 | help '' | there is no command
2 | list --source '' | maruyama
"#;

/// The cases, without empty lines.
fn cases() -> Vec<(i32, Vec<String>, &'static str)> {
    let case = |line: &'static str| {
        let [code, args, word] = line.splitn(3, " | ").collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let args = args
            .split(' ')
            .map(|arg| arg.replace("{}", NOWHERE).replace("''", ""))
            .collect();
        (code.parse().unwrap(), args, word)
    };
    BAD.lines()
        .filter(|line| !line.is_empty())
        .map(case)
        .collect()
}

#[test]
fn every_bad_input_is_one_clear_line_and_its_exit_code() {
    let cases = cases();
    assert!(cases.len() >= 200, "{}", cases.len());
    let mut faults = Vec::new();
    for (code, args, word) in cases {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let output = gpulab(&args).output().unwrap();
        let [out, err] =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let mut wrong = Vec::new();
        if output.status.code() != Some(code) {
            wrong.push(format!("exit code {:?}, not {code}", output.status.code()));
        }
        if !err.contains(word) {
            wrong.push(format!("no {word:?}"));
        }
        if messages(&err) != 1 {
            wrong.push(format!("{} messages", messages(&err)));
        }
        if !out.is_empty() || err.contains("panicked") || err.contains('\x1b') {
            wrong.push(format!("output {out:?}, a panic, or a control code"));
        }
        if !wrong.is_empty() {
            faults.push(format!(
                "gpulab {}: {}\n{err}",
                args.join(" "),
                wrong.join(", ")
            ));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn control_codes_of_the_command_line_are_spelled_out() {
    for args in [
        &["\x1b[31m"][..],
        &["lab", "\x1b]0;x\x07"],
        &["reduce", "--variant", "a\x1b[2J"],
        &["-d", "\x1b[1m"],
    ] {
        let output = gpulab(args).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert!(
            matches!(output.status.code(), Some(2 | 3)) && !err.contains('\x1b'),
            "{args:?}: {err:?}"
        );
        assert_eq!(messages(&err), 1, "{args:?}: {err}");
    }
}

/// What stands in a cell that nobody's program would write there.
const BAD_CELLS: [&str; 12] = [
    "0",
    "-1",
    "1e308",
    "NaN",
    "",
    "inf",
    "0x0",
    "1e-300",
    "-0",
    "18446744073709551615",
    "=1+1",
    "\x1b[31m\x07\u{9b}x",
];

/// The records of a file, again for each column, which holds `cell` in all of these; without those that nothing reads. Every
/// copy is of a run of its own, and with `devices` of a device of its own.
fn spoiled(text: &[u8], cell: &str, devices: bool) -> Vec<u8> {
    let mut reader = csv::Reader::from_reader(text);
    let (head, records) = (
        reader.headers().unwrap().clone(),
        reader.records().map(Result::unwrap).collect::<Vec<_>>(),
    );
    let table = |all: &[Vec<String>]| {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&head).unwrap();
        all.iter()
            .for_each(|record| writer.write_record(record).unwrap());
        writer.into_inner().unwrap()
    };
    let mut all = Vec::new();
    for at in 0..head.len() {
        let one = |record: &csv::StringRecord| {
            let cells =
                head.iter()
                    .zip(record)
                    .enumerate()
                    .map(|(place, (name, own))| match name {
                        _ if place == at => cell.to_owned(),
                        "run_id" => format!("r{at}"),
                        "device" if devices => format!("D{at}"),
                        _ => own.to_owned(),
                    });
            cells.collect::<Vec<String>>()
        };
        let decides = [
            "n",
            "m",
            "wg",
            "params",
            "dtype",
            "t_median_s",
            "value",
            "x",
        ]
        .contains(&&head[at])
            || devices;
        let own: Vec<Vec<String>> = records
            .iter()
            .take(if decides { usize::MAX } else { 3 })
            .map(one)
            .collect();
        match take_apart(&table(&own), "file") {
            Ok(_) => all.extend(own),
            Err(error) => assert_eq!(error.to_string().lines().count(), 1, "{error}"),
        }
    }
    table(&all)
}

#[test]
fn no_cell_of_a_file_ends_what_reads_it_in_a_panic() {
    let dir = tempfile::TempDir::new().unwrap();
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    let recorded = |name: &str| {
        std::fs::read(format!("{}/data/{name}.csv", env!("CARGO_MANIFEST_DIR"))).unwrap()
    };
    // All families' rungs of one size, as this version writes them.
    let mut base: Vec<Row> = Vec::new();
    for family in ["dot", "reduce", "transpose", "minplus"] {
        let all = of_csv::<Row>(&recorded(&format!("results/nvidia-h200/{family}")), family)
            .unwrap()
            .0;
        base.extend(
            all.iter()
                .filter(|row| {
                    row.rung.is_some() && (row.n, &row.run_id) == (all[0].n, &all[0].run_id)
                })
                .cloned(),
        );
    }
    let limits = recorded("results/nvidia-h200/ceilings");
    let cut = |text: Vec<u8>, lines: usize| {
        text.split_inclusive(|b| *b == b'\n')
            .take(lines)
            .collect::<Vec<_>>()
            .concat()
    };
    write_rows(&path("whole.csv"), &base).unwrap();
    let lines = |device: usize| {
        base[..3].iter().map(move |row| Row {
            device: format!("D{device}"),
            ..row.clone()
        })
    };
    write_rows(
        &path("own.csv"),
        &(0..30).flat_map(lines).collect::<Vec<Row>>(),
    )
    .unwrap();
    std::fs::write(path("counts.csv"), recorded("counts")).unwrap();
    let all =
        ["rows", "limits", "sweep", "points", "counts"].map(|name| path(&format!("{name}.csv")));
    for cell in BAD_CELLS {
        let whole = std::fs::read(path("whole.csv")).unwrap();
        let texts = [
            spoiled(&whole, cell, false),
            spoiled(&limits, cell, true),
            spoiled(
                &cut(recorded("results/nvidia-h200/reduce_sweep"), 4),
                cell,
                false,
            ),
            spoiled(&cut(recorded("results/nvidia-h100/lab"), 40), cell, false),
            spoiled(&cut(recorded("counts"), 4), cell, false),
        ];
        all.iter()
            .zip(texts)
            .for_each(|(path, text)| std::fs::write(path, text).unwrap());
        let [rows, limits, ..] = all.each_ref().map(String::as_str);
        let (own, out) = (path("own.csv"), path("page.html"));
        let everything: Vec<&str> = all.iter().map(String::as_str).collect();
        let mut commands = vec![
            vec!["show", rows, own.as_str(), limits, "--why"],
            vec!["compare", rows, rows],
            [&["report", "--force", "-o", out.as_str()], &everything[..]].concat(),
            [&["show"], &everything[..]].concat(),
        ];
        for what in ["ladder", "roofline", "sweep", "size", "experiment"] {
            commands.push([&["plot", "-o", "-", "--what", what], &everything[..]].concat());
        }
        for args in commands {
            let output = gpulab(&args)
                .env("GPULAB_OPENCL_LIB", NOWHERE)
                .output()
                .unwrap();
            let said = [&output.stdout[..], &output.stderr].concat();
            let said = String::from_utf8(said).unwrap();
            let is_sly = |c: char| c.is_control() && c != '\n';
            assert!(
                matches!(output.status.code(), Some(0..=7)),
                "{cell:?} {args:?}: {said}"
            );
            assert!(
                !said.contains(is_sly),
                "{cell:?} {args:?}: {:?}",
                said.lines().find(|line| line.contains(is_sly))
            );
        }
        // What the kernels' own counts make of it, column by column; the reader refuses the largest.
        if cell.len() > 15 {
            continue;
        }
        let ceilings = of_csv::<CeilingRow>(&recorded("results/nvidia-h200/ceilings"), "limits")
            .unwrap()
            .0;
        let table = csv::Reader::from_reader(&recorded("counts")[..])
            .headers()
            .unwrap()
            .clone();
        for column in &table {
            let set = |mut count: serde_json::Value| {
                count[column] = serde_json::from_str(cell).unwrap_or_else(|_| cell.into());
                serde_json::from_value::<CountRow>(count).ok()
            };
            let counts = of_csv::<CountRow>(&recorded("counts"), "counts").unwrap().0;
            let counts: Vec<CountRow> = counts
                .iter()
                .filter_map(|count| set(serde_json::to_value(count).unwrap()))
                .collect();
            reasons_text(
                &Registry::default(),
                &base,
                &counts,
                &ceilings,
                Screen::stdout(false),
            );
        }
    }
}

//! A whole search on a scripted device: what is measured, checked, remembered and found again.

use super::*;
use crate::brought::Brought;
use crate::cli::{Cli, Command};
use crate::fake::{FakeDevice, FakeKernel, Memory};
use crate::kernels::dot;
use crate::outcome::{DeviceInfo, fake_info};
use crate::plan::{Arg, Launch, WorkGroup};
use crate::runner::Session;
use crate::tune::{Remembered, TunedEntry, TunedFile};
use clap::Parser;
use tempfile::TempDir;

/// Four configurations: work-groups of 32 and 64, 128 and 64 work-items in flight.
const SEARCH: &str = "gpulab tune dot --variant naive -n 1000 --wg 32,64 --set items=128,64 --set mad=0 --quick \
                      --strategy exhaustive --budget 100 -q";

fn milliseconds(wg: usize, items: usize) -> u64 {
    match (wg, items) {
        (64, 64) => 1,
        (32, 64) => 2,
        (64, 128) => 3,
        _ => 4,
    }
}

/// Does what `dot_naive` does; in the launches that are named the last element is left out.
fn naive(is_wrong: fn(wg: usize, items: usize) -> bool) -> FakeKernel {
    timed(is_wrong, |wg, items, count| {
        1_000_000 * milliseconds(wg, items) + 100 * (count % 7)
    })
}

/// The same in so many nanoseconds, by the number of the launch.
fn timed(
    is_wrong: fn(wg: usize, items: usize) -> bool,
    time: fn(usize, usize, u64) -> u64,
) -> FakeKernel {
    let mut count = 0;
    Box::new(move |launch: &Launch, memory: &mut Memory| {
        let [x, y, out, Arg::Index(n)] = launch.args.as_slice() else {
            panic!("{:?}", launch.args)
        };
        let (x, y): (Vec<f32>, Vec<f32>) = (memory.get(x), memory.get(y));
        let n = *n as usize;
        let wg = launch.local[0];
        let items = launch.global[0];
        let chunk = n.div_ceil(items);
        let end = if is_wrong(wg, items) { n - 1 } else { n };
        for id in 0..items {
            let range = (id * chunk).min(end)..((id + 1) * chunk).min(end);
            memory.set(out, id, range.map(|i| x[i] * y[i]).sum::<f32>());
        }
        count += 1;
        Ok(time(wg, items, count))
    })
}

/// A search with such kernels: its rows, one for each configuration, and what is to be remembered.
fn searched(kernel: FakeKernel) -> (Vec<Row>, Vec<TunedEntry>) {
    let folder = TempDir::new().unwrap();
    let csv = folder.path().join("rows.csv");
    let words = format!("{SEARCH} -o {}", csv.display());
    let cli = Cli::try_parse_from(words.split_whitespace()).unwrap();
    let Some(Command::Tune(options)) = &cli.command else {
        panic!("{words}")
    };
    let session = Session::new(Box::new(FakeDevice::new(kernel)), Sources::default(), None);
    let executor: Box<dyn Executor> = Box::new(session);
    let brought = Brought::new(options.subject.name().unwrap()).unwrap();
    let asked = AskedTuning::new(options, &brought).unwrap();
    let space = asked.space(options, &*executor).unwrap();
    let mut tuning = Tuning::open(&asked, options, &cli.global, &space, executor).unwrap();
    tuning.measure().unwrap();
    (tuning.latest(), tuning.entries().unwrap())
}

fn statuses(rows: &[Row]) -> Vec<Status> {
    rows.iter().map(|row| row.status).collect()
}

#[test]
fn the_fastest_is_remembered_and_found_again_on_its_own_driver_only() {
    let (rows, entries) = searched(naive(|_, _| false));
    assert_eq!(statuses(&rows), [Status::Ok; 4]);
    let [entry] = &entries[..] else {
        panic!("{entries:?}")
    };
    assert_eq!(
        (entry.wg, entry.params["items"].as_str(), entry.tried),
        (WorkGroup::linear(64), "64", 4)
    );
    assert!((entry.default_x.unwrap() - 4.0).abs() < 0.01, "{entry:?}");
    let folder = TempDir::new().unwrap();
    TunedFile {
        entries: entries.clone(),
        ..TunedFile::empty(&fake_info())
    }
    .remember(folder.path())
    .unwrap();
    let case = Case {
        wg: WorkGroup::linear(256),
        ..Case::of("dot", "naive", Dtype::F32, Shape::vector(900))
    };
    let tuned = |info: &DeviceInfo| {
        let known = Remembered::of(
            TunedFile::empty(info).load(folder.path()).unwrap(),
            &dot::FAMILY,
            info,
            &Sources::default(),
        )?;
        known.tuned(&case)
    };
    let found = tuned(&fake_info()).unwrap();
    assert_eq!(
        (found.wg, found.params["items"].as_str()),
        (WorkGroup::linear(64), "64")
    );
    for other in [
        DeviceInfo {
            driver: "1.1".into(),
            ..fake_info()
        },
        DeviceInfo {
            name: "Another".into(),
            ..fake_info()
        },
        DeviceInfo {
            platform: "Another".into(),
            ..fake_info()
        },
    ] {
        assert_eq!(tuned(&other), None);
    }
}

#[test]
fn a_wrong_kernel_never_wins() {
    let (rows, entries) = searched(naive(|wg, items| (wg, items) == (64, 64)));
    assert_eq!(
        rows.iter()
            .filter(|row| row.status == Status::WrongResult)
            .count(),
        1,
        "{:?}",
        statuses(&rows)
    );
    let [entry] = &entries[..] else {
        panic!("{entries:?}")
    };
    assert_eq!(
        (entry.wg, entry.params["items"].as_str()),
        (WorkGroup::linear(32), "64")
    );
    let (rows, entries) = searched(naive(|_, _| true));
    assert_eq!(
        (statuses(&rows), entries.len()),
        (vec![Status::WrongResult; 4], 0)
    );
}

/// One has the least times, but is mostly slower than the others.
#[test]
fn what_stays_undecided_is_measured_on_and_not_remembered() {
    let kernel = timed(
        |_, _| false,
        |wg, items, count| match (wg, items) {
            (64, 64) => 900_000 + 600_000 * u64::from(count % 7 > 2),
            _ => 1_100_000 + 1_000 * (count % 7),
        },
    );
    let (rows, entries) = searched(kernel);
    assert_eq!(
        (statuses(&rows), entries.len()),
        (vec![Status::Ok; 4], 0),
        "{entries:?}"
    );
    let best = rows
        .iter()
        .find(|row| row.wg == Some(WorkGroup::linear(64)) && row.params["items"] == "64")
        .unwrap();
    assert!(
        best.runs > 4 * rows.iter().map(|row| row.runs).min().unwrap(),
        "{} runs",
        best.runs
    );
}

use super::*;
use gpulab_record::{Flags, flag, row};

fn timed(rung: u32, variant: &str, seconds: f64) -> Row {
    Row {
        rung: Some(rung),
        t_median_s: Some(seconds),
        flags: Flags::default(),
        device: "Device".to_owned(),
        ..row(variant)
    }
}

fn folder(name: &str, rows: Vec<Row>) -> RecordedFolder {
    RecordedFolder { name: name.to_owned(), rows, ..RecordedFolder::default() }
}

fn page(folders: &[RecordedFolder]) -> String {
    html(&PageMaterial { folders, counts: &[], films: &[], home: None })
}

#[test]
fn the_first_heading_says_how_many_times_are_doubtful() {
    let heading = |rows: Vec<Row>| {
        let folder = folder("x", rows);
        let devices = devices_of(&folder);
        device::trust_heading(&devices[0])
    };
    let noisy = |row: Row| Row { flags: flag::NOISY, ..row };
    let swept = |row: Row| Row { sweep_id: "s".to_owned(), ..row };
    let a = timed(1, "naive", 1e-3);
    let b = timed(2, "local", 5e-4);
    assert_eq!(heading(vec![a.clone(), b.clone()]), "The device was quiet: none of 2 times is doubtful");
    assert_eq!(heading(vec![a.clone(), noisy(b.clone())]), "May this be trusted? 50\u{a0}% of 2 times are doubtful");
    assert_eq!(
        heading(vec![a, noisy(swept(b))]),
        "May this be trusted? In ladders none of 1 time is doubtful, in sweeps 100\u{a0}%"
    );
}

#[test]
fn wrong_results_and_clocks_that_lie_are_said() {
    let wrong = Row { status: gpulab_model::outcome::Status::WrongResult, t_median_s: None, ..timed(2, "local", 1.0) };
    let text = page(&[folder("x", vec![timed(1, "naive", 1e-3), wrong])]);
    assert!(text.contains("1 case gave a wrong result") && !text.contains("Every result was right"), "{text}");
    let fast = Row { status: gpulab_model::outcome::Status::Suspect, ..timed(1, "naive", 1e-9) };
    assert!(page(&[folder("x", vec![fast])]).contains("1 is faster than the device can be"));
}

#[test]
fn folders_keep_machines_of_one_name_apart() {
    let rows = || vec![timed(1, "naive", 1e-3), timed(2, "local", 5e-4)];
    let text = page(&[folder("one", rows()), folder("two", rows())]);
    assert!(text.contains("Device, one") && text.contains("Device, two"), "{text}");
    // The same folder's runs of one name are one device's.
    assert!(!page(&[folder("one", [rows(), rows()].concat())]).contains("Device, one"));
}

#[test]
fn the_index_leads_to_the_pages_and_names_limits() {
    let text = include_bytes!("../../../../data/results/nvidia-h200/ceilings.csv");
    let ceilings = gpulab_record::store::of_csv::<CeilingRow>(text, "ceilings").unwrap().0;
    let own = RecordedFolder { ceilings, ..folder("one", Vec::new()) };
    let text = index(&PageMaterial { folders: &[own], counts: &[], films: &[], home: None }, &["one.html".to_owned()]);
    assert!(text.contains("href=\"one.html\"") && text.contains("4570 GB/s"), "{text}");
}

#[test]
fn one_processor_under_several_names_of_a_driver_is_one_card_whose_limits_are_named() {
    let of = |device: &str, row: Row| Row { device: device.to_owned(), ..row };
    let held = |row: Row| Row { gbps: Some(38.0), ceiling_gbps: Some(40.0), ceiling_pct: Some(95.0), ..row };
    let rows = vec![
        of("pthread-haswell-AMD EPYC", held(timed(1, "naive", 1e-3))),
        of("pthread-skylake-avx512-AMD EPYC", held(timed(2, "local", 5e-4))),
    ];
    let text = index(
        &PageMaterial { folders: &[folder("one", rows)], counts: &[], films: &[], home: None },
        &["one.html".to_owned()],
    );
    assert_eq!(text.matches("<article").count(), 1, "{text}");
    assert!(text.contains("1 recorded machine") && text.contains("limit in its run: 40.0 GB/s"), "{text}");
}

#[test]
fn what_is_missing_for_reasons_names_the_command_that_measures_it() {
    let rows = vec![timed(1, "naive", 1e-3), timed(2, "local", 5e-4)];
    let text = page(&[folder("x", rows)]);
    assert!(
        text.contains("no limit was recorded for additions of f32 on Device with these rows: run gpulab ceiling"),
        "{text}"
    );
    assert!(page(&[]).contains("<h1>Recorded results</h1>"));
}

#[test]
fn limits_that_were_measured_beside_other_load_say_so() {
    let text = include_bytes!("../../../../data/results/pocl-epyc-2/ceilings.csv");
    let ceilings = gpulab_record::store::of_csv::<CeilingRow>(text, "ceilings").unwrap().0;
    let said = |ceilings| page(&[RecordedFolder { ceilings, ..folder("x", Vec::new()) }]).contains("on a busy machine");
    assert!(said(ceilings.clone()));
    assert!(!said(ceilings.into_iter().map(|row| CeilingRow { flags: Flags::default(), ..row }).collect()));
}

#[test]
fn signs_of_per_cent_stay_with_their_numbers() {
    assert_eq!(parts::prose("from 65% to 95 % (100 %)"), "from 65\u{a0}% to 95\u{a0}% (100\u{a0}%)");
    assert_eq!(parts::prose("(id / g) % 2"), "(id / g) % 2");
}

#[test]
fn kernels_of_a_source_are_not_held_against_limits_of_today() {
    let of = |family: &str, ceiling_pct: f64| {
        let row = |row| Row { family: family.into(), ceiling_pct: Some(ceiling_pct), ..row };
        [timed(1, "naive", 1e-3), timed(2, "local", 5e-4)].map(row).to_vec()
    };
    let heading = |rows: Vec<Row>| {
        let folder = folder("x", rows);
        ladder::heading(&devices_of(&folder)[0])
    };
    assert!(heading(of("reduce", 97.0)).starts_with("The fastest rungs reach 97"));
    assert_eq!(heading([of("reduce", 97.0), of("maruyama", 3.0)].concat()), heading(of("reduce", 97.0)));
}

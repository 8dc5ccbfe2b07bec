use super::*;
use gpulab_model::outcome::Status;
use gpulab_record::{Flags, flag, row};
use gpulab_study::ceilings::CeilingRow;

fn timed(rung: u32, variant: &str, seconds: f64) -> Row {
    let flags = Flags::default();
    Row {
        rung: Some(rung),
        t_median_s: Some(seconds),
        flags,
        device: "Device".to_owned(),
        ..row(variant)
    }
}

fn page(material: &Material) -> String {
    html(material, &[], &[])
}

fn of_rows(rows: Vec<Row>) -> Material {
    Material {
        rows,
        ..Material::default()
    }
}

#[test]
fn what_is_doubtful_wrong_or_too_fast_is_said() {
    let noisy = Row {
        flags: flag::NOISY,
        ..timed(2, "local", 5e-4)
    };
    let wrong = Row {
        status: Status::WrongResult,
        t_median_s: None,
        ..timed(3, "tiled", 1.0)
    };
    let fast = Row {
        status: Status::Suspect,
        ..timed(4, "wide", 1e-9)
    };
    let text = page(&of_rows(vec![timed(1, "naive", 1e-3), noisy, wrong, fast]));
    assert!(text.contains("of 3 times are doubtful"), "{text}");
    let said = "Wrong results: 1. Kernels that were not built: 0. Times shorter than the device can do: 1.";
    assert!(
        text.contains(said) && text.contains("2 cases without a result to trust"),
        "{text}"
    );
}

#[test]
fn what_is_missing_for_reasons_names_the_command_that_measures_it() {
    let text = page(&of_rows(vec![
        timed(1, "naive", 1e-3),
        timed(2, "local", 5e-4),
    ]));
    let missing =
        "no limit was recorded for additions of f32 on Device with these rows: run gpulab ceiling";
    assert!(text.contains(missing), "{text}");
    assert!(page(&Material::default()).contains("<h1>Recorded results</h1>"));
}

#[test]
fn limits_that_were_measured_beside_other_load_say_so() {
    let text = include_bytes!("../../../../data/results/pocl-epyc-2/ceilings.csv");
    let ceilings = gpulab_record::store::of_csv::<CeilingRow>(text, "ceilings")
        .unwrap()
        .0;
    let said = |ceilings| {
        page(&Material {
            ceilings,
            ..Material::default()
        })
        .contains("on a busy machine")
    };
    assert!(said(ceilings.clone()));
    assert!(!said(
        ceilings
            .into_iter()
            .map(|row| CeilingRow {
                flags: Flags::default(),
                ..row
            })
            .collect()
    ));
}

#[test]
fn kernels_of_a_source_are_not_held_against_limits_of_today() {
    let of = |family: &str, ceiling_pct: f64| {
        let row = |row| Row {
            family: family.into(),
            ceiling_pct: Some(ceiling_pct),
            ..row
        };
        [timed(1, "naive", 1e-3), timed(2, "local", 5e-4)]
            .map(row)
            .to_vec()
    };
    let heading = |rows: Vec<Row>| {
        let material = of_rows(rows);
        ladder::heading(&ladder::by_family(&material))
    };
    assert!(heading(of("reduce", 97.0)).starts_with("The fastest rung reaches 97"));
    assert_eq!(
        heading([of("reduce", 97.0), of("maruyama", 3.0)].concat()),
        heading(of("reduce", 97.0))
    );
}

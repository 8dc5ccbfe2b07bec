use super::*;
use crate::ceilings::{Quantity, Rate};
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::outcome::{Clock, Measured, Outcome, Sample, Stop};
use gpulab_model::outcome::{DeviceInfo, fake_info as info};
use gpulab_model::plan::{Case, WorkGroup};
use gpulab_record::Run;

fn row(
    info: &DeviceInfo,
    what: &'static str,
    place: Site,
    value: Option<f64>,
    quick: bool,
) -> CeilingRow {
    let measure = if what == "launch" {
        Rate::Seconds
    } else {
        Rate::Bytes
    };
    let quantity = Quantity {
        what,
        element: "",
        bytes: Some(1 << 20),
        measure,
        place,
        spaces: vec![],
    };
    let case = Case {
        wg: WorkGroup::linear(64),
        ..Case::of("read", "strided", Dtype::I32, Shape::vector(1 << 18))
    };
    let samples = vec![
        Sample {
            event: Some(1e-3),
            wall: 2e-3
        };
        3
    ];
    let measured = Measured {
        samples,
        ..Measured::equal()
    };
    let end = if value.is_some() {
        Ok(measured)
    } else {
        Err(Stop::new(Status::Skipped, ""))
    };
    let outcome = Outcome::pending(&case, Clock::Event).ended(end);
    CeilingRow::new(
        &quantity,
        (&Run::begin(), info),
        (&outcome, value, 1),
        quick,
    )
}

#[test]
fn what_is_kept_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = Kept::empty(&info());
    assert_eq!(Kept::empty(&info()).load(dir.path()).unwrap(), kept);
    kept.add(row(&info(), "read", Site::Memory, Some(4450.0), false));
    kept.add(row(&info(), "read", Site::Curve, None, false));
    let path = kept.save(dir.path()).unwrap();
    assert_eq!(Kept::empty(&info()).load(dir.path()).unwrap(), kept);
    assert_eq!(
        Kept::all(dir.path())
            .into_iter()
            .map(Result::unwrap)
            .collect::<Vec<_>>(),
        [kept.clone()]
    );
    assert_eq!(
        kept.find("read", Site::Memory, "").and_then(|r| r.value),
        Some(4450.0)
    );
    assert_eq!(
        (
            kept.find("read", Site::Curve, ""),
            kept.find("read", Site::Memory, "f32")
        ),
        (None, None)
    );
    let files: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 1, "nothing unfinished is left: {files:?}");
}

#[test]
fn another_driver_has_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = Kept::empty(&info());
    kept.add(row(&info(), "read", Site::Memory, Some(4450.0), false));
    kept.save(dir.path()).unwrap();
    let updated = DeviceInfo {
        driver: "99.1".into(),
        ..info()
    };
    let own = Kept::empty(&updated);
    assert_eq!(own.load(dir.path()).unwrap(), own);
    // Of the same name once it is made fit for a file.
    let alike = DeviceInfo {
        name: info().name + "!",
        ..info()
    };
    assert_eq!(
        Kept::empty(&alike).path(dir.path()),
        Kept::empty(&info()).path(dir.path())
    );
    let own = Kept::empty(&alike);
    assert_eq!(own.load(dir.path()).unwrap(), own);
}

#[test]
fn a_damaged_file_is_named_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = Kept::empty(&info()).save(dir.path()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let error = Kept::empty(&info())
        .load(dir.path())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains(path.to_str().unwrap()) && error.contains("gpulab ceiling"),
        "{error}"
    );
    // The rest can be had all the same.
    let mut other = Kept::empty(&DeviceInfo {
        driver: "99.1".into(),
        ..info()
    });
    other.add(row(&info(), "read", Site::Memory, Some(3.0), false));
    other.save(dir.path()).unwrap();
    let (sound, damaged): (Vec<_>, Vec<_>) =
        Kept::all(dir.path()).into_iter().partition(Result::is_ok);
    assert_eq!(
        (
            sound.into_iter().map(Result::unwrap).collect::<Vec<_>>(),
            damaged.len()
        ),
        (vec![other], 1)
    );
}

#[test]
fn a_value_that_is_no_rate_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    for (value, is_sound) in [(3.0, true), (0.0, false), (-3.0, false)] {
        let mut kept = Kept::empty(&info());
        kept.add(CeilingRow {
            value: Some(value),
            ..row(&info(), "read", Site::Memory, Some(1.0), false)
        });
        kept.save(dir.path()).unwrap();
        let loaded = Kept::empty(&info()).load(dir.path());
        assert_eq!(loaded.is_ok(), is_sound, "{value}: {loaded:?}");
        assert!(loaded.map_or_else(|e| e.to_string().contains("the value of read is"), |_| true));
    }
    for value in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(
            row(&info(), "read", Site::Memory, Some(value), false).value,
            None,
            "{value} is not kept"
        );
    }
}

#[test]
fn a_folder_that_cannot_be_written_to_is_told_with_what_chooses_another() {
    let dir = tempfile::tempdir().unwrap();
    check_writable(&dir.path().join("new")).unwrap();
    assert_eq!(
        std::fs::read_dir(dir.path().join("new").join(CeilingRow::FOLDER))
            .unwrap()
            .count(),
        0,
        "nothing is left"
    );
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = check_writable(&file).unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains(VARIABLE) && text.contains(file.to_str().unwrap()),
        "{text}"
    );
    assert_eq!(error.exit_code(), 74);
}

/// The value and the search that are kept of a quantity after lines with these were added one after the other.
fn kept_of(what: &'static str, lines: &[(Option<f64>, bool)]) -> (Option<f64>, bool) {
    let mut kept = Kept::empty(&info());
    for &(value, quick) in lines {
        let new = row(&info(), what, Site::Host, value, quick);
        let is_taken = kept.add(new.clone());
        assert_eq!(kept.entries.len(), 1);
        assert!(!is_taken || kept.entries[0] == new, "{lines:?}");
    }
    (kept.entries[0].value, kept.entries[0].quick)
}

#[test]
fn a_quick_value_takes_the_place_of_worse_ones_only() {
    for quick in [false, true] {
        assert_eq!(
            kept_of("read", &[(Some(3.0), quick), (Some(2.0), true)]),
            (Some(3.0), quick)
        );
        assert_eq!(
            kept_of("read", &[(Some(3.0), quick), (Some(3.5), true)]),
            (Some(3.5), true)
        );
        assert_eq!(
            kept_of("launch", &[(Some(10.5), quick), (Some(27.1), true)]),
            (Some(10.5), quick),
            "us"
        );
        assert_eq!(
            kept_of("launch", &[(Some(10.5), quick), (Some(9.5), true)]),
            (Some(9.5), true),
            "us"
        );
    }
}

#[test]
fn a_full_search_replaces_anything_but_with_none() {
    for quick in [false, true] {
        assert_eq!(
            kept_of("read", &[(Some(3.0), quick), (Some(2.0), false)]),
            (Some(2.0), false)
        );
        assert_eq!(
            kept_of("launch", &[(Some(10.5), quick), (Some(27.1), false)]),
            (Some(27.1), false)
        );
        assert_eq!(
            kept_of("read", &[(Some(3.0), quick), (None, false)]),
            (Some(3.0), quick)
        );
        assert_eq!(
            kept_of("read", &[(None, quick), (Some(3.0), true)]),
            (Some(3.0), true)
        );
        assert_eq!(
            kept_of("read", &[(None, quick), (None, true)]),
            (None, true),
            "the latest reason"
        );
    }
}

#[test]
fn a_cache_is_as_large_as_what_is_read_clearly_faster_than_memory() {
    let mut kept = Kept::empty(&info());
    let point = |bytes, value| CeilingRow {
        bytes: Some(bytes),
        ..row(&info(), "read", Site::Curve, value, false)
    };
    kept.add(point(1 << 20, Some(9000.0)));
    assert_eq!(kept.cached(), 0, "memory's rate is not known");
    kept.add(row(&info(), "read", Site::Memory, Some(4000.0), false));
    for (bytes, value) in [
        (1 << 22, Some(6000.0)),
        (1 << 24, None),
        (1 << 26, Some(4400.0)),
    ] {
        kept.add(point(bytes, value));
    }
    kept.add(CeilingRow {
        bytes: Some(1 << 28),
        ..row(&info(), "write", Site::Curve, Some(9000.0), false)
    });
    assert_eq!(kept.cached(), 1 << 22);
}

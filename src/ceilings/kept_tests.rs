use super::*;
use crate::ceilings::{Measure, Quantity};
use crate::data::{Dtype, Params, Shape};
use crate::device::fake;
use crate::kernels::{Case, WorkGroup};
use crate::record::Run;
use crate::runner::{Clock, Outcome, Sample};

fn row(info: &DeviceInfo, what: &'static str, place: Place, value: Option<f64>, quick: bool) -> CeilingRow {
    let quantity = Quantity { what, element: "", bytes: Some(1 << 20), measure: Measure::Bytes, place, spaces: vec![] };
    let case = Case {
        family: "read".into(),
        variant: "strided".into(),
        dtype: Dtype::I32,
        shape: Shape::vector(1 << 18),
        wg: WorkGroup::linear(64),
        params: Params::new(),
        seed: 1,
    };
    let mut outcome = Outcome::pending(&case, Clock::Event);
    outcome.samples = vec![Sample { event: Some(1e-3), wall: 2e-3 }; 3];
    outcome.status = if value.is_some() { Status::Ok } else { Status::Skipped };
    CeilingRow::new(&quantity, (&Run::begin(), info), (&outcome, value, 1), quick)
}

fn info() -> DeviceInfo {
    fake::fake_info()
}

#[test]
fn what_is_kept_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let mut kept = Kept::empty(&info());
    assert_eq!(Kept::load(dir.path(), &info()).unwrap(), None);
    kept.add(row(&info(), "read", Place::Memory, Some(4450.0), false));
    kept.add(row(&info(), "read", Place::Curve, None, false));
    let path = kept.save(dir.path()).unwrap();
    assert_eq!(Kept::load(dir.path(), &info()).unwrap(), Some(kept.clone()));
    assert_eq!(all_kept(dir.path()).unwrap(), [kept.clone()]);
    assert_eq!(kept.find("read", Place::Memory, "").and_then(|r| r.value), Some(4450.0));
    assert_eq!((kept.find("read", Place::Curve, ""), kept.find("read", Place::Memory, "f32")), (None, None));
    let files: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(files.len(), 1, "nothing unfinished is left: {files:?}");
}

#[test]
fn another_driver_has_its_own() {
    let dir = tempfile::tempdir().unwrap();
    Kept::empty(&info()).save(dir.path()).unwrap();
    let updated = DeviceInfo { driver: "99.1".into(), ..info() };
    assert_eq!(Kept::load(dir.path(), &updated).unwrap(), None);
    // Of the same name once it is made fit for a file.
    let alike = DeviceInfo { name: info().name + "!", ..info() };
    assert_eq!(Kept::empty(&alike).path(dir.path()), Kept::empty(&info()).path(dir.path()));
    assert_eq!(Kept::load(dir.path(), &alike).unwrap(), None);
}

#[test]
fn a_damaged_file_is_named_with_what_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = Kept::empty(&info()).save(dir.path()).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let error = Kept::load(dir.path(), &info()).unwrap_err().to_string();
    assert!(error.contains(path.to_str().unwrap()) && error.contains("gpulab ceiling"), "{error}");
}

#[test]
fn a_weaker_line_does_not_replace_a_better_one() {
    let mut kept = Kept::empty(&info());
    let mut add = |value, quick| {
        kept.add(row(&info(), "read", Place::Memory, value, quick));
        assert_eq!(kept.ceilings.len(), 1);
        (kept.ceilings[0].value, kept.ceilings[0].quick)
    };
    assert_eq!(add(None, true), (None, true));
    assert_eq!(add(Some(3.0), true), (Some(3.0), true));
    assert_eq!(add(Some(2.0), true), (Some(2.0), true));
    assert_eq!(add(Some(2.5), false), (Some(2.5), false));
    assert_eq!(add(Some(2.4), true), (Some(2.5), false), "quick, and lower");
    assert_eq!(add(None, false), (Some(2.5), false), "no value");
    assert_eq!(add(Some(2.0), false), (Some(2.0), false), "measured anew");
    assert_eq!(add(Some(2.1), true), (Some(2.1), true), "what was passed is no ceiling");
}

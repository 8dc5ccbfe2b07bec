use super::*;
use gpulab_kernels::{minplus, reduce};
use gpulab_model::outcome::fake_info;

fn entry(family: &Family, variant: &str, n: u64, params: &[(&str, &str)]) -> TunedEntry {
    let rung = family.rung(variant).unwrap();
    let shape = family.form.shape(n, None);
    let case = case(family, variant, n, &[]);
    let plan = family.plan(rung, &case, &fake_info().target).unwrap();
    TunedEntry {
        source: source_hash(&[rung], &Sources::default()).unwrap(),
        family: family.name.to_string(),
        file: None,
        rung: Some(variant.into()),
        dtype: Dtype::I32,
        choices: choices(family, &plan),
        size: SizeClass::of(shape),
        variant: variant.into(),
        wg: WorkGroup::linear(64),
        ran_wg: None,
        params: params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        n,
        m: shape.m,
        t_median_s: 1e-3,
        ceiling_pct: None,
        default_x: Some(1.5),
        tried: 9,
        time_utc: "2026-01-02T03:04:05Z".into(),
        gpulab: "0.1.0".into(),
    }
}

fn case(family: &Family, variant: &str, n: u64, params: &[(&str, &str)]) -> Case {
    Case {
        wg: WorkGroup::linear(256),
        params: params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        ..Case::of(&family.name, variant, Dtype::I32, family.form.shape(n, None))
    }
}

fn remembered(entries: Vec<TunedEntry>, family: &Family) -> Remembered<'_> {
    let file = TunedFile { entries, ..TunedFile::empty(&fake_info()) };
    let rungs: Vec<&Rung> = family.ladder.iter().collect();
    let hash = |rungs: &[&Rung]| source_hash(rungs, &Sources::default()).unwrap();
    Remembered {
        file,
        family,
        target: fake_info().target,
        sources: rungs.iter().map(|rung| (rung.variant(), hash(&[rung]))).collect(),
        all_sources: hash(&rungs),
    }
}

#[test]
fn an_entry_is_for_its_rung_type_choices_and_size_class_only() {
    let tuned = entry(&reduce::FAMILY, "raking", 5000, &[("items", "4096")]);
    let known = remembered(vec![tuned.clone()], &reduce::FAMILY);
    let found = |variant: &str, n, params: &[(&str, &str)]| known.tuned(&case(&reduce::FAMILY, variant, n, params));
    let used = found("raking", 8191, &[]).unwrap();
    assert_eq!((used.wg, used.params["items"].as_str()), (WorkGroup::linear(64), "4096"));
    assert!(found("raking", 4096, &[("op", "sum")]).is_some(), "the default choice, by name");
    for (variant, n, params) in [
        ("raking", 8192, &[][..]),
        ("raking", 4095, &[]),
        ("vectorised", 5000, &[]),
        ("raking", 5000, &[("op", "max")]),
    ] {
        assert_eq!(found(variant, n, params), None, "{variant} {n} {params:?}");
    }
    let other_type = Case { dtype: Dtype::F32, ..case(&reduce::FAMILY, "raking", 5000, &[]) };
    assert_eq!(known.tuned(&other_type), None);
    let edited = TunedEntry { source: "0".repeat(64), ..tuned };
    assert_eq!(remembered(vec![edited], &reduce::FAMILY).tuned(&case(&reduce::FAMILY, "raking", 5000, &[])), None);
}

#[test]
fn the_best_of_all_rungs_has_an_entry_of_its_own() {
    let rungs: Vec<&Rung> = minplus::FAMILY.ladder.iter().collect();
    let any = TunedEntry {
        source: source_hash(&rungs, &Sources::default()).unwrap(),
        rung: None,
        ..entry(&minplus::FAMILY, "wide", 100, &[("depth", "32")])
    };
    let known = remembered(vec![any], &minplus::FAMILY);
    let best = known.best(&case(&minplus::FAMILY, "tiled", 120, &[])).unwrap();
    assert_eq!((best.variant.as_str(), best.params["depth"].as_str()), ("wide", "32"));
    assert_eq!(known.tuned(&case(&minplus::FAMILY, "wide", 120, &[])), None);
    assert_eq!(known.best(&case(&minplus::FAMILY, "tiled", 120, &[("weights", "signed")])), None);
}

#[test]
fn settings_that_the_size_refuses_are_not_used() {
    let bad = entry(&reduce::FAMILY, "raking", 5000, &[("items", "none")]);
    assert_eq!(remembered(vec![bad], &reduce::FAMILY).tuned(&case(&reduce::FAMILY, "raking", 5000, &[])), None);
}

#[test]
fn what_is_added_comes_back_and_a_newer_entry_takes_an_older_ones_place() {
    let dir = tempfile::tempdir().unwrap();
    let memory = TuningMemory::below(dir.path());
    let device = TunedFile::empty(&fake_info());
    let first = entry(&reduce::FAMILY, "raking", 5000, &[]);
    let second = TunedEntry { t_median_s: 2.0, ..first.clone() };
    let other = entry(&reduce::FAMILY, "wide", 5000, &[]);
    assert_eq!(memory.add(&device, &[first, other.clone()]).unwrap(), None);
    assert_eq!(memory.add(&device, std::slice::from_ref(&second)).unwrap(), None);
    assert_eq!(memory.of(&fake_info()).0.entries, [other.clone(), second]);
    assert_eq!(memory.forget(&device, |entry| entry.variant == "raking").unwrap(), 1);
    assert_eq!(all_tuned(&memory).into_iter().map(|f| f.unwrap().entries).collect::<Vec<_>>(), [[other]]);
    let driver = TunedFile { driver: "another".into(), ..device };
    assert!(memory.load(&driver).0.entries.is_empty(), "never of another driver");
}

#[test]
fn two_at_once_both_keep_their_entries() {
    let dir = tempfile::tempdir().unwrap();
    let add = |from: u32| {
        let memory = TuningMemory::below(dir.path());
        for size in from..from + 10 {
            let entry = TunedEntry { size: SizeClass { n: size, m: 0 }, ..entry(&reduce::FAMILY, "wide", 64, &[]) };
            memory.add(&TunedFile::empty(&fake_info()), &[entry]).unwrap();
        }
    };
    std::thread::scope(|scope| [0, 10, 20].map(|from| scope.spawn(move || add(from))).map(|t| t.join().unwrap()));
    assert_eq!(TuningMemory::below(dir.path()).of(&fake_info()).0.entries.len(), 30);
}

#[test]
fn damage_is_put_aside_and_told() {
    let dir = tempfile::tempdir().unwrap();
    let memory = TuningMemory::below(dir.path());
    let device = TunedFile::empty(&fake_info());
    let good = entry(&reduce::FAMILY, "raking", 5000, &[]);
    for bad in [
        TunedEntry { t_median_s: -1.0, ..good.clone() },
        TunedEntry { wg: WorkGroup([0, 1, 1]), ..good.clone() },
        TunedEntry { variant: "nothing".into(), ..good.clone() },
    ] {
        let file = TunedFile { entries: vec![bad], ..device.clone() };
        assert!(TunedFile::parse(&serde_json::to_string(&file).unwrap()).is_err(), "{file:?}");
    }
    let path = device.path(dir.path());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "{\"platform\": 1").unwrap();
    let told = memory.add(&device, std::slice::from_ref(&good)).unwrap().unwrap();
    assert!(told.contains("cannot read the tuned settings") && told.contains(".bad"), "{told}");
    assert_eq!(memory.of(&fake_info()), (TunedFile { entries: vec![good], ..device }, None));
    assert_eq!(std::fs::read(path.with_extension("json.bad")).unwrap(), b"{\"platform\": 1");
}

#[test]
fn size_classes_are_powers_of_two_in_both_dimensions() {
    let of = |n, m| SizeClass::of(Shape { n, m });
    assert_eq!([of(1000, 1), of(1024, 1), of(2047, 1)].map(|c| c.n), [9, 10, 10]);
    assert_ne!(of(64, 128), of(128, 64));
    assert_eq!(of(64, 128).text(Form::Matrix), "2^6 to 2^7 columns, 2^7 to 2^8 rows");
    assert_eq!(of(5, 1).text(Form::Vector), "2^2 to 2^3 elements");
}

use super::space::default_work_groups;
use super::*;
use gpulab_kernels::dot;
use gpulab_model::data::{Dtype, Shape};
use gpulab_model::outcome::{Settings, fake_info};
use gpulab_model::plan::{Case, Target, WorkGroup};
use gpulab_record::store::Rows;
use gpulab_record::{Row, row};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn space(wgs: &[usize], set: &[&str]) -> Space<'static> {
    let rungs: Vec<_> = dot::FAMILY.ladder.iter().collect();
    let texts: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    Space {
        family: &dot::FAMILY,
        settings: settings(&dot::FAMILY, &rungs, &texts).unwrap(),
        rungs,
        dtypes: vec![Dtype::F32],
        shapes: vec![Shape::vector(1 << 20)],
        wgs: wgs.iter().map(|&wg| WorkGroup::linear(wg)).collect(),
        seed: 1,
    }
}

fn target() -> Target {
    fake_info().target
}

fn labels(plan: &[Configuration]) -> Vec<String> {
    plan.iter().map(Configuration::label).collect()
}

#[test]
fn every_combination_is_planned_once() {
    let plan = space(&[32, 64], &["items=1024,4096", "presum=host,none"]).expand(&target());
    let of = |variant: &str| plan.iter().filter(|c| c.case.variant == variant).count();
    assert_eq!(
        (of("naive"), of("coalesced"), of("accumulators")),
        (4, 8, 4)
    );
    assert_eq!(
        of("wide"),
        1,
        "it fixes its work-group and reads none of the settings"
    );
    assert!(plan.iter().enumerate().all(|(i, c)| c.index == i as u64));
    let distinct: BTreeSet<String> = labels(&plan).into_iter().collect();
    assert_eq!(distinct.len(), plan.len());
}

#[test]
fn settings_that_come_to_the_same_plan_are_one_configuration() {
    let small = Space {
        shapes: vec![Shape::vector(100)],
        ..space(&[32], &["items=4096,8192"])
    };
    let plan = small.expand(&target());
    assert_eq!(plan.len(), dot::FAMILY.ladder.len(), "{:?}", labels(&plan));
    let whole = Space {
        dtypes: vec![Dtype::I32],
        ..space(&[32], &["mad=0,1"])
    };
    assert_eq!(
        whole.expand(&target()).len(),
        dot::FAMILY.ladder.len(),
        "integers have no mad()"
    );
}

#[test]
fn what_cannot_run_stays_in_the_plan_with_its_reason() {
    let plan = space(&[64, 4096], &["presum=host,none"]).expand(&target());
    let refused: Vec<&Configuration> = plan.iter().filter(|c| c.refusal.is_some()).collect();
    assert_eq!(
        refused.len(),
        1 + 3 * 2 + 2,
        "all but wide, for each presum that they read"
    );
    assert!(
        refused
            .iter()
            .all(|c| c.refusal.as_ref().unwrap().to_string().contains("1024"))
    );
}

#[test]
fn no_elements_make_one_configuration_a_rung() {
    let none = Space {
        shapes: vec![Shape::vector(0)],
        ..space(&[32, 64], &["items=1,2"])
    };
    assert_eq!(none.expand(&target()).len(), dot::FAMILY.ladder.len());
}

#[test]
fn default_work_groups_are_powers_of_two_that_the_device_allows() {
    let sizes = |max_wg| {
        let groups = default_work_groups(&Target { max_wg, ..target() });
        groups.into_iter().map(WorkGroup::size).collect::<Vec<_>>()
    };
    assert_eq!(sizes(1024), [32, 64, 128, 256, 512, 1024]);
    assert_eq!(sizes(100), [32, 64]);
    assert_eq!(sizes(8), [8]);
}

#[test]
fn settings_that_there_are_not_are_told_with_those_that_there_are() {
    let rungs: Vec<_> = dot::FAMILY.ladder.iter().collect();
    let read = |text: &str| settings(&dot::FAMILY, &rungs, &[text.to_owned()]);
    assert_eq!(
        read("items=1Ki..4Ki*2").unwrap()[0].values,
        ["1024", "2048", "4096"]
    );
    assert_eq!(read("acc=3,4,3").unwrap()[0].values, ["3", "4"]);
    for (text, word) in [
        ("itmes=4", "items, mad, presum, acc"),
        ("items", "NAME=VALUE"),
        ("items=x", "from 1 on"),
        ("items=0", "from 1 on"),
        ("presum=gpu", "host, device or none"),
        ("presum=", "host, device or none"),
        ("mad=2", "0 or 1"),
    ] {
        let error = read(text).unwrap_err();
        assert!(error.contains(word), "{text}: {error}");
    }
    let twice = ["acc=1".to_owned(), "acc=2".to_owned()];
    assert!(
        settings(&dot::FAMILY, &rungs, &twice)
            .unwrap_err()
            .contains("twice")
    );
    assert!(
        settings(&dot::FAMILY, &rungs[..1], &["acc=1".into()])
            .unwrap_err()
            .contains("items, mad")
    );
}

proptest! {
    #[test]
    fn shards_are_an_exact_partition(of in 1u64..40) {
        let plan = space(&[32, 64, 128], &["items=1024,4096"]).expand(&target());
        let holders = |c: &Configuration| (1..=of).filter(|&index| Shard { index, of }.holds(c)).count();
        prop_assert!(plan.iter().all(|c| holders(c) == 1));
        let sizes: Vec<usize> =
            (1..=of).map(|index| plan.iter().filter(|c| Shard { index, of }.holds(c)).count()).collect();
        prop_assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1);
    }
}

fn measuring() -> Settings {
    Settings {
        max_runs: 9,
        ..Settings::default()
    }
}

fn identity(plan: &[Configuration], shard: Shard, settings: &Settings) -> Identity {
    Identity::new(
        plan,
        shard,
        &fake_info(),
        settings,
        None,
        &["text".to_owned()],
    )
}

/// The rows of a shard, as a finished sweep on the fake device has them.
fn rows(plan: &[Configuration], shard: Shard) -> Vec<Row> {
    let identity = identity(plan, shard, &measuring());
    let info = fake_info();
    let stamped = |c: &Configuration| {
        let platform = info.platform.clone();
        let device = info.name.clone();
        let driver = info.driver.clone();
        let Case {
            family,
            variant,
            dtype,
            shape,
            ..
        } = c.case.clone();
        let mut row = Row {
            platform,
            device,
            driver,
            family,
            variant,
            dtype,
            n: shape.n,
            m: shape.m,
            ..row("x")
        };
        identity.stamp(&mut row, c);
        row
    };
    plan.iter()
        .filter(|c| shard.holds(c))
        .map(stamped)
        .collect()
}

#[test]
fn a_sweep_goes_on_only_with_its_own_rows() {
    let plan = space(&[32, 64], &[]).expand(&target());
    let ours = identity(&plan, Shard::ALL, &measuring());
    let written = rows(&plan, Shard::ALL);
    assert_eq!(ours.finished(&plan, &written[..5]), Ok((0..5).collect()));
    assert_eq!(ours.finished(&plan, &[]), Ok(BTreeSet::new()));
    let changed = |change: fn(&mut Row)| {
        let mut row = written[0].clone();
        change(&mut row);
        ours.finished(&plan, &[row]).unwrap_err()
    };
    assert!(changed(|r| r.device = "other".into()).contains("device is other"));
    assert!(
        changed(|r| r.driver = "0.9".into()).contains("driver is 0.9 in one and 1.0 in the other")
    );
    assert!(changed(|r| r.shard = "2/4".into()).contains("shards is 4 in one"));
    assert!(changed(|r| r.shard = "1/1".into()).contains("the shard is"));
    assert!(changed(|r| r.sweep_id = String::new()).contains("the sweep is"));
    assert!(changed(|r| r.sweep_id = "s0".into()).contains("the sweep is s0 of"));
    assert!(changed(|r| r.case_index = Some(10_000)).contains("not a configuration"));
    assert!(changed(|r| r.variant = "another".into()).contains("not a configuration"));
    assert!(changed(|r| r.n += 1).contains("not a configuration"));
    let longer = identity(
        &plan,
        Shard::ALL,
        &Settings {
            max_runs: 50,
            ..measuring()
        },
    );
    let why = longer.finished(&plan, &written).unwrap_err();
    assert_eq!(
        why,
        "how it is measured is max_runs=9 in one and max_runs=50 in the other"
    );
    assert!(
        ours.finished(&plan, &[written[0].clone(), written[0].clone()])
            .unwrap_err()
            .contains("twice")
    );
}

#[test]
fn an_identity_depends_on_plan_settings_and_sources() {
    let plan = space(&[32, 64], &[]).expand(&target());
    let of = |plan: &[Configuration], text: &str| {
        let sources = [text.to_owned()];
        Identity::new(plan, Shard::ALL, &fake_info(), &measuring(), None, &sources)
            .0
            .sweep_id
    };
    let id = of(&plan, "text");
    assert_eq!(id, of(&plan, "text"));
    assert_ne!(id, of(&plan[1..], "text"));
    assert_ne!(id, of(&plan, "other"));
    assert_eq!(
        id,
        identity(&plan, Shard { index: 2, of: 3 }, &measuring())
            .0
            .sweep_id,
        "shards share it"
    );
}

fn files(plan: &[Configuration], of: u64) -> Vec<(String, Rows)> {
    let file = |index| {
        (
            format!("{index}.csv"),
            Rows {
                rows: rows(plan, Shard { index, of }),
                torn: None,
            },
        )
    };
    (1..=of).map(file).collect()
}

#[test]
fn shards_merge_to_the_whole_in_the_plans_order() {
    let plan = space(&[32, 64], &[]).expand(&target());
    // More shards than configurations leave some files without rows.
    for of in [1, 2, 3, 20] {
        let mut parts = files(&plan, of);
        parts.reverse();
        let merged = merge(parts).unwrap();
        let places: Vec<u64> = merged.iter().filter_map(|r| r.case_index).collect();
        assert_eq!(places, (0..plan.len() as u64).collect::<Vec<_>>());
    }
}

#[test]
fn what_does_not_fit_is_not_merged() {
    let plan = space(&[32, 64], &[]).expand(&target());
    let with = |change: fn(&mut Vec<(String, Rows)>)| {
        let mut parts = files(&plan, 3);
        change(&mut parts);
        merge(parts).unwrap_err()
    };
    assert!(with(|p| drop(p.remove(1))).contains("of shard 2/3"));
    assert!(with(|p| drop(p[0].1.rows.pop())).contains("1 are missing, of shard 1/3"));
    assert!(with(|p| p.push(p[2].clone())).contains("again in 3.csv"));
    assert!(with(|p| p[1].1.torn = Some("2.csv ended".into())).contains("--resume"));
    assert!(
        with(|p| p[1].1.rows[0].driver = "2.0".into()).contains("the driver is 1.0 in one and 2.0")
    );
    assert!(with(|p| p[1].1.rows[0].device = "other".into()).contains("device"));
    assert!(with(|p| p[1].1.rows[0].sweep_id = "s1".into()).contains("the sweep is"));
    assert!(with(|p| p[1].1.rows[0].sweep_id.clear()).contains("without a place"));
    assert!(
        with(|p| p[1].1.rows[0].shard = "2/4".into())
            .contains("the number of shards is 3 in one and 4")
    );
    assert!(with(|p| p[1].1.rows[0].case_index = Some(99)).contains("without a place"));
    assert!(merge(Vec::new()).unwrap_err().contains("no rows"));
}

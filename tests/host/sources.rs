//! The page that leads from the sources' slides to commands: what it names exists.

use gpulab::kernels::cited;
use gpulab::report::printed::figure;
use gpulab::report::sources;
use std::path::Path;

const PAGE: &str = include_str!("../../docs/sources.md");

#[test]
fn every_source_has_its_road_and_every_row_its_command() {
    let sources = sources::all();
    let names: Vec<String> = sources.iter().map(sources::CitedSource::name).collect();
    assert_eq!(names, ["bornhofen", "ppc", "cmsoft", "nvidia", "maruyama"]);
    let rows = PAGE
        .lines()
        .filter(|line| line.contains("| `gpulab "))
        .count();
    assert_eq!(
        sources.iter().map(|s| s.steps.len()).sum::<usize>(),
        rows,
        "each row of a table has five cells"
    );
    for step in sources.iter().flat_map(|s| &s.steps) {
        let commands = [Some(step.command), step.unmeasured];
        assert!(
            commands
                .iter()
                .flatten()
                .all(|c| c.starts_with("gpulab ") && !c.contains('`')),
            "{step:?}"
        );
        assert!(
            [step.place, step.see, step.today]
                .iter()
                .all(|cell| !cell.is_empty()),
            "{step:?}"
        );
    }
}

/// What a row gives for the H200 stands in a file that is there.
#[test]
fn every_file_of_results_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let named: Vec<&str> = PAGE
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.ends_with(".csv"))
        .collect();
    assert!(named.len() > 10, "{named:?}");
    for file in named {
        let path = if file.contains('/') {
            root.join(file)
        } else {
            root.join("data/results/nvidia-h200").join(file)
        };
        assert!(path.is_file(), "{file}");
    }
}

/// The sizes that a source prints are those of its kernels here.
#[test]
fn kernels_as_printed_have_the_sources_sizes() {
    let printed = |source: &str, what: &str| figure(source, what).unwrap().parse::<u64>().unwrap();
    let of = |source: &str| -> toml::Table { toml::from_str(cited(source).unwrap()).unwrap() };
    let number = |source: &str, key: &str| of(source)[key].as_integer().unwrap() as u64;
    assert_eq!(
        4 * number("maruyama", "n"),
        printed("maruyama", "bytes of the first level")
    );
    assert_eq!(number("maruyama", "wg"), printed("maruyama", "group"));
    assert_eq!(number("bornhofen", "wg"), printed("bornhofen", "group"));
    assert_eq!(number("cmsoft", "wg"), printed("cmsoft", "group"));
    let items = of("cmsoft")["rung"][0]["launch"][0]["items"]
        .as_integer()
        .unwrap() as u64;
    assert_eq!(items, printed("cmsoft", "work-items"));
}

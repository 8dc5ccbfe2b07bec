//! What was found in the kernels of a repository: for a terminal, as Markdown, SARIF and JUnit, and as GitHub's annotations.

use crate::format::{Screen, counted, markdown, significant};
use crate::markdown::MARKDOWN_MARK;
use crate::table::Table;
use crate::verdict::{Finding, Level, Verdict};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// A file that was looked at.
pub struct CheckedFile {
    pub file: String,
    pub kernels: usize,
    /// Compilers that built it, of those that tried.
    pub built: String,
    pub simulator: String,
    /// The version of OpenCL C and the extensions that it needs.
    pub needs: String,
    /// Seconds of processor time that the slowest driver took: the first time, and again.
    pub seconds: Option<[f64; 2]>,
}

/// The table of files, what was found and what was not looked at, and the verdict.
pub fn text(files: &[CheckedFile], verdict: &Verdict, screen: Screen) -> String {
    let mut text = table(files, screen.width * 27 / 100).fitted(screen.width) + "\n";
    for line in lines(verdict) {
        text += &screen.wrap(&line);
    }
    text
}

/// The same as Markdown, of which GitHub shows at most 1 MiB.
pub fn md(files: &[CheckedFile], verdict: &Verdict) -> String {
    const MOST: usize = 1_000_000;
    let mut text = format!("{MARKDOWN_MARK}{}\n", table(files, usize::MAX).markdown());
    for line in lines(verdict) {
        let line = format!("- {}\n", markdown(&line));
        if text.len() + line.len() > MOST {
            return text + "- and more, which --json has\n";
        }
        text += &line;
    }
    text
}

fn table(files: &[CheckedFile], width: usize) -> Table {
    let end = |file: &CheckedFile| {
        let all = file.file.chars().count();
        if all <= width {
            return file.file.clone();
        }
        let end: String = file.file.chars().skip(all - width + 1).collect();
        format!("…{end}")
    };
    let milliseconds = |at: usize| {
        files.iter().map(move |file| {
            file.seconds
                .map_or("-".into(), |seconds| significant(1e3 * seconds[at], 3))
        })
    };
    Table::default()
        .texts("file", files.iter().map(end))
        .numbers("kernels", files.iter().map(|file| file.kernels.to_string()))
        .texts("built by", files.iter().map(|file| file.built.clone()))
        .texts("simulator", files.iter().map(|file| file.simulator.clone()))
        .texts(
            "needs",
            files.iter().map(|file| file.needs.replace("cl_khr_", "")),
        )
        .numbers("build\nms", milliseconds(0))
        .numbers("again\nms", milliseconds(1))
}

/// What was found, what was not looked at, and the verdict.
fn lines(verdict: &Verdict) -> Vec<String> {
    let mut lines: Vec<String> = shown(verdict)
        .map(|found| format!("{}: {}", found.level.name(), placed(found)))
        .collect();
    let mut left: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for one in &verdict.not_looked_at {
        left.entry(&one.why).or_default().push(&one.what);
    }
    for (why, what) in left {
        let more = match what.len() {
            1 => String::new(),
            all => format!(" and {} more", all - 1),
        };
        lines.push(format!("not looked at: {}{more}: {why}", what[0]));
    }
    lines.push(format!("{}: {}", verdict.verdict.name(), verdict.reason));
    lines
}

/// What people are shown.
fn shown(verdict: &Verdict) -> impl Iterator<Item = &Finding> {
    let findings = verdict.findings.iter();
    findings.filter(|found| found.level != Level::Note)
}

/// A finding with its place and its tools.
pub fn placed(found: &Finding) -> String {
    let file = found.file.as_deref().unwrap_or_default();
    let line = found
        .line
        .map_or_else(String::new, |line| format!(":{line}"));
    format!("{file}{line}: {}", said(found))
}

fn said(found: &Finding) -> String {
    format!("{} ({})", found.message, found.tool)
}

/// SARIF 2.1.0, for code scanning.
pub fn sarif(verdict: &Verdict) -> Value {
    let results = shown(verdict).map(|found| {
        let uri = found.file.as_deref().unwrap_or_default();
        let uri = uri.replace('%', "%25").replace(' ', "%20");
        let region = json!({"startLine": found.line.unwrap_or(1)});
        let place = json!({"artifactLocation": {"uri": uri}, "region": region});
        json!({
            "ruleId": found.rule,
            "level": found.level,
            "message": {"text": said(found)},
            "locations": [{"physicalLocation": place}],
        })
    });
    let results: Vec<Value> = results.collect();
    let ids = shown(verdict).map(|found| found.rule.as_str());
    let rules: Vec<Value> = BTreeSet::from_iter(ids)
        .into_iter()
        .map(|id| json!({"id": id}))
        .collect();
    let driver = json!({"name": "gpulab", "version": verdict.gpulab, "rules": rules});
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    })
}

/// JUnit's XML: a test for each file, for each error, for each warning, which fails if it is `strict`, and for each thing that
/// was not looked at.
pub fn junit(files: &[CheckedFile], verdict: &Verdict, strict: bool) -> String {
    let body = maud::html! {
        testsuites {
            testsuite name="gpulab check" {
                @for file in files {
                    testcase classname="read" name=(file.file) {}
                }
                @for found in shown(verdict) {
                    testcase classname=(found.rule) name=(placed(found)) {
                        @if strict || found.level == Level::Error {
                            failure message=(said(found)) {}
                        }
                    }
                }
                @for left in &verdict.not_looked_at {
                    testcase classname="not looked at" name=(left.what) {
                        skipped message=(left.why) {}
                    }
                }
            }
        }
    };
    let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";
    format!("{head}\n{}\n", body.into_string())
}

/// Lines by which GitHub shows findings beside the code.
pub fn annotations(verdict: &Verdict) -> String {
    let escaped = |text: &str| {
        let text = text.replace('%', "%25").replace('\r', "%0D");
        text.replace('\n', "%0A")
    };
    let lines = shown(verdict).map(|found| {
        let level = found.level.name();
        let place = found.file.as_deref().map_or_else(String::new, |file| {
            // What stands before the message has two signs of its own.
            let file = escaped(file).replace(':', "%3A").replace(',', "%2C");
            format!("file={file},line={},", found.line.unwrap_or(1))
        });
        let said = escaped(&said(found));
        format!("::{level} {place}title={}::{said}\n", found.rule)
    });
    lines.collect()
}

/// How much was found, in how many files.
pub fn reason(files: &[CheckedFile], verdict: &Verdict) -> String {
    let number = |level: Level| {
        let findings = verdict.findings.iter();
        findings.filter(|found| found.level == level).count()
    };
    format!(
        "{} and {} in {}; {} not looked at",
        counted(number(Level::Error), "error"),
        counted(number(Level::Warning), "warning"),
        counted(files.len(), "file"),
        counted(verdict.not_looked_at.len(), "thing")
    )
}

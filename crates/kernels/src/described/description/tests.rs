//! Files of families, understood and refused.

use super::super::args::DescribedArg;
use super::*;
use crate::DeclarationError;

pub(crate) const TOML: &str = r#"
name = "doubled"
about = "each element twice"
types = ["i32", "f32"]
n = 1000
limit = "copy"
bytes = "2 * n * size"
operations = "n"

[[input]]
name = "x"
length = "n"
fill = "small 8"

[output]
length = "n"

[check]
command = ["cat", "{x}", "{out}"]

[tolerance]
reason = "twice a whole number is exact"

[[rung]]
name = "naive"
file = "naive.cl"
wg = "64"
tune = { ITEMS = [1, 2] }

[[rung.launch]]
kernel = "doubled"
items = "ceil(n, ITEMS)"
args = ["x", "out", "n"]
"#;

fn parse(text: &str) -> Result<Description, DeclarationError> {
    Description::parse(text, "Two times")
}

fn error(from: &str, to: &str) -> DeclarationError {
    assert!(TOML.contains(from), "{from}");
    parse(&TOML.replacen(from, to, 1)).unwrap_err()
}

#[test]
fn a_file_is_understood() {
    let all = parse(TOML).unwrap();
    assert_eq!((all.name.as_str(), all.form), ("doubled", Form::Vector));
    let shapes = [(1 << 20, false), (1 << 20, true), (64, true), (64, false)];
    assert_eq!(shapes.map(|(usual, small)| all.usual_shape(usual, small).n), [1000, 1000, 64, 1000]);
    let launch = all.rungs[0].steps[0].launches()[0];
    assert_eq!(launch.args[0], DescribedArg::Buffer("x".into()));
    assert!(matches!(&launch.args[2], DescribedArg::Number(n, None) if n.text == "n"));
    assert_eq!(all.files(), ["naive.cl"]);
}

/// The same family, in few lines.
const SHORT: &str = r#"
kernel = "naive.cl:doubled"
n      = 1000
tune   = { ITEMS = [1, 2] }
where  = ["ITEMS * WG <= 4096"]
items  = "ceil(n, ITEMS)"
args   = ["x[n] small 8", "out y[n]", "n"]
check  = "numpy: y = 2 * x"
"#;

#[test]
fn few_lines_are_enough() {
    let all = parse(SHORT).unwrap();
    assert_eq!((all.name.as_str(), all.rungs[0].name.as_str()), ("two_times", "doubled"));
    assert_eq!(all.rungs[0].steps[0].launches()[0].kernel, "doubled");
    let names: Vec<&str> = all.buffers.iter().map(|buffer| buffer.declared.name.as_str()).collect();
    assert_eq!((names, all.bound), (vec!["x", "y"], Bound::Copy));
    assert!(matches!(all.checker(), Checker::Numpy { code, .. } if code == "y = 2 * x"));
    let two = SHORT.replace("items ", "[[rung]]\nname = \"other\"\nwg = \"64\"\nitems ");
    let why = parse(&two).unwrap_err().why;
    assert!(why.contains("unknown field `check`"), "keys of the file stand before the first rung: {why}");
}

#[test]
fn rungs_take_what_they_do_not_say_from_the_file() {
    let text = format!(
        "{SHORT}[[rung]]\n[[rung]]\nname = \"four\"\nkernel = \"four.cl\"\nitems = \"ceil(n, 4)\"\ntune = {{}}\nwhere = []\n"
    );
    let all = parse(&text).unwrap();
    let rungs: Vec<(&str, &str, usize)> =
        all.rungs.iter().map(|rung| (rung.name.as_str(), rung.file.as_str(), rung.tune.len())).collect();
    assert_eq!(rungs, [("doubled", "naive.cl", 1), ("four", "four.cl", 0)]);
    assert_eq!(all.rungs[1].steps[0].launches()[0].args.len(), 3);
    let text = format!(
        "define = {{ A = 1, B = 2 }}\n{SHORT}[[rung]]\nargs = [\"x\", \"y\", \"A + B\"]\ndefine = {{ B = \"n\" }}\n"
    );
    let all = parse(&text).unwrap();
    assert_eq!(all.rungs[0].steps[0].launches()[0].args[0], DescribedArg::Buffer("x".into()), "declared behind it");
    let defines: Vec<&str> = all.rungs[0].defines.values().map(String::as_str).collect();
    assert_eq!(defines, ["1", "n"], "a rung's own macros are added");
}

#[test]
fn macros_are_names_in_formulas() {
    let define =
        "define = { REAL = \"float\", R = 2, SIDE = \"n + 2 * R\", STEP = \"WG / R\", A = \"B\", B = \"A\" }\n";
    let text = format!("{define}{}", SHORT.replace("x[n]", "x[SIDE]").replace("ceil(n, ITEMS)", "ceil(n, STEP)"));
    let all = parse(&text).unwrap();
    assert_eq!(all.named.keys().collect::<Vec<_>>(), ["R", "SIDE"]);
    assert_eq!(all.size("SIDE", Shape::vector(10), Dtype::F32), Some(14));
    assert_eq!(all.rungs[0].named.keys().collect::<Vec<_>>(), ["R", "SIDE", "STEP"]);
    for (from, to, why) in [
        ("x[SIDE]", "x[STEP]", "STEP is unknown here; there is n, m, size, R, SIDE"),
        ("ceil(n, STEP)", "n * A", "A is unknown"),
        ("ceil(n, STEP)", "n * REAL", "REAL is unknown"),
    ] {
        let error = parse(&text.replacen(from, to, 1)).unwrap_err();
        assert!(error.why.contains(why), "{to}: {error}");
    }
}

#[test]
fn loops_are_launches_that_are_repeated() {
    let text = SHORT
        .replace("x[n]", "inout x[n]")
        .replace("numpy: ", "numpy: x = x; ")
        .replace("items ", "loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\nswap = [\"x\", \"y\"]\nitems ");
    let all = parse(&text).unwrap();
    let RungStep::Loop { variable, swap, steps, .. } = &all.rungs[0].steps[0] else { panic!() };
    assert!(variable == "k" && swap.is_empty());
    let RungStep::Loop { variable, swap, .. } = &steps[0] else { panic!() };
    assert_eq!((variable.as_str(), swap.len()), ("j", 1));
    assert!(all.rungs[0].steps[0].needs_restoring(), "the exchange is in the inner loop");
    let deep = text.replacen("\"j in 0..k\"", "\"j in 0..k\", \"i in 0..2\"", 1);
    assert!(parse(&deep).unwrap().rungs[0].steps[0].needs_restoring(), "or deeper");
    for (from, to, why) in [
        ("k in 0..log2(n)", "k from 0 to 9", "is no loop"),
        ("k in 0..log2(n)", "n in 0..9", "cannot be the name"),
        ("[\"x\", \"y\"]", "[\"x\", \"z\"]", "there is no buffer z"),
        ("[\"x\", \"y\"]", "\"x\"", "swap has two buffers"),
        ("inout x[n]", "x[n]", "which is only an input"),
        ("loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\n", "", "swap needs a loop"),
        ("swap = [\"x\", \"y\"]", "while = \"z\"", "while: there is no buffer z"),
        ("swap = ", "while = \"y\"\nswap = ", "names each buffer once"),
        ("loop = [\"k in 0..log2(n)\", \"j in 0..k\"]\nswap = [\"x\", \"y\"]", "while = \"y\"", "while needs a loop"),
    ] {
        let error = parse(&text.replacen(from, to, 1)).unwrap_err();
        assert!(error.why.contains(why), "{to}: {error}");
    }
}

#[test]
fn what_a_short_file_lacks_is_named() {
    let thousand = format!("{:?}", (1..=1000).collect::<Vec<u64>>());
    let spanning = format!("ITEMS = {thousand}, A = {thousand}, B = [1, 2]");
    for (from, to, why) in [
        ("check  = \"numpy: y = 2 * x\"", "", "check says what is right"),
        ("numpy: y = 2 * x", "numpy: z = 2 * x", "must assign y"),
        ("numpy: y = 2 * x", "rung: other", "there is no rung"),
        ("numpy: y = 2 * x", "rung: doubled", "compared with itself"),
        ("numpy: y = 2 * x", "family: transpose", "a reference of its own for reduce, dot, minplus"),
        ("numpy: y = 2 * x", "magic", "check says what is right"),
        ("\"out y[n]\"", "\"y[n]\"", "no argument is an output"),
        ("kernel = \"naive.cl:doubled\"", "", "each rung needs its kernel"),
        ("args   = [\"x[n] small 8\", \"out y[n]\", \"n\"]", "", "it needs args"),
        ("ITEMS * WG <= 4096", "ITEMS * WG", "compares nothing"),
        ("ITEMS * WG <= 4096", "ITEM <= 4096", "ITEM is unknown"),
        ("ITEMS = [1, 2]", "ITEMS = [1, 2], items = [1]", "size of its letters"),
        ("ITEMS = [1, 2]", &spanning, "tune spans more than 1000000 settings"),
        ("n      = 1000", "sizes = \"only\"", "needs n"),
        ("\"x[n] small 8\"", "\"x[n] small 8\", \"x[n]\"", "declared twice"),
        ("\"x[n] small 8\"", "\"T[n] small 8\"", "the name \"T\" is taken"),
        ("\"x[n] small 8\"", "\"x[n*WG] small 8\"", "the same whatever the work-group"),
        ("n      = 1000", "tolerance = 0.5", "less than 0.1"),
    ] {
        assert!(SHORT.contains(from), "{from}");
        let error = parse(&SHORT.replacen(from, to, 1)).unwrap_err();
        assert!(error.why.contains(why), "{to}: {error}");
    }
}

#[test]
fn mistakes_name_their_line_and_what_would_be_right() {
    for (from, to, line, why) in [
        ("about =", "abuot =", 3, "unknown field `abuot`, expected one of"),
        ("\"i32\"", "\"i16\"", 4, "unknown variant `i16`"),
        ("\"2 * n * size\"", "\"2 * k\"", 7, "k is unknown here; there is n, m, size"),
        ("\"2 * n * size\"", "\"2 n\"", 7, "is not expected here"),
        ("\"2 * n * size\"", "[]", 7, "a number or a formula in quotes"),
        ("\"copy\"", "\"speed\"", 6, "there is read, write, copy"),
        ("small 8", "little", 13, "there is random"),
        ("small 8", "small 0", 11, "must be from 1"),
        ("\"doubled\"\nabout", "\"Doubled!\"\nabout", 2, "small letters"),
        ("name = \"x\"", "name = \"n\"", 11, "is taken"),
        ("\"{out}\"", "\"-\"", 18, "{out}"),
        ("ITEMS = [1, 2]", "ITEMS = []", 28, "must have values"),
        ("ITEMS = [1, 2]", "T = [1, 2]", 28, "is taken"),
        ("wg = \"64\"", "wg = \"64y\"", 25, "is not a work-group"),
        ("\"naive\"", "\"v1\"", 25, "a rung's name"),
        ("items = \"ceil(n, ITEMS)\"\n", "", 31, "needs either items"),
        ("items = \"ceil(n, ITEMS)\"", "items = \"n,n,n,n\"", 31, "three dimensions"),
        ("\"x\", \"out\", \"n\"", "\"x\", \"n\"", 25, "no launch has the output"),
        ("\"x\", \"out\", \"n\"", "\"y\", \"out\"", 33, "y is unknown here"),
        ("\"x\", \"out\", \"n\"", "\"x\", \"out\", \"outp\"", 33, "buffers x, out; did you mean `out`?"),
    ] {
        let error = error(from, to);
        assert_eq!(error.line, Some(line), "{to}: {error}");
        assert!(error.why.contains(why), "{to}: {error}");
    }
}

#[test]
fn a_tolerance_can_be_missed() {
    let reason = "reason = \"twice a whole number is exact\"";
    for (to, why) in [
        ("reason = \" \"", "say in a few words why"),
        ("relative = 0.5\nreason = \"wide\"", "less than 0.1"),
        ("absolute = inf\nreason = \"wide\"", "absolute must be"),
        ("absolute = nan\nreason = \"wide\"", "absolute must be"),
        ("absolute = -1\nreason = \"wide\"", "absolute must be"),
        ("times = \"k\"\nreason = \"wide\"", "k is unknown"),
    ] {
        let error = error(reason, to);
        assert!(error.why.contains(why), "{to}: {error}");
    }
}

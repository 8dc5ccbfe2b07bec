//! The files of each crate and who names whom: no circle of files anywhere.
//!
//! A file names the one in which an item is defined, through whatever re-exports its path leads; a re-export alone names
//! nothing. One form is no circle: a `mod.rs` that defines a type and lists the constants of that type, one of each child, in
//! a table `&[child::CONSTANT, ...]`.

use super::architecture::{code, crates, rust_files};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

type Segments = Vec<String>;

/// A file of a crate.
#[derive(Default)]
struct SourceFile {
    /// Without what re-exports, imports and tables say.
    body: String,
    /// The names of its items.
    defined: BTreeSet<String>,
    /// Words of the body.
    words: BTreeSet<String>,
    /// Imported names and what they stand for, and whether importing is all: `pub use`.
    imports: Vec<(String, Segments, bool)>,
    /// The modules of which all names are imported.
    globs: Vec<Segments>,
}

struct Sources {
    /// Each file by its module's path.
    files: BTreeMap<Segments, SourceFile>,
    /// The modules whose names a module has because it imports all of them, itself first.
    whole: BTreeMap<Segments, Vec<Segments>>,
}

fn segments(path: &str) -> Segments {
    path.split("::").map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// The paths of a `use` tree, each with its name.
fn leaves(tree: &str, before: &str, all: &mut Vec<(String, String)>) {
    let tree = tree.trim();
    if let Some((head, list)) = tree.split_once('{') {
        let list = &list[..list.len() - 1];
        let (mut depth, mut from) = (0, 0);
        for (at, c) in list.char_indices().chain([(list.len(), ',')]) {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    leaves(&list[from..at], &format!("{before}{}", head.trim()), all);
                    from = at + 1;
                }
                _ => {}
            }
        }
    } else if !tree.is_empty() {
        let (path, name) = tree.split_once(" as ").unwrap_or((tree, tree.rsplit("::").next().unwrap_or(tree)));
        let path = format!("{before}{path}");
        let path = path.strip_suffix("::self").unwrap_or(&path).to_owned();
        let name =
            if name == "self" { path.rsplit("::").next().unwrap_or_default().to_owned() } else { name.to_owned() };
        all.push((name.trim().to_owned(), path));
    }
}

/// Code in which modules within the file say `self` of it.
fn without_inner_modules(code: &str) -> String {
    let mut is_inside = false;
    let mut all = String::new();
    for line in code.lines() {
        let words = line.trim_start_matches("pub ").trim_start_matches("pub(super) ").trim_start_matches("pub(crate) ");
        is_inside |= words.starts_with("mod ") && line.ends_with('{');
        is_inside &= line != "}";
        all += &if is_inside { line.replace("super::", "self::") } else { line.to_owned() };
        all.push('\n');
    }
    all
}

/// Code of a `mod.rs` without the tables of its children's constants.
fn without_tables(code: &str) -> String {
    let is_constant = |item: &str| {
        let path = segments(item.trim().trim_start_matches('&'));
        path.len() == 2 && path[1].chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    let mut parts = code.split("= &[");
    let mut all = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let list = part.split(']').next().unwrap_or_default();
        let is_table = list.split(',').filter(|item| !item.trim().is_empty()).all(is_constant);
        all += if is_table { &part[list.len()..] } else { part };
    }
    all
}

impl SourceFile {
    fn read(text: &str, is_mod: bool) -> SourceFile {
        // Tests in a file of their own end nothing, and whom an item is shown to is no name of theirs.
        let text = text.replace("#[cfg(test)]\nmod tests;", "");
        let code = without_inner_modules(&code(&text).replace("(in crate::", "("));
        let code = if is_mod { without_tables(&code) } else { code };
        let mut file = SourceFile::default();
        let mut statement = String::new();
        for line in code.lines() {
            let start = line.trim_start();
            let rest = start.strip_prefix("pub").map_or(start, |rest| {
                rest.split_once("use ").map_or(start, |(visibility, _)| &rest[visibility.len()..])
            });
            if statement.is_empty() && !rest.starts_with("use ") {
                let is_module = line.ends_with(';') && line.split(' ').rev().nth(1) == Some("mod");
                file.body += if is_module { "" } else { line };
                file.body.push('\n');
                continue;
            }
            statement += line.trim();
            statement.push(' ');
            if line.trim_end().ends_with(';') {
                let (visibility, tree) = statement.split_once("use ").unwrap_or_default();
                let mut all = Vec::new();
                leaves(tree.trim().trim_end_matches(';'), "", &mut all);
                for (name, path) in all {
                    let path = segments(&path);
                    match name.as_str() {
                        "*" => file.globs.push(path[..path.len() - 1].to_vec()),
                        _ => file.imports.push((name, path, visibility.starts_with("pub"))),
                    }
                }
                statement.clear();
            }
        }
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        file.defined = file.body.lines().filter_map(defined).map(str::to_owned).collect();
        file.words = file.body.split(|c| !is_word(c)).map(str::to_owned).collect();
        file
    }

    /// Whether it defines this name or imports it by itself.
    fn has(&self, name: &str) -> bool {
        self.defined.contains(name) || self.imports.iter().any(|(known, ..)| known == name)
    }

    /// The paths that the body has.
    fn paths(&self) -> impl Iterator<Item = Segments> {
        let words = self.body.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        words.filter(|word| word.contains("::")).map(segments)
    }
}

/// The module that a path of modules leads to; none outside of the crate.
fn imported_whole(files: &BTreeMap<Segments, SourceFile>, module: &[String], path: &[String]) -> Option<Segments> {
    let mut at = module.to_vec();
    for part in path {
        match part.as_str() {
            "crate" => at.clear(),
            "self" => {}
            "super" => _ = at.pop()?,
            _ => at.push(part.clone()),
        }
    }
    files.contains_key(&at).then_some(at)
}

fn whole(files: &BTreeMap<Segments, SourceFile>, module: &Segments) -> Vec<Segments> {
    let mut all = vec![module.clone()];
    let mut at = 0;
    while at < all.len() {
        let found = files[&all[at]].globs.iter().filter_map(|glob| imported_whole(files, &all[at], glob));
        let new: Vec<Segments> = found.filter(|module| !all.contains(module)).collect();
        all.extend(new);
        at += 1;
    }
    all
}

impl Sources {
    fn of(files: &[(&str, &str)]) -> Sources {
        let module = |path: &str| {
            let path = path.trim_end_matches(".rs").trim_end_matches("mod").trim_end_matches('/');
            path.split('/').filter(|part| *part != "lib").map(str::to_owned).collect::<Segments>()
        };
        let read = |(path, text): &(&str, &str)| {
            (module(path), SourceFile::read(text, path.ends_with("mod.rs") || *path == "lib.rs"))
        };
        let files: BTreeMap<Segments, SourceFile> = files.iter().map(read).collect();
        let whole = files.keys().map(|module| (module.clone(), whole(&files, module))).collect();
        Sources { files, whole }
    }

    /// The file that a path leads to which stands in `module`; none outside of the crate.
    fn target(&self, module: &[String], path: &[String], depth: usize) -> Option<Segments> {
        let file = self.files.get(module)?;
        let (first, rest) = path.split_first()?;
        let child = || [module, std::slice::from_ref(first)].concat();
        match first.as_str() {
            _ if depth > 12 => None,
            "crate" => self.below(&[], rest, depth),
            "self" => self.below(module, rest, depth),
            "super" => match rest.first().map(String::as_str) {
                Some("super") => self.target(module.split_last()?.1, rest, depth),
                _ => self.below(module.split_last()?.1, rest, depth),
            },
            _ if self.files.contains_key(&child()) => self.below(&child(), rest, depth),
            name => {
                let (_, whole, _) = file.imports.iter().find(|(known, ..)| known == name)?;
                (whole[0] != *first).then(|| self.target(module, &[whole, rest].concat(), depth + 1))?
            }
        }
    }

    /// The file of a path that begins below a module.
    fn below(&self, module: &[String], path: &[String], depth: usize) -> Option<Segments> {
        let Some(first) = path.first() else { return Some(module.to_vec()) };
        if self.files.get(module)?.defined.contains(first) {
            return Some(module.to_vec());
        }
        let is_known = first != "super" && first != "self" && first != "crate";
        let found = is_known.then(|| self.target(module, path, depth + 1)).flatten();
        let through = || self.owner(module, first).filter(|owner| *owner != module);
        found.or_else(|| self.below(through()?, path, depth + 1)).or_else(|| Some(module.to_vec()))
    }

    /// Of the modules whose names a module has, the first that has this one as its own or imports it.
    fn owner(&self, module: &[String], name: &str) -> Option<&Segments> {
        self.whole.get(module)?.iter().find(|owner| self.files[*owner].has(name))
    }

    /// The files that a file names, and how.
    fn named(&self, module: &Segments, file: &SourceFile) -> BTreeMap<Segments, BTreeSet<String>> {
        let imported = file.imports.iter().filter(|(name, _, is_public)| !is_public || file.words.contains(name));
        let mut paths: Vec<Segments> = imported.map(|(_, path, _)| path.clone()).chain(file.paths()).collect();
        for glob in &file.globs {
            let Some(target) = imported_whole(&self.files, module, glob) else { continue };
            let names = file.words.iter().filter(|word| self.owner(&target, word).is_some());
            paths.extend(names.map(|name| [glob.as_slice(), std::slice::from_ref(name)].concat()));
        }
        let mut named: BTreeMap<Segments, BTreeSet<String>> = BTreeMap::new();
        for path in paths {
            if let Some(target) = self.target(module, &path, 0).filter(|target| target != module) {
                named.entry(target).or_default().extend(path.last().cloned());
            }
        }
        named
    }

    /// Every arrow of a circle, in words.
    fn circles(&self) -> Vec<String> {
        let arrows: BTreeMap<&Segments, _> =
            self.files.iter().map(|(module, file)| (module, self.named(module, file))).collect();
        let reach = |from: &Segments| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
            while let Some(at) = next.pop() {
                next.extend(
                    arrows.get(at).into_iter().flat_map(BTreeMap::keys).filter(|to| seen.insert((*to).clone())),
                );
            }
            seen
        };
        let reached: BTreeMap<&Segments, BTreeSet<Segments>> = arrows.keys().map(|from| (*from, reach(from))).collect();
        let all = arrows.iter().flat_map(|(from, to)| to.iter().map(move |(to, names)| (*from, to, names)));
        let circular = all.filter(|(from, to, _)| reached.get(to).is_some_and(|back| back.contains(*from)));
        circular.map(|(from, to, names)| format!("{} -> {} {names:?}", from.join("/"), to.join("/"))).collect()
    }
}

/// The name of the item that a line defines outside of blocks, if it does.
fn defined(line: &str) -> Option<&str> {
    const KINDS: [&str; 8] = ["fn", "struct", "enum", "trait", "type", "const", "static", "macro_rules!"];
    let mut words = line.split(' ').skip_while(|word| !KINDS.contains(word)).skip_while(|word| KINDS.contains(word));
    let name = words.next().filter(|_| !line.starts_with(' '))?;
    name.split(|c: char| !(c.is_alphanumeric() || c == '_')).next()
}

#[test]
fn no_files_name_each_other_in_a_circle() {
    for src in crates() {
        let mut paths = Vec::new();
        rust_files(&src, &mut paths);
        let texts: Vec<(String, String)> = paths
            .iter()
            .map(|path| (path.strip_prefix(&src).unwrap().display().to_string(), fs::read_to_string(path).unwrap()))
            .collect();
        let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let circles = Sources::of(&files).circles();
        assert!(circles.is_empty(), "arrows of circles between files of {}:\n{}", src.display(), circles.join("\n"));
    }
}

#[test]
fn circles_are_seen_through_imports_and_re_exports() {
    let arrows = |files: &[(&str, &str)]| Sources::of(files).circles().len();
    let lib = ("lib.rs", "pub mod a;\npub mod b;");
    let [a, b] = ["pub mod x;\npub mod y;\npub use x::X;\npub use y::*;", "use crate::a::{self, X};\npub struct B;"];
    let circle = |x, y| arrows(&[lib, ("a/mod.rs", a), ("a/x.rs", x), ("a/y.rs", y), ("b.rs", b)]);
    assert_eq!(circle("pub struct X;", "pub struct Y(super::X);"), 0);
    assert_eq!(circle("use super::Y;\npub struct X(Y);", "pub struct Y(super::X);"), 2);
    assert_eq!(circle("use crate::b;\npub struct X(b::B);", "pub struct Y;"), 2);
    assert_eq!(
        circle("pub struct X;\n// crate::b::B\n#[cfg(test)]\nmod tests { use crate::b::B; }", "pub struct Y;"),
        0
    );
    assert_eq!(circle("use super::*;\npub struct X(Y);", "use super::*;\npub struct Y(X);"), 2);
    let tested = "mod x;\n#[cfg(test)]\nmod tests;\npub use x::X;";
    assert_eq!(arrows(&[lib, ("a/mod.rs", tested), ("a/x.rs", "pub struct X(crate::b::B);"), ("b.rs", b)]), 2);
    assert_eq!(circle("mod z {\n    use super::X;\n}\npub struct X;", "pub struct Y;"), 0);
}

#[test]
fn a_parent_may_list_its_childrens_constants_and_name_nothing_else_of_theirs() {
    let arrows =
        |parent| Sources::of(&[("a/mod.rs", parent), ("a/x.rs", "pub const X: super::T = super::T;")]).circles().len();
    assert_eq!(arrows("mod x;\npub use x::X;\npub struct T;\npub const ALL: &[T] = &[x::X];"), 0);
    assert_eq!(arrows("mod x;\npub struct T;\nfn f() { x::run() }"), 2);
    assert_eq!(arrows("mod x;\npub use x::X;\npub struct T;\npub const ALL: &[T] = &[X];"), 2);
}

//! The way from a file's keys to a description.

use super::super::args::{self, BufferRole, Content, Declared, DescribedArg, ElementName};
use super::super::content::DataKind;
use super::super::file::{CheckKeys, FileKeys, LaunchKeys, RungKeys, SizesName, Text, Texts, ToleranceKeys};
use super::super::formula::{Formula, Formulas, is_name};
use super::checks::Complaint;
use super::names::{GROUP, SIZES, TAKEN, is_word, rung_name, taken};
use super::{
    Allowance, Checker, DescribedBuffer, DescribedLaunch, DescribedRung, Description, Extent, RungStep, is_flat,
};
use crate::signature::MACROS;
use crate::{Bound, DeclarationError};
use gpulab_model::plan::WorkGroup;
use std::collections::{BTreeMap, BTreeSet};

impl Description {
    /// Understands a file's text; `name` is the family's unless the text says another.
    pub fn parse(text: &str, name: &str) -> Result<Description, DeclarationError> {
        let keys: FileKeys = toml::from_str(text).map_err(|error| DeclarationError {
            line: error.span().and_then(|span| line_at(text, span.start)),
            why: error.message().replace('\n', " "),
        })?;
        let description = Lowering { keys, buffers: Vec::new() }.description(name);
        description
            .and_then(|description| description.check().map(|()| description))
            .map_err(|(word, why)| DeclarationError { line: line_of(text, &word), why })
    }
}

pub(crate) fn line_at(text: &str, byte: usize) -> Option<usize> {
    text.get(..byte).map(|before| before.matches('\n').count() + 1)
}

/// The line of a file that has a word as a value, or else at all.
fn line_of(text: &str, word: &str) -> Option<usize> {
    let find = |word: &str| text.lines().position(|line| line.contains(word)).map(|line| line + 1);
    find(&format!("\"{word}\"")).or_else(|| find(word)).filter(|_| !word.is_empty())
}

/// The way from the file's keys to a description.
struct Lowering {
    keys: FileKeys,
    buffers: Vec<DescribedBuffer>,
}

impl Lowering {
    fn description(mut self, name: &str) -> Result<Description, Complaint> {
        self.take_tables()?;
        let named = self.named(self.keys.define.as_ref().map(texts).unwrap_or_default(), &[]);
        self.declare_ahead();
        let rungs = match std::mem::take(&mut self.keys.rung) {
            none if none.is_empty() => vec![RungKeys::default()],
            some => some,
        };
        let rungs = rungs.into_iter().map(|rung| self.rung(rung)).collect::<Result<Vec<_>, _>>()?;
        let keys = self.keys;
        let bound = match &keys.limit {
            Some(name) => Bound::named(name).ok_or_else(|| {
                let names = Bound::ALL.map(Bound::name).join(", ");
                (name.clone(), format!("limit: there is no {name:?}; there is {names}"))
            })?,
            None if keys.flops.is_some() => Bound::Fma,
            None => Bound::Copy,
        };
        Ok(Description {
            name: keys.name.unwrap_or_else(|| match (name, rungs.first()) {
                ("", Some(rung)) => rung.name.clone(),
                _ => rung_name(name),
            }),
            about: keys.about,
            types: keys.types,
            form: keys.form,
            n: keys.n,
            m: keys.m,
            multiple: keys.multiple.unwrap_or(1),
            is_fixed: keys.sizes == SizesName::Only,
            bound,
            bytes: keys.bytes,
            operations: keys.flops.or(keys.operations),
            constants: keys.constants,
            named,
            buffers: self.buffers,
            checker: checker(keys.check).map_err(|why| ("check".to_owned(), why))?,
            tolerance: allowance(keys.tolerance).map_err(|why| ("tolerance".to_owned(), why))?,
            rungs,
        })
    }

    /// Notes the buffers of all arguments, so that a rung may name one that is declared behind it. What is wrong in them is said
    /// where they are used.
    fn declare_ahead(&mut self) {
        fn texts<'a>(launches: Option<&'a Vec<LaunchKeys>>, all: &mut Vec<&'a Text>) {
            for launch in launches.into_iter().flatten() {
                all.extend(launch.args.iter().flat_map(|args| args.as_ref()));
                texts(launch.launch.as_ref(), all);
            }
        }
        let mut all: Vec<&Text> = self.keys.args.iter().flat_map(|args| args.as_ref()).collect();
        texts(self.keys.launch.as_ref(), &mut all);
        for rung in &self.keys.rung {
            all.extend(rung.args.iter().flat_map(|args| args.as_ref()));
            texts(rung.launch.as_ref(), &mut all);
        }
        let declared: Vec<Declared> = all.into_iter().filter_map(|Text(text)| args::parse(text).ok()?.1).collect();
        for declared in declared.into_iter().filter(|declared| declared.role != BufferRole::Scratch) {
            let _ = self.add(declared);
        }
    }

    /// Takes what tables say of inputs and of the output.
    fn take_tables(&mut self) -> Result<(), Complaint> {
        for input in std::mem::take(&mut self.keys.input) {
            let content = match (input.fill, input.file) {
                (Some(_), Some(_)) => {
                    let why = format!("[[input]] {}: it has both a fill and a file: leave one out", input.name);
                    return Err((input.name, why));
                }
                (None, Some(name)) => Content::File { name, is_frozen: false },
                (fill, None) => Content::Fill { words: fill.unwrap_or_else(|| "random".into()), is_frozen: false },
            };
            let role = BufferRole::In;
            let element = ElementName::Case;
            let sides = vec![input.length.clone()];
            self.add(Declared { name: input.name, role, element, length: input.length, sides, content })?;
        }
        if let Some(output) = self.keys.output.take() {
            let role = BufferRole::Out;
            let element = ElementName::Case;
            let content = Content::Noise;
            let sides = vec![output.length.clone()];
            self.add(Declared { name: output.name, role, element, length: output.length, sides, content })?;
        }
        Ok(())
    }

    /// Notes an input or an output; one that was noted before must be the same.
    fn add(&mut self, declared: Declared) -> Result<(), Complaint> {
        let name = declared.name.clone();
        let kind = match &declared.content {
            Content::Fill { words, .. } => {
                Some(DataKind::parse(words).map_err(|why| (words.clone(), format!("{name}: {why}")))?)
            }
            _ => None,
        };
        let buffer = DescribedBuffer { declared, kind };
        match self.buffers.iter().find(|known| known.declared.name == name) {
            Some(known) if *known != buffer => Err((
                name.clone(),
                format!("{name} is declared twice, and not alike: declare it once, then write {name:?}"),
            )),
            Some(_) => Ok(()),
            None => {
                self.buffers.push(buffer);
                Ok(())
            }
        }
    }

    /// A rung, with what the whole file says where it says nothing itself.
    fn rung(&mut self, own: RungKeys) -> Result<DescribedRung, Complaint> {
        let keys = &self.keys;
        let kernel = own.kernel.or_else(|| keys.kernel.clone());
        let (file, kernel) = match (own.file, kernel) {
            (Some(file), kernel) => (file, kernel.unwrap_or_default()),
            (None, Some(kernel)) => match kernel.rsplit_once(':') {
                Some((file, kernel)) => (file.to_owned(), kernel.to_owned()),
                None => (kernel, String::new()),
            },
            (None, None) => {
                let why = "each rung needs its kernel, as in kernel = \"mine.cl:name\" (or file = \"mine.cl\")";
                return Err(("rung".into(), why.into()));
            }
        };
        let name = own.name.unwrap_or_else(|| rung_name(if kernel.is_empty() { &file } else { &kernel }));
        let at = |word: &str, why: String| (word.to_owned(), format!("rung {name}: {why}"));
        let is_said = (own.wg.is_some(), own.tune.is_some());
        let mut wg = own.wg.or_else(|| keys.wg.clone());
        let mut tune: BTreeMap<String, Vec<u64>> = own.tune.or_else(|| keys.tune.clone()).unwrap_or_default();
        if let (Some(_), Some(side)) = (&wg, GROUP.into_iter().find(|side| tune.contains_key(*side))) {
            // What a rung says itself takes the place of what the file says.
            match is_said {
                (true, false) => tune.retain(|name, _| !GROUP.contains(&name.as_str())),
                (false, true) => wg = None,
                _ => {
                    let why = format!("wg and the {side} of tune both give the work-group: leave one of them out");
                    return Err(at(&format!("{side} ="), why));
                }
            }
        }
        let wg = work_group(wg.as_ref()).map_err(|why| at(&name, why))?;
        let mut groups = tuned_groups(&mut tune).map_err(|(word, why)| at(&word, why))?;
        if groups.is_empty() {
            // No other can take the place of one with several dimensions.
            groups.extend(wg.filter(|wg| !is_flat(*wg)));
        }
        let mut defines = keys.define.as_ref().map(texts).unwrap_or_default();
        defines.extend(own.define.as_ref().map(texts).unwrap_or_default());
        let more: Vec<&str> = GROUP.into_iter().chain(tune.keys().map(String::as_str)).collect();
        let named = self.named(defines.clone(), &more);
        let whole = LaunchKeys {
            kernel: Some(kernel),
            items: own.items.or_else(|| keys.items.clone()),
            groups: own.groups.or_else(|| keys.groups.clone()),
            wg: None,
            args: own.args.or_else(|| keys.args.clone()),
            loops: own.loops.or_else(|| keys.loops.clone()),
            swap: own.swap.or_else(|| keys.swap.clone()),
            flag: own.flag.or_else(|| keys.flag.clone()),
            timed: None,
            launch: None,
        };
        let launches = own.launch.or_else(|| keys.launch.clone());
        let mut rung = DescribedRung {
            name: name.clone(),
            file,
            wg: groups.first().copied().or(wg),
            groups,
            local: own.local.or_else(|| keys.local.clone()),
            named,
            tune,
            conditions: own.conditions.or_else(|| keys.conditions.clone()).unwrap_or_default(),
            defines,
            scratch: Vec::new(),
            steps: Vec::new(),
        };
        for (name, length) in own.scratch {
            let role = BufferRole::Scratch;
            let element = ElementName::Case;
            let content = Content::Noise;
            let sides = vec![length.clone()];
            rung.scratch.push(Declared { name, role, element, length, sides, content });
        }
        let steps = match launches {
            // What is said of the whole rung counts for each launch of it.
            Some(launches) => LaunchKeys { launch: Some(launches), ..whole.clone() },
            None => whole.clone(),
        };
        rung.steps = self.steps(&mut rung, steps, &whole)?;
        if rung.steps.is_empty() { Err(at(&name, "it has no [[rung.launch]]".into())) } else { Ok(rung) }
    }

    /// Those macros whose values are formulas of sizes, constants, `more`, and each other.
    fn named(&self, defines: BTreeMap<String, String>, more: &[&str]) -> BTreeMap<String, Formula> {
        let is_number =
            |name: &str| SIZES.contains(&name) || self.keys.constants.contains_key(name) || more.contains(&name);
        let mut named = BTreeMap::new();
        let mut left: Vec<(String, Formula)> = defines
            .into_iter()
            .filter_map(|(name, value)| Some((name, Formula::parse(&value).ok()?)))
            .filter(|(name, _)| is_name(name) && !is_number(name))
            .collect();
        // Those that name each other in a circle stay behind.
        loop {
            let (known, rest): (Vec<_>, Vec<_>) = left.into_iter().partition(|(_, formula)| {
                formula.names().iter().all(|name: &&str| is_number(name) || named.contains_key(*name))
            });
            if known.is_empty() {
                return named;
            }
            named.extend(known);
            left = rest;
        }
    }

    /// What a launch, or several in a loop, are.
    fn steps(
        &mut self,
        rung: &mut DescribedRung,
        keys: LaunchKeys,
        whole: &LaunchKeys,
    ) -> Result<Vec<RungStep>, Complaint> {
        let LaunchKeys { kernel, items, groups, wg, args, loops, swap, flag, timed, launch } = keys;
        let inner = match launch {
            Some(launches) => {
                let mut all = Vec::new();
                for launch in launches {
                    all.extend(self.steps(rung, launch, whole)?);
                }
                all
            }
            None => {
                let kernel = kernel.or_else(|| whole.kernel.clone()).unwrap_or_default();
                // The file is the rung's.
                let kernel = kernel.rsplit_once(':').map_or(kernel.clone(), |(_, kernel)| kernel.to_owned());
                let word = format!("kernel = {kernel:?}");
                let place = if kernel.is_empty() { String::new() } else { format!("launch of {kernel}: ") };
                let at = |why: String| (word.clone(), format!("rung {}: {place}{why}", rung.name));
                let is_own = items.is_some() || groups.is_some();
                let whole_extent = |whole: &Option<Formulas>| if is_own { None } else { whole.clone() };
                let extent = match (items.or(whole_extent(&whole.items)), groups.or(whole_extent(&whole.groups))) {
                    (Some(items), None) => Extent::Items(items.0),
                    (None, Some(groups)) => Extent::Groups(groups.0),
                    _ => return Err(at("it needs either items, as in \"n\" or \"n, m\", or groups".into())),
                };
                let wg = work_group(wg.as_ref()).map_err(&at)?;
                let texts = args.or_else(|| whole.args.clone());
                let texts =
                    texts.ok_or_else(|| at("it needs args, as in args = [\"A[n]\", \"out C[n]\", \"n\"]".into()))?;
                let begin = texts.span().start;
                let mut args = Vec::new();
                for Text(text) in texts.into_inner() {
                    args.push(
                        self.arg(rung, &text)
                            .map_err(|(text, why)| (text, format!("rung {}: {place}{why}", rung.name)))?,
                    );
                }
                let is_timed = timed.unwrap_or(true);
                vec![RungStep::Launch(DescribedLaunch { kernel, at: begin, extent, wg, args, is_timed })]
            }
        };
        let at = |text: &str, why: String| (text.to_owned(), format!("rung {}: {why}", rung.name));
        let pairs = swap.map_or(Ok(Vec::new()), |swap| swaps(&swap)).map_err(|why| at("swap", why))?;
        let Some(Texts(loops)) = loops else {
            return match pairs.is_empty() {
                _ if flag.is_some() => {
                    let why =
                        "while needs a loop that says how many turns there are at most, as in loop = \"turn in 0..n\"";
                    Err(at("while", why.into()))
                }
                true => Ok(inner),
                false => Err(at("swap", "swap needs a loop, as in loop = \"k in 0..n\"".into())),
            };
        };
        let mut exchanged: Vec<&String> = pairs.iter().flatten().chain(&flag).collect();
        let count = exchanged.len();
        exchanged.sort();
        exchanged.dedup();
        if flag.is_some() && exchanged.len() < count {
            let why = "beside while, swap names each buffer once, and not the flag: its loop may end after any turn";
            return Err(at("swap", why.into()));
        }
        let mut steps = inner;
        let mut swap = pairs;
        let mut flag = flag;
        for text in loops.iter().rev() {
            let (variable, ends) = loop_of(text).map_err(|why| at(text, why))?;
            let swap = std::mem::take(&mut swap);
            let flag = flag.take();
            steps = vec![RungStep::Loop { variable, ends, swap, flag, steps }];
        }
        Ok(steps)
    }

    /// An argument; a buffer that it declares is noted.
    fn arg(&mut self, rung: &mut DescribedRung, text: &str) -> Result<DescribedArg, Complaint> {
        let (arg, declared) = args::parse(text).map_err(|why| (text.to_owned(), why))?;
        if let Some(declared) = declared {
            if taken(&declared.name) {
                return Err((text.to_owned(), format!("the name {:?} {TAKEN}", declared.name)));
            }
            let is_known = rung.scratch.iter().any(|known| known.name == declared.name);
            match declared.role {
                BufferRole::Scratch if is_known => {}
                BufferRole::Scratch => rung.scratch.push(declared),
                _ => self.add(declared)?,
            }
        }
        let name = match &arg {
            DescribedArg::Number(formula, None) => formula.name(),
            _ => None,
        };
        let buffer = name
            .filter(|name: &&str| {
                let scratch = rung.scratch.iter();
                self.buffers.iter().map(|known| &known.declared).chain(scratch).any(|known| known.name == **name)
            })
            .map(str::to_owned);
        Ok(buffer.map_or(arg, DescribedArg::Buffer))
    }
}

fn checker(keys: Option<CheckKeys>) -> Result<Checker, String> {
    /// Seconds that a line for numpy may take.
    const SECONDS: u64 = 120;
    let none = "check says what is right: \"numpy: C = A + B\", \"kernel: slow.cl\", \"rung: naive\", \"family: minplus\", or a \
                table with command, a program";
    match keys {
        None => Err(none.into()),
        Some(CheckKeys::Line(line)) => {
            let (word, rest) = line.split_once(':').ok_or(none)?;
            let rest = rest.trim().to_owned();
            match word.trim() {
                "numpy" => Ok(Checker::Numpy { code: rest, seconds: SECONDS }),
                "kernel" => Ok(Checker::Kernel { file: rest }),
                "rung" => Ok(Checker::Rung { name: rest }),
                "family" => Ok(Checker::Family { name: rest }),
                _ => Err(none.into()),
            }
        }
        Some(CheckKeys::Table(table)) => match (table.command, table.kernel, table.numpy, table.rung) {
            (Some(command), None, None, None) => {
                Ok(Checker::Program { command, format: table.format, seconds: table.seconds })
            }
            (None, Some(file), None, None) => Ok(Checker::Kernel { file }),
            (None, None, Some(code), None) => Ok(Checker::Numpy { code, seconds: table.seconds }),
            (None, None, None, Some(name)) => Ok(Checker::Rung { name }),
            _ => Err("[check] needs one of command, a program; kernel, a file with a slow kernel; numpy, lines of \
                      Python; rung, another rung"
                .into()),
        },
    }
}

fn allowance(keys: Option<ToleranceKeys>) -> Result<Allowance, String> {
    match keys {
        None => Ok(Allowance::OfLargest(None)),
        Some(ToleranceKeys::OfLargest(share)) => Ok(Allowance::OfLargest(Some(share))),
        Some(ToleranceKeys::Table(table)) if table.reason.trim().is_empty() => {
            Err("[tolerance] reason: say in a few words why this error is right".into())
        }
        Some(ToleranceKeys::Table(table)) => {
            Ok(Allowance::Formula { absolute: table.absolute, relative: table.relative, times: table.times })
        }
    }
}

/// `k in 0..n`.
fn loop_of(text: &str) -> Result<(String, [Formula; 2]), String> {
    let wrong = || format!("{text:?} is no loop: write it as in \"k in 0..n\"");
    let (variable, range) = text.split_once(" in ").ok_or_else(wrong)?;
    let (from, to) = range.split_once("..").ok_or_else(wrong)?;
    let variable = variable.trim();
    if !is_name(variable) || SIZES.contains(&variable) || MACROS.contains(&variable) || is_word(variable) {
        return Err(format!("{variable:?} cannot be the name of a loop's number"));
    }
    Ok((variable.to_owned(), [Formula::parse(from)?, Formula::parse(to)?]))
}

/// `A, B`, or several of them.
fn swaps(Texts(all): &Texts) -> Result<Vec<[String; 2]>, String> {
    // `swap = ["A", "B"]` is one pair.
    let texts = if all.len() == 2 && all.iter().all(|text| is_name(text)) { vec![all.join(",")] } else { all.clone() };
    texts
        .iter()
        .map(|text: &String| {
            let (a, b) = text.split_once(',').filter(|(a, b)| a.trim() != b.trim())?;
            Some([a, b].map(|name| name.trim().to_owned()))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| "swap has two buffers, as in swap = [\"A\", \"B\"]".into())
}

fn texts(define: &BTreeMap<String, Text>) -> BTreeMap<String, String> {
    define.iter().map(|(name, value)| (name.clone(), value.0.clone())).collect()
}

/// Most work-items along a side of a group.
const MOST_SIDE: u64 = 1 << 16;

/// Takes the names of the group's sides from what is tuned: the groups that they span, the first of each side first.
fn tuned_groups(tune: &mut BTreeMap<String, Vec<u64>>) -> Result<Vec<WorkGroup>, Complaint> {
    let mut side = |name: &str| -> Result<Option<Vec<usize>>, Complaint> {
        let Some(values) = tune.remove(name) else { return Ok(None) };
        match values.is_empty() || values.iter().any(|side| !(1..=MOST_SIDE).contains(side)) {
            true => Err((format!("{name} ="), format!("tune: {name} must have values from 1 to {MOST_SIDE}"))),
            false => Ok(Some(values.into_iter().map(|side| side as usize).collect())),
        }
    };
    let [size, x, y] = [side("WG")?, side("WG_X")?, side("WG_Y")?];
    let mut groups = match (size, x, y) {
        (None, None, None) => Vec::new(),
        (Some(sizes), None, None) => sizes.into_iter().map(WorkGroup::linear).collect(),
        (Some(_), ..) => return Err(("WG =".into(), "tune: WG is WG_X * WG_Y: give either WG or its sides".into())),
        (None, x, y) => {
            let [x, y] = [x, y].map(|side| side.unwrap_or_else(|| vec![1]));
            x.iter().flat_map(|&x| y.iter().map(move |&y| WorkGroup([x, y, 1]))).collect()
        }
    };
    let mut seen = BTreeSet::new();
    groups.retain(|wg| seen.insert(wg.0));
    Ok(groups)
}

fn work_group(text: Option<&Text>) -> Result<Option<WorkGroup>, String> {
    let Some(Text(text)) = text else { return Ok(None) };
    let sides: Option<Vec<usize>> = text
        .split('x')
        .map(|side| side.trim().parse().ok().filter(|side| (1..=MOST_SIDE as usize).contains(side)))
        .collect();
    match sides.as_deref() {
        Some(&[x]) => Ok(Some(WorkGroup::linear(x))),
        Some(&[x, y]) => Ok(Some(WorkGroup([x, y, 1]))),
        Some(&[x, y, z]) => Ok(Some(WorkGroup([x, y, z]))),
        _ => Err(format!("wg = {text:?} is not a work-group: write \"256\" or \"16x16\"")),
    }
}

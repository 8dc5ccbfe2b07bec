//! Refuses descriptions that cannot be meant.

use super::super::args::{BufferRole, DescribedArg};
use super::super::formula::{Formula, is_name};
use super::super::restriction::Restriction;
use super::names::{GROUP, SIZES, TAKEN, is_rung_name, taken};
use super::{Allowance, Checker, DescribedLaunch, DescribedRung, Description, RungStep};
use gpulab_model::data::Dtype;
use gpulab_model::suggest::{did_you_mean, nearest};
use std::collections::BTreeSet;

/// A word of the line that something wrong stands on, and why it is wrong.
pub(super) type Complaint = (String, String);

/// Most settings of a rung: each has a plan before the first one runs.
const MOST_SETTINGS: usize = 1_000_000;

/// Families whose references can be asked about any inputs.
const ANSWERING: [&str; 3] = ["reduce", "dot", "minplus"];

impl Description {
    pub(super) fn check(&self) -> Result<(), Complaint> {
        let at = |word: &str, why: String| Err((word.to_owned(), why));
        if !is_rung_name(&self.name) {
            return at(&self.name, format!("name: {:?} must be of small letters, digits and _", self.name));
        }
        if self.outputs().next().is_none() {
            return at("args", "no argument is an output: write `out` before its name, as in \"out C[n]\"".into());
        }
        if self.multiple == 0 || [self.n, self.m].contains(&Some(0)) {
            return at("multiple", "n, m and multiple must be 1 at least".into());
        }
        if self.is_fixed && self.n.is_none() {
            return at("sizes", "sizes = \"only\" needs n, the size at which the kernels work".into());
        }
        self.check_names()?;
        self.check_checker().map_err(|why| ("check".to_owned(), why))?;
        self.check_tolerance().map_err(|why| ("tolerance".to_owned(), why))?;
        for formula in self.bytes.iter().chain(&self.operations) {
            self.check_formula(formula, &[])?;
        }
        for buffer in &self.buffers {
            self.check_length(&buffer.declared.length)?;
            let Some(kind) = &buffer.kind else { continue };
            kind.formula().map_or(Ok(()), |formula| self.check_formula(formula, &[]))?;
            let name = &buffer.declared.name;
            // A formula of the sizes has no value yet.
            let names = |name: &str| {
                if SIZES.contains(&name) { Some(2) } else { self.size(name, self.form.shape(2, None), Dtype::F32) }
            };
            kind.fill(&names)
                .and_then(|fill| kind.demand_difference(fill))
                .map_err(|why| (name.clone(), format!("{name}: {why}")))?;
        }
        self.rungs.iter().try_for_each(|rung| self.check_rung(rung))
    }

    fn check_checker(&self) -> Result<(), String> {
        match &self.checker {
            Checker::Program { command, seconds, .. } => self.check_command(command, *seconds),
            Checker::Numpy { code, .. } if code.contains("= ?") => {
                Err("check has a question mark: put the right result there, as in \"numpy: C = A + B\"".into())
            }
            Checker::Numpy { code, .. } => {
                let assigned = |name: &str| code.contains(name);
                match self.outputs().map(|output| &output.declared.name).find(|name| !assigned(name)) {
                    None => Ok(()),
                    Some(name) => Err(format!("check: the lines for numpy must assign {name}, as in {name} = A + B")),
                }
            }
            Checker::Rung { name } => match self.rungs.iter().any(|rung| rung.name == *name) {
                true if self.rungs.len() > 1 => Ok(()),
                true => Err(format!("check: {name} is the only rung, and would be compared with itself")),
                false => Err(format!("check: there is no rung {name:?}")),
            },
            Checker::Kernel { .. } => Ok(()),
            Checker::Family { name } => match ANSWERING.contains(&name.as_str()) {
                true if self.outputs().count() == 1 => Ok(()),
                true => Err(format!("check: {name} has one result, and this family has several outputs")),
                false => Err(format!(
                    "check: family: {name}: gpulab has a reference of its own for {}",
                    ANSWERING.join(", ")
                )),
            },
        }
    }

    fn check_command(&self, command: &[String], seconds: u64) -> Result<(), String> {
        let in_braces = |word: &String| -> Vec<String> {
            let parts = word.split('{').skip(1).filter_map(|part| part.split_once('}'));
            let is_meant = |name: &String| is_name(name) || name.strip_prefix("out.").is_some_and(is_name);
            parts.map(|(name, _)| name.to_owned()).filter(is_meant).collect()
        };
        let named: Vec<String> = command.iter().flat_map(in_braces).collect();
        let outputs: Vec<&str> = self.outputs().map(|output| output.declared.name.as_str()).collect();
        let results = match outputs[..] {
            [_] => vec!["out".to_owned()],
            _ => outputs.iter().map(|name| format!("out.{name}")).collect(),
        };
        let inputs = self.inputs().map(|input| input.declared.name.clone());
        let known: Vec<String> = inputs.chain(results.clone()).chain(["n", "m", "type"].map(str::to_owned)).collect();
        if let Some(name) = named.iter().find(|name| !known.contains(name)) {
            return Err(format!("[check] command: {{{name}}} is unknown; there is {{{}}}", known.join("}, {")));
        }
        match results.iter().find(|result| !named.contains(result)) {
            Some(result) => {
                Err(format!("[check] command: one word must have {{{result}}}, the file that the program writes"))
            }
            None if seconds == 0 => Err("[check] seconds must be 1 at least".into()),
            None => Ok(()),
        }
    }

    fn check_tolerance(&self) -> Result<(), String> {
        match &self.tolerance {
            Allowance::OfLargest(None) => Ok(()),
            Allowance::OfLargest(Some(share)) => match (0.0..0.1).contains(share) {
                true => Ok(()),
                false => Err("tolerance, a share of the largest result, must be from 0 to less than 0.1".into()),
            },
            Allowance::Formula { absolute, relative, times } => {
                let is_sound = absolute.is_finite() && *absolute >= 0.0 && (0.0..0.1).contains(relative);
                if !is_sound {
                    return Err("[tolerance]: absolute must be 0 or more, and relative from 0 to less than 0.1".into());
                }
                times.iter().try_for_each(|formula| self.check_formula(formula, &[]).map_err(|(_, why)| why))
            }
        }
    }

    /// Names of buffers and macros: each once, and none that means something else.
    fn check_names(&self) -> Result<(), Complaint> {
        let mut known: BTreeSet<&str> = BTreeSet::new();
        for name in self.buffers.iter().map(|buffer| &buffer.declared.name).chain(self.constants.keys()) {
            if !is_name(name) || taken(name) || !known.insert(name) {
                let is_key = self.constants.contains_key(name);
                let word = if is_key { name.clone() } else { format!("name = {name:?}") };
                return Err((word, format!("the name {name:?} {TAKEN}")));
            }
        }
        let mut rungs: BTreeSet<&str> = BTreeSet::new();
        for rung in &self.rungs {
            if !is_rung_name(&rung.name) || !rungs.insert(&rung.name) {
                let why = "a rung's name has small letters, digits and _, starts with a letter that no digit follows";
                return Err((rung.name.clone(), format!("rung {:?}: {why}, and is unique", rung.name)));
            }
            let scratch = rung.scratch.iter().map(|declared| &declared.name);
            for name in scratch.chain(rung.tune.keys()) {
                if !is_name(name) || taken(name) || known.contains(name.as_str()) {
                    let why = format!("rung {}: the name {name:?} {TAKEN}", rung.name);
                    return Err((name.clone(), why));
                }
            }
        }
        Ok(())
    }

    fn check_rung(&self, rung: &DescribedRung) -> Result<(), Complaint> {
        let at = |word: &str, why: String| (word.to_owned(), format!("rung {}: {why}", rung.name));
        let spanned = rung.tune.values().map(Vec::len).chain([rung.groups.len().max(1)]);
        if spanned.fold(1usize, usize::saturating_mul) > MOST_SETTINGS {
            return Err(at("tune", format!("tune spans more than {MOST_SETTINGS} settings: give fewer values")));
        }
        for (name, values) in &rung.tune {
            if values.is_empty() {
                return Err(at(name, format!("tune: {name} must have values, as in ITEMS = [1, 2]")));
            }
        }
        if let Some((name, _)) = rung.defines.iter().find(|(_, value)| value.trim() == "?") {
            return Err(at(name, format!("define: {name} has a question mark: put what its host gives there")));
        }
        let same =
            rung.tune.keys().enumerate().find_map(|(place, name)| {
                rung.tune.keys().skip(place + 1).find(|other| other.eq_ignore_ascii_case(name))
            });
        if let Some(name) = same {
            return Err(at(name, format!("tune: {name} differs from another by the size of its letters alone")));
        }
        let own = rung.tune.keys().chain(rung.named.keys()).map(String::as_str);
        let mut more: Vec<&str> = GROUP.into_iter().chain(own).collect();
        let lengths = rung.scratch.iter().map(|declared| &declared.length);
        for formula in lengths.chain(&rung.local).chain(rung.conditions.iter().flat_map(Restriction::formulas)) {
            self.check_formula(formula, &more)?;
        }
        self.check_steps(rung, &rung.steps, &mut more)?;
        let launches: Vec<&DescribedLaunch> = rung.steps.iter().flat_map(RungStep::launches).collect();
        let has = |name: &str| {
            launches.iter().flat_map(|launch| &launch.args).any(|arg| *arg == DescribedArg::Buffer(name.to_owned()))
        };
        match self.outputs().map(|output| &output.declared.name).find(|name| !has(name)) {
            None => Ok(()),
            Some(name) => Err(at(&rung.name, format!("no launch has the output {name:?} among its args"))),
        }
    }

    fn check_steps<'a>(
        &self,
        rung: &DescribedRung,
        steps: &'a [RungStep],
        more: &mut Vec<&'a str>,
    ) -> Result<(), Complaint> {
        for step in steps {
            match step {
                RungStep::Launch(launch) => {
                    let sides = launch.extent.sides();
                    if sides.len() > 3 {
                        let why = "a launch has three dimensions at most";
                        let word = format!("kernel = {:?}", launch.kernel);
                        return Err((word, format!("rung {}: launch of {}: {why}", rung.name, launch.kernel)));
                    }
                    sides.iter().try_for_each(|side| self.check_formula(side, more))?;
                    for formula in launch.args.iter().flat_map(DescribedArg::formulas) {
                        self.check_formula(formula, more)
                            .map_err(|(word, why)| (word, self.meant(rung, formula, why)))?;
                    }
                }
                RungStep::Loop { variable, ends, swap, flag, steps } => {
                    ends.iter().try_for_each(|end| self.check_formula(end, more))?;
                    let at = |name: &String, why: String| Err((name.clone(), format!("rung {}: {why}", rung.name)));
                    let is_input = |name: &&String| {
                        self.inputs()
                            .any(|input| input.declared.role == BufferRole::In && input.declared.name == **name)
                    };
                    if let Some(name) = swap.iter().flatten().find(is_input) {
                        return at(name, format!("swap exchanges {name}, which is only an input: write inout {name}"));
                    }
                    if let Some(name) = flag.iter().find(is_input) {
                        return at(name, format!("while: no kernel can raise {name}, which is only an input"));
                    }
                    for (key, name) in
                        swap.iter().flatten().map(|name| ("swap", name)).chain(flag.iter().map(|name| ("while", name)))
                    {
                        if !self.is_buffer(rung, name) {
                            return at(name, format!("{key}: there is no buffer {name}"));
                        }
                    }
                    more.push(variable);
                    self.check_steps(rung, steps, more)?;
                    more.pop();
                }
            }
        }
        Ok(())
    }

    fn is_buffer(&self, rung: &DescribedRung, name: &str) -> bool {
        let scratch = rung.scratch.iter();
        self.buffers.iter().map(|buffer| &buffer.declared).chain(scratch).any(|declared| declared.name == name)
    }

    /// A complaint about an argument's formula, with the buffers whose names it may have meant.
    fn meant(&self, rung: &DescribedRung, formula: &Formula, why: String) -> String {
        let Some(name) = formula.name() else { return why };
        let buffers = self.buffers.iter().map(|buffer| &buffer.declared).chain(&rung.scratch);
        let buffers: Vec<&str> = buffers.map(|declared| declared.name.as_str()).collect();
        let meant: Vec<&str> = nearest(name, buffers.iter().copied(), |name| *name);
        format!("{why}, and the buffers {}{}", buffers.join(", "), did_you_mean(&meant))
    }

    /// As [`Description::check_formula`]; lengths are in elements, whatever their type.
    fn check_length(&self, formula: &Formula) -> Result<(), Complaint> {
        match formula.names().contains(&"size") {
            true => Err((formula.text.clone(), format!("\"{}\": lengths are in elements, without size", formula.text))),
            false => self.check_formula(formula, &[]).map_err(|(word, why)| {
                (
                    word,
                    format!("{why}. Lengths of inputs and outputs are the same whatever the work-group and settings"),
                )
            }),
        }
    }

    /// Refuses names that mean nothing.
    fn check_formula(&self, formula: &Formula, more: &[&str]) -> Result<(), Complaint> {
        let own = self.constants.keys().chain(self.named.keys()).map(String::as_str);
        let mut known: Vec<&str> = SIZES.into_iter().chain(own).collect();
        known.extend(more.iter().filter(|name| !self.named.contains_key(**name)));
        let Some(name) = formula.names().into_iter().find(|name| !known.contains(name)) else { return Ok(()) };
        Err((
            formula.text.clone(),
            format!("\"{}\": {name} is unknown here; there is {}", formula.text, known.join(", ")),
        ))
    }
}

//! The launches of a described rung.

use super::args::{BufferRole, Content, Declared, DescribedArg};
use super::description::{DescribedLaunch, DescribedRung, MOST, RungStep};
use super::formula::{Formula, macro_value};
use super::problem::{DescribedProblem, Storage};
use crate::builder::new_plan;
use crate::c_text::ValueType;
use crate::{Described, Planned, shape};
use gpulab_model::data::{Dtype, NumberValue, Scalar};
use gpulab_model::plan::{
    Arg, ArgValue, Case, FlagCheck, Image, Pass, Plan, Refusal, Role, Target, WorkGroup,
};
use std::collections::BTreeMap;

const MOST_LAUNCHES: usize = 20_000;

/// The plan of a case: buffers, macros and launches as the file says.
pub fn plan(problem: &DescribedProblem, at: usize, case: &Case, target: &Target) -> Planned {
    problem.check(case.shape, case.dtype)?;
    let rung = &problem.description.rungs[at];
    let wg = work_group(rung, case);
    let described = DescribedPlan {
        problem,
        rung,
        case,
        target,
        wg,
    };
    described.demand_conditions()?;
    shape::check_wg(wg, target)?;
    let mut plan = described.plan()?;
    let hidden = &problem.hidden[at];
    plan.defines
        .retain(|(name, _)| rung.defines.contains_key(name) || !hidden.contains(&name.as_str()));
    Ok(plan)
}

/// The group asked for, or the rung's own if that has more dimensions and the file does not name the other; 16 wide where the
/// rung has more and says nothing.
fn work_group(rung: &DescribedRung, case: &Case) -> WorkGroup {
    let asked = case.wg;
    let is_deep = rung.steps.iter().any(|step| step.dimensions() > 1);
    let is_flat = asked.0[1] == 1 && asked.0[2] == 1;
    match rung.wg {
        _ if !is_flat || rung.groups.contains(&asked) => asked,
        Some(declared) if declared.0[1] > 1 || declared.0[2] > 1 => declared,
        None if is_deep => WorkGroup([16, asked.size().div_ceil(16).min(16), 1]),
        _ => asked,
    }
}

struct DescribedPlan<'a> {
    problem: &'a DescribedProblem,
    rung: &'a DescribedRung,
    case: &'a Case,
    target: &'a Target,
    wg: WorkGroup,
}

/// The buffers as launches see them, and the loops' numbers.
struct Bindings<'a> {
    buffers: BTreeMap<&'a str, Arg>,
    numbers: Vec<(&'a str, u64)>,
    /// Bytes of local memory of the largest launch.
    local: u64,
    launches: usize,
}

impl<'a> DescribedPlan<'a> {
    fn plan(&self) -> Planned {
        let case = self.case;
        let description = &self.problem.description;
        let len = |buffer| {
            self.problem
                .len(buffer, case.shape, case.dtype)
                .map_err(Refusal::Size)
        };
        let lens = description
            .buffers
            .iter()
            .map(len)
            .collect::<Result<Vec<usize>, _>>()?;
        let longest = lens.iter().copied().max().unwrap_or(1) as u64;
        let mut plan = new_plan(
            shape::signed(case.dtype),
            longest.max(case.shape.elements()),
            self.wg,
        );
        self.define(&mut plan)?;
        let mut bound = Bindings {
            buffers: BTreeMap::new(),
            numbers: Vec::new(),
            local: 0,
            launches: 0,
        };
        let mut inputs = 0;
        for (declared, len) in description.buffers.iter().zip(lens) {
            let dtype = Storage::of(declared, case.dtype).dtype;
            let input = declared.role.is_input().then(|| {
                inputs += 1;
                plan.buffer(Role::Input(inputs - 1), dtype, len)
            });
            let output = declared
                .role
                .is_output()
                .then(|| plan.buffer(Role::Output, dtype, len));
            if let Some(output) = output {
                plan.restored |= input.is_some() || declared.content == Content::Zeros;
                match input {
                    Some(input) => plan.copy(self.target.max_wg, input, output),
                    None if declared.content == Content::Zeros => {
                        plan.zero(self.target.max_wg, output)
                    }
                    None => {}
                }
            }
            let arg = output
                .or(input)
                .ok_or_else(|| Refusal::Setting(format!("{} has no role", declared.name)))?;
            bound
                .buffers
                .insert(&declared.name, self.viewed(&mut plan, declared, arg)?);
        }
        for declared in &self.rung.scratch {
            let storage = Storage::of(declared, case.dtype);
            let count = self.count(&declared.length, 1, MOST, &bound.numbers)?;
            let scratch = plan.buffer(Role::Scratch, storage.dtype, storage.len(count));
            if declared.content == Content::Zeros {
                plan.restored = true;
                plan.zero(self.target.max_wg, scratch);
            }
            bound
                .buffers
                .insert(&declared.name, self.viewed(&mut plan, declared, scratch)?);
        }
        let local = self
            .rung
            .local
            .as_ref()
            .map_or(Ok(0), |elements| self.count(elements, 1, 1 << 24, &[]))?;
        bound.local = local * case.dtype.size() as u64;
        let own = bound.buffers.clone();
        self.steps(&mut plan, &self.rung.steps, &mut bound)?;
        // After an odd number of exchanges a result lies where another buffer was.
        for (name, arg) in own {
            let (Arg::Buffer(home), Some(Arg::Buffer(now))) =
                (arg, bound.buffers.get(name).copied())
            else {
                continue;
            };
            let [home, now] = [home, now].map(|index| memory(&plan, index));
            if home != now && plan.buffers[home].role == Role::Output {
                plan.copy(self.target.max_wg, Arg::Buffer(now), Arg::Buffer(home));
            }
        }
        plan.local_bytes = bound.local;
        plan.check_local(self.target)?;
        Ok(plan)
    }

    /// What kernels are given of a buffer: an image of it, where it holds pixels.
    fn viewed(&self, plan: &mut Plan, declared: &Declared, arg: Arg) -> Result<Arg, Refusal> {
        let (Some(ValueType::Pixel(format, kind)), Arg::Buffer(of)) = (&declared.resolved, arg)
        else {
            return Ok(arg);
        };
        if !self.target.images {
            return Err(Refusal::Feature("this device has no images".into()));
        }
        let mut sides = [1; 3];
        for (side, formula) in sides.iter_mut().zip(declared.sides.iter().rev()) {
            *side = self.count(formula, 1, MOST, &[])? as usize;
        }
        let image = Image {
            kind: *kind,
            sides,
            format: *format,
            is_written: declared.role != BufferRole::In,
        };
        let spec = &plan.buffers[of];
        let dtype = spec.dtype;
        let len = spec.len;
        Ok(plan.buffer(Role::Image { of, image }, dtype, len))
    }

    /// Refuses settings that the file rules out.
    fn demand_conditions(&self) -> Result<(), Refusal> {
        for condition in &self.rung.conditions {
            let holds = condition.value(&|name| self.number(name, &[]));
            if holds.map_err(|why| Refusal::Setting(format!("where {why}")))? == 0 {
                return Err(Refusal::Excluded(condition.text.clone()));
            }
        }
        Ok(())
    }

    fn define(&self, plan: &mut Plan) -> Result<(), Refusal> {
        for name in ["WG", "WG_X", "WG_Y"] {
            plan.define(name, self.number(name, &[]).unwrap_or_default());
        }
        for name in self.rung.tune.keys() {
            let value = self.number(name, &[]).unwrap_or_default();
            plan.define(name, value);
            plan.note(&name.to_lowercase(), value);
        }
        for (name, text) in &self.rung.defines {
            plan.define(name, macro_value(text, &|name| self.number(name, &[])));
        }
        Ok(())
    }

    fn steps(
        &self,
        plan: &mut Plan,
        steps: &'a [RungStep],
        bound: &mut Bindings<'a>,
    ) -> Result<(), Refusal> {
        for step in steps {
            match step {
                RungStep::Launch(launch) => {
                    bound.launches += 1;
                    if bound.launches > MOST_LAUNCHES {
                        return Err(Refusal::Size(format!(
                            "its loops have more than {MOST_LAUNCHES} launches"
                        )));
                    }
                    let local = self.launch(plan, launch, bound)?;
                    bound.local = bound.local.max(local);
                }
                RungStep::Loop {
                    variable,
                    ends,
                    swap,
                    flag,
                    steps,
                } => {
                    let from = self.count(&ends[0], 0, MOST, &bound.numbers)?;
                    let to = self.count(&ends[1], 0, MOST, &bound.numbers)?;
                    if to.saturating_sub(from) > MOST_LAUNCHES as u64 {
                        return Err(Refusal::Size(format!(
                            "the loop over {variable} has more than {MOST_LAUNCHES} turns"
                        )));
                    }
                    let flag = flag
                        .as_ref()
                        .and_then(|name| Some((name, *bound.buffers.get(name.as_str())?)));
                    let mut checked = Vec::new();
                    for turn in from..to {
                        if let Some((_, buffer)) = flag {
                            plan.zero(self.target.max_wg, buffer);
                        }
                        bound.numbers.push((variable, turn));
                        let done = self.steps(plan, steps, bound);
                        bound.numbers.pop();
                        done?;
                        if let Some((name, buffer)) = flag {
                            let last_turn = (turn + 1 == to).then_some(to - from);
                            checked.push(self.check(plan, name, buffer, last_turn)?);
                        }
                        for [a, b] in swap {
                            if let (Some(&first), Some(&second)) =
                                (bound.buffers.get(a.as_str()), bound.buffers.get(b.as_str()))
                            {
                                bound.buffers.insert(a, second);
                                bound.buffers.insert(b, first);
                            }
                        }
                    }
                    // A flag that is down leaves out all turns behind it.
                    let end = plan.passes.len();
                    for at in checked {
                        if let Some(check) = &mut plan.passes[at].check {
                            check.skips = end - 1 - at;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Has the flag looked at behind the last launch; the place of that.
    fn check(
        &self,
        plan: &mut Plan,
        name: &str,
        flag: Arg,
        last_turn: Option<u64>,
    ) -> Result<usize, Refusal> {
        let bytes = |index: usize| plan.buffers[index].bytes();
        let check = match flag {
            Arg::Buffer(buffer) => FlagCheck {
                name: name.to_owned(),
                buffer,
                bytes: bytes(buffer),
                skips: 0,
                last_turn,
            },
            _ => return Err(Refusal::Setting(format!("there is no buffer {name}"))),
        };
        match plan.passes.last_mut() {
            Some(Pass {
                check: place @ None,
                ..
            }) => *place = Some(check),
            _ => {
                let why = format!(
                    "while = {name:?}: its loop must end with a launch, and not with another such loop"
                );
                return Err(Refusal::Setting(why));
            }
        }
        Ok(plan.passes.len() - 1)
    }

    /// Adds a launch; the bytes of local memory that it hands over.
    fn launch(
        &self,
        plan: &mut Plan,
        launch: &DescribedLaunch,
        bindings: &Bindings<'a>,
    ) -> Result<u64, Refusal> {
        // A launch of one dimension has the work-items of the group in a row.
        let is_row = launch.sides.len() == 1;
        let wg = launch.wg.unwrap_or(if is_row {
            WorkGroup::linear(self.wg.size())
        } else {
            self.wg
        });
        shape::check_wg(wg, self.target)?;
        let mut groups = [1; 3];
        for (d, side) in launch.sides.iter().enumerate() {
            let count = self.count(side, 1, MOST, &bindings.numbers)?;
            groups[d] = if launch.is_of_groups {
                count
            } else {
                count.div_ceil(wg.0[d] as u64)
            };
        }
        let items = groups
            .iter()
            .try_fold(wg.size() as u64, |items, groups| items.checked_mul(*groups));
        if items.is_none_or(|items| items > MOST) {
            return Err(Refusal::Size(format!(
                "the launch of {} has more than {MOST} work-items",
                launch.kernel
            )));
        }
        let names = |name: &str| self.number(name, &bindings.numbers);
        let buffers = |name: &str| bindings.buffers.get(name).copied();
        let args = launch
            .args
            .iter()
            .map(|arg| bound(arg, self.case.dtype, &names, &buffers));
        let args = args.collect::<Result<Vec<Arg>, _>>()?;
        let local = args
            .iter()
            .map(|arg| {
                if let Arg::Local(bytes) = arg {
                    *bytes as u64
                } else {
                    0
                }
            })
            .sum();
        plan.launch_of(&launch.kernel, groups, wg, args);
        if let Some(pass) = plan.passes.last_mut() {
            pass.timed = launch.is_timed;
        }
        Ok(local)
    }

    fn count(
        &self,
        formula: &Formula,
        least: u64,
        most: u64,
        loops: &[(&str, u64)],
    ) -> Result<u64, Refusal> {
        formula
            .count(least, most, &|name| self.number(name, loops))
            .map_err(Refusal::Size)
    }

    fn number(&self, name: &str, loops: &[(&str, u64)]) -> Option<u64> {
        let [x, y, _] = self.wg.0;
        match name {
            "WG" => return Some(self.wg.size() as u64),
            "WG_X" => return Some(x as u64),
            "WG_Y" => return Some(y as u64),
            _ => {}
        }
        if let Some((_, turn)) = loops.iter().rev().find(|(variable, _)| *variable == name) {
            return Some(*turn);
        }
        match (self.rung.tune.get(name), self.rung.named.get(name)) {
            (Some(values), _) => match self.case.params.get(&name.to_lowercase()) {
                Some(given) => given.parse().ok(),
                None => values.first().copied(),
            },
            (None, Some(formula)) => {
                u64::try_from(formula.value(&|name| self.number(name, loops)).ok()?).ok()
            }
            (None, None) => self
                .problem
                .description
                .size(name, self.case.shape, self.case.dtype),
        }
    }
}

/// What a kernel is given for an argument: numbers as its parameter wants them, as an index where nothing is known of it; so many
/// bytes of local memory.
pub fn bound(
    arg: &DescribedArg,
    case: Dtype,
    names: &dyn Fn(&str) -> Option<u64>,
    buffers: &dyn Fn(&str) -> Option<Arg>,
) -> Result<Arg, Refusal> {
    /// What lies between a struct's fields, which no kernel may rely on.
    const PADDING: u8 = 0xA5;
    let bytes = match arg {
        DescribedArg::Buffer(name) => {
            return buffers(name)
                .ok_or_else(|| Refusal::Setting(format!("there is no buffer {name}")));
        }
        DescribedArg::Sampler(sampler) => return Ok(Arg::Sampler(*sampler)),
        // A device has at most a few KiB of local memory.
        DescribedArg::Local(elements, of) => {
            let size = of.as_ref().map_or(case.size(), |of| of.size(case.size()));
            return Ok(Arg::Local(
                elements.count(1, 1 << 24, names).map_err(Refusal::Size)? as usize * size,
            ));
        }
        DescribedArg::Number(formula, None | Some(ValueType::Index)) => {
            return formula
                .count(0, u64::MAX, names)
                .map(Arg::Index)
                .map_err(Refusal::Size);
        }
        DescribedArg::Number(formula, Some(ValueType::Case)) => {
            bytes_of(formula, case.into(), names)?
        }
        // Each number of a vector.
        DescribedArg::Number(formula, Some(ValueType::Number(scalar, lanes))) => {
            bytes_of(formula, *scalar, names)?.repeat(*lanes)
        }
        DescribedArg::Number(formula, Some(ValueType::Struct(_))) => {
            let why = format!(
                "{:?} is one number for a struct: write {{1.0, 2.0, n}}",
                formula.text
            );
            return Err(Refusal::Setting(why));
        }
        DescribedArg::Numbers(formulas, Some(ValueType::Struct(layout))) => {
            let mut bytes = vec![PADDING; layout.size];
            for (formula, field) in formulas.iter().zip(&layout.fields) {
                let value = bytes_of(formula, field.scalar, names)?;
                bytes[field.at..][..value.len()].copy_from_slice(&value);
            }
            bytes
        }
        DescribedArg::Numbers(formulas, Some(ValueType::Number(scalar, lanes))) => {
            let mut bytes = Vec::new();
            for formula in formulas {
                bytes.extend(bytes_of(formula, *scalar, names)?);
            }
            bytes.resize(scalar.size() * lanes, 0);
            bytes
        }
        DescribedArg::Number(..) | DescribedArg::Numbers(..) => {
            return Err(Refusal::Setting(
                "the type of a struct or vector is not known".into(),
            ));
        }
    };
    let len = bytes.len();
    let most = || {
        Refusal::Setting(format!(
            "a value of {len} bytes; at most {} can be handed over",
            ArgValue::MOST
        ))
    };
    ArgValue::new(&bytes).map(Arg::Value).ok_or_else(most)
}

pub fn bytes_of(
    formula: &Formula,
    scalar: Scalar,
    names: &dyn Fn(&str) -> Option<u64>,
) -> Result<Vec<u8>, Refusal> {
    let number = match scalar.is_float() {
        true => formula.real(names).map(NumberValue::Real),
        false => formula.value(names).map(NumberValue::Whole),
    };
    let number = number.map_err(Refusal::Size)?;
    scalar.bytes(number).ok_or_else(|| {
        Refusal::Size(format!(
            "\"{}\" is {number}, which {} cannot hold",
            formula.text,
            scalar.name()
        ))
    })
}

/// The buffer that this one lies in: an image's pixels lie in another.
fn memory(plan: &Plan, index: usize) -> usize {
    match plan.buffers[index].role {
        Role::Image { of, .. } => of,
        _ => index,
    }
}

//! What every family's command does: check what is asked, climb the ladder, tell.

mod climb;

use crate::bench::{self, Input};
use crate::ceilings::Limits;
use crate::cli::{Global, Ladder};
use crate::commands::count::counter::{PATIENCE, counts};
use crate::commands::elsewhere::{RecordedGpu, USUAL};
use crate::console::{note, worst_of};
use crate::data::{Dtype, Params};
use crate::kernels::{Family, Rung};
use crate::outcome::{DeviceInfo, Status};
use crate::outputs::{Outputs, Paths};
use crate::plan::{Case, WorkGroup};
use crate::record::Row;
use crate::report::elsewhere::TimeElsewhere;
use crate::report::progress::StatusLine;
use crate::report::{self, RateUnit, ladder, landing, markdown, rates, shown as told};
use crate::sweep::Asked;
use crate::values::{self, Peak};
use crate::why::case_of;
use crate::worker::Setup;
use crate::{Error, Result, usage_error};
use climb::Climb;
pub use climb::LadderRun;
use std::collections::BTreeMap;
use std::time::Instant;

/// Climbs the ladder and prints what came of it. What was measured before an error or an interrupt is
/// printed all the same. `measured` gets the rows.
pub fn run(
    global: &Global,
    options: &Ladder,
    study: &LadderRun<'_>,
    measured: &mut Vec<Row>,
) -> Result<()> {
    let began = Instant::now();
    let variants = options.variant.as_deref().or(study.variants);
    let mut rungs = match variants {
        Some(list) => values::variants(study.family, list).map_err(Error::Usage)?,
        None => study.family.kernels().collect(),
    };
    if let Some(own) = study
        .own
        .filter(|own| rungs.iter().all(|rung| rung.path != own.path))
    {
        rungs.push(own);
    }
    check_peaks(study.family, &options.peak)?;
    let dtype = checked_dtype(study, &rungs, options, global.quiet)?;
    let mut outputs = Outputs::open(&Paths::from(&options.output))?;
    outputs.taken |= study.to_stderr;
    let data = Input {
        family: study.family,
        shape: study.shape,
        dtype,
        params: &study.params,
    };
    let setup = Setup {
        inputs: study.inputs.clone(),
        dtype: study.dtype,
        memory: study.memory,
        ..global.setup(options.given.cl_dir.as_ref(), &study.registry)
    };
    let executor = data.open(setup, options.measure.in_process, options.measure.deadline)?;
    let info = executor.info().clone();
    if let Some(wg) = options.wg.filter(|wg| wg.size() > info.target.max_wg) {
        return usage_error(format!(
            "work-group {wg} is too large: {} allows at most {} work-items",
            info.name, info.target.max_wg
        ));
    }
    bench::announce(global, &info);
    let mut climb = Climb::new(study, options, dtype, executor, outputs);
    ask_reference(&mut climb, global.quiet)?;
    let is_own = options.given.cl_dir.is_some();
    let mut limits = bench::limits(global, &info, options.measure.quick, is_own);
    climb.tuned = tuned(study, options, &rungs, &info, dtype, global.quiet);
    for case in &study.own_cases {
        climb
            .tuned
            .entry(case.variant.clone())
            .or_insert_with(|| case.clone());
    }
    if let Some(asked) = &options.on {
        RecordedGpu::of(asked, study.family)?;
    }
    climb.rungs = rungs;
    climb.peaks.clone_from(&options.peak);
    climb.verbose = global.verbose;
    climb.status = Some(StatusLine::new(global.quiet));
    let climbed = climb.climb(&mut limits, began);
    let rows = climb.median_rows();
    let all = climb.rows();
    measured.clone_from(&rows);
    let mut finished = tell(&mut climb, global, &rows, climbed.is_ok());
    if options.why && climbed.is_ok() && finished.is_ok() && study.shape.elements() > 0 {
        let placed = match study.own {
            Some(own) => landing::placed(
                landing::landing(study.family, own, &rows).as_ref(),
                own,
                &rows,
            ),
            None => rows.clone(),
        };
        finished = reasons(&mut climb, global, &mut limits, &placed);
    }
    if climbed.is_ok() && finished.is_ok() && study.shape.elements() > 0 {
        finished = elsewhere(&mut climb, global, &rows);
    }
    if matches!(climbed, Err(Error::Interrupted)) && !climb.missing().is_empty() {
        note(&format!("not measured: {}", climb.missing().join(", ")));
    }
    let judged = all
        .iter()
        .filter(|row| !study.faulty.contains(&row.variant) || row.status == Status::BuildFailed);
    let rungs = bench::worst(&judged.cloned().collect::<Vec<_>>(), options.measure.strict);
    let probes = bench::gone_wrong(|status| limits.broken(status));
    worst_of([climbed, rungs, probes, finished])
}

/// The elements' type, if it, the settings and the files are ones that these rungs can have.
fn checked_dtype(
    study: &LadderRun<'_>,
    rungs: &[&Rung],
    options: &Ladder,
    quiet: bool,
) -> Result<Dtype> {
    check_settings(study, rungs)?;
    let dtype = bench::dtype(study.family, study.dtype)?;
    check_values(study, rungs, dtype, options.wg)?;
    bench::check_sources(rungs, options.given.cl_dir.as_deref(), quiet)?;
    Ok(dtype)
}

/// Refuses settings that no device could take, each alone or as they are given together.
fn check_values(
    study: &LadderRun<'_>,
    rungs: &[&Rung],
    dtype: Dtype,
    wg: Option<WorkGroup>,
) -> Result<()> {
    let wgs: Vec<WorkGroup> = wg.into_iter().collect();
    let asked = Asked {
        family: study.family,
        rungs,
        dtypes: &[dtype],
        wgs: &wgs,
    };
    for (name, value) in &study.params {
        let alone = Params::from([(name.clone(), value.clone())]);
        let together = asked.refusal(name, std::slice::from_ref(&study.params));
        if let Some(why) = together.and_then(|_| asked.refusal(name, &[alone])) {
            return usage_error(format!("--{name} {value}: {why}"));
        }
    }
    Ok(())
}

/// Asks whoever says what is right in a reader's own family, before a rung is blamed for want of an answer; says who it is.
fn ask_reference(climb: &mut Climb<'_>, quiet: bool) -> Result<()> {
    let ladder = climb.ladder;
    if ladder.family.described().is_none() || ladder.shape.elements() == 0 {
        return Ok(());
    }
    let case = ladder.case(
        "",
        climb.dtype,
        WorkGroup::linear(1),
        climb.options.given.seed,
    );
    let who = climb.executor.ask_reference(&case)?;
    who.iter()
        .filter(|_| !quiet)
        .for_each(|who| note(&format!("the reference is {who}")));
    Ok(())
}

/// Says why each step pays or does not; beside the table, on standard error where files go to standard output.
fn reasons(
    climb: &mut Climb<'_>,
    global: &Global,
    limits: &mut Limits,
    rows: &[Row],
) -> Result<()> {
    let ceilings = climb.model_limits(limits)?;
    climb.status = None;
    let registry = &climb.ladder.registry;
    let counts = counts(
        registry,
        rows,
        climb.options.given.cl_dir.as_deref(),
        (PATIENCE, global.quiet),
    )?;
    let model = told::model_of(rows, &ceilings);
    climb.outputs.tell(global, &|screen| {
        let model = model.map_or_else(String::new, |is_gpu| {
            format!("\n{}", report::why::model_text(is_gpu, screen))
        });
        format!(
            "\n{}{model}",
            told::reasons_text(registry, rows, &counts, &ceilings, screen)
        )
    });
    Ok(())
}

/// The rungs' times on a recorded GPU, where one is asked for or only a CPU is here: there at the largest size that was recorded,
/// or else at the same one.
fn elsewhere(climb: &mut Climb<'_>, global: &Global, rows: &[Row]) -> Result<()> {
    let is_usual = !global.quiet && !climb.executor.info().target.gpu;
    let usual = is_usual.then_some(USUAL);
    let Some(asked) = climb.options.on.as_deref().or(usual) else {
        return Ok(());
    };
    let study = climb.ladder;
    let gpu = RecordedGpu::of(asked, study.family)?;
    let shape = match climb.options.on {
        None => gpu.largest(climb.dtype).unwrap_or(study.shape),
        Some(_) => study.shape,
    };
    // What this device chose by itself another one chooses, too.
    let case = |row: &Row| {
        let own = study
            .own_cases
            .iter()
            .find(|own| own.variant == row.variant);
        let usual = || {
            study.case(
                &row.variant,
                climb.dtype,
                climb.wg,
                climb.options.given.seed,
            )
        };
        let case = own.cloned().unwrap_or_else(usual);
        Case { shape, ..case }
    };
    let mut rungs = rows.to_vec();
    rungs.retain(|row| row.is_plain() && case_of(&study.registry, row).is_some());
    let cases: Vec<Case> = rungs.iter().map(case).collect();
    // Nobody asked for it.
    let quiet = global.quiet || climb.options.on.is_none();
    let times = gpu.times(&study.registry, study.family, &cases, quiet)?;
    if times.iter().any(Option::is_some) {
        let times: Vec<(Row, Option<TimeElsewhere>)> = rungs.into_iter().zip(times).collect();
        let size = report::format::size(shape.n, shape.m);
        climb.outputs.tell(global, &|screen| {
            let table = report::elsewhere::table((&gpu.name, &size), &times, screen);
            format!("\n{table}")
        });
    }
    Ok(())
}

/// The rungs that were given no settings as they were tuned for this case, by their names; says which these are.
fn tuned(
    study: &LadderRun<'_>,
    options: &Ladder,
    rungs: &[&Rung],
    info: &DeviceInfo,
    dtype: Dtype,
    quiet: bool,
) -> BTreeMap<String, Case> {
    if options.no_tuned
        || options.wg.is_some()
        || study.claim.is_some()
        || study.shape.elements() == 0
    {
        return BTreeMap::new();
    }
    let known = bench::remembered(study.family, info, options.given.cl_dir.as_deref(), quiet);
    let Some(known) = known else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for rung in rungs {
        let case = study.case(
            rung.variant(),
            dtype,
            bench::default_work_group(info),
            options.given.seed,
        );
        found.extend(bench::tuned(&known, rung, &case).map(|case| (case.variant.clone(), case)));
    }
    bench::announce_tuned(
        study.family,
        &found.keys().map(String::as_str).collect::<Vec<_>>(),
        quiet,
    );
    found
}

/// Refuses a setting that none of the rungs reads.
fn check_settings(study: &LadderRun<'_>, rungs: &[&Rung]) -> Result<()> {
    let unread = study.params.keys().find(|name| {
        let mut read = study
            .family
            .choices
            .iter()
            .copied()
            .chain(rungs.iter().flat_map(|rung| rung.tunables()));
        read.all(|tunable| tunable.name != name.as_str())
    });
    unread.map_or(Ok(()), |name| {
        usage_error(format!(
            "--{name}: none of the chosen rungs has this setting"
        ))
    })
}

/// Refuses theoretical rates of which none is of what bounds the family, or several are of one kind.
fn check_peaks(family: &Family, given: &[Peak]) -> Result<()> {
    let is_memory = family.ceiling.is_memory();
    let bounding = given
        .iter()
        .filter(|peak| matches!(peak, Peak::Bytes(_)) == is_memory)
        .count();
    if bounding > 1 || given.len() > bounding + 1 {
        return usage_error("--peak: give at most one rate of bytes and one of operations");
    }
    let (what, example) = if is_memory {
        ("bytes", "4800GB/s")
    } else {
        ("operations", "60TFLOP/s")
    };
    if !given.is_empty() && bounding == 0 {
        return usage_error(format!(
            "--peak: {} is measured in {what} a second: write {example}",
            family.name
        ));
    }
    Ok(())
}

/// Ends the progress, prints the table and completes the files.
fn tell(climb: &mut Climb<'_>, global: &Global, rows: &[Row], is_whole: bool) -> Result<()> {
    climb.status = None;
    let unit = if climb.options.output.gib {
        RateUnit::GiB
    } else {
        RateUnit::GB
    };
    let units = climb.executor.info().target.compute_units;
    let claim = climb
        .ladder
        .claim
        .as_ref()
        .map_or_else(String::new, |claim| format!("\n{}", claim(rows, units)));
    if is_whole || !rows.is_empty() {
        climb.outputs.md(&(markdown::ladder(rows, unit) + &claim));
    }
    let all = climb.rows();
    let own = climb
        .ladder
        .own
        .and_then(|own| Some((own, landing::landing(climb.ladder.family, own, rows)?)));
    let rates = Some(rates::text(rows, climb.ladder.family.problem.counted()))
        .filter(|text| global.verbose && !text.is_empty());
    let rates = rates.map_or_else(String::new, |text| format!("\n{text}"));
    climb.outputs.tell(global, &|screen| {
        let rounds = report::compare::rounds(&all, screen);
        let lands = own.as_ref().map_or_else(String::new, |(own, at)| {
            format!("\n{}", landing::text(own, at, screen))
        });
        ladder::table(rows, unit, screen, global.verbose) + &rounds + &claim + &rates + &lands
    });
    climb
        .beyond_cache()
        .iter()
        .filter(|_| !global.quiet)
        .for_each(|text| note(text));
    climb.outputs.finish(is_whole, !rows.is_empty())
}

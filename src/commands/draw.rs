//! `gpulab draw`: one access of a kernel, as lanes and words, and other pictures of what its warps do in the simulator; or a film, a
//! page that plays it step by step.

use super::count::counter::{CountedTrial, is_large, of_rung, trials, usual_size};
use super::elsewhere::{RecordedGpu, USUAL};
use super::list::unknown;
use super::plot::check_picture;
use crate::brought::{Brought, is_exercise, is_family_file, line_of, parted};
use crate::cli::{DrawArgs, Global};
use crate::console::{print, screen};
use crate::count::{LockstepModel, Parting, TracedLaunch};
use crate::data::Fill;
use crate::experiments::{Experiment, experiment};
use crate::files::ScratchFolder;
use crate::kernels::signature::CSource;
use crate::kernels::{Family, Registry, Rung, Sources, built_in, ladders};
use crate::plan::{Case, Pass, Plan, Target, WorkGroup};
use crate::report::drawing::{self, DrawnGrids, DrawnView};
use crate::report::film::{Film, page};
use crate::report::format::{file_name, size, time};
use crate::report::moment::FilmLine;
use crate::report::picture::of_grids;
use crate::report::progress::StatusLine;
use crate::simulator::{CountingWorker, ORDERS, Simulator};
use crate::terminal::say;
use crate::worker::Setup;
use crate::{Error, Result, bench, ceilings, interrupt, outputs, usage_error};
use gpulab_model::Joined;
use gpulab_model::outcome::Stop;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Draws what the options choose: in the terminal, or into a file.
pub fn run(global: &Global, options: &DrawArgs) -> Result<()> {
    if let Some(path) = &options.film {
        return film(global, options, path);
    }
    // What cannot be written is refused before the simulator runs.
    options.output.as_deref().map_or(Ok(()), check_picture)?;
    let drawn = stills(options)?;
    let Some(path) = &options.output else {
        let texts = drawn
            .iter()
            .map(|one| drawing::text(one, screen(global.color)))
            .joined("\n");
        return print(&texts);
    };
    outputs::write_told(global, path, of_grids(&drawn).svg(), "")
}

/// What the options choose, drawn.
pub fn stills(options: &DrawArgs) -> Result<Vec<DrawnGrids>> {
    let mut drawn: Vec<DrawnGrids> = Vec::new();
    for what in &options.what {
        let (film, _) = watch(what, options)?;
        // Of a second kernel the access that stands in the place of the first one's.
        let like = drawn.first().and_then(|first| first.of.clone());
        let own = drawing::draw(&film, &options.chosen, like.as_ref());
        drawn.extend(own.map_err(Error::Usage)?);
    }
    Ok(drawn)
}

/// Watches the kernels and writes the page.
fn film(global: &Global, options: &DrawArgs, path: &str) -> Result<()> {
    let mut films = Vec::new();
    for what in &options.what {
        let (film, worker) = watch(what, options)?;
        match worker.filter(|_| options.what.len() == 1) {
            Some(worker) => films = raced(global, options, film, worker)?,
            None => films.push(film),
        }
    }
    if let Some(line) = options
        .chosen
        .line
        .as_ref()
        .filter(|line| films.iter().all(|film| film.costliest(line).is_none()))
    {
        let why = format!(
            "--line {line}: no step is of this line; {}",
            films[0].lines()
        );
        return usage_error(why);
    }
    outputs::write(path, page(&films, options.chosen.line.as_ref()).as_bytes())?;
    if path == "-" {
        return Ok(());
    }
    let titles = crate::report::groups::distinct(films.iter().map(|film| film.title.as_str()));
    global.note(&format!("wrote {path}: {}", titles.join(" and ")));
    for film in &films {
        if let Some(order) = film.order {
            let result = film.counted.wrong.as_deref().unwrap_or("right");
            global.note(&format!("{order}: {result}"));
        } else if let Some(step) = film
            .costliest(&FilmLine::Worst)
            .filter(|step| film.is_wasteful(step))
        {
            let name = file_name(&step.file);
            let place = format!("{path}#line={name}:{}", step.line);
            global.note(&format!(
                "{}, its worst moment: {} ({place})",
                film.title,
                film.cost(step)
            ));
        }
    }
    let mut launches = films.iter().flat_map(|film| &film.launches);
    if let Some(Parting { reads, gets, .. }) = launches.find_map(|one| one.parting.as_ref()) {
        let gets = gets.join("; in the second order it gets ");
        global.note(&format!("{reads} and gets {gets}"));
    } else if films[0].order.is_some() {
        global.note(
            "no read that both orders make got another value, of the first 1048576 of a launch",
        );
    }
    Ok(())
}

/// The film; of a kernel with a race those of two orders of its work-items, of which one wins and one loses. All orders together
/// may take as long as `--deadline`.
fn raced(
    global: &Global,
    options: &DrawArgs,
    film: Film,
    mut worker: CountingWorker,
) -> Result<Vec<Film>> {
    let scratch = ScratchFolder::new().map_err(Error::unwritten("a scratch folder"))?;
    let reads = scratch.path().join("reads");
    let begin = Instant::now();
    let mut status = StatusLine::new(global.quiet);
    let mut finished: Vec<Film> = Vec::new();
    let all = ORDERS.len();
    for (tried, order) in ORDERS.into_iter().enumerate() {
        status.case_started(tried, all, &format!("order {} of {all}", tried + 1));
        let left = Duration::from_secs_f64(options.deadline).saturating_sub(begin.elapsed());
        worker.order(order, &reads, left / (all - tried) as u32)?;
        let (counted, launches) = match worker.trace(&film.case) {
            Ok(Ok(traced)) => traced,
            Ok(Err(Stop { reason, .. })) | Err(Error::Failed(reason)) => {
                status.suspend(|| global.note(&format!("{order}: {reason}")));
                continue;
            }
            Err(error) => return Err(error),
        };
        finished.push(Film {
            order: Some(order),
            counted,
            launches,
            ..film.clone()
        });
        if let [first, .., last] = &finished[..]
            && first.counted.wrong.is_none() != last.counted.wrong.is_none()
        {
            return Ok(vec![first.clone(), last.clone()]);
        }
    }
    let verdict = finished
        .first()
        .map_or("", |first| match first.counted.wrong {
            Some(_) => ": the result is wrong in each",
            None => ": the result is right in each",
        });
    drop(status);
    global.note(&format!(
        "{} of {all} orders of a group's work-items finished{verdict}",
        finished.len()
    ));
    Ok(vec![film])
}

/// Runs the kernel that `what` names in the simulator, and keeps what its first groups did; with the worker where the text is a
/// reader's.
fn watch(what: &str, options: &DrawArgs) -> Result<(Film, Option<CountingWorker>)> {
    let (name, part) = parted(what);
    let experiment = experiment(name).filter(|_| options.family.is_none());
    let x = part
        .filter(|_| experiment.is_some())
        .map(str::parse)
        .transpose();
    let x = x.map_err(|_| {
        Error::Usage(format!(
            "{what}: behind the colon stands the varied parameter's value"
        ))
    })?;
    let named = if experiment.is_some() {
        None
    } else {
        Some(named(what, options)?)
    };
    let registry = named
        .as_ref()
        .map_or_else(Registry::default, |(brought, _)| brought.registry.clone());
    interrupt::watch();
    let simulator = Simulator::prepare(&ceilings::folder()?)?;
    let model = options.machine.unwrap_or(LockstepModel::USUAL);
    let deadline = Duration::from_secs_f64(options.deadline);
    let mut ladders = named
        .iter()
        .filter_map(|(brought, _)| built_in(&brought.family.name));
    let is_small = ladders.next().is_some() || options.chosen.view == DrawnView::Tree;
    let setup = Setup {
        // Numbers that a class can add.
        fill: options.data.or(is_small.then_some(Fill::Below(10))),
        may_be_wrong: true,
        ..Setup::of(&registry)
    };
    let mut worker = CountingWorker::open(
        &simulator,
        model,
        setup,
        deadline,
        Some(options.groups.unwrap_or(match options.chosen.view {
            // Four waves.
            DrawnView::Units => 4 * model.units,
            _ => 2,
        })),
        (interrupt::interrupted, say),
    )?;
    let target = worker.target();
    let watched = match (experiment, &named) {
        (Some(experiment), _) => trial(experiment, x, options, target)?,
        (None, Some((brought, rung))) => kernel(brought, rung, options, target, model)?,
        (None, None) => return usage_error(format!("{what} names no kernel")),
    };
    let CountedTrial {
        case, family, rung, ..
    } = watched;
    let plan = family
        .plan(rung, &case, target)
        .map_err(|refusal| Error::Usage(refusal.to_string()))?;
    let title = match watched.trial {
        Some((name, series, x)) => format!("{name} {series} at {x}"),
        // An exercise has another name than its kernel has in its family.
        None if is_exercise(name) => what.replacen(':', " ", 1),
        None => format!("{} {}", family.name, rung.label()),
    };
    let (counted, launches) = worker
        .trace(&case)?
        .map_err(|stop| bench::simulated(stop.status, &title, &stop.reason))?;
    let sources = sources(&launches, rung.text());
    if let Some(why) = &counted.wrong {
        say(&format!(
            "{title}: the result is wrong in the simulator's own order: {why}"
        ));
    }
    let film = Film {
        title,
        order: None,
        elsewhere: match &named {
            Some((brought, _)) if options.film.is_some() => time_elsewhere(&brought.family, &case)?,
            _ => None,
        },
        parameters: parameters(rung, &plan),
        case,
        plan,
        model,
        counted,
        launches,
        sources,
    };
    Ok((film, rung.own_text().map(|_| worker)))
}

/// What a case's kernel takes on a GPU at the largest size that was recorded, with the same settings and group.
fn time_elsewhere(family: &Family, case: &Case) -> Result<Option<String>> {
    let gpu = RecordedGpu::of(USUAL, family)?;
    let Some(shape) = gpu.largest(case.dtype) else {
        return Ok(None);
    };
    let case = Case {
        shape,
        ..case.clone()
    };
    let row = gpu.recorded(family, &case);
    let seconds = row.and_then(|row| row.t_median_s);
    Ok(seconds.map(|seconds| {
        let size = size(shape.n, shape.m);
        format!(
            "on an {}, n = {size}: {}, as recorded",
            gpu.name,
            time(seconds)
        )
    }))
}

/// The rung of a family, or the reader's kernel, that is meant.
fn named(what: &str, options: &DrawArgs) -> Result<(Brought, Rung)> {
    let (name, _) = parted(what);
    let is_family = is_family_file(name) || ladders().any(|family| family.name == name);
    let is_kernel = name.ends_with(".cl") || is_exercise(name);
    if options.family.is_none() && !is_family && !is_kernel {
        return usage_error(unknown(name));
    }
    Brought::with_rung(what, options.family.as_deref())
}

fn kernel<'a>(
    brought: &'a Brought,
    rung: &'a Rung,
    options: &DrawArgs,
    target: &Target,
    model: LockstepModel,
) -> Result<CountedTrial<'a>> {
    let family = &brought.family;
    let is_tree = options.chosen.view == DrawnView::Tree;
    let size = if is_tree { 64 } else { usual_size(family.form) };
    let usual = family.usual_shape(size, true);
    let mut case = Case {
        seed: options.seed,
        ..bench::case(family, rung, &options.case, usual)?
    };
    if is_tree && options.case.wg.is_none() {
        case.wg = WorkGroup::linear(16);
    }
    if is_large(family.form, case.shape, model) {
        let n = case.shape.n;
        let few = usual.n;
        return usage_error(format!(
            "n = {n} is more than a picture or a film shows: -n {few} shows the same"
        ));
    }
    Ok(of_rung(family, rung, &case, target, model))
}

/// The trial of an experiment at `x`; without it, the last one of the first series.
fn trial(
    experiment: &'static Experiment,
    x: Option<f64>,
    options: &DrawArgs,
    target: &Target,
) -> Result<CountedTrial<'static>> {
    let mut all = trials(experiment, options.case.n, options.seed, target)?;
    let is_meant = |one: &CountedTrial<'_>| {
        one.note.is_ok()
            && one
                .trial
                .as_ref()
                .is_some_and(|(.., at)| x.is_none_or(|x| x == *at))
    };
    let first = all
        .iter()
        .rposition(|one| is_meant(one) && series_of(one) == series_of(&all[0]));
    let Some(meant) = first.or_else(|| all.iter().rposition(is_meant)) else {
        let mut xs: Vec<String> = all
            .iter()
            .filter_map(|one| Some(one.trial.as_ref()?.2.to_string()))
            .collect();
        xs.dedup();
        let xs = xs.join(", ");
        return usage_error(format!(
            "{} has no countable trial there: it has {xs}",
            experiment.name
        ));
    };
    Ok(all.swap_remove(meant))
}

fn series_of<'a>(one: &'a CountedTrial<'_>) -> Option<&'a String> {
    one.trial.as_ref().map(|(_, series, _)| series)
}

/// The names of a rung's parameters, kernel by kernel.
fn parameters(rung: &Rung, plan: &Plan) -> BTreeMap<String, Vec<String>> {
    let text = Sources::default().for_plan(rung, plan).unwrap_or_default();
    let source = CSource::new(&text, &plan.defines);
    plan.passes
        .iter()
        .filter_map(|pass: &Pass| {
            let all = source
                .parameters(&pass.kernel)?
                .into_iter()
                .map(|parameter| parameter.name)
                .collect();
            Some((pass.kernel.clone(), all))
        })
        .collect()
}

/// The lines of the files that steps name: of gpulab's own, or of a reader's text.
fn sources(launches: &[TracedLaunch], text: Option<&str>) -> BTreeMap<String, Vec<String>> {
    let mut files: BTreeMap<String, u64> = BTreeMap::new();
    for step in launches.iter().flat_map(|launch| &launch.steps) {
        let last = files.entry(step.file.clone()).or_default();
        *last = step.line.max(*last);
    }
    let files = files.into_iter().map(|(file, last)| {
        let lines = match (Sources::default().read(&file), text) {
            (Ok(text), _) => text.lines().map(str::to_owned).collect(),
            (Err(_), Some(text)) => (1..=last)
                .map(|line| line_of(text, &file, line).unwrap_or_default())
                .collect(),
            (Err(_), None) => Vec::new(),
        };
        (file, lines)
    });
    files.collect()
}

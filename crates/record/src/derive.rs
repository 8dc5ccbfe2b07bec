//! What follows from the measurements of a case: its row, and what it gained within its ladder.

use crate::row::finite;
use crate::{COPY, CPU_EXACT, CPU_RAYON, CPU_SEQ, Flags, HOST, REPEATS, Row, SCHEMA, Scene, flag};
use gpulab_kernels::{Bound, built_in, exchange::exchange};
use gpulab_model::outcome::{Cache, Clock, Measured, Outcome, SHORT_S, Status};
use gpulab_model::stats::{Summary, ratio, summarise};

/// Per cent of the ceiling up to which a case may merely have been luckier than the ceiling's own run.
const CEILING_SLACK_PCT: f64 = 105.0;

/// Times its best reading that the canary may take before a row counts as measured during drift. The least of a few runs
/// repeats within 3 % (0.3 % for most) beside a steady load, on a CPU driver too; a core that a neighbour takes away
/// makes 1.25 or more of it, as a unit has four groups to run, and twice on two cores. Smaller changes of a clock pass.
pub const DRIFT_RATIO: f64 = 1.05;

impl Row {
    /// The row of a finished case: `rung` is the number in the ladder, none for references and CPU baselines. What compares it
    /// with others is filled in by [`relate`].
    pub fn of(scene: &Scene, rung: Option<u32>, outcome: &Outcome) -> Row {
        let case = &outcome.case;
        let measured = outcome.measured();
        let on_host = scene.platform == HOST;
        let seconds = |pick: fn(&Measured) -> Option<f64>| measured.and_then(pick).and_then(finite);
        let times = summarise(&clocked(outcome));
        let walls: Vec<f64> = outcome.samples().iter().map(|s| s.wall).collect();
        let [gbps, gops] = [outcome.bytes, outcome.ops].map(|amount| {
            times
                .and_then(|t| ratio(amount / 1e9, t.median))
                .filter(|r| *r > 0.0)
        });
        // What is repeated inside a kernel comes from the cache: memory's ceiling says nothing of it.
        let ceiling = scene
            .ceiling
            .filter(|_| !outcome.params.contains_key(REPEATS));
        let ceiling_pct = ceiling.and_then(|most| {
            ratio(
                100.0 * if most.bound.is_memory() { gbps } else { gops }?,
                most.rate,
            )
        });
        let flags = flags(scene, outcome, times, ceiling_pct);
        // What a cache holds is not bounded by memory, measured or stated.
        let fits = flags.contains(flag::FITS_CACHE);
        let [ceiling_gbps, ceiling_gops] = [true, false].map(|is_memory| {
            let limit = scene.ceiling.filter(|c| c.bound.is_memory() == is_memory);
            limit.map(|c| c.rate).and_then(finite)
        });
        let [wg_x, wg_y, wg_z] = outcome.wg.0.map(|items| (!on_host).then_some(items as u64));
        Row {
            schema: SCHEMA,
            run_id: scene.run.id.clone(),
            time_utc: scene.run.time_utc.clone(),
            gpulab: env!("CARGO_PKG_VERSION").to_owned(),
            platform: scene.platform.clone(),
            device: scene.device.clone(),
            driver: scene.driver.clone(),
            cl_version: scene.cl_version.clone(),
            family: case.family.clone(),
            rung,
            variant: case.variant.clone(),
            dtype: case.dtype,
            n: case.shape.n,
            m: case.shape.m,
            wg: (!on_host).then_some(outcome.wg),
            params: outcome.params.clone(),
            cache: scene.cache,
            clock: outcome.clock(),
            status: outcome.status(),
            reason: outcome.note().to_owned(),
            runs: times.map_or(0, |t| t.runs as u64),
            t_min_s: times.and_then(|t| finite(t.min)),
            t_q1_s: times.and_then(|t| finite(t.q1)),
            t_median_s: times.and_then(|t| finite(t.median)),
            t_q3_s: times.and_then(|t| finite(t.q3)),
            t_max_s: times.and_then(|t| finite(t.max)),
            noise: times.and_then(|t| finite(t.noise)),
            t_wall_median_s: summarise(&walls).map(|s| s.median),
            t_batch_s: seconds(|m| m.batch),
            t_end_to_end_s: seconds(|m| m.end_to_end),
            bytes: finite(outcome.bytes).map(|b| b.round() as u64),
            ops: finite(outcome.ops).map(|o| o.round() as u64),
            gbps,
            gops,
            ceiling: {
                scene
                    .ceiling
                    .map(|c| c.bound)
                    .or_else(|| scene.bound.filter(|bound| !bound.is_memory()))
                    .map_or_else(String::new, |bound| bound.name().to_owned())
            },
            ceiling_pct: ceiling_pct.filter(|_| !fits),
            max_err: seconds(|m| m.max_err),
            tol: seconds(|m| m.tol),
            flags,
            ceiling_gbps,
            stopped_by: measured.map_or_else(String::new, |m| m.stopped_by.clone()),
            result: measured
                .and_then(|m| m.result)
                .filter(|number| number.is_finite()),
            launches: (!on_host).then_some(outcome.launches),
            t_preparation_s: seconds(|m| m.preparation),
            ceiling_gops,
            ops_per_cu_clock: gops.and_then(|gops| ratio(gops * 1e9, scene.clocks)),
            canary: seconds(|m| m.canary.map(|canary| canary.ratio)),
            t_host_tail_s: seconds(|m| m.host_tail),
            t_host_part_s: seconds(|m| m.host_part),
            end_to_end_noise: seconds(|m| m.end_to_end_noise),
            t_launches_s: launching(scene, outcome).and_then(finite),
            peak_gbps: scene.peak(true),
            peak_gops: scene.peak(false),
            peak_pct: peak_pct(scene, outcome, gbps, gops).filter(|_| !fits),
            clock_mhz: Some(scene.clock_mhz).filter(|&mhz| mhz > 0.0),
            registers: measured.and_then(|m| m.registers),
            spilled_bytes: measured.and_then(|m| m.spilled),
            occupancy_pct: seconds(|m| m.occupancy),
            wg_x,
            wg_y,
            wg_z,
            seed: Some(case.seed),
            warmup: Some(scene.warmup),
            quick: Some(scene.run.quick),
            sample_time_s: finite(scene.sample_time),
            command: scene.run.command.clone(),
            host_cpu: scene.run.host_cpu.clone(),
            host_threads: scene.run.host_threads,
            os: scene.run.os.clone(),
            t_canary_s: seconds(|m| m.canary.map(|canary| canary.fastest)),
            ..Row::default()
        }
    }

    /// The median time in seconds of a right result.
    fn median(&self) -> Option<f64> {
        self.t_median_s.filter(|_| self.status == Status::Ok)
    }
}

/// The share of the theoretical rate that bounds the family. What is repeated inside a kernel comes from the cache.
fn peak_pct(scene: &Scene, outcome: &Outcome, gbps: Option<f64>, gops: Option<f64>) -> Option<f64> {
    let bound = bound(scene, outcome).filter(|_| !outcome.params.contains_key(REPEATS))?;
    let rate = if bound.is_memory() { gbps } else { gops };
    ratio(100.0 * rate?, scene.peak(bound.is_memory())?)
}

/// What bounds the case's family; none of an exchange.
fn bound(scene: &Scene, outcome: &Outcome) -> Option<Bound> {
    built_in(&outcome.case.family)
        .map(|family| family.ceiling)
        .or(scene.bound)
}

/// What the launches of a run take by themselves. Not known where some of them are not timed, or by another clock.
fn launching(scene: &Scene, outcome: &Outcome) -> Option<f64> {
    let cost = scene.launch?;
    let measured = outcome.measured()?;
    let is_timed = measured.preparation.is_none()
        && !measured.samples.is_empty()
        && measured.clock == cost.clock;
    (is_timed && outcome.launches > 0).then(|| cost.of(outcome.launches))
}

/// The times that count, in seconds.
fn clocked(outcome: &Outcome) -> Vec<f64> {
    let Some(measured) = outcome.measured() else {
        return Vec::new();
    };
    match measured.clock {
        Clock::Batch if measured.samples.is_empty() => measured.batch.into_iter().collect(),
        _ => measured.times(),
    }
}

fn flags(
    scene: &Scene,
    outcome: &Outcome,
    times: Option<Summary>,
    ceiling_pct: Option<f64>,
) -> Flags {
    // What goes on between host and device is no kernel's, and may well be short.
    let is_kernel = exchange(&outcome.case.family).is_none();
    let is_memory_bound = bound(scene, outcome).is_some_and(Bound::is_memory);
    let is_above = ceiling_pct.is_some_and(|pct| pct > CEILING_SLACK_PCT);
    let cache = if is_above {
        scene.cache_reach
    } else {
        scene.cache_bytes
    };
    let fits =
        is_memory_bound && scene.cache == Cache::Warm && (1..=cache).contains(&outcome.working_set);
    let (Some(times), Some(measured)) = (times, outcome.measured()) else {
        return Flags::default();
    };
    [
        (
            flag::LAUNCH_BOUND,
            is_kernel && scene.platform != HOST && times.median < SHORT_S,
        ),
        (flag::FITS_CACHE, fits),
        (flag::ABOVE_CEILING, is_above),
        (flag::CLOCK_FALLBACK, measured.clock_note.is_some()),
        // Of one or two runs no spread is known.
        (
            flag::NOISY,
            times.noise > scene.max_noise || (measured.stopped_by == "timeout" && times.runs < 3),
        ),
        (
            flag::DRIFT,
            measured
                .canary
                .is_some_and(|canary| canary.ratio > DRIFT_RATIO),
        ),
        (flag::TUNED, scene.tuned),
    ]
    .into_iter()
    .filter_map(|(flag, is_set)| is_set.then_some(flag))
    .collect()
}

/// Fills in the speed-ups of one ladder: the rows of one case size and type on one device, in the
/// ladder's order, with the CPU baselines anywhere among them. Rows without a right result neither
/// get a speed-up nor are a base for one, and those that repeat their work inside the kernel are compared
/// with their like only. May be called again when rows have been added.
pub fn relate<'a>(ladder: impl IntoIterator<Item = &'a mut Row>) {
    let mut ladder: Vec<&mut Row> = ladder.into_iter().collect();
    let cpu = [CPU_SEQ, CPU_RAYON, CPU_EXACT].map(|variant| {
        let baseline = ladder
            .iter()
            .find(|row| row.on_host() && row.variant == variant);
        baseline.and_then(|row| row.median())
    });
    ladder.sort_by_key(|row| row.repeats().map(str::to_owned));
    for alike in ladder.chunk_by_mut(|a, b| a.repeats() == b.repeats()) {
        let base = if alike[0].is_plain() { cpu } else { [None; 3] };
        relate_alike(alike, base);
    }
}

/// Fills in the speed-ups of rows that repeat their work equally often.
fn relate_alike(ladder: &mut [&mut Row], cpu: [Option<f64>; 3]) {
    let copy = ladder
        .iter()
        .find(|row| !row.on_host() && row.rung.is_none() && row.variant == COPY)
        .and_then(|row| row.median());
    let (mut first, mut previous): (Option<(f64, bool)>, _) = (None, None);
    for row in ladder {
        let own = row.median();
        let over = |base: Option<f64>| base.zip(own).and_then(|(base, own)| ratio(base, own));
        [row.cpu_seq_x, row.cpu_rayon_x, row.cpu_exact_x] = cpu.map(over);
        row.copy_pct = over(copy)
            .filter(|_| !row.on_host())
            .map(|times| 100.0 * times);
        [row.step_x, row.total_x] = [None; 2];
        if let (Some(_), Some(seconds)) = (row.rung, own) {
            let tuned = row.is_tuned();
            first = first.or(Some((seconds, tuned)));
            [row.step_x, row.total_x] = [previous, first]
                .map(|base| over(base.filter(|base| base.1 == tuned).map(|base| base.0)));
            previous = Some((seconds, tuned));
        }
    }
}

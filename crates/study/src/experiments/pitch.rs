//! Partition camping: where the rows of a matrix are a power of two long, tiles that are worked on at the same time may
//! all lie in the same few memory channels, or a column's elements in the same few cache sets.
//!
//! The study, its diagonal order and its comparison of 2080 with 2048 columns are those of G. Ruetsch and
//! P. Micikevicius, "Optimizing Matrix Transpose in CUDA" (NVIDIA, 2009). Here one kernel runs in both orders, so that
//! nothing but the order of its groups differs; padded rows leave the matrix and its tiles as they are and change only
//! where they lie.

use super::prelude::*;
use gpulab_kernels::transpose;

/// Unused elements behind each padded row: 128 bytes of f32, a line of any cache.
const GAP: u64 = 32;

/// The power of two and the neighbour that are compared; both are whole numbers of tiles.
const POWER: f64 = 2048.0;
const NEIGHBOUR: f64 = 2080.0;

/// A kernel in one order of groups, over matrices whose rows lie `gap` elements apart.
struct PitchSeries {
    name: &'static str,
    variant: &'static str,
    /// The order of groups, for kernels that know several.
    order: Option<&'static str>,
    gap: u64,
}

const TILED: &str = "tiled, pitch n";
const TILED_PADDED: &str = "tiled, pitch n+32";
const DIAGONAL: &str = "diagonal, pitch n";
const DIAGONAL_PADDED: &str = "diagonal, pitch n+32";
const NAIVE: &str = "naive, pitch n";
const NAIVE_PADDED: &str = "naive, pitch n+32";

/// Series of one pitch come together, as they share their data.
const SERIES: [PitchSeries; 6] = [
    PitchSeries { name: TILED, variant: "diagonal", order: Some("rows"), gap: 0 },
    PitchSeries { name: DIAGONAL, variant: "diagonal", order: Some("diagonal"), gap: 0 },
    PitchSeries { name: NAIVE, variant: "naive", order: None, gap: 0 },
    PitchSeries { name: TILED_PADDED, variant: "diagonal", order: Some("rows"), gap: GAP },
    PitchSeries { name: DIAGONAL_PADDED, variant: "diagonal", order: Some("diagonal"), gap: GAP },
    PitchSeries { name: NAIVE_PADDED, variant: "naive", order: None, gap: GAP },
];

pub const PITCH: Experiment = Experiment {
    name: "pitch",
    question: "Do power-of-two rows collide in a few memory channels or cache sets, and does diagonal order or padding cure it?",
    about: Explanation {
        idea: "Tiles of a matrix are transposed in two orders of groups, with plain and with padded rows, at powers of \
               two and next to one.",
        expect: "Where groups collide in a few channels, powers of two are slower than their neighbour, and diagonal \
                 order or padding cures it.",
        but: "Devices that spread addresses over their channels have nothing to cure: then diagonal order may cost a \
               little.",
        cuda: "Partition camping and diagonal block reordering, as in NVIDIA's study of the transposition (2009).",
    },
    x_name: "n",
    x_label: plain,
    plan,
    finding,
};

fn plan(scope: &Scope<'_>) -> Vec<Trial> {
    // Rows and columns of the matrices.
    let sizes: &[u64] = scope
        .pick([&[1024, 2048, 2080, 4096, 8192], &[1024, 2048, 2080]], [&[512, 1024, 2048, 2080, 4096], &[512, 1024]]);
    let meant = |n: u64| SERIES.iter().filter(move |s| n.is_power_of_two() || s.gap == 0).map(move |s| (n, s));
    sizes.iter().flat_map(|&n| meant(n)).map(|(n, series)| trial(n, series, scope)).collect()
}

fn finding(points: &[Point]) -> String {
    let padded = compare_series(points, TILED_PADDED, TILED, is_power);
    let diagonal = compare_series(points, DIAGONAL, TILED, is_power);
    let cures = cures(points, &diagonal);
    let neighbour = Vec::from_iter(compare(points, (TILED, NEIGHBOUR), (TILED, POWER)));
    let beside_the_power =
        neighbour.first().map(|c| format!(", and n = {NEIGHBOUR} is {}", pace_beside(c, &format!("n = {POWER}"))));
    let naive = compare_series(points, NAIVE_PADDED, NAIVE, is_power);
    let over_padded = match any(&diagonal, Comparison::Higher) && !any(&cures, Comparison::Higher) {
        true if any_hidden(&diagonal, &cures) => ", and whether it does so with padded rows too is undecided",
        true => ", but with padded rows too",
        false => "",
    };
    format!(
        "The tiled kernel {}: padding each row by {GAP} elements {}. Diagonal order {}{over_padded}{}. The naive kernel \
         {}: padding {}.",
        camping(&[("padding", &padded), ("diagonal order", &cures), (&format!("n = {NEIGHBOUR}"), &neighbour)]),
        effect(&padded, "n"),
        effect(&diagonal, "n"),
        beside_the_power.unwrap_or_default(),
        suffering(&naive),
        effect(&naive, "n"),
    )
}

fn trial(n: u64, series: &PitchSeries, scope: &Scope<'_>) -> Trial {
    let mut params = Params::new();
    if let Some(order) = series.order {
        params.insert("order".into(), order.into());
    }
    if series.gap > 0 {
        params.insert("gap".into(), series.gap.to_string());
    }
    let case = Case {
        wg: WorkGroup::linear(scope.target.max_wg.min(256)),
        params,
        seed: scope.seed,
        ..Case::of(&transpose::FAMILY.name, series.variant, Dtype::F32, Shape { n, m: n })
    };
    Trial { series: series.name.into(), x: n as f64, metric: BANDWIDTH, case }
}

fn is_power(n: f64) -> bool {
    (n as u64).is_power_of_two()
}

/// What diagonal order says of camping: not those gains that it has over padded rows too, as they have another cause. A gain
/// of which the noise hides whether it has it there too, or that has nothing to stand beside, is unclear.
fn cures(points: &[Point], diagonal: &[Contrast]) -> Vec<Contrast> {
    let over_padded = |n| compare(points, (DIAGONAL_PADDED, n), (TILED_PADDED, n)).map(|c| c.verdict);
    diagonal
        .iter()
        .copied()
        .filter_map(|mut gain: Contrast| match (gain.verdict, over_padded(gain.x)) {
            (_, Some(Comparison::Higher)) => None,
            (Comparison::Higher, Some(Comparison::Unclear) | None) => {
                gain.verdict = Comparison::Unclear;
                Some(gain)
            }
            _ => Some(gain),
        })
        .collect()
}

/// Whether a gain of diagonal order became unclear beside that over padded rows.
fn any_hidden(diagonal: &[Contrast], cures: &[Contrast]) -> bool {
    let is_gain = |n| diagonal.iter().any(|c| c.x == n && c.verdict == Comparison::Higher);
    cures.iter().any(|c| c.verdict == Comparison::Unclear && is_gain(c.x))
}

/// What the remedies, each with its name, say of the disease: it is there if one of them clearly helps, and it is not there
/// where all of them clearly do not.
fn camping(remedies: &[(&str, &[Contrast])]) -> String {
    let helping = remedies.iter().filter(|(_, contrasts)| any(contrasts, Comparison::Higher));
    let helping: Vec<&str> = helping.map(|(name, _)| *name).collect();
    let clear = remedies.iter().flat_map(|(_, contrasts)| contrasts.iter()).filter(|c| c.verdict == Comparison::Higher);
    if let ([only], [place]) = (helping.as_slice(), clear.collect::<Vec<_>>().as_slice()) {
        let place = if *only == format!("n = {NEIGHBOUR}") { String::new() } else { format!(" at n = {}", place.x) };
        return format!("may or may not suffer from partition camping (undecided: only {only}{place} shows it)");
    }
    if let Some((last, others)) = helping.split_last() {
        let (others, verb) = match others.is_empty() {
            true => (String::new(), "shows"),
            false => (format!("{} and ", others.join(", ")), "show"),
        };
        return format!("suffers from partition camping where rows are a power of two long, as {others}{last} {verb}");
    }
    let mut all: Vec<Contrast> = remedies.iter().flat_map(|(_, contrasts)| contrasts.iter().copied()).collect();
    // The neighbour says something of the power of two.
    all.iter_mut().filter(|c| c.x == NEIGHBOUR).for_each(|c| c.x = POWER);
    let is_clear = |n| all.iter().all(|c| c.x != n || c.verdict != Comparison::Unclear);
    let clear: Vec<Contrast> = all.iter().copied().filter(|c| is_clear(c.x)).collect();
    match (clear.len(), all.len()) {
        (_, 0) => "was not compared with a remedy for partition camping".to_owned(),
        (0, _) => "may or may not suffer from partition camping (undecided, as the points are noisy)".to_owned(),
        (some, all) if some < all => {
            format!("shows no partition camping where the noise lets one tell ({})", certain(&[&clear], "n"))
        }
        _ if clear.iter().all(|c| c.x == clear[0].x) => {
            format!("shows no partition camping at n = {}, the only size measured", clear[0].x)
        }
        _ => "shows no partition camping".to_owned(),
    }
}

fn suffering(naive: &[Contrast]) -> &'static str {
    if any(naive, Comparison::Higher) {
        "suffers from power-of-two rows"
    } else if any(naive, Comparison::Unclear) || naive.is_empty() {
        "may or may not suffer from power-of-two rows"
    } else {
        "does not suffer from power-of-two rows"
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::points_of;
    use super::*;

    /// A device on which a series has `speed(series, n)` GB/s, with this noise.
    fn points(noise: f64, speed: impl Fn(&str, u64) -> f64) -> Vec<Point> {
        points_of(&PITCH, false, noise, |series, n| speed(series, n as u64))
    }

    fn sentences(points: &[Point]) -> String {
        let finding = PITCH.finding(points);
        let remedy = usize::from(finding.contains("undecided"));
        assert_eq!(finding.matches(". ").count(), 2 + remedy, "{finding}");
        finding.replace(". ", ".\n")
    }

    /// What is said of the tiled kernel and of diagonal order, if that makes it faster or slower on any rows.
    fn with_diagonal(speed: f64) -> String {
        PITCH
            .finding(&points(0.01, |series: &str, _| if series.starts_with("diagonal") { speed } else { 60.0 }))
            .split_once(" The naive")
            .unwrap()
            .0
            .to_owned()
    }

    fn slow_powers(speed: f64) -> impl Fn(&str, u64) -> f64 {
        move |series, n| if n.is_power_of_two() && !series.ends_with("+32") { speed } else { 80.0 }
    }

    #[test]
    fn camping_that_everything_cures() {
        let camps = |series: &str, n: u64| match series {
            TILED if n.is_power_of_two() && n >= 2048 => 50.0,
            NAIVE if n.is_power_of_two() => 5.0,
            NAIVE | NAIVE_PADDED => 20.0,
            _ => 100.0,
        };
        insta::assert_snapshot!(sentences(&points(0.01, camps)), @r"
        The tiled kernel suffers from partition camping where rows are a power of two long, as padding, diagonal order and n = 2080 show: padding each row by 32 elements makes it up to 2.00 times as fast (n = 2048, 4096).
        Diagonal order makes it up to 2.00 times as fast (n = 2048, 4096), and n = 2080 is 2.00 times as fast as n = 2048.
        The naive kernel suffers from power-of-two rows: padding makes it up to 4.00 times as fast (n = 512, 1024, 2048, 4096).
        ");
        let only_padding = sentences(&points(0.01, slow_powers(50.0)));
        assert!(only_padding.contains("a power of two long, as padding and n = 2080 show: padding"), "{only_padding}");
    }

    #[test]
    fn a_diagonal_order_that_pays_on_any_rows_cures_nothing() {
        insta::assert_snapshot!(with_diagonal(80.0), @"The tiled kernel shows no partition camping: padding each row by 32 elements changes the speed by less than 2 %. Diagonal order makes it up to 1.33 times as fast (n = 512, 1024, 2048, 4096), but with padded rows too, and n = 2080 is as fast as n = 2048 (to within 2 %).");
        insta::assert_snapshot!(with_diagonal(40.0), @"The tiled kernel shows no partition camping: padding each row by 32 elements changes the speed by less than 2 %. Diagonal order makes it up to 1.50 times slower (n = 512, 1024, 2048, 4096), and n = 2080 is as fast as n = 2048 (to within 2 %).");
    }

    #[test]
    fn no_camping_and_too_much_noise_to_tell() {
        insta::assert_snapshot!(sentences(&points(0.02, |_, n| 60.0 + n as f64 / 4096.0)), @r"
        The tiled kernel shows no partition camping: padding each row by 32 elements changes the speed by less than 4 %.
        Diagonal order changes the speed by less than 4 %, and n = 2080 is as fast as n = 2048 (to within 5 %).
        The naive kernel does not suffer from power-of-two rows: padding changes the speed by less than 4 %.
        ");
        insta::assert_snapshot!(sentences(&points(0.2, slow_powers(60.0))), @r"
        The tiled kernel may or may not suffer from partition camping (undecided, as the points are noisy): padding each row by 32 elements has an effect that is undecided at n = 512, 1024, 2048, 4096 (differences under 40 % cannot be seen in this run).
        Diagonal order has an effect that is undecided at n = 512, 1024, 2048, 4096 (differences under 40 % cannot be seen in this run), and n = 2080 is not clearly faster or slower than n = 2048 (undecided: differences under 40 % cannot be seen in this run).
        The naive kernel may or may not suffer from power-of-two rows: padding has an effect that is undecided at n = 512, 1024, 2048, 4096 (differences under 40 % cannot be seen in this run).
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
    }

    /// A quick look: diagonal order is 1.5 times as fast, but padded rows are too noisy to be a control, or are not there.
    #[test]
    fn a_cure_that_the_noise_may_have_made_cures_nothing() {
        let orders = |series: &str, _| if series.starts_with("diagonal") { 90.0 } else { 60.0 };
        let mut noisy = points(0.01, orders);
        noisy.retain(|p| p.x < 2048.0);
        noisy.iter_mut().filter(|p| p.series.ends_with("+32")).for_each(|p| p.noise = Some(0.3));
        for _ in 0..2 {
            let said = sentences(&noisy);
            assert!(
                said.starts_with("The tiled kernel may or may not suffer") && said.contains("too is undecided"),
                "{said}"
            );
            noisy.retain(|p| !p.series.ends_with("+32"));
        }
    }

    #[test]
    fn a_cure_that_padded_rows_do_without_is_named() {
        let mut some =
            points(0.01, |series: &str, n: u64| if n.is_power_of_two() && series == TILED { 60.0 } else { 90.0 });
        some.retain(|p| p.x < 2048.0);
        // Beside the plain rows' spread, padding gains just too little to be sure of; the order gains just enough.
        for point in some.iter_mut().filter(|p| p.series == TILED_PADDED) {
            (point.value, point.noise) = (Some(89.0), Some(0.03));
        }
        some.iter_mut().filter(|p| p.series == TILED).for_each(|p| p.noise = Some(0.46));
        let said = sentences(&some);
        assert!(
            said.contains("two long, as diagonal order shows: padding each row by 32 elements has an effect"),
            "{said}"
        );
    }

    #[test]
    fn no_size_is_called_clear_at_which_a_remedy_is_undecided() {
        let mut some = points(0.01, |_, _| 60.0);
        some.iter_mut()
            .filter(|p: &&mut Point| p.series == TILED_PADDED && p.x != 4096.0)
            .for_each(|p| p.noise = Some(0.3));
        let said = sentences(&some);
        assert!(said.contains("shows no partition camping where the noise lets one tell (n = 4096): "), "{said}");
    }

    #[test]
    fn missing_points_are_left_out() {
        let mut some = points(0.01, slow_powers(50.0));
        some.retain(|p| p.x < 1024.0 && !p.series.starts_with("naive"));
        insta::assert_snapshot!(sentences(&some), @r"
        The tiled kernel may or may not suffer from partition camping (undecided: only padding at n = 512 shows it): padding each row by 32 elements makes it up to 1.60 times as fast (n = 512).
        Diagonal order changes the speed by less than 2 % (n = 512).
        The naive kernel may or may not suffer from power-of-two rows: padding was not measured.
        To decide what is undecided, measure again on a quieter machine, with a longer --sample-time and without --quick.
        ");
        assert!(
            PITCH.finding(&[]).starts_with("The tiled kernel was not compared with a remedy for partition camping:")
        );
    }
}

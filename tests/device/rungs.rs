//! Every rung of every family on real drivers: sizes, work-groups, types, settings.
//!
//! PoCL, whose compiler is fast, has every type, usual and rare work-groups, and every setting. The simulator, which interprets each
//! instruction, has every rung at small sizes, and the other drivers have every rung at one.

use crate::drivers::{on_every_driver, on_pocl, session};
use crate::skips::verify;
use gpulab::data::{Array, Dtype, Params, Shape};
use gpulab::kernels::{FAMILIES, Family, Form, PROBES, Rung, ladders};
use gpulab::plan::{Case, WorkGroup};

type Settings<'a> = Vec<(&'a str, &'a str)>;

fn case(
    family: &Family,
    rung: &Rung,
    dtype: Dtype,
    shape: Shape,
    wg: usize,
    params: &[(&str, &str)],
) -> Case {
    Case {
        family: family.name.to_string(),
        variant: rung.variant().into(),
        dtype,
        shape,
        wg: WorkGroup::linear(wg),
        params: params
            .iter()
            .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
            .collect::<Params>(),
        seed: 1,
    }
}

/// Nothing, one, primes, and the neighbours of work-groups and of tiles' sides.
fn shapes(driver: &str, family: &Family) -> Vec<Shape> {
    let sizes: &[(u64, u64)] = match (driver, family.form) {
        ("pocl" | "default", Form::Vector) => &[
            (0, 1),
            (1, 1),
            (7, 1),
            (256, 1),
            (257, 1),
            (4097, 1),
            (262_147, 1),
        ],
        ("oclgrind", Form::Vector) => &[(0, 1), (1, 1), (7, 1), (257, 1)],
        (_, Form::Vector) => &[(4097, 1)],
        ("pocl" | "default", Form::Matrix) => &[
            (1, 1),
            (1, 1000),
            (17, 31),
            (65, 47),
            (128, 130),
            (1021, 509),
        ],
        ("oclgrind", Form::Matrix) => &[(1, 1), (1, 40), (65, 47)],
        (_, Form::Matrix) => &[(131, 67)],
        ("pocl" | "default", Form::Square) => {
            &[(1, 1), (2, 1), (19, 1), (63, 1), (64, 1), (65, 1), (131, 1)]
        }
        ("oclgrind", Form::Square) => &[(7, 1)],
        (_, Form::Square) => &[(33, 1)],
    };
    sizes
        .iter()
        .map(|&(n, m)| {
            family
                .form
                .shape(n, (family.form == Form::Matrix).then_some(m))
        })
        .collect()
}

/// Small tiles and blocks, as compilers unroll what items share.
fn small(rung: &Rung) -> Settings<'static> {
    let has = |name: &str| rung.tunables().any(|tunable| tunable.name == name);
    let all = [("block", "32"), ("tile", "32x32"), ("item", "4x4")];
    all.into_iter()
        .filter(|&(name, _)| has(name) && (name != "item" || has("tile")))
        .collect()
}

#[test]
fn every_rung_is_right_at_every_size() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let max = session.device().info().target.max_wg;
        let has_all = ["pocl", "default"].contains(&driver);
        let mut count = 0;
        for family in ladders() {
            let is_vector = family.form == Form::Vector;
            for (d, &dtype) in family
                .dtypes
                .iter()
                .enumerate()
                .filter(|(d, _)| *d == 0 || has_all)
            {
                for (shape, rung) in shapes(driver, family)
                    .iter()
                    .flat_map(|shape| family.kernels().map(move |rung| (*shape, rung)))
                {
                    let set = if is_vector || family.form == Form::Matrix {
                        Settings::new()
                    } else {
                        small(rung)
                    };
                    // The simulator would take minutes over the rounds of the squares.
                    if driver == "oclgrind" && rung.variant() == "squaring" {
                        continue;
                    }
                    let groups: &[usize] = match driver {
                        _ if !is_vector => &[64],
                        "oclgrind" => &[3, 32],
                        _ if d == 0 && has_all && shape.n < 1 << 16 => &[1, 3, 64, 256, max],
                        _ => &[64],
                    };
                    // The group of the last rungs is one item, whatever is asked for.
                    let groups = if rung.variant() == "wide" && is_vector {
                        &[1][..]
                    } else {
                        groups
                    };
                    for &wg in groups.iter().filter(|&&wg| wg <= max) {
                        count += verify(
                            &mut session,
                            driver,
                            &case(family, rung, dtype, shape, wg, &set),
                        );
                    }
                }
            }
        }
        count
    });
}

#[test]
fn every_setting_is_right() {
    on_pocl(|driver| {
        let mut session = session(driver, None);
        let mut count = 0;
        for (family, rung) in FAMILIES
            .iter()
            .flat_map(|family| family.kernels().map(move |rung| (*family, rung)))
        {
            let shape = family.form.shape(
                if family.form == Form::Vector {
                    4099
                } else {
                    131
                },
                (family.form == Form::Matrix).then_some(67),
            );
            let wg = if family.form == Form::Matrix { 256 } else { 64 };
            for tunable in rung.tunables() {
                for value in tunable
                    .values()
                    .filter(|value| tunable.name != "items" || value.len() < 5)
                {
                    let mut set = vec![(tunable.name, value)];
                    if family.form == Form::Square
                        && !["tile", "item", "depth"].contains(&tunable.name)
                    {
                        set.extend(small(rung));
                    }
                    count += verify(
                        &mut session,
                        driver,
                        &case(family, rung, family.dtypes[0], shape, wg, &set),
                    );
                }
            }
            for choice in family.choices {
                // A choice is a macro that each rung treats alike: all types for the first rung, one for the others.
                let types = if rung.number() == Some(1) {
                    family.dtypes.len()
                } else {
                    1
                };
                for (value, &dtype) in choice.values().flat_map(|value| {
                    family.dtypes[..types]
                        .iter()
                        .map(move |dtype| (value, dtype))
                }) {
                    let mut set = vec![(choice.name, value)];
                    set.extend(if family.form == Form::Square {
                        small(rung)
                    } else {
                        Settings::new()
                    });
                    count += verify(
                        &mut session,
                        driver,
                        &case(family, rung, dtype, shape, wg, &set),
                    );
                }
            }
        }
        count
    });
}

#[test]
fn the_probes_of_the_ceilings_are_right() {
    on_every_driver(|driver| {
        let mut session = session(driver, None);
        let has_all = ["pocl", "default"].contains(&driver);
        let mut count = 0;
        // Arithmetic's probes add many times: PoCL alone has them.
        for family in PROBES
            .iter()
            .filter(|family| has_all || family.ceiling.is_memory())
        {
            for rung in &*family.ladder {
                let all = rung.tunables().chain(family.choices.iter().copied());
                let settings = all.flat_map(|tunable| {
                    tunable
                        .values()
                        .map(move |value| vec![(tunable.name, value)])
                });
                for set in settings.filter(|_| has_all).chain([vec![]]) {
                    count += verify(
                        &mut session,
                        driver,
                        &case(
                            family,
                            rung,
                            family.dtypes[0],
                            Shape::vector(8192),
                            64,
                            &set,
                        ),
                    );
                }
            }
        }
        count
    });
}

#[test]
fn special_values_follow_ieee_rules() {
    on_pocl(|driver| {
        let (inf, nan, n) = (f32::INFINITY, f32::NAN, 1003);
        let mut count = 0;
        let all = [
            vec![(17, nan)],
            vec![(n - 1, inf)],
            vec![(0, -inf)],
            vec![(3, inf), (1001, -inf)],
            // Overflow.
            vec![(500, 3e38), (501, 3e38)],
        ];
        for specials in &all {
            let mut x = vec![1.0f32; n];
            specials.iter().for_each(|&(at, value)| x[at] = value);
            for family in FAMILIES.iter().filter(|family| family.form == Form::Vector) {
                let mut files = vec![Array::F32(x.clone())];
                let inputs = family
                    .problem
                    .inputs(Shape::vector(n as u64), &Params::new())
                    .len();
                files.resize(inputs, Array::F32(vec![1.5; n]));
                let mut session = session(driver, Some(files));
                for rung in &*family.ladder {
                    count += verify(
                        &mut session,
                        driver,
                        &case(family, rung, Dtype::F32, Shape::vector(n as u64), 64, &[]),
                    );
                }
            }
        }
        count
    });
}

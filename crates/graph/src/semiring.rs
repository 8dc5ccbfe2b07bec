//! Longest and widest paths, and whether there is one, as shortest ones.
//!
//! Everything but the device looks for the least: where the larger of two lengths is the better, weights have the other sign here,
//! and a path with the largest of its weights is as wide as its narrowest edge. Where only edges count, each weighs 0.

use super::Length;
use gpulab_cpu::minplus::Semiring;
use gpulab_model::data::Array;
use gpulab_model::each_array;
use rayon::prelude::*;
use std::borrow::Cow;

/// Weights of a file, as those of which paths have the least. Where only edges count, 0 is none.
pub fn least(semiring: Semiring, weights: &mut Array) {
    fn of_type<T: Length>(semiring: Semiring, weights: &mut [T]) {
        for weight in weights.iter_mut().filter(|weight| weight.is_some()) {
            *weight = match semiring {
                Semiring::MinPlus => *weight,
                Semiring::MaxPlus | Semiring::MaxMin => weight.negated(),
                Semiring::OrAnd if *weight == T::ZERO => T::NO_EDGE,
                Semiring::OrAnd => T::ZERO,
            }
        }
    }
    each_array!(weights, w => of_type(semiring, w));
}

/// The same lengths as kernels of the semiring have them.
pub fn on_device(semiring: Semiring, lengths: &Array) -> Cow<'_, Array> {
    fn of_type<T: Length>(semiring: Semiring, v: &mut [T]) {
        v.par_iter_mut().for_each(|x| *x = value(semiring, *x));
    }
    let mut lengths = Cow::Borrowed(lengths);
    if semiring.is_greatest() {
        each_array!(lengths.to_mut(), v => of_type(semiring, v));
    }
    lengths
}

/// What kernels of the semiring found, as lengths. The least is the best.
pub fn from_device(semiring: Semiring, mut found: Array) -> Array {
    fn of_type<T: Length>(semiring: Semiring, v: &mut [T]) {
        v.par_iter_mut().for_each(|x| {
            *x = match semiring {
                Semiring::MinPlus => *x,
                Semiring::MaxPlus | Semiring::MaxMin => x.negated(),
                Semiring::OrAnd if *x == T::ZERO => T::NO_EDGE,
                Semiring::OrAnd => T::ONE.plus(x.negated()),
            }
        });
    }
    if semiring.is_greatest() {
        each_array!(&mut found, v => of_type(semiring, v));
    }
    found
}

/// A length as people and kernels know it.
pub(super) fn value<T: Length>(semiring: Semiring, length: T) -> T {
    match semiring {
        Semiring::MinPlus => length,
        Semiring::MaxPlus | Semiring::MaxMin => length.negated(),
        Semiring::OrAnd if length.is_some() => T::ONE,
        Semiring::OrAnd => T::ZERO,
    }
}

/// What staying costs.
pub(super) fn staying<T: Length>(semiring: Semiring) -> T {
    if semiring == Semiring::MaxMin { T::NO_EDGE.negated() } else { T::ZERO }
}

/// What a path has, as the name of a column and in a sentence: `width`, `widths`.
pub fn words(semiring: Semiring) -> [&'static str; 2] {
    match semiring {
        Semiring::MinPlus => ["distance", "distances"],
        Semiring::MaxPlus => ["length", "lengths"],
        Semiring::MaxMin => ["width", "widths"],
        Semiring::OrAnd => ["reachable", "answers"],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_to_the_device_comes_back() {
        let given = Array::F32(vec![2.5, 0.0, f32::INFINITY, -3.0]);
        for (semiring, device) in [
            (Semiring::MinPlus, vec![2.5, 0.0, f32::INFINITY, -3.0]),
            (Semiring::MaxPlus, vec![2.5, 0.0, f32::NEG_INFINITY, -3.0]),
            (Semiring::MaxMin, vec![2.5, 0.0, f32::NEG_INFINITY, -3.0]),
            (Semiring::OrAnd, vec![1.0, 0.0, 0.0, 1.0]),
        ] {
            let mut weights = given.clone();
            least(semiring, &mut weights);
            let there = on_device(semiring, &weights).into_owned();
            assert_eq!(there, Array::F32(device), "{semiring:?}");
            assert!(matches!(&there, Array::F32(v) if v.iter().all(|x| *x != 0.0 || x.is_sign_positive())));
            assert_eq!(from_device(semiring, there), weights, "{semiring:?}");
        }
        assert_ne!(from_device(Semiring::OrAnd, Array::I32(vec![2])), Array::I32(vec![0]), "2 is no answer");
        let mut weights = Array::I32(vec![7, i32::NO_EDGE]);
        least(Semiring::MaxMin, &mut weights);
        assert_eq!(*on_device(Semiring::MaxMin, &weights), Array::I32(vec![7, -i32::NO_EDGE]));
    }
}

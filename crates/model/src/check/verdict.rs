//! What a check says of a result.

#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub ok: bool,
    /// Largest absolute error; infinite where a difference has no size (NaN, unequal infinities).
    pub max_err: f64,
    /// The error allowed; 0 for exact checks.
    pub tol: f64,
    /// What is wrong, unless `ok`.
    pub why: Option<String>,
}

impl Verdict {
    pub fn pass(max_err: f64, tol: f64) -> Verdict {
        Verdict {
            ok: true,
            max_err,
            tol,
            why: None,
        }
    }

    pub fn fail(max_err: f64, tol: f64, why: String) -> Verdict {
        Verdict {
            ok: false,
            max_err,
            tol,
            why: Some(why),
        }
    }
}

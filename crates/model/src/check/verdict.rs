//! What a check says of a result.

#[derive(Clone, Debug, PartialEq)]
pub struct ElementsVerdict {
    pub ok: bool,
    /// Largest absolute error; infinite where a difference has no size (NaN, unequal infinities).
    pub max_err: f64,
    /// The error allowed; 0 for exact checks.
    pub tol: f64,
    /// What is wrong, unless `ok`.
    pub why: Option<String>,
}

impl ElementsVerdict {
    pub fn pass(max_err: f64, tol: f64) -> ElementsVerdict {
        ElementsVerdict {
            ok: true,
            max_err,
            tol,
            why: None,
        }
    }

    pub fn fail(max_err: f64, tol: f64, why: String) -> ElementsVerdict {
        ElementsVerdict {
            ok: false,
            max_err,
            tol,
            why: Some(why),
        }
    }
}

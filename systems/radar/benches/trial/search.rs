//! The one procedure by which our tracker and the filters beside it are tuned: a search along one
//! parameter after the other, in steps of a factor, which halve when no parameter can be improved.

/// A parameter that is tuned: above 0, and all steps are factors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) value: f64,
    /// Factor of the first step, above 1.
    pub(crate) factor: f64,
    pub(crate) bounds: (f64, f64),
}

/// The best values found with `budget` evaluations of `cost`, and their cost.
pub(crate) fn search<E>(
    parameters: &[Parameter],
    budget: usize,
    mut cost: impl FnMut(&[f64]) -> Result<f64, E>,
) -> Result<(Vec<f64>, f64), E> {
    let mut best: Vec<f64> = parameters.iter().map(|p| p.value).collect();
    let mut least = cost(&best)?;
    let mut spent = 1;
    let mut factors: Vec<f64> = parameters.iter().map(|p| p.factor).collect();
    while spent < budget {
        let before = least;
        for (index, parameter) in parameters.iter().enumerate() {
            let (low, high) = parameter.bounds;
            for factor in [factors[index], 1.0 / factors[index]] {
                let mut improved = false;
                while spent < budget {
                    let mut tried = best.clone();
                    tried[index] = (tried[index] * factor).clamp(low, high);
                    if tried == best {
                        break;
                    }
                    spent += 1;
                    let found = cost(&tried)?;
                    if found >= least {
                        break;
                    }
                    (best, least, improved) = (tried, found, true);
                }
                if improved {
                    break; // the other way it came from
                }
            }
        }
        if least >= before {
            factors.iter_mut().for_each(|factor| *factor = factor.sqrt());
        }
    }
    Ok((best, least))
}

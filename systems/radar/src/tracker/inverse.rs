//! The inverse of a matrix of any size, as the normal equations of a least-squares problem have.

/// The inverse of a symmetric positive definite matrix of `size` rows, by Cholesky's
/// decomposition; `None` when it is not one.
pub(super) fn inverse(mut a: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    // Unknowns are metres, radians and seconds: scaled to a diagonal of ones.
    let scale: Vec<f64> = (0..size).map(|i| a[i * size + i].sqrt().recip()).collect();
    for i in 0..size {
        for j in 0..size {
            a[i * size + j] *= scale[i] * scale[j];
        }
    }
    // The lower triangle becomes the factor, then the factor's inverse.
    for j in 0..size {
        for i in j..size {
            let dot: f64 = (0..j).map(|k| a[i * size + k] * a[j * size + k]).sum();
            let rest = a[i * size + j] - dot;
            if i == j {
                if !(rest > 0.0 && rest.is_finite()) {
                    return None;
                }
                a[i * size + j] = rest.sqrt();
            } else {
                a[i * size + j] = rest / a[j * size + j];
            }
        }
    }
    for j in 0..size {
        a[j * size + j] = a[j * size + j].recip();
        for i in j + 1..size {
            let dot: f64 = (j..i).map(|k| a[i * size + k] * a[k * size + j]).sum();
            a[i * size + j] = -dot / a[i * size + i];
        }
    }
    let mut result = vec![0.0; size * size];
    for i in 0..size {
        for j in 0..=i {
            let dot: f64 = (i..size).map(|k| a[k * size + i] * a[k * size + j]).sum();
            let value = dot * scale[i] * scale[j];
            (result[i * size + j], result[j * size + i]) = (value, value);
        }
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn inverse_of_a_known_matrix() {
        // [4 2; 2 3] has determinant 8.
        let found = inverse(vec![4.0, 2.0, 2.0, 3.0], 2).unwrap();
        for (found, expected) in found.iter().zip([0.375, -0.25, -0.25, 0.5]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(inverse(vec![1.0, 1.0, 1.0, 1.0], 2), None);
        assert_eq!(inverse(vec![f64::NAN], 1), None);
    }

    proptest! {
        #[test]
        fn a_matrix_times_its_inverse_is_one(
            root in prop::collection::vec(-3f64..3.0, 36), scale in prop::collection::vec(-3i32..4, 6),
        ) {
            // RᵀR + 1, in units that differ as metres and radians do.
            let unit = |i: usize| 10f64.powi(scale[i]);
            let a: Vec<f64> = (0..36).map(|at| {
                let (i, j) = (at / 6, at % 6);
                let dot: f64 = (0..6).map(|k| root[6 * k + i] * root[6 * k + j]).sum();
                (dot + f64::from(u8::from(i == j))) * unit(i) * unit(j)
            }).collect();
            let b = inverse(a.clone(), 6).unwrap();
            for i in 0..6 {
                for j in 0..6 {
                    let one: f64 = (0..6).map(|k| a[6 * i + k] * b[6 * k + j]).sum();
                    let expected = f64::from(u8::from(i == j));
                    prop_assert!((one * unit(j) / unit(i) - expected).abs() < 1e-8, "{i} {j} {one}");
                }
            }
        }
    }
}

//! Two-dimensional vectors and 2×2 matrices: all the algebra a plane track filter needs.
//!
//! A track's state is a position and a velocity in the plane, so its 4×4 covariance is three 2×2
//! blocks. Working on the blocks skips the half of the products that are known to be zero or
//! mirrored; that, and no allocation, is most of the tracker's speed.

use std::ops::{Add, Mul, Sub};

/// A vector in the tracker's plane: `x` to the east, `y` to the north.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec2 {
    /// Component to the east.
    pub x: f64,
    /// Component to the north.
    pub y: f64,
}

impl Vec2 {
    /// A vector from its components.
    pub const fn new(x: f64, y: f64) -> Self {
        Self { x, y }
    }

    /// Scalar product with `other`.
    pub fn dot(self, other: Self) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// Squared length of the vector.
    pub fn norm_squared(self) -> f64 {
        self.dot(self)
    }

    /// Length of the vector.
    pub fn norm(self) -> f64 {
        self.norm_squared().sqrt()
    }

    /// The outer product of the vector with itself.
    pub fn outer(self) -> Sym2 {
        Sym2 { xx: self.x * self.x, xy: self.x * self.y, yy: self.y * self.y }
    }

    /// The outer product `self * otherᵀ`.
    pub fn outer_with(self, other: Self) -> Mat2 {
        Mat2 { a: self.x * other.x, b: self.x * other.y, c: self.y * other.x, d: self.y * other.y }
    }
}

impl Add for Vec2 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self::new(self.x + o.x, self.y + o.y)
    }
}

impl Sub for Vec2 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self::new(self.x - o.x, self.y - o.y)
    }
}

impl Mul<f64> for Vec2 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self::new(self.x * k, self.y * k)
    }
}

/// A symmetric 2×2 matrix, such as a covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym2 {
    /// Variance along `x`.
    pub xx: f64,
    /// Covariance of `x` and `y`.
    pub xy: f64,
    /// Variance along `y`.
    pub yy: f64,
}

impl Sym2 {
    /// `variance` times the unit matrix.
    pub const fn isotropic(variance: f64) -> Self {
        Self { xx: variance, xy: 0.0, yy: variance }
    }

    /// The covariance with variance `along` in the unit direction `u` and `across` at right
    /// angles to it.
    pub fn along(u: Vec2, along: f64, across: f64) -> Self {
        let k = along - across;
        Self { xx: across + k * u.x * u.x, xy: k * u.x * u.y, yy: across + k * u.y * u.y }
    }

    /// Determinant of the matrix.
    pub fn det(self) -> f64 {
        self.xx * self.yy - self.xy * self.xy
    }

    /// Sum of the diagonal.
    pub fn trace(self) -> f64 {
        self.xx + self.yy
    }

    /// The inverse; `None` unless the matrix is positive definite and finite.
    pub fn inverse(self) -> Option<Self> {
        let det = self.det();
        if !(det > 0.0 && det.is_finite() && self.xx > 0.0) {
            return None;
        }
        Some(Self { xx: self.yy / det, xy: -self.xy / det, yy: self.xx / det })
    }

    /// The matrix times a vector.
    pub fn apply(self, v: Vec2) -> Vec2 {
        Vec2::new(self.xx * v.x + self.xy * v.y, self.xy * v.x + self.yy * v.y)
    }

    /// The quadratic form `vᵀ M v`.
    pub fn quadratic(self, v: Vec2) -> f64 {
        v.dot(self.apply(v))
    }

    /// The same matrix with all four elements.
    pub fn full(self) -> Mat2 {
        Mat2 { a: self.xx, b: self.xy, c: self.xy, d: self.yy }
    }
}

impl Add for Sym2 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { xx: self.xx + o.xx, xy: self.xy + o.xy, yy: self.yy + o.yy }
    }
}

impl Sub for Sym2 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { xx: self.xx - o.xx, xy: self.xy - o.xy, yy: self.yy - o.yy }
    }
}

impl Mul<f64> for Sym2 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self { xx: self.xx * k, xy: self.xy * k, yy: self.yy * k }
    }
}

/// Any 2×2 matrix, `[a b; c d]`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mat2 {
    /// Row 0, column 0.
    pub a: f64,
    /// Row 0, column 1.
    pub b: f64,
    /// Row 1, column 0.
    pub c: f64,
    /// Row 1, column 1.
    pub d: f64,
}

impl Mat2 {
    /// The transposed matrix.
    pub fn transpose(self) -> Self {
        Self { a: self.a, b: self.c, c: self.b, d: self.d }
    }

    /// The matrix product.
    pub fn times(self, o: Self) -> Self {
        Self {
            a: self.a * o.a + self.b * o.c,
            b: self.a * o.b + self.b * o.d,
            c: self.c * o.a + self.d * o.c,
            d: self.c * o.b + self.d * o.d,
        }
    }

    /// The matrix times a vector.
    pub fn apply(self, v: Vec2) -> Vec2 {
        Vec2::new(self.a * v.x + self.b * v.y, self.c * v.x + self.d * v.y)
    }

    /// Half the sum of the matrix and its transpose.
    pub fn symmetric_part(self) -> Sym2 {
        Sym2 { xx: self.a, xy: 0.5 * (self.b + self.c), yy: self.d }
    }
}

impl Add for Mat2 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { a: self.a + o.a, b: self.b + o.b, c: self.c + o.c, d: self.d + o.d }
    }
}

impl Sub for Mat2 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { a: self.a - o.a, b: self.b - o.b, c: self.c - o.c, d: self.d - o.d }
    }
}

impl Mul<f64> for Mat2 {
    type Output = Self;
    fn mul(self, k: f64) -> Self {
        Self { a: self.a * k, b: self.b * k, c: self.c * k, d: self.d * k }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverse_of_a_known_matrix() {
        // [4 2; 2 3] has determinant 8.
        let inverse = Sym2 { xx: 4.0, xy: 2.0, yy: 3.0 }.inverse().unwrap();
        assert_eq!(inverse, Sym2 { xx: 0.375, xy: -0.25, yy: 0.5 });
    }

    #[test]
    fn a_singular_or_broken_matrix_has_no_inverse() {
        assert!(Sym2 { xx: 1.0, xy: 1.0, yy: 1.0 }.inverse().is_none());
        assert!(Sym2 { xx: f64::NAN, xy: 0.0, yy: 1.0 }.inverse().is_none());
        assert!(Sym2 { xx: -2.0, xy: 0.0, yy: -2.0 }.inverse().is_none());
    }

    #[test]
    fn an_ellipse_along_the_diagonal() {
        let u = Vec2::new(0.6, 0.8);
        let m = Sym2::along(u, 25.0, 4.0);
        assert!((m.quadratic(u) - 25.0).abs() < 1e-12);
        assert!((m.quadratic(Vec2::new(-0.8, 0.6)) - 4.0).abs() < 1e-12);
    }
}

//! The logarithm of the ranking, with additions, multiplications and divisions alone.
//!
//! `f64::ln` is a function of the system's library, and two libraries may differ in the last digit. Two scores that differ in the last
//! digit are two orders, and the same files must have the same order everywhere.

/// The natural logarithm of a positive, finite, normal number.
pub(crate) fn ln(number: f64) -> f64 {
    let bits = number.to_bits();
    let exponent =
        u32::try_from((bits >> 52) & 0x7ff).map_or(0.0, |biased| f64::from(biased) - 1023.0);
    let mantissa = f64::from_bits((bits & 0x000f_ffff_ffff_ffff) | 0x3ff0_0000_0000_0000);
    // The series of the inverse hyperbolic tangent. The mantissa is between 1 and 2, so `ratio` is below a third.
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let (square, mut power, mut sum) = (ratio * ratio, ratio, 0.0);
    for odd in
        [1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0, 15.0, 17.0, 19.0, 21.0, 23.0, 25.0, 27.0, 29.0, 31.0]
    {
        sum += power / odd;
        power *= square;
    }
    exponent * std::f64::consts::LN_2 + 2.0 * sum
}

#[cfg(test)]
mod tests {
    use super::ln;

    #[test]
    fn the_logarithm_is_that_of_the_standard_library() {
        for number in [1.0, 1.5, 1.999_999, 2.0, 2.5, 10.0, 1e6, 1.000_001, 0.5, 0.03, 12_345.678_9]
        {
            assert!((ln(number) - number.ln()).abs() < 1e-12, "{number}");
        }
    }
}

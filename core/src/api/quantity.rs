//! Exact quantities as Kubernetes writes them: `80Gi`, `1500m`, `1e3`.
//!
//! Source: `resource.Quantity` of apimachinery, "Serialization format".

use std::cmp::Ordering;
use std::fmt;

/// The suffix style in which a quantity is printed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Format {
    /// `n u m k M G T P E`, powers of 1000.
    DecimalSi,
    /// `Ki Mi Gi Ti Pi Ei`, powers of 1024.
    BinarySi,
    /// `e3`, a power of ten that is a multiple of three.
    DecimalExponent,
}

/// Why a text is not a quantity. `Display` gives the API server's wording.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum QuantityError {
    /// The text does not have the shape of a number with a suffix.
    #[error("quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'")]
    Format,
    /// There is a suffix, but no number.
    #[error("unable to parse numeric part of quantity")]
    Number,
    /// The suffix is unknown.
    #[error("unable to parse quantity's suffix")]
    Suffix,
    /// More digits than this implementation holds (about 38).
    #[error("quantity is out of range")]
    OutOfRange,
}

/// An exact decimal number with the suffix style it is printed in.
///
/// Equality and order are numeric: `1000m == 1`. What is finer than 10^-9 was rounded away from zero by the reader; values
/// with a binary suffix above 2^63-1 were lowered to that.
///
/// ```
/// use apportion_core::api::quantity::Quantity;
/// let total = Quantity::parse("80Gi")?;
/// let used = Quantity::parse("512Mi")?;
/// assert_eq!(total.saturating_sub(&used).to_string(), "81408Mi");
/// # Ok::<(), apportion_core::api::quantity::QuantityError>(())
/// ```
#[derive(Clone)]
pub struct Quantity {
    /// The value is `mantissa * 10^scale`.
    mantissa: i128,
    scale: i32,
    format: Format,
    /// The reference holds the value as a 64-bit integer times a power of ten, not as an arbitrary decimal. Selectors
    /// can see the difference (`isInteger`). INVARIANT: then `mantissa` fits into `i64`.
    is_small: bool,
    /// The text that was read, where the reference prints that instead of the canonical form and they differ.
    text: Option<Box<SourceText>>,
}

#[derive(Clone)]
struct SourceText(Box<str>);

const NANO: i32 = -9;

impl Default for Quantity {
    /// Zero.
    fn default() -> Self {
        Self::from_i64(0, Format::DecimalSi)
    }
}

impl Quantity {
    /// Reads a quantity.
    ///
    /// # Errors
    ///
    /// [`QuantityError`] when the text is not a quantity. Spaces around it are not accepted.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let parts = Parts::split(text)?;
        let suffix = Suffix::parse(parts.suffix)?;
        match Self::small(text, &parts, suffix) {
            Some(quantity) => Ok(quantity),
            None => Self::large(&parts, suffix),
        }
    }

    /// A whole number.
    pub fn from_i64(value: i64, format: Format) -> Self {
        Self { mantissa: i128::from(value), scale: 0, format, is_small: true, text: None }
    }

    /// So many thousandths.
    pub fn from_milli(count: i64, format: Format) -> Self {
        if count % 1000 == 0 {
            return Self::from_i64(count / 1000, format);
        }
        Self { mantissa: i128::from(count), scale: -3, format, is_small: true, text: None }
    }

    /// All that anything can see of the quantity. Unlike equality, which is numeric, it tells `1000m` from `1`.
    pub(crate) fn identity(&self) -> (i128, i32, Format, bool, Option<&str>) {
        (self.mantissa, self.scale, self.format, self.is_small, self.text.as_deref().map(|SourceText(text)| &**text))
    }

    /// So many billionths, if the value is a whole number of them that can be held.
    pub fn billionths(&self) -> Option<i128> {
        let places = self.scale.checked_sub(NANO).filter(|places| *places >= 0)?;
        scale_up(self.mantissa, places)
    }

    /// The suffix style.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Whether the value is 0.
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        match self.mantissa.cmp(&0) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }
    }

    /// The value, rounded away from zero to a whole number and limited to 64 bits.
    pub fn value_rounded_up(&self) -> i64 {
        self.rounded_up(0)
    }

    /// A thousand times the value, rounded away from zero to a whole number and limited to 64 bits.
    pub fn milli_rounded_up(&self) -> i64 {
        self.rounded_up(-3)
    }

    /// The value as selectors' `isInteger` and `asInteger` see it: only if it is held as a 64-bit integer times a power of ten
    /// that is not negative. `None` for `1000m`, `1.0` and `1Pi`, although these are whole numbers.
    pub fn as_i64(&self) -> Option<i64> {
        if !self.is_small || self.scale < 0 {
            return None;
        }
        i64::try_from(scale_up(self.mantissa, self.scale)?).ok()
    }

    /// The nearest floating point number, for selectors' `asApproximateFloat` only.
    #[expect(clippy::cast_precision_loss, reason = "the caller asks for an approximation")]
    pub fn as_approximate_f64(&self) -> f64 {
        let base = self.mantissa as f64;
        if self.scale < 0 {
            // The reference multiplies by the rounded power, it does not divide.
            let power = 1.0 / 10f64.powi(self.scale.saturating_neg());
            base * power
        } else {
            base * 10f64.powi(self.scale)
        }
    }

    /// The sum, in the suffix style of `self` (of `other` if `self` is zero). `None` if it has more than about 38 digits.
    pub fn checked_add(&self, other: &Self) -> Option<Self> {
        self.sum(other, other.mantissa)
    }

    /// The difference, in the suffix style of `self` (of `other` if `self` is zero). `None` if it has more than about 38
    /// digits.
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        self.sum(other, other.mantissa.checked_neg()?)
    }

    /// The difference as the reference's selectors compute it: they add the negative number, and the smallest one of 64 bits is its own
    /// negative.
    pub(crate) fn sub_in_64_bits(&self, other: &Self) -> Option<Self> {
        let is_smallest = other.is_small && other.mantissa == i128::from(i64::MIN);
        let sum = if is_smallest { self.checked_add(other).filter(|sum| sum.is_small) } else { None };
        sum.or_else(|| self.checked_sub(other))
    }

    /// The sum; a value that cannot be held becomes the largest or smallest one.
    pub fn saturating_add(&self, other: &Self) -> Self {
        self.checked_add(other).unwrap_or_else(|| self.limit(other, other.mantissa < 0))
    }

    /// The difference; a value that cannot be held becomes the largest or smallest one.
    pub fn saturating_sub(&self, other: &Self) -> Self {
        self.checked_sub(other).unwrap_or_else(|| self.limit(other, other.mantissa > 0))
    }

    /// The product, in the suffix style of `self`, rounded away from zero to nano; a value that cannot be held becomes the largest or
    /// smallest one.
    pub fn saturating_mul(&self, factor: &Self) -> Self {
        let product = self.mantissa.checked_mul(factor.mantissa).zip(self.scale.checked_add(factor.scale));
        let (mantissa, scale) =
            product.and_then(|(mantissa, scale)| round_to_nano(mantissa, scale)).unwrap_or_else(|| {
                let is_negative = (self.mantissa < 0) != (factor.mantissa < 0);
                (if is_negative { i128::MIN } else { i128::MAX }, self.scale.max(factor.scale).max(0))
            });
        Self { mantissa, scale, format: self.format, is_small: false, text: None }
    }

    /// The form for decimal texts of up to 18 digits and short binary ones.
    fn small(text: &str, parts: &Parts<'_>, suffix: Suffix) -> Option<Self> {
        let digits = parts.whole.len().checked_add(parts.fraction.len())?;
        let (factor, scale) = match suffix {
            Suffix::Decimal { exponent, .. } => (digits <= 18).then_some((1, exponent))?,
            Suffix::Binary { exponent } => {
                let room = 14usize.checked_sub(exponent as usize * 3 / 10)?;
                (parts.fraction.is_empty() && digits <= room).then_some((1i128 << exponent, 0))?
            }
        };
        let scale = scale.checked_sub(i32::try_from(parts.fraction.len()).ok()?)?;
        if scale < NANO {
            return None;
        }
        let value = append_digits(append_digits(0, parts.whole)?, parts.fraction)?;
        let product = value.checked_mul(factor).filter(|product| i64::try_from(*product).is_ok())?;
        let mantissa = if parts.is_negative { -product } else { product };
        let mut quantity = Self { mantissa, scale, format: suffix.format(), is_small: true, text: None };
        let keeps_text = match suffix {
            Suffix::Binary { .. } => value & 7 != 0,
            Suffix::Decimal { .. } => {
                let zeros =
                    parts.fraction.bytes().rev().chain(parts.whole.bytes().rev()).take_while(|byte| *byte == b'0');
                scale % 3 == 0 && zeros.take(3).count() < 3 && !parts.whole.starts_with('0')
            }
        };
        if (keeps_text || text == "0") && quantity.to_string() != text {
            quantity.text = Some(Box::new(SourceText(text.into())));
        }
        Some(quantity)
    }

    /// The form for everything else: rounded to nano, limited to 2^63-1 with a binary suffix.
    fn large(parts: &Parts<'_>, suffix: Suffix) -> Result<Self, QuantityError> {
        if !parts.has_number {
            return Err(QuantityError::Number);
        }
        let fraction = parts.fraction.trim_end_matches('0');
        let (mut mantissa, mut scale) = match suffix {
            Suffix::Decimal { exponent, .. } => decimal(parts.whole, fraction, exponent),
            // What is too long to be computed is mostly above the limit without its fraction.
            Suffix::Binary { exponent } => binary(parts.whole, fraction, exponent).or_else(|| {
                let whole = binary(parts.whole, "", exponent);
                let exceeds = |(mantissa, scale)| compare(mantissa, scale, i128::from(i64::MAX), 0).is_gt();
                whole.is_none_or(exceeds).then_some((i128::MAX, 0))
            }),
        }
        .ok_or(QuantityError::OutOfRange)?;
        let mut format = suffix.format();
        if format == Format::BinarySi {
            if compare(mantissa, scale, i128::from(i64::MAX), 0) == Ordering::Greater {
                (mantissa, scale) = (i128::from(i64::MAX), 0);
            } else if mantissa > 0 && compare(mantissa, scale, 1, 0) == Ordering::Less {
                format = Format::DecimalSi;
            }
        }
        let mantissa = if parts.is_negative { -mantissa } else { mantissa };
        Ok(Self { mantissa, scale, format, is_small: false, text: None })
    }

    fn rounded_up(&self, scale: i32) -> i64 {
        let wanted = i64::from(self.scale).saturating_sub(i64::from(scale));
        let limit = if self.mantissa < 0 { i64::MIN } else { i64::MAX };
        let rounded = if wanted >= 0 {
            i32::try_from(wanted).ok().and_then(|places| scale_up(self.mantissa, places))
        } else {
            Some(divide_away_from_zero(self.mantissa, wanted.unsigned_abs()))
        };
        rounded.and_then(|value| i64::try_from(value).ok()).unwrap_or(limit)
    }

    /// `self` plus `addend * 10^other.scale`, in the form that the reference would hold it in.
    fn sum(&self, other: &Self, addend: i128) -> Option<Self> {
        let format = if self.is_zero() { other.format } else { self.format };
        let is_small = self.is_small && other.is_small;
        if is_small {
            if addend == 0 {
                return Some(Self { format, text: None, ..self.clone() });
            }
            if self.mantissa == 0 && i64::try_from(addend).is_ok() {
                return Some(Self { mantissa: addend, scale: other.scale, format, is_small, text: None });
            }
            // The usual case, without products of 128 bits.
            if self.scale == other.scale {
                let mantissa = self.mantissa.checked_add(addend)?;
                let is_small = [addend, mantissa].into_iter().all(|value| i64::try_from(value).is_ok());
                return Some(Self { mantissa, scale: self.scale, format, is_small, text: None });
            }
        }
        let scale = self.scale.min(other.scale);
        let left = scale_up(self.mantissa, self.scale.checked_sub(scale)?)?;
        let right = scale_up(addend, other.scale.checked_sub(scale)?)?;
        let mantissa = left.checked_add(right)?;
        let fits = [left, right, mantissa].into_iter().all(|value| i64::try_from(value).is_ok());
        Some(Self { mantissa, scale, format, is_small: is_small && fits, text: None })
    }

    fn limit(&self, other: &Self, is_negative: bool) -> Self {
        // With opposite signs the operand of greater magnitude decides.
        let self_is_larger =
            compare(self.mantissa.saturating_abs(), self.scale, other.mantissa.saturating_abs(), other.scale).is_gt();
        let negative = if self_is_larger { self.mantissa < 0 } else { is_negative };
        let mantissa = if negative { i128::MIN } else { i128::MAX };
        let scale = self.scale.max(other.scale);
        Self { mantissa, scale, format: self.format, is_small: false, text: None }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(self.mantissa, self.scale, other.mantissa, other.scale)
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Quantity({self})")
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(SourceText(text)) = self.text.as_deref() {
            return f.write_str(text);
        }
        if self.mantissa == 0 {
            return f.write_str("0");
        }
        if self.format == Format::BinarySi
            && let Some(mut value) = self.whole()
            && value.unsigned_abs() >= 1024
        {
            let mut suffixes = BINARY.iter();
            let mut suffix = "";
            while let (quotient, 0) = divide(value, 1024)
                && let Some(next) = suffixes.next()
            {
                value = quotient;
                suffix = next;
            }
            return write_number(f, value, suffix);
        }
        let (mut value, mut exponent) = (self.mantissa, self.scale);
        while exponent < i32::MAX
            && let (quotient, 0) = divide(value, 10)
        {
            value = quotient;
            exponent += 1;
        }
        // Printed, not multiplied: the product need not fit.
        let zeros = exponent.rem_euclid(3);
        exponent = exponent.saturating_sub(zeros);
        let zeros = ["", "0", "00"].get(zeros.unsigned_abs() as usize).copied().unwrap_or_default();
        match DECIMAL.iter().find(|(power, _)| *power == exponent) {
            Some((_, suffix)) if self.format != Format::DecimalExponent => {
                write_number(f, value, zeros)?;
                f.write_str(suffix)
            }
            Some((0, _)) => write_number(f, value, zeros),
            // DIFFERENCE: upstream prints 10^21 in the decimal style without any suffix, that is as 1.
            Some(_) | None => write!(f, "{value}{zeros}e{exponent}"),
        }
    }
}

impl Quantity {
    /// The value if it is a whole number that can be held.
    fn whole(&self) -> Option<i128> {
        if self.scale >= 0 {
            return scale_up(self.mantissa, self.scale);
        }
        let divisor = scale_up(1, self.scale.checked_neg()?)?;
        (self.mantissa % divisor == 0).then(|| self.mantissa / divisor)
    }
}

const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

const DECIMAL: [(i32, &str); 10] =
    [(-9, "n"), (-6, "u"), (-3, "m"), (0, ""), (3, "k"), (6, "M"), (9, "G"), (12, "T"), (15, "P"), (18, "E")];

#[derive(Clone, Copy)]
enum Suffix {
    Decimal { exponent: i32, with_e: bool },
    Binary { exponent: u32 },
}

impl Suffix {
    fn parse(text: &str) -> Result<Self, QuantityError> {
        if let Some((exponent, _)) = DECIMAL.iter().find(|(_, suffix)| *suffix == text) {
            return Ok(Self::Decimal { exponent: *exponent, with_e: false });
        }
        if let Some(position) = (1u32..).zip(BINARY).find_map(|(position, suffix)| (suffix == text).then_some(position))
        {
            return Ok(Self::Binary { exponent: position * 10 });
        }
        let digits = text.strip_prefix(['e', 'E']).ok_or(QuantityError::Suffix)?;
        let exponent: i64 = digits.parse().map_err(|_| QuantityError::Suffix)?;
        let exponent = i32::try_from(exponent).map_err(|_| QuantityError::OutOfRange)?;
        Ok(Self::Decimal { exponent, with_e: true })
    }

    fn format(self) -> Format {
        match self {
            Self::Decimal { with_e: true, .. } => Format::DecimalExponent,
            Self::Decimal { with_e: false, .. } => Format::DecimalSi,
            Self::Binary { .. } => Format::BinarySi,
        }
    }
}

struct Parts<'a> {
    is_negative: bool,
    /// Digits before the point without leading zeros, "0" if none are left.
    whole: &'a str,
    fraction: &'a str,
    suffix: &'a str,
    /// Whether there was any digit.
    has_number: bool,
}

impl<'a> Parts<'a> {
    /// Splits as the reference's scanner does, which accepts a little more than its own message says: `m`, `-`, `.` are zero.
    fn split(text: &'a str) -> Result<Self, QuantityError> {
        if text.is_empty() {
            return Err(QuantityError::Format);
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (all_whole, rest) = split_digits(unsigned);
        let whole = all_whole.trim_start_matches('0');
        let (fraction, suffix) = rest.strip_prefix('.').map_or(("", rest), split_digits);
        let letters = suffix.trim_start_matches(|c: char| "eEinumkKMGTP".contains(c));
        let number = letters.strip_prefix(['+', '-']).unwrap_or(letters);
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(QuantityError::Format);
        }
        Ok(Self {
            is_negative: text.starts_with('-'),
            whole: if whole.is_empty() { "0" } else { whole },
            fraction,
            suffix,
            has_number: !all_whole.is_empty() || !fraction.is_empty(),
        })
    }
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn append_digits(value: i128, digits: &str) -> Option<i128> {
    digits
        .bytes()
        .try_fold(value, |value, digit| value.checked_mul(10)?.checked_add(i128::from(digit.wrapping_sub(b'0'))))
}

/// `whole.fraction * 10^exponent`, rounded up to nano.
fn decimal(whole: &str, fraction: &str, exponent: i32) -> Option<(i128, i32)> {
    // Zeros at the end count as digits only where there is room for them: what is held with a larger power of ten is printed with them,
    // and must be readable again.
    let (whole, exponent) = if fraction.is_empty() && append_digits(0, whole).is_none() {
        let significant = whole.trim_end_matches('0');
        let zeros = i32::try_from(whole.len().checked_sub(significant.len())?).ok()?;
        (significant, exponent.checked_add(zeros)?)
    } else {
        (whole, exponent)
    };
    // Digits beyond nano only say whether to round up; so any number of them is fine.
    let kept = i64::from(exponent).saturating_add(9).clamp(0, 40);
    let (kept, dropped) = fraction.split_at_checked(usize::try_from(kept).ok()?.min(fraction.len()))?;
    let mut value = append_digits(append_digits(0, whole)?, kept)?;
    let mut scale = exponent.checked_sub(i32::try_from(kept.len()).ok()?)?;
    if dropped.bytes().any(|digit| digit != b'0') {
        // One more digit keeps the rounding right below.
        value = value.checked_mul(10)?.checked_add(1)?;
        scale = scale.checked_sub(1)?;
    }
    round_to_nano(value, scale)
}

/// `whole.fraction * 2^exponent`, rounded up to nano.
fn binary(whole: &str, fraction: &str, exponent: u32) -> Option<(i128, i32)> {
    let digits = append_digits(append_digits(0, whole)?, fraction)?;
    let scale = i32::try_from(fraction.len()).ok()?.checked_neg()?;
    round_to_nano(digits.checked_mul(1i128.checked_shl(exponent)?)?, scale)
}

/// At exponent -9 where that fits, as the reference holds it.
fn round_to_nano(value: i128, scale: i32) -> Option<(i128, i32)> {
    if value == 0 {
        return Some((0, scale.max(NANO)));
    }
    if scale < NANO {
        let places = i64::from(NANO).checked_sub(i64::from(scale))?;
        return Some((divide_away_from_zero(value, places.unsigned_abs()), NANO));
    }
    let at_nano = scale.checked_sub(NANO).and_then(|places| scale_up(value, places));
    Some(at_nano.map_or((value, scale), |value| (value, NANO)))
}

/// `value * 10^places`.
fn scale_up(value: i128, places: i32) -> Option<i128> {
    if value == 0 || places == 0 {
        return Some(value);
    }
    // Most numbers are small, and WebAssembly has no larger products.
    const POWERS: [i64; 10] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];
    let power = usize::try_from(places).ok().and_then(|places| POWERS.get(places));
    match (i32::try_from(value), power) {
        (Ok(value), Some(power)) => Some(i128::from(i64::from(value).wrapping_mul(*power))),
        _ => value.checked_mul(10i128.checked_pow(u32::try_from(places).ok()?)?),
    }
}

/// The product, or the largest or smallest number.
pub(crate) fn multiply(a: i128, b: i128) -> i128 {
    let product = i64::try_from(a).ok().zip(i64::try_from(b).ok()).and_then(|(a, b)| a.checked_mul(b));
    product.map_or_else(|| a.saturating_mul(b), i128::from)
}

/// Quotient and rest; the divisor is not 0. Most numbers fit into 64 bits, and WebAssembly has no larger products and divisions.
pub(crate) fn divide(value: i128, divisor: i128) -> (i128, i128) {
    match (i64::try_from(value), i64::try_from(divisor)) {
        (Ok(value), Ok(divisor)) => {
            let (quotient, rest) = (value.checked_div(divisor), value.checked_rem(divisor));
            // The one quotient that does not fit is that of the smallest number and -1.
            (quotient.map_or_else(|| i128::from(value).saturating_neg(), i128::from), rest.map_or(0, i128::from))
        }
        _ => (value.checked_div(divisor).unwrap_or(i128::MAX), value.checked_rem(divisor).unwrap_or(0)),
    }
}

fn write_number(f: &mut fmt::Formatter<'_>, value: i128, then: &str) -> fmt::Result {
    match i64::try_from(value) {
        Ok(value) => write!(f, "{value}{then}"),
        Err(_) => write!(f, "{value}{then}"),
    }
}

fn divide_away_from_zero(value: i128, places: u64) -> i128 {
    let divisor = u32::try_from(places).ok().and_then(|places| 10i128.checked_pow(places));
    let Some(divisor) = divisor else {
        return value.signum();
    };
    let quotient = value / divisor;
    if value % divisor == 0 { quotient } else { quotient + value.signum() }
}

/// Compares `a * 10^a_scale` with `b * 10^b_scale`.
fn compare(a: i128, a_scale: i32, b: i128, b_scale: i32) -> Ordering {
    if a_scale == b_scale || a.signum() != b.signum() {
        return if a_scale == b_scale { a.cmp(&b) } else { a.signum().cmp(&b.signum()) };
    }
    let places = i64::from(a_scale).saturating_sub(i64::from(b_scale));
    let up = |value: i128| i32::try_from(places.unsigned_abs()).ok().and_then(|places| scale_up(value, places));
    if places > 0 {
        // What does not fit is beyond everything that does.
        up(a).map_or_else(|| a.cmp(&0), |a| a.cmp(&b))
    } else {
        up(b).map_or_else(|| 0.cmp(&b), |b| a.cmp(&b))
    }
}

//! What functions demand of their first argument, and what carries each overload out.

use super::value::Value;

/// A capability that an operator demands of its first operand at run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Trait {
    None,
    Add,
    Compare,
    Divide,
    List,
    Match,
    Modulo,
    Multiply,
    Negate,
    Size,
    Subtract,
}

impl Trait {
    pub(super) fn is_met_by(self, value: &Value<'_>) -> bool {
        match self {
            Self::None => true,
            Self::Add => matches!(
                value,
                Value::Bytes(_)
                    | Value::Double(_)
                    | Value::Duration(_)
                    | Value::Int(_)
                    | Value::List(_)
                    | Value::Str(_)
                    | Value::Timestamp(_)
                    | Value::Uint(_)
            ),
            Self::Compare => matches!(
                value,
                Value::Bool(_)
                    | Value::Bytes(_)
                    | Value::Double(_)
                    | Value::Duration(_)
                    | Value::Int(_)
                    | Value::Str(_)
                    | Value::Timestamp(_)
                    | Value::Uint(_)
            ),
            Self::Divide | Self::Multiply => matches!(value, Value::Double(_) | Value::Int(_) | Value::Uint(_)),
            Self::List => matches!(value, Value::List(_)),
            Self::Match => matches!(value, Value::Str(_)),
            Self::Modulo => matches!(value, Value::Int(_) | Value::Uint(_)),
            Self::Negate => {
                matches!(value, Value::Bool(_) | Value::Double(_) | Value::Duration(_) | Value::Int(_))
            }
            Self::Size => matches!(value, Value::Bytes(_) | Value::List(_) | Value::Map(_) | Value::Str(_)),
            Self::Subtract => matches!(
                value,
                Value::Double(_) | Value::Duration(_) | Value::Int(_) | Value::Timestamp(_) | Value::Uint(_)
            ),
        }
    }
}

/// The implementation of an overload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Func {
    /// Planned as something else than a call, or never reached because no value has the type it demands.
    Unreachable,
    Not,
    NotStrictlyFalse,
    Add,
    Divide,
    Modulo,
    Multiply,
    Negate,
    Subtract,
    Less,
    LessEquals,
    Greater,
    GreaterEquals,
    In,
    Size,
    TypeOf,
    Identity,
    ToBool,
    ToBytes,
    ToDouble,
    ToDuration,
    ToInt,
    ToStr,
    ToTimestamp,
    ToUint,
    Contains,
    EndsWith,
    StartsWith,
    Matches,
    FullYear,
    Month,
    DayOfYear,
    DayOfMonth,
    Date,
    DayOfWeek,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
    OptionalOf,
    OptionalOfNonZero,
    OptionalNone,
    OptionalValue,
    OptionalHasValue,
    Last,
    First,
    Unwrap,
    Url,
    UrlScheme,
    UrlHost,
    UrlHostname,
    UrlPort,
    UrlEscapedPath,
    UrlQuery,
    IsUrl,
    Find,
    FindAll,
    IsSorted,
    SumInt,
    SumUint,
    SumDouble,
    SumDuration,
    Max,
    Min,
    ListIndexOf,
    ListLastIndexOf,
    IndexOf,
    LastIndexOf,
    Quantity,
    IsQuantity,
    QuantitySign,
    IsGreaterThan,
    IsLessThan,
    CompareTo,
    QuantityFloat,
    QuantityInteger,
    QuantityIsInteger,
    QuantityAdd,
    QuantitySub,
    Semver,
    IsSemver,
    Major,
    Minor,
    Patch,
    CharAt,
    LowerAscii,
    UpperAscii,
    Replace,
    Split,
    Substring,
    Trim,
    Format,
    Quote,
    Join,
    SetsContains,
    SetsEquivalent,
    SetsIntersects,
    Ip,
    CidrIp,
    IpIsCanonical,
    IsIp,
    IpFamily,
    IpIsUnspecified,
    IpIsLoopback,
    IpIsLinkLocalMulticast,
    IpIsLinkLocalUnicast,
    IpIsGlobalUnicast,
    Cidr,
    IsCidr,
    ContainsIp,
    ContainsCidr,
    PrefixLength,
    Masked,
    Validate,
    NamedFormat,
    ConstantFormat(u8),
    MapInsert,
    Slice,
    Flatten,
    Sort,
    SortByKeys,
    Range,
    Reverse,
    Distinct,
    Includes,
    /// The same for lists of at most 48 elements.
    IncludesFew,
}

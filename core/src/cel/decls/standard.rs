//! The standard functions and operators, and optionals.

use super::{Function, T, function, global, member, single, unguarded};
use crate::cel::call::{Func, Trait};

const LIST_A: T = T::List(&T::A);
const MAP_AB: T = T::Map(&T::A, &T::B);
const OPTIONAL_A: T = T::Optional(&T::A);

/// In the order in which the reference tries the overloads.
pub(super) static FUNCTIONS: &[Function] = &[
    single("_?_:_", Trait::None, &[global("conditional", &[T::Bool, T::A, T::A], T::A, Func::Unreachable)]),
    single("_&&_", Trait::None, &[global("logical_and", &[T::Bool, T::Bool], T::Bool, Func::Unreachable)]),
    single("_||_", Trait::None, &[global("logical_or", &[T::Bool, T::Bool], T::Bool, Func::Unreachable)]),
    single("!_", Trait::None, &[global("logical_not", &[T::Bool], T::Bool, Func::Not)]),
    function("@not_strictly_false", &[global("not_strictly_false", &[T::Bool], T::Bool, Func::NotStrictlyFalse)]),
    single("_==_", Trait::None, &[global("equals", &[T::A, T::A], T::Bool, Func::Unreachable)]),
    single("_!=_", Trait::None, &[global("not_equals", &[T::A, T::A], T::Bool, Func::Unreachable)]),
    single(
        "_+_",
        Trait::Add,
        &[
            global("add_bytes", &[T::Bytes, T::Bytes], T::Bytes, Func::Add),
            global("add_double", &[T::Double, T::Double], T::Double, Func::Add),
            global("add_duration_duration", &[T::Duration, T::Duration], T::Duration, Func::Add),
            global("add_duration_timestamp", &[T::Duration, T::Timestamp], T::Timestamp, Func::Add),
            global("add_timestamp_duration", &[T::Timestamp, T::Duration], T::Timestamp, Func::Add),
            global("add_int64", &[T::Int, T::Int], T::Int, Func::Add),
            global("add_list", &[LIST_A, LIST_A], LIST_A, Func::Add),
            global("add_string", &[T::Str, T::Str], T::Str, Func::Add),
            global("add_uint64", &[T::Uint, T::Uint], T::Uint, Func::Add),
        ],
    ),
    single(
        "_/_",
        Trait::Divide,
        &[
            global("divide_double", &[T::Double, T::Double], T::Double, Func::Divide),
            global("divide_int64", &[T::Int, T::Int], T::Int, Func::Divide),
            global("divide_uint64", &[T::Uint, T::Uint], T::Uint, Func::Divide),
        ],
    ),
    single(
        "_%_",
        Trait::Modulo,
        &[
            global("modulo_int64", &[T::Int, T::Int], T::Int, Func::Modulo),
            global("modulo_uint64", &[T::Uint, T::Uint], T::Uint, Func::Modulo),
        ],
    ),
    single(
        "_*_",
        Trait::Multiply,
        &[
            global("multiply_double", &[T::Double, T::Double], T::Double, Func::Multiply),
            global("multiply_int64", &[T::Int, T::Int], T::Int, Func::Multiply),
            global("multiply_uint64", &[T::Uint, T::Uint], T::Uint, Func::Multiply),
        ],
    ),
    single(
        "-_",
        Trait::Negate,
        &[
            global("negate_double", &[T::Double], T::Double, Func::Negate),
            global("negate_int64", &[T::Int], T::Int, Func::Negate),
        ],
    ),
    single(
        "_-_",
        Trait::Subtract,
        &[
            global("subtract_double", &[T::Double, T::Double], T::Double, Func::Subtract),
            global("subtract_duration_duration", &[T::Duration, T::Duration], T::Duration, Func::Subtract),
            global("subtract_int64", &[T::Int, T::Int], T::Int, Func::Subtract),
            global("subtract_timestamp_duration", &[T::Timestamp, T::Duration], T::Timestamp, Func::Subtract),
            global("subtract_timestamp_timestamp", &[T::Timestamp, T::Timestamp], T::Duration, Func::Subtract),
            global("subtract_uint64", &[T::Uint, T::Uint], T::Uint, Func::Subtract),
        ],
    ),
    single(
        "_<_",
        Trait::Compare,
        &[
            global("less_bool", &[T::Bool, T::Bool], T::Bool, Func::Less),
            global("less_int64", &[T::Int, T::Int], T::Bool, Func::Less),
            global("less_int64_double", &[T::Int, T::Double], T::Bool, Func::Less),
            global("less_int64_uint64", &[T::Int, T::Uint], T::Bool, Func::Less),
            global("less_uint64", &[T::Uint, T::Uint], T::Bool, Func::Less),
            global("less_uint64_double", &[T::Uint, T::Double], T::Bool, Func::Less),
            global("less_uint64_int64", &[T::Uint, T::Int], T::Bool, Func::Less),
            global("less_double", &[T::Double, T::Double], T::Bool, Func::Less),
            global("less_double_int64", &[T::Double, T::Int], T::Bool, Func::Less),
            global("less_double_uint64", &[T::Double, T::Uint], T::Bool, Func::Less),
            global("less_string", &[T::Str, T::Str], T::Bool, Func::Less),
            global("less_bytes", &[T::Bytes, T::Bytes], T::Bool, Func::Less),
            global("less_timestamp", &[T::Timestamp, T::Timestamp], T::Bool, Func::Less),
            global("less_duration", &[T::Duration, T::Duration], T::Bool, Func::Less),
        ],
    ),
    single(
        "_<=_",
        Trait::Compare,
        &[
            global("less_equals_bool", &[T::Bool, T::Bool], T::Bool, Func::LessEquals),
            global("less_equals_int64", &[T::Int, T::Int], T::Bool, Func::LessEquals),
            global("less_equals_int64_double", &[T::Int, T::Double], T::Bool, Func::LessEquals),
            global("less_equals_int64_uint64", &[T::Int, T::Uint], T::Bool, Func::LessEquals),
            global("less_equals_uint64", &[T::Uint, T::Uint], T::Bool, Func::LessEquals),
            global("less_equals_uint64_double", &[T::Uint, T::Double], T::Bool, Func::LessEquals),
            global("less_equals_uint64_int64", &[T::Uint, T::Int], T::Bool, Func::LessEquals),
            global("less_equals_double", &[T::Double, T::Double], T::Bool, Func::LessEquals),
            global("less_equals_double_int64", &[T::Double, T::Int], T::Bool, Func::LessEquals),
            global("less_equals_double_uint64", &[T::Double, T::Uint], T::Bool, Func::LessEquals),
            global("less_equals_string", &[T::Str, T::Str], T::Bool, Func::LessEquals),
            global("less_equals_bytes", &[T::Bytes, T::Bytes], T::Bool, Func::LessEquals),
            global("less_equals_timestamp", &[T::Timestamp, T::Timestamp], T::Bool, Func::LessEquals),
            global("less_equals_duration", &[T::Duration, T::Duration], T::Bool, Func::LessEquals),
        ],
    ),
    single(
        "_>_",
        Trait::Compare,
        &[
            global("greater_bool", &[T::Bool, T::Bool], T::Bool, Func::Greater),
            global("greater_int64", &[T::Int, T::Int], T::Bool, Func::Greater),
            global("greater_int64_double", &[T::Int, T::Double], T::Bool, Func::Greater),
            global("greater_int64_uint64", &[T::Int, T::Uint], T::Bool, Func::Greater),
            global("greater_uint64", &[T::Uint, T::Uint], T::Bool, Func::Greater),
            global("greater_uint64_double", &[T::Uint, T::Double], T::Bool, Func::Greater),
            global("greater_uint64_int64", &[T::Uint, T::Int], T::Bool, Func::Greater),
            global("greater_double", &[T::Double, T::Double], T::Bool, Func::Greater),
            global("greater_double_int64", &[T::Double, T::Int], T::Bool, Func::Greater),
            global("greater_double_uint64", &[T::Double, T::Uint], T::Bool, Func::Greater),
            global("greater_string", &[T::Str, T::Str], T::Bool, Func::Greater),
            global("greater_bytes", &[T::Bytes, T::Bytes], T::Bool, Func::Greater),
            global("greater_timestamp", &[T::Timestamp, T::Timestamp], T::Bool, Func::Greater),
            global("greater_duration", &[T::Duration, T::Duration], T::Bool, Func::Greater),
        ],
    ),
    single(
        "_>=_",
        Trait::Compare,
        &[
            global("greater_equals_bool", &[T::Bool, T::Bool], T::Bool, Func::GreaterEquals),
            global("greater_equals_int64", &[T::Int, T::Int], T::Bool, Func::GreaterEquals),
            global("greater_equals_int64_double", &[T::Int, T::Double], T::Bool, Func::GreaterEquals),
            global("greater_equals_int64_uint64", &[T::Int, T::Uint], T::Bool, Func::GreaterEquals),
            global("greater_equals_uint64", &[T::Uint, T::Uint], T::Bool, Func::GreaterEquals),
            global("greater_equals_uint64_double", &[T::Uint, T::Double], T::Bool, Func::GreaterEquals),
            global("greater_equals_uint64_int64", &[T::Uint, T::Int], T::Bool, Func::GreaterEquals),
            global("greater_equals_double", &[T::Double, T::Double], T::Bool, Func::GreaterEquals),
            global("greater_equals_double_int64", &[T::Double, T::Int], T::Bool, Func::GreaterEquals),
            global("greater_equals_double_uint64", &[T::Double, T::Uint], T::Bool, Func::GreaterEquals),
            global("greater_equals_string", &[T::Str, T::Str], T::Bool, Func::GreaterEquals),
            global("greater_equals_bytes", &[T::Bytes, T::Bytes], T::Bool, Func::GreaterEquals),
            global("greater_equals_timestamp", &[T::Timestamp, T::Timestamp], T::Bool, Func::GreaterEquals),
            global("greater_equals_duration", &[T::Duration, T::Duration], T::Bool, Func::GreaterEquals),
        ],
    ),
    single(
        "_[_]",
        Trait::None,
        &[
            global("index_list", &[LIST_A, T::Int], T::A, Func::Unreachable),
            global("index_map", &[MAP_AB, T::A], T::B, Func::Unreachable),
            global("optional_list_index_int", &[T::Optional(&LIST_A), T::Int], OPTIONAL_A, Func::Unreachable),
            global("optional_map_index_value", &[T::Optional(&MAP_AB), T::A], T::Optional(&T::B), Func::Unreachable),
        ],
    ),
    single(
        "_[?_]",
        Trait::None,
        &[
            global("list_optindex_optional_int", &[LIST_A, T::Int], OPTIONAL_A, Func::Unreachable),
            global(
                "optional_list_optindex_optional_int",
                &[T::Optional(&LIST_A), T::Int],
                OPTIONAL_A,
                Func::Unreachable,
            ),
            global("map_optindex_optional_value", &[MAP_AB, T::A], T::Optional(&T::B), Func::Unreachable),
            global(
                "optional_map_optindex_optional_value",
                &[T::Optional(&MAP_AB), T::A],
                T::Optional(&T::B),
                Func::Unreachable,
            ),
        ],
    ),
    single(
        "@in",
        Trait::None,
        &[global("in_list", &[T::A, LIST_A], T::Bool, Func::In), global("in_map", &[T::A, MAP_AB], T::Bool, Func::In)],
    ),
    single(
        "size",
        Trait::Size,
        &[
            global("size_bytes", &[T::Bytes], T::Int, Func::Size),
            member("bytes_size", &[T::Bytes], T::Int, Func::Size),
            global("size_list", &[LIST_A], T::Int, Func::Size),
            member("list_size", &[LIST_A], T::Int, Func::Size),
            global("size_map", &[MAP_AB], T::Int, Func::Size),
            member("map_size", &[MAP_AB], T::Int, Func::Size),
            global("size_string", &[T::Str], T::Int, Func::Size),
            member("string_size", &[T::Str], T::Int, Func::Size),
        ],
    ),
    single("type", Trait::None, &[global("type", &[T::A], T::Type(&T::A), Func::TypeOf)]),
    single("dyn", Trait::None, &[global("to_dyn", &[T::A], T::Dyn, Func::Identity)]),
    function(
        "bool",
        &[
            global("bool_to_bool", &[T::Bool], T::Bool, Func::Identity),
            global("string_to_bool", &[T::Str], T::Bool, Func::ToBool),
        ],
    ),
    function(
        "bytes",
        &[
            global("bytes_to_bytes", &[T::Bytes], T::Bytes, Func::Identity),
            global("string_to_bytes", &[T::Str], T::Bytes, Func::ToBytes),
        ],
    ),
    function(
        "double",
        &[
            global("double_to_double", &[T::Double], T::Double, Func::Identity),
            global("int64_to_double", &[T::Int], T::Double, Func::ToDouble),
            global("string_to_double", &[T::Str], T::Double, Func::ToDouble),
            global("uint64_to_double", &[T::Uint], T::Double, Func::ToDouble),
        ],
    ),
    function(
        "duration",
        &[
            global("duration_to_duration", &[T::Duration], T::Duration, Func::Identity),
            global("int64_to_duration", &[T::Int], T::Duration, Func::ToDuration),
            global("string_to_duration", &[T::Str], T::Duration, Func::ToDuration),
        ],
    ),
    function(
        "int",
        &[
            global("int64_to_int64", &[T::Int], T::Int, Func::Identity),
            global("double_to_int64", &[T::Double], T::Int, Func::ToInt),
            global("duration_to_int64", &[T::Duration], T::Int, Func::ToInt),
            global("string_to_int64", &[T::Str], T::Int, Func::ToInt),
            global("timestamp_to_int64", &[T::Timestamp], T::Int, Func::ToInt),
            global("uint64_to_int64", &[T::Uint], T::Int, Func::ToInt),
        ],
    ),
    function(
        "string",
        &[
            global("string_to_string", &[T::Str], T::Str, Func::Identity),
            global("bool_to_string", &[T::Bool], T::Str, Func::ToStr),
            global("bytes_to_string", &[T::Bytes], T::Str, Func::ToStr),
            global("double_to_string", &[T::Double], T::Str, Func::ToStr),
            global("duration_to_string", &[T::Duration], T::Str, Func::ToStr),
            global("int64_to_string", &[T::Int], T::Str, Func::ToStr),
            global("timestamp_to_string", &[T::Timestamp], T::Str, Func::ToStr),
            global("uint64_to_string", &[T::Uint], T::Str, Func::ToStr),
            global("ip_to_string", &[T::Ip], T::Str, Func::ToStr),
            global("cidr_to_string", &[T::Cidr], T::Str, Func::ToStr),
        ],
    ),
    function(
        "timestamp",
        &[
            global("timestamp_to_timestamp", &[T::Timestamp], T::Timestamp, Func::Identity),
            global("int64_to_timestamp", &[T::Int], T::Timestamp, Func::ToTimestamp),
            global("string_to_timestamp", &[T::Str], T::Timestamp, Func::ToTimestamp),
        ],
    ),
    function(
        "uint",
        &[
            global("uint64_to_uint64", &[T::Uint], T::Uint, Func::Identity),
            global("double_to_uint64", &[T::Double], T::Uint, Func::ToUint),
            global("int64_to_uint64", &[T::Int], T::Uint, Func::ToUint),
            global("string_to_uint64", &[T::Str], T::Uint, Func::ToUint),
        ],
    ),
    unguarded("contains", &[member("contains_string", &[T::Str, T::Str], T::Bool, Func::Contains)]),
    unguarded("endsWith", &[member("ends_with_string", &[T::Str, T::Str], T::Bool, Func::EndsWith)]),
    unguarded("startsWith", &[member("starts_with_string", &[T::Str, T::Str], T::Bool, Func::StartsWith)]),
    single(
        "matches",
        Trait::Match,
        &[
            global("matches", &[T::Str, T::Str], T::Bool, Func::Matches),
            member("matches_string", &[T::Str, T::Str], T::Bool, Func::Matches),
        ],
    ),
    function(
        "getFullYear",
        &[
            member("timestamp_to_year", &[T::Timestamp], T::Int, Func::FullYear),
            member("timestamp_to_year_with_tz", &[T::Timestamp, T::Str], T::Int, Func::FullYear),
        ],
    ),
    function(
        "getMonth",
        &[
            member("timestamp_to_month", &[T::Timestamp], T::Int, Func::Month),
            member("timestamp_to_month_with_tz", &[T::Timestamp, T::Str], T::Int, Func::Month),
        ],
    ),
    function(
        "getDayOfYear",
        &[
            member("timestamp_to_day_of_year", &[T::Timestamp], T::Int, Func::DayOfYear),
            member("timestamp_to_day_of_year_with_tz", &[T::Timestamp, T::Str], T::Int, Func::DayOfYear),
        ],
    ),
    function(
        "getDayOfMonth",
        &[
            member("timestamp_to_day_of_month", &[T::Timestamp], T::Int, Func::DayOfMonth),
            member("timestamp_to_day_of_month_with_tz", &[T::Timestamp, T::Str], T::Int, Func::DayOfMonth),
        ],
    ),
    function(
        "getDate",
        &[
            member("timestamp_to_day_of_month_1_based", &[T::Timestamp], T::Int, Func::Date),
            member("timestamp_to_day_of_month_1_based_with_tz", &[T::Timestamp, T::Str], T::Int, Func::Date),
        ],
    ),
    function(
        "getDayOfWeek",
        &[
            member("timestamp_to_day_of_week", &[T::Timestamp], T::Int, Func::DayOfWeek),
            member("timestamp_to_day_of_week_with_tz", &[T::Timestamp, T::Str], T::Int, Func::DayOfWeek),
        ],
    ),
    function(
        "getHours",
        &[
            member("timestamp_to_hours", &[T::Timestamp], T::Int, Func::Hours),
            member("timestamp_to_hours_with_tz", &[T::Timestamp, T::Str], T::Int, Func::Hours),
            member("duration_to_hours", &[T::Duration], T::Int, Func::Hours),
        ],
    ),
    function(
        "getMinutes",
        &[
            member("timestamp_to_minutes", &[T::Timestamp], T::Int, Func::Minutes),
            member("timestamp_to_minutes_with_tz", &[T::Timestamp, T::Str], T::Int, Func::Minutes),
            member("duration_to_minutes", &[T::Duration], T::Int, Func::Minutes),
        ],
    ),
    function(
        "getSeconds",
        &[
            member("timestamp_to_seconds", &[T::Timestamp], T::Int, Func::Seconds),
            member("timestamp_to_seconds_with_tz", &[T::Timestamp, T::Str], T::Int, Func::Seconds),
            member("duration_to_seconds", &[T::Duration], T::Int, Func::Seconds),
        ],
    ),
    function(
        "getMilliseconds",
        &[
            member("timestamp_to_milliseconds", &[T::Timestamp], T::Int, Func::Milliseconds),
            member("timestamp_to_milliseconds_with_tz", &[T::Timestamp, T::Str], T::Int, Func::Milliseconds),
            member("duration_to_milliseconds", &[T::Duration], T::Int, Func::Milliseconds),
        ],
    ),
    function("optional.of", &[global("optional_of", &[T::A], OPTIONAL_A, Func::OptionalOf)]),
    function(
        "optional.ofNonZeroValue",
        &[global("optional_ofNonZeroValue", &[T::A], OPTIONAL_A, Func::OptionalOfNonZero)],
    ),
    function("optional.none", &[global("optional_none", &[], OPTIONAL_A, Func::OptionalNone)]),
    function("value", &[member("optional_value", &[OPTIONAL_A], T::A, Func::OptionalValue)]),
    function("hasValue", &[member("optional_hasValue", &[OPTIONAL_A], T::Bool, Func::OptionalHasValue)]),
    function("or", &[member("optional_or_optional", &[OPTIONAL_A, OPTIONAL_A], OPTIONAL_A, Func::Unreachable)]),
    function("orValue", &[member("optional_orValue_value", &[OPTIONAL_A, T::A], T::A, Func::Unreachable)]),
    function("last", &[member("list_last", &[LIST_A], OPTIONAL_A, Func::Last)]),
    function("first", &[member("list_first", &[LIST_A], OPTIONAL_A, Func::First)]),
    function("optional.unwrap", &[global("optional_unwrap", &[T::List(&OPTIONAL_A)], LIST_A, Func::Unwrap)]),
    function("unwrapOpt", &[member("optional_unwrapOpt", &[T::List(&OPTIONAL_A)], LIST_A, Func::Unwrap)]),
];

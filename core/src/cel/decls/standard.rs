//! The standard functions and operators, and optionals.

use super::T::*;
use super::{Function, LIST_A, MAP_AB, OPTIONAL_A};

/// In the order in which the reference tries the overloads.
pub(super) static FUNCTIONS: &[Function] = functions! {
    single(None) "_?_:_" { global "conditional", (Bool, A, A) -> A => Unreachable; }
    single(None) "_&&_" { global "logical_and", (Bool, Bool) -> Bool => Unreachable; }
    single(None) "_||_" { global "logical_or", (Bool, Bool) -> Bool => Unreachable; }
    single(None) "!_" { global "logical_not", (Bool) -> Bool => Not; }
    function "@not_strictly_false" { global "not_strictly_false", (Bool) -> Bool => NotStrictlyFalse; }
    single(None) "_==_" { global "equals", (A, A) -> Bool => Unreachable; }
    single(None) "_!=_" { global "not_equals", (A, A) -> Bool => Unreachable; }
    single(Add) "_+_" {
        global "add_bytes", (Bytes, Bytes) -> Bytes => Add;
        global "add_double", (Double, Double) -> Double => Add;
        global "add_duration_duration", (Duration, Duration) -> Duration => Add;
        global "add_duration_timestamp", (Duration, Timestamp) -> Timestamp => Add;
        global "add_timestamp_duration", (Timestamp, Duration) -> Timestamp => Add;
        global "add_int64", (Int, Int) -> Int => Add;
        global "add_list", (LIST_A, LIST_A) -> LIST_A => Add;
        global "add_string", (Str, Str) -> Str => Add;
        global "add_uint64", (Uint, Uint) -> Uint => Add;
    }
    single(Divide) "_/_" {
        global "divide_double", (Double, Double) -> Double => Divide;
        global "divide_int64", (Int, Int) -> Int => Divide;
        global "divide_uint64", (Uint, Uint) -> Uint => Divide;
    }
    single(Modulo) "_%_" {
        global "modulo_int64", (Int, Int) -> Int => Modulo;
        global "modulo_uint64", (Uint, Uint) -> Uint => Modulo;
    }
    single(Multiply) "_*_" {
        global "multiply_double", (Double, Double) -> Double => Multiply;
        global "multiply_int64", (Int, Int) -> Int => Multiply;
        global "multiply_uint64", (Uint, Uint) -> Uint => Multiply;
    }
    single(Negate) "-_" {
        global "negate_double", (Double) -> Double => Negate;
        global "negate_int64", (Int) -> Int => Negate;
    }
    single(Subtract) "_-_" {
        global "subtract_double", (Double, Double) -> Double => Subtract;
        global "subtract_duration_duration", (Duration, Duration) -> Duration => Subtract;
        global "subtract_int64", (Int, Int) -> Int => Subtract;
        global "subtract_timestamp_duration", (Timestamp, Duration) -> Timestamp => Subtract;
        global "subtract_timestamp_timestamp", (Timestamp, Timestamp) -> Duration => Subtract;
        global "subtract_uint64", (Uint, Uint) -> Uint => Subtract;
    }
    single(None) "_[_]" {
        global "index_list", (LIST_A, Int) -> A => Unreachable;
        global "index_map", (MAP_AB, A) -> B => Unreachable;
        global "optional_list_index_int", (Optional(&LIST_A), Int) -> OPTIONAL_A => Unreachable;
        global "optional_map_index_value", (Optional(&MAP_AB), A) -> Optional(&B) => Unreachable;
    }
    single(None) "_[?_]" {
        global "list_optindex_optional_int", (LIST_A, Int) -> OPTIONAL_A => Unreachable;
        global "optional_list_optindex_optional_int", (Optional(&LIST_A), Int) -> OPTIONAL_A => Unreachable;
        global "map_optindex_optional_value", (MAP_AB, A) -> Optional(&B) => Unreachable;
        global "optional_map_optindex_optional_value", (Optional(&MAP_AB), A) -> Optional(&B) => Unreachable;
    }
    single(None) "@in" {
        global "in_list", (A, LIST_A) -> Bool => In;
        global "in_map", (A, MAP_AB) -> Bool => In;
    }
    single(Size) "size" {
        global "size_bytes", (Bytes) -> Int => Size;
        member "bytes_size", (Bytes) -> Int => Size;
        global "size_list", (LIST_A) -> Int => Size;
        member "list_size", (LIST_A) -> Int => Size;
        global "size_map", (MAP_AB) -> Int => Size;
        member "map_size", (MAP_AB) -> Int => Size;
        global "size_string", (Str) -> Int => Size;
        member "string_size", (Str) -> Int => Size;
    }
    single(None) "type" { global "type", (A) -> Type(&A) => TypeOf; }
    single(None) "dyn" { global "to_dyn", (A) -> Dyn => Identity; }
    function "bool" {
        global "bool_to_bool", (Bool) -> Bool => Identity;
        global "string_to_bool", (Str) -> Bool => ToBool;
    }
    function "bytes" {
        global "bytes_to_bytes", (Bytes) -> Bytes => Identity;
        global "string_to_bytes", (Str) -> Bytes => ToBytes;
    }
    function "double" {
        global "double_to_double", (Double) -> Double => Identity;
        global "int64_to_double", (Int) -> Double => ToDouble;
        global "string_to_double", (Str) -> Double => ToDouble;
        global "uint64_to_double", (Uint) -> Double => ToDouble;
    }
    function "duration" {
        global "duration_to_duration", (Duration) -> Duration => Identity;
        global "int64_to_duration", (Int) -> Duration => ToDuration;
        global "string_to_duration", (Str) -> Duration => ToDuration;
    }
    function "int" {
        global "int64_to_int64", (Int) -> Int => Identity;
        global "double_to_int64", (Double) -> Int => ToInt;
        global "duration_to_int64", (Duration) -> Int => ToInt;
        global "string_to_int64", (Str) -> Int => ToInt;
        global "timestamp_to_int64", (Timestamp) -> Int => ToInt;
        global "uint64_to_int64", (Uint) -> Int => ToInt;
    }
    function "string" {
        global "string_to_string", (Str) -> Str => Identity;
        global "bool_to_string", (Bool) -> Str => ToStr;
        global "bytes_to_string", (Bytes) -> Str => ToStr;
        global "double_to_string", (Double) -> Str => ToStr;
        global "duration_to_string", (Duration) -> Str => ToStr;
        global "int64_to_string", (Int) -> Str => ToStr;
        global "timestamp_to_string", (Timestamp) -> Str => ToStr;
        global "uint64_to_string", (Uint) -> Str => ToStr;
        global "ip_to_string", (Ip) -> Str => ToStr;
        global "cidr_to_string", (Cidr) -> Str => ToStr;
    }
    function "timestamp" {
        global "timestamp_to_timestamp", (Timestamp) -> Timestamp => Identity;
        global "int64_to_timestamp", (Int) -> Timestamp => ToTimestamp;
        global "string_to_timestamp", (Str) -> Timestamp => ToTimestamp;
    }
    function "uint" {
        global "uint64_to_uint64", (Uint) -> Uint => Identity;
        global "double_to_uint64", (Double) -> Uint => ToUint;
        global "int64_to_uint64", (Int) -> Uint => ToUint;
        global "string_to_uint64", (Str) -> Uint => ToUint;
    }
    unguarded "contains" { member "contains_string", (Str, Str) -> Bool => Contains; }
    unguarded "endsWith" { member "ends_with_string", (Str, Str) -> Bool => EndsWith; }
    unguarded "startsWith" { member "starts_with_string", (Str, Str) -> Bool => StartsWith; }
    single(Match) "matches" {
        global "matches", (Str, Str) -> Bool => Matches;
        member "matches_string", (Str, Str) -> Bool => Matches;
    }
    function "optional.of" { global "optional_of", (A) -> OPTIONAL_A => OptionalOf; }
    function "optional.ofNonZeroValue" { global "optional_ofNonZeroValue", (A) -> OPTIONAL_A => OptionalOfNonZero; }
    function "optional.none" { global "optional_none", () -> OPTIONAL_A => OptionalNone; }
    function "value" { member "optional_value", (OPTIONAL_A) -> A => OptionalValue; }
    function "hasValue" { member "optional_hasValue", (OPTIONAL_A) -> Bool => OptionalHasValue; }
    function "or" { member "optional_or_optional", (OPTIONAL_A, OPTIONAL_A) -> OPTIONAL_A => Unreachable; }
    function "orValue" { member "optional_orValue_value", (OPTIONAL_A, A) -> A => Unreachable; }
    function "last" { member "list_last", (LIST_A) -> OPTIONAL_A => Last; }
    function "first" { member "list_first", (LIST_A) -> OPTIONAL_A => First; }
    function "optional.unwrap" { global "optional_unwrap", (List(&OPTIONAL_A)) -> LIST_A => Unwrap; }
    function "unwrapOpt" { member "optional_unwrapOpt", (List(&OPTIONAL_A)) -> LIST_A => Unwrap; }
};

/// A comparison, for each pair of types that has an order.
macro_rules! comparison {
    ($name:literal, $id:literal, $func:ident) => {
        functions! {
            single(Compare) $name {
                global concat!($id, "_bool"), (Bool, Bool) -> Bool => $func;
                global concat!($id, "_int64"), (Int, Int) -> Bool => $func;
                global concat!($id, "_int64_double"), (Int, Double) -> Bool => $func;
                global concat!($id, "_int64_uint64"), (Int, Uint) -> Bool => $func;
                global concat!($id, "_uint64"), (Uint, Uint) -> Bool => $func;
                global concat!($id, "_uint64_double"), (Uint, Double) -> Bool => $func;
                global concat!($id, "_uint64_int64"), (Uint, Int) -> Bool => $func;
                global concat!($id, "_double"), (Double, Double) -> Bool => $func;
                global concat!($id, "_double_int64"), (Double, Int) -> Bool => $func;
                global concat!($id, "_double_uint64"), (Double, Uint) -> Bool => $func;
                global concat!($id, "_string"), (Str, Str) -> Bool => $func;
                global concat!($id, "_bytes"), (Bytes, Bytes) -> Bool => $func;
                global concat!($id, "_timestamp"), (Timestamp, Timestamp) -> Bool => $func;
                global concat!($id, "_duration"), (Duration, Duration) -> Bool => $func;
            }
        }
    };
}

/// The comparisons, each in a table of its own.
pub(super) static COMPARISONS: [&[Function]; 4] = [
    comparison!("_<_", "less", Less),
    comparison!("_<=_", "less_equals", LessEquals),
    comparison!("_>_", "greater", Greater),
    comparison!("_>=_", "greater_equals", GreaterEquals),
];

/// A part of a time, in UTC or in a zone.
macro_rules! part_of_time {
    ($name:literal, $id:literal, $func:ident $(, $more:literal)?) => {
        functions! {
            function $name {
                member concat!("timestamp_to_", $id), (Timestamp) -> Int => $func;
                member concat!("timestamp_to_", $id, "_with_tz"), (Timestamp, Str) -> Int => $func;
                $(member $more, (Duration) -> Int => $func;)?
            }
        }
    };
}

/// The parts of times, each in a table of its own. Durations have some of them as well.
pub(super) static PARTS_OF_TIME: [&[Function]; 10] = [
    part_of_time!("getFullYear", "year", FullYear),
    part_of_time!("getMonth", "month", Month),
    part_of_time!("getDayOfYear", "day_of_year", DayOfYear),
    part_of_time!("getDayOfMonth", "day_of_month", DayOfMonth),
    part_of_time!("getDate", "day_of_month_1_based", Date),
    part_of_time!("getDayOfWeek", "day_of_week", DayOfWeek),
    part_of_time!("getHours", "hours", Hours, "duration_to_hours"),
    part_of_time!("getMinutes", "minutes", Minutes, "duration_to_minutes"),
    part_of_time!("getSeconds", "seconds", Seconds, "duration_to_seconds"),
    part_of_time!("getMilliseconds", "milliseconds", Milliseconds, "duration_to_milliseconds"),
];

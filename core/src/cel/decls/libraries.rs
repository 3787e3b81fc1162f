//! The extension libraries of cel-go and Kubernetes.

use super::T::*;
use super::{Function, LIST_A, LIST_STR, MAP_AB};

/// In the order in which the reference tries the overloads.
pub(super) static FUNCTIONS: &[Function] = functions! {
    function "url" { global "string_to_url", (Str) -> Url => Url; }
    function "getScheme" { member "url_get_scheme", (Url) -> Str => UrlScheme; }
    function "getHost" { member "url_get_host", (Url) -> Str => UrlHost; }
    function "getHostname" { member "url_get_hostname", (Url) -> Str => UrlHostname; }
    function "getPort" { member "url_get_port", (Url) -> Str => UrlPort; }
    function "getEscapedPath" { member "url_get_escaped_path", (Url) -> Str => UrlEscapedPath; }
    function "getQuery" { member "url_get_query", (Url) -> Map(&Str, &LIST_STR) => UrlQuery; }
    function "isURL" { global "is_url_string", (Str) -> Bool => IsUrl; }
    function "find" { member "string_find_string", (Str, Str) -> Str => Find; }
    function "findAll" {
        member "string_find_all_string", (Str, Str) -> LIST_STR => FindAll;
        member "string_find_all_string_int", (Str, Str, Int) -> LIST_STR => FindAll;
    }
    function "isSorted" {
        member "list_int_is_sorted_bool", (List(&Int)) -> Bool => IsSorted;
        member "list_uint_is_sorted_bool", (List(&Uint)) -> Bool => IsSorted;
        member "list_double_is_sorted_bool", (List(&Double)) -> Bool => IsSorted;
        member "list_bool_is_sorted_bool", (List(&Bool)) -> Bool => IsSorted;
        member "list_duration_is_sorted_bool", (List(&Duration)) -> Bool => IsSorted;
        member "list_timestamp_is_sorted_bool", (List(&Timestamp)) -> Bool => IsSorted;
        member "list_string_is_sorted_bool", (List(&Str)) -> Bool => IsSorted;
        member "list_bytes_is_sorted_bool", (List(&Bytes)) -> Bool => IsSorted;
    }
    function "sum" {
        member "list_int_sum_int", (List(&Int)) -> Int => SumInt;
        member "list_uint_sum_uint", (List(&Uint)) -> Uint => SumUint;
        member "list_double_sum_double", (List(&Double)) -> Double => SumDouble;
        member "list_duration_sum_duration", (List(&Duration)) -> Duration => SumDuration;
    }
    function "max" {
        member "list_int_max_int", (List(&Int)) -> Int => Max;
        member "list_uint_max_uint", (List(&Uint)) -> Uint => Max;
        member "list_double_max_double", (List(&Double)) -> Double => Max;
        member "list_bool_max_bool", (List(&Bool)) -> Bool => Max;
        member "list_duration_max_duration", (List(&Duration)) -> Duration => Max;
        member "list_timestamp_max_timestamp", (List(&Timestamp)) -> Timestamp => Max;
        member "list_string_max_string", (List(&Str)) -> Str => Max;
        member "list_bytes_max_bytes", (List(&Bytes)) -> Bytes => Max;
    }
    function "min" {
        member "list_int_min_int", (List(&Int)) -> Int => Min;
        member "list_uint_min_uint", (List(&Uint)) -> Uint => Min;
        member "list_double_min_double", (List(&Double)) -> Double => Min;
        member "list_bool_min_bool", (List(&Bool)) -> Bool => Min;
        member "list_duration_min_duration", (List(&Duration)) -> Duration => Min;
        member "list_timestamp_min_timestamp", (List(&Timestamp)) -> Timestamp => Min;
        member "list_string_min_string", (List(&Str)) -> Str => Min;
        member "list_bytes_min_bytes", (List(&Bytes)) -> Bytes => Min;
    }
    function "indexOf" {
        member "list_a_index_of_int", (LIST_A, A) -> Int => ListIndexOf;
        member "string_index_of_string", (Str, Str) -> Int => IndexOf;
        member "string_index_of_string_int", (Str, Str, Int) -> Int => IndexOf;
    }
    function "lastIndexOf" {
        member "list_a_last_index_of_int", (LIST_A, A) -> Int => ListLastIndexOf;
        member "string_last_index_of_string", (Str, Str) -> Int => LastIndexOf;
        member "string_last_index_of_string_int", (Str, Str, Int) -> Int => LastIndexOf;
    }
    function "path" { member "authorizer_path", (Authorizer, Str) -> PathCheck => Unreachable; }
    function "group" { member "authorizer_group", (Authorizer, Str) -> GroupCheck => Unreachable; }
    function "serviceAccount" { member "authorizer_serviceaccount", (Authorizer, Str, Str) -> Authorizer => Unreachable; }
    function "resource" { member "groupcheck_resource", (GroupCheck, Str) -> ResourceCheck => Unreachable; }
    function "subresource" { member "resourcecheck_subresource", (ResourceCheck, Str) -> ResourceCheck => Unreachable; }
    function "namespace" { member "resourcecheck_namespace", (ResourceCheck, Str) -> ResourceCheck => Unreachable; }
    function "name" { member "resourcecheck_name", (ResourceCheck, Str) -> ResourceCheck => Unreachable; }
    function "check" {
        member "pathcheck_check", (PathCheck, Str) -> Decision => Unreachable;
        member "resourcecheck_check", (ResourceCheck, Str) -> Decision => Unreachable;
    }
    function "errored" { member "decision_errored", (Decision) -> Bool => Unreachable; }
    function "error" { member "decision_error", (Decision) -> Str => Unreachable; }
    function "allowed" { member "decision_allowed", (Decision) -> Bool => Unreachable; }
    function "reason" { member "decision_reason", (Decision) -> Str => Unreachable; }
    function "fieldSelector" { member "authorizer_fieldselector", (ResourceCheck, Str) -> ResourceCheck => Unreachable; }
    function "labelSelector" { member "authorizer_labelselector", (ResourceCheck, Str) -> ResourceCheck => Unreachable; }
    function "quantity" { global "string_to_quantity", (Str) -> Quantity => Quantity; }
    function "isQuantity" { global "is_quantity_string", (Str) -> Bool => IsQuantity; }
    function "sign" { global "quantity_sign", (Quantity) -> Int => QuantitySign; }
    function "isGreaterThan" {
        member "quantity_is_greater_than", (Quantity, Quantity) -> Bool => IsGreaterThan;
        member "semver_is_greater_than", (Semver, Semver) -> Bool => IsGreaterThan;
    }
    function "isLessThan" {
        member "quantity_is_less_than", (Quantity, Quantity) -> Bool => IsLessThan;
        member "semver_is_less_than", (Semver, Semver) -> Bool => IsLessThan;
    }
    function "compareTo" {
        member "quantity_compare_to", (Quantity, Quantity) -> Int => CompareTo;
        member "semver_compare_to", (Semver, Semver) -> Int => CompareTo;
    }
    function "asApproximateFloat" { member "quantity_get_float", (Quantity) -> Double => QuantityFloat; }
    function "asInteger" { member "quantity_get_int", (Quantity) -> Int => QuantityInteger; }
    function "isInteger" { member "quantity_is_integer", (Quantity) -> Bool => QuantityIsInteger; }
    function "add" {
        member "quantity_add", (Quantity, Quantity) -> Quantity => QuantityAdd;
        member "quantity_add_int", (Quantity, Int) -> Quantity => QuantityAdd;
    }
    function "sub" {
        member "quantity_sub", (Quantity, Quantity) -> Quantity => QuantitySub;
        member "quantity_sub_int", (Quantity, Int) -> Quantity => QuantitySub;
    }
    function "semver" {
        global "string_to_semver", (Str) -> Semver => Semver;
        global "string_bool_to_semver", (Str, Bool) -> Semver => Semver;
    }
    function "isSemver" {
        global "is_semver_string", (Str) -> Bool => IsSemver;
        global "is_semver_string_bool", (Str, Bool) -> Bool => IsSemver;
    }
    function "major" { member "semver_major", (Semver) -> Int => Major; }
    function "minor" { member "semver_minor", (Semver) -> Int => Minor; }
    function "patch" { member "semver_patch", (Semver) -> Int => Patch; }
    function "charAt" { member "string_char_at_int", (Str, Int) -> Str => CharAt; }
    function "lowerAscii" { member "string_lower_ascii", (Str) -> Str => LowerAscii; }
    function "upperAscii" { member "string_upper_ascii", (Str) -> Str => UpperAscii; }
    function "replace" {
        member "string_replace_string_string", (Str, Str, Str) -> Str => Replace;
        member "string_replace_string_string_int", (Str, Str, Str, Int) -> Str => Replace;
    }
    function "split" {
        member "string_split_string", (Str, Str) -> LIST_STR => Split;
        member "string_split_string_int", (Str, Str, Int) -> LIST_STR => Split;
    }
    function "substring" {
        member "string_substring_int", (Str, Int) -> Str => Substring;
        member "string_substring_int_int", (Str, Int, Int) -> Str => Substring;
    }
    function "trim" { member "string_trim", (Str) -> Str => Trim; }
    function "format" { variadic "string_format", (Str, List(&Dyn)) -> Str => Format; }
    function "strings.quote" { global "strings_quote", (Str) -> Str => Quote; }
    function "join" {
        member "list_join", (LIST_STR) -> Str => Join;
        member "list_join_string", (LIST_STR, Str) -> Str => Join;
    }
    function "sets.contains" { global "list_sets_contains_list", (LIST_A, LIST_A) -> Bool => SetsContains; }
    function "sets.equivalent" { global "list_sets_equivalent_list", (LIST_A, LIST_A) -> Bool => SetsEquivalent; }
    function "sets.intersects" { global "list_sets_intersects_list", (LIST_A, LIST_A) -> Bool => SetsIntersects; }
    function "ip" {
        global "string_to_ip", (Str) -> Ip => Ip;
        member "cidr_ip", (Cidr) -> Ip => CidrIp;
    }
    function "ip.isCanonical" { global "ip_is_canonical", (Str) -> Bool => IpIsCanonical; }
    function "isIP" { global "is_ip", (Str) -> Bool => IsIp; }
    function "family" { member "ip_family", (Ip) -> Int => IpFamily; }
    function "isUnspecified" { member "ip_is_unspecified", (Ip) -> Bool => IpIsUnspecified; }
    function "isLoopback" { member "ip_is_loopback", (Ip) -> Bool => IpIsLoopback; }
    function "isLinkLocalMulticast" { member "ip_is_link_local_multicast", (Ip) -> Bool => IpIsLinkLocalMulticast; }
    function "isLinkLocalUnicast" { member "ip_is_link_local_unicast", (Ip) -> Bool => IpIsLinkLocalUnicast; }
    function "isGlobalUnicast" { member "ip_is_global_unicast", (Ip) -> Bool => IpIsGlobalUnicast; }
    function "cidr" { global "string_to_cidr", (Str) -> Cidr => Cidr; }
    function "isCIDR" { global "is_cidr", (Str) -> Bool => IsCidr; }
    function "containsIP" {
        member "cidr_contains_ip_string", (Cidr, Str) -> Bool => ContainsIp;
        member "cidr_contains_ip_ip", (Cidr, Ip) -> Bool => ContainsIp;
    }
    function "containsCIDR" {
        member "cidr_contains_cidr_string", (Cidr, Str) -> Bool => ContainsCidr;
        member "cidr_contains_cidr", (Cidr, Cidr) -> Bool => ContainsCidr;
    }
    function "prefixLength" { member "cidr_prefix_length", (Cidr) -> Int => PrefixLength; }
    function "masked" { member "cidr_masked", (Cidr) -> Cidr => Masked; }
    function "validate" { member "format-validate", (Format, Str) -> Optional(&LIST_STR) => Validate; }
    function "format.named" { global "format-named", (Str) -> Optional(&Format) => NamedFormat; }
    function "format.dns1123Label" { global "format.dns1123Label", () -> Format => ConstantFormat(0); }
    function "format.dns1123Subdomain" { global "format.dns1123Subdomain", () -> Format => ConstantFormat(1); }
    function "format.dns1035Label" { global "format.dns1035Label", () -> Format => ConstantFormat(2); }
    function "format.qualifiedName" { global "format.qualifiedName", () -> Format => ConstantFormat(3); }
    function "format.dns1123LabelPrefix" { global "format.dns1123LabelPrefix", () -> Format => ConstantFormat(4); }
    function "format.dns1123SubdomainPrefix" {
        global "format.dns1123SubdomainPrefix", () -> Format => ConstantFormat(5);
    }
    function "format.dns1035LabelPrefix" { global "format.dns1035LabelPrefix", () -> Format => ConstantFormat(6); }
    function "format.labelValue" { global "format.labelValue", () -> Format => ConstantFormat(7); }
    function "format.uri" { global "format.uri", () -> Format => ConstantFormat(8); }
    function "format.uuid" { global "format.uuid", () -> Format => ConstantFormat(9); }
    function "format.byte" { global "format.byte", () -> Format => ConstantFormat(10); }
    function "format.date" { global "format.date", () -> Format => ConstantFormat(11); }
    function "format.datetime" { global "format.datetime", () -> Format => ConstantFormat(12); }
    function "cel.@mapInsert" {
        global "@mapInsert_map_key_value", (MAP_AB, A, B) -> MAP_AB => MapInsert;
        global "@mapInsert_map_map", (MAP_AB, MAP_AB) -> MAP_AB => MapInsert;
    }
};

/// Version 3 of the list library.
pub(super) static LISTS: &[Function] = functions! {
    function "slice" { member "list_slice", (LIST_A, Int, Int) -> LIST_A => Slice; }
    unguarded "flatten" {
        member "list_flatten", (List(&LIST_A)) -> LIST_A => Flatten;
        member "list_flatten_int", (List(&Dyn), Int) -> List(&Dyn) => Flatten;
    }
    single(List) "sort" {
        member "list_int_sort", (List(&Int)) -> List(&Int) => Sort;
        member "list_uint_sort", (List(&Uint)) -> List(&Uint) => Sort;
        member "list_double_sort", (List(&Double)) -> List(&Double) => Sort;
        member "list_bool_sort", (List(&Bool)) -> List(&Bool) => Sort;
        member "list_google.protobuf.Duration_sort", (List(&Duration)) -> List(&Duration) => Sort;
        member "list_google.protobuf.Timestamp_sort", (List(&Timestamp)) -> List(&Timestamp) => Sort;
        member "list_string_sort", (List(&Str)) -> List(&Str) => Sort;
        member "list_bytes_sort", (List(&Bytes)) -> List(&Bytes) => Sort;
    }
    single(List) "@sortByAssociatedKeys" {
        member "list_int_sortByAssociatedKeys", (LIST_A, List(&Int)) -> LIST_A => SortByKeys;
        member "list_uint_sortByAssociatedKeys", (LIST_A, List(&Uint)) -> LIST_A => SortByKeys;
        member "list_double_sortByAssociatedKeys", (LIST_A, List(&Double)) -> LIST_A => SortByKeys;
        member "list_bool_sortByAssociatedKeys", (LIST_A, List(&Bool)) -> LIST_A => SortByKeys;
        member "list_google.protobuf.Duration_sortByAssociatedKeys", (LIST_A, List(&Duration)) -> LIST_A => SortByKeys;
        member "list_google.protobuf.Timestamp_sortByAssociatedKeys", (LIST_A, List(&Timestamp)) -> LIST_A => SortByKeys;
        member "list_string_sortByAssociatedKeys", (LIST_A, List(&Str)) -> LIST_A => SortByKeys;
        member "list_bytes_sortByAssociatedKeys", (LIST_A, List(&Bytes)) -> LIST_A => SortByKeys;
    }
    function "lists.range" { global "lists_range", (Int) -> List(&Int) => Range; }
    function "reverse" { member "list_reverse", (LIST_A) -> LIST_A => Reverse; }
    function "distinct" { member "list_distinct", (LIST_A) -> LIST_A => Distinct; }
};

/// `includes` of the DRA environment.
pub(super) static DEVICE_INCLUDES: &[Function] = functions! {
    function "includes" { member "dra_includes_dyn_dyn", (Dyn, Dyn) -> Bool => IncludesFew; }
};

/// `includes` of the base library.
pub(super) static LIBRARY_INCLUDES: &[Function] = functions! {
    function "includes" { member "list_includes_dyn_dyn", (Dyn, Dyn) -> Bool => Includes; }
};

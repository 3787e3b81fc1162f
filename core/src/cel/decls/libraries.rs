//! The extension libraries of cel-go and Kubernetes.

use super::{Function, Overload, T, function, global, member, single, unguarded};
use crate::cel::call::{Func, Trait};

const LIST_A: T = T::List(&T::A);
const LIST_STR: T = T::List(&T::Str);
const MAP_AB: T = T::Map(&T::A, &T::B);

/// In the order in which the reference tries the overloads.
pub(super) static FUNCTIONS: &[Function] = &[
    function("url", &[global("string_to_url", &[T::Str], T::Url, Func::Url)]),
    function("getScheme", &[member("url_get_scheme", &[T::Url], T::Str, Func::UrlScheme)]),
    function("getHost", &[member("url_get_host", &[T::Url], T::Str, Func::UrlHost)]),
    function("getHostname", &[member("url_get_hostname", &[T::Url], T::Str, Func::UrlHostname)]),
    function("getPort", &[member("url_get_port", &[T::Url], T::Str, Func::UrlPort)]),
    function("getEscapedPath", &[member("url_get_escaped_path", &[T::Url], T::Str, Func::UrlEscapedPath)]),
    function("getQuery", &[member("url_get_query", &[T::Url], T::Map(&T::Str, &LIST_STR), Func::UrlQuery)]),
    function("isURL", &[global("is_url_string", &[T::Str], T::Bool, Func::IsUrl)]),
    function("find", &[member("string_find_string", &[T::Str, T::Str], T::Str, Func::Find)]),
    function(
        "findAll",
        &[
            member("string_find_all_string", &[T::Str, T::Str], LIST_STR, Func::FindAll),
            member("string_find_all_string_int", &[T::Str, T::Str, T::Int], LIST_STR, Func::FindAll),
        ],
    ),
    function(
        "isSorted",
        &[
            member("list_int_is_sorted_bool", &[T::List(&T::Int)], T::Bool, Func::IsSorted),
            member("list_uint_is_sorted_bool", &[T::List(&T::Uint)], T::Bool, Func::IsSorted),
            member("list_double_is_sorted_bool", &[T::List(&T::Double)], T::Bool, Func::IsSorted),
            member("list_bool_is_sorted_bool", &[T::List(&T::Bool)], T::Bool, Func::IsSorted),
            member("list_duration_is_sorted_bool", &[T::List(&T::Duration)], T::Bool, Func::IsSorted),
            member("list_timestamp_is_sorted_bool", &[T::List(&T::Timestamp)], T::Bool, Func::IsSorted),
            member("list_string_is_sorted_bool", &[T::List(&T::Str)], T::Bool, Func::IsSorted),
            member("list_bytes_is_sorted_bool", &[T::List(&T::Bytes)], T::Bool, Func::IsSorted),
        ],
    ),
    function(
        "sum",
        &[
            member("list_int_sum_int", &[T::List(&T::Int)], T::Int, Func::SumInt),
            member("list_uint_sum_uint", &[T::List(&T::Uint)], T::Uint, Func::SumUint),
            member("list_double_sum_double", &[T::List(&T::Double)], T::Double, Func::SumDouble),
            member("list_duration_sum_duration", &[T::List(&T::Duration)], T::Duration, Func::SumDuration),
        ],
    ),
    function(
        "max",
        &[
            member("list_int_max_int", &[T::List(&T::Int)], T::Int, Func::Max),
            member("list_uint_max_uint", &[T::List(&T::Uint)], T::Uint, Func::Max),
            member("list_double_max_double", &[T::List(&T::Double)], T::Double, Func::Max),
            member("list_bool_max_bool", &[T::List(&T::Bool)], T::Bool, Func::Max),
            member("list_duration_max_duration", &[T::List(&T::Duration)], T::Duration, Func::Max),
            member("list_timestamp_max_timestamp", &[T::List(&T::Timestamp)], T::Timestamp, Func::Max),
            member("list_string_max_string", &[T::List(&T::Str)], T::Str, Func::Max),
            member("list_bytes_max_bytes", &[T::List(&T::Bytes)], T::Bytes, Func::Max),
        ],
    ),
    function(
        "min",
        &[
            member("list_int_min_int", &[T::List(&T::Int)], T::Int, Func::Min),
            member("list_uint_min_uint", &[T::List(&T::Uint)], T::Uint, Func::Min),
            member("list_double_min_double", &[T::List(&T::Double)], T::Double, Func::Min),
            member("list_bool_min_bool", &[T::List(&T::Bool)], T::Bool, Func::Min),
            member("list_duration_min_duration", &[T::List(&T::Duration)], T::Duration, Func::Min),
            member("list_timestamp_min_timestamp", &[T::List(&T::Timestamp)], T::Timestamp, Func::Min),
            member("list_string_min_string", &[T::List(&T::Str)], T::Str, Func::Min),
            member("list_bytes_min_bytes", &[T::List(&T::Bytes)], T::Bytes, Func::Min),
        ],
    ),
    function(
        "indexOf",
        &[
            member("list_a_index_of_int", &[LIST_A, T::A], T::Int, Func::ListIndexOf),
            member("string_index_of_string", &[T::Str, T::Str], T::Int, Func::IndexOf),
            member("string_index_of_string_int", &[T::Str, T::Str, T::Int], T::Int, Func::IndexOf),
        ],
    ),
    function(
        "lastIndexOf",
        &[
            member("list_a_last_index_of_int", &[LIST_A, T::A], T::Int, Func::ListLastIndexOf),
            member("string_last_index_of_string", &[T::Str, T::Str], T::Int, Func::LastIndexOf),
            member("string_last_index_of_string_int", &[T::Str, T::Str, T::Int], T::Int, Func::LastIndexOf),
        ],
    ),
    function("path", &[member("authorizer_path", &[T::Authorizer, T::Str], T::PathCheck, Func::Unreachable)]),
    function("group", &[member("authorizer_group", &[T::Authorizer, T::Str], T::GroupCheck, Func::Unreachable)]),
    function(
        "serviceAccount",
        &[member("authorizer_serviceaccount", &[T::Authorizer, T::Str, T::Str], T::Authorizer, Func::Unreachable)],
    ),
    function(
        "resource",
        &[member("groupcheck_resource", &[T::GroupCheck, T::Str], T::ResourceCheck, Func::Unreachable)],
    ),
    function(
        "subresource",
        &[member("resourcecheck_subresource", &[T::ResourceCheck, T::Str], T::ResourceCheck, Func::Unreachable)],
    ),
    function(
        "namespace",
        &[member("resourcecheck_namespace", &[T::ResourceCheck, T::Str], T::ResourceCheck, Func::Unreachable)],
    ),
    function("name", &[member("resourcecheck_name", &[T::ResourceCheck, T::Str], T::ResourceCheck, Func::Unreachable)]),
    function(
        "check",
        &[
            member("pathcheck_check", &[T::PathCheck, T::Str], T::Decision, Func::Unreachable),
            member("resourcecheck_check", &[T::ResourceCheck, T::Str], T::Decision, Func::Unreachable),
        ],
    ),
    function("errored", &[member("decision_errored", &[T::Decision], T::Bool, Func::Unreachable)]),
    function("error", &[member("decision_error", &[T::Decision], T::Str, Func::Unreachable)]),
    function("allowed", &[member("decision_allowed", &[T::Decision], T::Bool, Func::Unreachable)]),
    function("reason", &[member("decision_reason", &[T::Decision], T::Str, Func::Unreachable)]),
    function(
        "fieldSelector",
        &[member("authorizer_fieldselector", &[T::ResourceCheck, T::Str], T::ResourceCheck, Func::Unreachable)],
    ),
    function(
        "labelSelector",
        &[member("authorizer_labelselector", &[T::ResourceCheck, T::Str], T::ResourceCheck, Func::Unreachable)],
    ),
    function("quantity", &[global("string_to_quantity", &[T::Str], T::Quantity, Func::Quantity)]),
    function("isQuantity", &[global("is_quantity_string", &[T::Str], T::Bool, Func::IsQuantity)]),
    function("sign", &[global("quantity_sign", &[T::Quantity], T::Int, Func::QuantitySign)]),
    function(
        "isGreaterThan",
        &[
            member("quantity_is_greater_than", &[T::Quantity, T::Quantity], T::Bool, Func::IsGreaterThan),
            member("semver_is_greater_than", &[T::Semver, T::Semver], T::Bool, Func::IsGreaterThan),
        ],
    ),
    function(
        "isLessThan",
        &[
            member("quantity_is_less_than", &[T::Quantity, T::Quantity], T::Bool, Func::IsLessThan),
            member("semver_is_less_than", &[T::Semver, T::Semver], T::Bool, Func::IsLessThan),
        ],
    ),
    function(
        "compareTo",
        &[
            member("quantity_compare_to", &[T::Quantity, T::Quantity], T::Int, Func::CompareTo),
            member("semver_compare_to", &[T::Semver, T::Semver], T::Int, Func::CompareTo),
        ],
    ),
    function("asApproximateFloat", &[member("quantity_get_float", &[T::Quantity], T::Double, Func::QuantityFloat)]),
    function("asInteger", &[member("quantity_get_int", &[T::Quantity], T::Int, Func::QuantityInteger)]),
    function("isInteger", &[member("quantity_is_integer", &[T::Quantity], T::Bool, Func::QuantityIsInteger)]),
    function(
        "add",
        &[
            member("quantity_add", &[T::Quantity, T::Quantity], T::Quantity, Func::QuantityAdd),
            member("quantity_add_int", &[T::Quantity, T::Int], T::Quantity, Func::QuantityAdd),
        ],
    ),
    function(
        "sub",
        &[
            member("quantity_sub", &[T::Quantity, T::Quantity], T::Quantity, Func::QuantitySub),
            member("quantity_sub_int", &[T::Quantity, T::Int], T::Quantity, Func::QuantitySub),
        ],
    ),
    function(
        "semver",
        &[
            global("string_to_semver", &[T::Str], T::Semver, Func::Semver),
            global("string_bool_to_semver", &[T::Str, T::Bool], T::Semver, Func::Semver),
        ],
    ),
    function(
        "isSemver",
        &[
            global("is_semver_string", &[T::Str], T::Bool, Func::IsSemver),
            global("is_semver_string_bool", &[T::Str, T::Bool], T::Bool, Func::IsSemver),
        ],
    ),
    function("major", &[member("semver_major", &[T::Semver], T::Int, Func::Major)]),
    function("minor", &[member("semver_minor", &[T::Semver], T::Int, Func::Minor)]),
    function("patch", &[member("semver_patch", &[T::Semver], T::Int, Func::Patch)]),
    function("charAt", &[member("string_char_at_int", &[T::Str, T::Int], T::Str, Func::CharAt)]),
    function("lowerAscii", &[member("string_lower_ascii", &[T::Str], T::Str, Func::LowerAscii)]),
    function("upperAscii", &[member("string_upper_ascii", &[T::Str], T::Str, Func::UpperAscii)]),
    function(
        "replace",
        &[
            member("string_replace_string_string", &[T::Str, T::Str, T::Str], T::Str, Func::Replace),
            member("string_replace_string_string_int", &[T::Str, T::Str, T::Str, T::Int], T::Str, Func::Replace),
        ],
    ),
    function(
        "split",
        &[
            member("string_split_string", &[T::Str, T::Str], LIST_STR, Func::Split),
            member("string_split_string_int", &[T::Str, T::Str, T::Int], LIST_STR, Func::Split),
        ],
    ),
    function(
        "substring",
        &[
            member("string_substring_int", &[T::Str, T::Int], T::Str, Func::Substring),
            member("string_substring_int_int", &[T::Str, T::Int, T::Int], T::Str, Func::Substring),
        ],
    ),
    function("trim", &[member("string_trim", &[T::Str], T::Str, Func::Trim)]),
    function(
        "format",
        &[Overload { is_variadic: true, ..member("string_format", &[T::Str, T::List(&T::Dyn)], T::Str, Func::Format) }],
    ),
    function("strings.quote", &[global("strings_quote", &[T::Str], T::Str, Func::Quote)]),
    function(
        "join",
        &[
            member("list_join", &[LIST_STR], T::Str, Func::Join),
            member("list_join_string", &[LIST_STR, T::Str], T::Str, Func::Join),
        ],
    ),
    function("sets.contains", &[global("list_sets_contains_list", &[LIST_A, LIST_A], T::Bool, Func::SetsContains)]),
    function(
        "sets.equivalent",
        &[global("list_sets_equivalent_list", &[LIST_A, LIST_A], T::Bool, Func::SetsEquivalent)],
    ),
    function(
        "sets.intersects",
        &[global("list_sets_intersects_list", &[LIST_A, LIST_A], T::Bool, Func::SetsIntersects)],
    ),
    function(
        "ip",
        &[global("string_to_ip", &[T::Str], T::Ip, Func::Ip), member("cidr_ip", &[T::Cidr], T::Ip, Func::CidrIp)],
    ),
    function("ip.isCanonical", &[global("ip_is_canonical", &[T::Str], T::Bool, Func::IpIsCanonical)]),
    function("isIP", &[global("is_ip", &[T::Str], T::Bool, Func::IsIp)]),
    function("family", &[member("ip_family", &[T::Ip], T::Int, Func::IpFamily)]),
    function("isUnspecified", &[member("ip_is_unspecified", &[T::Ip], T::Bool, Func::IpIsUnspecified)]),
    function("isLoopback", &[member("ip_is_loopback", &[T::Ip], T::Bool, Func::IpIsLoopback)]),
    function(
        "isLinkLocalMulticast",
        &[member("ip_is_link_local_multicast", &[T::Ip], T::Bool, Func::IpIsLinkLocalMulticast)],
    ),
    function(
        "isLinkLocalUnicast",
        &[member("ip_is_link_local_unicast", &[T::Ip], T::Bool, Func::IpIsLinkLocalUnicast)],
    ),
    function("isGlobalUnicast", &[member("ip_is_global_unicast", &[T::Ip], T::Bool, Func::IpIsGlobalUnicast)]),
    function("cidr", &[global("string_to_cidr", &[T::Str], T::Cidr, Func::Cidr)]),
    function("isCIDR", &[global("is_cidr", &[T::Str], T::Bool, Func::IsCidr)]),
    function(
        "containsIP",
        &[
            member("cidr_contains_ip_string", &[T::Cidr, T::Str], T::Bool, Func::ContainsIp),
            member("cidr_contains_ip_ip", &[T::Cidr, T::Ip], T::Bool, Func::ContainsIp),
        ],
    ),
    function(
        "containsCIDR",
        &[
            member("cidr_contains_cidr_string", &[T::Cidr, T::Str], T::Bool, Func::ContainsCidr),
            member("cidr_contains_cidr", &[T::Cidr, T::Cidr], T::Bool, Func::ContainsCidr),
        ],
    ),
    function("prefixLength", &[member("cidr_prefix_length", &[T::Cidr], T::Int, Func::PrefixLength)]),
    function("masked", &[member("cidr_masked", &[T::Cidr], T::Cidr, Func::Masked)]),
    function("validate", &[member("format-validate", &[T::Format, T::Str], T::Optional(&LIST_STR), Func::Validate)]),
    function("format.named", &[global("format-named", &[T::Str], T::Optional(&T::Format), Func::NamedFormat)]),
    function("format.dns1123Label", &[global("format.dns1123Label", &[], T::Format, Func::ConstantFormat(0))]),
    function("format.dns1123Subdomain", &[global("format.dns1123Subdomain", &[], T::Format, Func::ConstantFormat(1))]),
    function("format.dns1035Label", &[global("format.dns1035Label", &[], T::Format, Func::ConstantFormat(2))]),
    function("format.qualifiedName", &[global("format.qualifiedName", &[], T::Format, Func::ConstantFormat(3))]),
    function(
        "format.dns1123LabelPrefix",
        &[global("format.dns1123LabelPrefix", &[], T::Format, Func::ConstantFormat(4))],
    ),
    function(
        "format.dns1123SubdomainPrefix",
        &[global("format.dns1123SubdomainPrefix", &[], T::Format, Func::ConstantFormat(5))],
    ),
    function(
        "format.dns1035LabelPrefix",
        &[global("format.dns1035LabelPrefix", &[], T::Format, Func::ConstantFormat(6))],
    ),
    function("format.labelValue", &[global("format.labelValue", &[], T::Format, Func::ConstantFormat(7))]),
    function("format.uri", &[global("format.uri", &[], T::Format, Func::ConstantFormat(8))]),
    function("format.uuid", &[global("format.uuid", &[], T::Format, Func::ConstantFormat(9))]),
    function("format.byte", &[global("format.byte", &[], T::Format, Func::ConstantFormat(10))]),
    function("format.date", &[global("format.date", &[], T::Format, Func::ConstantFormat(11))]),
    function("format.datetime", &[global("format.datetime", &[], T::Format, Func::ConstantFormat(12))]),
    function(
        "cel.@mapInsert",
        &[
            global("@mapInsert_map_key_value", &[MAP_AB, T::A, T::B], MAP_AB, Func::MapInsert),
            global("@mapInsert_map_map", &[MAP_AB, MAP_AB], MAP_AB, Func::MapInsert),
        ],
    ),
];

/// Version 3 of the list library.
pub(super) static LISTS: &[Function] = &[
    function("slice", &[member("list_slice", &[LIST_A, T::Int, T::Int], LIST_A, Func::Slice)]),
    unguarded(
        "flatten",
        &[
            member("list_flatten", &[T::List(&LIST_A)], LIST_A, Func::Flatten),
            member("list_flatten_int", &[T::List(&T::Dyn), T::Int], T::List(&T::Dyn), Func::Flatten),
        ],
    ),
    single(
        "sort",
        Trait::List,
        &[
            member("list_int_sort", &[T::List(&T::Int)], T::List(&T::Int), Func::Sort),
            member("list_uint_sort", &[T::List(&T::Uint)], T::List(&T::Uint), Func::Sort),
            member("list_double_sort", &[T::List(&T::Double)], T::List(&T::Double), Func::Sort),
            member("list_bool_sort", &[T::List(&T::Bool)], T::List(&T::Bool), Func::Sort),
            member("list_google.protobuf.Duration_sort", &[T::List(&T::Duration)], T::List(&T::Duration), Func::Sort),
            member(
                "list_google.protobuf.Timestamp_sort",
                &[T::List(&T::Timestamp)],
                T::List(&T::Timestamp),
                Func::Sort,
            ),
            member("list_string_sort", &[T::List(&T::Str)], T::List(&T::Str), Func::Sort),
            member("list_bytes_sort", &[T::List(&T::Bytes)], T::List(&T::Bytes), Func::Sort),
        ],
    ),
    single(
        "@sortByAssociatedKeys",
        Trait::List,
        &[
            member("list_int_sortByAssociatedKeys", &[LIST_A, T::List(&T::Int)], LIST_A, Func::SortByKeys),
            member("list_uint_sortByAssociatedKeys", &[LIST_A, T::List(&T::Uint)], LIST_A, Func::SortByKeys),
            member("list_double_sortByAssociatedKeys", &[LIST_A, T::List(&T::Double)], LIST_A, Func::SortByKeys),
            member("list_bool_sortByAssociatedKeys", &[LIST_A, T::List(&T::Bool)], LIST_A, Func::SortByKeys),
            member(
                "list_google.protobuf.Duration_sortByAssociatedKeys",
                &[LIST_A, T::List(&T::Duration)],
                LIST_A,
                Func::SortByKeys,
            ),
            member(
                "list_google.protobuf.Timestamp_sortByAssociatedKeys",
                &[LIST_A, T::List(&T::Timestamp)],
                LIST_A,
                Func::SortByKeys,
            ),
            member("list_string_sortByAssociatedKeys", &[LIST_A, T::List(&T::Str)], LIST_A, Func::SortByKeys),
            member("list_bytes_sortByAssociatedKeys", &[LIST_A, T::List(&T::Bytes)], LIST_A, Func::SortByKeys),
        ],
    ),
    function("lists.range", &[global("lists_range", &[T::Int], T::List(&T::Int), Func::Range)]),
    function("reverse", &[member("list_reverse", &[LIST_A], LIST_A, Func::Reverse)]),
    function("distinct", &[member("list_distinct", &[LIST_A], LIST_A, Func::Distinct)]),
];

/// `includes` of the DRA environment.
pub(super) static DEVICE_INCLUDES: &[Function] =
    &[function("includes", &[member("dra_includes_dyn_dyn", &[T::Dyn, T::Dyn], T::Bool, Func::IncludesFew)])];

/// `includes` of the base library.
pub(super) static LIBRARY_INCLUDES: &[Function] =
    &[function("includes", &[member("list_includes_dyn_dyn", &[T::Dyn, T::Dyn], T::Bool, Func::Includes)])];

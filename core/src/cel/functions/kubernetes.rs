//! Quantities, versions, addresses, URLs, named formats.

use std::sync::Arc;

use crate::api::quantity::{Format, Quantity};
use crate::cel::call::Func;
use crate::cel::eval::too_large;
use crate::cel::format_names;
use crate::cel::net::{Cidr, Ip};
use crate::cel::plan::Call;
use crate::cel::semver::Semver;
use crate::cel::url::Url;
use crate::cel::value::{Eval, Map, QuantityValue, Value, fail, no_overload};

pub(super) fn unary<'a>(func: Func, a: &Value<'a>, _call: &Call) -> Eval<Value<'a>> {
    match a {
        Value::Str(text) => of_text(func, text.as_str()),
        Value::Quantity(quantity) => of_quantity(func, quantity.get()),
        Value::Semver(version) => of_version(func, version),
        Value::Ip(ip) => of_ip(func, *ip),
        Value::Cidr(cidr) => match func {
            Func::CidrIp => Ok(Value::Ip(cidr.address())),
            Func::PrefixLength => Ok(Value::Int(i64::from(cidr.prefix_length()))),
            Func::Masked => Ok(Value::Cidr(cidr.masked())),
            _ => no_overload(),
        },
        Value::Url(url) => of_url(func, url),
        _ => no_overload(),
    }
}

fn of_text<'a>(func: Func, text: &str) -> Eval<Value<'a>> {
    match func {
        Func::Quantity => match Quantity::parse(text) {
            Ok(quantity) => Ok(Value::Quantity(QuantityValue::Owned(Arc::new(quantity)))),
            Err(error) => fail(error.to_string()),
        },
        Func::IsQuantity => Ok(Value::Bool(Quantity::parse(text).is_ok())),
        Func::Semver => version(text, false),
        Func::IsSemver => Ok(Value::Bool(Semver::parse(text).is_ok())),
        Func::Ip => Ip::parse(text).map_or_else(fail, |ip| Ok(Value::Ip(ip))),
        Func::IsIp => Ok(Value::Bool(Ip::parse(text).is_ok())),
        Func::IpIsCanonical => Ip::parse(text).map_or_else(fail, |ip| Ok(Value::Bool(ip.to_string() == text))),
        Func::Cidr => network(text).map(Value::Cidr),
        Func::IsCidr => Ok(Value::Bool(Cidr::parse(text).is_ok())),
        Func::Url => match Url::parse(text) {
            Ok(url) => Ok(Value::Url(Arc::new(url))),
            Err(error) => fail(format!("URL parse error during conversion from string: {error}")),
        },
        Func::IsUrl => Ok(Value::Bool(Url::is_request_uri(text))),
        Func::NamedFormat => {
            Ok(format_names::find(text).map_or(Value::Optional(None), |position| Value::some(Value::Format(position))))
        }
        _ => no_overload(),
    }
}

fn version<'a>(text: &str, normalize: bool) -> Eval<Value<'a>> {
    let parsed = if normalize { Semver::parse_normalized(text) } else { Semver::parse(text) };
    parsed.map_or_else(fail, |version| Ok(Value::from(version)))
}

fn network(text: &str) -> Eval<Cidr> {
    Cidr::parse(text)
        .or_else(|error| fail(format!("network address parse error during conversion from string: {error}")))
}

fn of_quantity<'a>(func: Func, quantity: &Quantity) -> Eval<Value<'a>> {
    match func {
        Func::QuantitySign => Ok(Value::Int(i64::from(quantity.signum()))),
        Func::QuantityFloat => Ok(Value::Double(quantity.as_approximate_f64())),
        Func::QuantityInteger => {
            quantity.as_i64().map_or_else(|| fail("cannot convert value to integer"), |value| Ok(Value::Int(value)))
        }
        Func::QuantityIsInteger => Ok(Value::Bool(quantity.as_i64().is_some())),
        _ => no_overload(),
    }
}

fn of_version<'a>(func: Func, version: &Semver) -> Eval<Value<'a>> {
    let [major, minor, patch] = version.numbers;
    let number = match func {
        Func::Major => major,
        Func::Minor => minor,
        Func::Patch => patch,
        _ => return no_overload(),
    };
    // The reference reinterprets large numbers as negative ones.
    Ok(Value::Int(number.cast_signed()))
}

fn of_ip<'a>(func: Func, ip: Ip) -> Eval<Value<'a>> {
    Ok(match func {
        Func::IpFamily => Value::Int(if ip.byte_length() == 4 { 4 } else { 6 }),
        Func::IpIsUnspecified => Value::Bool(ip.is_unspecified()),
        Func::IpIsLoopback => Value::Bool(ip.is_loopback()),
        Func::IpIsLinkLocalMulticast => Value::Bool(ip.is_link_local_multicast()),
        Func::IpIsLinkLocalUnicast => Value::Bool(ip.is_link_local_unicast()),
        Func::IpIsGlobalUnicast => Value::Bool(ip.is_global_unicast()),
        _ => return no_overload(),
    })
}

fn of_url<'a>(func: Func, url: &Url) -> Eval<Value<'a>> {
    Ok(match func {
        Func::UrlScheme => Value::text(url.scheme()),
        Func::UrlHost => Value::text(url.host()),
        Func::UrlHostname => Value::text(url.hostname()),
        Func::UrlPort => Value::text(url.port()),
        Func::UrlEscapedPath => Value::text(url.escaped_path()),
        Func::UrlQuery => {
            let list = |values: Vec<String>| Value::list(values.into_iter().map(Value::text).collect());
            let entries = url.query().into_iter().map(|(key, values)| (Value::text(key), list(values))).collect();
            Value::Map(Map::Entries(Arc::new(entries)))
        }
        _ => return no_overload(),
    })
}

pub(super) fn binary<'a>(func: Func, a: &Value<'a>, b: &Value<'a>) -> Eval<Value<'a>> {
    match (func, a, b) {
        (Func::IsGreaterThan | Func::IsLessThan | Func::CompareTo, _, _) => {
            let order = match (a, b) {
                (Value::Quantity(a), Value::Quantity(b)) => a.get().cmp(b.get()),
                (Value::Semver(a), Value::Semver(b)) => a.cmp(b),
                _ => return no_overload(),
            };
            Ok(match func {
                Func::IsGreaterThan => Value::Bool(order.is_gt()),
                Func::IsLessThan => Value::Bool(order.is_lt()),
                _ => Value::Int(order as i64),
            })
        }
        (Func::QuantityAdd | Func::QuantitySub, Value::Quantity(a), b) => {
            let from_int;
            let b = match b {
                Value::Quantity(b) => b.get(),
                Value::Int(b) => {
                    from_int = Quantity::from_i64(*b, Format::DecimalExponent);
                    &from_int
                }
                _ => return no_overload(),
            };
            let sum = if func == Func::QuantityAdd { a.get().checked_add(b) } else { a.get().sub_in_64_bits(b) };
            sum.map_or_else(too_large, |sum| Ok(Value::Quantity(QuantityValue::Sum(Arc::new(sum)))))
        }
        (Func::Semver, Value::Str(text), Value::Bool(normalize)) => version(text.as_str(), *normalize),
        (Func::IsSemver, Value::Str(text), Value::Bool(normalize)) => {
            Ok(Value::Bool(version(text.as_str(), *normalize).is_ok()))
        }
        (Func::ContainsIp, Value::Cidr(network), Value::Ip(ip)) => Ok(Value::Bool(network.contains(*ip))),
        (Func::ContainsIp, Value::Cidr(network), Value::Str(text)) => match Ip::parse(text.as_str()) {
            Ok(ip) => Ok(Value::Bool(network.contains(ip))),
            Err(_) => no_overload(),
        },
        (Func::ContainsCidr, Value::Cidr(outer), Value::Cidr(inner)) => Ok(Value::Bool(outer.contains_network(inner))),
        (Func::ContainsCidr, Value::Cidr(outer), Value::Str(text)) => {
            network(text.as_str()).map(|inner| Value::Bool(outer.contains_network(&inner)))
        }
        (Func::Validate, Value::Format(position), Value::Str(text)) => {
            let problems = format_names::validate(*position, text.as_str());
            if problems.is_empty() {
                return Ok(Value::Optional(None));
            }
            Ok(Value::some(Value::list(problems.into_iter().map(Value::text).collect())))
        }
        _ => no_overload(),
    }
}

//! The signatures of all functions of the environment.

/// `receiver.name(arguments) result`, or without a receiver. `A` and `B` are any types, one per call; `T?` is an optional, `[T]` a list.
const SIGNATURES: &str = "
    size(string) int; size(bytes) int; size([A]) int; size({A:B}) int; string.size() int; bytes.size() int; [A].size() int; {A:B}.size() int
    string.contains(string) bool; string.startsWith(string) bool; string.endsWith(string) bool; string.matches(regex) bool
    matches(string,regex) bool
    int(int) int; int(uint) int; int(double) int; int(string) int; int(duration) int; int(timestamp) int
    uint(uint) uint; uint(int) uint; uint(double) uint; uint(string) uint
    double(double) double; double(int) double; double(uint) double; double(string) double
    string(string) string; string(bool) string; string(int) string; string(uint) string; string(double) string; string(bytes) string
    string(timestamp) string; string(duration) string; string(ip) string; string(cidr) string
    bytes(bytes) bytes; bytes(string) bytes; bool(bool) bool; bool(string) bool
    duration(string) duration; duration(duration) duration; duration(int) duration
    timestamp(string) timestamp; timestamp(timestamp) timestamp; timestamp(int) timestamp
    dyn(A) A; type(A) type
    timestamp.getFullYear() int; timestamp.getFullYear(zone) int; timestamp.getMonth() int; timestamp.getMonth(zone) int
    timestamp.getDayOfYear() int; timestamp.getDayOfYear(zone) int; timestamp.getDayOfMonth() int; timestamp.getDayOfMonth(zone) int
    timestamp.getDate() int; timestamp.getDate(zone) int; timestamp.getDayOfWeek() int; timestamp.getDayOfWeek(zone) int
    timestamp.getHours() int; timestamp.getHours(zone) int; timestamp.getMinutes() int; timestamp.getMinutes(zone) int
    timestamp.getSeconds() int; timestamp.getSeconds(zone) int; timestamp.getMilliseconds() int; timestamp.getMilliseconds(zone) int
    duration.getHours() int; duration.getMinutes() int; duration.getSeconds() int; duration.getMilliseconds() int
    url(string) url; isURL(string) bool; url.getScheme() string; url.getHost() string; url.getHostname() string; url.getPort() string
    url.getEscapedPath() string; url.getQuery() {string:[string]}
    string.find(regex) string; string.findAll(regex) [string]; string.findAll(regex,int) [string]
    [N].isSorted() bool; [N].sum() N; [O].min() O; [O].max() O; [O].isSorted() bool
    [A].indexOf(A) int; [A].lastIndexOf(A) int
    quantity(string) quantity; isQuantity(string) bool; sign(quantity) int; quantity.isGreaterThan(quantity) bool
    quantity.isLessThan(quantity) bool; quantity.compareTo(quantity) int; quantity.asApproximateFloat() double
    quantity.asInteger() int; quantity.isInteger() bool; quantity.add(quantity) quantity; quantity.add(int) quantity
    quantity.sub(quantity) quantity; quantity.sub(int) quantity
    semver(string) semver; semver(string,bool) semver; isSemver(string) bool; isSemver(string,bool) bool; semver.major() int
    semver.minor() int; semver.patch() int; semver.isGreaterThan(semver) bool; semver.isLessThan(semver) bool; semver.compareTo(semver) int
    string.charAt(int) string; string.indexOf(string) int; string.indexOf(string,int) int; string.lastIndexOf(string) int
    string.lastIndexOf(string,int) int; string.lowerAscii() string; string.upperAscii() string; string.replace(string,string) string
    string.replace(string,string,int) string; string.split(string) [string]; string.split(string,int) [string]
    string.substring(int) string; string.substring(int,int) string; string.trim() string; strings.quote(string) string
    [string].join() string; [string].join(string) string; pattern.format([A]) string
    sets.contains([A],[A]) bool; sets.equivalent([A],[A]) bool; sets.intersects([A],[A]) bool
    ip(string) ip; isIP(string) bool; ip.isCanonical(string) bool; ip.family() int; ip.isUnspecified() bool; ip.isLoopback() bool
    ip.isLinkLocalMulticast() bool; ip.isLinkLocalUnicast() bool; ip.isGlobalUnicast() bool
    cidr(string) cidr; isCIDR(string) bool; cidr.ip() ip; cidr.containsIP(string) bool; cidr.containsIP(ip) bool
    cidr.containsCIDR(string) bool; cidr.containsCIDR(cidr) bool; cidr.prefixLength() int; cidr.masked() cidr
    format.dns1123Label() format; format.dns1123Subdomain() format; format.dns1035Label() format; format.qualifiedName() format
    format.dns1123LabelPrefix() format; format.dns1123SubdomainPrefix() format; format.dns1035LabelPrefix() format
    format.labelValue() format; format.uri() format; format.uuid() format; format.byte() format; format.date() format
    format.datetime() format; format.named(name) format?; format.validate(string) [string]?
    [A].slice(int,int) [A]; [[A]].flatten() [A]; [[A]].flatten(int) [A]; [A].flatten() [A]; [A].flatten(int) [A]; [O].sort() [O]
    [A].distinct() [A]; [A].reverse() [A]; [A].first() A?; [A].last() A?; lists.range(small) [int]; string.reverse() string
    [A].includes(A) bool; A.includes(A) bool
    optional.of(A) A?; optional.ofNonZeroValue(A) A?; optional.none() A?; A?.hasValue() bool; A?.value() A; A?.orValue(A) A; A?.or(A?) A?
    optional.unwrap([A?]) [A]; [A?].unwrapOpt() [A]
";

/// A function's signature, its parts as the texts of types.
pub(super) struct Signature {
    pub(super) receiver: Option<&'static str>,
    pub(super) name: &'static str,
    pub(super) arguments: Vec<&'static str>,
    pub(super) result: &'static str,
}

/// Every signature.
pub(super) fn signatures() -> Vec<Signature> {
    SIGNATURES.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty()).filter_map(signature).collect()
}

fn signature(line: &'static str) -> Option<Signature> {
    let (head, result) = line.rsplit_once(") ")?;
    let (head, arguments) = head.rsplit_once('(')?;
    let namespaces = ["strings", "sets", "lists", "optional"];
    let is_namespace = |receiver: &str, name: &str| {
        namespaces.contains(&receiver)
            || (receiver == "format" && name != "validate")
            || (receiver == "ip" && name == "isCanonical")
    };
    let (receiver, name) = match head.rsplit_once('.') {
        Some((receiver, name)) if !is_namespace(receiver, name) => (Some(receiver), name),
        _ => (None, head),
    };
    Some(Signature {
        receiver,
        name,
        arguments: arguments.split(',').filter(|part| !part.is_empty()).collect(),
        result,
    })
}

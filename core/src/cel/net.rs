//! Addresses and networks.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

/// An address without zone and not an IPv4 address in IPv6 notation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Ip(IpAddr);

/// An address with the length of its network's prefix.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Cidr {
    address: Ip,
    bits: u8,
}

impl Ip {
    /// # Errors
    ///
    /// The reference's message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Some((address, zone)) = text.split_once('%')
            && !zone.is_empty()
            && address.parse::<Ipv6Addr>().is_ok()
        {
            return Err(format!("IP address \"{text}\" with zone value is not allowed"));
        }
        let address: IpAddr = text.parse().map_err(|_| {
            format!(
                "IP Address \"{text}\" parse error during conversion from string: ParseAddr(\"{text}\"): unable to parse IP"
            )
        })?;
        if is_mapped(address) {
            return Err(format!("IPv4-mapped IPv6 address \"{text}\" is not allowed"));
        }
        Ok(Self(address))
    }

    pub(super) fn byte_length(self) -> usize {
        if self.0.is_ipv4() { 4 } else { 16 }
    }

    pub(super) fn is_unspecified(self) -> bool {
        self.0.is_unspecified()
    }

    pub(super) fn is_loopback(self) -> bool {
        self.0.is_loopback()
    }

    pub(super) fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
            IpAddr::V6(address) => address.segments().first().is_some_and(|first| first & 0xff0f == 0xff02),
        }
    }

    pub(super) fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.segments().first().is_some_and(|first| first & 0xffc0 == 0xfe80),
        }
    }

    pub(super) fn is_global_unicast(self) -> bool {
        let is_broadcast = matches!(self.0, IpAddr::V4(address) if address.is_broadcast());
        !(is_broadcast
            || self.is_unspecified()
            || self.is_loopback()
            || self.0.is_multicast()
            || self.is_link_local_unicast())
    }

    /// The address as a number, and how many bits it has.
    fn number(self) -> (u128, u8) {
        match self.0 {
            IpAddr::V4(address) => (u128::from(address.to_bits()), 32),
            IpAddr::V6(address) => (address.to_bits(), 128),
        }
    }
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

impl Cidr {
    /// # Errors
    ///
    /// The reference's message.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let bad = |why: &str| {
            Err(format!(
                "network address parse error during conversion from string: netip.ParsePrefix(\"{text}\"): {why}"
            ))
        };
        let Some((address, bits)) = text.rsplit_once('/') else {
            return bad("no '/'");
        };
        if address.contains('%') {
            return bad("IPv6 zones cannot be present in a prefix");
        }
        let Ok(address) = address.parse::<IpAddr>() else {
            return bad(&format!("ParseAddr(\"{address}\"): unable to parse IP"));
        };
        let starts_well = bits.len() <= 1 || !bits.starts_with(['0', '+', '-']);
        let Some(length) = bits.parse::<u8>().ok().filter(|_| starts_well && !bits.starts_with('+')) else {
            return bad(&format!("bad bits after slash: \"{bits}\""));
        };
        if length > Ip(address).number().1 {
            return bad("prefix length out of range");
        }
        if is_mapped(address) {
            return Err(format!("IPv4-mapped IPv6 address \"{text}\" is not allowed"));
        }
        Ok(Self { address: Ip(address), bits: length })
    }

    pub(super) fn address(self) -> Ip {
        self.address
    }

    pub(super) fn prefix_length(self) -> u8 {
        self.bits
    }

    /// The network itself: the host part zero.
    pub(super) fn masked(self) -> Self {
        let (number, width) = self.address.number();
        let host_bits = u32::from(width.saturating_sub(self.bits));
        let kept = number.checked_shr(host_bits).and_then(|kept| kept.checked_shl(host_bits)).unwrap_or(0);
        let address = match self.address.0 {
            IpAddr::V4(_) => IpAddr::V4(u32::try_from(kept).unwrap_or(0).into()),
            IpAddr::V6(_) => IpAddr::V6(kept.into()),
        };
        Self { address: Ip(address), bits: self.bits }
    }

    pub(super) fn contains(self, ip: Ip) -> bool {
        let (_, width) = self.address.number();
        width == ip.number().1 && Self { address: ip, bits: self.bits }.masked() == self.masked()
    }

    pub(super) fn contains_network(self, inner: &Self) -> bool {
        self.bits <= inner.bits && self.contains(inner.address)
    }
}

impl fmt::Display for Ip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.bits)
    }
}

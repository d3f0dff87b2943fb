//! Which addresses are not public.
//!
//! Sources: the IANA special-purpose address registries for IPv4 and IPv6 (RFC 6890 and its updates). Of IPv6
//! only the global unicast space that is handed out (2000::/3) counts as public, so that what is given a meaning
//! tomorrow is refused today. Addresses that carry an IPv4 address inside are refused whatever that address is:
//! where they lead depends on the network, not on us.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why a connection to this address is refused; `None` when the address is public.
///
/// The answer is a short name of the range, made to stand in brackets in a sentence.
pub fn refusal(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(v4) => V4.iter().find(|range| range.contains(v4)).map(|range| range.kind),
        IpAddr::V6(v6) => {
            let known = V6.iter().find(|range| range.contains(v6)).map(|range| range.kind);
            known.or_else(|| (!GLOBAL_UNICAST.contains(v6)).then_some("reserved"))
        }
    }
}

struct RangeV4 {
    network: Ipv4Addr,
    bits: u32,
    kind: &'static str,
}

impl RangeV4 {
    const fn new(network: [u8; 4], bits: u32, kind: &'static str) -> Self {
        let [a, b, c, d] = network;
        Self { network: Ipv4Addr::new(a, b, c, d), bits, kind }
    }

    fn contains(&self, address: Ipv4Addr) -> bool {
        let mask = u32::MAX.checked_shl(32 - self.bits).unwrap_or(0);
        address.to_bits() & mask == self.network.to_bits()
    }
}

struct RangeV6 {
    network: Ipv6Addr,
    bits: u32,
    kind: &'static str,
}

impl RangeV6 {
    const fn new(network: [u16; 8], bits: u32, kind: &'static str) -> Self {
        let [a, b, c, d, e, f, g, h] = network;
        Self { network: Ipv6Addr::new(a, b, c, d, e, f, g, h), bits, kind }
    }

    fn contains(&self, address: Ipv6Addr) -> bool {
        let mask = u128::MAX.checked_shl(128 - self.bits).unwrap_or(0);
        address.to_bits() & mask == self.network.to_bits()
    }
}

/// The first range that holds the address names it, so a narrow range stands before the wide one around it.
const V4: &[RangeV4] = &[
    RangeV4::new([0, 0, 0, 0], 32, "unspecified"),
    RangeV4::new([0, 0, 0, 0], 8, "this network"),
    RangeV4::new([10, 0, 0, 0], 8, "private"),
    RangeV4::new([100, 64, 0, 0], 10, "carrier-grade NAT"),
    RangeV4::new([127, 0, 0, 0], 8, "loopback"),
    // Azure's platform service: a public number that answers inside of the machine's own host.
    RangeV4::new([168, 63, 129, 16], 32, "cloud platform service"),
    RangeV4::new([169, 254, 0, 0], 16, "link-local"),
    RangeV4::new([172, 16, 0, 0], 12, "private"),
    RangeV4::new([192, 0, 0, 0], 24, "reserved"),
    RangeV4::new([192, 0, 2, 0], 24, "documentation"),
    RangeV4::new([192, 88, 99, 0], 24, "6to4 relay"),
    RangeV4::new([192, 168, 0, 0], 16, "private"),
    RangeV4::new([198, 18, 0, 0], 15, "benchmark"),
    RangeV4::new([198, 51, 100, 0], 24, "documentation"),
    RangeV4::new([203, 0, 113, 0], 24, "documentation"),
    RangeV4::new([224, 0, 0, 0], 4, "multicast"),
    RangeV4::new([255, 255, 255, 255], 32, "broadcast"),
    RangeV4::new([240, 0, 0, 0], 4, "reserved"),
];

const V6: &[RangeV6] = &[
    RangeV6::new([0, 0, 0, 0, 0, 0, 0, 0], 128, "unspecified"),
    RangeV6::new([0, 0, 0, 0, 0, 0, 0, 1], 128, "loopback"),
    RangeV6::new([0, 0, 0, 0, 0, 0xffff, 0, 0], 96, "IPv4-mapped"),
    RangeV6::new([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, "IPv4-translated"),
    RangeV6::new([0, 0, 0, 0, 0, 0, 0, 0], 96, "IPv4-compatible"),
    RangeV6::new([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96, "NAT64"),
    RangeV6::new([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, "NAT64"),
    RangeV6::new([0x100, 0, 0, 0, 0, 0, 0, 0], 64, "discard"),
    RangeV6::new([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, "Teredo"),
    RangeV6::new([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, "benchmark"),
    RangeV6::new([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, "reserved"),
    RangeV6::new([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, "documentation"),
    RangeV6::new([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, "6to4"),
    RangeV6::new([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, "documentation"),
    RangeV6::new([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, "unique local"),
    RangeV6::new([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, "link-local"),
    RangeV6::new([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, "site-local"),
    RangeV6::new([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, "multicast"),
];

const GLOBAL_UNICAST: RangeV6 = RangeV6::new([0x2000, 0, 0, 0, 0, 0, 0, 0], 3, "global unicast");

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last address of each refused range, and its neighbours where those are public.
    const REFUSED: &[(&str, &str)] = &[
        ("0.0.0.0", "unspecified"),
        ("0.0.0.1", "this network"),
        ("0.255.255.255", "this network"),
        ("10.0.0.0", "private"),
        ("10.255.255.255", "private"),
        ("100.64.0.0", "carrier-grade NAT"),
        ("100.100.100.200", "carrier-grade NAT"),
        ("100.127.255.255", "carrier-grade NAT"),
        ("127.0.0.0", "loopback"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.255", "loopback"),
        ("168.63.129.16", "cloud platform service"),
        ("169.254.0.0", "link-local"),
        ("169.254.169.254", "link-local"),
        ("169.254.255.255", "link-local"),
        ("172.16.0.0", "private"),
        ("172.31.255.255", "private"),
        ("192.0.0.0", "reserved"),
        ("192.0.0.192", "reserved"),
        ("192.0.0.255", "reserved"),
        ("192.0.2.0", "documentation"),
        ("192.0.2.255", "documentation"),
        ("192.88.99.0", "6to4 relay"),
        ("192.88.99.255", "6to4 relay"),
        ("192.168.0.0", "private"),
        ("192.168.255.255", "private"),
        ("198.18.0.0", "benchmark"),
        ("198.19.255.255", "benchmark"),
        ("198.51.100.0", "documentation"),
        ("198.51.100.255", "documentation"),
        ("203.0.113.0", "documentation"),
        ("203.0.113.255", "documentation"),
        ("224.0.0.0", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.0", "reserved"),
        ("255.255.255.254", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::2", "IPv4-compatible"),
        ("::8.8.8.8", "IPv4-compatible"),
        ("::ffff:ffff", "IPv4-compatible"),
        ("::ffff:0.0.0.0", "IPv4-mapped"),
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("::ffff:127.0.0.1", "IPv4-mapped"),
        ("::ffff:255.255.255.255", "IPv4-mapped"),
        ("::ffff:0:8.8.8.8", "IPv4-translated"),
        ("0:0:0:1::", "reserved"),
        ("64:ff9b::", "NAT64"),
        ("64:ff9b::169.254.169.254", "NAT64"),
        ("64:ff9b::ffff:ffff", "NAT64"),
        ("64:ff9b::1:0:0", "reserved"),
        ("64:ff9b:1::", "NAT64"),
        ("64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "NAT64"),
        ("64:ff9b:2::", "reserved"),
        ("100::", "discard"),
        ("100::ffff:ffff:ffff:ffff", "discard"),
        ("100:0:0:1::", "reserved"),
        ("1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"),
        ("2001::", "Teredo"),
        ("2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"),
        ("2001:1::1", "reserved"),
        ("2001:2::", "benchmark"),
        ("2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmark"),
        ("2001:10::", "reserved"),
        ("2001:20::", "reserved"),
        ("2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"),
        ("2001:db8::", "documentation"),
        ("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
        ("2002::", "6to4"),
        ("2002:808:808::", "6to4"),
        ("2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4"),
        ("3fff::", "documentation"),
        ("3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"),
        ("4000::", "reserved"),
        ("5f00::1", "reserved"),
        ("fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"),
        ("fc00::", "unique local"),
        ("fd00:ec2::254", "unique local"),
        ("fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "unique local"),
        ("fe00::", "reserved"),
        ("fe80::", "link-local"),
        ("febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"),
        ("fec0::", "site-local"),
        ("feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local"),
        ("ff00::", "multicast"),
        ("ff02::1", "multicast"),
        ("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"),
    ];

    const PUBLIC: &[&str] = &[
        "1.0.0.0",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "2000::",
        "2001:200::",
        "2001:4860:4860::8888",
        "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db9::",
        "2003::",
        "2606:4700:4700::1111",
        "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::",
        "3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ];

    #[test]
    fn every_range_is_refused_by_name_from_its_first_to_its_last_address() {
        for (address, kind) in REFUSED {
            assert_eq!(refusal(address.parse().unwrap()), Some(*kind), "{address}");
        }
    }

    #[test]
    fn the_neighbours_of_every_range_are_public() {
        for address in PUBLIC {
            assert_eq!(refusal(address.parse().unwrap()), None, "{address}");
        }
    }

    #[test]
    fn a_range_is_written_with_its_first_address() {
        for range in V4 {
            assert!(range.contains(range.network), "{}/{}", range.network, range.bits);
        }
        for range in V6 {
            assert!(range.contains(range.network), "{}/{}", range.network, range.bits);
        }
    }
}

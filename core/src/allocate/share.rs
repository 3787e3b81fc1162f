//! Share ids that are the same on every run.

use std::fmt::Write as _;

use crate::api::claim::ResourceClaim;

/// The id of one share: a UUID made from the claim it is given to, the claim's position in the question, and the
/// share's position among the claim's results.
///
/// The claim is known by its UID, or by namespace and name where it has none yet. Version 8 of RFC 9562, "custom".
pub(super) fn id(claim: &ResourceClaim, position: usize, request: &str, ordinal: usize) -> String {
    let metadata = &claim.metadata;
    let mut seed = String::new();
    // The separator occurs in none of the parts, so different parts never give the same text.
    let owner =
        if metadata.uid.is_empty() { [&metadata.namespace, &metadata.name] } else { [&metadata.uid, &metadata.uid] };
    let [first, second] = owner;
    // Writing to a string cannot fail.
    let _ = write!(seed, "{first}\n{second}\n{position}\n{request}\n{ordinal}");
    let bits = (u128::from(hash(&seed, 0)) << 64) | u128::from(hash(&seed, 1));
    let bits = (bits & !(0xf << 76)) | (0x8 << 76);
    let bits = (bits & !(0x3 << 62)) | (0x2 << 62);
    let text = format!("{bits:032x}");
    let part = |start: usize, end: usize| text.get(start..end).unwrap_or_default();
    format!("{}-{}-{}-{}-{}", part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32))
}

/// FNV-1a over the text, with a last mixing so that near texts differ in all bits.
fn hash(text: &str, salt: u64) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64 ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let sum = text.bytes().fold(start, |sum, byte| (sum ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let sum = (sum ^ (sum >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let sum = (sum ^ (sum >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    sum ^ (sum >> 33)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_the_shape_of_a_uuid_and_depends_on_every_part() {
        let mut claim = ResourceClaim::default();
        claim.metadata.name = "training".to_owned();
        let ids = [id(&claim, 0, "nic", 0), id(&claim, 1, "nic", 0), id(&claim, 0, "nic", 1), id(&claim, 0, "gpu", 0)];
        for (index, text) in ids.iter().enumerate() {
            assert_eq!(text.len(), 36);
            assert_eq!(text.as_bytes()[14], b'8');
            assert!(matches!(text.as_bytes()[19], b'8' | b'9' | b'a' | b'b'));
            assert!(!ids[..index].contains(text));
        }
        assert_eq!(ids[0], id(&claim, 0, "nic", 0));
    }
}

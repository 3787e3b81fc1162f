//! Names and ids that look like Kubernetes' random ones, derived from what they belong to.
//!
//! The same object gets the same name and the same id in every run, so runs can be compared and repeated.

use crate::api::meta::ObjectMeta;
use crate::api::object::Object;

/// Letters and digits of generated suffixes: no vowels and nothing that looks alike.
const ALPHABET: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Longest name that `generateName` makes, and the part of it that may come from the prefix.
const MAX_NAME: usize = 63;
const SUFFIX: usize = 5;

/// The UUID of an object, from its kind, namespace and name.
pub(crate) fn uid(kind: &str, namespace: &str, name: &str) -> String {
    uuid(digest(&[kind, namespace, name]))
}

/// Whether a UID was given by a real API server, not derived here: those are of another version of UUIDs.
pub(crate) fn is_foreign(uid: &str) -> bool {
    !uid.is_empty() && uid.get(14..15) != Some("8")
}

/// The UUID that an object has, or the one that it gets in a run.
pub(crate) fn uid_of(kind: &str, metadata: &ObjectMeta) -> String {
    match metadata.uid.as_str() {
        "" => uid(kind, &metadata.namespace, &metadata.name),
        known => known.to_owned(),
    }
}

/// The id of one share of a device that several claims may hold: a UUID made from the claim it is given to, the claim's
/// position in the question, the request, and the share's position among the claim's results.
///
/// The claim is known by its UID, or by namespace and name where it has none yet.
pub(crate) fn share_id(claim: &ObjectMeta, position: usize, request: &str, ordinal: usize) -> String {
    let (mut first, mut second) = ([0; 20], [0; 20]);
    let (position, ordinal) = (digits(position, &mut first), digits(ordinal, &mut second));
    uuid(match claim.uid.as_str() {
        "" => digest_by_words(&["share", &claim.namespace, &claim.name, position, request, ordinal]),
        owner => digest_by_words(&["share", owner, position, request, ordinal]),
    })
}

/// A UUID made of a digest: version 8 of RFC 9562 ("custom") with the usual variant, so that readers accept it.
fn uuid(digest: u128) -> String {
    let bits = digest & !(0xf << 76) & !(0b11 << 62) | (8 << 76) | (0b10 << 62);
    let mut digits = [[0; 8]; 4];
    for (place, shift) in digits.iter_mut().zip([96, 64, 32, 0]) {
        #[expect(clippy::cast_possible_truncation, reason = "one of the four parts")]
        let part = (bits >> shift) as u32;
        *place = hex(part);
    }
    let digits = digits.as_flattened();
    let mut text = [b'-'; 36];
    for (to, from) in [(0..8, 0..8), (9..13, 8..12), (14..18, 12..16), (19..23, 16..20), (24..36, 20..32)] {
        if let (Some(to), Some(from)) = (text.get_mut(to), digits.get(from)) {
            to.copy_from_slice(from);
        }
    }
    str::from_utf8(&text).unwrap_or_default().to_owned()
}

/// The eight hexadecimal digits of a word, all at once: one per byte of a longer word.
fn hex(word: u32) -> [u8; 8] {
    let mut digits = u64::from(word);
    for (shift, mask) in [(16, 0x0000_ffff_0000_ffff), (8, 0x00ff_00ff_00ff_00ff), (4, 0x0f0f_0f0f_0f0f_0f0f)] {
        digits = (digits | digits << shift) & mask;
    }
    // In each byte: 1 where the digit is a letter.
    let letters = (digits + 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101;
    (digits + 0x3030_3030_3030_3030 + letters * u64::from(b'a' - b'0' - 10)).to_be_bytes()
}

/// A number in decimal, in the room given.
fn digits(mut number: usize, room: &mut [u8; 20]) -> &str {
    let mut start = room.len();
    for place in room.iter_mut().rev() {
        *place = b"0123456789".get(number % 10).copied().unwrap_or_default();
        number /= 10;
        start -= 1;
        if number == 0 {
            break;
        }
    }
    str::from_utf8(room.get(start..).unwrap_or_default()).unwrap_or_default()
}

/// A name made of a prefix and five letters derived from what it belongs to, as the API server does for
/// `generateName`: prefixes longer than 58 bytes are cut.
pub(crate) fn generated_name(prefix: &str, belongs_to: &[&str]) -> String {
    format!("{}{}", cut(prefix, MAX_NAME - SUFFIX), letters(SUFFIX, belongs_to))
}

/// The first of the names made of a prefix and of letters that nobody has; with so many letters one is found soon.
pub(crate) fn free_name(prefix: &str, belongs_to: &[&str], mut is_taken: impl FnMut(&str) -> bool) -> String {
    let name = |attempt: u16| generated_name(prefix, &[belongs_to, &[&attempt.to_string()]].concat());
    (0..u16::MAX).map(name).find(|name| !is_taken(name)).unwrap_or_default()
}

/// Letters as in generated names.
pub(crate) fn letters(count: usize, belongs_to: &[&str]) -> String {
    let mut left = digest(belongs_to);
    let mut text = String::with_capacity(count);
    for _ in 0..count {
        let index = usize::try_from(left % ALPHABET.len() as u128).unwrap_or_default();
        text.push(char::from(ALPHABET.get(index).copied().unwrap_or(b'x')));
        left /= ALPHABET.len() as u128;
    }
    text
}

/// The prefix of a generated claim's name: owner and entry, both shortened in proportion where together they are too
/// long.
///
/// DIFFERENCE: a part cut after a dot or hyphen loses that, too. The reference keeps it, and the API server then refuses
/// the name for ever.
pub(crate) fn claim_prefix(owner: &str, entry: &str) -> String {
    const ROOM: usize = MAX_NAME - SUFFIX - 1;
    let length = owner.len() + entry.len() + 2;
    if length <= ROOM {
        return format!("{owner}-{entry}-");
    }
    let part = |text: &str| {
        let short = cut(text, text.len() * ROOM / length);
        short.trim_end_matches(['-', '.']).to_owned()
    };
    format!("{}-{}", part(owner), part(entry))
}

/// The same as the reference makes it, which may be no valid name.
pub(crate) fn claim_prefix_of_reference(owner: &str, entry: &str) -> String {
    const ROOM: usize = MAX_NAME - SUFFIX - 1;
    let length = owner.len() + entry.len() + 2;
    if length <= ROOM {
        return format!("{owner}-{entry}-");
    }
    let part = |text: &str| cut(text, text.len() * ROOM / length).to_owned();
    format!("{}-{}", part(owner), part(entry))
}

/// At most `length` bytes of a text, cut between characters.
pub(crate) fn cut(text: &str, length: usize) -> &str {
    let mut end = length.min(text.len());
    while !text.is_char_boundary(end) {
        end = end.saturating_sub(1);
    }
    text.get(..end).unwrap_or_default()
}

/// FNV-1a over 128 bits, each part ended by a byte that text cannot hold, and mixed once more at the end so that
/// inputs that differ only in their last byte differ everywhere.
fn digest(parts: &[&str]) -> u128 {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for part in parts {
        for byte in part.bytes().chain([0xff]) {
            hash = times_prime(hash ^ u128::from(byte));
        }
    }
    hash = times_prime(hash ^ (hash >> 64));
    hash ^ (hash >> 61)
}

/// Another digest, for ids of which there are thousands at once: eight bytes at a time into two words of 64 bits, each part ended by its
/// length. One part that differs in one place makes both words differ, as every step can be undone.
fn digest_by_words(parts: &[&str]) -> u128 {
    const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let (mut first, mut second) = (FACTORS[1], FACTORS[0]);
    let mut take = |word: u64| {
        first = (first ^ word).wrapping_mul(FACTORS[0]).rotate_left(29);
        second = (second ^ word.rotate_left(32)).wrapping_mul(FACTORS[1]).rotate_left(31);
    };
    for part in parts {
        let (words, rest) = part.as_bytes().as_chunks();
        words.iter().for_each(|word| take(u64::from_le_bytes(*word)));
        take(rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        take(part.len() as u64);
    }
    let mix = |word: u64| {
        let word = (word ^ (word >> 32)).wrapping_mul(FACTORS[1]);
        word ^ (word >> 29)
    };
    let (first, second) = (mix(first.wrapping_add(second)), mix(second));
    u128::from(first) << 64 | u128::from(second)
}

/// A hash times the prime of FNV, `2^88 + 0x13b`, in words of 64 bits: WebAssembly has no larger products.
fn times_prime(hash: u128) -> u128 {
    const LOW: u64 = 0x13b;
    const HALF: u64 = 0xffff_ffff;
    #[expect(clippy::cast_possible_truncation, reason = "the halves are taken on purpose")]
    let (low, high) = (hash as u64, (hash >> 64) as u64);
    // Neither overflows: a half times a number below 2^9.
    let first = (low & HALF).wrapping_mul(LOW);
    let second = (low >> 32).wrapping_mul(LOW).wrapping_add(first >> 32);
    let high = high.wrapping_mul(LOW).wrapping_add(second >> 32).wrapping_add(low << 24);
    u128::from(high) << 64 | u128::from(second << 32 | first & HALF)
}

/// Gives an object without a name the one that follows from its prefix and from how many such objects came before it.
pub(crate) fn give_name(object: &mut Object, number: u64) {
    let (kind, metadata) = (object.kind().to_owned(), object.metadata_mut());
    let belongs_to = [kind.as_str(), &metadata.namespace, &metadata.generate_name, &number.to_string()];
    metadata.name = generated_name(&metadata.generate_name, &belongs_to);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_look_like_those_of_kubernetes() {
        let name = generated_name("inference-gpu-", &["uid", "gpu"]);
        assert_eq!(name.len(), "inference-gpu-".len() + 5);
        assert!(name.strip_prefix("inference-gpu-").unwrap().bytes().all(|byte| ALPHABET.contains(&byte)));
        assert_eq!(name, generated_name("inference-gpu-", &["uid", "gpu"]));
        assert_ne!(name, generated_name("inference-gpu-", &["uid", "nic"]));
        assert_ne!(letters(5, &["ab", "c"]), letters(5, &["a", "bc"]));
    }

    #[test]
    fn the_product_is_that_of_128_bits() {
        for hash in [0, 1, u128::MAX, 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d, u128::MAX / 7, 1 << 127, 1 << 64] {
            assert_eq!(times_prime(hash), hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b));
        }
    }

    #[test]
    fn digits_are_those_of_format() {
        for word in
            [0, 1, u32::MAX, 0x0123_4567, 0x89ab_cdef, 0xf0a9_9a0f].into_iter().chain((0..32).map(|bit| 1 << bit))
        {
            assert_eq!(str::from_utf8(&hex(word)), Ok(format!("{word:08x}").as_str()));
        }
    }

    #[test]
    fn ids_are_valid_uuids() {
        let id = uid("Pod", "ml", "training");
        assert_eq!(id.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        let bytes = id.as_bytes();
        assert_eq!(bytes[14], b'8');
        assert!(matches!(bytes[19], b'8' | b'9' | b'a' | b'b'));
    }

    #[test]
    fn many_share_ids_are_all_different() {
        let mut ids = std::collections::BTreeSet::new();
        for number in 0..20_000 {
            let claim = ObjectMeta { name: format!("claim-{number}"), ..ObjectMeta::default() };
            ids.extend((0..5).map(|ordinal| share_id(&claim, 0, "nic", ordinal)));
        }
        assert_eq!(ids.len(), 100_000);
        // Half of all digits change with the last letter of a name.
        let id = |name: &str| digest_by_words(&["share", "default", name]);
        let changed: u32 =
            (0..1000).map(|number| (id(&format!("a{number}")) ^ id(&format!("b{number}"))).count_ones()).sum();
        assert!((60_000..68_000).contains(&changed), "{changed} of 128,000");
    }

    #[test]
    fn a_share_id_depends_on_every_part() {
        let claim = ObjectMeta { name: "training".to_owned(), ..ObjectMeta::default() };
        let known = ObjectMeta { uid: "training".to_owned(), ..claim.clone() };
        let ids = [
            share_id(&claim, 0, "nic", 0),
            share_id(&claim, 1, "nic", 0),
            share_id(&claim, 0, "nic", 1),
            share_id(&claim, 0, "gpu", 0),
            share_id(&known, 0, "nic", 0),
        ];
        for (index, text) in ids.iter().enumerate() {
            assert!(!ids[..index].contains(text));
        }
        assert_eq!(ids[0], share_id(&claim, 0, "nic", 0));
    }

    #[test]
    fn long_claim_names_are_shortened_in_proportion() {
        assert_eq!(claim_prefix("pod", "gpu"), "pod-gpu-");
        let prefix = claim_prefix(&"p".repeat(60), &"c".repeat(20));
        // 60*57/82 = 41 and 20*57/82 = 13, without the hyphen at the end.
        assert_eq!(prefix, format!("{}-{}", "p".repeat(41), "c".repeat(13)));
        assert!(generated_name(&prefix, &["u"]).len() <= 63);
    }

    #[test]
    fn a_claim_name_is_not_cut_after_a_dot() {
        let prefix = claim_prefix(&format!("{}.{}", "a".repeat(40), "b".repeat(20)), &"c".repeat(20));
        assert!(!prefix.contains(".-"), "{prefix}");
    }

    #[test]
    fn text_is_cut_between_characters() {
        assert_eq!(cut("aäb", 2), "a");
        assert_eq!(cut("abc", 9), "abc");
    }
}

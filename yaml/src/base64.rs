//! Base64 with padding, for `!!binary`.

/// The bytes that `text` stands for; line breaks are skipped. `None` when it is not base64.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\n' | b'\r')).collect();
    if !digits.len().is_multiple_of(4) {
        return None;
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    let last = (digits.len() / 4).saturating_sub(1);
    for (group_idx, group) in digits.chunks_exact(4).enumerate() {
        let padding = group.iter().rev().take_while(|digit| **digit == b'=').count();
        if padding > 2 || (padding > 0 && group_idx != last) {
            return None;
        }
        let mut bits = 0u32;
        for digit in group.iter().take(4 - padding) {
            bits = (bits << 6) | value(*digit)?;
        }
        bits <<= 6 * padding;
        let [_, first, second, third] = bits.to_be_bytes();
        bytes.extend([first, second, third].iter().take(3 - padding));
    }
    Some(bytes)
}

fn value(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn base64_is_decoded_with_padding() {
        for (text, bytes) in
            [("", ""), ("aA==", "h"), ("aGk=", "hi"), ("aGkh", "hi!"), ("aGk\nhaGk=", "hi!hi"), ("+/+/", "\u{0}")]
        {
            let decoded = decode(text);
            if text == "+/+/" {
                assert_eq!(decoded, Some(vec![0xfb, 0xff, 0xbf]));
            } else {
                assert_eq!(decoded, Some(bytes.as_bytes().to_vec()), "{text}");
            }
        }
        for text in ["a", "aG=k", "====", "a===", "aGk=aGk=", "a b="] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}

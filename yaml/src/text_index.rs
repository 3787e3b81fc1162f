//! Byte offsets as lines and columns, or as UTF-16 offsets for JavaScript.

use std::ops::Range;

/// A place for people: both count from one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LineColumn {
    /// The line, counted from one. Lines end with `\n`.
    pub line: usize,
    /// The column in characters (Unicode scalar values), counted from one.
    pub column: usize,
}

/// Translates byte offsets of one text. Making it costs one pass; asking costs about a thousand bytes at most.
#[derive(Clone, Debug)]
pub struct TextIndex<T> {
    text: T,
    /// Byte offsets of the lines' first bytes.
    line_starts: Vec<usize>,
    /// Characters and UTF-16 units before every multiple of [`STRIDE`] bytes.
    before: Vec<Counts>,
}

const STRIDE: usize = 1024;

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    characters: usize,
    utf16: usize,
}

impl Counts {
    /// Counts the first byte of each character only, so any bytes are counted without error.
    fn add(&mut self, byte: u8) {
        if byte & 0xC0 != 0x80 {
            self.characters += 1;
            self.utf16 += if byte >= 0xF0 { 2 } else { 1 };
        }
    }
}

impl<T: AsRef<[u8]>> TextIndex<T> {
    /// An index of `text`, which may be owned, shared or borrowed.
    pub fn new(text: T) -> Self {
        let bytes = text.as_ref();
        // Counting takes less time than room that grows.
        let mut line_starts = Vec::with_capacity(bytes.iter().filter(|byte| **byte == b'\n').count() + 1);
        line_starts.push(0);
        let mut before = Vec::with_capacity(bytes.len() / STRIDE + 1);
        let mut counts = Counts::default();
        for (offset, byte) in bytes.iter().enumerate() {
            if offset % STRIDE == 0 {
                before.push(counts);
            }
            counts.add(*byte);
            if *byte == b'\n' {
                line_starts.push(offset + 1);
            }
        }
        Self { text, line_starts, before }
    }

    /// Line and column of a byte offset. An offset beyond the text counts as its end.
    pub fn line_column(&self, byte: usize) -> LineColumn {
        let byte = byte.min(self.text.as_ref().len());
        let line = self.line_starts.partition_point(|start| *start <= byte);
        let start = self.line_starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        // Of a short line its own characters are fewer than those since the last stride.
        let characters = match byte - start {
            0..STRIDE => {
                let mut counts = Counts::default();
                self.text.as_ref().get(start..byte).unwrap_or_default().iter().for_each(|byte| counts.add(*byte));
                counts.characters
            }
            _ => self.counts(byte).characters.saturating_sub(self.counts(start).characters),
        };
        LineColumn { line, column: characters + 1 }
    }

    /// UTF-16 units before a byte offset. An offset beyond the text counts as its end.
    pub fn utf16_offset(&self, byte: usize) -> usize {
        self.counts(byte.min(self.text.as_ref().len())).utf16
    }

    /// The UTF-16 range of a byte range.
    pub fn utf16_range(&self, bytes: Range<usize>) -> Range<usize> {
        self.utf16_offset(bytes.start)..self.utf16_offset(bytes.end)
    }

    fn counts(&self, byte: usize) -> Counts {
        // At a multiple of the stride behind the last byte there is no entry; the one before it serves.
        let stride = (byte / STRIDE).min(self.before.len().saturating_sub(1));
        let mut counts = self.before.get(stride).copied().unwrap_or_default();
        for byte in self.text.as_ref().get(stride * STRIDE..byte).unwrap_or_default() {
            counts.add(*byte);
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_translated_across_wide_characters() {
        let text = "a: ä\nb: 😀x\n";
        let index = TextIndex::new(text.as_bytes());
        let at = |needle: &str| text.find(needle).unwrap();
        assert_eq!(index.line_column(0), LineColumn { line: 1, column: 1 });
        assert_eq!(index.line_column(at("b:")), LineColumn { line: 2, column: 1 });
        assert_eq!(index.line_column(at("x")), LineColumn { line: 2, column: 5 });
        assert_eq!(index.utf16_range(at("😀")..at("x")), 8..10);
        assert_eq!(index.utf16_offset(999), text.encode_utf16().count());
        assert_eq!(index.line_column(999), LineColumn { line: 3, column: 1 });
    }

    #[test]
    fn every_offset_of_a_long_text_agrees_with_counting() {
        let text = "äö😀-\n".repeat(700);
        let index = TextIndex::new(text.as_bytes());
        for (offset, _) in text.char_indices() {
            let before = text.get(..offset).unwrap();
            assert_eq!(index.utf16_offset(offset), before.encode_utf16().count());
            let column = before.rsplit('\n').next().unwrap().chars().count() + 1;
            assert_eq!(index.line_column(offset), LineColumn { line: before.matches('\n').count() + 1, column });
        }
    }

    #[test]
    fn text_that_ends_on_a_stride_and_empty_text_have_an_end() {
        let text = vec![b'x'; STRIDE * 2];
        assert_eq!(TextIndex::new(&text).utf16_offset(STRIDE * 2), STRIDE * 2);
        assert_eq!(TextIndex::new([]).line_column(5), LineColumn { line: 1, column: 1 });
    }
}

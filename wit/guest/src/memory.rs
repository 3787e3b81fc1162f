//! Bytes compared eight at a time.
//!
//! The compiler calls these two for every comparison of texts, and those that it brings for WebAssembly itself go byte by byte. Keys are
//! texts, so a question is mostly such comparisons.

/// The first byte at which two words differ, as the sign of a comparison.
fn sign(a: u64, b: u64) -> i32 {
    // The first byte in memory is the lowest one.
    let shift = (a ^ b).trailing_zeros() & !7;
    let byte = |word: u64| i32::from((word >> shift) as u8);
    byte(a) - byte(b)
}

/// C's `memcmp`.
///
/// # Safety
///
/// Both pointers must be readable for `count` bytes.
#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    let mut at = 0;
    while count - at >= 8 {
        // SAFETY: eight bytes from `at` on are below `count`.
        let (x, y) = unsafe { (a.add(at).cast::<u64>().read_unaligned(), b.add(at).cast::<u64>().read_unaligned()) };
        if x != y {
            return sign(x, y);
        }
        at += 8;
    }
    if count - at >= 4 {
        // SAFETY: four bytes from `at` on are below `count`.
        let (x, y) = unsafe { (a.add(at).cast::<u32>().read_unaligned(), b.add(at).cast::<u32>().read_unaligned()) };
        if x != y {
            return sign(u64::from(x), u64::from(y));
        }
        at += 4;
    }
    while at < count {
        // SAFETY: `at` is below `count`.
        let (x, y) = unsafe { (a.add(at).read(), b.add(at).read()) };
        if x != y {
            return i32::from(x) - i32::from(y);
        }
        at += 1;
    }
    0
}

/// C's `bcmp`: zero for equal bytes.
///
/// # Safety
///
/// As for `memcmp`.
#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, count: usize) -> i32 {
    // SAFETY: passed on.
    unsafe { memcmp(a, b, count) }
}

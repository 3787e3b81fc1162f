//! Small pieces of memory, kept in lists by size.
//!
//! A question takes some hundred small pieces and gives them back. Rust's own allocator for WebAssembly looks for the best hole each
//! time, and is most of what such a question costs; here a piece goes back to the list that it came from. Larger ones are Rust's.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::UnsafeCell;
use std::ptr;

/// Sizes differ by this, and every piece begins at a multiple of it.
const STEP: usize = 16;

/// The largest piece of a list.
const LARGEST: usize = 512;

/// What is taken at once to be cut into pieces.
const SPAN: usize = 1 << 14;

#[global_allocator]
static PIECES: Pieces =
    Pieces(UnsafeCell::new(Lists { free: [ptr::null_mut(); LARGEST / STEP], next: ptr::null_mut(), left: 0 }));

struct Pieces(UnsafeCell<Lists>);

// SAFETY: the component has one thread.
unsafe impl Sync for Pieces {}

struct Lists {
    /// By size: the first free piece, which holds the address of the next.
    free: [*mut Free; LARGEST / STEP],
    /// What is not cut yet of the latest span, and how much it is.
    next: *mut u8,
    left: usize,
}

struct Free(*mut Free);

/// The list of a size; `None` for what is not kept in lists.
fn list_of(layout: Layout) -> Option<usize> {
    (layout.size() <= LARGEST && layout.align() <= STEP).then(|| layout.size().saturating_sub(1) / STEP)
}

impl Lists {
    /// A piece for a list that has none.
    #[cold]
    #[inline(never)]
    fn cut(&mut self, list: usize) -> *mut u8 {
        let size = (list + 1) * STEP;
        if self.left < size {
            // What is left of the span before is less than a piece of this size, and lost.
            let Ok(span) = Layout::from_size_align(SPAN, STEP) else { return ptr::null_mut() };
            // SAFETY: the span has a size.
            let start = unsafe { System.alloc(span) };
            if start.is_null() {
                return start;
            }
            (self.next, self.left) = (start, SPAN);
        }
        let piece = self.next;
        // SAFETY: at least `size` bytes of the span are left.
        self.next = unsafe { piece.add(size) };
        self.left -= size;
        piece
    }
}

// SAFETY: a piece is in its list, or in the hands of whoever asked for it, and never in both. Pieces of one list are as large as their
// largest layout, and begin at multiples of `STEP`, as spans do.
unsafe impl GlobalAlloc for Pieces {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(list) = list_of(layout) else {
            // SAFETY: passed on.
            return unsafe { System.alloc(layout) };
        };
        // SAFETY: one thread, and nothing below allocates from these lists.
        let lists = unsafe { &mut *self.0.get() };
        match lists.free.get_mut(list) {
            Some(first) if !first.is_null() => {
                let piece = *first;
                // SAFETY: a free piece holds the address of the next.
                *first = unsafe { (*piece).0 };
                piece.cast()
            }
            _ => lists.cut(list),
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        let Some(list) = list_of(layout) else {
            // SAFETY: passed on; it came from there.
            return unsafe { System.dealloc(piece, layout) };
        };
        // SAFETY: as in `alloc`.
        let lists = unsafe { &mut *self.0.get() };
        if let Some(first) = lists.free.get_mut(list) {
            let piece: *mut Free = piece.cast();
            // SAFETY: the piece has at least `STEP` bytes, at a multiple of `STEP`, and nobody uses it.
            unsafe { piece.write(Free(*first)) };
            *first = piece;
        }
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller vouches for the size.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (list_of(layout), list_of(wanted)) {
            // SAFETY: passed on; it came from there.
            (None, None) => unsafe { System.realloc(piece, layout, size) },
            (before, after) if before == after => piece,
            _ => {
                // SAFETY: the new piece is another one; as much is copied as both have.
                unsafe {
                    let new = self.alloc(wanted);
                    if !new.is_null() {
                        ptr::copy_nonoverlapping(piece, new, layout.size().min(size));
                        self.dealloc(piece, layout);
                    }
                    new
                }
            }
        }
    }
}

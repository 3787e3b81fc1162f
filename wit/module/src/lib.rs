//! The plain door: core as a WebAssembly module without imports, for hosts without the component model. It translates and decides nothing.
//!
//! | export | what it does |
//! |---|---|
//! | `version() -> i32` | the version of this interface: 1 |
//! | `alloc(len) -> ptr` | a buffer for an argument; 0 where `len` is negative or the memory has no room for it |
//! | `call(op, handle, ptr, len) -> i64` | an operation on what a handle stands for; the argument is the buffer of `alloc`, which is used up. The answer's address is in the upper half, its length in the lower |
//! | `free(ptr)` | gives back an answer, or a buffer that was not used up |
//!
//! Arguments and answers are JSON, of the types of `apportion_core::wire`; [`operations`] has the operations.
//! Two calls at a time need two instances. After a trap, drop the instance. Only WebAssembly exports these names: in a native program, this
//! `free` would replace the C library's.

mod manifests;
mod operations;

use std::cell::RefCell;
use std::collections::BTreeMap;

use operations::Held;

use apportion_heap as _;

/// The version of this interface.
const VERSION: i32 = 1;

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

/// What the host holds by number.
#[derive(Default)]
struct State {
    /// Buffers of arguments and answers, by address. What is not in here is nobody's: no address is followed.
    buffers: BTreeMap<usize, Vec<u8>>,
    held: Held,
}

impl State {
    fn keep(&mut self, buffer: Vec<u8>) -> usize {
        let address = buffer.as_ptr().addr();
        self.buffers.insert(address, buffer);
        address
    }

    /// The first `len` bytes of a buffer, which is used up; nothing where it is shorter, or where there is none.
    fn take(&mut self, address: usize, len: usize) -> Option<Vec<u8>> {
        let mut buffer = self.buffers.remove(&address)?;
        let is_within = len <= buffer.len();
        buffer.truncate(len);
        is_within.then_some(buffer)
    }
}

/// The version of this interface.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "a name for the host to call"), unsafe(no_mangle))]
pub extern "C" fn version() -> i32 {
    VERSION
}

/// A buffer of so many bytes for an argument.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "a name for the host to call"), unsafe(no_mangle))]
pub extern "C" fn alloc(len: i32) -> usize {
    let Ok(len) = usize::try_from(len) else {
        return 0;
    };
    let mut buffer = Vec::new();
    // One byte more, so that every buffer has an address of its own.
    if buffer.try_reserve_exact(len.saturating_add(1)).is_err() {
        return 0;
    }
    buffer.resize(len, 0);
    STATE.with_borrow_mut(|state| state.keep(buffer))
}

/// Gives back an answer, or a buffer that was not used up. Nothing happens where there is none.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "a name for the host to call"), unsafe(no_mangle))]
pub extern "C" fn free(ptr: usize) {
    STATE.with_borrow_mut(|state| drop(state.buffers.remove(&ptr)));
}

/// Makes a call; see the head of this module.
#[cfg_attr(target_arch = "wasm32", expect(unsafe_code, reason = "a name for the host to call"), unsafe(no_mangle))]
pub extern "C" fn call(op: u32, handle: u32, ptr: usize, len: usize) -> u64 {
    STATE.with_borrow_mut(|state| {
        let argument = state.take(ptr, len);
        let mut answer = operations::call(&mut state.held, op, handle, argument).into_bytes();
        answer.reserve(1);
        let len = answer.len() as u64;
        (state.keep(answer) as u64) << 32 | len
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_is_no_longer_than_its_buffer_and_is_used_up() {
        let mut state = State::default();
        let mut buffer = |bytes: &[u8]| state.keep(bytes.to_vec());
        let [long, whole, part] = [buffer(b"abc"), buffer(b"abc"), buffer(b"abc")];
        assert_eq!(state.take(long, 4), None);
        assert_eq!(state.take(long, 3), None);
        assert_eq!(state.take(whole, 3), Some(b"abc".to_vec()));
        assert_eq!(state.take(part, 0), Some(Vec::new()));
        assert_eq!(state.take(0, 0), None);
    }

    #[test]
    fn a_negative_length_has_no_buffer() {
        assert_eq!(alloc(-1), 0);
    }
}

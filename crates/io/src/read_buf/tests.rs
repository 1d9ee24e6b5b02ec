use std::mem::MaybeUninit;

use bytes::BufMut;

use super::ReadBuf;

fn sizes(buf: &ReadBuf<'_>) -> (usize, usize, usize) {
    (buf.filled().len(), buf.initialized().len(), buf.capacity())
}

#[test]
fn bytes_are_initialized_as_they_are_filled() {
    let mut storage = [MaybeUninit::uninit(); 8];
    let mut buf = ReadBuf::uninit(&mut storage);
    assert_eq!(sizes(&buf), (0, 0, 8));
    buf.put_slice(b"ab");
    assert_eq!(sizes(&buf), (2, 2, 8));
    assert_eq!(buf.initialize_unfilled_to(2), [0, 0]);
    assert_eq!((sizes(&buf), buf.remaining()), ((2, 4, 8), 6));
    buf.initialized_mut()[3] = b'd';
    buf.advance(2);
    assert_eq!(buf.filled(), b"ab\0d");
    buf.filled_mut()[2] = b'c';
    assert_eq!(buf.filled(), b"abcd");
    assert_eq!(buf.initialize_unfilled(), [0; 4]);
    assert_eq!(sizes(&buf), (4, 8, 8));
}

#[test]
fn initialized_bytes_are_not_zeroed_again() {
    let mut storage = *b"abcd";
    let mut buf = ReadBuf::new(&mut storage);
    assert_eq!(sizes(&buf), (0, 4, 4));
    assert_eq!(buf.initialize_unfilled(), b"abcd");
    buf.set_filled(3);
    buf.clear();
    assert_eq!(sizes(&buf), (0, 4, 4));
    assert_eq!(buf.initialized(), b"abcd");

    // The same in a window made by `take`, which ends at its limit.
    buf.set_filled(1);
    let mut window = buf.take(2);
    assert_eq!(sizes(&window), (0, 2, 2));
    assert_eq!(window.initialize_unfilled(), b"bc");
    assert_eq!(buf.take(9).capacity(), 3);
}

#[test]
fn a_taken_buffer_tracks_which_bytes_are_initialized() {
    let mut storage = [MaybeUninit::uninit(); 8];
    let mut buf = ReadBuf::uninit(&mut storage);
    buf.put_slice(b"abcd");
    buf.set_filled(2);
    assert_eq!(sizes(&buf.take(1)), (0, 1, 1));
    assert_eq!(sizes(&buf.take(5)), (0, 2, 5));
}

#[test]
fn filling_a_window_fills_the_buffer() {
    let mut storage = [MaybeUninit::uninit(); 8];
    let mut buf = ReadBuf::uninit(&mut storage);
    buf.put_slice(b"ab");
    let (result, n) = buf.fill_limited(4, |window| {
        assert_eq!(window.capacity(), 4);
        window.initialize_unfilled_to(3);
        window.put_slice(b"c");
        "done"
    });
    assert_eq!((result, n), ("done", 1));
    assert_eq!(sizes(&buf), (3, 5, 8));
    assert_eq!(buf.filled(), b"abc");
}

#[test]
fn unsafe_accessors_reach_the_bytes() {
    let mut storage = [MaybeUninit::uninit(); 4];
    let mut buf = ReadBuf::uninit(&mut storage);
    buf.put_slice(b"a");
    // SAFETY: nothing is made uninitialised.
    let unfilled = unsafe { buf.unfilled_mut() };
    assert_eq!(unfilled.len(), 3);
    unfilled[0].write(b'b');
    // SAFETY: it was written above.
    unsafe { buf.assume_init(1) };
    buf.advance(1);
    assert_eq!((sizes(&buf), buf.filled()), ((2, 2, 4), &b"ab"[..]));
    // SAFETY: nothing is made uninitialised.
    assert_eq!(unsafe { buf.inner_mut() }.len(), 4);
}

#[test]
fn a_read_buf_is_a_buf_mut_of_the_bytes_crate() {
    let mut storage = [MaybeUninit::uninit(); 6];
    let mut buf = ReadBuf::uninit(&mut storage);
    buf.put_u8(b'a');
    BufMut::put_slice(&mut buf, b"bc");
    buf.put_u16(0x6465);
    assert_eq!(buf.filled(), b"abcde");
    assert_eq!((buf.remaining_mut(), buf.chunk_mut().len()), (1, 1));
}

#[test]
#[should_panic(expected = "only initialised bytes can be filled")]
fn uninitialized_bytes_cannot_be_filled() {
    let mut storage = [MaybeUninit::uninit(); 4];
    ReadBuf::uninit(&mut storage).advance(1);
}

#[test]
#[should_panic(expected = "larger than remaining(): 3 > 2")]
fn put_slice_beyond_the_end_panics() {
    ReadBuf::new(&mut [0; 2]).put_slice(b"abc");
}

#[test]
#[should_panic(expected = "larger than remaining()")]
fn initializing_beyond_the_end_panics() {
    ReadBuf::new(&mut [0; 2]).initialize_unfilled_to(3);
}

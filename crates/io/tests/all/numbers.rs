//! Reading and writing numbers in both byte orders.

use std::io::{Cursor, ErrorKind};

use raddle_io::{AsyncReadExt, AsyncWriteExt};

use crate::common::{Script, block_on};

#[test]
fn each_number_is_written_and_read_in_its_byte_order() {
    block_on(async {
        let mut bytes = Vec::new();
        bytes.write_u8(0x01).await.unwrap();
        bytes.write_i8(-2).await.unwrap();
        bytes.write_u16(0x0102).await.unwrap();
        bytes.write_u16_le(0x0102).await.unwrap();
        bytes.write_i32(-2).await.unwrap();
        bytes.write_i32_le(-2).await.unwrap();
        bytes.write_u64(0x0102_0304_0506_0708).await.unwrap();
        bytes.write_i128_le(-2).await.unwrap();
        bytes.write_f32(1.0).await.unwrap();
        bytes.write_f64_le(1.0).await.unwrap();
        assert_eq!(
            bytes[..14],
            [
                1, 0xFE, 1, 2, 2, 1, 0xFF, 0xFF, 0xFF, 0xFE, 0xFE, 0xFF, 0xFF, 0xFF
            ]
        );

        let mut reader = Cursor::new(bytes);
        assert_eq!(reader.read_u8().await.unwrap(), 0x01);
        assert_eq!(reader.read_i8().await.unwrap(), -2);
        assert_eq!(reader.read_u16().await.unwrap(), 0x0102);
        assert_eq!(reader.read_u16_le().await.unwrap(), 0x0102);
        assert_eq!(reader.read_i32().await.unwrap(), -2);
        assert_eq!(reader.read_i32_le().await.unwrap(), -2);
        assert_eq!(reader.read_u64().await.unwrap(), 0x0102_0304_0506_0708);
        assert_eq!(reader.read_i128_le().await.unwrap(), -2);
        assert_eq!(reader.read_f32().await.unwrap(), 1.0);
        assert_eq!(reader.read_f64_le().await.unwrap(), 1.0);
        let error = reader.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}

#[test]
fn numbers_may_arrive_in_pieces() {
    block_on(async {
        let mut stream = Script::new()
            .give([1, 2])
            .read_pending()
            .read_error(ErrorKind::Interrupted)
            .give([3, 4, 5])
            .accept(1)
            .write_pending()
            .write_error(ErrorKind::Interrupted)
            .accept(2);
        assert_eq!(stream.read_u32().await.unwrap(), 0x0102_0304);
        let error = stream.read_u16().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
        stream.write_u32(0x0102_0304).await.unwrap();
        assert_eq!(stream.written, [1, 2, 3, 4]);

        let mut full = Script::new().accept(0);
        let error = full.write_u8(1).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::WriteZero);
    });
}

/// Writes and reads a number in both byte orders, and checks its bytes.
macro_rules! both_orders {
    ($($number:ident, $value:expr, $write:ident, $read:ident, $write_le:ident, $read_le:ident;)+) => {
        $(
            #[test]
            fn $number() {
                block_on(async {
                    let value: $number = $value;
                    let mut bytes = Vec::new();
                    bytes.$write(value).await.unwrap();
                    bytes.$write_le(value).await.unwrap();
                    let expected = [value.to_be_bytes(), value.to_le_bytes()].concat();
                    assert_eq!(bytes, expected);
                    let mut reader = bytes.as_slice();
                    assert_eq!(reader.$read().await.unwrap(), value);
                    assert_eq!(reader.$read_le().await.unwrap(), value);
                    assert!(reader.is_empty());
                });
            }
        )+
    };
}

both_orders! {
    u16, 0x0102, write_u16, read_u16, write_u16_le, read_u16_le;
    i16, -0x0102, write_i16, read_i16, write_i16_le, read_i16_le;
    u32, 0x0102_0304, write_u32, read_u32, write_u32_le, read_u32_le;
    i32, -0x0102_0304, write_i32, read_i32, write_i32_le, read_i32_le;
    u64, u64::MAX / 3, write_u64, read_u64, write_u64_le, read_u64_le;
    i64, i64::MIN / 3, write_i64, read_i64, write_i64_le, read_i64_le;
    u128, u128::MAX / 7, write_u128, read_u128, write_u128_le, read_u128_le;
    i128, i128::MIN / 7, write_i128, read_i128, write_i128_le, read_i128_le;
    f32, -0.1, write_f32, read_f32, write_f32_le, read_f32_le;
    f64, -0.1, write_f64, read_f64, write_f64_le, read_f64_le;
}

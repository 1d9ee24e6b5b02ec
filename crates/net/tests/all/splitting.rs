//! Halves of a stream.

use std::pin::pin;

use raddle_io::{AsyncReadExt, AsyncWriteExt};
use raddle_testing::poll;

use crate::common::{self, both, pair, run};

#[test]
fn borrowed_halves_work_at_the_same_time() {
    run(async {
        let (mut near, mut far) = pair().await;
        let data = vec![3; 3 << 20];
        let echo = async {
            let (mut read, mut write) = far.split();
            let mut buffer = vec![0; 8_192];
            loop {
                match read.read(&mut buffer).await.unwrap() {
                    0 => break,
                    n => write.write_all(&buffer[..n]).await.unwrap(),
                }
            }
            write.shutdown().await.unwrap();
        };
        let client = async {
            let (mut read, mut write) = near.split();
            assert_eq!(read.local_addr().unwrap(), write.local_addr().unwrap());
            let mut echoed = Vec::new();
            let send = async {
                write.write_all(&data).await.unwrap();
                write.shutdown().await.unwrap();
            };
            let (_, received) = both(send, read.read_to_end(&mut echoed)).await;
            received.unwrap();
            assert!(echoed == data);
        };
        both(echo, client).await;
        // The halves have been dropped, and the stream is usable again.
        assert_eq!(near.read(&mut [0; 8]).await.unwrap(), 0);
    });
}

#[test]
fn dropping_the_owned_writer_shuts_down_only_its_direction() {
    run(async {
        let (near, mut far) = pair().await;
        let (mut read, mut write) = near.into_split();
        write.write_all(b"bye").await.unwrap();
        drop(write);
        let mut received = Vec::new();
        far.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"bye");
        far.write_all(b"hello").await.unwrap();
        let mut buffer = [0; 5];
        read.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"hello");
    });
}

#[test]
fn halves_of_one_stream_are_reunited() {
    run(async {
        let (near, mut far) = pair().await;
        let (other, _other_far) = pair().await;
        let addr = near.local_addr().unwrap();
        let (read, write) = near.into_split();
        let (other_read, other_write) = other.into_split();
        let error = read.reunite(other_write).unwrap_err();
        assert!(error.to_string().contains("not of the same stream"));
        let (read, other_write) = (error.0, error.1);
        let error = write.reunite(other_read).unwrap_err();
        let (other_read, write) = (error.0, error.1);
        other_write.reunite(other_read).unwrap();

        let mut near = read.reunite(write).unwrap();
        assert_eq!(near.local_addr().unwrap(), addr);
        // `reunite` does not shut down the write direction.
        near.write_all(b"whole").await.unwrap();
        let mut buffer = [0; 5];
        far.read_exact(&mut buffer).await.unwrap();
        assert_eq!(&buffer, b"whole");
    });
}

#[test]
fn a_forgotten_writer_shuts_down_nothing() {
    run(async {
        let (near, mut far) = pair().await;
        let (read, write) = near.into_split();
        write.forget();
        let mut buffer = [0; 8];
        {
            let mut reading = pin!(far.read(&mut buffer));
            assert!(poll(reading.as_mut()).is_pending());
            // Dropping the last half closes the connection.
            drop(read);
            assert_eq!(reading.await.unwrap(), 0);
        }
    });
}

#[test]
fn owned_halves_read_and_write_on_two_threads_at_once() {
    let driver = common::Driver::start();
    let _current = driver.handle.enter();
    let (near, far) = raddle_testing::block_on(pair());
    let (mut read, mut write) = near.into_split();
    let (mut far_read, mut far_write) = far.into_split();
    let data: Vec<u8> = (0..1 << 20).map(|n| (n % 251) as u8).collect();
    let echo = raddle_primitives::thread::spawn(move || {
        raddle_testing::block_on(async {
            let mut buffer = vec![0; 4_096];
            loop {
                match far_read.read(&mut buffer).await.unwrap() {
                    0 => break,
                    n => far_write.write_all(&buffer[..n]).await.unwrap(),
                }
            }
        });
    });
    let sent = data.clone();
    let sender = raddle_primitives::thread::spawn(move || {
        raddle_testing::block_on(write.write_all(&sent)).unwrap();
    });
    let mut echoed = Vec::new();
    raddle_testing::block_on(read.read_to_end(&mut echoed)).unwrap();
    assert!(echoed == data);
    sender.join().unwrap();
    echo.join().unwrap();
}

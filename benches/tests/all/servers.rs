//! Tests the programs that start servers as copies of themselves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn each_server_sends_the_same_answer_until_its_input_ends() {
    for contestant in ["raddle", "tokio", "async-executor", "old", "mio"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_http"));
        command.args(["--serve", contestant]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let mut address = String::new();
        let stdout = server.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut address).unwrap();
        let mut stream = TcpStream::connect(address.trim()).unwrap();
        for _ in 0..2 {
            let request = b"GET / HTTP/1.1\r\nHost: here\r\n\r\n";
            stream.write_all(request).unwrap();
            let mut text = String::new();
            while !text.ends_with("\r\n\r\nHello, world!") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                text.push(byte[0].into());
            }
            let mut lines: Vec<_> = text.lines().collect();
            lines[1..3].sort_unstable();
            // Every server does the same work: it sends the same headers.
            assert_eq!(lines[..2], ["HTTP/1.1 200 OK", "content-length: 13"]);
            assert!(lines[2].starts_with("date: "), "{contestant}: {text}");
            assert_eq!(lines[3..], ["", "Hello, world!"], "{contestant}");
        }
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
    }
}

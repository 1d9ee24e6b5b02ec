//! Tests the programs that start servers as copies of themselves.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn each_server_sends_the_same_answer_until_its_input_ends() {
    for contestant in ["raddle", "tokio", "async-executor", "old", "mio"] {
        let mut server = Command::new(env!("CARGO_BIN_EXE_http"))
            .args(["--serve", contestant])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let stdout = server.stdout.take().unwrap();
        BufReader::new(stdout).read_line(&mut address).unwrap();
        let mut stream = TcpStream::connect(address.trim()).unwrap();
        for _ in 0..2 {
            stream
                .write_all(b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
                .unwrap();
            let mut text = Vec::new();
            while !text.ends_with(b"\r\n\r\nHello, world!") {
                let mut byte = [0];
                stream.read_exact(&mut byte).unwrap();
                text.extend(byte);
            }
            let text = String::from_utf8(text).unwrap();
            let lines: Vec<_> = text.lines().collect();
            assert_eq!(lines[0], "HTTP/1.1 200 OK", "{contestant}");
            let mut names: Vec<_> = lines[1..3]
                .iter()
                .map(|line| &line[..line.find(':').unwrap()])
                .collect();
            names.sort_unstable();
            // Every server does the same work: it sends the same headers.
            assert_eq!(names, ["content-length", "date"], "{contestant}");
            assert_eq!(lines[3..], ["", "Hello, world!"], "{contestant}");
        }
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
    }
}

#[test]
fn each_load_has_its_table() {
    let output = Command::new(env!("CARGO_BIN_EXE_io"))
        .args(["--rounds", "1", "--milliseconds", "20", "--workers", "1"])
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert_eq!(text.matches("messages, /s").count(), 12, "{text}");
    assert_eq!(text.matches("each way, MiB/s").count(), 2, "{text}");
}

#[test]
fn a_missing_tool_becomes_a_note_that_names_its_package() {
    let cases = [
        (
            env!("CARGO_BIN_EXE_io"),
            "--syscalls",
            "strace; install the package strace",
        ),
        (
            env!("CARGO_BIN_EXE_http"),
            "--pinned",
            "taskset; install the package util-linux",
        ),
    ];
    for (program, option, advice) in cases {
        let output = Command::new(program)
            .args([option, "--rounds", "1"])
            .env("PATH", "/nowhere")
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{text}");
        assert!(
            text.contains(&format!("not measured, there is no program {advice}")),
            "{text}"
        );
    }
}

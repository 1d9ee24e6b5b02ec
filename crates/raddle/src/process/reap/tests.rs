//! What is used where a process has no descriptor. The rest is tested from
//! outside.

use std::future::poll_fn;
use std::process::{Command, Stdio};

use super::*;
use crate::runtime::Builder;
use crate::time::{Duration, timeout};

#[test]
fn by_signals_an_end_is_noticed_too() {
    ends_are_noticed(|_| Ending::of_any_child());
}

#[cfg(target_os = "linux")]
#[test]
fn by_threads_an_end_is_noticed_too() {
    ends_are_noticed(Ending::of_thread);
}

fn ends_are_noticed(ending: fn(&std::process::Child) -> io::Result<Ending>) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut processes = [0, 1, 2].map(|code| {
            let child = Command::new("sh")
                .args(["-c", &format!("read line; exit {code}")])
                .stdin(Stdio::piped())
                .spawn()
                .unwrap();
            let mut process = Process::new(child, Handle::current());
            process.ending = Some(ending(process.running().unwrap()).unwrap());
            process
        });
        for code in [1, 0, 2] {
            let process = &mut processes[code];
            let stdin = process.running().unwrap().stdin.take();
            let mut waiting = std::pin::pin!(poll_fn(|cx| process.poll_wait(cx)));
            let cx = &mut Context::from_waker(std::task::Waker::noop());
            assert!(waiting.as_mut().poll(cx).is_pending());
            drop(stdin);
            let status = timeout(Duration::from_secs(60), waiting).await;
            let status = status.expect("the end is noticed").unwrap();
            assert_eq!(status.code(), Some(code as i32));
        }
    });
}

//! Functions that a child calls before it runs its program.

use std::io;

use raddle_process::Command;

use crate::common::block_on;

/// The output of `pwd` in a child that calls the functions in their order.
fn directory_after(changes: &[fn() -> io::Result<()>]) -> io::Result<String> {
    let mut command = Command::new("pwd");
    for change in changes {
        // SAFETY: the functions below make one system call each.
        unsafe { command.pre_exec(*change) };
    }
    let output = block_on(async { command.output().await })?;
    Ok(String::from_utf8(output.stdout).unwrap())
}

fn to_root() -> io::Result<()> {
    // SAFETY: the text is terminated by a zero.
    match unsafe { libc::chdir(c"/".as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A relative path, so that the call succeeds in the root only.
fn to_dev() -> io::Result<()> {
    // SAFETY: the text is terminated by a zero.
    match unsafe { libc::chdir(c"dev".as_ptr()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[test]
fn a_function_runs_in_the_child_before_the_program() {
    let here = std::env::current_dir().unwrap();
    assert_eq!(directory_after(&[to_root]).unwrap(), "/\n");
    assert_eq!(std::env::current_dir().unwrap(), here);
}

#[test]
fn functions_run_in_the_order_in_which_they_were_given() {
    assert_eq!(directory_after(&[to_root, to_dev]).unwrap(), "/dev\n");
}

#[test]
fn an_error_of_a_function_is_returned_by_spawn() {
    let fails = || Err(io::Error::from_raw_os_error(libc::EDOM));
    let error = directory_after(&[fails]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(libc::EDOM));
}

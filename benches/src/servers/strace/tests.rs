use super::*;

const PRINTED: &str = "strace: Process 7 attached
% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 31.03    0.000126          63       200           epoll_wait
 26.60    0.000108           3       304       100 recvfrom
 14.04    0.000057           1         3           read
  9.85    0.000040           1       200           sendto
  8.87    0.000036           1         5         1 futex
  5.91    0.000024           3         7           mmap
------ ----------- ----------- --------- --------- ----------------
100.00    0.000406           1       719       101 total
";

#[test]
fn a_table_of_strace_is_parsed_by_kind_of_call() {
    assert_eq!(
        parse(PRINTED),
        Some([200.0, 307.0, 100.0, 200.0, 5.0, 7.0, 719.0])
    );
    assert_eq!(parse("strace: exec: Permission denied"), None);
}

use super::Mapping;

#[test]
fn a_line_of_an_executable_file_is_read() {
    let line = "7f2c1000-7f2c3000 r-xp 00028000 08:01 1234                     /lib/a b/libc.so.6";
    let mapping = Mapping::parse(line).unwrap();
    assert_eq!(mapping.addresses, 0x7f2c_1000..0x7f2c_3000);
    assert_eq!(mapping.offset, 0x28000);
    assert_eq!(mapping.path, "/lib/a b/libc.so.6");
}

#[test]
fn data_and_memory_without_a_file_are_left_out() {
    for line in [
        "7f2c1000-7f2c3000 r--p 00028000 08:01 1234                     /lib/libc.so.6",
        "7f2c1000-7f2c3000 r-xp 00000000 00:00 0 ",
        "7ffd1000-7ffd3000 rw-p 00000000 00:00 0                          [stack]",
        "",
    ] {
        assert_eq!(Mapping::parse(line), None, "{line}");
    }
}

#[test]
fn the_program_and_the_vdso_have_unwind_information() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let program = std::env::current_exe().unwrap();
    let program = program.to_str().unwrap();
    let mut found = 0;
    for mapping in maps.lines().filter_map(Mapping::parse) {
        if mapping.path == program || mapping.path == "[vdso]" {
            assert!(mapping.sections().is_some(), "{mapping:?}");
            found += 1;
        }
    }
    // qemu-user does not list the vDSO.
    let minimum = if maps.contains("[vdso]") { 2 } else { 1 };
    assert!(found >= minimum, "{maps}");
}

use super::{ends_with_call_aarch64, ends_with_call_x86_64, frame_size_aarch64, frame_size_x86_64};

#[test]
fn the_frame_of_a_function_of_x86_64_is_read_from_its_code() {
    // push r15; push r14; push r12; push rbx; sub rsp, 0x20; test rdi, rdi
    let pushes = [
        0x41, 0x57, 0x41, 0x56, 0x41, 0x54, 0x53, 0x48, 0x83, 0xec, 0x20, 0x48, 0x85, 0xff,
    ];
    // push rbx; sub rsp, 0x1230; mov rax, rdi
    let large = [0x53, 0x48, 0x81, 0xec, 0x30, 0x12, 0, 0, 0x48, 0x89, 0xf8];
    // mov edi, 1: no locals
    let none = [0xbf, 1, 0, 0, 0];
    // and rsp, -32
    let aligned = [0x53, 0x48, 0x83, 0xe4, 0xe0, 0x48, 0x83, 0xec, 0x40];
    assert_eq!(frame_size_x86_64(&pushes), Some(0x40));
    assert_eq!(frame_size_x86_64(&large), Some(0x1238));
    assert_eq!(frame_size_x86_64(&none), Some(0));
    assert_eq!(frame_size_x86_64(&aligned), None);
    assert_eq!(frame_size_x86_64(&[]), Some(0));
}

#[test]
fn the_frame_of_a_function_with_stack_probes_is_read_from_its_code() {
    let page = [0x48, 0x81, 0xec, 0x00, 0x10, 0x00, 0x00];
    let probe = [0x48, 0xc7, 0x04, 0x24, 0, 0, 0, 0];
    let rest = [0x48, 0x81, 0xec, 0x08, 0x02, 0, 0, 0x90];
    let two = [&page[..], &probe, &page, &probe, &rest].concat();
    assert_eq!(frame_size_x86_64(&two), Some(0x2208));
    // lea r11, [rsp - 0x10000]; the loop; cmp rsp, r11; jne
    let lea = [0x4c, 0x8d, 0x9c, 0x24, 0x00, 0x00, 0xff, 0xff];
    let back = [0x4c, 0x39, 0xdc, 0x75, 0xea];
    let many = [&[0x53][..], &lea, &page, &probe, &back, &rest].concat();
    assert_eq!(frame_size_x86_64(&many), Some(8 + 0x10000 + 0x208));
}

#[test]
fn the_frame_of_a_function_of_aarch64_is_read_from_its_code() {
    let code = |words: &[u32]| {
        words
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect::<Vec<_>>()
    };
    // add x29, sp, #0x10; stp x20, x19, [sp, #0x20]; mov x19, x0; bl
    let body = [0x9100_43fd, 0xa902_4ff4, 0xaa00_03f3, 0x9400_0010];
    assert_eq!(frame_size_aarch64(&code(&body)), Some(0x10));
    // mov x29, sp; sub sp, sp, #1, lsl #12; sub sp, sp, #0x20
    let large = [0x9100_03fd, 0xd140_07ff, 0xd100_83ff, 0x9400_0010];
    assert_eq!(frame_size_aarch64(&code(&large)), Some(0x1020));
    // mov x29, sp; sub x9, sp, #0x40; and sp, x9, #0xffffffffffffffe0
    let aligned = [0x9100_03fd, 0xd101_03e9, 0x927b_e93f];
    assert_eq!(frame_size_aarch64(&code(&aligned)), None);
    // stp x29, x30, [sp, #-0x10]!
    assert_eq!(frame_size_aarch64(&code(&[0xa9bf_7bfd])), None);
}

#[test]
fn calls_are_recognized() {
    for call in [
        &[0, 0, 0, 0xe8, 1, 2, 3, 4][..],
        &[0, 0, 0xff, 0x15, 1, 2, 3, 4],
        &[0, 0, 0, 0, 0, 0, 0xff, 0xd0],
        &[0, 0, 0, 0, 0, 0xff, 0x50, 0x18],
        &[0, 0, 0, 0, 0, 0x41, 0xff, 0xd6],
    ] {
        assert!(ends_with_call_x86_64(call), "{call:x?}");
    }
    // jmp rax; push; short code
    for code in [&[0, 0, 0, 0, 0, 0, 0xff, 0xe0][..], &[0x90; 8], &[0xe8]] {
        assert!(!ends_with_call_x86_64(code), "{code:x?}");
    }
    assert!(ends_with_call_aarch64(&0x9400_0010_u32.to_le_bytes()));
    assert!(ends_with_call_aarch64(&0xd63f_0100_u32.to_le_bytes()));
    assert!(!ends_with_call_aarch64(&0xd65f_03c0_u32.to_le_bytes()));
}

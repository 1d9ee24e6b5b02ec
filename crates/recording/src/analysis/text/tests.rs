use super::*;

#[test]
fn control_characters_are_escaped_and_others_stay() {
    assert_eq!(escaped("\x1b[31mred\n"), r"\u{1b}[31mred\n");
    assert_eq!(escaped("\u{9b}2J\u{7f}"), r"\u{9b}2J\u{7f}");
    assert_eq!(escaped("\u{202e}gpj.exe"), r"\u{202e}gpj.exe");
    assert!(matches!(escaped("größer; 日本"), Cow::Borrowed(_)));
}

#[test]
fn a_time_has_the_date_of_the_gregorian_calendar() {
    const SECOND: u64 = 1_000_000_000;
    assert_eq!(utc(0), "1970-01-01 00:00:00.000");
    assert_eq!(utc(951_827_696_789_000_000), "2000-02-29 12:34:56.789");
    assert_eq!(utc(4_107_542_400 * SECOND), "2100-03-01 00:00:00.000");
    assert_eq!(utc(1_798_761_599 * SECOND), "2026-12-31 23:59:59.000");
}

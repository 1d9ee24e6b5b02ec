use std::time::Duration;

use super::*;
#[cfg(feature = "console")]
use crate::runtime::tools::Tool;

#[test]
fn durations_are_numbers_with_a_unit() {
    let cases = [
        ("100ms", Duration::from_millis(100)),
        (" 2s ", Duration::from_secs(2)),
        ("1.5s", Duration::from_millis(1500)),
        ("1m", Duration::from_secs(60)),
        ("250 us", Duration::from_micros(250)),
        ("2h", Duration::from_secs(7200)),
        ("0s", Duration::ZERO),
    ];
    for (text, expected) in cases {
        assert_eq!(duration::parse(text), Some(expected), "{text}");
    }
    for text in [
        "",
        "100",
        "ms",
        "-1s",
        "1 day",
        "1e3s",
        "1.2.3s",
        ".s",
        "1s2",
        "1ss",
        "1S",
        "99999999999999999999h",
    ] {
        assert_eq!(duration::parse(text), None, "{text}");
    }
}

#[test]
fn each_variable_says_what_it_expects() {
    let error = |read: fn(&str) -> Read, text| read(text).err().unwrap_or("no error");
    assert_eq!(
        error(read_watchdog, "100"),
        "a duration such as 100ms, 2s or 1m"
    );
    assert_eq!(
        error(read_watchdog, "0ms"),
        "a duration such as 100ms, 2s or 1m"
    );
    assert!(error(read_console, "0.0.0.0:80").starts_with("a loopback address"));
    assert!(error(read_console, "localhost:80").starts_with("a loopback address"));
    assert!(error(read_metrics, "9469").starts_with("an address with a port"));
    assert_eq!(error(read_dump, "yes"), "1 or 0");
    assert!(matches!(read_dump("0"), Ok(None)));
    assert!(matches!(read_watchdog("5ms"), Ok(Some(_))));
}

#[cfg(all(feature = "console", feature = "flight-recorder"))]
#[test]
fn the_variables_select_tools_and_those_of_the_builder_are_used() {
    let value = |name: &str| {
        let value = match name {
            "RADDLE_CONSOLE" => "127.0.0.1:0",
            "RADDLE_METRICS" => "nonsense",
            "RADDLE_RECORD" => "/tmp/never-created",
            _ => "",
        };
        Some(OsString::from(value))
    };
    let tools = |selected: &Selected| Vec::from_iter(selected.keys().copied());
    let expected = [
        Tool::FlightRecorder,
        Tool::Archive,
        Tool::Console,
        Tool::ConsoleWatchdog,
    ];
    let selected = select_from(&Selected::default(), value);
    assert!(tools(&selected) == expected);

    let mut builder = Builder::new(RuntimeFlavor::CurrentThread);
    builder.console("127.0.0.1:0");
    let both = select_from(&builder.tools, value);
    assert!(tools(&both) == expected);
    assert!(Arc::ptr_eq(
        &both[&Tool::Console],
        &builder.tools[&Tool::Console]
    ));
    assert!(select_from(&Selected::default(), |_| None).is_empty());
}

#[cfg(all(unix, feature = "console", feature = "task-dumps"))]
#[test]
fn a_variable_adds_to_a_tool_of_the_builder() {
    let mut builder = Builder::new(RuntimeFlavor::CurrentThread);
    builder.console("127.0.0.1:0").enable_task_dumps();
    let selected = select_from(&builder.tools, |name| {
        let value = match name {
            "RADDLE_WATCHDOG" => "100ms",
            "RADDLE_DUMP_ON_SIGQUIT" => "1",
            _ => "",
        };
        Some(OsString::from(value))
    });
    // The watchdog that warns is used instead of the console's, which does not.
    assert!(selected.contains_key(&Tool::Watchdog));
    assert!(selected.contains_key(&Tool::DumpOnSigquit));
}

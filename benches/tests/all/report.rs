//! Opens the report of `cargo xtask bench` in a browser, as a person would.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// The width of a phone.
const WIDTH: u32 = 390;

/// Counts the plots of the report in the frame, and lists elements that are wider than the frame.
const SCRIPT: &str = r"
    addEventListener('load', () => {
        const page = document.querySelector('iframe').contentWindow.document.documentElement;
        for (const details of page.querySelectorAll('details')) details.open = true;
        const plots = [...page.querySelectorAll('svg')];
        const empty = plots.filter(plot => plot.getBoundingClientRect().height < 50
            || !plot.querySelector('circle') || !plot.querySelector('text'));
        // What scrolls by itself may be wider inside.
        const wide = [...page.querySelectorAll('body *')].filter(one => !one.closest('.scroll, svg')
            && one.getBoundingClientRect().right > page.clientWidth + 1);
        document.querySelector('#seen').textContent = `plots=${plots.length} empty=${empty.length} `
            + `scrolls=${page.scrollWidth > page.clientWidth} wide=${wide.map(one => one.tagName)}`;
    });";

fn run(program: &str, args: &[&str], directory: &Path) -> Output {
    let output = Command::new(program)
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program} {args:?}: {errors}");
    output
}

#[test]
fn a_report_is_complete_and_as_wide_as_a_phone() {
    let directory = TempDir::new().unwrap();
    let run = |program, args: &str| {
        let args: Vec<_> = args.split(' ').collect();
        run(program, &args, directory.path())
    };
    let options = "--rounds 1 --only chained_spawn --workers 1,2 --json run/sched.json";
    run(env!("CARGO_BIN_EXE_side_by_side"), options);
    let options = "--rounds 1 --milliseconds 20 --json run/latency.json";
    run(env!("CARGO_BIN_EXE_latency"), options);
    let report = env!("CARGO_BIN_EXE_report");
    run(report, "--directory . --save first");
    let summary = run(report, "--directory . --compare first").stdout;
    let summary = String::from_utf8(summary).unwrap();
    assert!(
        summary.contains("| chained_spawn, workers 1: time |"),
        "{summary}"
    );
    let html = fs::read_to_string(directory.path().join("report.html")).unwrap();
    for text in [
        "What was announced in 2019",
        "Against first",
        "chained_spawn",
    ] {
        assert!(html.contains(text), "{text}");
    }
    // The page fetches nothing.
    assert!(!html.contains("<link") && !html.contains("src="), "{html}");
    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium is installed to open the report with");
        return;
    };
    // The page has two sections with leads, one curve in the first, and five in the second.
    let expected = "plots=8 empty=0 scrolls=false wide=".to_owned();
    assert_eq!(opened(browser, &html, directory.path()), (expected, 0));
    // The same page with deliberate faults, which the script must find.
    let faults = "<div style=width:500px>wide</div><script>throw 1</script></body>";
    let faulty = html.replace("</body>", faults);
    let expected = "plots=8 empty=0 scrolls=true wide=DIV".to_owned();
    assert_eq!(opened(browser, &faulty, directory.path()), (expected, 1));
}

fn browser() -> Option<&'static str> {
    let mut names = ["chromium", "chromium-browser", "google-chrome", "chrome"].into_iter();
    names.find(|name| Command::new(name).arg("--version").output().is_ok())
}

/// Returns the findings of the script in the report, and the number of lines in the browser's
/// console.
fn opened(browser: &str, report: &str, directory: &Path) -> (String, usize) {
    let report = report.replace('&', "&amp;").replace('"', "&quot;");
    let page = directory.join("frame.html");
    let frame = format!(
        "<!DOCTYPE html><script>{SCRIPT}</script><p id=seen></p><iframe \
         style=\"border:0;width:{WIDTH}px;height:800px\" srcdoc=\"{report}\"></iframe>"
    );
    fs::write(&page, frame).unwrap();
    let options = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
                   --disable-background-networking --enable-logging=stderr --hide-scrollbars \
                   --window-size=1000,900 --virtual-time-budget=5000 --dump-dom";
    let profile = format!("--user-data-dir={}", directory.join("profile").display());
    let page = format!("file://{}", page.display());
    // A browser that hangs is killed.
    let mut args = vec!["120", browser];
    args.extend(options.split_whitespace());
    args.extend([profile.as_str(), page.as_str()]);
    let output = run("timeout", &args, directory);
    let (dom, log) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    let seen = dom
        .split("<p id=\"seen\">")
        .nth(1)
        .and_then(|rest| rest.split("</p>").next());
    let seen = seen.unwrap_or_else(|| panic!("{browser} showed nothing: {log}"));
    (seen.to_owned(), log.matches(":CONSOLE").count())
}

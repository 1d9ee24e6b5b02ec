//! The report in a browser: `cargo xtask bench` writes it, a person opens it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// As wide as a phone.
const WIDTH: u32 = 390;
/// A browser that has not ended by then hangs.
const PATIENCE: Duration = Duration::from_secs(120);

fn program(bin: &str, args: &[&str], directory: &Path) -> Output {
    let output = Command::new(bin)
        .args(args)
        .current_dir(directory)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{bin} {args:?}: {errors}");
    output
}

/// A report of the least that makes curves, a table of what was announced, and a
/// comparison with what was kept.
fn report(directory: &Path) -> (String, PathBuf) {
    let sched = env!("CARGO_BIN_EXE_side_by_side");
    let one = ["--rounds", "1", "--only", "chained_spawn", "--workers"];
    program(
        sched,
        &[&one[..], &["1,2", "--json", "run/sched.json"]].concat(),
        directory,
    );
    let queue = env!("CARGO_BIN_EXE_latency");
    let args = [
        "--rounds",
        "1",
        "--milliseconds",
        "20",
        "--json",
        "run/latency.json",
    ];
    program(queue, &args, directory);
    let report = env!("CARGO_BIN_EXE_report");
    program(report, &["--directory", ".", "--save", "first"], directory);
    let output = program(
        report,
        &["--directory", ".", "--compare", "first"],
        directory,
    );
    let summary = String::from_utf8(output.stdout).unwrap();
    (summary, directory.join("report.html"))
}

#[test]
fn the_report_is_whole_and_fits_a_phone() {
    let directory = TempDir::new().unwrap();
    let (summary, page) = report(directory.path());
    assert!(
        summary.contains("| chained_spawn, workers 1: time |"),
        "{summary}"
    );
    let html = fs::read_to_string(&page).unwrap();
    for text in [
        "What was announced in 2019",
        "Against first",
        "chained_spawn",
    ] {
        assert!(html.contains(text), "{text}");
    }
    // Nothing is fetched.
    assert!(!html.contains("<link") && !html.contains("src="), "{html}");

    let Some(browser) = browser() else {
        eprintln!("skipped: no Chromium is installed to open the report with");
        return;
    };
    let seen = opened(browser, &html, directory.path());
    // Two sections with the leads of each, the curve of the one, five of the other.
    let expected = format!("plots=8 empty=0 width={WIDTH} wider=[]");
    assert_eq!(seen, (expected, 0));

    // The same with faults, which must be seen.
    let faults = "<div style=width:500px>wide</div><script>throw 1</script></body>";
    let seen = opened(browser, &html.replace("</body>", faults), directory.path());
    let expected = format!("plots=8 empty=0 width={WIDTH} wider=[page DIV wide]");
    assert_eq!(seen, (expected, 1));
}

/// A page with the report in a frame as wide as a phone, which then says what it
/// finds there.
fn framed(report: &str) -> String {
    let report = report.replace('&', "&amp;").replace('"', "&quot;");
    let script = r##"
        addEventListener('load', () => {
            const inner = document.querySelector('iframe').contentWindow;
            const page = inner.document.documentElement;
            for (const details of page.querySelectorAll('details')) details.open = true;
            const plots = [...page.querySelectorAll('svg')];
            const empty = plots.filter(plot => plot.getBoundingClientRect().height < 50
                || !plot.querySelector('circle') || !plot.querySelector('text'));
            // What scrolls by itself may be wider inside.
            const wide = [...page.querySelectorAll('body *')].filter(one => !one.closest('.scroll, svg')
                && one.getBoundingClientRect().right > page.clientWidth + 1);
            const scrolls = page.scrollWidth > page.clientWidth ? 'page ' : '';
            const names = scrolls + wide.slice(0, 5).map(one => one.tagName + ' ' + one.textContent.slice(0, 40)).join(', ');
            document.querySelector('#seen').textContent = `plots=${plots.length} empty=${empty.length} `
                + `width=${page.clientWidth} wider=[${names}]`;
        });"##;
    format!(
        "<!DOCTYPE html><script>{script}</script><p id=seen></p>\
         <iframe style=\"border:0;width:{WIDTH}px;height:800px\" srcdoc=\"{report}\"></iframe>"
    )
}

fn browser() -> Option<&'static str> {
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
        "chrome",
    ];
    names.into_iter().find(|name| {
        let output = Command::new(name).arg("--version").output();
        output.is_ok_and(|output| output.status.success())
    })
}

/// What the script beside the report has found in it, and how many lines there are
/// in the browser's console.
fn opened(browser: &str, report: &str, directory: &Path) -> (String, usize) {
    let page = directory.join("frame.html");
    fs::write(&page, framed(report)).unwrap();
    let (out, log) = (directory.join("dom"), directory.join("log"));
    let mut child = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--no-first-run",
            "--disable-background-networking",
            "--enable-logging=stderr",
            "--hide-scrollbars",
        ])
        .arg(format!(
            "--user-data-dir={}",
            directory.join("profile").display()
        ))
        .args([
            "--window-size=1000,900",
            "--virtual-time-budget=5000",
            "--dump-dom",
        ])
        .arg(format!("file://{}", page.display()))
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!(
                "{browser} did not end: {}",
                fs::read_to_string(log).unwrap()
            );
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let log = fs::read_to_string(log).unwrap();
    let dom = fs::read_to_string(out).unwrap();
    let seen = dom.split("<p id=\"seen\">").nth(1);
    let seen = seen.and_then(|rest| rest.split("</p>").next());
    let seen = seen.unwrap_or_else(|| panic!("{browser} showed nothing: {log}"));
    (seen.to_owned(), log.matches(":CONSOLE").count())
}

//! Chromium, driven by its debugging protocol over a pipe.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Time limit of an answer of the browser.
const LIMIT: Duration = Duration::from_secs(60);

/// A tab of a browser process that the test has started.
pub(crate) struct Tab {
    browser: Child,
    requests: ChildStdin,
    answers: mpsc::Receiver<Value>,
    session: Option<String>,
    next: u64,
    /// The directory of its profile, removed on drop.
    _profile: tempfile::TempDir,
}

impl Tab {
    /// None if there is no Chromium.
    pub(crate) fn open(url: &str) -> Option<Self> {
        let found = Command::new("chromium").arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        // The protocol is spoken on descriptors 3 and 4.
        let script = "exec chromium --headless=new --no-sandbox --disable-gpu --no-first-run \
                      --disable-dev-shm-usage --remote-debugging-pipe --window-size=1280,1000 \
                      --user-data-dir=\"$0\" about:blank 3<&0 4>&1 0</dev/null 1>/dev/null";
        let mut browser = Command::new("sh")
            .args(["-c", script])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let requests = browser.stdin.take().unwrap();
        let output = BufReader::new(browser.stdout.take().unwrap());
        let (sender, answers) = mpsc::channel();
        thread::spawn(move || {
            for message in output.split(0) {
                let Ok(message) = message else { return };
                let value = serde_json::from_slice(&message).unwrap();
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        let mut tab = Self {
            browser,
            requests,
            answers,
            session: None,
            next: 1,
            _profile: profile,
        };
        let target = tab.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = json!({ "targetId": target["targetId"], "flatten": true });
        let session = tab.call("Target.attachToTarget", target);
        tab.session = session["sessionId"].as_str().map(str::to_owned);
        tab.call("Page.enable", json!({}));
        tab.call("Page.navigate", json!({ "url": url }));
        Some(tab)
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        let id = self.next;
        self.next += 1;
        let mut request = json!({ "id": id, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = session.as_str().into();
        }
        self.requests
            .write_all(format!("{request}\0").as_bytes())
            .unwrap();
        let end = Instant::now() + LIMIT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left);
            let answer = answer.unwrap_or_else(|_| panic!("no answer to {method}"));
            if answer["id"] == id {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
        });
        let result = self.call("Runtime.evaluate", parameters);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    pub(crate) fn run(&mut self, script: &str) {
        self.evaluate(&format!("(() => {{ {script}; }})()"));
    }

    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.evaluate(expression);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    pub(crate) fn text(&mut self, expression: &str) -> String {
        let value = self.evaluate(expression);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until a condition holds.
    pub(crate) fn wait_for(&mut self, condition: &str, limit: Duration) {
        let end = Instant::now() + limit;
        while self.evaluate(condition) != Value::Bool(true) {
            if Instant::now() > end {
                self.screenshot("failed");
                let text = self.text("document.body.innerText");
                panic!("{condition} does not hold within {limit:?}:\n{text}");
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Presses and releases a key.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let mut parameters = json!({ "type": kind, "key": key });
            if kind == "keyDown" && key.len() == 1 {
                parameters["text"] = key.into();
            }
            if key == "Enter" {
                // Without the key code, Enter activates nothing.
                parameters["windowsVirtualKeyCode"] = 13.into();
                parameters["text"] = "\r".into();
            }
            self.call("Input.dispatchKeyEvent", parameters);
        }
    }

    pub(crate) fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// Sets the size of the page to that of a phone, or to that of a monitor.
    pub(crate) fn set_width(&mut self, width: u32) {
        let is_phone = width < 700;
        let metrics = json!({
            "width": width,
            "height": if is_phone { 844 } else { 1000 },
            "deviceScaleFactor": if is_phone { 2 } else { 1 },
            "mobile": is_phone,
        });
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        self.wait_for(&format!("innerWidth === {width}"), LIMIT);
    }

    /// Selects the light or the dark colors of the page.
    pub(crate) fn set_colors(&mut self, scheme: &str) {
        let scheme = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": scheme }));
    }

    /// Clicks on the middle of an element, as a mouse does.
    pub(crate) fn click(&mut self, selector: &str) {
        let end = Instant::now() + LIMIT;
        loop {
            // The element is scrolled into view, and is on top there.
            let found = self.evaluate(&format!(
                "(() => {{ const node = document.querySelector('{selector}'); if (!node) return null; \
                 node.scrollIntoView({{ block: 'center' }}); const box = node.getBoundingClientRect(); \
                 const x = box.left + Math.min(box.width, 40) / 2, y = box.top + box.height / 2; \
                 return node.contains(document.elementFromPoint(x, y)) ? [x, y] : null; }})()"
            ));
            if let Some([x, y]) = found.as_array().map(Vec::as_slice) {
                for kind in ["mousePressed", "mouseReleased"] {
                    let event =
                        json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
                    self.call("Input.dispatchMouseEvent", event);
                }
                return;
            }
            assert!(Instant::now() < end, "no element {selector} can be clicked");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Saves a screenshot if `RADDLE_SCREENSHOTS` is set.
    pub(crate) fn screenshot(&mut self, name: &str) {
        let Some(directory) = std::env::var_os("RADDLE_SCREENSHOTS") else {
            return;
        };
        let picture = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let text = picture["data"].as_str().unwrap();
        let path = std::path::Path::new(&directory).join(format!("{name}.png"));
        std::fs::write(path, decode(text)).unwrap();
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let _ = self.browser.kill();
        let _ = self.browser.wait();
    }
}

/// Decodes base64.
fn decode(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values = text.bytes().filter_map(|byte| {
        let value = digits.iter().position(|digit| *digit == byte)?;
        Some(value as u32)
    });
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0, 0);
    for value in values {
        bits = bits << 6 | value;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    bytes
}

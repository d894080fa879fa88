//! A browser without a window, by the WebDriver protocol.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A driver with one session.
pub struct Browser {
    driver: Child,
    session: String,
}

impl Browser {
    /// `None`, and a word on standard error, where there is no browser.
    pub fn start() -> Option<Browser> {
        let started = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn();
        let Ok(mut driver) = started else {
            eprintln!("skipped: no chromedriver here (Debian: apt-get install chromium chromium-driver)");
            return None;
        };
        let mut lines = BufReader::new(driver.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        // What else it says is read, so that it never waits.
        std::thread::spawn(move || lines.for_each(drop));
        let mut browser = Browser { driver, session: String::new() };
        let server = format!("http://127.0.0.1:{}/session", port.expect("a port"));
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1300,1000"];
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": arguments },
            "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        match ask(&server, &wanted) {
            Ok(value) => {
                let id = value["sessionId"].as_str().expect("a session");
                browser.session = format!("{server}/{id}");
                Some(browser)
            }
            Err(why) if why.contains("cannot find") => {
                eprintln!("skipped: a driver, but no browser here: {why}");
                None
            }
            Err(why) => panic!("{why}"),
        }
    }

    fn command(&self, name: &str, body: Value) -> Value {
        ask(&format!("{}/{name}", self.session), &body).expect("the browser obeys")
    }

    /// Opens a file.
    pub fn open(&self, file: &Path) {
        self.command("url", json!({ "url": format!("file://{}", file.display()) }));
    }

    /// What a script returns.
    pub fn run(&self, script: &str) -> Value {
        self.command("execute/sync", json!({ "script": script, "args": [] }))
    }

    /// How many elements there are.
    pub fn count(&self, selector: &str) -> u64 {
        self.run(&format!("return document.querySelectorAll(`{selector}`).length"))
            .as_u64()
            .expect("a number")
    }

    /// The text of the first element, as it is seen.
    pub fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector(`{selector}`).innerText");
        self.run(&script).as_str().expect("text").to_string()
    }

    /// Clicks at the first element.
    pub fn click(&self, selector: &str) {
        self.run(&format!(
            "document.querySelector(`{selector}`).dispatchEvent(new MouseEvent('click', {{bubbles: true}}))"
        ));
    }

    /// Types keys into the element that has the focus.
    pub fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| {
                ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() }))
            })
            .collect();
        let source = json!({ "type": "key", "id": "keyboard", "actions": actions });
        self.command("actions", json!({ "actions": [source] }));
    }

    /// As on a screen of that width, in one colour scheme.
    pub fn appear(&self, width: u32, scheme: &str) {
        let of = |cmd: &str, params: Value| {
            self.command("goog/cdp/execute", json!({ "cmd": cmd, "params": params }));
        };
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        of("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        of("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// What the page has complained of since the last call.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.command("se/log", json!({ "type": "browser" }));
        log.as_array().into_iter().flatten().map(|entry| entry.to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = ureq::delete(&self.session).call();
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn ask(address: &str, body: &Value) -> Result<Value, String> {
    let request = ureq::post(address).config().http_status_as_error(false).build();
    let mut answer = request
        .header("Content-Type", "application/json")
        .send(body.to_string())
        .map_err(|e| format!("{address}: {e}"))?;
    let text = answer.body_mut().read_to_string().map_err(|e| e.to_string())?;
    let mut value: Value = serde_json::from_str(&text).map_err(|e| format!("{e}: {text}"))?;
    match answer.status().is_success() {
        true => Ok(value["value"].take()),
        false => Err(value["value"]["message"].to_string()),
    }
}

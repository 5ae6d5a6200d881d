//! The page in a browser, at desktop and phone width: an empty console, every figure visible, no
//! text outside its figure or over other text.

use std::path::{Path, PathBuf};
use std::process::Command;

use fedspd_report::{Report, SweepRun};
use tempfile::tempdir;

use crate::support::{Plan, grid, reproduction};

/// Finds Chromium under any of its names.
fn chromium() -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut all = std::env::split_paths(&paths).flat_map(|folder| names.map(|name| folder.join(name)));
    all.find(|path| path.is_file())
}

/// Opens the page in a browser. Returns the result of the check, and the console.
fn look(browser: &Path, page: &Path) -> (String, Vec<String>) {
    let profile = tempdir().unwrap();
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
        ])
        .args([
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--enable-logging=stderr",
            "--dump-dom",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .arg("--window-size=1400,900")
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8(output.stdout).unwrap();
    let console = String::from_utf8_lossy(&output.stderr);
    let console = console.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
    let (_, after) =
        dom.split_once("<pre id=\"check\">").unwrap_or_else(|| panic!("the check did not run: {dom:.300}"));
    (after.split_once("</pre>").unwrap().0.to_owned(), console)
}

#[test]
fn the_page_is_whole_in_a_browser_at_a_desk_and_on_a_telephone() {
    let Some(browser) = chromium() else {
        println!("skipped: there is no chromium on this machine");
        return;
    };
    let root = tempdir().unwrap();
    let alone = Plan::default().write(root.path(), "alone");
    let large =
        Plan { clients: 53, rounds: 60, participation: 0.5, ..Plan::default() }.write(root.path(), "large");
    let many = grid(root.path(), &Plan::default());
    let swept = ["12", "18", "24"].map(|value| SweepRun {
        value: value.into(),
        folder: Plan::default().write(root.path(), &format!("swept-{value}")),
    });
    let pages = [
        ("one", Report::new(&[alone], true)),
        ("large", Report::new(&[large], true)),
        ("many", Report::new(&many, true)),
        ("sweep", Report::sweep("model.dims", &swept, Some(1))),
        (
            "reproduction",
            Report::reproduction("physionet-mi", &reproduction(&root.path().join("paper")), &[]),
        ),
    ];
    for (name, report) in pages {
        let html = report.unwrap().html();
        let figures = html.matches("<svg ").count();
        for width in [1280, 400] {
            let page = root.path().join(format!("{name}-{width}.html"));
            std::fs::write(&page, framed(&html, width)).unwrap();
            let (found, console) = look(&browser, &page);
            assert_eq!(
                found.lines().next().unwrap(),
                format!("width {width}, figures {figures}, faults 0"),
                "{name}:\n{found}"
            );
            assert_eq!(console, [""; 0], "{name} at {width}");
        }
    }
}

/// Puts the report with the check into a frame of this width, because windows have a minimum width
/// and frames do not.
fn framed(html: &str, width: usize) -> String {
    let check = format!("<script>{}</script></body>", include_str!("check.js"));
    let document = html.replace("</body>", &check).replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><body style=\"margin:0\"><iframe style=\"border:0;width:{width}px;height:900px\" srcdoc=\"{document}\"></iframe></body>"
    )
}

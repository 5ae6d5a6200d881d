//! Links of a page.

use std::fs;
use std::path::Path;

use super::{page, root};

/// Returns the targets of the local links of a page.
pub(crate) fn of(page: &str) -> Vec<String> {
    let ends = page.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    ends.map(|(target, _)| target.to_owned()).filter(|target| !target.contains("://")).collect()
}

#[test]
fn links_lead_somewhere() {
    let check = |file: &Path, text: &str| {
        for target in of(text) {
            let target = target.split('#').next().unwrap();
            assert!(file.parent().unwrap().join(target).exists(), "{}: {target}", file.display());
        }
    };
    for name in super::PAGES {
        check(&root().join("docs/src").join(name), &page(name));
    }
    for name in ["README.md", "CONTRIBUTING.md", "bench/README.md"] {
        let path = root().join(name);
        check(&path, &fs::read_to_string(&path).unwrap());
    }
}

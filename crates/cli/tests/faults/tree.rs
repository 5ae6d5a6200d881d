//! The files of a folder, compared byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The files and folders below a folder, without what depends on the time, memory and interruptions
/// of a run.
pub(crate) struct Tree(BTreeMap<String, Vec<u8>>);

impl Tree {
    pub(crate) fn read(root: &Path) -> Self {
        let mut entries = BTreeMap::new();
        collect(root, "", &mut entries);
        Self(entries)
    }

    /// Compares with a folder. Returns the first difference.
    pub(crate) fn compare(&self, root: &Path) -> Result<(), String> {
        let found = Self::read(root).0;
        for (name, content) in &self.0 {
            match found.get(name) {
                None => return Err(format!("{name} is missing")),
                Some(other) if other != content => return Err(format!("{name} differs")),
                Some(_) => {}
            }
        }
        found
            .keys()
            .find(|name| !self.0.contains_key(*name))
            .map_or(Ok(()), |name| Err(format!("{name} is left")))
    }
}

fn collect(folder: &Path, prefix: &str, entries: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{prefix}/{}", path.file_name().unwrap().to_string_lossy());
        if path.is_dir() {
            collect(&path, &name, entries);
            entries.insert(format!("{name}/"), Vec::new());
        } else {
            let content = lasting(&name, fs::read(&path).unwrap());
            entries.insert(name, content);
        }
    }
}

/// Removes times, memory, process ids and interruptions.
fn lasting(name: &str, content: Vec<u8>) -> Vec<u8> {
    let file = name.rsplit('/').next().unwrap_or_default();
    let volatile: &[&str] = match file {
        ".lock" => return Vec::new(),
        "manifest.json" => &["wall_seconds", "peak_memory_bytes"],
        "events.jsonl" => &["{\"event\":\"resumed\"", "{\"event\":\"interrupted\""],
        "report.html" => &[">time<", ">peak memory<"],
        "facts.csv" => &["time,", "peak memory,"],
        _ => return content,
    };
    let text = String::from_utf8(content).unwrap();
    let rows = text.split('\n').flat_map(|line| line.split("<tr>"));
    let kept = rows.filter(|row| !volatile.iter().any(|word| row.contains(word)));
    kept.collect::<Vec<_>>().join("\n").into_bytes()
}

/// Replaces a folder by a copy of another one.
pub(crate) fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

//! Commands that resume a run.

use std::path::Path;

use crate::folder::{Engine, RunFolder};

/// Describes how to resume the run in a folder, whichever engine it has.
pub fn how_to_resume(folder: &Path) -> String {
    match RunFolder::engine_of(folder) {
        Engine::Process => format!("resume it with `{}`", resume_command(folder)),
        Engine::Flower => {
            format!("resume it by starting its Flower server again with `out = \"{}\"`", folder.display())
        }
    }
}

/// Returns the command that resumes a run in one process, quoted for a shell.
pub fn resume_command(folder: &Path) -> String {
    let path = folder.to_string_lossy();
    // A path that begins with a hyphen would be read as an option.
    let path = if path.starts_with('-') { format!("./{path}") } else { path.into_owned() };
    format!("fedspd resume {}", shell_word(&path))
}

/// Quotes a word for a shell if needed.
pub fn shell_word(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+=:,@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    // A shell changes nothing between single quotes. A quote itself must be outside of them.
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_the_path_that_was_meant() {
        for (path, expected) in [
            ("runs/sample-7f3a", "fedspd resume runs/sample-7f3a"),
            ("my runs/a", "fedspd resume 'my runs/a'"),
            ("a$(b)", "fedspd resume 'a$(b)'"),
            ("it's", r"fedspd resume 'it'\''s'"),
            ("-q", "fedspd resume ./-q"),
            ("", "fedspd resume ''"),
        ] {
            assert_eq!(resume_command(Path::new(path)), expected);
        }
    }
}

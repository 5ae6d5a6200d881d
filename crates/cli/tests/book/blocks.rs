//! Fenced code blocks of a page.

/// A block: ```` ```sh,needs-data ```` has the language `sh` and one mark.
pub(crate) struct Block {
    pub(crate) line: usize,
    pub(crate) language: String,
    pub(crate) marks: Vec<String>,
    pub(crate) text: String,
}

pub(crate) fn of(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                let mut words = info.split(',').map(str::to_owned);
                let language = words.next().unwrap_or_default();
                let (marks, text) = (words.collect(), String::new());
                open = Some(Block { line: number + 1, language, marks, text });
            }
            (None, Some(block)) => {
                block.text += line;
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block that does not end");
    blocks
}

//! The report as one self-contained HTML file: no script, no network access, colours for light,
//! dark and print.

use std::fmt::Write;

use crate::chart::{escape, theme};
use crate::sections::{Block, Section};

/// Renders the page.
pub(crate) fn page(title: &str, about: &str, sections: &[Section]) -> String {
    let mut out = String::with_capacity(1 << 18);
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><title>{}</title>\n<style>\n:root{{{}}}\n@media screen and (prefers-color-scheme:dark){{:root{{{}}}}}\n{}</style></head>\n<body><header><h1>{}</h1><p class=\"about\">{}</p><nav aria-label=\"Contents\">",
        escape(title),
        theme(false),
        theme(true),
        include_str!("style.css"),
        escape(title),
        escape(about),
    );
    for section in sections {
        let _ = write!(out, "<a href=\"#{}\">{}</a>", section.slug, escape(section.title));
    }
    out.push_str("</nav></header>\n<main>");
    for section in sections {
        let _ = write!(out, "\n<section id=\"{}\"><h2>{}</h2>", section.slug, escape(section.title));
        for part in &section.parts {
            self::part(&mut out, part);
        }
        out.push_str("</section>");
    }
    let _ = write!(
        out,
        "</main>\n<footer>Written by fedspd {}. Figures (SVG) and tables (CSV, LaTeX) are in files next to this page, unless only the page was requested. \
         Method: Pautrel, Bouchard, Mian and Ginolhac, FedSPDnet.</footer></body></html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

fn part(out: &mut String, part: &Block) {
    let _ = match part {
        Block::Text(text) => write!(out, "<p>{}</p>", code(text)),
        Block::Cautions(cautions) => {
            let items: Vec<String> = cautions.iter().map(|caution| code(caution)).collect();
            write!(
                out,
                "<div class=\"cautions\" role=\"note\"><h3>Caveats</h3><ul><li>{}</li></ul></div>",
                items.join("</li><li>")
            )
        }
        Block::Figure(figure) => write!(out, "{}", figure.html()),
        Block::Table(table) => write!(out, "{}", table.html()),
        Block::File(_) => Ok(()),
        Block::Details { title, lines } => {
            // Only this part keeps its line ends.
            let lines: Vec<String> = lines.lines().map(escape).collect();
            write!(
                out,
                "<details><summary>{}</summary><pre>{}</pre></details>",
                escape(title),
                lines.join("\n")
            )
        }
    };
}

/// Escapes text and renders parts between back quotes as code.
fn code(text: &str) -> String {
    let parts = escape(text);
    let mut out = String::with_capacity(parts.len());
    for (place, part) in parts.split('`').enumerate() {
        let _ = if place % 2 == 1 { write!(out, "<code>{part}</code>") } else { write!(out, "{part}") };
    }
    out
}

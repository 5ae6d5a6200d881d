//! One HTML file that needs nothing else: no script, no network, colours for light, dark and print.

use std::fmt::Write;

use crate::chart::{escape, theme};
use crate::sections::{Part, Section};

/// The page.
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
        "</main>\n<footer>Written by fedspd {}. Its figures as SVG and its tables as CSV and LaTeX are files beside it, unless it was asked for alone. \
         Method: Pautrel, Bouchard, Mian and Ginolhac, FedSPDnet.</footer></body></html>\n",
        env!("CARGO_PKG_VERSION")
    );
    out
}

fn part(out: &mut String, part: &Part) {
    let _ = match part {
        Part::Text(text) => write!(out, "<p>{}</p>", code(text)),
        Part::Cautions(cautions) => {
            let items: Vec<String> = cautions.iter().map(|caution| code(caution)).collect();
            write!(
                out,
                "<div class=\"cautions\" role=\"note\"><h3>Read with care</h3><ul><li>{}</li></ul></div>",
                items.join("</li><li>")
            )
        }
        Part::Figure(figure) => write!(out, "{}", figure.html()),
        Part::Table(table) => write!(out, "{}", table.html()),
        Part::File(_) => Ok(()),
        Part::Details { title, lines } => {
            // Line ends are kept here, and nowhere else.
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

/// A text in which what is between back quotes is typed.
fn code(text: &str) -> String {
    let parts = escape(text);
    let mut out = String::with_capacity(parts.len());
    for (place, part) in parts.split('`').enumerate() {
        let _ = if place % 2 == 1 { write!(out, "<code>{part}</code>") } else { write!(out, "{part}") };
    }
    out
}

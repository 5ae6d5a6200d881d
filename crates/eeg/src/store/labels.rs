//! Labels of trials and the names of their classes.

use super::archive::Archive;
use super::{Note, StoreFault};
use crate::Error;
use crate::npz::ValueKind;

impl Archive<'_> {
    /// Reads the classes, and the label of each trial as an index into them. Without `classes`, the
    /// sorted labels are the classes.
    pub(super) fn labels(&mut self, notes: &mut Vec<Note>) -> Result<(Vec<String>, Vec<usize>), Error> {
        let named = self.file.kind("y")? == ValueKind::Text;
        if self.has("classes") {
            let names = self.names("classes")?;
            let classes = self.different("classes", names)?;
            let labels = if named { self.by_name(&classes)? } else { self.by_index(classes.len())? };
            return Ok((classes, labels));
        }
        let (classes, labels) =
            if named { indexed(&self.file.strings("y")?.values) } else { indexed(&self.whole("y")?) };
        notes.push(Note::ClassesOfLabels { classes: classes.clone() });
        Ok((classes, labels))
    }

    fn by_name(&mut self, classes: &[String]) -> Result<Vec<usize>, Error> {
        let names = self.file.strings("y")?.values;
        let label = |(trial, name): (usize, &String)| {
            classes.iter().position(|class| class == name).ok_or_else(|| {
                let (label, classes) = (name.clone(), classes.to_vec());
                self.fault(StoreFault::LabelName { trial, label, classes })
            })
        };
        names.iter().enumerate().map(label).collect()
    }

    fn by_index(&mut self, classes: usize) -> Result<Vec<usize>, Error> {
        let numbers = self.whole("y")?;
        let label = |(trial, &label): (usize, &i64)| {
            let index = usize::try_from(label).ok().filter(|&index| index < classes);
            index.ok_or_else(|| self.fault(StoreFault::Label { trial, label, classes }))
        };
        numbers.iter().enumerate().map(label).collect()
    }
}

/// Returns the sorted distinct values as texts, and the index of each value among them.
fn indexed<T: Ord + std::fmt::Display>(values: &[T]) -> (Vec<String>, Vec<usize>) {
    let mut sorted: Vec<&T> = values.iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let index = |value| sorted.binary_search(&value).unwrap_or_else(|place| place);
    (sorted.iter().map(ToString::to_string).collect(), values.iter().map(index).collect())
}

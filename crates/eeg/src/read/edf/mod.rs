//! EDF, EDF+, BDF and BDF+: one layout, with samples of 16 or 24 bits.
//!
//! A text header is followed by records of equal duration. Each record holds samples of every
//! signal, one signal after the other. The plus stands for annotations, which have their own
//! signals ([EDF](https://www.edfplus.info/specs/edf.html),
//! [EDF+](https://www.edfplus.info/specs/edfplus.html),
//! [BDF](https://www.biosemi.com/faq/file_format.htm)).

mod annotations;
mod fault;
mod gaps;
mod header;
mod samples;

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use annotations::Notes;
use samples::Selection;

pub use fault::{EdfFault, Field};
pub use gaps::Gap;
pub use header::{EdfFormat, EdfHeader, EdfSignal};

use crate::{Annotation, Error, Recording, regular};

/// The number of gaps listed in an error.
const LISTED_GAPS: usize = 5;

/// A file whose header has been read and checked. Records are read one at a time, on demand.
///
/// ```no_run
/// use fedspd_eeg::read::EdfFile;
///
/// let path = std::path::Path::new("S001R04.edf");
/// let mut file = EdfFile::open(path)?;
/// let signals: Vec<usize> = file.header().sampled().collect();
/// let recording = file.recording(&signals).map_err(|fault| fault.at(path))?;
/// # Ok::<(), fedspd_eeg::Error>(())
/// ```
#[derive(Debug)]
pub struct EdfFile<R> {
    reader: R,
    header: EdfHeader,
    /// The required bytes of one record.
    buffer: Vec<u8>,
}

impl EdfFile<BufReader<File>> {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`Error::File`] if the system cannot read it; [`Error::Edf`] if it is not a valid file of
    /// these formats.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let open = || {
            let file = regular::open(path)?;
            if file.metadata()?.is_dir() {
                return Err(EdfFault::Folder);
            }
            Self::new(BufReader::new(file))
        };
        open().map_err(|fault| fault.at(path))
    }
}

impl<R: Read + Seek> EdfFile<R> {
    /// Reads the header of a file from the beginning of the reader.
    ///
    /// # Errors
    /// Faults of the header, or a length that contradicts it.
    pub fn new(mut reader: R) -> Result<Self, EdfFault> {
        let header = EdfHeader::read(&mut reader)?;
        Ok(Self { reader, header, buffer: Vec::new() })
    }

    /// The header.
    pub fn header(&self) -> &EdfHeader {
        &self.header
    }

    /// Reads all annotations, by onset. Onsets are elapsed times, gaps included.
    ///
    /// # Errors
    /// [`EdfFault::Annotation`]; [`EdfFault::System`] or [`EdfFault::Shrank`] if the file can no
    /// longer be read.
    pub fn annotations(&mut self) -> Result<Vec<Annotation>, EdfFault> {
        let mut notes = Notes::new(&self.header);
        if notes.span().is_empty() {
            return Ok(Vec::new());
        }
        self.each_record(notes.span(), |record, bytes| notes.add(record, bytes))?;
        Ok(notes.finish())
    }

    /// Finds the gaps between records. Only files declared as discontinuous can have gaps.
    ///
    /// # Errors
    /// [`EdfFault::NoTime`] if a record has no start time; as [`Self::annotations`].
    pub fn gaps(&mut self) -> Result<Vec<Gap>, EdfFault> {
        let sampled = self.header.sampled().map(|signal| self.header.signals[signal].samples_per_record);
        let Some(most) = sampled.max().filter(|_| !self.header.continuous) else { return Ok(Vec::new()) };
        let (notes, mut times) = (Notes::new(&self.header), Vec::new());
        self.each_record(notes.span(), |record, bytes| {
            times.push(notes.time(record, bytes)?.ok_or(EdfFault::NoTime { record })?);
            Ok(())
        })?;
        Ok(gaps::gaps(&times, self.header.record_duration, most))
    }

    /// Checks by the header whether a signal can be read.
    ///
    /// # Errors
    /// A signal that does not exist, holds annotations, or has no scale.
    pub fn check(&self, signal: usize) -> Result<(), EdfFault> {
        Selection::new(&self.header, &[signal]).map(|_| ())
    }

    /// Reads the samples of some signals, sample by sample with all signals side by side, in the
    /// given order. Voltages are in microvolts, other signals in their own unit.
    ///
    /// # Errors
    /// Signals that do not exist, hold annotations, have different rates or no scale;
    /// [`EdfFault::Gaps`]; [`EdfFault::Memory`]; as [`Self::gaps`].
    pub fn read(&mut self, signals: &[usize]) -> Result<Vec<f64>, EdfFault> {
        let selection = Selection::new(&self.header, signals)?;
        self.refuse_gaps()?;
        let mut samples = selection.reserve(self.header.records)?;
        self.each_record(selection.span(), |_, bytes| {
            selection.append(bytes, &mut samples);
            Ok(())
        })?;
        Ok(samples)
    }

    /// Passes the samples of some signals to `visit`, in the layout of [`Self::read`], record by
    /// record. Gaps between records are ignored.
    ///
    /// # Errors
    /// Signals that do not exist, hold annotations, have different rates or no scale; as
    /// [`Self::annotations`].
    pub fn each(&mut self, signals: &[usize], mut visit: impl FnMut(&[f64])) -> Result<(), EdfFault> {
        let selection = Selection::new(&self.header, signals)?;
        let mut samples = Vec::new();
        self.each_record(selection.span(), |_, bytes| {
            samples.clear();
            selection.append(bytes, &mut samples);
            visit(&samples);
            Ok(())
        })
    }

    /// Reads some signals and all annotations.
    ///
    /// # Errors
    /// As [`Self::read`] and [`Self::annotations`].
    pub fn recording(&mut self, signals: &[usize]) -> Result<Recording, EdfFault> {
        let sfreq = Selection::new(&self.header, signals)?.sfreq;
        let annotations = self.annotations()?;
        let samples = self.read(signals)?;
        let channels = signals.iter().map(|&signal| self.header.signals[signal].label.clone()).collect();
        Ok(Recording { sfreq, channels, samples, annotations })
    }

    fn refuse_gaps(&mut self) -> Result<(), EdfFault> {
        let mut gaps = self.gaps()?;
        let count = gaps.len();
        if count == 0 {
            return Ok(());
        }
        gaps.truncate(LISTED_GAPS);
        Err(EdfFault::Gaps { count, first: gaps })
    }

    /// Reads a part of every record. Seeks over the rest.
    fn each_record(
        &mut self,
        span: Range<usize>,
        mut visit: impl FnMut(usize, &[u8]) -> Result<(), EdfFault>,
    ) -> Result<(), EdfFault> {
        if self.header.records == 0 {
            // Without records, the record size in the header is not backed by any bytes.
            return Ok(());
        }
        self.buffer.resize(span.len(), 0);
        self.reader.seek(SeekFrom::Start(self.header.bytes() + span.start as u64))?;
        // No loss: a record is not longer than the file, and file lengths have 63 bits.
        let between = i64::try_from(self.header.record_bytes() - span.len()).unwrap_or(i64::MAX);
        for record in 0..self.header.records {
            if record > 0 && between > 0 {
                self.reader.seek_relative(between)?;
            }
            self.reader.read_exact(&mut self.buffer).map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => EdfFault::Shrank { record },
                _ => error.into(),
            })?;
            visit(record, &self.buffer)?;
        }
        Ok(())
    }
}

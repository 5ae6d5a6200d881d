//! One download attempt.

use std::io::{self, ErrorKind, Read, Write};

use sha2::Digest;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body, Timeout};

use super::checksum::CHUNK;
use super::expected::Expected;
use super::partial::{Beginning, PartialFile};
use super::{Checksum, Obstacle, Progress, RemoteFile, Settings, answer};
use crate::Error;

/// The reason why a request failed.
pub(super) enum Failure {
    /// A failure of the network: another attempt may help.
    Obstacle(Obstacle),
    /// A failure of the disk: another attempt does not help.
    Local(Box<Error>),
}

impl From<Obstacle> for Failure {
    fn from(obstacle: Obstacle) -> Self {
        Self::Obstacle(obstacle)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Local(Box::new(error))
    }
}

/// A completed download.
pub(super) struct Whole {
    pub(super) checksum: Checksum,
    /// The bytes received over the network.
    pub(super) received: u64,
    /// Whether they continued a partial file.
    pub(super) resumed: bool,
}

/// The inputs of one attempt.
pub(super) struct Transfer<'a> {
    pub(super) agent: &'a Agent,
    pub(super) settings: &'a Settings,
    pub(super) file: &'a RemoteFile,
    pub(super) url: &'a str,
    pub(super) part: &'a PartialFile,
    pub(super) expected: &'a Expected,
}

impl Transfer<'_> {
    /// Runs one attempt: continues the partial file, or else starts over at once.
    pub(super) fn run(&self, progress: &mut dyn Progress) -> Result<Whole, Failure> {
        if let Some(beginning) = self.beginning()? {
            let checksum = beginning.checksum();
            if self.expected.checksum == Some(checksum) {
                return Ok(Whole { checksum, received: 0, resumed: true });
            }
            if let Some(whole) = self.request(Some(beginning), progress)? {
                match self.check(&whole) {
                    Ok(()) => return Ok(whole),
                    // The partial file may be wrong, and the server cannot know that.
                    Err(_) if whole.resumed => {}
                    Err(obstacle) => return Err(self.discarded(obstacle)?),
                }
            }
            self.part.discard()?;
        }
        let Some(whole) = self.request(None, progress)? else {
            let reason = "partial content for a request of the whole file".into();
            return Err(Obstacle::Protocol { reason }.into());
        };
        match self.check(&whole) {
            Ok(()) => Ok(whole),
            Err(obstacle) => Err(self.discarded(obstacle)?),
        }
    }

    /// Opens the partial file, if it can be continued from this address.
    fn beginning(&self) -> Result<Option<Beginning>, Error> {
        let beginning = self.part.beginning(self.url)?;
        Ok(beginning.filter(|beginning| match self.expected.checksum {
            // The checksum decides in the end.
            Some(checksum) => {
                self.expected.size.is_none_or(|size| beginning.length < size)
                    || beginning.checksum() == checksum
            }
            // Only the server knows whether both parts belong to one version.
            None => beginning.tag.is_some() && self.expected.size.is_none_or(|size| beginning.length < size),
        }))
    }

    fn check(&self, whole: &Whole) -> Result<(), Obstacle> {
        match self.expected.checksum {
            Some(expected) if expected != whole.checksum => {
                Err(Obstacle::Checksum { expected, found: whole.checksum })
            }
            _ => Ok(()),
        }
    }

    /// Deletes the partial file, and returns the obstacle.
    fn discarded(&self, obstacle: Obstacle) -> Result<Failure, Error> {
        self.part.discard()?;
        Ok(Failure::Obstacle(obstacle))
    }

    /// Requests the file or the rest of it. Returns `None` if the server does not continue the
    /// partial file.
    fn request(
        &self,
        beginning: Option<Beginning>,
        progress: &mut dyn Progress,
    ) -> Result<Option<Whole>, Failure> {
        let there = beginning.as_ref().map_or(0, |beginning| beginning.length);
        let mut request = self.agent.get(self.url);
        if let Some(beginning) = &beginning {
            request = request.header(header::RANGE, format!("bytes={}-", beginning.length));
            if let Some(tag) = &beginning.tag {
                request = request.header(header::IF_RANGE, tag);
            }
        }
        // A request over https must not be redirected to an unprotected address.
        let request = request.config().https_only(self.url.starts_with("https:")).build();
        let response = request.call().map_err(|error| self.unanswered(error, there))?;
        match (response.status(), beginning) {
            (StatusCode::OK, beginning) => {
                // Some systems cannot replace an open file.
                drop(beginning);
                self.fresh(response, progress).map(Some)
            }
            (StatusCode::PARTIAL_CONTENT, Some(beginning)) => self.rest(response, beginning, progress),
            (StatusCode::PARTIAL_CONTENT, None) | (StatusCode::RANGE_NOT_SATISFIABLE, Some(_)) => Ok(None),
            (status, _) => {
                let retry_after = answer::retry_after(response.headers());
                Err(Obstacle::Status { code: status.as_u16(), retry_after }.into())
            }
        }
    }

    /// Receives a file from its first byte.
    fn fresh(&self, response: Response<Body>, progress: &mut dyn Progress) -> Result<Whole, Failure> {
        let total = response.body().content_length();
        if let (Some(expected), Some(found)) = (self.expected.size, total)
            && expected != found
        {
            return Err(Obstacle::Size { expected, found }.into());
        }
        let known = self.expected.checksum.is_some() || self.expected.size.is_some();
        if total.is_none() && !known && !answer::is_chunked(response.headers()) {
            return Err(Obstacle::Unbounded.into());
        }
        let tag = answer::tag(response.headers());
        let beginning = self.part.start(self.url, tag.as_deref())?;
        self.receive(response, beginning, total.or(self.expected.size), progress)
    }

    /// Receives the rest of a file, if it belongs to the same version.
    fn rest(
        &self,
        response: Response<Body>,
        beginning: Beginning,
        progress: &mut dyn Progress,
    ) -> Result<Option<Whole>, Failure> {
        let Some(range) = answer::content_range(response.headers()) else {
            return Ok(None);
        };
        // Some servers ignore `If-Range`.
        let other_version = match (&beginning.tag, answer::tag(response.headers())) {
            (Some(ours), Some(theirs)) => *ours != theirs,
            _ => false,
        };
        let other_size = self.expected.size.is_some_and(|size| size != range.total);
        if range.first != beginning.length || other_version || other_size {
            return Ok(None);
        }
        self.receive(response, beginning, Some(range.total), progress).map(Some)
    }

    fn receive(
        &self,
        response: Response<Body>,
        beginning: Beginning,
        total: Option<u64>,
        progress: &mut dyn Progress,
    ) -> Result<Whole, Failure> {
        let Beginning { mut file, mut hasher, length: there, .. } = beginning;
        let mut length = there;
        let mut body = response.into_body().into_reader();
        let mut chunk = vec![0; CHUNK];
        progress.advanced(self.file, length, total);
        loop {
            let count = match body.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.interrupted(error, length, total).into()),
            };
            file.write_all(&chunk[..count]).map_err(Error::file(&self.part.data))?;
            hasher.update(&chunk[..count]);
            length += count as u64;
            if let Some(expected) = total
                && length > expected
            {
                return Err(self.discarded(Obstacle::Size { expected, found: length })?);
            }
            progress.advanced(self.file, length, total);
        }
        if total.is_some_and(|total| length < total) {
            return Err(Obstacle::Truncated { received: length, total }.into());
        }
        Ok(Whole { checksum: Checksum::of(hasher), received: length - there, resumed: there > 0 })
    }

    /// Classifies an error before the response.
    fn unanswered(&self, error: ureq::Error, received: u64) -> Obstacle {
        match error {
            ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
                Obstacle::NoConnection { after: self.settings.connect_timeout }
            }
            ureq::Error::Timeout(_) => {
                Obstacle::Stalled { after: self.settings.read_timeout, received, total: self.expected.size }
            }
            ureq::Error::Io(error) => match error.kind() {
                ErrorKind::UnexpectedEof
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::BrokenPipe => Obstacle::NoAnswer,
                // Most TLS faults arrive in this form.
                ErrorKind::InvalidData => Obstacle::Tls { reason: error.to_string() },
                _ => Obstacle::Unreachable { reason: reason(&error) },
            },
            ureq::Error::TooManyRedirects => Obstacle::Redirects { limit: self.settings.redirects },
            ureq::Error::RequireHttpsOnly(_) => Obstacle::Insecure,
            ureq::Error::BadUri(reason) => Obstacle::Address { reason },
            ureq::Error::Http(error) => Obstacle::Address { reason: error.to_string() },
            ureq::Error::Rustls(error) => Obstacle::Tls { reason: error.to_string() },
            ureq::Error::Tls(reason) => Obstacle::Tls { reason: reason.into() },
            error @ (ureq::Error::HostNotFound
            | ureq::Error::ConnectionFailed
            | ureq::Error::InvalidProxyUrl
            | ureq::Error::ConnectProxyFailed(_)) => Obstacle::Unreachable { reason: error.to_string() },
            error => Obstacle::Protocol { reason: error.to_string() },
        }
    }

    /// Classifies an error within the body of a response.
    fn interrupted(&self, error: io::Error, received: u64, total: Option<u64>) -> Obstacle {
        match ureq::Error::from(error) {
            ureq::Error::Timeout(_) => {
                Obstacle::Stalled { after: self.settings.read_timeout, received, total }
            }
            ureq::Error::Io(_) => Obstacle::Truncated { received, total },
            error => Obstacle::Protocol { reason: error.to_string() },
        }
    }
}

/// The reason in words that are the same on every system, if there are such words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        kind @ (ErrorKind::ConnectionRefused
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable) => kind.to_string(),
        _ => error.to_string(),
    }
}

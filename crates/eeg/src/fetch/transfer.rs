//! One request, and what comes of it.

use std::io::{self, ErrorKind, Read, Write};

use sha2::Digest;
use ureq::http::{Response, StatusCode, header};
use ureq::{Agent, Body, Timeout};

use super::checksum::CHUNK;
use super::expected::Expected;
use super::part::{Beginning, Part};
use super::{Checksum, Obstacle, Progress, RemoteFile, Settings, answer};
use crate::Error;

/// Why a request did not bring the file.
pub(super) enum Failure {
    /// The network: another attempt may help.
    Obstacle(Obstacle),
    /// The disk: it does not.
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

/// A part that has become a whole.
pub(super) struct Whole {
    pub(super) checksum: Checksum,
    /// How many bytes came over the network.
    pub(super) received: u64,
    /// Whether they continued what was there before.
    pub(super) resumed: bool,
}

/// Everything that one attempt needs.
pub(super) struct Transfer<'a> {
    pub(super) agent: &'a Agent,
    pub(super) settings: &'a Settings,
    pub(super) file: &'a RemoteFile,
    pub(super) url: &'a str,
    pub(super) part: &'a Part,
    pub(super) expected: &'a Expected,
}

impl Transfer<'_> {
    /// One attempt: continues what is there; if that leads nowhere, starts over at once.
    pub(super) fn run(&self, progress: &mut dyn Progress) -> Result<Whole, Failure> {
        if let Some(beginning) = self.beginning()? {
            let checksum = beginning.checksum();
            if self.expected.checksum == Some(checksum) {
                return Ok(Whole { checksum, received: 0, resumed: true });
            }
            if let Some(whole) = self.request(Some(beginning), progress)? {
                match self.check(&whole) {
                    Ok(()) => return Ok(whole),
                    // The beginning may be at fault, of which this server knows nothing.
                    Err(_) if whole.resumed => {}
                    Err(obstacle) => return Err(self.discarded(obstacle)?),
                }
            }
            self.part.discard()?;
        }
        let Some(whole) = self.request(None, progress)? else {
            let reason = "a part where the whole was asked for".into();
            return Err(Obstacle::Protocol { reason }.into());
        };
        match self.check(&whole) {
            Ok(()) => Ok(whole),
            Err(obstacle) => Err(self.discarded(obstacle)?),
        }
    }

    /// What is there, if it can be continued from this address.
    fn beginning(&self) -> Result<Option<Beginning>, Error> {
        let beginning = self.part.beginning(self.url)?;
        Ok(beginning.filter(|beginning| match self.expected.checksum {
            // The checksum will tell.
            Some(checksum) => {
                self.expected.size.is_none_or(|size| beginning.length < size)
                    || beginning.checksum() == checksum
            }
            // Only the server can tell whether both parts are of one file.
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

    /// The obstacle, after what led to it was thrown away.
    fn discarded(&self, obstacle: Obstacle) -> Result<Failure, Error> {
        self.part.discard()?;
        Ok(Failure::Obstacle(obstacle))
    }

    /// Asks for the file, or for the rest of it; nothing comes back if the server does not continue what is there.
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
        // Who asks for a protected file must not be led to an unprotected one.
        let request = request.config().https_only(self.url.starts_with("https:")).build();
        let response = request.call().map_err(|error| self.unanswered(error, there))?;
        match (response.status(), beginning) {
            (StatusCode::OK, beginning) => {
                // Not every system replaces a file that is open.
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

    /// Receives the rest of a file, if it is the rest of this one.
    fn rest(
        &self,
        response: Response<Body>,
        beginning: Beginning,
        progress: &mut dyn Progress,
    ) -> Result<Option<Whole>, Failure> {
        let Some(range) = answer::content_range(response.headers()) else {
            return Ok(None);
        };
        // Some servers overlook `If-Range`.
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

    /// Why there was no answer.
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
                // The form in which most faults of TLS come.
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

    /// Why an answer did not go on.
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

/// What the system says in the same words everywhere, where it has such words.
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

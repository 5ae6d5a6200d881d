//! A scripted web server: one reply for each request.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    lines: Vec<String>,
}

impl Request {
    fn read(stream: &TcpStream) -> Self {
        let lines = BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty());
        Self { lines: lines.collect() }
    }

    /// The path of the address.
    pub(crate) fn path(&self) -> &str {
        self.lines[0].split(' ').nth(1).unwrap()
    }

    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.lines.iter().skip(1).find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The first requested byte; `None` for the whole file.
    pub(crate) fn first_byte(&self) -> Option<usize> {
        let first = self.header("range")?.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap();
        Some(first.parse().unwrap())
    }
}

/// The bytes sent for a request.
type Answer = dyn FnOnce(&Request) -> Vec<u8> + Send;

/// The action of the server after its answer.
enum Then {
    Close,
    /// Keeps the connection open and sends nothing more.
    Stall,
}

/// The reaction of the server to one request.
pub(crate) struct Reply {
    /// Whether it reads the request.
    listens: bool,
    gate: Option<Receiver<()>>,
    answer: Box<Answer>,
    then: Then,
}

impl Reply {
    fn new(answer: impl FnOnce(&Request) -> Vec<u8> + Send + 'static) -> Self {
        Self { listens: true, gate: None, answer: Box::new(answer), then: Then::Close }
    }

    /// These bytes, for any request.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        let bytes = bytes.into();
        Self::new(|_| bytes)
    }

    /// A status, with headers (each ending with a line break) and nothing else.
    pub(crate) fn status(code: u16, headers: &str) -> Self {
        Self::raw(format!("HTTP/1.1 {code} X\r\nContent-Length: 0\r\nConnection: close\r\n{headers}\r\n"))
    }

    /// The whole file, for any range.
    pub(crate) fn whole(content: &[u8]) -> Self {
        Self::raw(whole(content, ""))
    }

    /// The whole file, with further headers.
    pub(crate) fn whole_with(content: &[u8], headers: &str) -> Self {
        Self::raw(whole(content, headers))
    }

    /// The requested range, unless the version differs, as a correct server replies.
    pub(crate) fn ranges(content: &[u8], tag: &str) -> Self {
        let (content, tag) = (content.to_vec(), tag.to_owned());
        Self::new(move |request| {
            let headers = format!("ETag: {tag}\r\n");
            match request.first_byte() {
                Some(first) if first >= content.len() => {
                    format!("HTTP/1.1 416 X\r\nContent-Range: bytes */{}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", content.len()).into_bytes()
                }
                Some(first) if request.header("if-range").is_none_or(|version| version == tag) => {
                    part(&content[first..], first, content.len(), &headers)
                }
                _ => whole(&content, &headers),
            }
        })
    }

    /// A part of a file that is declared to begin at `first`, for any request.
    pub(crate) fn part(content: &[u8], first: usize, total: usize) -> Self {
        Self::raw(part(content, first, total, ""))
    }

    /// A redirect.
    pub(crate) fn redirect(to: &str) -> Self {
        Self::status(302, &format!("Location: {to}\r\n"))
    }

    /// No answer, for ever.
    pub(crate) fn silence() -> Self {
        Self::raw("").stalls()
    }

    /// Closes the connection at once.
    pub(crate) fn hang_up() -> Self {
        Self::raw("").unheard()
    }

    /// The same reply, without reading the request.
    pub(crate) fn unheard(self) -> Self {
        Self { listens: false, ..self }
    }

    /// The same reply without the last bytes.
    pub(crate) fn short_of(self, missing: usize) -> Self {
        let answer = self.answer;
        let cut = move |request: &Request| {
            let mut bytes = answer(request);
            bytes.truncate(bytes.len() - missing);
            bytes
        };
        Self { answer: Box::new(cut), ..self }
    }

    /// The same reply, with the connection kept open.
    pub(crate) fn stalls(self) -> Self {
        Self { then: Then::Stall, ..self }
    }

    /// The same reply, sent only after the signal.
    pub(crate) fn after(self, gate: Receiver<()>) -> Self {
        Self { gate: Some(gate), ..self }
    }
}

fn whole(content: &[u8], headers: &str) -> Vec<u8> {
    let length = content.len();
    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n");
    [head.as_bytes(), content].concat()
}

fn part(content: &[u8], first: usize, total: usize, headers: &str) -> Vec<u8> {
    let length = content.len();
    let last = first + length - 1;
    let head = format!(
        "HTTP/1.1 206 X\r\nContent-Length: {length}\r\nContent-Range: bytes {first}-{last}/{total}\r\nConnection: close\r\n{headers}\r\n"
    );
    [head.as_bytes(), content].concat()
}

/// The server, on its own port until it is dropped.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Request>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Answers each request with the next reply, and with status 599 when none is left.
    pub(crate) fn new(script: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let stop = Arc::new(AtomicBool::new(false));
        let mut script = script.into_iter().collect::<Vec<_>>().into_iter();
        let (log, stopped) = (Arc::clone(&requests), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let mut stalled = Vec::new();
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    break;
                }
                let mut stream = stream.unwrap();
                let reply = script.next().unwrap_or_else(|| Reply::status(599, ""));
                let request = if reply.listens { Request::read(&stream) } else { Request { lines: vec![] } };
                log.lock().unwrap().push(request.clone());
                if let Some(gate) = reply.gate {
                    gate.recv().unwrap();
                }
                // The client may be gone; the test will notice it there.
                let _ = stream.write_all(&(reply.answer)(&request));
                if let Then::Stall = reply.then {
                    stalled.push(stream);
                }
            }
        });
        Self { address, requests, stop, thread: Some(thread) }
    }

    /// An address on this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

//! A scripted server: answers one request after the other as it is told, and keeps what it saw, byte for byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    pub head: String,
    pub body: Vec<u8>,
    pub at: Instant,
}

impl Seen {
    /// `GET /path HTTP/1.1`
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// `/path?query`
    pub fn path(&self) -> &str {
        self.line().split(' ').nth(1).unwrap_or_default()
    }

    /// All values of a header.
    pub fn all(&self, name: &str) -> Vec<&str> {
        let pairs = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        pairs.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    /// The value of a header that must be there once.
    pub fn header(&self, name: &str) -> &str {
        let all = self.all(name);
        assert_eq!(all.len(), 1, "{name} in {}", self.head);
        all[0]
    }
}

/// What an answer is made of.
#[derive(Debug, Clone)]
enum Piece {
    Bytes(Vec<u8>),
    Pause(Duration),
    /// The same bytes again and again, with a pause after each, until the client is gone.
    Forever(Vec<u8>, Duration),
}

/// An answer, head and all.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pieces: Vec<Piece>,
}

impl Answer {
    /// Exactly these bytes.
    pub fn raw(bytes: impl AsRef<[u8]>) -> Self {
        Self::default().bytes(bytes)
    }

    /// A status and headers, and a body of that length.
    pub fn new(status: u16, headers: &[(&str, &str)], body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len().to_string();
        Self::head(status, &[headers, &[("Content-Length", length.as_str())]].concat()).bytes(body)
    }

    /// A status and headers, whose body follows.
    pub fn head(status: u16, headers: &[(&str, &str)]) -> Self {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        Self::raw(format!("HTTP/1.1 {status} Said\r\n{headers}\r\n"))
    }

    pub fn ok(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[], body)
    }

    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new(status, &[("Location", location)], "moved")
    }

    pub fn bytes(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.pieces.push(Piece::Bytes(bytes.as_ref().to_vec()));
        self
    }

    pub fn pause(mut self, duration: Duration) -> Self {
        self.pieces.push(Piece::Pause(duration));
        self
    }

    pub fn forever(mut self, bytes: impl AsRef<[u8]>, pause: Duration) -> Self {
        self.pieces.push(Piece::Forever(bytes.as_ref().to_vec(), pause));
        self
    }
}

type Script = dyn Fn(usize, &Seen) -> Answer + Send + Sync;

/// A server on the loopback address. It lives as long as the test.
#[derive(Clone)]
pub struct Server {
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Gives these answers in turn; the last one stays.
    pub fn answers(answers: Vec<Answer>) -> Self {
        Self::new(move |number, _| answers[number.min(answers.len() - 1)].clone())
    }

    /// Gives what `script` says for the request with this number, from 0.
    pub fn new(script: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let (seen, script) = (Arc::clone(&server.seen), Arc::new(script));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                thread::spawn(move || serve(stream, &seen, &*script));
            }
        });
        server
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// The only request that arrived.
    pub fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }
}

fn serve(mut stream: impl Read + Write, seen: &Mutex<Vec<Seen>>, script: &Script) {
    let mut buffered = Vec::new();
    while let Some(head) = read_head(&mut stream, &mut buffered) {
        let mut request = Seen { head, body: Vec::new(), at: Instant::now() };
        let length = request.all("content-length").first().map_or(0, |length| length.parse().unwrap());
        while buffered.len() < length && read_more(&mut stream, &mut buffered) {}
        request.body = buffered.drain(..length.min(buffered.len())).collect();
        let answer = {
            let mut seen = seen.lock().unwrap();
            let answer = script(seen.len(), &request);
            seen.push(request);
            answer
        };
        if write(&mut stream, &answer).is_none() {
            return;
        }
    }
}

fn read_head(stream: &mut impl Read, buffered: &mut Vec<u8>) -> Option<String> {
    loop {
        if buffered.ends_with(b"\r\n\r\n") {
            return Some(String::from_utf8_lossy(&std::mem::take(buffered)).into_owned());
        }
        if !read_more(stream, buffered) {
            return None;
        }
    }
}

fn read_more(stream: &mut impl Read, buffered: &mut Vec<u8>) -> bool {
    let mut byte = [0];
    let read = stream.read(&mut byte).unwrap_or(0);
    buffered.extend_from_slice(&byte[..read]);
    read > 0
}

fn write(stream: &mut impl Write, answer: &Answer) -> Option<()> {
    for piece in &answer.pieces {
        match piece {
            Piece::Bytes(bytes) => stream.write_all(bytes).ok()?,
            Piece::Pause(duration) => thread::sleep(*duration),
            Piece::Forever(bytes, pause) => loop {
                stream.write_all(bytes).ok()?;
                thread::sleep(*pause);
            },
        }
    }
    Some(())
}

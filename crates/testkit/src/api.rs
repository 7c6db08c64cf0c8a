//! An API for tests: a real HTTP server on loopback that answers as a closure says, and records what it was asked.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct ApiRequest {
    /// `GET`, `POST`, ….
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query as sent; empty without one.
    pub query: String,
    /// Headers in their order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// When it had arrived.
    pub at: Instant,
}

impl ApiRequest {
    /// A parameter of the query, decoded; the first of several.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let mut pairs = self.query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.find(|(key, _)| decoded(key) == name).map(|(_, value)| decoded(value))
    }

    /// A header by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// `%41` and `+` as what they stand for.
fn decoded(text: &str) -> String {
    let mut bytes = text.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [bytes.next().unwrap_or(b'0'), bytes.next().unwrap_or(b'0')];
                u8::from_str_radix(&String::from_utf8_lossy(&digits), 16).unwrap_or(b'?')
            }
            other => other,
        });
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// What is answered.
#[derive(Debug, Clone)]
pub struct ApiAnswer {
    /// The status.
    pub status: u16,
    /// Headers beside those that frame the body.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// How long to wait before it.
    pub delay: Duration,
    /// How many bytes of the whole answer are sent before the connection is cut.
    pub cut_after: Option<usize>,
}

impl ApiAnswer {
    /// A text with a status.
    pub fn text(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), body: body.into(), delay: Duration::ZERO, cut_after: None }
    }

    /// JSON with the status 200.
    pub fn json(body: impl Into<Vec<u8>>) -> Self {
        Self::text(200, body).with_header("Content-Type", "application/json")
    }

    /// No answer: the connection is closed.
    pub fn none() -> Self {
        Self::text(200, "").cut_after(0)
    }

    /// With a header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// After a pause.
    pub fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Only the first bytes of it, and then the connection is cut.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.cut_after = Some(bytes);
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} Status\r\nContent-Length: {}\r\n", self.status, self.body.len());
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

/// Answers requests; may be called by several threads at once, and may wait as long as it likes.
type Handler = dyn Fn(&ApiRequest) -> ApiAnswer + Send + Sync;

/// A running server; stopped when dropped.
pub struct Api {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    handler: Box<Handler>,
    requests: Mutex<Vec<ApiRequest>>,
    is_stopped: AtomicBool,
}

impl Api {
    /// Starts a server on a free port.
    pub fn start(handler: impl Fn(&ApiRequest) -> ApiAnswer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let shared = Arc::new(Shared {
            handler: Box::new(handler),
            requests: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if serving.is_stopped.load(Ordering::SeqCst) {
                    break;
                }
                let (Ok(stream), serving) = (stream, Arc::clone(&serving)) else { continue };
                // A client that goes away ends its connection, not the server.
                thread::spawn(move || drop(serving.converse(&stream)));
            }
        });
        Self { port, shared }
    }

    /// `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All requests so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<ApiRequest> {
        self.shared.requests().clone()
    }

    /// The requests since the last call of this.
    pub fn take_requests(&self) -> Vec<ApiRequest> {
        std::mem::take(&mut *self.shared.requests())
    }

    /// Waits until a request arrived that `is_it`.
    #[track_caller]
    pub fn wait_for(&self, is_it: impl Fn(&ApiRequest) -> bool) {
        let started = Instant::now();
        while !self.shared.requests().iter().any(&is_it) {
            assert!(started.elapsed() < Duration::from_mins(2), "the request does not come");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    fn requests(&self) -> std::sync::MutexGuard<'_, Vec<ApiRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the requests of a connection, one after the other.
    fn converse(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = read_request(&mut reader)? {
            self.requests().push(request.clone());
            let answer = (self.handler)(&request);
            thread::sleep(answer.delay);
            let bytes = answer.bytes();
            let end = answer.cut_after.unwrap_or(bytes.len()).min(bytes.len());
            (&mut &*stream).write_all(&bytes[..end])?;
            if answer.cut_after.is_some() {
                return stream.shutdown(Shutdown::Both);
            }
        }
        Ok(())
    }
}

/// The next request; `None` at the end of the connection.
fn read_request(reader: &mut impl BufRead) -> io::Result<Option<ApiRequest>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = Vec::new();
    loop {
        line.clear();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap_or(0))];
    reader.read_exact(&mut body)?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    Ok(Some(ApiRequest { method, path, query, headers, body, at: Instant::now() }))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpStream;

    use super::{Api, ApiAnswer};

    fn ask(api: &Api, request: &str) -> String {
        let mut stream = TcpStream::connect(api.url().trim_start_matches("http://")).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn it_answers_and_records() {
        let api = Api::start(|request| match request.path.as_str() {
            "/none" => ApiAnswer::none(),
            _ => ApiAnswer::json(request.text()).with_header("X-A", "b"),
        });
        let answer = ask(&api, "POST /x?a=%41+b&c HTTP/1.1\r\nContent-Length: 2\r\nX-Y: z\r\n\r\nhi");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("X-A: b") && answer.ends_with("\r\n\r\nhi"));
        assert_eq!(ask(&api, "GET /none HTTP/1.1\r\n\r\n"), "");
        let [first, second] = &api.take_requests()[..] else { panic!("two requests") };
        assert_eq!((first.parameter("a").as_deref(), first.parameter("c").as_deref()), (Some("A b"), Some("")));
        assert_eq!((first.header("x-y"), first.method.as_str()), (Some("z"), "POST"));
        assert_eq!((second.path.as_str(), api.requests().len()), ("/none", 0));
    }
}

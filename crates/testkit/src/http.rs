//! An HTTP server for tests: real, on the loopback address; answers as a script says, down to single bytes and pauses,
//! and keeps what it was asked.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct Seen {
    /// The request line and the headers, byte for byte.
    pub head: String,
    /// The body.
    pub body: Vec<u8>,
    /// The number of its connection, from 0.
    pub connection: usize,
    /// When its head had arrived.
    pub at: Instant,
}

impl Seen {
    /// `GET /path?query HTTP/1.1`
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }

    /// `GET`
    pub fn method(&self) -> &str {
        self.line().split(' ').next().unwrap_or_default()
    }

    /// `/path?query`
    pub fn target(&self) -> &str {
        self.line().split(' ').nth(1).unwrap_or_default()
    }

    /// `/path`
    pub fn path(&self) -> &str {
        self.target().split('?').next().unwrap_or_default()
    }

    /// A parameter of the query, decoded; the first of several.
    pub fn parameter(&self, name: &str) -> Option<String> {
        let (_, query) = self.target().split_once('?')?;
        let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
        pairs.find(|(key, _)| decoded(key) == name).map(|(_, value)| decoded(value))
    }

    /// All values of a header.
    pub fn all(&self, name: &str) -> Vec<&str> {
        let pairs = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        pairs.filter(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value).collect()
    }

    /// The value of a header that must be there once.
    #[track_caller]
    pub fn header(&self, name: &str) -> &str {
        let all = self.all(name);
        assert_eq!(all.len(), 1, "{name} in {}", self.head);
        all[0]
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
    closes: bool,
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

    /// The status 200 and a body.
    pub fn ok(body: impl AsRef<[u8]>) -> Self {
        Self::new(200, &[], body)
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new(status, &[("Location", location)], "moved")
    }

    /// Then these bytes.
    pub fn bytes(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.pieces.push(Piece::Bytes(bytes.as_ref().to_vec()));
        self
    }

    /// Then nothing for a while.
    pub fn pause(mut self, duration: Duration) -> Self {
        self.pieces.push(Piece::Pause(duration));
        self
    }

    /// Then these bytes again and again, with a pause after each.
    pub fn forever(mut self, bytes: impl AsRef<[u8]>, pause: Duration) -> Self {
        self.pieces.push(Piece::Forever(bytes.as_ref().to_vec(), pause));
        self
    }

    /// All of it after a while.
    pub fn after(mut self, duration: Duration) -> Self {
        self.pieces.insert(0, Piece::Pause(duration));
        self
    }

    /// The connection is closed afterwards.
    pub fn close(mut self) -> Self {
        self.closes = true;
        self
    }

    /// Writes it; `None` once the client is gone.
    fn write(&self, stream: &mut impl Write) -> Option<()> {
        for piece in &self.pieces {
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
}

/// May be called by several threads at once, and may wait as long as it likes.
type Script = dyn Fn(usize, &Seen) -> Answer + Send + Sync;

/// A server on a free port of the loopback address. It lives as long as the process.
#[derive(Clone)]
pub struct Server {
    /// Where it listens.
    pub address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Gives these answers in turn; the last one stays.
    pub fn answers(answers: Vec<Answer>) -> Self {
        Self::new(move |number, _| answers[number.min(answers.len() - 1)].clone())
    }

    /// Gives what `script` says for the request with this number, from 0, as [`Self::seen`] counts.
    pub fn new(script: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Self {
        Self::start(None, Arc::new(script))
    }

    /// Gives the same answer to all, over TLS.
    pub fn secure(config: Arc<ServerConfig>, answer: Answer) -> Self {
        Self::start(Some(config), Arc::new(move |_, _: &Seen| answer.clone()))
    }

    fn start(tls: Option<Arc<ServerConfig>>, script: Arc<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Self { address: listener.local_addr().unwrap(), seen: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for (connection, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                let (serving, script) = (serving.clone(), Arc::clone(&script));
                let tls = tls.clone().map(|config| ServerConnection::new(config).unwrap());
                // An answer in pieces must not wait for what the client acknowledges.
                stream.set_nodelay(true).unwrap();
                thread::spawn(move || match tls {
                    None => serving.converse(&mut BufReader::new(stream), connection, &*script),
                    Some(tls) => {
                        let mut reader = BufReader::new(StreamOwned::new(tls, stream));
                        serving.converse(&mut reader, connection, &*script);
                        let stream = reader.get_mut();
                        stream.conn.send_close_notify();
                        let _ = stream.flush();
                    }
                });
            }
        });
        server
    }

    /// `http://127.0.0.1:<port><path>`.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// All requests so far, in the order of their arrival.
    pub fn seen(&self) -> Vec<Seen> {
        self.requests().clone()
    }

    /// The requests since the last call of this.
    pub fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut *self.requests())
    }

    /// The only request that arrived.
    #[track_caller]
    pub fn only(&self) -> Seen {
        let seen = self.seen();
        assert_eq!(seen.len(), 1, "{seen:?}");
        seen[0].clone()
    }

    /// Waits until a request arrived that `is_it`.
    #[track_caller]
    pub fn wait_for(&self, is_it: impl Fn(&Seen) -> bool) {
        let started = Instant::now();
        while !self.requests().iter().any(&is_it) {
            assert!(started.elapsed() < Duration::from_mins(2), "the request does not come");
            thread::sleep(Duration::from_millis(5));
        }
    }

    fn requests(&self) -> MutexGuard<'_, Vec<Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers the requests of a connection, one after the other. A request is seen before it is answered.
    fn converse<S: Read + Write>(&self, reader: &mut BufReader<S>, connection: usize, script: &Script) {
        while let Some(request) = read_request(reader, connection) {
            let number = {
                let mut requests = self.requests();
                requests.push(request.clone());
                requests.len() - 1
            };
            let answer = script(number, &request);
            if answer.write(reader.get_mut()).is_none() || answer.closes {
                return;
            }
        }
    }
}

/// The next request; `None` at the end of the connection.
fn read_request(reader: &mut impl BufRead, connection: usize) -> Option<Seen> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        reader.read_until(b'\n', &mut head).ok().filter(|&read| read > 0)?;
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let mut request = Seen { head, body: Vec::new(), connection, at: Instant::now() };
    let length = request.all("content-length").first().map_or(0, |length| length.parse().unwrap());
    request.body.resize(length, 0);
    reader.read_exact(&mut request.body).ok()?;
    Some(request)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream};

    use super::{Answer, Server};

    fn ask(server: &Server, request: &str) -> String {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn it_answers_and_keeps_what_it_was_asked() {
        let server = Server::new(|number, request| match request.path() {
            "/none" => Answer::default().close(),
            _ => Answer::new(200, &[("X-A", "b")], format!("{number}{}", String::from_utf8_lossy(&request.body))),
        });
        let answer = ask(&server, "POST /x?a=%41+b&c HTTP/1.1\r\nContent-Length: 2\r\nX-Y: z\r\n\r\nhi");
        assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("X-A: b") && answer.ends_with("\r\n\r\n0hi"));
        assert_eq!(ask(&server, "GET /none HTTP/1.1\r\n\r\n"), "");
        let [first, second] = &server.take_seen()[..] else { panic!("two requests") };
        assert_eq!((first.parameter("a").as_deref(), first.parameter("c").as_deref()), (Some("A b"), Some("")));
        assert_eq!((first.header("x-y"), first.method(), first.target()), ("z", "POST", "/x?a=%41+b&c"));
        assert_eq!((second.path(), second.connection, server.seen().len()), ("/none", 1, 0));
    }
}

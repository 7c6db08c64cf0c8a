//! The server to which a provider sends the browser back, on the loopback address (RFC 8252 §7.3).

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;
use std::time::{Duration, Instant};

use http_client::Stop;

use crate::callback_page::{Called, judge, page};

/// Where the browser is sent back to.
pub(crate) const PATH: &str = "/callback";
/// Pause between two looks at what has come.
const PAUSE: Duration = Duration::from_millis(25);
/// A browser opens connections that it does not use: they are not waited for any longer.
const READ_TIMEOUT: Duration = Duration::from_secs(10);
/// No code is longer.
const CODE_MAX: usize = 4096;
/// No request of a browser has a longer head.
const HEAD_MAX: usize = 64 * 1024;

/// Waits for the browser.
pub(crate) struct Callback {
    listener: TcpListener,
    port: u16,
}

/// Why the wait is over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Waited {
    /// With this; never the wrong state.
    Called(Called),
    TimedOut,
    /// Nothing more can be pasted.
    InputEnded,
    Stopped,
}

impl Callback {
    /// Listens on this port, or on a free one.
    pub(crate) fn bind(port: Option<u16>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        // The wish to stop is looked at in between.
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Self { listener, port })
    }

    /// The URL to which the browser is to be sent back.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// Waits for a callback with this `state`, or for lines that somebody pasted. Others are told to `notice`, and the
    /// wait goes on.
    pub(crate) fn wait(
        &self,
        state: &str,
        pasted: Option<&Receiver<String>>,
        limit: Duration,
        stop: &Stop,
        notice: &dyn Fn(&str),
    ) -> Waited {
        let (sender, calls) = channel();
        let started = Instant::now();
        loop {
            self.accept(state, &sender);
            let line = match pasted.map(Receiver::try_recv) {
                Some(Ok(line)) => Some(line),
                Some(Err(TryRecvError::Disconnected)) => return Waited::InputEnded,
                Some(Err(TryRecvError::Empty)) | None => None,
            };
            let call = calls.try_recv().ok().or_else(|| line.and_then(|line| read_pasted(&line, state)));
            match call {
                Some(Called::WrongState) => notice("state mismatch: an answer to another request was ignored"),
                Some(Called::Unreadable) => {
                    notice("this is neither the URL nor the code in it: paste one of them, as a whole and alone");
                }
                Some(called) => return Waited::Called(called),
                None if stop.is_requested() => return Waited::Stopped,
                None if started.elapsed() >= limit => return Waited::TimedOut,
                None => thread::sleep(PAUSE),
            }
        }
    }

    /// Serves who has come, each on a thread of its own: one that says nothing holds up nobody.
    fn accept(&self, state: &str, calls: &Sender<Called>) {
        while let Ok((stream, _)) = self.listener.accept() {
            let (state, calls) = (state.to_owned(), calls.clone());
            let serve = move || {
                // Who is gone before the answer has been heard nevertheless.
                let _ = serve(stream, &state, &calls);
            };
            // Without a thread the connection is closed, and the browser tries again.
            let _ = thread::Builder::new().name("callback".into()).spawn(serve);
        }
    }
}

/// What a pasted line says: the URL at which the browser ended up, its query, or the code alone. A blank line says
/// nothing; quotes around it neither.
fn read_pasted(line: &str, state: &str) -> Option<Called> {
    let line = line.trim().trim_matches(['"', '\'', '<', '>']);
    let query = line.split_once('?').map(|(_, query)| query).or_else(|| line.contains("code=").then_some(line));
    match query {
        _ if line.is_empty() => None,
        Some(query) => Some(match judge(query.split('#').next().unwrap_or_default(), state) {
            // Another URL, like the one that asked.
            Called::NoCode => Called::Unreadable,
            called => called,
        }),
        None if !line.contains(|c: char| c.is_whitespace() || c.is_control()) && line.len() <= CODE_MAX => {
            Some(Called::Code(line.to_owned()))
        }
        None => Some(Called::Unreadable),
    }
}

fn serve(mut stream: TcpStream, state: &str, calls: &Sender<Called>) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(READ_TIMEOUT))?;
    stream.set_write_timeout(Some(READ_TIMEOUT))?;
    let head = read_head(&mut stream)?;
    let mut words = head.split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    if method != "GET" || path != PATH {
        return stream.write_all(page(404, "There is nothing here.\n").as_bytes());
    }
    let called = judge(query, state);
    let answer = match &called {
        Called::Code(_) => page(200, "Received. Go back to the terminal: it tells whether it worked.\n"),
        Called::Denied(_) => page(200, "Not authorized. The terminal says more.\n"),
        Called::NoCode | Called::Unreadable => page(400, "no code\n"),
        Called::WrongState => page(400, "state mismatch\n"),
    };
    let answered = stream.write_all(answer.as_bytes()).and_then(|()| stream.flush());
    // Nobody listens any more after the first one that counts.
    let _ = calls.send(called);
    answered
}

fn read_head(stream: &mut impl Read) -> io::Result<String> {
    let (mut head, mut piece) = (Vec::new(), [0; 4096]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut piece)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            _ if head.len() > HEAD_MAX => return Err(ErrorKind::InvalidData.into()),
            read => head.extend_from_slice(&piece[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::io::{Read, Write};
    use std::net::TcpStream;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    use super::{Callback, Waited};
    use crate::callback_page::Called;
    use http_client::Stop;

    const LONG: Duration = Duration::from_mins(2);

    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn status(answer: &str) -> &str {
        answer.split(' ').nth(1).unwrap()
    }

    #[test]
    fn only_the_right_callback_ends_the_wait() {
        let callback = Callback::bind(None).unwrap();
        let port = callback.port;
        assert_eq!(callback.url(), format!("http://127.0.0.1:{port}/callback"));
        // A browser's connection on which nothing is asked is in nobody's way.
        let _silent = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let browser = thread::spawn(move || {
            for (line, expected) in [
                ("GET /favicon.ico HTTP/1.1", "404"),
                ("GET /callback/x?code=c&state=st4te HTTP/1.1", "404"),
                ("POST /callback?code=c&state=st4te HTTP/1.1", "404"),
                ("junk", "404"),
                ("GET /callback?code=c&state=other HTTP/1.1", "400"),
                ("GET /callback?code=c HTTP/1.1", "400"),
            ] {
                assert_eq!(status(&ask(port, &format!("{line}\r\n\r\n"))), expected, "{line}");
            }
            ask(port, "GET /callback?code=c0de&state=st4te HTTP/1.1\r\nHost: x\r\n\r\n")
        });
        let noticed = RefCell::new(Vec::new());
        let notice = |text: &str| noticed.borrow_mut().push(text.to_owned());
        let waited = callback.wait("st4te", None, LONG, &Stop::never(), &notice);
        assert_eq!(waited, Waited::Called(Called::Code("c0de".into())));
        let page = browser.join().unwrap();
        assert!(status(&page) == "200" && page.contains("Go back to the terminal") && !page.contains("c0de"), "{page}");
        assert_eq!(noticed.borrow().len(), 2);
    }

    #[test]
    fn a_pasted_line_is_a_url_or_a_code() {
        let callback = Callback::bind(None).unwrap();
        for (lines, called) in [
            (vec!["", "  c0de/1==\n"], Called::Code("c0de/1==".into())),
            (vec!["http://127.0.0.1:1/callback?code=c&state=st4te#x"], Called::Code("c".into())),
            (vec!["http://127.0.0.1:1/callback?code=c&state=other", "c2"], Called::Code("c2".into())),
            (vec!["I said yes", "c\0de", &"x".repeat(5_000), "c3"], Called::Code("c3".into())),
            (vec!["http://127.0.0.1:1/callback?error=no&state=st4te"], Called::Denied("no".into())),
            (vec!["\"http://127.0.0.1:1/callback?code=c4&state=st4te\""], Called::Code("c4".into())),
            (
                vec!["https://crm/authorize?state=st4te&response_type=code", "code=c5&state=st4te"],
                Called::Code("c5".into()),
            ),
        ] {
            let (sender, pasted) = channel();
            for line in &lines {
                sender.send((*line).to_owned()).unwrap();
            }
            let waited = callback.wait("st4te", Some(&pasted), LONG, &Stop::never(), &|_| ());
            assert_eq!(waited, Waited::Called(called), "{lines:?}");
        }
    }

    #[test]
    fn a_callback_that_is_lost_ends_with_the_time_and_a_stop_at_once() {
        let callback = Callback::bind(None).unwrap();
        let wait = |limit, stop: &Stop| callback.wait("st4te", None, limit, stop, &|_| ());
        assert_eq!(wait(Duration::from_millis(50), &Stop::never()), Waited::TimedOut);
        assert_eq!(wait(LONG, &Stop::new(|| true)), Waited::Stopped);
    }

    #[test]
    fn a_port_that_is_taken_is_an_error() {
        let first = Callback::bind(None).unwrap();
        assert!(Callback::bind(Some(first.port)).is_err());
    }
}

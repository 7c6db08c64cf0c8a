//! The outermost layer of a connection: knows whether it was used before, tells a reset from an end, and writes
//! requests the way that proxies want them.

use std::cell::Cell;
use std::io;
use std::thread::{self, ThreadId};
use ureq::Error;
use ureq::unversioned::transport::{Buffers, ConnectionDetails, Connector, NextTimeout, Transport};

thread_local! {
    static REUSED: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread sent something over a connection that another thread made. Each request has its own thread.
pub(crate) fn was_reused() -> bool {
    REUSED.get()
}

/// Before the same thread sends a request again.
pub(crate) fn forget_reuse() {
    REUSED.set(false);
}

/// Wraps every connection.
#[derive(Debug)]
pub(super) struct WatchConnector {
    /// Whether connections lead to a proxy that requests are handed to.
    pub forwards: bool,
}

impl<In: Transport> Connector<In> for WatchConnector {
    type Out = Watch<In>;

    fn connect(&self, details: &ConnectionDetails, chained: Option<In>) -> Result<Option<Self::Out>, Error> {
        let authority = details.uri.authority().filter(|_| self.forwards);
        let prefix = authority.map(|authority| format!("http://{authority}").into_bytes());
        Ok(chained.map(|inner| Watch { inner, made_by: thread::current().id(), prefix, is_answered: true }))
    }
}

/// A connection with its history.
#[derive(Debug)]
pub(super) struct Watch<In> {
    inner: In,
    made_by: ThreadId,
    /// What goes before the path in the first line of each request.
    prefix: Option<Vec<u8>>,
    /// Whether what is sent next begins a request.
    is_answered: bool,
}

impl<In: Transport> Watch<In> {
    /// Sends the beginning of a request with the prefix put in. It may not fit into the buffer at once.
    fn transmit_with_prefix(&mut self, amount: usize, timeout: NextTimeout, prefix: &[u8]) -> Result<(), Error> {
        let output = self.inner.buffers().output();
        let request = &output[..amount];
        let path = request.iter().position(|byte| *byte == b' ').map_or(0, |space| space + 1);
        let written = [&request[..path], prefix, &request[path..]].concat();
        let size = output.len().max(1);
        for piece in written.chunks(size) {
            self.inner.buffers().output()[..piece.len()].copy_from_slice(piece);
            self.inner.transmit_output(piece.len(), timeout)?;
        }
        Ok(())
    }
}

impl<In: Transport> Transport for Watch<In> {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        if self.made_by != thread::current().id() {
            REUSED.set(true);
        }
        let begins = std::mem::take(&mut self.is_answered);
        match self.prefix.clone() {
            Some(prefix) if begins => self.transmit_with_prefix(amount, timeout, &prefix),
            _ => self.inner.transmit_output(amount, timeout),
        }
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.is_answered = true;
        match self.inner.await_input(timeout) {
            // `ureq` takes these kinds for the end of a body that has no length: half of it would pass for all.
            Err(Error::Io(error))
                if [io::ErrorKind::ConnectionReset, io::ErrorKind::ConnectionAborted].contains(&error.kind()) =>
            {
                Err(Error::Io(io::Error::other("the connection was reset")))
            }
            result => result,
        }
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

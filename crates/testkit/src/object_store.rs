//! An object store of a test's own, which speaks the protocol of S3: moto, on a port of the loopback.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::free_port;

/// Longest wait for the server to start.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running store with a bucket `lake`; gone with the test, and all that is in it.
pub struct ObjectStore {
    port: u16,
    server: Child,
}

impl ObjectStore {
    /// Starts a server. `scripts/object-store` brings its program.
    pub fn start() -> Self {
        let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.engine/moto");
        assert!(packages.is_dir(), "{} is not there: run scripts/object-store", packages.display());
        let port = free_port();
        let mut command = Command::new("python3");
        command.args(["-m", "moto.server", "-H", "127.0.0.1", "-p", &port.to_string()]);
        command.env("PYTHONPATH", packages).stdout(Stdio::null()).stderr(Stdio::null());
        let store = Self { port, server: command.spawn().unwrap() };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < PATIENCE, "the object store does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
        store.make_bucket();
        store
    }

    fn make_bucket(&self) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request = "PUT /lake HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }

    /// The secret with which DuckDB finds the store, as a statement.
    pub fn secret(&self) -> String {
        format!(
            "CREATE SECRET store (TYPE s3, KEY_ID 'store-key', SECRET 'store-secret', REGION 'us-east-1', \
             ENDPOINT '127.0.0.1:{}', USE_SSL false, URL_STYLE 'path', SCOPE 's3://lake');",
            self.port
        )
    }
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

//! An address that stays while the server behind it changes, and that delays what it forwards.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::Duration;

/// Forwards connections to a port of 127.0.0.1 until the program ends.
pub struct Proxy {
    pub port: u16,
    target: Arc<AtomicU16>,
}

impl Proxy {
    /// Waits for `delay` before it forwards what it has read, in both directions.
    pub fn start(target: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let target = Arc::new(AtomicU16::new(target));
        let current = Arc::clone(&target);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", current.load(Ordering::Relaxed))) else { continue };
                let halves = [client.try_clone().expect("a clone"), server.try_clone().expect("a clone")];
                let [client_reader, server_reader] = halves;
                thread::spawn(move || forward(client_reader, server, delay));
                thread::spawn(move || forward(server_reader, client, delay));
            }
        });
        Self { port, target }
    }

    /// New connections go to this port; the others stay.
    pub fn redirect(&self, target: u16) {
        self.target.store(target, Ordering::Relaxed);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        thread::sleep(delay);
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

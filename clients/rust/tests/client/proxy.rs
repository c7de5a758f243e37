//! An address that stays while the server behind it changes, and that delays what it forwards.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

/// Forwards connections to a port of 127.0.0.1 until the program ends.
pub struct Proxy {
    pub port: u16,
    target: Arc<AtomicU16>,
    /// How many connections forward nothing any more: the first ones.
    half_open: Arc<AtomicU32>,
    accepted: Arc<AtomicU32>,
}

impl Proxy {
    /// Waits for `delay` before it forwards what it has read, in both directions.
    pub fn start(target: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let target = Arc::new(AtomicU16::new(target));
        let (half_open, accepted) = (Arc::<AtomicU32>::default(), Arc::<AtomicU32>::default());
        let (current, lost, count) = (Arc::clone(&target), Arc::clone(&half_open), Arc::clone(&accepted));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let number = count.fetch_add(1, Ordering::Relaxed);
                let Ok(server) = TcpStream::connect(("127.0.0.1", current.load(Ordering::Relaxed))) else { continue };
                let halves = [client.try_clone().expect("a clone"), server.try_clone().expect("a clone")];
                let [client_reader, server_reader] = halves;
                for (from, to) in [(client_reader, server), (server_reader, client)] {
                    let lost = Arc::clone(&lost);
                    thread::spawn(move || forward(from, to, delay, || number < lost.load(Ordering::Relaxed)));
                }
            }
        });
        Self { port, target, half_open, accepted }
    }

    /// What comes over the connections that are open is lost from now on, as if the other end had no power.
    pub fn lose_packets(&self) {
        self.half_open.store(self.accepted.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// New connections go to this port; the others stay.
    pub fn redirect(&self, target: u16) {
        self.target.store(target, Ordering::Relaxed);
    }
}

fn forward(mut from: TcpStream, mut to: TcpStream, delay: Duration, is_lost: impl Fn() -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        thread::sleep(delay);
        if is_lost() {
            continue;
        }
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

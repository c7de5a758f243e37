//! An address that stays while the server behind it changes, and that delays what it forwards.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// Forwards connections to a port of 127.0.0.1 until the program ends.
pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    target: AtomicU16,
    /// How long what was read waits before it is forwarded, in microseconds.
    delay: AtomicU64,
    is_closed: AtomicBool,
    open: Mutex<Vec<TcpStream>>,
}

impl Proxy {
    /// Waits for `delay` before it forwards what it has read, in both directions.
    pub fn start(target: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            target: AtomicU16::new(target),
            delay: AtomicU64::default(),
            is_closed: AtomicBool::default(),
            open: Mutex::default(),
        });
        let proxy = Self { port, shared: Arc::clone(&shared) };
        proxy.delay(delay);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if shared.is_closed.load(Ordering::SeqCst) {
                    continue;
                }
                let target = shared.target.load(Ordering::Relaxed);
                let Ok(server) = TcpStream::connect(("127.0.0.1", target)) else { continue };
                // Small pieces do not wait for the acknowledgement of others.
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("an option");
                }
                let clone = |stream: &TcpStream| stream.try_clone().expect("a clone");
                shared.open.lock().expect("no panic").push(clone(&client));
                for (from, to) in [(clone(&client), clone(&server)), (server, client)] {
                    let shared = Arc::clone(&shared);
                    thread::spawn(move || forward(from, to, &shared));
                }
            }
        });
        proxy
    }

    /// From now on what is read waits for so long.
    pub fn delay(&self, delay: Duration) {
        self.shared.delay.store(u64::try_from(delay.as_micros()).expect("short"), Ordering::Relaxed);
    }

    /// Closes the connections, and those that come.
    pub fn close(&self) {
        self.shared.is_closed.store(true, Ordering::SeqCst);
        for stream in self.shared.open.lock().expect("no panic").drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// New connections are forwarded again.
    pub fn open(&self) {
        self.shared.is_closed.store(false, Ordering::SeqCst);
    }

    /// New connections go to this port; the others stay.
    pub fn redirect(&self, target: u16) {
        self.shared.target.store(target, Ordering::Relaxed);
    }
}

/// Each piece waits for its own time, so that pieces do not wait for each other.
fn forward(mut from: TcpStream, to: TcpStream, shared: &Shared) {
    let (pieces, waiting) = mpsc::channel::<(Instant, Vec<u8>)>();
    let mut writer = to.try_clone().expect("a clone");
    let writes = thread::spawn(move || {
        for (at, piece) in waiting {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            if writer.write_all(&piece).is_err() {
                break;
            }
        }
    });
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let at = Instant::now() + Duration::from_micros(shared.delay.load(Ordering::Relaxed));
        if pieces.send((at, buffer[..length].to_vec())).is_err() {
            break;
        }
    }
    drop(pieces);
    let _ = writes.join();
    for stream in [from, to] {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

//! A client that sends requests and does not read the replies takes no more memory than the shipped redis.conf allows:
//! the server closes its connection, and decides for everybody else.

use std::io::{ErrorKind, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::support::{Options, ServerBin, for_each_server, info, ok};
use crate::{assert_sound, cmd, report};

const MAXMEMORY: u64 = 200 << 20;

/// With the settings of the shipped file, and this much memory.
fn shipped(bin: &ServerBin) -> Options {
    let config = concat!("exec \"$0\" ", env!("CARGO_MANIFEST_DIR"), "/redis.conf \"$@\"");
    Options::new(bin).under(&["sh", "-c", config]).set("maxmemory", MAXMEMORY)
}

#[test]
fn a_client_that_does_not_read_its_replies_is_closed() {
    for_each_server(|bin| {
        let mut server = shipped(bin).start();
        let mut con = server.con();
        let number = |con: &mut redis::Connection, field: &str| info(con, field).parse::<u64>().expect("a number");
        ok(cmd!(con, "CONFIG", "SET", "rl.on-oom", "deny"));
        let before = number(&mut con, "used_memory");
        let mut greedy = TcpStream::connect(("127.0.0.1", server.port())).expect("a connection");
        greedy.set_write_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let requests = b"RL.TOKEN hot 1m 5 HEADERS\r\n".repeat(1_000);
        let begin = Instant::now();
        let mut peak = 0;
        let closed = loop {
            match greedy.write_all(&requests) {
                Ok(()) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Err(_) => break true,
            }
            peak = peak.max(number(&mut con, "used_memory") - before);
            // Another caller, with a new key each time: at maxmemory it would be denied.
            let key = format!("other:{peak}:{}", begin.elapsed().as_nanos());
            let reply: [i64; 3] = redis::cmd("RL.TOKEN").arg(key).arg("1m").arg(5).query(&mut con).expect("a reply");
            assert_eq!(reply[0], 1, "a caller is denied since the server is at maxmemory");
            if begin.elapsed() > Duration::from_secs(20) {
                break false;
            }
        };
        assert!(closed, "{} MB and not closed", peak >> 20);
        assert!(peak < 64 << 20, "{} MB for one client", peak >> 20);
        assert_eq!(number(&mut con, "rl_oom_denied"), 0);
        assert!(
            server.log().contains("overcoming of output buffer limits") || number(&mut con, "evicted_clients") == 1
        );
        report(&format!("closed after {:.1} s and {} MB", begin.elapsed().as_secs_f64(), peak >> 20));
        assert_sound(&mut server);
    });
}

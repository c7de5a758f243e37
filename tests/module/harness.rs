//! What the other tests take for granted of `support`: servers end, data stay, replies are what was sent.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::*;
use redis::Value;

/// A server without the module: what is tested here has nothing to do with it.
fn plain(bin: &ServerBin) -> Options {
    Server::options(bin).without_module()
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

#[test]
fn a_dropped_server_is_gone() {
    for_each_server(|bin| {
        let server = plain(bin).start();
        let (pid, dir) = (server.pid(), server.dir().to_owned());
        assert!(is_alive(pid) && dir.exists());
        drop(server);
        assert!(!is_alive(pid) && !dir.exists());
    });
}

/// Runs itself in a process of its own, kills that, and looks for the server it had.
#[test]
fn a_killed_test_leaves_no_server() {
    const CHILD: &str = "HARNESS_CHILD";
    let bin = &servers()[0];
    if env::var_os(CHILD).is_some() {
        let server = plain(bin).start();
        println!("pid={}.", server.pid());
        std::thread::sleep(PATIENCE);
        return;
    }
    let mut child = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "harness::a_killed_test_leaves_no_server", "--nocapture"])
        .env(CHILD, "1")
        .stdout(Stdio::piped())
        .spawn()
        .expect("this program starts");
    let mut output = child.stdout.take().expect("its output");
    let mut text = String::new();
    let pid: u32 = loop {
        let mut byte = [0];
        output.read_exact(&mut byte).expect("a pid");
        text.push(char::from(byte[0]));
        if let Some((pid, _)) = text.split_once("pid=").and_then(|(_, pid)| pid.split_once('.')) {
            break pid.parse().expect("a pid");
        }
    };
    assert!(is_alive(pid));
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    assert!(eventually(PATIENCE, || !is_alive(pid)), "the server {pid} outlived its test");
}

#[test]
fn data_outlive_kill_and_shutdown() {
    for_each_server(|bin| {
        let mut server = plain(bin).durable().start();
        let empty = server.aof_size();
        ok(cmd!(server.con(), "SET", b"k\0\xff", 1));
        assert!(server.aof_size() > empty);
        let before = digest(&mut server.con());
        server.kill();
        server.start_again();
        assert_eq!(digest(&mut server.con()), before);
        server.shutdown("SAVE");
        assert!(!server.is_running());
        server.start_again_with(|options| options.set("appendonly", "no"));
        assert_eq!(ok(cmd!(server.con(), "GET", b"k\0\xff")), bytes("1"));
        assert!(server.log().contains("eady to accept connections"));
    });
}

#[test]
fn errors_are_read_as_sent_on_both_protocols() {
    for_each_server(|bin| {
        let server = plain(bin).start();
        for mut con in [server.con(), server.con3()] {
            ok(cmd!(con, "SET", "k", 1));
            assert_eq!(
                err(cmd!(con, "LPUSH", "k", 1)),
                "WRONGTYPE Operation against a key holding the wrong kind of value"
            );
            assert_eq!(err(cmd!(con, "GET")), "ERR wrong number of arguments for 'get' command");
        }
        assert!(matches!(ok(cmd!(server.con(), "CONFIG", "GET", "port")), Value::Array(_)));
        assert!(matches!(ok(cmd!(server.con3(), "CONFIG", "GET", "port")), Value::Map(_)));
    });
}

#[test]
fn events_come_in_order() {
    for_each_server(|bin| {
        let server = plain(bin).start();
        let mut con = server.con();
        let mut events = Events::listen(&server);
        assert_eq!(events.take(), []);
        ok(cmd!(con, "INCR", "a"));
        ok(cmd!(con, "EXPIRE", "a", 100));
        let expected = [("incrby", b"a"), ("expire", b"a")];
        assert_eq!(events.take(), expected.map(|(event, key)| (event.to_owned(), key.to_vec())));
        assert_eq!(events.take(), []);
    });
}

#[test]
fn a_replica_follows() {
    for_each_server(|bin| {
        let master = plain(bin).start();
        let replica = plain(bin).replica_of(&master).start();
        ok(cmd!(master.con(), "SET", "k", 1));
        wait_for_replica(&master, &replica);
        assert_eq!(digest(&mut replica.con()), digest(&mut master.con()));
        assert!(err(cmd!(replica.con(), "SET", "k", 2)).starts_with("READONLY "));
    });
}

#[test]
fn a_cluster_owns_every_slot() {
    for_each_server(|bin| {
        let cluster = Cluster::start(bin, 3, Options::without_module);
        let mut client = cluster.client().get_connection().expect("a connection");
        for key in ["a", "b", "c", "{a}:1"] {
            ok(redis::cmd("SET").arg(&[key, "1"]).query(&mut client));
            assert_eq!(ok(cmd!(cluster.owner(key).con(), "GET", key)), bytes("1"));
        }
    });
}

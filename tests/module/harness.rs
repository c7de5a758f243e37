//! What the other tests take for granted of `support`: servers end, data stay, replies are what was sent.

use std::env;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::*;

/// A server without the module: what is tested here has nothing to do with it.
fn plain(bin: &ServerBin) -> Options {
    Server::options(bin).without_module()
}

fn is_alive(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
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

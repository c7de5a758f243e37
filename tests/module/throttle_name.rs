//! RL.THROTTLE and CL.THROTTLE give way: where another module has a command of that name, that command stays, a notice
//! is in the log, and everything else of the module works.

use std::path::PathBuf;
use std::process::Command;

use crate::support::*;
use redis::{Connection, Value};
use tempfile::TempDir;

/// Another module, from tests/throttle_name.c.
struct Other(TempDir);

impl Other {
    fn build() -> Self {
        let dir = TempDir::new().expect("a temporary directory");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/module/throttle_name.c");
        let library = dir.path().join("other.so");
        let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
        assert!(built.is_ok_and(|status| status.success()), "cc does not build {source}");
        Self(dir)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("other.so")
    }
}

const NAMES: [&str; 2] = ["RL.THROTTLE", "CL.THROTTLE"];

/// Loads a module at run time.
fn load(con: &mut Connection, path: PathBuf, args: &[&str]) -> Reply {
    redis::cmd("MODULE").arg("LOAD").arg(path.to_str().expect("text")).arg(args).query(con)
}

fn notice(name: &str) -> String {
    format!("<rl> {name} is not registered: the server or another module has that command")
}

/// The names in `taken` belong to the other module; this one has the rest, except those in `left_out`.
#[track_caller]
fn assert_shared(server: &mut Server, taken: &[&str], left_out: &[&str]) {
    let mut con = server.con();
    for name in NAMES {
        let reply = cmd!(con, name, "k", 15, 30, 60);
        let log = server.log();
        if taken.contains(&name) {
            assert_eq!(ok(reply), Value::SimpleString("other".to_owned()), "{name}");
            assert_eq!(log.contains(&notice(name)), !left_out.contains(&name), "{name}: {log}");
            // It is the other module's in every respect.
            assert_eq!(ok(cmd!(con, name)), Value::SimpleString("other".to_owned()), "{name}");
        } else {
            assert!(!log.contains(&notice(name)), "{log}");
            if left_out.contains(&name) {
                assert!(err(reply).starts_with("ERR unknown command"), "{name}");
            } else {
                let [limited, limit, ..]: [i64; 5] = read(ok(reply));
                assert_eq!([limited, limit], [0, 16], "{name}");
            }
        }
    }
    ok(cmd!(con, "RL.TOKEN", "token", 60, 5));
    assert!(server.is_running());
}

#[test]
fn a_command_of_another_module_stays() {
    let other = Other::build();
    for_each_server(|bin| {
        for taken in [&NAMES[..], &NAMES[..1], &NAMES[1..], &["rl.throttle"], &["OTHER"]] {
            let mut server = Server::options(bin).without_module().start();
            let mut con = server.con();
            ok(load(&mut con, other.path(), taken));
            ok(load(&mut con, module_path(), &[]));
            let taken: Vec<String> = taken.iter().map(|name| name.to_uppercase()).collect();
            let taken: Vec<&str> = taken.iter().map(String::as_str).collect();
            assert_shared(&mut server, &taken, &[]);
        }
        // Both are in the configuration of the server.
        let path = other.path();
        let mut server = Server::options(bin).set("loadmodule", path.display()).start();
        assert_shared(&mut server, &NAMES, &[]);
        // There is no notice about a name that the module was told to leave alone.
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        ok(load(&mut con, other.path(), &NAMES));
        ok(load(&mut con, module_path(), &["cl-throttle", "no"]));
        assert_shared(&mut server, &NAMES, &["CL.THROTTLE"]);
    });
}

/// No other command gives way: without RL.TOKEN the module would not be what its users expect.
#[test]
fn the_load_fails_if_another_name_is_taken() {
    let other = Other::build();
    for_each_server(|bin| {
        for name in ["RL.TOKEN", "RL.MULTI", "RL.PEEK"] {
            let mut server = Server::options(bin).without_module().start();
            let mut con = server.con();
            ok(load(&mut con, other.path(), &[name]));
            assert!(err(load(&mut con, module_path(), &[])).starts_with("ERR "), "{name}");
            let expected = format!("not loaded: the server rejected the command {name}");
            assert!(server.log().contains(&expected), "{}", server.log());
            assert_eq!(ok(cmd!(con, name)), Value::SimpleString("other".to_owned()));
            assert!(err(cmd!(con, "RL.FIXED", "k", 60, 5)).starts_with("ERR unknown command"));
            assert!(server.is_running());
        }
    });
}

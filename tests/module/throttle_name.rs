//! RL.THROTTLE and CL.THROTTLE give way: where another module has a command of that name, that command stays, a notice
//! is in the log, and everything else of the module works.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::*;
use redis::{Connection, Value};
use tempfile::TempDir;

/// Builds another module, from tests/module/throttle_name.c. It is in the directory.
fn build(dir: &TempDir) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/module/throttle_name.c");
    let library = dir.path().join("other.so");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(source).status();
    assert!(built.is_ok_and(|status| status.success()), "cc does not build {source}");
    library
}

const NAMES: [&str; 2] = ["RL.THROTTLE", "CL.THROTTLE"];

/// Loads a module at run time.
fn load(con: &mut Connection, path: &Path, args: &[&str]) -> Reply {
    redis::cmd("MODULE").arg("LOAD").arg(path.to_str().expect("text")).arg(args).query(con)
}

#[test]
fn a_command_of_another_module_stays() {
    let dir = TempDir::new().expect("a temporary directory");
    let other = build(&dir);
    for_each_server(|bin| {
        for (taken, args) in
            [(&NAMES[..], &[][..]), (&NAMES[..1], &[]), (&NAMES[1..], &[]), (&NAMES, &["cl-throttle", "no"])]
        {
            let mut server = Server::options(bin).without_module().start();
            let mut con = server.con();
            ok(load(&mut con, &other, taken));
            ok(load(&mut con, &module_path(), args));
            for name in NAMES {
                let (reply, is_taken) = (ok(cmd!(con, name, "k", 15, 30, 60)), taken.contains(&name));
                assert_eq!(reply == Value::SimpleString("other".to_owned()), is_taken, "{name}");
                // There is no notice about a name that the module was told to leave alone.
                let is_told = name == "CL.THROTTLE" && !args.is_empty();
                let notice = format!("<rl> {name} is not registered: the server or another module has that command");
                assert_eq!(server.log().contains(&notice), is_taken && !is_told, "{}", server.log());
            }
            ok(cmd!(con, "RL.TOKEN", "token", 60, 5));
            assert!(server.is_running());
        }
        // No other command gives way: without RL.TOKEN the module would not be what its users expect.
        let mut server = Server::options(bin).without_module().start();
        let mut con = server.con();
        ok(load(&mut con, &other, &["RL.TOKEN"]));
        assert!(err(load(&mut con, &module_path(), &[])).starts_with("ERR "));
        assert!(server.log().contains("not loaded: the server rejected the command RL.TOKEN"), "{}", server.log());
        assert!(err(cmd!(con, "RL.FIXED", "k", 60, 5)).starts_with("ERR unknown command") && server.is_running());
    });
}

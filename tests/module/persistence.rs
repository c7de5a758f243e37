//! What a server that is killed leaves in its append only file. That files keep everything is in commands.rs.

use std::fs;

use crate::support::*;
use redis::Connection;

/// An operator sees whether a restart has lost every count, in any database, also where the file has no snapshot yet.
#[test]
fn info_has_the_number_of_keys_that_were_loaded() {
    for_each_server(|bin| {
        for (durable, expected) in [(true, 3), (false, 0)] {
            let options = Server::options(bin);
            let mut server = if durable { options.durable() } else { options }.start();
            for (key, database) in [("a", 0), ("b", 0), ("c", 3)] {
                let mut con = server.con();
                ok(cmd!(con, "SELECT", database));
                ok(cmd!(con, "RL.GCRA", key, LONG, 9));
            }
            server.kill();
            server.start_again();
            ok(cmd!(server.con(), "RL.GCRA", "d", LONG, 9));
            let info = read::<String>(ok(cmd!(server.con(), "INFO", "rl")));
            assert!(info.contains(&format!("rl_loaded_keys:{expected}\r\n")), "{info}");
        }
    });
}

/// A server that is killed while it writes leaves half of a call in the file. Nothing of it is done, also not later.
#[test]
fn half_of_a_call_in_the_append_only_file_is_never_done() {
    for_each_server(|bin| {
        let mut server = Server::options(bin).durable().start();
        let call = |con: &mut Connection| {
            ok(cmd!(*con, "RL.MULTI", 2, "WINDOW", "a", LONG, 9, "WINDOW", "b", LONG, 9));
        };
        let counted = |con: &mut Connection| read::<[i64; 2]>(ok(cmd!(*con, "MGET", "a", "b")));
        call(&mut server.con());
        call(&mut server.con());
        server.kill();
        let files = fs::read_dir(server.dir().join("appendonlydir")).expect("files").map(|file| file.expect("a file"));
        let paths = files.map(|file| file.path());
        let path = paths.filter(|path| path.to_string_lossy().ends_with(".incr.aof")).max().expect("a file");
        let text = fs::read(&path).expect("a text");
        let last_command = text.strip_suffix(b"*1\r\n$4\r\nEXEC\r\n").expect("the end of a transaction");
        fs::write(&path, &last_command[..last_command.len() - 3]).expect("written");
        server.start_again();
        assert_eq!(counted(&mut server.con()), [1, 1]);
        call(&mut server.con());
        server.kill();
        server.start_again();
        assert_eq!(counted(&mut server.con()), [2, 2]);
    });
}

//! Slots that the server itself moves to another node (Valkey 9: CLUSTER MIGRATESLOTS, Redis 8.4: CLUSTER MIGRATION) take
//! their limits along. A server refuses that while a module is loaded that has not declared that it can handle it.

use redis::Connection;

use crate::support::*;

/// Half of the slots of the first of three nodes, which would become a replica if it had none left.
const SLOTS: [u16; 2] = [0, 2_730];

/// Moves the slots, and waits until both nodes know their new owner.
fn migrate(bin: &ServerBin, from: &Server, to: &Server) {
    let mut start = redis::cmd("CLUSTER");
    let side = if bin.is_valkey() {
        let id: String = read(ok(cmd!(to.con(), "CLUSTER", "MYID")));
        start.arg("MIGRATESLOTS").arg("SLOTSRANGE").arg(&SLOTS).arg("NODE").arg(id);
        from
    } else {
        start.arg("MIGRATION").arg("IMPORT").arg(&SLOTS);
        to
    };
    ok(start.query(&mut side.con()));
    let owns = |con: &mut Connection| {
        let nodes: String = read(ok(cmd!(*con, "CLUSTER", "NODES")));
        nodes.lines().any(|line| line.contains(&format!(":{}@", to.port())) && line.contains(" 0-"))
    };
    assert!(eventually(PATIENCE, || [from, to].iter().all(|node| owns(&mut node.con()))), "{}", side.log());
}

#[test]
fn limits_go_with_their_slots() {
    for_each_server(|bin| {
        let version = (bin.version.0, bin.version.1);
        if version < if bin.is_valkey() { (9, 0) } else { (8, 4) } {
            return;
        }
        let cluster = Cluster::start(bin, 3, |options| options);
        let [first, second, _] = cluster.nodes.as_slice() else { panic!("three nodes") };
        let mut con = cluster.client().get_connection().expect("a connection");
        let slot = |tag: &u32| -> u16 { read(ok(cmd!(first.con(), "CLUSTER", "KEYSLOT", format!("{tag}")))) };
        let tag = (0..).find(|tag| slot(tag) <= SLOTS[1]).expect("a tag of one of the slots");
        let mut count = || {
            counting_words().into_iter().fold(0, |sum, word| {
                let request = call(&format!("RL.{word} {{{tag}}}:{word} {LONG} 1"));
                let [allowed, ..]: [i64; 3] = request.query(&mut con).expect("a reply");
                sum + allowed
            })
        };
        assert_eq!(count(), counting_words().len() as i64, "each is allowed once");
        for (from, to) in [(first, second), (second, first)] {
            migrate(bin, from, to);
            assert_eq!(count(), 0, "what was charged is still there");
        }
    });
}

//! What the start says of Redis, and what is said later.

use std::thread;

use super::one_server;
use super::process::{Rlaas, until, url};
use super::security::Certificates;
use crate::support::*;

const RULES: &str = "domain: d\ndescriptors: [{key: k, rate_limit: {unit: year, requests_per_unit: 5}}]\n";

#[test]
fn the_start_says_what_it_finds() {
    let server = one_server();
    let plain = server.port();
    let without_module = Server::options(&servers()[0]).without_module().start();
    let with_password = one_server();
    ok(send(&mut with_password.con(), "CONFIG SET requirepass right"));
    ok(send(&mut server.con(), "ACL SETUSER some on >right ~* +rl.token"));
    let certificates = Certificates::new();
    let with_tls = certificates.service(&server, RULES);
    let with_tls = with_tls.grpc_port().parse().expect("a port");
    let (locked, closed) = (with_password.port(), free_port());
    let rows = [
        (url(plain), plain, "reachable, "),
        (url(closed), closed, "connection refused: no server listens there"),
        (format!("redis://:secret@127.0.0.1:{locked}"), locked, "the user or the password is wrong"),
        (url(locked), locked, "the server needs a password, and none is given"),
        (format!("redis://:secret@127.0.0.1:{plain}"), plain, "the server has no password, and rejects"),
        (format!("redis://some:right@127.0.0.1:{plain}"), plain, "the user lacks a permission"),
        (format!("rediss://127.0.0.1:{plain}"), plain, "the port has no TLS"),
        (url(with_tls), with_tls, "a port with TLS takes rediss://"),
        (url(without_module.port()), without_module.port(), "without the module redis-rl"),
        ("redis://no-such-host.invalid:1".to_owned(), 1, "no such host"),
    ];
    let says = |(redis, shown, expected): (String, u16, &str)| {
        let service = Rlaas::at(&redis, RULES, &[]);
        let said = || service.log().lines().find(|line| line.contains(" --redis redis")).map(str::to_owned);
        until("the start says what it finds", || said().is_some());
        let line = said().expect("a line");
        assert!(line.contains(expected) && line.contains(&format!(":{shown}: ")), "{expected}: {line}");
        assert!(!service.log().contains("secret") && !service.log().contains("right"), "{}", service.log());
    };
    thread::scope(|scope| rows.into_iter().for_each(|row| _ = scope.spawn(|| says(row))));
}

#[test]
fn what_changes_later_is_said_too() {
    let mut server = Server::options(&servers()[0]).without_module().start();
    let service = Rlaas::with_env(&server, RULES, &[("RLAAS_TIMEOUT", "200ms")]);
    service.until_log("without the module redis-rl");
    ok(send(&mut server.con(), &format!("MODULE LOAD {}", module_path().display())));
    service.until_log("with the module redis-rl");
    let before = service.log().matches("decides again, ").count();
    let paused = Paused::new(&server);
    // A look, which no remembered denial decides.
    until("calls fail", || service.try_ask("k=x ?").is_err());
    drop(paused);
    until("Redis decides again", || service.log().matches("decides again, ").count() > before);
    let port = server.port();
    server.kill();
    // The next attempt is made when requests fail.
    until("the cause is named", || {
        _ = service.try_ask("k=x");
        service.log().contains(&format!(":{port}: connection refused: no server listens there"))
    });
    let error = service.try_ask("k=x").expect_err("no server");
    assert!(error.message().contains("connection refused: no server listens there"), "{error}");
}

//! Rules of a control plane and the routes of Envoy that use them, in pairs, in the shapes that Envoy Gateway makes.
//!
//! For each leaf of the rules as many requests as the limit pass, the next one is denied, and a sibling is untouched.

use envoy_types::pb::ratelimit::config::ratelimit::v3::RateLimitDescriptor;

use super::control::{ControlPlane, config, descriptor, limited};
use super::envoy::{route, with_routes};
use super::one_server;
use super::process::until;

/// The headers of a request.
type Headers = &'static [(&'static str, &'static str)];

struct Pair {
    /// The route, and the path of its requests.
    name: &'static str,
    /// The actions after that of the route: one list for each rule. One in braces is as in Envoy's configuration; else it is
    /// a match of a header as Envoy Gateway makes it: `key name value`.
    actions: &'static [&'static [&'static str]],
    /// The rules below that of the route.
    rules: Vec<RateLimitDescriptor>,
    /// For each leaf: what follows the path, the headers, and the limit; then the same of a sibling that is allowed.
    leaves: &'static [(&'static str, Headers, usize, &'static str, Headers)],
}

fn action(text: &str) -> String {
    let [key, name, value] = text.split(' ').collect::<Vec<_>>()[..] else { return text.to_owned() };
    if text.starts_with('{') {
        return text.to_owned();
    }
    format!(
        "{{header_value_match: {{descriptor_key: {key}, descriptor_value: {key}, \
         headers: [{{name: \"{name}\", string_match: {{exact: {value}}}}}]}}}}"
    )
}

fn pairs() -> [Pair; 5] {
    let named = |name: &str, limit| limited(name, name, limit);
    [
        Pair {
            name: "distinct",
            actions: &[&["{request_headers: {header_name: x-user-id, descriptor_key: rule-0-match-0}}"]],
            rules: vec![limited("rule-0-match-0", "", 2)],
            leaves: &[("", &[("x-user-id", "a")], 2, "", &[("x-user-id", "b")])],
        },
        Pair {
            name: "rules",
            actions: &[&["rule-0-match-0 x-plan free"], &["rule-1-match-0 x-plan paid"]],
            rules: vec![named("rule-0-match-0", 1), named("rule-1-match-0", 3)],
            leaves: &[
                ("", &[("x-plan", "free")], 1, "", &[("x-plan", "paid")]),
                // One request was that of the sibling.
                ("", &[("x-plan", "paid")], 2, "", &[("x-plan", "none")]),
            ],
        },
        Pair {
            name: "header-and-cidr",
            actions: &[&["rule-0-match-0 x-org one", "{masked_remote_address: {v4_prefix_mask_len: 24}}"]],
            rules: vec![descriptor(
                "rule-0-match-0",
                "rule-0-match-0",
                vec![limited("masked_remote_address", "192.0.2.0/24", 2)],
            )],
            leaves: &[(
                "",
                &[("x-org", "one"), ("x-forwarded-for", "192.0.2.7")],
                2,
                "",
                &[("x-org", "one"), ("x-forwarded-for", "198.51.100.7")],
            )],
        },
        Pair {
            name: "path",
            actions: &[&["rule-0-path :path /path/a"], &["rule-1-path :path /path/b"]],
            rules: vec![named("rule-0-path", 2), named("rule-1-path", 1)],
            leaves: &[("/a", &[], 2, "/c", &[]), ("/b", &[], 1, "/c", &[])],
        },
        Pair {
            name: "inverted",
            actions: &[&[
                "{header_value_match: {descriptor_key: rule-0-match-0, descriptor_value: rule-0-match-0, \
                 expect_match: false, headers: [{name: x-org, string_match: {exact: admin}}]}}",
                "{remote_address: {}}",
            ]],
            rules: vec![descriptor("rule-0-match-0", "rule-0-match-0", vec![limited("remote_address", "", 2)])],
            leaves: &[
                ("", &[("x-forwarded-for", "192.0.2.7")], 2, "", &[("x-forwarded-for", "192.0.2.8")]),
                (
                    "",
                    &[("x-forwarded-for", "192.0.2.9")],
                    2,
                    "",
                    &[("x-forwarded-for", "192.0.2.9"), ("x-org", "admin")],
                ),
            ],
        },
    ]
}

/// The route of a pair, which asks under the domain of the pairs.
fn route_of(Pair { name, actions, .. }: &Pair) -> String {
    let limit = |actions: &&[&str]| {
        let actions: Vec<_> = actions.iter().copied().map(action).collect();
        let route = format!("{{generic_key: {{descriptor_key: {name}, descriptor_value: {name}}}}}");
        format!("{{actions: [{route}, {}]}}", actions.join(", "))
    };
    let limits = actions.iter().map(limit).collect::<Vec<_>>().join(", ");
    route(name, "first-listener", &format!(", rate_limits: [{limits}]"))
}

#[test]
fn each_leaf_of_the_rules_limits_what_its_route_asks() {
    let server = one_server();
    let mut plane = ControlPlane::start();
    let service = plane.service(&server, &[]);
    let pairs = pairs();
    let rules = pairs.iter().map(|pair| descriptor(pair.name, pair.name, pair.rules.clone())).collect();
    plane.accepts("1", &[config("first-listener", "first-listener", rules)]);
    let envoy = with_routes(&service, &pairs.iter().map(route_of).collect::<String>());
    until("the service is healthy", || envoy.status("/free", &[]) == 200);
    for Pair { name, leaves, .. } in &pairs {
        for (path, headers, limit, sibling, of_sibling) in *leaves {
            let path = format!("/{name}{path}");
            for n in 0..*limit {
                assert_eq!(envoy.status(&path, headers), 200, "{path} {headers:?} {n}");
            }
            assert_eq!(envoy.status(&path, headers), 429, "{path} {headers:?}");
            let sibling = format!("/{name}{sibling}");
            assert_eq!(envoy.status(&sibling, of_sibling), 200, "{sibling} {of_sibling:?}");
        }
    }
}

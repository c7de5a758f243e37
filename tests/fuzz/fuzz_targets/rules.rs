//! A file of rules for the service: it is read, or rejected with an error that says why. What was read can be shown, and
//! every descriptor gets a limit or none.

#![no_main]

use libfuzzer_sys::fuzz_target;

use rlaas_rules::{self as rules, Domain, Settings, Source};

/// The words of the file, as the entries of descriptors.
fn look(domain: &Domain, text: &str) {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || "{}[],:'\"".contains(c))
        .filter(|word| !word.is_empty())
        .take(24)
        .collect();
    let entries: Vec<rules::Entry<'_>> = words.windows(2).map(|pair| (pair[0], pair[1])).collect();
    for first in 0..entries.len() {
        for descriptor in [&entries[first..=first], &entries[first..(first + 2).min(entries.len())]] {
            domain.metric(descriptor);
            let Some(found) = domain.find(descriptor) else { continue };
            if found.limit.rate.is_some() {
                let key = rules::key("p", domain, descriptor, &found);
                assert!(domain.script_keys || key.starts_with("prl:"), "{key}");
            }
        }
    }
}

fuzz_target!(|input: &[u8]| {
    // The service reads no other files.
    let Ok(text) = std::str::from_utf8(input) else { return };
    for merge in [false, true] {
        // Two files, so that domains are merged.
        let source = |name: &str| Source { name: name.into(), text: text.to_owned() };
        let sources = if merge { vec![source("a"), source("b")] } else { vec![source("a")] };
        let settings = Settings { merge_domains: merge, ..Settings::default() };
        let (loaded, findings) = rules::load(&sources, &settings);
        assert_eq!(loaded.is_none(), !findings.errors.is_empty(), "{findings:?}");
        for finding in findings.errors.iter().chain(&findings.warnings) {
            assert!(!finding.to_string().is_empty());
        }
        let Some(loaded) = loaded else { continue };
        _ = loaded.to_string();
        for domain in loaded.domains.values() {
            look(domain, text);
        }
    }
});

//! How the name of a second key stays in the slot of the first one, in a cluster.

/// The braces around a key in the name of another key, `<key>:<suffix>`, of the same limit. There are none, except in a
/// cluster for a key without a hash tag: `<key>:<suffix>` would be in another slot with every suffix. So the key becomes
/// the hash tag: `{<key>}:<suffix>`. `None` for a key that cannot be a hash tag.
pub fn braces(key: &[u8], in_cluster: bool) -> Option<[&'static [u8]; 2]> {
    if !in_cluster || hash_tag(key).is_some() {
        Some([b"", b""])
    } else if key.is_empty() || key.contains(&b'}') {
        None
    } else {
        Some([b"{", b"}"])
    }
}

/// The hash tag of a key, which the cluster hashes instead of the whole key: the bytes between the first `{` and the
/// first `}` after it, unless there are none (Redis cluster specification, "hash tags").
fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let open = key.iter().position(|&byte| byte == b'{')?;
    let rest = key.get(open.checked_add(1)?..)?;
    let close = rest.iter().position(|&byte| byte == b'}')?;
    rest.get(..close).filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_a_cluster_every_name_stays_in_the_slot_of_its_key() {
        for (key, expected) in [
            ("a:b", Some("{a:b}:7")),
            ("{a}b", Some("{a}b:7")),
            ("x{a}{b}", Some("x{a}{b}:7")),
            // The tag is what follows the first brace: {a.
            ("{a", Some("{{a}:7")),
            ("", None),
            ("a}b", None),
            ("}", None),
            ("{}", None),
            ("{}a", None),
        ] {
            let name = braces(key.as_bytes(), true).map(|[open, close]| [open, key.as_bytes(), close, b":7"].concat());
            assert_eq!(name.as_deref(), expected.map(str::as_bytes), "{key}");
            let hashed = |key| hash_tag(key).unwrap_or(key).to_vec();
            assert!(name.iter().all(|name| hashed(name) == hashed(key.as_bytes())), "{key}");
            assert_eq!(braces(key.as_bytes(), false), Some([&b""[..], b""]), "{key}");
        }
    }
}

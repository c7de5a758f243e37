//! How the name of a second key stays in the slot of the first.

/// The braces around the key in the name of the counter. `<key>:<suffix>` has none, except in cluster mode for a key
/// without a hash tag: the plain form would be in another slot with every window, so the key becomes the hash tag:
/// `{<key>}:<suffix>`. `None` for a key that cannot be a hash tag.
pub fn braces(key: &[u8], cluster: bool) -> Option<[&'static [u8]; 2]> {
    if !cluster || hash_tag(key).is_some() {
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

    fn name(key: &'static str, cluster: bool) -> Option<String> {
        let [open, close] = braces(key.as_bytes(), cluster)?;
        let name = [open, key.as_bytes(), close, b":7"].concat();
        if cluster {
            let slot_of = |key| hash_tag(key).unwrap_or(key).to_vec();
            assert_eq!(slot_of(name.as_slice()), slot_of(key.as_bytes()), "the counter leaves the slot");
        }
        Some(String::from_utf8(name).unwrap())
    }

    #[test]
    fn the_plain_form_outside_cluster_mode() {
        for key in ["a", "", "a}", "{", "{a}b", "{}"] {
            assert_eq!(name(key, false), Some(format!("{key}:7")));
        }
    }

    #[test]
    fn in_cluster_mode_the_key_becomes_the_hash_tag() {
        assert_eq!(name("a:b", true).as_deref(), Some("{a:b}:7"));
        assert_eq!(name("{a", true).as_deref(), Some("{{a}:7"), "the tag is what follows the first brace: {{a");
    }

    #[test]
    fn in_cluster_mode_a_hash_tag_stays() {
        assert_eq!(name("{a}b", true).as_deref(), Some("{a}b:7"));
        assert_eq!(name("x{a}{b}", true).as_deref(), Some("x{a}{b}:7"));
    }

    #[test]
    fn in_cluster_mode_a_key_that_cannot_stay_in_its_slot_is_an_error() {
        for key in ["", "a}b", "}", "{}", "{}a"] {
            assert_eq!(name(key, true), None, "{key}");
        }
    }
}

package redisrl

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"regexp"
	"strings"
)

const (
	longestValue = 256
	keptOfValue  = 32
)

// The end of a value that was replaced. One that ends so is replaced too, so that no value has the key of another.
var replaced = regexp.MustCompile("~[0-9a-f]{64}$")

// The key of all clients: <prefix><name>:{<who>}. A caller must not decide how long a key is, nor where its hash tag ends:
// vectors/keys.json.
// With a secret, an HMAC stands for who is limited.
func keyOf(prefix, name, who, secret string) string {
	if secret != "" {
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(who))
		who = hex.EncodeToString(mac.Sum(nil))[:32]
	}
	return prefix + name + ":{" + bounded(who) + "}"
}

// Who is limited, in the form that keys have. One with a brace is ~ and its SHA-256; a long one is its first 32 bytes, ~ and
// its SHA-256.
func bounded(who string) string {
	if strings.ContainsAny(who, "{}") {
		return "~" + digest(who)
	}
	if len(who) <= longestValue && !replaced.MatchString(who) {
		return who
	}
	end := min(keptOfValue, len(who))
	// A character of UTF-8 stays whole: only its first byte does not begin with the bits 10.
	for end > keptOfValue-3 && end < len(who) && who[end]&0xc0 == 0x80 {
		end--
	}
	return who[:end] + "~" + digest(who)
}

func digest(value string) string {
	sum := sha256.Sum256([]byte(value))
	return hex.EncodeToString(sum[:])
}

// AddressKey is an address as a caller to limit: IPv4 inside IPv6 as IPv4, and of IPv6 the network of 64 bits, of which one
// customer has at least one. What is no address is returned as it is.
func AddressKey(address string) string {
	found, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if found = found.Unmap().WithZone(""); found.Is4() {
		return found.String()
	}
	network, _ := found.Prefix(64)
	return network.String()
}

package redisrl

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	longestValue = 256
	keptOfValue  = 32
	digestDigits = 2 * sha256.Size
)

// Bounded is a value of a bounded length: one of more than 256 bytes is its first 32 bytes, ~, and its SHA-256 in
// hexadecimal, and so is one that ends as such a value does. Of the 32 bytes, up to three are left out that would cut a
// character. Any other value is returned as it is. [Limiter] does the same with each part of a key: what is before, in
// and after its hash tag.
func Bounded(value string) string {
	if len(value) <= longestValue && !endsAsDigested(value) {
		return value
	}
	return digested(value)
}

func endsAsDigested(value string) bool {
	at := len(value) - digestDigits - 1
	return at >= 0 && value[at] == '~' && !strings.ContainsFunc(value[at+1:], func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f')
	})
}

func digested(value string) string {
	end := min(keptOfValue, len(value))
	// Only the first byte of a character does not begin with the bits 10.
	for end > keptOfValue-3 && end < len(value) && value[end]&0xc0 == 0x80 {
		end--
	}
	sum := sha256.Sum256([]byte(value))
	return value[:end] + "~" + hex.EncodeToString(sum[:])
}

// The prefix, and the key within the bounds. Reservations have names that end in :reserved and :reserved:ends.
func boundedKey(prefix, key string) string {
	whole := key
	if prefix != "" {
		whole = prefix + key
	}
	isReserved := strings.HasSuffix(whole, ":reserved") || strings.HasSuffix(whole, ":reserved:ends")
	if len(key) <= digestDigits && !isReserved {
		return whole
	}
	end := Bounded
	if isReserved {
		end = digested
	}
	if before, rest, found := strings.Cut(key, "{"); found {
		if tag, after, found := strings.Cut(rest, "}"); found && tag != "" {
			return prefix + Bounded(before) + "{" + Bounded(tag) + "}" + end(after)
		}
	}
	return prefix + end(key)
}

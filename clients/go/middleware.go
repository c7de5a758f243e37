package redisrl

import (
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// A KeyFunc says whom a request counts for. An error is status 500: the key is missing though it should be there.
type KeyFunc func(*http.Request) (string, error)

// RemoteAddress is the address of the peer. Only for a service that callers reach directly: behind a proxy, every caller
// has the address of the proxy. Of an IPv6 address it is the /64 network, since a caller has the whole network.
func RemoteAddress(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return "", errors.New("redisrl: the request has no remote address")
	}
	return network(host)
}

// ForwardedAddress is the address that the outermost of proxies trusted proxies saw: entry proxies of X-Forwarded-For,
// counted from the end. Each of the proxies must append the address of its peer to that header. Entries further to the
// left are what the caller sent: with a number that is too large, callers choose their address; with one that is too
// small, all have the address of a proxy.
func ForwardedAddress(proxies int) KeyFunc {
	return func(r *http.Request) (string, error) {
		entries := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
		if proxies < 1 || proxies > len(entries) {
			return "", errors.New("redisrl: X-Forwarded-For has fewer entries than there are proxies")
		}
		entry := strings.TrimSpace(entries[len(entries)-proxies])
		if host, _, err := net.SplitHostPort(entry); err == nil {
			entry = host
		}
		return network(strings.Trim(entry, "[]"))
	}
}

func network(host string) (string, error) {
	address, err := netip.ParseAddr(host)
	if err != nil {
		return "", errors.New("redisrl: the address of the caller is no address")
	}
	if address = address.Unmap().WithZone(""); address.Is6() {
		prefix, _ := address.Prefix(64)
		address = prefix.Addr()
	}
	return address.String(), nil
}

// HeaderValue is the value of a header, such as an API key. The caller chooses it: check it before the middleware, or
// limit the address too. Else a caller who sends another value each time has no limit. A request without it is an error.
func HeaderValue(name string) KeyFunc {
	return func(r *http.Request) (string, error) {
		if value := strings.Join(r.Header.Values(name), ","); value != "" {
			return value, nil
		}
		return "", errors.New("redisrl: the request has no header that its key is made of")
	}
}

// Middleware limits the requests of a handler: 429 with application/problem+json and Retry-After on a denial, 503 if the
// server cannot decide and Unavailable is Error, 500 if the configuration is wrong. The headers of the limit are on each
// response. A request that LEAKY delays is held.
func (l *Limiter) Middleware(policy Policy, key KeyFunc) func(http.Handler) http.Handler {
	if policy.terms == nil || key == nil {
		panic("redisrl: Middleware needs a policy and a key function")
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			name, err := key(r)
			if err != nil {
				l.once.Do(l.setUp)
				_ = l.undecided(errors.Join(errNoKey, err))
				problem(w, http.StatusInternalServerError, nil)
				return
			}
			decision, err := l.Allow(r.Context(), policy, name)
			switch {
			case err != nil && (IsUnavailable(err) || r.Context().Err() != nil):
				w.Header().Set("Retry-After", "1")
				problem(w, http.StatusServiceUnavailable, nil)
				return
			case err != nil:
				problem(w, http.StatusInternalServerError, nil)
				return
			}
			decision.WriteHeaders(w.Header())
			if !decision.Allowed {
				problem(w, http.StatusTooManyRequests, []string{policy.Name()})
				return
			}
			if decision.Delay > 0 {
				select {
				case <-time.After(decision.Delay):
				case <-r.Context().Done():
					return
				}
			}
			next.ServeHTTP(w, r)
		})
	}
}

func problem(w http.ResponseWriter, status int, violated []string) {
	body := struct {
		Type     string   `json:"type"`
		Title    string   `json:"title"`
		Status   int      `json:"status"`
		Violated []string `json:"violated-policies,omitempty"`
	}{"about:blank", http.StatusText(status), status, violated}
	if violated != nil {
		body.Type, body.Title = "https://iana.org/assignments/http-problem-types#quota-exceeded", "Quota exceeded"
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

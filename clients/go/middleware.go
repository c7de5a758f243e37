package redisrl

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"reflect"
	"strings"
	"sync"
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
	return AddressKey(host), nil
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
		return AddressKey(strings.Trim(entry, "[]")), nil
	}
}

// A Limit is one limit of a middleware: [By] or [ByRequest].
type Limit struct {
	policy  Policy
	request func(*http.Request) (Request, error)
}

// By is a policy for all requests, and whom each of them counts for.
func By(policy Policy, key KeyFunc) Limit {
	if policy.terms == nil || key == nil {
		return Limit{}
	}
	return Limit{policy, func(r *http.Request) (Request, error) {
		found, err := key(r)
		return policy.Request(found), err
	}}
}

// ByRequest is a limit whose policy, key and cost depend on the request: limits by plan, for example.
func ByRequest(request func(*http.Request) (Request, error)) Limit { return Limit{request: request} }

// The policies of middlewares, by client and by what their keys begin with: two that differ would share a counter.
var registered sync.Map

type registration struct {
	client any
	keys   string
}

func (l *Limiter) register(p Policy) error {
	client := any(l.Doer)
	if !reflect.ValueOf(client).Comparable() {
		client = l
	}
	keys := l.Prefix + p.name + ":"
	other, isTaken := registered.LoadOrStore(registration{client, keys}, p.String())
	if isTaken && other != p.String() {
		return fmt.Errorf("redisrl: two limits share the keys %s*: %s and %s: give one of them a name with AS", keys, other, p.String())
	}
	return nil
}

// Middleware limits the requests of a handler: if every limit allows a request, every one is charged. A denial is 429 with
// application/problem+json and Retry-After; 503 if the server cannot decide and Unavailable is Error, 500 if the
// configuration is wrong. The headers of the limits are on each response. A request that LEAKY delays is held. It panics
// if the limiter is wrong, or if a policy has the name of another one.
func (l *Limiter) Middleware(limits ...Limit) func(http.Handler) http.Handler {
	err := l.setUp()
	if err == nil && len(limits) == 0 {
		err = errors.New("redisrl: Middleware needs a limit")
	}
	for _, each := range limits {
		if err == nil && each.request == nil {
			err = errors.New("redisrl: a limit of Middleware needs a policy and a function")
		} else if err == nil && each.policy.terms != nil {
			err = l.register(each.policy)
		}
	}
	if err != nil {
		panic(err)
	}
	verb := "MULTI"
	if len(limits) == 1 {
		verb = "CHECK"
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests := make([]Request, len(limits))
			for i := range limits {
				var err error
				if requests[i], err = limits[i].request(r); err != nil {
					l.rejected(err)
					problem(w, http.StatusInternalServerError, nil)
					return
				}
			}
			found, err := l.decide(r.Context(), verb, requests...)
			if err != nil && (IsUnavailable(err) || r.Context().Err() != nil) {
				w.Header().Set("Retry-After", "1")
				problem(w, http.StatusServiceUnavailable, nil)
				return
			}
			if err != nil {
				problem(w, http.StatusInternalServerError, nil)
				return
			}
			found.WriteHeaders(w.Header())
			var delay time.Duration
			var violated []string
			for _, each := range found.Limits {
				if delay = max(delay, each.Delay); !each.Allowed {
					violated = append(violated, each.Policy.label)
				}
			}
			if !found.Allowed {
				problem(w, http.StatusTooManyRequests, violated)
				return
			}
			if delay > 0 {
				select {
				case <-time.After(delay):
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

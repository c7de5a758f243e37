// Package adapter is a Doer over redigo.
package adapter

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gomodule/redigo/redis"
)

// Redigo sends commands over the connections of a pool.
type Redigo struct {
	pool    *redis.Pool
	replica atomic.Int64 // when a connection last led to a replica
}

// NewRedigo is a Doer over a pool whose TestOnBorrow is not set: connections from before a failover are closed.
func NewRedigo(pool *redis.Pool) *Redigo {
	r := &Redigo{pool: pool}
	pool.TestOnBorrow = func(_ redis.Conn, used time.Time) error {
		if used.UnixNano() <= r.replica.Load() {
			return errors.New("a connection from before a failover")
		}
		return nil
	}
	return r
}

// Do sends one command.
func (r *Redigo) Do(ctx context.Context, args ...any) (any, error) {
	conn, err := r.pool.GetContext(ctx)
	if err != nil {
		return nil, err
	}
	var timeout time.Duration // 0 for none
	if end, isLimited := ctx.Deadline(); isLimited {
		timeout = max(time.Until(end), time.Millisecond)
	}
	reply, err := redis.DoWithTimeout(conn, timeout, args[0].(string), args[1:]...)
	conn.Close()
	if err != nil && strings.HasPrefix(err.Error(), "READONLY ") {
		r.replica.Store(time.Now().UnixNano())
	}
	return reply, err
}

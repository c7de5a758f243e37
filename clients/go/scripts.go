package redisrl

import "context"

// Decides on a server without the module.
type scripts struct{}

func (s *scripts) run(ctx context.Context, l *Limiter, c *invocation) (any, error) {
	timeout := l.Timeout
	if c.timeout > 0 {
		timeout = c.timeout
	}
	sent := new(call)
	return l.link.do(ctx, timeout, sent, c.native(sent.words[:0]))
}

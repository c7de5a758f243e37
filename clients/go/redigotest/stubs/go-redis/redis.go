// Package redis has the methods of go-redis that the adapter needs.
package redis

import "context"

type (
	// Options has the fields that the page sets.
	Options struct {
		Addr       string
		MaxRetries int
	}
	// Client is a client of one server.
	Client struct{}
	// Cmd is a command with its reply.
	Cmd struct{}
)

// NewClient makes a client.
func NewClient(*Options) *Client { return nil }

// Do sends a command.
func (c *Client) Do(context.Context, ...any) *Cmd { return nil }

// Result is the reply.
func (c *Cmd) Result() (any, error) { return nil, nil }

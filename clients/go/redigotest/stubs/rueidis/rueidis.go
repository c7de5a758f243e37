// Package rueidis has the methods of rueidis that the adapter needs.
package rueidis

import "context"

type (
	// ClientOption has the fields that the page sets.
	ClientOption struct {
		InitAddress  []string
		DisableRetry bool
	}
	// Client is a client of a server or a cluster.
	Client interface {
		B() Builder
		Do(context.Context, Completed) Result
	}
	// Builder makes commands.
	Builder struct{}
	// Arbitrary is a command that the package does not know.
	Arbitrary struct{}
	// Completed is a whole command.
	Completed struct{}
	// Result is a reply.
	Result struct{}
)

// NewClient makes a client.
func NewClient(ClientOption) (Client, error) { return nil, nil }

// Arbitrary begins a command.
func (b Builder) Arbitrary(...string) Arbitrary { return Arbitrary{} }

// Args adds arguments.
func (a Arbitrary) Args(...string) Arbitrary { return a }

// Build ends it.
func (a Arbitrary) Build() Completed { return Completed{} }

// ToAny is the reply: int64, string, []any or map[string]any.
func (r Result) ToAny() (any, error) { return nil, nil }

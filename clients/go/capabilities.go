package redisrl

import (
	"maps"
	"slices"
	"strings"
)

// What an algorithm can do: a row of vectors/capabilities.json, which a test compares with this.
type can struct{ burst, anchor, cost, partial, always, reserve, lock, id bool }

var capabilities = map[string]can{
	"FIXED":   {anchor: true, cost: true, partial: true, always: true, reserve: true},
	"WINDOW":  {cost: true, partial: true, always: true, reserve: true},
	"SLIDING": {cost: true, partial: true},
	"COUNTER": {cost: true, partial: true, always: true, reserve: true},
	"TOKEN":   {burst: true, cost: true, partial: true, always: true},
	"LEAKY":   {burst: true, cost: true, partial: true},
	"GCRA":    {burst: true, cost: true, partial: true},
	"ROLLING": {cost: true, partial: true, always: true, reserve: true},
	"LEASE":   {id: true},
	"LOCKOUT": {cost: true, lock: true},
}

var algorithmWords = strings.Join(slices.Sorted(maps.Keys(capabilities)), ", ")

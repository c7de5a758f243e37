package redisrl

import (
	"maps"
	"slices"
	"strings"
)

// What an algorithm can do: a row of vectors/capabilities.json, which a test compares with this.
type can struct {
	burst, anchor, cost, partial, reserve, lock bool
	// Whether a remembered denial may deny further requests: others end leases at any time.
	remembered bool
}

var capabilities = map[string]can{
	"FIXED":   {anchor: true, cost: true, partial: true, reserve: true, remembered: true},
	"WINDOW":  {cost: true, partial: true, reserve: true, remembered: true},
	"SLIDING": {cost: true, partial: true, remembered: true},
	"COUNTER": {cost: true, partial: true, reserve: true, remembered: true},
	"TOKEN":   {burst: true, cost: true, partial: true, remembered: true},
	"LEAKY":   {burst: true, cost: true, partial: true, remembered: true},
	"GCRA":    {burst: true, cost: true, partial: true, remembered: true},
	"ROLLING": {cost: true, partial: true, reserve: true, remembered: true},
	"LEASE":   {},
	"LOCKOUT": {cost: true, lock: true, remembered: true},
}

var algorithmWords = strings.Join(slices.Sorted(maps.Keys(capabilities)), ", ")

package redisrl

import (
	"maps"
	"slices"
	"strings"
)

// The options of each algorithm: a row of vectors/capabilities.json, which a test compares with this. ANCHOR stands for the
// windows of the calendar too.
var capabilities = map[string][]string{
	"FIXED":   {"ANCHOR", "COST", "PARTIAL", "ALWAYS", "RESERVE"},
	"WINDOW":  {"COST", "PARTIAL", "ALWAYS", "RESERVE"},
	"SLIDING": {"COST", "PARTIAL"},
	"COUNTER": {"COST", "PARTIAL", "ALWAYS", "RESERVE"},
	"TOKEN":   {"BURST", "COST", "PARTIAL", "ALWAYS"},
	"LEAKY":   {"BURST", "COST", "PARTIAL"},
	"GCRA":    {"BURST", "COST", "PARTIAL"},
	"ROLLING": {"COST", "PARTIAL", "ALWAYS", "RESERVE"},
	"LEASE":   {"ID"},
	"LOCKOUT": {"COST", "BLOCK", "MAX"},
}

var algorithmWords = strings.Join(slices.Sorted(maps.Keys(capabilities)), ", ")

func takes(algorithm, option string) bool { return slices.Contains(capabilities[algorithm], option) }

package redisrl

import (
	"crypto/sha1" //nolint:gosec // Redis names scripts so.
	"embed"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The limits as Lua scripts, for servers without the module: copies of the files in lua/.
//
//go:embed scripts/*.lua
var sources embed.FS

// One limit of a call: what is asked for, the key in Redis, and the words of the command after the key.
type limit struct {
	*Request
	key   string
	words []any
}

// A call of the module or of a script: the same words in another order. The verb is the first word of a script.
type call struct {
	verb   string
	limits []limit
}

func (c *call) isOfSeveral() bool { return c.verb == "MULTI" || c.verb == "SHARE" }

// The words of the command.
func (c *call) command() []any {
	words := []any{"RL." + c.verb}
	switch c.verb {
	case "CHECK":
		words[0] = "RL." + c.limits[0].Policy.algorithm
	case "MULTI", "SHARE":
		words = append(words, strconv.Itoa(len(c.limits)))
	}
	for _, each := range c.limits {
		if c.verb != "CHECK" && c.verb != "RENEW" && c.verb != "RELEASE" {
			words = append(words, each.Policy.algorithm)
		}
		words = append(append(words, each.key), each.words...)
	}
	if c.isOfSeveral() {
		words = append(words, "LINE")
	}
	return words
}

type script struct{ text, sha string }

// The scripts that were made, by the names of their files and their last line.
var made sync.Map

// A script of lua/head.lua, these files, and a last line.
func scriptOf(files []string, end string) script {
	name := strings.Join(files, " ") + " " + end
	if found, isMade := made.Load(name); isMade {
		return found.(script)
	}
	var text strings.Builder
	for _, file := range append([]string{"head"}, files...) {
		source, err := sources.ReadFile("scripts/" + file + ".lua")
		if err != nil {
			panic(err) // a test makes the scripts of all algorithms
		}
		text.Write(source)
	}
	text.WriteString(end)
	sum := sha1.Sum([]byte(text.String()))
	found := script{text.String(), hex.EncodeToString(sum[:])}
	made.Store(name, found)
	return found
}

// The file of an algorithm.
func fileOf(algorithm string) string {
	if algorithm == "TOKEN" || algorithm == "LEAKY" {
		return "bucket"
	}
	return strings.ToLower(algorithm)
}

// The script of the call, and the words after EVALSHA and EVAL.
func (c *call) script() (script, []any) {
	words := []any{strconv.Itoa(len(c.limits))}
	for _, each := range c.limits {
		words = append(words, each.key)
	}
	words = append(words, c.verb)
	if !c.isOfSeveral() {
		algorithm := c.limits[0].Policy.algorithm
		return scriptOf([]string{fileOf(algorithm)}, "return run('"+algorithm+"')\n"), append(words, c.limits[0].words...)
	}
	words = append(words, strconv.Itoa(len(c.limits)))
	var files []string
	for _, each := range c.limits {
		files = append(files, fileOf(each.Policy.algorithm))
		words = append(append(words, each.Policy.algorithm), each.words...)
	}
	slices.Sort(files)
	return scriptOf(append(slices.Compact(files), "several"), ""), append(words, "LINE")
}

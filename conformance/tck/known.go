package main

import (
	"slices"
	"strings"
)

// fault is a test of the kit that fails, in both sets, and is wrong to.
type fault struct {
	// Requirement is the kit's id of what it means to test.
	Requirement string `json:"requirement"`

	Test   string `json:"test"`
	Reason string `json:"reason"`
}

// faults only shrink: one that passes, or is not there, fails the run.
var faults = []fault{{
	Requirement: "CORE-SEND-003",
	Test:        "core_operations.test_requirements.test_must_requirement[CORE-SEND-003-jsonrpc]",
	Reason: "the kit sends a part of an unsupported media type and takes success for the right answer, " +
		"although the requirement it names asks for ContentTypeNotSupportedError, which we give",
}}

// skip is a reason for which the kit does not run tests.
type skip struct {
	// reason is why that is right.
	reason string

	// words are what the kit says; whatever begins with one of them counts.
	words []string

	// sets are where the tests may be skipped; nil means both.
	sets []string
}

func (s skip) covers(set, words string) bool {
	return (s.sets == nil || slices.Contains(s.sets, set)) &&
		slices.ContainsFunc(s.words, func(prefix string) bool { return strings.HasPrefix(words, prefix) })
}

// skips only shrink, too: what a set says it has must be tested there. A reason
// that is missing here, or that no test is skipped for, fails the run.
var skips = []skip{
	{
		reason: "other bindings than JSON-RPC, which we do not offer",
		words: []string{
			"Transport 'grpc' not configured", "Transport 'http_json' not configured",
			"gRPC transport not configured", "HTTP+JSON transport not configured",
		},
	},
	{
		reason: "push notifications, which the test agent does not offer",
		words:  []string{"Agent does not support push notifications"},
	},
	{
		reason: "the extended card, which we do not offer",
		words:  []string{"Agent card does not declare capabilities for: ['agent-card']"},
	},
	{
		reason: "the refusal of streams, which is for the set off",
		words:  []string{"Agent supports streaming"},
		sets:   []string{"on"},
	},
	{
		reason: "streams, which are for the set on",
		words: []string{
			"Agent does not support streaming", "Streaming not supported: ",
			"Agent card does not declare capabilities for: ['streaming']",
		},
		sets: []string{"off"},
	},
	{
		reason: "the required extension, which is for the set on",
		words:  []string{"Agent card does not declare urn:a2a:tck:required-extension as required"},
		sets:   []string{"off"},
	},
	{
		reason: "places for requirements that the kit has none of",
		words:  []string{"No requirements at this level"},
	},
}

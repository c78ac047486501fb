package main

import (
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
)

// script is one behaviour.
type script struct {
	// prefix is what a message's id, or its first text, begins with.
	prefix string

	// textOnly leaves the id out of account.
	textOnly bool

	// reply, unless empty, answers a new message without a task.
	reply string

	// keeps makes later messages of the task that begin with no prefix of
	// their own play this script too.
	keeps bool

	play agent.Func
}

// extensionProbe is the prefix of messages that are refused without the
// required extension; [handler] sees to that.
const extensionProbe = "tck-cap-ext-004"

const directReply = "Direct message response"

// scripts are all behaviours but the one for anything else, which is [echo].
// Every task is working before its script begins: the engine says so.
var scripts = []script{
	{prefix: "tck-complete-task", play: ends(a2a.TaskStateCompleted, "Hello from TCK")},
	{prefix: "tck-input-required", play: ends(a2a.TaskStateInputRequired, "")},
	{prefix: "tck-reject-task", play: ends(a2a.TaskStateRejected, "rejected")},
	{prefix: "tck-message-response", reply: directReply, play: ends(a2a.TaskStateCompleted, directReply)},
	{prefix: "tck-artifact-text", play: makes(a2a.TextPart("Generated text content"))},
	{prefix: "tck-artifact-file", play: makes(file)},
	{prefix: "tck-artifact-file-url", play: makes(a2a.URLPart("https://example.com/output.txt", "output.txt", "text/plain"))},
	{prefix: "tck-artifact-data", play: makes(a2a.Part{Content: a2a.PartData(`{"key":"value","count":42}`)})},
	{prefix: "tck-stream-001", play: makes(a2a.TextPart("Stream hello from TCK"))},
	{prefix: "tck-stream-002", play: ends(a2a.TaskStateCompleted, "")},
	{prefix: "tck-stream-003", play: makes(a2a.TextPart("Stream task lifecycle"))},
	{prefix: "tck-stream-ordering-001", play: makes(a2a.TextPart("Ordered output"))},
	{prefix: "tck-stream-artifact-text", play: makes(a2a.TextPart("Streamed text content"))},
	{prefix: "tck-stream-artifact-file", play: makes(file)},
	{prefix: "tck-stream-artifact-chunked", play: pieces("chunk-1 ", "chunk-2")},
	{prefix: "test-resubscribe-message-id", play: after(4*time.Second, ends(a2a.TaskStateCompleted, ""))},
	{prefix: extensionProbe, play: echo},

	{prefix: "tck-long-running", textOnly: true, play: after(5*time.Second, makes(a2a.TextPart("Long-running work is done")))},
	{prefix: "tck-multi-turn", textOnly: true, keeps: true, play: multiTurn},
	{prefix: "tck-cancel", textOnly: true, play: untilCanceled},
	{prefix: "tck-stream-basic", textOnly: true, play: makes(a2a.TextPart("Streamed output"))},
	{prefix: "tck-stream-chunked", textOnly: true, play: pieces("piece-1 ", "piece-2 ", "piece-3")},
	{prefix: "tck-task-failure", textOnly: true, play: ends(a2a.TaskStateFailed, "The task failed, as it was asked to.")},
	{prefix: "tck-auth-required", textOnly: true, play: ends(a2a.TaskStateAuthRequired, "An authorization is required.")},
	{prefix: streamLoad, textOnly: true, play: load},
	{prefix: chunksLoad, textOnly: true, play: load},
}

var file = a2a.RawPart([]byte("Generated text content"), "output.txt", "text/plain")

// choose returns the script whose prefix is the longest that the message's id
// begins with, else the one of its first text.
func choose(message *a2a.Message) (script, bool) {
	if s, ok := longest(string(message.MessageID), false); ok {
		return s, true
	}
	return longest(firstText(message), true)
}

func longest(text string, isText bool) (found script, ok bool) {
	for _, s := range scripts {
		if (isText || !s.textOnly) && strings.HasPrefix(text, s.prefix) && len(s.prefix) > len(found.prefix) {
			found, ok = s, true
		}
	}
	return found, ok
}

// firstText is the message's first text part, or nothing.
func firstText(message *a2a.Message) string {
	for _, part := range message.Parts {
		if text, ok := part.Content.(a2a.PartText); ok {
			return string(text)
		}
	}
	return ""
}

package cli_test

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/cli"
	"github.com/legation/legation/internal/testkit"
)

// Whatever an agent calls a task, a command that is shown to be pasted is about
// that task and says nothing else.
func TestCommandsToPaste(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	split := func(command string) []string {
		out, err := exec.CommandContext(t.Context(), shell, "-c", `set -- `+command+`; for w in "$@"; do printf '%s\0' "$w"; done`).Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		words := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		return words[1:] // without the program
	}
	for _, id := range []string{"t-1", "-t", "--help", "--timeout=1ms", "--", "-", "-o json", "--header=X: 'y'"} {
		task := func(state string) string {
			return fmt.Sprintf(`{"id":%q,"contextId":"c-1","status":{"state":"TASK_STATE_%s"},"artifacts":[{"artifactId":"a","parts":[{"raw":"AAEC","filename":"f"}]}]}`, id, state)
		}
		var script []testkit.Answer // the third is for what is pasted
		for _, state := range []string{"COMPLETED", "INPUT_REQUIRED", "COMPLETED", "AUTH_REQUIRED"} {
			script = append(script, testkit.Result(asTask(task(state))))
		}
		peer := testkit.ListenPeer(t, testkit.Routes(map[string]testkit.Answer{
			cardPath:          card(silentStream),
			"SendMessage":     testkit.Script(script...),
			"GetTask":         testkit.Result(task("COMPLETED")),
			"SubscribeToTask": testkit.Fail(-32004, "it has ended"),
		}))
		about := fmt.Sprintf(`"id":%q`, id)
		for _, tt := range []struct{ shown, operation, params string }{
			{"legation task get ", "GetTask", about},
			{"legation send ", "SendMessage", fmt.Sprintf(`"taskId":%q`, id)},
			{"legation task watch ", "GetTask", about},
		} {
			_, _, stderr := run(t, "", "send", peer.URL, "hello")
			at := strings.LastIndex(stderr, tt.shown)
			if at < 0 {
				t.Fatalf("%q: there is no %q in:\n%s", id, tt.shown, stderr)
			}
			command, _, _ := strings.Cut(stderr[at:], "\n")
			words := split(command)
			if i := slices.Index(words, "."); i >= 0 {
				words[i] = t.TempDir()
			}
			before := len(peer.Requests())
			if status, _, stderr := run(t, "", words...); status != 0 {
				t.Errorf("%q: %s: status %d:\n%s", id, command, status, stderr)
			}
			sent := peer.Requests()[before:]
			if last := sent[len(sent)-1]; last.Operation != tt.operation || !strings.Contains(last.Params, tt.params) {
				t.Errorf("%q: %s: asked %s %s, want %s %s", id, command, last.Operation, last.Params, tt.operation, tt.params)
			}
		}
	}
}

// A message that begins like a flag is repeated as the message it was.
func TestARepeatedMessageToPaste(t *testing.T) {
	peer := testkit.ListenPeer(t, testkit.Routes(peers["lost-dedupe"]))
	_, _, stderr := run(t, "", "send", peer.URL, "--message-id", "-m", "--context", "--c", "--", "--no-wait", "now")
	wantIn(t, stderr, "legation send "+peer.URL+" --message-id -m --context --c -- '--no-wait now'")
	before := peer.Requests()
	run(t, "", "send", peer.URL, "--message-id", "-m", "--context", "--c", "--", "--no-wait now")
	after := peer.Requests()
	if diff := cmp.Diff(before[len(before)-1].Params, after[len(after)-1].Params); diff != "" {
		t.Errorf("(-first +repeated)\n%s", diff)
	}
}

// REQ-GEN-04: a credential that an agent repeats is not shown.
func TestCredentialsAreNotShown(t *testing.T) {
	const token = "hunter2-and-more"
	routes := map[string]map[string]testkit.Answer{
		"an error":   {cardPath: card(silentStream), "SendMessage": testkit.Fail(-32603, "who is Bearer "+token+"?")},
		"plain text": {cardPath: card(silentStream), "SendMessage": testkit.HTTP(403, "text/plain", "who is "+token+"?")},
		"a card":     {cardPath: testkit.HTTP(403, "text/plain", "who is "+token+"?")},
		"a redirect": {cardPath: testkit.Redirect(302, "https://"+token+".example/")},
		"a failure":  {cardPath: card(silentStream), "SendMessage": testkit.Result(asTask(task("FAILED", `"who is `+token+`?"`)))},
		"a state": {cardPath: card(nil), "SendStreamingMessage": testkit.Events(
			asTask(task("WORKING", `"who is `+token+`?"`)), asTask(task("REJECTED", `""`)))},
		"a file": {cardPath: card(silentStream), "SendMessage": testkit.Result(`{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"url":"https://x.example/` + token + `"}]}}`)},
	}
	for name, answers := range routes {
		peer := testkit.ListenPeer(t, testkit.Routes(answers))
		_, _, stderr := run(t, "", "send", peer.URL, "hello", "--header", "Authorization: Bearer "+token)
		said := "[withheld]"
		if name == "a redirect" {
			said = "a redirect to another place"
		}
		if strings.Contains(stderr, "hunter2") || !strings.Contains(stderr, said) {
			t.Errorf("%s: standard error:\n%s", name, stderr)
		}
	}
}

// A card is waited for no longer than is documented.
func TestLimits(t *testing.T) {
	type limits struct{ Answer, Card time.Duration }
	got := map[time.Duration]limits{}
	for _, timeout := range []time.Duration{time.Second, 15 * time.Second, time.Minute, time.Hour} {
		answer, card, err := cli.Limits(timeout)
		if err != nil {
			t.Fatal(err)
		}
		got[timeout] = limits{answer, card}
	}
	want := map[time.Duration]limits{
		time.Second: {time.Second, time.Second}, 15 * time.Second: {15 * time.Second, 15 * time.Second},
		time.Minute: {time.Minute, 15 * time.Second}, time.Hour: {time.Minute, 15 * time.Second},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	late := &client.CardError{URL: "http://agent.test", Err: fmt.Errorf("late: %w", context.DeadlineExceeded)}
	wantIn(t, cli.HintAt(time.Minute, late), "does not answer; check the URL")
	wantIn(t, cli.HintAt(time.Second, late), "give a longer --timeout")
}

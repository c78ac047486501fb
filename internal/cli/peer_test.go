package cli_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/testkit"
)

const (
	cardPath  = "GET " + a2a.WellKnownCardPath
	olderPath = "GET /.well-known/agent.json"

	evil = "\x1b[2Jevil\x9b31m\u202ename"
)

// card is the card of a peer, changed by a test.
func card(change func(*a2a.AgentCard)) testkit.Answer {
	form := testkit.Card("$URL")
	if change != nil {
		change(&form)
	}
	return testkit.JSON(testkit.CardJSON(form))
}

func silentStream(c *a2a.AgentCard) { c.Capabilities.Streaming = nil }
func dedupes(c *a2a.AgentCard)      { extend(c, "urn:legation:retry:v1") }
func dedupesAndChooses(c *a2a.AgentCard) {
	dedupes(c)
	extend(c, "urn:legation:skill:v1")
}
func extend(c *a2a.AgentCard, uri string) {
	c.Capabilities.Extensions = append(c.Capabilities.Extensions, a2a.AgentExtension{URI: uri})
}

const (
	submitted = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_SUBMITTED"}}`
	working   = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING","message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":"half\nway"}]}}}`
	completed = `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-01-31T12:00:00Z"},` +
		`"artifacts":[{"artifactId":"a-1","name":"report","description":"All of it.","parts":[{"text":"the result"},{"data":{"n":1}},` +
		`{"raw":"AAEC","filename":"../../etc/pass wd.bin","mediaType":"application/octet-stream"},` +
		`{"url":"https://files.example/x","filename":"x"}]}],` +
		`"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"please"}]}]}`
	canceled = `{"id":"t-1","status":{"state":"TASK_STATE_CANCELED"}}`
)

func task(state, text string) string {
	return `{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_` + state + `","message":{"messageId":"a","role":"ROLE_AGENT","parts":[{"text":` + text + `}]}}}`
}

func asTask(task string) string { return `{"task":` + task + `}` }

func status(state string) string {
	return `{"statusUpdate":{"taskId":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_` + state + `"}}}`
}

func chunk(id, more, parts string) string {
	return `{"artifactUpdate":{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"` + id + `","parts":[` + parts + `]}` + more + `}}`
}

var answers = testkit.Result(`{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"text":"served"}]}}`)

// peers are those a script can start by name. Each agent has one task, t-1.
var peers = map[string]map[string]testkit.Answer{
	"page":     {cardPath: testkit.Page(http.StatusOK)},
	"redirect": {cardPath: testkit.Redirect(http.StatusFound, "https://elsewhere.example/")},
	"nothing":  {},
	"secret":   {cardPath: testkit.HTTP(http.StatusUnauthorized, "text/plain", "no", "WWW-Authenticate: Bearer realm=x")},
	"huge":     {cardPath: testkit.JSON(`{"name":"` + string(make([]byte, 2<<20)) + `"}`)},
	"tls":      {cardPath: testkit.HTTP(http.StatusBadRequest, "text/plain", "Client sent an HTTP request to an HTTPS server.")},
	"proxy":    {cardPath: testkit.Page(http.StatusBadGateway)},
	"text":     {cardPath: testkit.HTTP(http.StatusOK, "image/png", "png")},
	"older": {olderPath: card(func(c *a2a.AgentCard) {
		c.SupportedInterfaces[0].ProtocolVersion = "0.3"
	})},
	"older-below": {"GET /team/a/.well-known/agent.json": card(nil)},
	"local":       {cardPath: testkit.HTTP(http.StatusForbidden, "text/plain", "this server answers\nthis machine only\n")},
	"bare":        {cardPath: card(func(c *a2a.AgentCard) { c.SupportedInterfaces = nil })},
	"damaged":     {cardPath: testkit.JSON(`{"name":"Test agent",`)},
	"oldversion":  {cardPath: card(func(c *a2a.AgentCard) { c.SupportedInterfaces[0].ProtocolVersion = "0.3" })},
	"elsewhere": {cardPath: card(func(c *a2a.AgentCard) {
		c.SupportedInterfaces = []a2a.AgentInterface{
			{URL: "http://10.1.2.3/", ProtocolBinding: "JSONRPC", ProtocolVersion: "1.0"},
			{URL: "$URL/grpc", ProtocolBinding: "GRPC", ProtocolVersion: "1.0"},
		}
	})},
	"demanding": {cardPath: card(func(c *a2a.AgentCard) {
		c.Capabilities.Extensions = []a2a.AgentExtension{{URI: "urn:other", Required: true, Description: "must"}}
	})},
	"rich": {cardPath: card(richCard)},
	"evil": {
		cardPath:      card(func(c *a2a.AgentCard) { c.Name, c.Description = evil, evil; silentStream(c) }),
		"GetTask":     testkit.Result(task("FAILED", `"\u001b[2Jevil"`)),
		"SendMessage": testkit.Result(`{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"text":"\u001b[2Jevil\u009b31m\u202ename \u00e4 \ud83d\ude00\n"}]}}`),
	},
	"forgetful": {
		cardPath:      card(nil),
		"SendMessage": testkit.Fail(-32601, "Method not found"), "SendStreamingMessage": testkit.Fail(-32601, "Method not found"),
		"GetTask": testkit.Fail(-32001, "no such task"), "SubscribeToTask": testkit.Fail(-32001, "no such task"), "CancelTask": testkit.Fail(-32001, "no such task"),
	},
	"versions":  {cardPath: card(silentStream), "SendMessage": testkit.Fail(-32009, "version not supported")},
	"media":     {cardPath: card(silentStream), "SendMessage": testkit.HTTP(http.StatusUnsupportedMediaType, "application/json", testkit.Failure(-32005, "text only"))},
	"extension": {cardPath: card(silentStream), "SendMessage": testkit.Fail(-32008, "extension")},
	"forbidden": {cardPath: card(silentStream), "SendMessage": testkit.HTTP(http.StatusForbidden, "application/json", testkit.Failure(-32603, "not you"))},
	"silent":    {cardPath: card(silentStream), "SendMessage": testkit.HTTP(http.StatusForbidden, "text/plain", "")},
	"choosy": {
		cardPath: card(func(c *a2a.AgentCard) {
			silentStream(c)
			c.Skills = append(c.Skills, a2a.AgentSkill{ID: "two words", Name: "x", Description: "x", Tags: []string{"x"}})
		}),
		"SendMessage": testkit.JSON(`{"jsonrpc":"2.0","id":$ID,"error":{"code":-32602,"message":"Invalid parameters","data":[` +
			`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[` +
			`{"field":"message.metadata","description":"urn:legation:skill:v1\u001b must be there"},{"field":"tenant","description":"is odd"}]}]}}`),
	},
	"full":        {cardPath: card(silentStream), "SendMessage": testkit.HTTP(http.StatusRequestEntityTooLarge, "text/plain", "too big")},
	"busy":        {cardPath: card(silentStream), "SendMessage": testkit.HTTP(http.StatusTooManyRequests, "text/plain", "slow down", "Retry-After: 7")},
	"lost":        {cardPath: card(nil), "SendStreamingMessage": testkit.Bytes()},
	"lost-dedupe": {cardPath: card(dedupes), "SendStreamingMessage": testkit.Bytes()},
	"mute":        {cardPath: card(dedupes), "SendStreamingMessage": testkit.Hang()},
	"empty":       {cardPath: card(nil), "SendStreamingMessage": testkit.Events()},
	"polled": {
		cardPath:      card(silentStream),
		"SendMessage": testkit.Result(asTask(submitted)),
		"GetTask":     testkit.Result(completed),
		"CancelTask":  testkit.Result(working),
	},
	"chunks": {cardPath: card(nil), "SendStreamingMessage": testkit.Events(
		asTask(working),
		chunk("a-1", "", `{"text":"one "}`),
		chunk("a-1", `,"append":true`, `{"text":"two"}`),
		chunk("a-2", "", `{"data":{"k":[1,2]}}`),
		chunk("a-2", `,"append":true,"lastChunk":true`, `{"data":null}`),
		chunk("a-1", `,"append":true`, `{"text":"three"}`),
		status("COMPLETED"),
	)},
	"replaced": {cardPath: card(nil), "SendStreamingMessage": testkit.Events(
		asTask(working), chunk("a-1", "", `{"text":"first draft"}`), chunk("a-1", "", `{"text":"second draft"}`), status("COMPLETED"),
	)},
	"snapshots": {cardPath: card(nil),
		"SendStreamingMessage": testkit.BrokenEvents(asTask(submitted), chunk("a-1", "", `{"text":"one "}`)),
		"SubscribeToTask": testkit.Events(
			asTask(`{"id":"t-1","contextId":"c-1","status":{"state":"TASK_STATE_WORKING"},"artifacts":[{"artifactId":"a-1","parts":[{"text":"one two "}]}]}`),
			chunk("a-1", `,"append":true`, `{"text":"three"}`), status("COMPLETED"),
		),
	},
	"message": {cardPath: card(nil), "SendStreamingMessage": testkit.Events(
		`{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"text":"hello back"},{"raw":"AAEC"},{"raw":"AwQ="}]}}`,
	)},
	"said": {cardPath: card(nil), "SendStreamingMessage": testkit.Events(
		asTask(submitted), asTask(task("COMPLETED", `"said at the end"`)),
	)},
	"asks": {cardPath: card(nil), "SendStreamingMessage": testkit.OpenEvents(
		asTask(submitted), asTask(task("INPUT_REQUIRED", `"Which one?\nA or B?"`)),
	)},
	"locked": {cardPath: card(nil),
		"SendStreamingMessage": testkit.OpenEvents(asTask(submitted), asTask(task("AUTH_REQUIRED", `"Log in."`))),
		"SubscribeToTask":      testkit.Events(asTask(task("AUTH_REQUIRED", `"Log in."`)), status("WORKING"), status("COMPLETED")),
	},
	"gone": {cardPath: card(nil),
		"SendStreamingMessage": testkit.BrokenEvents(asTask(working)), "SubscribeToTask": testkit.Fail(-32001, "no such task"),
	},
	"shut": {cardPath: card(nil),
		"SendStreamingMessage": testkit.BrokenEvents(asTask(working)), "SubscribeToTask": testkit.Fail(-32004, "no"),
		"GetTask": testkit.HTTP(http.StatusForbidden, "text/plain", "no"),
	},
	"newer": {cardPath: card(nil), "GetTask": testkit.Result(task("PONDERING_DEEPLY", `""`)), "CancelTask": testkit.Result(task("INPUT_REQUIRED", `""`))},
	"rejects": {cardPath: card(nil), "SendMessage": testkit.Result(asTask(task("REJECTED", `"not for me"`))),
		"SendStreamingMessage": testkit.Events(asTask(task("REJECTED", `"not for me"`)))},
	"stuck": {cardPath: card(nil),
		"SendStreamingMessage": testkit.OpenEvents(asTask(working)), "SubscribeToTask": testkit.OpenEvents(asTask(working)),
	},
	"ended": {cardPath: card(nil),
		"GetTask": testkit.Result(completed), "SubscribeToTask": testkit.Fail(-32004, "task t-1 has ended"), "CancelTask": testkit.Fail(-32002, "ended"),
	},
	"canceled": {cardPath: card(nil), "GetTask": testkit.Result(canceled), "CancelTask": testkit.Fail(-32002, "ended")},
	"ok":       {cardPath: card(nil), "CancelTask": testkit.Result(canceled)},
	"quiet":    {cardPath: card(nil), "CancelTask": testkit.Result(working), "GetTask": testkit.Bytes()},
	"confused": {cardPath: card(silentStream), "SendMessage": testkit.Result(asTask(working)), "GetTask": testkit.Result(strings.Replace(working, "t-1", "t-2", 1))},

	// Each would answer, and must not be asked.
	"key":     {cardPath: asksFor(&a2a.APIKeySecurityScheme{Location: "header", Name: "X-Api-Key"}), "SendMessage": answers, "GetTask": testkit.Result(completed)},
	"bearer":  {cardPath: asksFor(&a2a.HTTPAuthSecurityScheme{Scheme: "bearer"}), "SendMessage": answers},
	"unknown": {cardPath: asksFor(nil), "SendMessage": answers},
	"choice":  {cardPath: asksFor(&a2a.APIKeySecurityScheme{Location: "header", Name: "X-Api-Key"}, a2a.SecurityRequirement{}), "SendMessage": testkit.HTTP(http.StatusUnauthorized, "text/plain", "no")},
}

// asksFor has a card ask for credentials.
func asksFor(scheme a2a.SecuritySchemeVariant, others ...a2a.SecurityRequirement) testkit.Answer {
	return card(func(c *a2a.AgentCard) {
		silentStream(c)
		c.SecuritySchemes = map[string]a2a.SecurityScheme{"s": {Scheme: scheme}}
		c.SecurityRequirements = append(others, a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{"s": {}}})
	})
}

func richCard(c *a2a.AgentCard) {
	docs := "https://docs.example/?key=1"
	c.DocumentationURL = &docs
	c.Provider = &a2a.AgentProvider{Organization: "Example Corp", URL: "https://example.com"}
	c.SupportedInterfaces = []a2a.AgentInterface{
		{URL: "$URL/grpc", ProtocolBinding: "GRPC", ProtocolVersion: "1.0"},
		{URL: "$URL/rpc", ProtocolBinding: "JSONRPC", ProtocolVersion: "1.0", Tenant: "blue"},
		{URL: "$URL/other", ProtocolBinding: "JSONRPC", ProtocolVersion: "1.0"},
		{URL: "https://elsewhere.example/", ProtocolBinding: "JSONRPC", ProtocolVersion: "1.0"},
	}
	c.SecuritySchemes = map[string]a2a.SecurityScheme{
		"bearer": {Scheme: &a2a.HTTPAuthSecurityScheme{Scheme: "Bearer"}},
		"key":    {Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "X-Api-Key"}},
		"cert":   {Scheme: &a2a.MutualTlsSecurityScheme{}},
		"oauth":  {Scheme: &a2a.OAuth2SecurityScheme{Flows: a2a.OAuthFlows{Flow: &a2a.ClientCredentialsOAuthFlow{TokenURL: "https://id.example/token"}}}},
		"oidc":   {Scheme: &a2a.OpenIdConnectSecurityScheme{OpenIDConnectURL: "https://id.example"}},
	}
	none := a2a.StringList{}
	c.SecurityRequirements = []a2a.SecurityRequirement{
		{Schemes: map[string]a2a.StringList{"bearer": none, "cert": none}},
		{Schemes: map[string]a2a.StringList{"key": none}},
		{Schemes: map[string]a2a.StringList{"oauth": none}},
		{Schemes: map[string]a2a.StringList{"oidc": none}},
	}
	c.Skills = append(c.Skills, a2a.AgentSkill{
		ID: "translate", Name: "Translation", Description: "Translates\nletters.", Tags: []string{"text", "languages"},
		Examples: []string{"translate this"}, InputModes: []string{"text/plain"}, OutputModes: []string{"text/plain", "text/html"},
	})
	c.Capabilities.Extensions = []a2a.AgentExtension{{URI: "urn:example:one", Description: "Does one thing."}}
	c.Signatures = []a2a.AgentCardSignature{{Protected: "e30", Signature: "AA"}}
}

func peer(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg, args, 2, "peer KIND NAME")
	routes, ok := peers[args[0]]
	if !ok {
		ts.Fatalf("no peer %q", args[0])
	}
	ts.Setenv(args[1], testkit.ListenPeer(ts.Value("test").(testing.TB), testkit.Routes(routes)).URL)
}

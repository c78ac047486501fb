package conformance

import (
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/server"
)

const (
	servedCard = "served card"
	nextServe  = "mend the server, or claim what it does"
)

// server compares the claim with what a running server shows.
func (c *checker) server(s *shown, why error) {
	c.begin("a running server: its card, its answers, their media types")
	c.counted(1)
	if why != nil {
		c.differs("server", program, "one that runs", why.Error(), nextServe)
		return
	}
	types := c.claim.MediaTypes
	c.same("media type", servedCard, types.Card, s.cardType, nextServe)
	for _, e := range server.Extensions() {
		claimed := c.claim.extension(e.URI)
		c.same("extension "+e.URI, program, claimed.Stability, string(e.Stability), "claim it with its stability")
	}
	c.servedCard(s.card)
	if s.stream.code == wrongVersion {
		c.differs("version literal", "running server", c.claim.Headers.Version+": "+c.claim.Headers.Literal+" served",
			inWords(refused, wrongVersion), nextServe)
		return // so is everything else
	}
	c.same("media type", "stream of SendStreamingMessage", types.Stream, s.stream.mediaType, nextServe)
	for _, op := range c.claim.Operations {
		got := s.answers[op.Name]
		c.same("operation "+op.Name, "running server", inWords(op.Server, op.Code), said(got), nextServe)
		c.same("media type", "answer to "+op.Name, types.Answer, got.mediaType, nextServe)
	}
}

func (c Claim) extension(uri string) Extension {
	for _, e := range c.Extensions {
		if e.URI == uri {
			return e
		}
	}
	return Extension{}
}

func inWords(state string, code int) string {
	if state == refused {
		return state + " with " + strconv.Itoa(code)
	}
	return state
}

// servedCard compares a card with the wire table, at every depth, and with the
// rest of the claim.
func (c *checker) servedCard(body []byte) {
	var tree any
	if err := json.Unmarshal(body, &tree); err != nil {
		c.differs("card member", servedCard, "a card", "no JSON", nextServe)
		return
	}
	c.held(card, card, tree)
	var said struct {
		Interfaces []struct {
			Binding string `json:"protocolBinding"`
			Version string `json:"protocolVersion"`
		} `json:"supportedInterfaces"`
		Capabilities struct {
			Streaming  bool `json:"streaming"`
			Push       bool `json:"pushNotifications"`
			Extended   bool `json:"extendedAgentCard"`
			Extensions []struct {
				URI      string `json:"uri"`
				Required bool   `json:"required"`
			} `json:"extensions"`
		} `json:"capabilities"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		c.differs("card member", servedCard, "members of the wire's types", "others", nextServe)
		return
	}
	c.same("interfaces", servedCard, "1", strconv.Itoa(len(said.Interfaces)), nextServe)
	for _, i := range said.Interfaces {
		c.same("interface binding", servedCard, c.claim.Interface.Binding, i.Binding, nextServe)
		c.same("interface version", servedCard, c.claim.Interface.Version, i.Version, nextServe)
	}
	for _, capability := range []struct {
		name, operation string
		said            bool
	}{
		{"streaming", "SendStreamingMessage", said.Capabilities.Streaming},
		{"streaming", "SubscribeToTask", said.Capabilities.Streaming},
		{"pushNotifications", "CreateTaskPushNotificationConfig", said.Capabilities.Push},
		{"extendedAgentCard", "GetExtendedAgentCard", said.Capabilities.Extended},
	} {
		does := c.claim.operation(capability.operation).Server == served
		c.same("capability "+capability.name, servedCard, strconv.FormatBool(does), strconv.FormatBool(capability.said),
			"a capability is set exactly where "+capability.operation+" is served")
	}
	announced := make(map[string]bool)
	for _, e := range said.Capabilities.Extensions {
		announced[e.URI] = true
		c.same("extension", servedCard, c.claim.extension(e.URI).URI, e.URI, "claim it with its stability")
		c.same("extension "+e.URI, servedCard, required(c.claim.extension(e.URI).Required), required(e.Required), nextServe)
	}
	for _, e := range c.claim.Extensions {
		if !announced[e.URI] {
			c.differs("extension", servedCard, e.URI, "nothing", nextServe)
		}
	}
}

func required(yes bool) string {
	if yes {
		return "required"
	}
	return "optional"
}

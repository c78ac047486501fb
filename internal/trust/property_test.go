package trust_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// TestNoTicketWithoutTrust: whatever is read and registered in whatever order, a
// ticket is given only for a card that verifies under the pin as it is then, that
// was read at the registered place and is young enough; and a ticket is valid only
// as long as that has been so all the time.
func TestNoTicketWithoutTrust(t *testing.T) {
	keys := []*card.PrivateKey{key(t, "a"), key(t, "b"), key(t, "c")}
	public := map[string]card.PublicKey{}
	for _, k := range keys {
		public[k.ID()] = k.Public()
	}
	ids := []string{"a", "b", "c"}
	pins := pinned(t, keys...)
	variants := []func(*a2a.AgentCard){
		func(*a2a.AgentCard) {}, described("Other words."), withSkill("more"),
		func(c *a2a.AgentCard) { c.Name = "Somebody" }, func(c *a2a.AgentCard) { c.Version = "0.9.0" }, announcing("urn:x", true),
	}
	type made struct {
		variant int
		signers uint
	}
	cards := map[made][]byte{}
	serve := func(m made) []byte {
		if raw, ok := cards[m]; ok {
			return raw
		}
		var signers []*card.PrivateKey
		for i, k := range keys {
			if m.signers&(1<<i) != 0 {
				signers = append(signers, k)
			}
		}
		cards[m] = signed(t, agentCard(variants[m.variant]), signers...)
		return cards[m]
	}

	opened := openStore(t)
	rapid.Check(t, func(r *rapid.T) {
		if err := opened.DeleteRemoteCard(t.Context(), agentName); err != nil {
			r.Fatal(err)
		}
		w := newWorldOn(t, opened, trust.Config{})
		var spec registry.RemoteAgent
		var seen []byte
		var seenAt time.Time
		var seenAsked, accepted string
		var tickets []trust.Ticket
		register := func(r *rapid.T) {
			spec = ready(nil)
			for i, k := range pins {
				if rapid.Bool().Draw(r, "pinned") {
					spec.Pin.Keys = append(spec.Pin.Keys, k)
				}
				if rapid.IntRange(0, 4).Draw(r, "revoked") == 0 {
					spec.Pin.Revoked = append(spec.Pin.Revoked, ids[i])
				}
			}
			spec.Pin.AllowUnsigned = len(spec.Pin.Keys) == 0 && rapid.Bool().Draw(r, "unsigned")
			spec.Pin.Name = rapid.SampledFrom([]string{"", "Partner"}).Draw(r, "name")
			spec.MinVersion = rapid.SampledFrom([]string{"", "1.0.0"}).Draw(r, "minimum")
			spec.Enabled = rapid.IntRange(0, 5).Draw(r, "enabled") > 0
			spec.CardURL = rapid.SampledFrom([]registry.URL{"", "", "", "https://cards.example/card.json"}).Draw(r, "card URL")
			w.register(agentName, spec)
		}
		asked := func() string {
			if spec.CardURL != "" {
				return string(spec.CardURL)
			}
			return string(spec.URL)
		}
		register(r)
		r.Repeat(map[string]func(*rapid.T){
			"register": register,
			"read": func(r *rapid.T) {
				raw := serve(made{rapid.IntRange(0, len(variants)-1).Draw(r, "variant"), uint(rapid.IntRange(0, 7).Draw(r, "signers"))})
				if rapid.IntRange(0, 5).Draw(r, "broken") == 0 {
					raw = append([]byte("x"), raw...)
				}
				w.source.on(agentName, serves(raw))
				w.refresh()
				seen, seenAt, seenAsked = raw, w.now.Now(), asked()
			},
			"fail": func(*rapid.T) {
				w.source.on(agentName, fails(unreachable))
				w.refreshFails()
			},
			"wait": func(r *rapid.T) {
				w.now.advance(time.Duration(rapid.IntRange(1, 30).Draw(r, "hours")) * time.Hour)
			},
			"accept": func(*rapid.T) {
				known, _ := w.book.Known(agentName)
				if err := w.book.Accept(t.Context(), agentName, known.Digest, "alice"); err == nil {
					accepted = known.Digest
				}
			},
			"restart": func(*rapid.T) { w.restart() },
			"": func(r *rapid.T) {
				ticket, err := w.book.Trust(agentName)
				for _, old := range tickets {
					if w.book.Valid(old) && (err != nil || ticket.Generation != old.Generation) {
						r.Fatalf("a ticket of generation %d is valid, and there is %d, %v", old.Generation, ticket.Generation, err)
					}
				}
				if err != nil {
					return
				}
				tickets = append(tickets, ticket)
				pin := card.Pin{Revoked: spec.Pin.Revoked, Name: spec.Pin.Name, MinVersion: spec.MinVersion}
				for _, k := range spec.Pin.Keys {
					pin.Keys = append(pin.Keys, public[k.Kid])
				}
				if !spec.Pin.AllowUnsigned {
					verified, err := card.Verify(seen, pin)
					if err != nil || verified.Digest != ticket.Digest {
						r.Fatalf("there is a ticket for %s, and the card that was read: %s, %v", ticket.Digest, verified.Digest, err)
					}
				}
				switch {
				case spec.Pin.AllowUnsigned && ticket.KeyID != "":
					r.Fatalf("key %s is said to have signed a card that nobody has verified", ticket.KeyID)
				case !spec.Enabled:
					r.Fatal("there is a ticket for an agent that is disabled")
				case w.now.Now().Sub(seenAt) >= 24*time.Hour, seenAsked != asked():
					r.Fatalf("there is a ticket for a card that was read at %v, %s", seenAt, seenAsked)
				case len(ticket.Card.Capabilities.Extensions) > 0:
					r.Fatal("there is a ticket for an agent that requires what we do not know")
				case len(ticket.Card.Skills) > 1 && accepted == "" && len(tickets) > 1 && len(tickets[0].Card.Skills) == 1:
					r.Fatal("a structure that nobody has accepted is trusted")
				}
			},
		})
	})
}

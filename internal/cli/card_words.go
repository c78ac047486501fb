package cli

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

const (
	maxName    = 200  // characters of a name or an address on one line
	maxProse   = 2000 // bytes of a description
	maxEntries = 100  // of each list on a card
)

// words is text in the making, for people.
type words struct{ strings.Builder }

func (w *words) field(name, value string) {
	if value != "" {
		fmt.Fprintf(w, "%-13s %s\n", name+":", value)
	}
}

func (w *words) item(format string, args ...any) { fmt.Fprintf(w, "  "+format+"\n", args...) }

// list writes a heading and an item for each value, within bounds.
func list[T any](w *words, heading string, values []T, item func(T)) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	for _, value := range values[:min(len(values), maxEntries)] {
		item(value)
	}
	if more := len(values) - maxEntries; more > 0 {
		w.item("and %d more", more)
	}
}

// cardInWords puts a card in words, as seen by a client that was given typed as
// the URL of the agent.
func cardInWords(card *client.Card, typed string) string {
	form, w := card.AgentCard, &words{}
	fmt.Fprintf(w, "%s\n", line(form.Name, maxName))
	if form.Description != "" {
		fmt.Fprintf(w, "%s\n", indent(clip(form.Description, maxProse), "  "))
	}
	w.WriteByte('\n')
	w.field("Card", line(withoutQuery(card.URL), maxName))
	w.field("Version", line(form.Version, maxName))
	if p := form.Provider; p != nil {
		w.field("Provider", line(p.Organization+" "+p.URL, maxName))
	}
	if form.DocumentationURL != nil {
		w.field("Documentation", line(*form.DocumentationURL, maxName))
	}
	w.field("Capabilities", capabilities(form.Capabilities))
	w.field("Input", joined(form.DefaultInputModes))
	w.field("Output", joined(form.DefaultOutputModes))
	w.field("Security", security(card))
	w.field("Signatures", signatures(form))
	interfacesInWords(w, form.SupportedInterfaces, typed)
	list(w, "Skills", form.Skills, func(skill a2a.AgentSkill) { skillInWords(w, skill) })
	list(w, "Extensions", form.Capabilities.Extensions, func(e a2a.AgentExtension) {
		required := ""
		if e.Required {
			required = " (required)"
		}
		w.item("%s%s", line(e.URI, maxName), required)
		if e.Description != "" {
			w.item("  %s", line(e.Description, maxName))
		}
	})
	list(w, "Faults of this card", card.Violations, func(v a2a.Violation) {
		w.item("%s %s", line(v.Field, maxName), line(v.Description, maxName))
	})
	return w.String()
}

// interfacesInWords marks the interface that is called with an arrow and says
// of the others why they are not.
func interfacesInWords(w *words, interfaces []a2a.AgentInterface, typed string) {
	route, err := url.Parse(typed)
	if err != nil {
		route = nil
	}
	chosen := false
	list(w, "Interfaces", interfaces, func(iface a2a.AgentInterface) {
		mark, note := "  ", ""
		_, err := client.ChooseInterface(a2a.AgentCard{SupportedInterfaces: []a2a.AgentInterface{iface}}, route)
		refused, _ := errors.AsType[*client.InterfaceError](err)
		switch {
		case refused != nil && len(refused.Rejected) > 0:
			note = "  not used: it " + line(refused.Rejected[0].Why, maxName)
		case chosen:
			note = "  not needed"
		default:
			mark, chosen = "->", true
		}
		tenant := ""
		if iface.Tenant != "" {
			tenant = ", tenant " + line(iface.Tenant, maxName)
		}
		w.item("%s %s  %s %s%s%s", mark, line(withoutQuery(iface.URL), maxName),
			line(iface.ProtocolBinding, 40), line(iface.ProtocolVersion, 40), tenant, note)
	})
}

func skillInWords(w *words, skill a2a.AgentSkill) {
	title := line(skill.ID, maxName)
	if skill.Name != "" && skill.Name != skill.ID {
		title += "  " + line(skill.Name, maxName)
	}
	w.item("%s", title)
	if skill.Description != "" {
		fmt.Fprintf(w, "%s\n", indent(clip(skill.Description, maxProse), "      "))
	}
	detail := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "      %s: %s\n", name, value)
		}
	}
	detail("tags", joined(skill.Tags))
	detail("input", joined(skill.InputModes))
	detail("output", joined(skill.OutputModes))
	for _, example := range skill.Examples[:min(len(skill.Examples), 10)] {
		detail("example", line(example, maxName))
	}
}

func capabilities(c a2a.AgentCapabilities) string {
	var can []string
	for _, one := range []struct {
		name string
		is   *bool
	}{{"streaming", c.Streaming}, {"push notifications", c.PushNotifications}, {"extended card", c.ExtendedAgentCard}} {
		if one.is != nil && *one.is {
			can = append(can, one.name)
		}
	}
	if len(can) == 0 {
		return "none beyond the basic ones"
	}
	return strings.Join(can, ", ")
}

// security says what a client has to show. Schemes in one requirement are
// needed together, requirements are alternatives.
func security(card *client.Card) string {
	var alternatives []string
	asked := card.Security()
	for _, alternative := range asked[:min(len(asked), maxEntries)] {
		var together []string
		for _, scheme := range alternative {
			together = append(together, line(scheme.Name, 60)+" ("+line(scheme.String(), maxName)+")")
		}
		if len(together) == 0 {
			together = []string{"nothing"}
		}
		alternatives = append(alternatives, strings.Join(together, " and "))
	}
	if len(alternatives) == 0 {
		return "asks for no credentials"
	}
	return "asks for " + line(strings.Join(alternatives, ", or "), maxProse)
}

func signatures(form a2a.AgentCard) string {
	switch n := len(form.Signatures); n {
	case 0:
		return "none"
	case 1:
		return "1, not verified"
	default:
		return fmt.Sprintf("%d, not verified", n)
	}
}

// joined is a list on one line.
func joined(values []string) string { return line(strings.Join(values, ", "), 2*maxName) }

// withoutQuery is a URL as it may be shown.
func withoutQuery(raw string) string {
	shown, _, _ := strings.Cut(raw, "?")
	return shown
}

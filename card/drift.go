package card

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// Drift is how two cards of one agent differ.
type Drift struct {
	// Structure is what changes how the agent is called, whom it belongs to and
	// what it asks: a person should look at it before the agent is used again.
	Structure []Change

	// Wording is everything else, most of it text.
	Wording []Change
}

// Empty reports whether nothing differs.
func (d Drift) Empty() bool { return len(d.Structure) == 0 && len(d.Wording) == 0 }

// Change is one difference.
type Change struct {
	// Path is what changed, in the wire's names: skills["id"].inputModes.
	Path string

	// Before and After are the values, on one line and in excerpts of about 80
	// bytes. Before is empty for what is new, After for what is gone.
	Before, After string
}

// String puts the change in words.
func (c Change) String() string {
	switch {
	case c.Before == "":
		return c.Path + " is new: " + c.After
	case c.After == "":
		return c.Path + " is gone: " + c.Before
	}
	return c.Path + " was " + c.Before + ", is " + c.After
}

// Compare lists how a card differs from the one known before, in a fixed
// order. Signatures are not compared, nor are the order of skills, modes,
// schemes and alternatives, nor a capability that is absent rather than false.
func Compare(before, after a2a.AgentCard) Drift {
	var d Drift
	d.structure("name", before.Name, after.Name)
	d.wording("description", before.Description, after.Description)
	d.wording("version", before.Version, after.Version)
	d.wording("documentationUrl", deref(before.DocumentationURL), deref(after.DocumentationURL))
	d.wording("iconUrl", deref(before.IconURL), deref(after.IconURL))
	d.provider(before.Provider, after.Provider)
	d.interfaces(before.SupportedInterfaces, after.SupportedInterfaces)
	d.capabilities(before.Capabilities, after.Capabilities)
	d.schemes(before.SecuritySchemes, after.SecuritySchemes)
	d.structure("securityRequirements", requirements(before.SecurityRequirements), requirements(after.SecurityRequirements))
	d.structure("defaultInputModes", set(before.DefaultInputModes), set(after.DefaultInputModes))
	d.structure("defaultOutputModes", set(before.DefaultOutputModes), set(after.DefaultOutputModes))
	d.skills(before.Skills, after.Skills)
	return d
}

func (d *Drift) structure(path, before, after string) { differ(&d.Structure, path, before, after) }
func (d *Drift) wording(path, before, after string)   { differ(&d.Wording, path, before, after) }

// differ notes a change of a value, of which empty is absent.
func differ(list *[]Change, path, before, after string) {
	if before != after {
		before, after = excerpts(before, after)
		*list = append(*list, Change{Path: path, Before: before, After: after})
	}
}

func (d *Drift) provider(before, after *a2a.AgentProvider) {
	var a, b a2a.AgentProvider
	if before != nil {
		a = *before
	}
	if after != nil {
		b = *after
	}
	d.structure("provider.organization", a.Organization, b.Organization)
	d.wording("provider.url", a.URL, b.URL)
}

// interfaces are compared with their order, which is one of preference.
func (d *Drift) interfaces(before, after []a2a.AgentInterface) {
	for i := range max(len(before), len(after)) {
		d.structure(fmt.Sprintf("supportedInterfaces[%d]", i), interfaceAt(before, i), interfaceAt(after, i))
	}
}

func interfaceAt(list []a2a.AgentInterface, i int) string {
	if i >= len(list) {
		return ""
	}
	one := list[i]
	words := one.ProtocolBinding + " " + one.ProtocolVersion + " at " + one.URL
	if one.Tenant != "" {
		words += " for tenant " + strconv.Quote(one.Tenant)
	}
	return words
}

func (d *Drift) capabilities(before, after a2a.AgentCapabilities) {
	d.structure("capabilities.streaming", offered(before.Streaming), offered(after.Streaming))
	d.structure("capabilities.pushNotifications", offered(before.PushNotifications), offered(after.PushNotifications))
	d.structure("capabilities.extendedAgentCard", offered(before.ExtendedAgentCard), offered(after.ExtendedAgentCard))
	a, b := byKey(before.Extensions, extensionURI), byKey(after.Extensions, extensionURI)
	for _, uri := range keys(a, b) {
		one, other := a[uri], b[uri]
		path := fmt.Sprintf("capabilities.extensions[%q]", bounded(uri))
		_, was := a[uri]
		_, is := b[uri]
		note := d.wording // what is optional may come and go
		if one.Required || other.Required {
			note = d.structure
		}
		switch {
		case !was:
			note(path, "", need(other))
		case !is:
			note(path, need(one), "")
		default:
			d.structure(path+".required", need(one), need(other))
			d.wording(path+".description", one.Description, other.Description)
			note(path+".params", params(one), params(other))
		}
	}
}

func extensionURI(e a2a.AgentExtension) string { return e.URI }

// params are written alike whatever their order and spelling was.
func params(e a2a.AgentExtension) string {
	text := jsontext.Value(bytes.Clone(e.Params))
	if len(text) == 0 || text.Canonicalize() != nil {
		return string(e.Params)
	}
	return string(text)
}

func need(e a2a.AgentExtension) string {
	if e.Required {
		return "required"
	}
	return "optional"
}

func (d *Drift) schemes(before, after map[string]a2a.SecurityScheme) {
	for _, name := range keys(before, after) {
		path := fmt.Sprintf("securitySchemes[%q]", bounded(name))
		one, was := before[name]
		other, is := after[name]
		a, about := withoutDescription(one)
		b, newAbout := withoutDescription(other)
		switch {
		case !was:
			d.structure(path, "", b)
		case !is:
			d.structure(path, a, "")
		default:
			d.structure(path, a, b)
			d.wording(path+".description", about, newAbout)
		}
	}
}

// withoutDescription writes a scheme without its text, and the text.
func withoutDescription(scheme a2a.SecurityScheme) (structure, description string) {
	switch s := scheme.Scheme.(type) {
	case *a2a.APIKeySecurityScheme:
		c := *s
		c.Description = ""
		scheme.Scheme, description = &c, s.Description
	case *a2a.HTTPAuthSecurityScheme:
		c := *s
		c.Description = ""
		scheme.Scheme, description = &c, s.Description
	case *a2a.OAuth2SecurityScheme:
		c := *s
		c.Description = ""
		scheme.Scheme, description = &c, s.Description
	case *a2a.OpenIdConnectSecurityScheme:
		c := *s
		c.Description = ""
		scheme.Scheme, description = &c, s.Description
	case *a2a.MutualTlsSecurityScheme:
		scheme.Scheme, description = &a2a.MutualTlsSecurityScheme{}, s.Description
	}
	return string(scheme.AppendJSON(nil)), description
}

func (d *Drift) skills(before, after []a2a.AgentSkill) {
	id := func(s a2a.AgentSkill) string { return s.ID }
	a, b := byKey(before, id), byKey(after, id)
	for _, id := range keys(a, b) {
		path := fmt.Sprintf("skills[%q]", bounded(id))
		one, was := a[id]
		other, is := b[id]
		switch {
		case !was:
			d.structure(path, "", orNone(other.Name))
		case !is:
			d.structure(path, orNone(one.Name), "")
		default:
			d.structure(path+".inputModes", set(one.InputModes), set(other.InputModes))
			d.structure(path+".outputModes", set(one.OutputModes), set(other.OutputModes))
			d.structure(path+".securityRequirements", requirements(one.SecurityRequirements), requirements(other.SecurityRequirements))
			d.wording(path+".name", one.Name, other.Name)
			d.wording(path+".description", one.Description, other.Description)
			d.wording(path+".tags", set(one.Tags), set(other.Tags))
			d.wording(path+".examples", strings.Join(one.Examples, " / "), strings.Join(other.Examples, " / "))
		}
	}
}

// requirements writes alternatives in a fixed order, and the schemes and
// scopes of each too.
func requirements(list []a2a.SecurityRequirement) string {
	var alternatives []string
	for _, one := range list {
		var together []string
		for _, name := range slices.Sorted(maps.Keys(one.Schemes)) {
			scheme := strconv.Quote(name)
			if scopes := set(one.Schemes[name].List); scopes != "" {
				scheme += " for " + scopes
			}
			together = append(together, scheme)
		}
		alternatives = append(alternatives, orNone(strings.Join(together, " and ")))
	}
	return set(alternatives)
}

// set writes values in a fixed order.
func set(values []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(values))), ", ")
}

func offered(capability *bool) string {
	if capability != nil && *capability {
		return "offered"
	}
	return "not offered"
}

func orNone(s string) string {
	if s == "" {
		return "nothing"
	}
	return s
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// byKey indexes a list. Of several with one key the first counts.
func byKey[T any](list []T, key func(T) string) map[string]T {
	index := map[string]T{}
	for _, value := range slices.Backward(list) {
		index[key(value)] = value
	}
	return index
}

// keys are those of both maps, sorted.
func keys[T any](a, b map[string]T) []string {
	return slices.Compact(slices.Sorted(func(yield func(string) bool) {
		for _, m := range []map[string]T{a, b} {
			for key := range m {
				if !yield(key) {
					return
				}
			}
		}
	}))
}

// excerpts puts two values on one line each. Long ones begin shortly before
// they differ.
func excerpts(a, b string) (string, string) {
	a, b = strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " ")
	if len(a) <= maxExcerpt && len(b) <= maxExcerpt || a == "" || b == "" {
		return bounded(a), bounded(b)
	}
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	start := max(same-maxExcerpt/4, 0)
	for start > 0 && !utf8.RuneStart(a[start]) {
		start--
	}
	if start == 0 {
		return bounded(a), bounded(b)
	}
	return "…" + bounded(a[start:]), "…" + bounded(b[start:])
}

package card

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
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
	// bytes. Before is empty for what is new, After for what is gone. Both are
	// empty in a last change that stands for all that are not listed.
	Before, After string
}

// String puts the change in words.
func (c Change) String() string {
	switch {
	case c.Before == "" && c.After == "":
		return c.Path
	case c.Before == "":
		return c.Path + " is new: " + c.After
	case c.After == "":
		return c.Path + " is gone: " + c.Before
	}
	return c.Path + " was " + c.Before + ", is " + c.After
}

// Compare lists how a card differs from the one known before, in a fixed
// order, at most 64 of each kind. Signatures are not compared, nor are the order
// of skills, modes, schemes and alternatives, nor a capability that is absent
// rather than false. Values are compared as they are, and not as they are shown.
func Compare(before, after a2a.AgentCard) Drift {
	var d Drift
	d.structure("name", written(before.Name), written(after.Name))
	d.wording("description", written(before.Description), written(after.Description))
	d.wording("version", written(before.Version), written(after.Version))
	d.wording("documentationUrl", written(deref(before.DocumentationURL)), written(deref(after.DocumentationURL)))
	d.wording("iconUrl", written(deref(before.IconURL)), written(deref(after.IconURL)))
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

// value is a part of a card: what is compared, and what is shown of it. The zero
// value is a part that is absent.
type value struct{ exact, shown string }

func written(s string) value {
	if s == "" {
		return value{}
	}
	return value{strconv.Quote(s), s}
}

func (d *Drift) structure(path string, before, after value) {
	differ(&d.Structure, path, before, after)
}
func (d *Drift) wording(path string, before, after value) { differ(&d.Wording, path, before, after) }

const maxChanges = 64

// differ notes a change of a value.
func differ(list *[]Change, path string, before, after value) {
	switch {
	case before.exact == after.exact || len(*list) > maxChanges:
		return
	case len(*list) == maxChanges:
		*list = append(*list, Change{Path: "others that are not listed"})
		return
	}
	a, b := excerpts(oneLine(before.shown), oneLine(after.shown))
	if visible(a) == visible(b) {
		a, b = excerpts(before.exact, after.exact)
	}
	*list = append(*list, Change{Path: path, Before: a, After: b})
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// visible is text without what no screen shows.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, s)
}

func (d *Drift) provider(before, after *a2a.AgentProvider) {
	var a, b a2a.AgentProvider
	if before != nil {
		a = *before
	}
	if after != nil {
		b = *after
	}
	d.structure("provider.organization", written(a.Organization), written(b.Organization))
	d.wording("provider.url", written(a.URL), written(b.URL))
}

// interfaces are compared with their order, which is one of preference.
func (d *Drift) interfaces(before, after []a2a.AgentInterface) {
	for i := range max(len(before), len(after)) {
		d.structure(fmt.Sprintf("supportedInterfaces[%d]", i), interfaceAt(before, i), interfaceAt(after, i))
	}
}

func interfaceAt(list []a2a.AgentInterface, i int) value {
	if i >= len(list) {
		return value{}
	}
	one := list[i]
	words := one.ProtocolBinding + " " + one.ProtocolVersion + " at " + one.URL
	if one.Tenant != "" {
		words += " for tenant " + strconv.Quote(one.Tenant)
	}
	return value{string(one.AppendJSON(nil)), words}
}

func (d *Drift) capabilities(before, after a2a.AgentCapabilities) {
	d.structure("capabilities.streaming", offered(before.Streaming), offered(after.Streaming))
	d.structure("capabilities.pushNotifications", offered(before.PushNotifications), offered(after.PushNotifications))
	d.structure("capabilities.extendedAgentCard", offered(before.ExtendedAgentCard), offered(after.ExtendedAgentCard))
	pairs("capabilities.extensions", before.Extensions, after.Extensions, func(e a2a.AgentExtension) string { return e.URI },
		func(path string, one, other *a2a.AgentExtension) {
			note := d.wording // what is optional may come and go
			if one != nil && one.Required || other != nil && other.Required {
				note = d.structure
			}
			if one == nil || other == nil {
				note(path, need(one), need(other))
				return
			}
			d.structure(path+".required", need(one), need(other))
			d.wording(path+".description", written(one.Description), written(other.Description))
			note(path+".params", params(one), params(other))
		})
}

// params are written alike whatever their order and spelling was.
func params(e *a2a.AgentExtension) value {
	raw := jsontext.Value(bytes.Clone(e.Params))
	if len(raw) == 0 || raw.Canonicalize() != nil {
		raw = jsontext.Value(e.Params)
	}
	return value{string(raw), string(raw)}
}

func need(e *a2a.AgentExtension) value {
	switch {
	case e == nil:
		return value{}
	case e.Required:
		return written("required")
	}
	return written("optional")
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
			d.structure(path, value{}, b)
		case !is:
			d.structure(path, a, value{})
		default:
			d.structure(path, a, b)
			d.wording(path+".description", written(about), written(newAbout))
		}
	}
}

// withoutDescription writes a scheme without its text, and the text.
func withoutDescription(scheme a2a.SecurityScheme) (structure value, description string) {
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
	raw := string(scheme.AppendJSON(nil))
	return value{raw, raw}, description
}

func (d *Drift) skills(before, after []a2a.AgentSkill) {
	pairs("skills", before, after, func(s a2a.AgentSkill) string { return s.ID },
		func(path string, one, other *a2a.AgentSkill) {
			if one == nil || other == nil {
				d.structure(path, named(one), named(other))
				return
			}
			d.structure(path+".inputModes", set(one.InputModes), set(other.InputModes))
			d.structure(path+".outputModes", set(one.OutputModes), set(other.OutputModes))
			d.structure(path+".securityRequirements", requirements(one.SecurityRequirements), requirements(other.SecurityRequirements))
			d.wording(path+".name", written(one.Name), written(other.Name))
			d.wording(path+".description", written(one.Description), written(other.Description))
			d.wording(path+".tags", set(one.Tags), set(other.Tags))
			d.wording(path+".examples", sequence(one.Examples), sequence(other.Examples))
		})
}

func named(s *a2a.AgentSkill) value {
	if s == nil {
		return value{}
	}
	return value{strconv.Quote(s.Name), orNone(s.Name)}
}

// requirements writes alternatives in a fixed order, and the schemes and
// scopes of each too.
func requirements(list []a2a.SecurityRequirement) value {
	var exact, shown []string
	for _, one := range list {
		var together, words []string
		for _, name := range slices.Sorted(maps.Keys(one.Schemes)) {
			scopes := set(one.Schemes[name].List)
			together = append(together, strconv.Quote(name)+":["+scopes.exact+"]")
			scheme := strconv.Quote(name)
			if scopes.shown != "" {
				scheme += " for " + scopes.shown
			}
			words = append(words, scheme)
		}
		exact = append(exact, "{"+strings.Join(together, ",")+"}")
		shown = append(shown, orNone(strings.Join(words, " and ")))
	}
	return value{set(exact).exact, set(shown).shown}
}

// set writes values in a fixed order.
func set(values []string) value {
	return sequence(slices.Compact(slices.Sorted(slices.Values(values))))
}

func sequence(values []string) value {
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = strconv.Quote(v)
	}
	return value{strings.Join(quoted, ","), strings.Join(values, ", ")}
}

func offered(capability *bool) value {
	if capability != nil && *capability {
		return written("offered")
	}
	return written("not offered")
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

// pairs puts together what two lists have under one key. Of several with one key,
// each is compared with its like: which of them counts is for others to say. What
// is nil is absent.
func pairs[T any](list string, before, after []T, key func(T) string, compare func(path string, one, other *T)) {
	index := func(list []T) map[string][]*T {
		byKey := map[string][]*T{}
		for i := range list {
			byKey[key(list[i])] = append(byKey[key(list[i])], &list[i])
		}
		return byKey
	}
	at := func(list []*T, i int) *T {
		if i >= len(list) {
			return nil
		}
		return list[i]
	}
	a, b := index(before), index(after)
	for _, k := range keys(a, b) {
		for i := range max(len(a[k]), len(b[k])) {
			path := fmt.Sprintf("%s[%q]", list, bounded(k))
			if i > 0 {
				path += fmt.Sprintf(" (%d)", i+1)
			}
			compare(path, at(a[k], i), at(b[k], i))
		}
	}
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

// excerpts cuts two values. Long ones begin shortly before they differ.
func excerpts(a, b string) (string, string) {
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

package registry

import (
	"errors"
	"maps"
	"mime"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/legation/legation/guard"
)

// reporter gathers what is wrong with one document. Paths are those of fields
// of its spec.
type reporter struct {
	doc      Document
	problems Problems
}

func (r *reporter) report(path, words, next string) {
	r.reportAt(join("spec", path), words, next)
}

func (r *reporter) reportAt(path, words, next string) {
	r.problems = append(r.problems, Problem{
		Source: r.doc.place(path), Document: r.doc.ID().String(), Path: path, Words: words, Next: next,
	})
}

// needs reports a field that is missing.
func (r *reporter) needs(given bool, path, next string) {
	if !given {
		r.report(path, "is required", next)
	}
}

// only reports a field that belongs to something else.
func (r *reporter) only(applies, given bool, path, whose string) {
	if given && !applies {
		r.report(path, "is for "+whose+" only", "leave it out")
	}
}

// one reports that not exactly one of several members is given.
func (r *reporter) one(path string, members map[string]bool) {
	names := slices.Sorted(maps.Keys(members))
	count := 0
	for _, given := range members {
		if given {
			count++
		}
	}
	if count != 1 {
		r.report(path, "has "+strconv.Itoa(count)+" of "+strings.Join(names, ", "), "give exactly one of them")
	}
}

// url reports a URL that the guard would not follow, as far as that can be told
// without the network.
func (r *reporter) url(path string, u URL, exceptions []Exception) {
	if u == "" || u.check() != "" {
		return
	}
	if words, next := guarded(string(u), exceptions); words != "" {
		r.report(path, words, next)
	}
}

// guarded says why the guard would not follow a URL, or nothing.
func guarded(u string, exceptions []Exception) (words, next string) {
	err := guard.CheckURL(u, policy(exceptions))
	if address, ok := errors.AsType[*guard.AddressError](err); ok {
		return "leads to " + address.Why + ", which would be refused", "name " + quoted(address.Host) + " in exceptions if this is meant"
	}
	if written, ok := errors.AsType[*guard.URLError](err); ok {
		if strings.HasPrefix(written.Why, "plain http is refused") {
			return "plain http is refused", "use https, or name " + quoted(written.Host) + " in exceptions"
		}
		return written.Why, ""
	}
	if err != nil {
		return "would be refused", "correct it"
	}
	return "", ""
}

// unique reports items of a list that repeat an earlier one.
func unique[T comparable](r *reporter, path string, items []T) {
	uniqueKey(r, path, items, func(item T) T { return item })
}

func uniqueKey[T any, K comparable](r *reporter, path string, items []T, key func(T) K) {
	first := make(map[K]int)
	for i, item := range items {
		if earlier, found := first[key(item)]; found {
			r.report(index(path, i), "repeats item "+strconv.Itoa(earlier)+" of the list", "keep one of them")
			continue
		}
		first[key(item)] = i
	}
}

// known reports a name that is not among the known ones; none says what there
// is none of: "there is no provider".
func known[T ~string](r *reporter, path string, name T, names []T, none string) {
	if slices.Contains(names, name) {
		return
	}
	next := "there are: " + list(texts(names))
	if len(names) == 0 {
		next = "there is none at all"
	} else if near := nearest(string(name), texts(names)); near != "" {
		next = "did you mean " + near + "?"
	}
	r.report(path, none+" "+quoted(string(name)), next)
}

func mediaTypes(r *reporter, path string, types []string) {
	unique(r, path, types)
	for i, t := range types {
		if kind, _, err := mime.ParseMediaType(t); err != nil || !strings.Contains(kind, "/") {
			r.report(index(path, i), "this is not a media type", "write one such as text/plain")
		}
	}
}

// Check reports what is wrong with a document by itself. The error is
// [Problems].
func (d Document) Check() error { return d.check().err() }

func (d Document) check() Problems {
	r := &reporter{doc: d}
	switch {
	case d.Spec == nil || reflect.ValueOf(d.Spec).IsNil() || d.Spec.Kind() != d.Kind:
		r.reportAt("kind", "kind and spec do not fit together", "make the spec with NewSpec")
		return r.problems
	case d.Name == "":
		r.reportAt("name", "is required", "")
	case d.Name.check() != "":
		r.reportAt("name", d.Name.check(), "")
	}
	r.object("", reflect.ValueOf(d.Spec).Elem())
	if len(r.problems) > 0 {
		return r.problems
	}
	if n := d.node(); n.values() > maxValues || len(appendYAML(nil, n, 0)) > maxDocument {
		r.reportAt("", tooLarge, "divide it")
	}
	d.Spec.rules(r)
	return r.problems
}

// object checks every field of a struct by its type and tags.
func (r *reporter) object(path string, v reflect.Value) {
	for _, f := range fields(v.Type()) {
		at, value := join(path, f.name), v.Field(f.index)
		if value.IsZero() {
			r.needs(!f.required, at, "")
			continue
		}
		r.value(at, f, value)
	}
}

func (r *reporter) value(at string, f field, v reflect.Value) {
	switch {
	case v.Kind() == reflect.Pointer:
		r.value(at, f, v.Elem())
	case v.Kind() == reflect.Struct && v.Type() != timeType:
		r.object(at, v)
	case v.Kind() == reflect.Slice:
		switch most := orElse(f.max, maxItems); {
		case v.Len() == 0 && !f.empty:
			r.report(at, "is an empty list", f.leaveOut())
		case v.Len() > most:
			r.report(at, "has more than "+strconv.Itoa(most)+" items", "")
			return
		}
		for i := range v.Len() {
			r.value(index(at, i), field{}, v.Index(i))
		}
	default:
		if words, next := f.wrong(v); words != "" {
			r.report(at, words, next)
		}
	}
}

// wrong says what is wrong with a scalar, or nothing.
func (f field) wrong(v reflect.Value) (words, next string) {
	if c, ok := v.Interface().(choice); ok && !slices.Contains(c.values(), v.String()) {
		next = "choose one of: " + list(c.values())
		if near := nearest(v.String(), c.values()); near != "" {
			next = "did you mean " + near + "?"
		}
		return quoted(v.String()) + " is not one of the choices", next
	}
	if t, ok := v.Interface().(text); ok && v.Kind() == reflect.String {
		if v.String() == "" {
			return "is empty", f.leaveOut()
		}
		if words := t.check(); words != "" {
			return words, ""
		}
	}
	switch {
	case v.Kind() == reflect.String:
		if v.String() == "" {
			return "is empty", f.leaveOut()
		}
		return badText(v.String(), orElse(f.max, maxText))
	case v.Type() == reflect.TypeFor[Duration]() && v.Int()%int64(time.Second) != 0:
		return "is not a whole number of seconds", ""
	}
	return f.outside(v), ""
}

func badText(s string, most int) (words, next string) {
	switch {
	case len(s) > most:
		return "is longer than " + strconv.Itoa(most) + " bytes", ""
	case strings.ContainsFunc(s, func(c rune) bool { return c == 0xFFFD || c < ' ' && c != '\n' && c != '\t' || c >= 0x7F && c < 0xA0 }):
		return "has a control character, or is not UTF-8", "take it out"
	}
	return "", ""
}

func orElse(n, otherwise int) int {
	if n == 0 {
		return otherwise
	}
	return n
}

func (f field) leaveOut() string {
	if f.required || f.name == "" {
		return ""
	}
	return "leave it out"
}

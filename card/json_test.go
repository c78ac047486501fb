package card_test

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// object draws the text of a JSON object.
func object(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		names := rapid.SliceOfNDistinct(rapid.String(), 0, 4, rapid.ID[string]).Draw(t, "names")
		var members []string
		for _, name := range names {
			members = append(members, quoted(name)+" :\t"+value(depth-1).Draw(t, "value"))
		}
		return "{" + strings.Join(members, ",\n") + "}"
	})
}

func value(depth int) *rapid.Generator[string] {
	scalars := []*rapid.Generator[string]{
		rapid.SampledFrom([]string{"null", "true", "false", "0", "-0", "1.0", "1e21", "1e-7", "123456789012345678901"}),
		rapid.Map(rapid.Float64(), func(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }),
		rapid.Map(rapid.String(), quoted),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	list := rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[string] { return value(depth - 1) }), 0, 3),
		func(values []string) string { return "[" + strings.Join(values, " , ") + "]" })
	return rapid.OneOf(append(scalars, list, object(depth))...)
}

func quoted(s string) string {
	text, err := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "?"))
	if err != nil {
		panic(err)
	}
	return string(text)
}

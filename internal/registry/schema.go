package registry

import (
	"embed"
	"strings"
)

// The schemas are written from the types by a test, so that they say the same.
//
//go:embed schema/*.json
var schemas embed.FS

// Schema returns the JSON Schema (2020-12) of the documents of a kind, or nil if
// there is no such kind. What [Decode] takes is valid by it. It cannot say
// everything: ranges of durations and sizes, and what one field means for
// another, only Decode knows.
func Schema(kind Kind) []byte {
	data, err := schemas.ReadFile("schema/" + strings.ToLower(string(kind)) + ".json")
	if err != nil {
		return nil
	}
	return data
}

package script_test

import (
	"testing"
	"time"

	"github.com/legation/legation/bench/script"
)

func TestParse(t *testing.T) {
	tests := map[string]script.Script{
		"hello":           {Kind: script.Echo},
		"":                {Kind: script.Echo},
		"ask":             {Kind: script.Ask},
		"stream:200:0":    {Kind: script.Stream, Count: 200},
		"chunks:1000:500": {Kind: script.Chunks, Count: 1000, Delay: 500 * time.Millisecond},
		"stream:0:0":      {Kind: script.Echo},
		"stream:-1:0":     {Kind: script.Echo},
		"stream:5":        {Kind: script.Echo},
		"stream:5:-1":     {Kind: script.Echo},
		"chunks:999999:0": {Kind: script.Echo},
		"echo:5:0":        {Kind: script.Echo},
	}
	for text, want := range tests {
		if got := script.Parse(text); got != want {
			t.Errorf("Parse(%q) = %+v, want %+v", text, got, want)
		}
	}
}

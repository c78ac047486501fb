package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestJudge(t *testing.T) {
	tests := []struct {
		name  string
		found []string
		tests bool
		ok    bool
	}{
		{"permissive", []string{"MIT"}, false, true},
		{"two permissive ones", []string{"Apache-2.0", "BSD-3-Clause"}, false, true},
		{"file copyleft in the product", []string{"MPL-2.0"}, false, false},
		{"file copyleft in tests", []string{"MPL-2.0"}, true, true},
		{"one good, one bad", []string{"MIT", "GPL-3.0"}, true, false},
		{"none", nil, false, false},
		{"unknown", []string{"unknown (LICENSE)"}, true, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if why := judge(tt.found, tt.tests); (why == "") != tt.ok {
				t.Errorf("judge(%v, %v) = %q, want accepted: %v", tt.found, tt.tests, why, tt.ok)
			}
		})
	}
}

func TestLicencesOf(t *testing.T) {
	apache, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string][]byte{
		"LICENSE": apache, "COPYING.other": []byte("All rights are reserved."), "README": []byte("hello"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := licencesOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"Apache-2.0", "unknown (COPYING.other)"}; !slices.Equal(got, want) {
		t.Errorf("licencesOf() = %v, want %v", got, want)
	}
}

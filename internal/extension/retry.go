package extension

import (
	"errors"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
)

// RetryParams are the params with which a card promises that a repeated message
// joins its task for as long as window (a2a.proto, AgentExtension.params).
func RetryParams(window time.Duration) a2a.Struct {
	return a2a.Struct(`{"window":"` + short(window) + `"}`)
}

// RetryWindow reads them. What is no promise we understand is an error.
func RetryWindow(params a2a.Struct) (time.Duration, error) {
	bad := errors.New(`params of ` + Retry + ` are not like {"window":"720h"}`)
	if params == nil {
		return 0, bad
	}
	var form struct {
		Window string `json:"window"`
	}
	if err := params.Decode(&form); err != nil {
		return 0, bad
	}
	window, err := time.ParseDuration(form.Window)
	if err != nil || window <= 0 {
		return 0, bad
	}
	return window, nil
}

// short writes 720h, not 720h0m0s.
func short(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

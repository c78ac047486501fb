package credential

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wholeSeconds makes of the expires_in of an answer a whole number of seconds,
// which is all that is understood further in: some write a fraction, text, or more
// than any clock counts. What makes no sense is taken out.
type wholeSeconds struct{ next http.RoundTripper }

func (w wholeSeconds) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := w.next.RoundTrip(req)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	body, err := io.ReadAll(resp.Body) // within the cap of a token's answer
	resp.Body.Close()
	if err != nil {
		resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), broken{err}))
		return resp, nil
	}
	body = inWholeSeconds(body)
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return resp, nil
}

// broken is where an answer could not be read further.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

func inWholeSeconds(body []byte) []byte {
	const member = "expires_in"
	var answer map[string]jsontext.Value
	if json.Unmarshal(body, &answer) != nil || answer[member] == nil {
		return body
	}
	seconds, err := strconv.ParseFloat(strings.Trim(string(answer[member]), `"`), 64)
	if err != nil && !math.IsInf(seconds, 1) || !(seconds > 0) {
		delete(answer, member)
	} else {
		answer[member] = jsontext.Value(strconv.Itoa(int(min(seconds, maxLife.Seconds()))))
	}
	whole, err := json.Marshal(answer)
	if err != nil {
		return body
	}
	return whole
}

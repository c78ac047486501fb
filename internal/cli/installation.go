package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/admin"
)

// maxAdminAnswer is the largest answer of an admin API that is read.
const maxAdminAnswer = 64 << 20

// installation is what a command administers: an admin API, behind a network or
// in this process.
type installation struct {
	transport http.RoundTripper
	base      *url.URL
	token     string // empty in this process
	data      string // the data directory, if it led there
	close     func() error
}

// request is one request to the admin API. A body is sent as it is if it is
// bytes, and else as JSON.
type request struct {
	method string
	path   []string // segments below /admin, unescaped
	query  url.Values
	body   any
	kind   string // media type of the body; JSON if it is left out

	// see is the command that lists what there is, for a name that is not known.
	see string
}

func get(path ...string) request { return request{method: http.MethodGet, path: path} }

// seen adds the command that lists what there is.
func (r request) seen(by string) request {
	r.see = by
	return r
}

// with adds a parameter that is not empty.
func (r request) with(name, value string) request {
	if value == "" {
		return r
	}
	query := url.Values{}
	for k, v := range r.query {
		query[k] = v
	}
	query.Set(name, value)
	r.query = query
	return r
}

// fetch asks, and reads the answer's JSON.
func fetch[T any](ctx context.Context, in *installation, r request) (form T, raw []byte, err error) {
	raw, err = in.do(ctx, r)
	if err != nil || len(raw) == 0 {
		return form, raw, err
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return form, nil, notAdmin(http.StatusOK)
	}
	return form, raw, nil
}

// do asks, and returns the body of a good answer.
func (in *installation) do(ctx context.Context, r request) ([]byte, error) {
	resp, err := in.send(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("read the answer of the admin API: %w", in.unreachable(err))
	}
	if resp.StatusCode/100 != 2 {
		return nil, in.stale(refused(resp, body, r.see))
	}
	return body, nil
}

func (in *installation) send(ctx context.Context, r request) (*http.Response, error) {
	var body []byte
	switch content := r.body.(type) {
	case nil:
	case []byte:
		body = content
	default:
		text, err := json.Marshal(content)
		if err != nil {
			return nil, fmt.Errorf("write JSON: %w", err)
		}
		body = text
	}
	segments := []string{"admin"}
	for _, segment := range r.path {
		if strings.Trim(segment, ".") == "" {
			return nil, usageError{fmt.Errorf("%q is not a name", segment)}
		}
		segments = append(segments, url.PathEscape(segment))
	}
	u := in.base.JoinPath(segments...)
	u.RawQuery = r.query.Encode()
	req, err := http.NewRequestWithContext(ctx, r.method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if r.body != nil {
		req.Header.Set("Content-Type", cmp.Or(r.kind, admin.TypeJSON))
	}
	if in.token != "" {
		req.Header.Set("Authorization", "Bearer "+in.token)
	}
	resp, err := in.transport.RoundTrip(req)
	if err != nil {
		return nil, in.unreachable(err)
	}
	return resp, nil
}

// reach reports whether anybody answers there, whatever it says. It shows no
// token.
func (in *installation) reach(ctx context.Context) error {
	stranger := *in
	stranger.token = ""
	resp, err := stranger.send(ctx, request{method: http.MethodHead, path: []string{"status"}})
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// adminError is what an admin API says no with.
type adminError struct {
	status int
	form   admin.Failure
	see    string
}

func (e *adminError) Error() string { return line(e.form.Message, maxProse) }

// refused is the error that an answer tells of.
func refused(resp *http.Response, body []byte, see string) error {
	var form admin.Refusal
	if json.Unmarshal(body, &form) != nil || form.Error.Message == "" {
		return notAdmin(resp.StatusCode)
	}
	return &adminError{resp.StatusCode, form.Error, see}
}

// notAdmin is an answer that no admin API gives.
func notAdmin(status int) error {
	return &advisedError{
		err:    fmt.Errorf("what answers there is no admin API of this version (HTTP %d)", status),
		advice: "check the URL: the admin API has an address of its own; if a proxy is in between, it must pass everything on",
	}
}

// adminHint is about what an admin API said.
func adminHint(err error, _ *remote) string {
	said, ok := errors.AsType[*adminError](err)
	switch {
	case !ok:
		return ""
	case said.form.Code == admin.CodeNotFound && said.see != "":
		return "see which there are with: " + said.see
	case said.form.Next != "":
		return line(said.form.Next, maxProse)
	case said.status == http.StatusUnauthorized:
		return "the token is not, or no more, good; give yours with --token-file FILE or in " + tokenVariable
	case said.status == http.StatusForbidden:
		return "your role does not allow this; ask an administrator. Who may do what: legation person list"
	case said.status == http.StatusTooManyRequests:
		return "there were too many bad tokens from here; try again in a minute"
	}
	return ""
}

// unreachable adds what to do where nobody answers.
func (in *installation) unreachable(err error) error {
	if _, ok := errors.AsType[*guard.RedirectError](err); ok {
		return &advisedError{err, "if the admin API is at the other place, name that; the token is never carried over to another host"}
	}
	dial, ok := errors.AsType[*guard.DialError](err)
	if !ok {
		return err
	}
	advice := certificateHint(err)
	switch {
	case advice != "":
	case dial.Phase == guard.PhaseConnect:
		advice = "is the server running, and is " + in.base.Host + " the address of its admin API? Without --admin and " + adminVariable + " the data directory tells"
	default:
		return err
	}
	return &advisedError{err, advice}
}

// problemLine is file:line:column: document: path: words.
func problemLine(p admin.Problem) string {
	var b strings.Builder
	switch {
	case p.Line > 0:
		fmt.Fprintf(&b, "%s:%d:%d: ", line(p.File, maxName), p.Line, p.Column)
	case p.File != "":
		fmt.Fprintf(&b, "%s: ", line(p.File, maxName))
	}
	for _, part := range []string{p.Document, p.Path} {
		if part != "" {
			b.WriteString(line(part, maxName) + ": ")
		}
	}
	b.WriteString(line(p.Words, maxProse))
	if p.Next != "" {
		b.WriteString(" (" + line(p.Next, maxProse) + ")")
	}
	return b.String()
}

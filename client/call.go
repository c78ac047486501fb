package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/jsonrpc"
)

// params is the message of a request.
type params interface{ AppendJSON([]byte) []byte }

// call is one operation that is answered at once. It returns the result, nil
// where the peer sent none, and what it came with.
func (c *Client) call(ctx context.Context, method string, p params) ([]byte, *exchange, error) {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	limited = guard.WithMaxAnswer(limited, c.cfg.MaxAnswerBytes)

	var result []byte
	x, err := c.send(limited, method, p, typeJSON)
	if err == nil {
		defer x.resp.Body.Close()
		if x.streams() {
			return nil, nil, x.invalid("it is a stream where one answer was asked for")
		}
		result, err = x.result(c.cfg.MaxAnswerBytes)
	}
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("no whole answer within %v: %w", c.cfg.Timeout, err)
	}
	return result, x, labeled(method, err)
}

// labeled adds the operation to errors that do not name it themselves.
func labeled(method string, err error) error {
	if err == nil || isType[*PeerError](err) || isType[*HTTPError](err) || isType[*InvalidResponseError](err) {
		return err
	}
	return fmt.Errorf("%s: %w", method, err)
}

// repeatable tells the operations that have no effect and may be asked twice
// (specification 1.0.1, section 3.3.1).
func repeatable(method string) bool {
	switch method {
	case a2a.MethodGetTask, a2a.MethodListTasks, a2a.MethodSubscribeToTask, a2a.MethodGetExtendedAgentCard,
		a2a.MethodGetTaskPushNotificationConfig, a2a.MethodListTaskPushNotificationConfigs:
		return true
	}
	return false
}

// send posts a request and returns once the header of its answer is there. The
// caller closes the body. A 401 is met with renewed credentials once, and only
// where repeating is safe.
func (c *Client) send(ctx context.Context, method string, p params, accept string) (*exchange, error) {
	x, err := c.post(ctx, method, p, accept, false)
	if err != nil || x.resp.StatusCode != http.StatusUnauthorized || c.cfg.Credentials == nil || !repeatable(method) {
		return x, err
	}
	x.resp.Body.Close()
	return c.post(ctx, method, p, accept, true)
}

func (c *Client) post(ctx context.Context, method string, p params, accept string, renew bool) (*exchange, error) {
	id := c.id()
	body := jsonrpc.AppendRequest(nil, id, method, p.AppendJSON(nil))
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.iface.URL, bytes.NewReader(body))
	if err != nil {
		return nil, &RequestError{Method: method, Why: "the interface's URL can not be used"}
	}
	given, err := c.cfg.dress(ctx, req, renew)
	if err != nil {
		return nil, err
	}
	if c.anonymous != nil && !c.cfg.credentialed(given) {
		return nil, c.anonymous
	}
	c.cfg.askFor(req.Header, used(p))
	req.Header.Set("Content-Type", typeJSON)
	req.Header.Set("Accept", accept)
	secrets := secretsOf(given)
	resp, err := c.cfg.Guard.Do(req)
	if err != nil {
		return nil, secrets.cover(err)
	}
	c.cfg.observe(method, resp)
	return &exchange{client: c, method: method, id: id, secrets: secrets, resp: resp, contentType: mediaType(resp)}, nil
}

// exchange is a request and the answer whose header has come.
type exchange struct {
	client      *Client
	method, id  string
	secrets     secrets // what the request carried
	resp        *http.Response
	contentType string
	parsed      bool // the envelope is off already
}

// streams reports whether the answer is a stream of events.
func (x *exchange) streams() bool {
	return x.contentType == typeStream && x.resp.StatusCode/100 == 2
}

// result reads the whole answer, which is not a stream.
func (x *exchange) result(limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(x.resp.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = &guard.TooLargeError{Limit: limit}
	}
	switch {
	case err == nil:
		return x.parse(body)
	case x.resp.StatusCode/100 != 2:
		return nil, x.foreign(body) // its status says enough
	}
	return nil, fmt.Errorf("reading the answer: %w", x.secrets.cover(err))
}

// parse reads an answer or the data of one event. Whoever speaks JSON-RPC is
// heard at any HTTP status.
func (x *exchange) parse(body []byte) ([]byte, error) {
	envelope, err := jsonrpc.ParseResponse(body)
	if err != nil {
		if x.resp.StatusCode/100 != 2 || !isJSON(x.contentType) && x.contentType != typeStream {
			return nil, x.foreign(body)
		}
		why := strings.TrimPrefix(err.Error(), jsonrpc.ErrInvalidResponse.Error()+": ")
		return nil, x.invalid("it is no JSON-RPC 2.0 response: " + why)
	}
	if envelope.Error != nil {
		if !envelope.ID.IsNull() && !envelope.ID.Equal(x.id) {
			return nil, x.invalid("the error carries the id of another request")
		}
		return nil, x.refusal(envelope.Error)
	}
	switch {
	case !envelope.ID.Equal(x.id):
		return nil, x.invalid("it carries the id of another request")
	case x.method == a2a.MethodDeleteTaskPushNotificationConfig:
		return nil, nil // {}, null and nothing at all are in use
	case !envelope.HasResult:
		return nil, x.invalid("it has neither a result nor an error")
	}
	return envelope.Result, nil
}

// refusal is what the peer said.
func (x *exchange) refusal(object []byte) error {
	said, err := a2a.DecodeError(object)
	if err != nil {
		return x.invalid("its error has no code")
	}
	x.secrets.clean(said)
	e := &PeerError{Method: x.method, Status: x.resp.StatusCode, Err: said, RetryAfter: x.retryAfter()}
	if e.RetryAfter == 0 {
		e.RetryAfter = min(max(said.RetryAfter, 0), maxRetryAfter)
	}
	if said.Kind() == a2a.CodeMethodNotFound {
		e.Hint = "the agent's card says " + a2a.ProtocolVersion + " but it does not know " + x.method + ", so it probably speaks an older version"
	}
	return e
}

// foreign is an answer of somebody who does not speak the protocol.
func (x *exchange) foreign(body []byte) error {
	e := newHTTPError(x.method, x.resp, body, x.client.cfg.Now(), x.secrets)
	if e.Status == http.StatusNotFound {
		e.Hint = "there is no agent at the URL its card names"
	}
	return e
}

func (x *exchange) invalid(why string) error {
	return invalid(x.method, why, x.resp, x.secrets)
}

func invalid(method, why string, resp *http.Response, secrets secrets) *InvalidResponseError {
	return &InvalidResponseError{
		Method: method, Why: secrets.hide(why), Status: resp.StatusCode, ContentType: secrets.hide(mediaType(resp)),
	}
}

func (x *exchange) retryAfter() time.Duration {
	return retryAfter(x.resp.Header, x.client.cfg.Now())
}

func newHTTPError(method string, resp *http.Response, body []byte, now time.Time, secrets secrets) *HTTPError {
	kind := mediaType(resp)
	e := &HTTPError{
		Method: method, Status: resp.StatusCode, ContentType: secrets.hide(kind),
		RetryAfter: retryAfter(resp.Header, now), Server: short(secrets.hide(resp.Header.Get("Server"))),
		Said: oneLine(secrets.hide(said(resp.StatusCode, kind, body))),
	}
	e.IsHTML = kind == "text/html" || kind == "application/xhtml+xml"
	if e.Status == http.StatusUnauthorized {
		scheme, _, _ := strings.Cut(resp.Header.Get("WWW-Authenticate"), " ")
		e.Challenge = short(secrets.hide(scheme))
	}
	return e
}

// short cuts the value of a header that only serves as a clue.
func short(s string) string { return s[:min(len(s), 64)] }

func mediaType(resp *http.Response) string {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return ""
	}
	return short(kind)
}

// isJSON accepts every media type that is JSON, and none at all.
func isJSON(kind string) bool {
	return kind == "" || kind == typeJSON || strings.HasSuffix(kind, "+json")
}

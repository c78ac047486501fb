package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

// shown is what a running server shows of itself.
type shown struct {
	card     []byte
	cardType string
	answers  map[string]answer // by operation
	stream   answer
}

// answer is what one call was answered with.
type answer struct {
	code      int // of its error, zero without one
	mediaType string
}

// show starts a server with one skill, reads its card, calls every claimed
// operation in the claimed words, and ends it.
func show(ctx context.Context, claim Claim) (found *shown, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "legation-conformance-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Publish = "127.0.0.1:0", dir, []string{"echo=echo:"}
	server, err := app.New(ctx, cfg, app.Options{Unsynced: true})
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- server.Run(running) }()
	defer func() {
		stop()
		err = errors.Join(err, <-ended)
	}()
	out, err := guard.New(guard.Policy{AllowHosts: []string{server.Addr()}})
	if err != nil {
		return nil, err
	}
	defer out.Close()
	return look(ctx, visitor{http: out.HTTP(), url: "http://" + server.Addr(), claim: claim})
}

// visitor calls a server as the claim says.
type visitor struct {
	http  *http.Client
	url   string
	claim Claim
}

const (
	// anyParams are parameters that every operation takes or refuses for a
	// reason of its own, and that leave nothing behind.
	anyParams  = `{"id":"none","taskId":"none","url":"https://hook.example/"}`
	sendParams = `{"message":{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"hello"}]}}`
)

func look(ctx context.Context, v visitor) (*shown, error) {
	found := &shown{answers: make(map[string]answer)}
	var err error
	if found.card, found.cardType, err = v.do(ctx, http.MethodGet, v.url+v.claim.CardPath, ""); err != nil {
		return nil, err
	}
	for _, op := range v.claim.Operations {
		if found.answers[op.Name], err = v.ask(ctx, op.Name, anyParams); err != nil {
			return nil, err
		}
	}
	found.stream, err = v.ask(ctx, "SendStreamingMessage", sendParams)
	return found, err
}

// ask calls an operation.
func (v visitor) ask(ctx context.Context, method, params string) (answer, error) {
	name, err := jsontext.AppendQuote(nil, method)
	if err != nil {
		return answer{}, err
	}
	body, mediaType, err := v.do(ctx, http.MethodPost, v.url+"/", fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%s,"params":%s}`, name, params))
	if err != nil {
		return answer{}, err
	}
	var envelope struct {
		Error struct {
			Code int `json:"code"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil && mediaType == v.claim.MediaTypes.Answer {
		return answer{}, fmt.Errorf("%s: %w", method, err)
	}
	return answer{code: envelope.Error.Code, mediaType: mediaType}, nil
}

// do sends one request and returns the body of its answer and its media type.
func (v visitor) do(ctx context.Context, method, url, body string) ([]byte, string, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, "", err
	}
	req.Header.Set(v.claim.Headers.Version, v.claim.Headers.Literal)
	if body != "" {
		req.Header.Set("Content-Type", v.claim.MediaTypes.Call)
	}
	resp, err := v.http.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxFile))
	if err != nil {
		return nil, "", err
	}
	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return data, mediaType, nil
}

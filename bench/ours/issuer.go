package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net"
	"net/http"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
)

// issuer is an OpenID Connect issuer on the loopback with one ES256 key. It ends
// with the context.
type issuer struct {
	host, url string
	key       *ecdsa.PrivateKey
}

const keyID = "bench"

func newIssuer(ctx context.Context) (*issuer, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	var lc net.ListenConfig
	listener, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	host := listener.Addr().String()
	i := &issuer{host: host, url: "http://" + host, key: key}
	mux := http.NewServeMux()
	mux.Handle("GET /.well-known/openid-configuration", says(object{
		"issuer": i.url, "jwks_uri": i.url + "/keys", "authorization_endpoint": i.url + "/authorize", "token_endpoint": i.url + "/token",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported": []string{string(jose.ES256)},
	}))
	mux.Handle("GET /keys", says(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{
		{Key: key.Public(), KeyID: keyID, Algorithm: string(jose.ES256), Use: "sig"},
	}}))
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { web.Close() })
	go func() { _ = web.Serve(listener) }() // ends with the context
	return i, nil
}

// says answers with JSON.
func says(v any) http.Handler {
	text, err := json.Marshal(v)
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(text)
	})
}

// token is for the driver, and good for an hour.
func (i *issuer) token() (string, error) {
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: i.key, KeyID: keyID}}, nil)
	if err != nil {
		return "", err
	}
	now := time.Now()
	claims, err := json.Marshal(object{
		"iss": i.url, "aud": audience, "azp": client, "sub": client, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(claims)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

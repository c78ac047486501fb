package credential_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oauth2-proxy/mockoidc"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
)

func TestDiscovery(t *testing.T) {
	const rfc, oidc = "/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"
	type object = map[string]any
	good := func(i *issuer, path string, more object) object {
		all := object{"issuer": i.server.URL + path, "token_endpoint": i.server.URL + "/token"}
		for name, value := range more {
			all[name] = value
		}
		return all
	}
	for _, tt := range []struct {
		name     string
		path     string // of the issuer
		metadata func(i *issuer, path string) (int, any)
		asked    []string
		basic    bool
		reason   credential.Reason // if there is no token
		words    string
	}{
		{
			name: "at the root", asked: []string{rfc, "/token"}, basic: true,
			metadata: func(i *issuer, _ string) (int, any) { return 200, good(i, "", nil) },
		},
		{
			name: "with a path", path: "/tenant/1", asked: []string{rfc + "/tenant/1", "/token"}, basic: true,
			metadata: func(i *issuer, _ string) (int, any) { return 200, good(i, "/tenant/1", nil) },
		},
		{
			name: "with a slash", path: "/tenant/", asked: []string{rfc + "/tenant", "/token"}, basic: true,
			metadata: func(i *issuer, _ string) (int, any) { return 200, good(i, "/tenant/", nil) },
		},
		{
			name: "by OpenID Connect", path: "/t", asked: []string{rfc + "/t", "/t" + oidc, "/token"}, basic: true,
			metadata: func(i *issuer, path string) (int, any) {
				if path == "/t"+oidc {
					return 200, good(i, "/t", object{"token_endpoint_auth_methods_supported": []string{"client_secret_post", "client_secret_basic"}})
				}
				return 404, nil
			},
		},
		{
			name: "where everything has a page", asked: []string{rfc, oidc, "/token"}, basic: true,
			metadata: func(i *issuer, path string) (int, any) {
				if path == oidc {
					return 200, good(i, "", nil)
				}
				return 200, "<html>"
			},
		},
		{
			name: "secrets in the form", asked: []string{rfc, "/token"},
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, good(i, "", object{"token_endpoint_auth_methods_supported": []string{"private_key_jwt", "client_secret_post"}})
			},
		},
		{
			name: "no secrets", asked: []string{rfc}, reason: credential.Foreign, words: "takes no client secrets",
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, good(i, "", object{"token_endpoint_auth_methods_supported": []string{"private_key_jwt"}})
			},
		},
		{
			name: "no metadata", asked: []string{rfc, oidc}, reason: credential.Foreign, words: "has no metadata of the issuer",
			metadata: func(*issuer, string) (int, any) { return 404, nil },
		},
		{
			name: "no token endpoint", asked: []string{rfc}, reason: credential.Foreign, words: "names no token endpoint",
			metadata: func(i *issuer, _ string) (int, any) { return 200, object{"issuer": i.server.URL} },
		},
		{
			name: "a slash more", asked: []string{rfc}, reason: credential.Foreign, words: "not letter by letter",
			metadata: func(i *issuer, _ string) (int, any) { return 200, good(i, "/", nil) },
		},
		{
			name: "not now", asked: []string{rfc}, reason: credential.Unavailable, words: "with HTTP status 503",
			metadata: func(*issuer, string) (int, any) { return 503, nil },
		},
		{
			name: "too long", asked: []string{rfc}, reason: credential.Foreign, words: "can not be read",
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, good(i, "", object{"x": strings.Repeat("x", 70<<10)})
			},
		},
		{
			name: "a private place", asked: []string{rfc}, reason: credential.Foreign, words: `host "10.0.0.1" is a private address`,
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, object{"issuer": i.server.URL, "token_endpoint": "https://10.0.0.1/token"}
			},
		},
		{
			name: "in the clear", asked: []string{rfc}, reason: credential.Foreign, words: "a token endpoint that is not, so the client's secret would be sent in the clear",
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, object{"issuer": i.server.URL, "token_endpoint": strings.Replace(i.server.URL, "https", "http", 1) + "/token"}
			},
		},
		{
			name: "another secret", asked: []string{rfc}, reason: credential.Foreign, words: "speaks for another issuer, which",
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, object{"issuer": "https://" + secretText + ".example", "token_endpoint": i.server.URL + "/token"}
			},
		},
		{
			name: "no place", asked: []string{rfc}, reason: credential.Unusable, words: "the URL of the token endpoint can not be used",
			metadata: func(i *issuer, _ string) (int, any) {
				return 200, object{"issuer": i.server.URL, "token_endpoint": "/token"}
			},
		},
		{
			name: "no issuer", path: "?x", reason: credential.Unusable, words: "is not the URL of an issuer",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.put("client-secret", secretText)
			w.issuer.set(func(i *issuer) {
				i.client = secretText
				i.metadata = func(path string) (int, any) { return tt.metadata(i, path) }
			})
			source := w.source(w.issuer.oauth(w.issuer.byIssuer(tt.path)))
			if tt.reason == "" {
				w.token(source, false)
				w.issuer.set(func(i *issuer) {
					if _, _, basic := i.asked[len(i.asked)-1].BasicAuth(); basic != tt.basic {
						t.Errorf("the secret is in a header: %v, want %v", basic, tt.basic)
					}
				})
			} else if failed := w.refused(source); failed.Reason != tt.reason || !strings.Contains(failed.Error(), tt.words) {
				t.Errorf("error %q for the reason %s, want %s and %q", failed, failed.Reason, tt.reason, tt.words)
			}
			if diff := cmp.Diff(tt.asked, w.issuer.seen()); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			w.silent()
		})
	}
}

// What was discovered is used for an hour, unless the token endpoint fails.
func TestMetadataIsRemembered(t *testing.T) {
	w := newWorld(t)
	w.put("client-secret", secretText)
	w.issuer.set(func(i *issuer) {
		i.client = secretText
		i.metadata = func(string) (int, any) {
			return 200, object{"issuer": i.server.URL, "token_endpoint": i.server.URL + "/token"}
		}
	})
	source := w.source(w.issuer.oauth(w.issuer.byIssuer("")))
	asks := func(want int) {
		t.Helper()
		if got := len(w.issuer.seen()); got != want {
			t.Errorf("%d requests, want %d", got, want)
		}
	}
	w.token(source, false)
	asks(2)
	w.clock.add(20 * time.Minute)
	w.token(source, false)
	asks(1)
	w.clock.add(41 * time.Minute)
	w.token(source, false)
	asks(2)
	w.issuer.set(func(i *issuer) { i.answer = status(404, "") })
	w.clock.add(20 * time.Minute)
	w.refused(source)
	asks(1)
	w.issuer.set(func(i *issuer) { i.answer = nil })
	w.clock.add(time.Minute)
	w.token(source, false)
	asks(2)
}

// mockoidc is discovered by OpenID Connect and signs what it grants. It has no
// grant for clients, which is put in front of it here.
func TestAgainstAnotherProvider(t *testing.T) {
	w := newWorld(t)
	provider, err := mockoidc.NewServer(nil)
	if err != nil {
		t.Fatal(err)
	}
	grants := true
	err = provider.AddMiddleware(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !grants || r.URL.Path != mockoidc.TokenEndpoint {
				next.ServeHTTP(rw, r)
				return
			}
			id, secret, _ := r.BasicAuth()
			if id != provider.ClientID || secret != provider.ClientSecret {
				write(rw, http.StatusUnauthorized, object{"error": mockoidc.InvalidClient})
				return
			}
			session, err := provider.SessionStore.NewSession("tasks", "", mockoidc.DefaultUser(), "", "")
			if err != nil {
				t.Errorf("session: %v", err)
				return
			}
			text, err := session.AccessToken(provider.Config(), provider.Keypair, provider.Now())
			if err != nil {
				t.Errorf("token: %v", err)
				return
			}
			write(rw, http.StatusOK, object{"access_token": text, "token_type": "Bearer", "expires_in": provider.AccessTTL.Seconds()})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	settings := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{w.ca.pair(t, w.ca.issue(t, "127.0.0.1", time.Hour))}}
	if err := provider.Start(tls.NewListener(listener, settings), settings); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = provider.Server.Close() })
	w.put("client-secret", provider.ClientSecret)
	w.agent.asks(&a2a.OpenIdConnectSecurityScheme{OpenIDConnectURL: provider.DiscoveryEndpoint()}, func(r *http.Request) bool {
		text, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		token, err := provider.Keypair.VerifyJWT(text, provider.Now)
		return err == nil && token.Valid
	})
	spec := registry.Credential{OAuth2: &registry.OAuth2{Issuer: registry.URL(provider.Issuer()), ClientID: provider.ClientID, Secret: "client-secret"}}
	remote := w.dial(w.source(spec))
	ask := func() error {
		_, err := remote.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		return err
	}
	if err := ask(); err != nil {
		t.Fatalf("with a token of the provider: %v", err)
	}
	w.clock.add(provider.AccessTTL / 2)
	provider.FastForward(provider.AccessTTL + time.Minute) // its clock is ahead of ours
	if err := ask(); err != nil {
		t.Errorf("with a token that has ended there: %v", err)
	}
	if got := len(w.uses("client-secret")); got != 2 {
		t.Errorf("%d tokens were asked for, want two", got)
	}
	grants = false // what it says by itself to a client that wants a token
	w.clock.add(provider.AccessTTL)
	if err := ask(); err == nil || !strings.Contains(err.Error(), `"invalid_request": it does not understand the request`) {
		t.Errorf("error = %v, want the provider's", err)
	}
}

// Exceptions are for what is in the document. They do not extend to a host that
// nobody but the metadata names, unless they name it themselves.
func TestExceptionsAndMetadata(t *testing.T) {
	for name, tt := range map[string]struct {
		exceptions []registry.Exception
		host       string
		reason     credential.Reason
	}{
		"the issuer's host":         {[]registry.Exception{"127.0.0.0/8"}, "127.0.0.1", ""},
		"a host that is named":      {[]registry.Exception{"127.0.0.0/8", "LOCALHOST"}, "localhost", credential.Unavailable}, // by its certificate
		"another host of the range": {[]registry.Exception{"127.0.0.0/8"}, "localhost", credential.Foreign},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.put("client-secret", secretText)
			w.keeper = credential.New(w.vault, func(_ string, exceptions []registry.Exception, _ string) (*guard.Client, error) {
				policy := w.policy()
				policy.AllowHosts = nil
				policy.Resolve = func(context.Context, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
				}
				for _, e := range exceptions {
					if prefix, err := netip.ParsePrefix(string(e)); err == nil {
						policy.AllowCIDRs = append(policy.AllowCIDRs, prefix)
					} else {
						policy.AllowHosts = append(policy.AllowHosts, string(e))
					}
				}
				return guard.New(policy)
			}, credential.Config{Now: w.clock.now})
			w.issuer.set(func(i *issuer) {
				i.client = secretText
				i.metadata = func(string) (int, any) {
					return 200, map[string]any{"issuer": i.server.URL, "token_endpoint": strings.Replace(i.server.URL, "127.0.0.1", tt.host, 1) + "/token"}
				}
			})
			source, err := w.keeper.For("partner", 1, w.agent.server.URL, w.issuer.oauth(w.issuer.byIssuer("")), tt.exceptions)
			if err != nil {
				t.Fatal(err)
			}
			if tt.reason != "" {
				if failed := w.refused(source); failed.Reason != tt.reason {
					t.Errorf("error %q for the reason %s, want %s", failed, failed.Reason, tt.reason)
				}
				return
			}
			w.token(source, false)
		})
	}
}

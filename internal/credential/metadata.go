package credential

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/oauth2"

	"github.com/legation/legation/guard"
)

// metadataKept is how long the metadata of an issuer is used, unless the token
// endpoint in it fails.
const metadataKept = time.Hour

// endpoint is where tokens are fetched, and how the client proves itself there.
type endpoint struct {
	url   string
	style oauth2.AuthStyle
}

// metadata is what was found out about an issuer.
type metadata struct {
	endpoint
	until time.Time
}

// document is the members of the metadata that matter (RFC 8414, section 2).
type document struct {
	Issuer   string   `json:"issuer"`
	TokenURL string   `json:"token_endpoint"`
	Methods  []string `json:"token_endpoint_auth_methods_supported"`
}

// discover finds the token endpoint of the issuer: by RFC 8414, section 3, and
// where there is nothing by OpenID Connect Discovery 1.0, section 4.
func (s *Source) discover(ctx context.Context, client *guard.Client) (endpoint, error) {
	now := s.keeper.cfg.Now()
	if known := s.grant.metadata; now.Before(known.until) {
		return known.endpoint, nil
	}
	issuer, err := url.Parse(string(s.spec.OAuth2.Issuer))
	if err != nil || issuer.Hostname() == "" || issuer.RawQuery != "" || issuer.Fragment != "" {
		return endpoint{}, s.fault(Unusable, "", "spec.credential.oauth2.issuer is not the URL of an issuer, which has neither query nor fragment")
	}
	origin, path := issuer.Scheme+"://"+issuer.Host, strings.TrimSuffix(issuer.EscapedPath(), "/")
	var found *document
	for _, at := range []string{
		origin + "/.well-known/oauth-authorization-server" + path,
		origin + path + "/.well-known/openid-configuration",
	} {
		if found, err = s.read(ctx, client, at, issuer.Hostname()); err != nil {
			return endpoint{}, err
		}
		if found != nil {
			break
		}
	}
	where, err := s.judge(found, issuer)
	if err != nil {
		return endpoint{}, err
	}
	s.grant.metadata = metadata{endpoint: where, until: now.Add(metadataKept)}
	return where, nil
}

// judge takes the metadata for the issuer's if it says so itself, letter by letter
// (RFC 8414, section 3.3).
func (s *Source) judge(found *document, issuer *url.URL) (endpoint, error) {
	host := issuer.Hostname()
	switch {
	case found == nil:
		return endpoint{}, s.fault(Foreign, host, "has no metadata of the issuer; check spec.credential.oauth2.issuer, or set tokenURL instead")
	case found.Issuer != string(s.spec.OAuth2.Issuer):
		return endpoint{}, s.fault(Foreign, host, "speaks for "+almost(found.Issuer, string(s.spec.OAuth2.Issuer))+
			", which is not letter by letter the one in spec.credential.oauth2.issuer; nothing was sent to its token endpoint")
	case found.TokenURL == "":
		return endpoint{}, s.fault(Foreign, host, "names no token endpoint in the issuer's metadata")
	}
	if target, err := url.Parse(found.TokenURL); err == nil && target.Hostname() != "" && issuer.Scheme == "https" && target.Scheme != "https" {
		return endpoint{}, s.fault(Foreign, host, "is reached by https and names a token endpoint that is not, so the client's secret would be sent in the clear")
	}
	where := endpoint{url: found.TokenURL, style: oauth2.AuthStyleInHeader}
	switch {
	case len(found.Methods) == 0, slices.Contains(found.Methods, "client_secret_basic"):
	case slices.Contains(found.Methods, "client_secret_post"):
		where.style = oauth2.AuthStyleInParams
	default:
		return endpoint{}, s.fault(Foreign, host, "says that its token endpoint takes no client secrets, and nothing else is known here")
	}
	return where, nil
}

// almost names another issuer: what a slash sets apart is told, and nothing else is
// repeated, as the issuer may have been sent the secret before.
func almost(said, wanted string) string {
	switch {
	case said == wanted+"/":
		return "the issuer with a slash at its end"
	case said+"/" == wanted:
		return "the issuer without the slash at its end"
	case said == "":
		return "no issuer"
	}
	return "another issuer"
}

// clientFor asks a token endpoint that the metadata names. Exceptions are of a
// person for what is in the document: at another host than the issuer's only those
// count that name it.
func (s *Source) clientFor(target *url.URL) (*guard.Client, error) {
	exceptions := s.exceptions
	if issuer, err := url.Parse(string(s.spec.OAuth2.Issuer)); err != nil || !strings.EqualFold(issuer.Hostname(), target.Hostname()) {
		exceptions = nil
		for _, e := range s.exceptions {
			if names(string(e), target.Hostname()) {
				exceptions = append(exceptions, e)
			}
		}
	}
	client, err := s.keeper.clients(s.party, exceptions, s.spec.OAuth2.Roots)
	if err != nil {
		e := s.fault(Unusable, "", "the token endpoint can not be asked under spec.exceptions")
		e.Err = err
		return nil, e
	}
	return client, nil
}

// names reports whether an exception is for a host, at whatever port, and not for
// a range of addresses.
func names(exception, host string) bool {
	name := exception
	if at, _, err := net.SplitHostPort(exception); err == nil {
		name = at
	}
	return strings.EqualFold(strings.Trim(name, "[]"), host)
}

// read reads one metadata document, nil if there is none.
func (s *Source) read(ctx context.Context, client *guard.Client, at, host string) (*document, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
	if err != nil {
		return nil, s.fault(Unusable, "", "spec.credential.oauth2.issuer can not be used")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := client.HTTP().Do(req)
	if err != nil {
		return nil, s.unreached(ctx, host, err, "")
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode >= 500 {
		e := s.fault(Unavailable, host, "does not tell the issuer's metadata now, with HTTP status "+strconv.Itoa(resp.StatusCode))
		e.Status = resp.StatusCode
		return nil, e
	}
	if resp.StatusCode != http.StatusOK {
		return nil, nil
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, s.unreached(ctx, host, err, "has metadata of the issuer that can not be read")
	}
	found := new(document)
	if json.Unmarshal(body, found) != nil {
		return nil, nil
	}
	return found, nil
}

package card

import (
	"fmt"
	"maps"
	"slices"

	"github.com/legation/legation/a2a"
)

// schemes finds faults of what a client has to show.
func (l *linter) schemes() {
	used := l.usedSchemes()
	for _, name := range slices.Sorted(maps.Keys(l.card.SecuritySchemes)) {
		path := member("securitySchemes", name)
		if !used[name] {
			l.warn(path, "is named by no requirement, so no client will use it")
		}
		switch scheme := l.card.SecuritySchemes[name].Scheme.(type) {
		case *a2a.APIKeySecurityScheme:
			if !slices.Contains([]string{"query", "header", "cookie", ""}, scheme.Location) {
				l.error(path+".apiKeySecurityScheme.location", "%q is not query, header or cookie", bounded(scheme.Location))
			}
		case *a2a.OpenIdConnectSecurityScheme:
			l.link(path+".openIdConnectSecurityScheme.openIdConnectUrl", scheme.OpenIDConnectURL)
		case *a2a.OAuth2SecurityScheme:
			l.link(path+".oauth2SecurityScheme.oauth2MetadataUrl", scheme.OAuth2MetadataURL)
			l.flow(path+".oauth2SecurityScheme.flows", scheme.Flows.Flow)
		}
	}
	if len(l.card.SecuritySchemes) > 0 && len(l.card.SecurityRequirements) == 0 {
		l.warn("securityRequirements", "there are none, so clients take it that no credentials are needed")
	}
}

func (l *linter) flow(path string, flow a2a.OAuthFlow) {
	switch flow := flow.(type) {
	case *a2a.AuthorizationCodeOAuthFlow:
		path += ".authorizationCode"
		l.link(path+".authorizationUrl", flow.AuthorizationURL)
		l.link(path+".tokenUrl", flow.TokenURL)
		l.link(path+".refreshUrl", flow.RefreshURL)
	case *a2a.ClientCredentialsOAuthFlow:
		path += ".clientCredentials"
		l.link(path+".tokenUrl", flow.TokenURL)
		l.link(path+".refreshUrl", flow.RefreshURL)
	case *a2a.DeviceCodeOAuthFlow:
		path += ".deviceCode"
		l.link(path+".deviceAuthorizationUrl", flow.DeviceAuthorizationURL)
		l.link(path+".tokenUrl", flow.TokenURL)
		l.link(path+".refreshUrl", flow.RefreshURL)
	case *a2a.ImplicitOAuthFlow:
		l.warn(path+".implicit", "is deprecated")
	case *a2a.PasswordOAuthFlow:
		l.warn(path+".password", "is deprecated")
	}
}

func (l *linter) requirements(path string, list []a2a.SecurityRequirement) {
	for i, one := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if len(one.Schemes) == 0 {
			l.warn(at, "names no scheme, so clients may call without credentials")
		}
		for _, name := range slices.Sorted(maps.Keys(one.Schemes)) {
			scheme, ok := l.card.SecuritySchemes[name]
			if !ok {
				l.error(member(at+".schemes", name), "names a scheme that securitySchemes does not have")
				continue
			}
			for _, scope := range one.Schemes[name].List {
				if scopes := scopesOf(scheme); scopes != nil && !hasKey(scopes, scope) {
					l.warn(member(at+".schemes", name), "asks for the scope %q, which the scheme does not list", bounded(scope))
				}
			}
		}
	}
}

func (l *linter) usedSchemes() map[string]bool {
	lists := [][]a2a.SecurityRequirement{l.card.SecurityRequirements}
	for _, skill := range l.card.Skills {
		lists = append(lists, skill.SecurityRequirements)
	}
	used := map[string]bool{}
	for _, one := range slices.Concat(lists...) {
		for name := range one.Schemes {
			used[name] = true
		}
	}
	return used
}

// scopesOf are the scopes a scheme lists, nil where it lists none.
func scopesOf(scheme a2a.SecurityScheme) map[string]string {
	oauth, ok := scheme.Scheme.(*a2a.OAuth2SecurityScheme)
	if !ok {
		return nil
	}
	switch flow := oauth.Flows.Flow.(type) {
	case *a2a.AuthorizationCodeOAuthFlow:
		return flow.Scopes
	case *a2a.ClientCredentialsOAuthFlow:
		return flow.Scopes
	case *a2a.DeviceCodeOAuthFlow:
		return flow.Scopes
	}
	return nil
}

func hasKey(m map[string]string, key string) bool {
	_, ok := m[key]
	return ok
}

// signatures finds what keeps signatures from being verified, the card aside.
func (l *linter) signatures() {
	if n := len(l.card.Signatures); n > maxSignatures {
		l.error("signatures", "there are %d, and at most %d are looked at", n, maxSignatures)
		return
	}
	for i, signature := range l.card.Signatures {
		path := fmt.Sprintf("signatures[%d].protected", i)
		if signature.Protected == "" {
			continue // a violation
		}
		head, err := readHeader(signature)
		switch {
		case err != nil:
			l.error(path, "%s", err.Error())
			continue
		case !slices.Contains(Algorithms(), Algorithm(head.Algorithm)):
			l.warn(path, "uses the algorithm %q; %s are accepted everywhere", bounded(head.Algorithm), algorithmList())
		}
		if head.Type != "JOSE" {
			l.warn(path, `should have "typ":"JOSE"`)
		}
		if head.JWKSURL != "" && checkJWKSURL(head.JWKSURL) != nil {
			l.error(path, "names a key set (jku) that is not at an https URL")
		}
	}
}

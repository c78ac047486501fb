package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
)

// impliedVersion is what a request without a version asks for (specification
// 1.0.1, section 3.6.2).
const impliedVersion = "0.3"

// checkVersion checks the version that a request asks for, in its header or
// its query (section 3.6.1). Two that differ are refused.
func checkVersion(r *http.Request) error {
	versions := slices.Concat(r.Header.Values(a2a.HeaderVersion), queryVersions(r))
	for i, version := range versions {
		versions[i] = strings.TrimSpace(version)
	}
	versions = slices.DeleteFunc(versions, func(version string) bool { return version == "" })
	if len(versions) == 0 {
		return versionError(impliedVersion, "a request without the "+a2a.HeaderVersion+" header asks for A2A 0.3, which is not served here")
	}
	bad := slices.IndexFunc(versions, func(version string) bool { return !a2a.VersionMatches(version) })
	if bad < 0 {
		return nil
	}
	if slices.ContainsFunc(versions, func(version string) bool { return version != versions[bad] }) {
		return versionError(versions[bad], "the request asks for two different versions of A2A")
	}
	return versionError(versions[bad], "A2A version "+cut(versions[bad])+" is not served here")
}

func queryVersions(r *http.Request) []string {
	if r.URL.RawQuery == "" {
		return nil
	}
	var versions []string
	for name, values := range r.URL.Query() {
		if strings.EqualFold(name, a2a.HeaderVersion) {
			versions = append(versions, values...)
		}
	}
	return versions
}

func versionError(requested, message string) error {
	return &a2a.Error{
		Code:     a2a.CodeVersionNotSupported,
		Message:  message + "; supported: " + a2a.ProtocolVersion,
		Metadata: map[string]string{"requested": cut(requested), "supported": a2a.ProtocolVersion},
	}
}

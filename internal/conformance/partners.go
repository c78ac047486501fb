package conformance

import (
	"path"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
)

const nextPartner = "pin the version that is claimed, run the interop matrix, or claim the one that ran"

// partners compares the claimed versions with the files that pin them.
func (c *checker) partners() {
	c.begin("pinned partners")
	for _, p := range c.claim.Partners {
		if len(p.Locks) == 0 {
			c.differs("partner "+p.Name, ClaimFile, p.Version, "no lock file", "name the file that pins it")
		}
		for _, lock := range p.Locks {
			data, there := c.tree.files[lock]
			if !there {
				c.counted(1)
				c.differs("partner "+p.Name, lock, p.Version, "no lock file", "add it, or correct its name in "+ClaimFile)
				continue
			}
			c.same("partner "+p.Name, lock, p.Version, pinned(lock, data, p.Name), nextPartner)
			if path.Base(lock) == "go.mod" && replaced(data, p.Name) {
				c.differs("partner "+p.Name, lock, p.Version, "another one in its place", "take the replace directive out")
			}
		}
	}
}

// pinned is the version that a lock file holds a package at, without a leading
// v, or nothing.
func pinned(lock string, data []byte, name string) string {
	var pattern string
	switch {
	case strings.HasSuffix(lock, ".json"):
		return pinnedByNPM(data, name)
	case path.Base(lock) == "go.mod": // the claimed name is the repository's
		pattern = `(?m)^\s*(?:require\s+)?\S+/` + regexp.QuoteMeta(name) + `(?:/v\d+)?\s+v(\S+)`
	default: // pip
		pattern = `(?m)^` + regexp.QuoteMeta(name) + `(?:\[[\w,-]+\])?\s*==\s*([^\s;\\]+)`
	}
	if m := regexp.MustCompile(pattern).FindSubmatch(data); m != nil {
		return string(m[1])
	}
	return ""
}

// replaced reports whether a go.mod puts something else in the place of a module.
func replaced(data []byte, name string) bool {
	return regexp.MustCompile(`(?m)^\s*(?:replace\s+)?\S+/` + regexp.QuoteMeta(name) + `(?:/v\d+)?(?:\s+v\S+)?\s*=>`).Match(data)
}

func pinnedByNPM(data []byte, name string) string {
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return ""
	}
	return lock.Packages["node_modules/"+name].Version
}

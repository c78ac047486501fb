package conformance

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// What documents state, as far as a claim covers it.
var (
	versionStated = regexp.MustCompile(`\bA2A (?:version )?v?(\d+\.\d+(?:\.\d+)?)\b`)
	releaseStated = regexp.MustCompile(`\bat v(\d+\.\d+\.\d+)\b`)
	headerStated  = regexp.MustCompile(`(?:^|[^\w-])(A2A-[A-Z][\w-]*)(?:: ?([\w.]+\w))?`)
	digestStated  = regexp.MustCompile(`\b[0-9a-f]{64}\b`)
)

const nextDocument = "correct the document"

// documents compares what documents state about the protocol with the claim.
func (c *checker) documents() {
	c.begin("statements in documents")
	names := slices.Concat([]string{"README.md"}, c.tree.under("docs", ".md"), c.tree.under("specification", ".md"))
	for _, name := range names {
		if name != PageFile { // compared as a whole
			c.document(name, c.tree.files[name])
		}
	}
	c.counted(1)
	if spoken := "A2A " + c.claim.Headers.Literal; !strings.Contains(string(c.tree.files["README.md"]), spoken) {
		c.differs("version literal", "README.md", spoken, "nothing", "say it there")
	}
}

func (c *checker) document(name string, data []byte) {
	text := string(data)
	on := linesOf(data)
	at := func(index int) string { return fmt.Sprintf("%s:%d", name, on.line(index)) }
	for _, m := range releaseStated.FindAllStringSubmatchIndex(text, -1) {
		c.same("specification revision", at(m[0]), c.claim.Specification.Revision, text[m[2]:m[3]], nextDocument)
	}
	for _, m := range digestStated.FindAllStringIndex(text, -1) {
		if strings.HasSuffix(text[:m[0]], "spki: ") {
			continue // of a key, in an example of a document
		}
		c.same("proto hash", at(m[0]), c.claim.Specification.ProtoSHA256, text[m[0]:m[1]], nextDocument)
	}
	for _, p := range c.claim.Partners {
		if !strings.Contains(text, p.Name) {
			continue
		}
		stated := regexp.MustCompile(`(?:^|[^\w@/-])` + regexp.QuoteMeta(p.Name) + "[`*]* (?:version )?v?(\\d+\\.\\d+\\.\\d+)")
		for _, m := range stated.FindAllStringSubmatchIndex(text, -1) {
			c.same("partner "+p.Name, at(m[2]), p.Version, text[m[2]:m[3]], nextDocument)
		}
	}
	if !strings.Contains(text, "A2A") {
		return
	}
	for _, m := range versionStated.FindAllStringSubmatchIndex(text, -1) {
		stated := text[m[2]:m[3]]
		if stated == c.claim.Specification.Revision {
			c.counted(1)
			continue
		}
		c.same("version literal", at(m[0]), c.claim.Headers.Literal, stated, nextDocument)
	}
	for _, m := range headerStated.FindAllStringSubmatchIndex(text, -1) {
		header := text[m[2]:m[3]]
		if header == c.claim.Headers.Extensions {
			c.counted(1)
			continue
		}
		c.same("version header", at(m[2]), c.claim.Headers.Version, header, nextDocument)
		if m[4] >= 0 {
			c.same("version literal", at(m[4]), c.claim.Headers.Literal, text[m[4]:m[5]], nextDocument)
		}
	}
}

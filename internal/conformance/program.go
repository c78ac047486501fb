package conformance

import (
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/legation/legation/a2a"
)

const (
	program     = "this program"
	nextRebuild = "run make conformance there, which builds the program from that source"
)

// compiled are the constants of package a2a in this program, as they are
// written in the source that it was built from.
var compiled = map[string]string{
	"CodeParse":                          number(a2a.CodeParse),
	"CodeInvalidRequest":                 number(a2a.CodeInvalidRequest),
	"CodeMethodNotFound":                 number(a2a.CodeMethodNotFound),
	"CodeInvalidParams":                  number(a2a.CodeInvalidParams),
	"CodeInternal":                       number(a2a.CodeInternal),
	"CodeTaskNotFound":                   number(a2a.CodeTaskNotFound),
	"CodeTaskNotCancelable":              number(a2a.CodeTaskNotCancelable),
	"CodePushNotificationNotSupported":   number(a2a.CodePushNotificationNotSupported),
	"CodeUnsupportedOperation":           number(a2a.CodeUnsupportedOperation),
	"CodeContentTypeNotSupported":        number(a2a.CodeContentTypeNotSupported),
	"CodeInvalidAgentResponse":           number(a2a.CodeInvalidAgentResponse),
	"CodeExtendedAgentCardNotConfigured": number(a2a.CodeExtendedAgentCardNotConfigured),
	"CodeExtensionSupportRequired":       number(a2a.CodeExtensionSupportRequired),
	"CodeVersionNotSupported":            number(a2a.CodeVersionNotSupported),

	"MaxDepth":          number(a2a.MaxDepth),
	"ErrorDomain":       a2a.ErrorDomain,
	"ProtocolVersion":   a2a.ProtocolVersion,
	"HeaderVersion":     a2a.HeaderVersion,
	"HeaderExtensions":  a2a.HeaderExtensions,
	"BindingJSONRPC":    a2a.BindingJSONRPC,
	"WellKnownCardPath": a2a.WellKnownCardPath,

	"SpecificationVersion": a2a.SpecificationVersion,
	"ProtoSHA256":          a2a.ProtoSHA256,
	"ProtoPackage":         a2a.ProtoPackage,

	"MethodSendMessage":                      a2a.MethodSendMessage,
	"MethodSendStreamingMessage":             a2a.MethodSendStreamingMessage,
	"MethodGetTask":                          a2a.MethodGetTask,
	"MethodListTasks":                        a2a.MethodListTasks,
	"MethodCancelTask":                       a2a.MethodCancelTask,
	"MethodSubscribeToTask":                  a2a.MethodSubscribeToTask,
	"MethodCreateTaskPushNotificationConfig": a2a.MethodCreateTaskPushNotificationConfig,
	"MethodGetTaskPushNotificationConfig":    a2a.MethodGetTaskPushNotificationConfig,
	"MethodListTaskPushNotificationConfigs":  a2a.MethodListTaskPushNotificationConfigs,
	"MethodGetExtendedAgentCard":             a2a.MethodGetExtendedAgentCard,
	"MethodDeleteTaskPushNotificationConfig": a2a.MethodDeleteTaskPushNotificationConfig,

	"TaskStateUnspecified":   string(a2a.TaskStateUnspecified),
	"TaskStateSubmitted":     string(a2a.TaskStateSubmitted),
	"TaskStateWorking":       string(a2a.TaskStateWorking),
	"TaskStateCompleted":     string(a2a.TaskStateCompleted),
	"TaskStateFailed":        string(a2a.TaskStateFailed),
	"TaskStateCanceled":      string(a2a.TaskStateCanceled),
	"TaskStateInputRequired": string(a2a.TaskStateInputRequired),
	"TaskStateRejected":      string(a2a.TaskStateRejected),
	"TaskStateAuthRequired":  string(a2a.TaskStateAuthRequired),

	"RoleUnspecified": string(a2a.RoleUnspecified),
	"RoleUser":        string(a2a.RoleUser),
	"RoleAgent":       string(a2a.RoleAgent),
}

func number[T ~int](n T) string { return strconv.Itoa(int(n)) }

// built compares what tells whether this program was built from the tree: the
// constants, and the revisions of both where they are known. The server that is
// looked at is this program's, whatever the tree says.
func (c *checker) built(written map[string]string) {
	c.begin("constants of package a2a, as compiled and as written")
	for _, name := range sorted(compiled) {
		c.counted(1)
		if value, there := written[name]; !there || value != compiled[name] {
			c.differs("program", program, "built from this tree, where "+name+" is "+orNothing(value), orNothing(compiled[name]), nextRebuild)
		}
	}
	for _, name := range sorted(written) {
		if _, there := compiled[name]; !there {
			c.differs("program", program, "built from this tree, where "+bounded(name)+" is "+orNothing(written[name]), "no such constant", nextRebuild)
		}
	}
	if c.revision != "" && c.head != "" && !strings.HasPrefix(c.head, c.revision) {
		c.differs("program", program, "built from this tree, which is at "+c.head[:min(12, len(c.head))], "built from "+bounded(c.revision), nextRebuild)
	}
}

// sourceConstants are the exported constants that package a2a's source gives a
// literal, and those of one file of it.
func (c *checker) sourceConstants() (all map[string]string, in map[string]map[string]string) {
	all, in = make(map[string]string), make(map[string]map[string]string)
	for _, name := range slices.Concat(c.tree.under("a2a", ".go"), []string{codeSource, versionSource, typesSource}) {
		if strings.HasSuffix(name, "_test.go") || path.Dir(name) != "a2a" || in[name] != nil {
			continue
		}
		in[name] = make(map[string]string)
		for constant, value := range constantsOf(c.parse(name)) {
			all[constant], in[name][constant] = value, value
		}
	}
	return all, in
}

var revisionOfHead = regexp.MustCompile(`^[0-9a-f]{40,64}$`)

// headOf is the commit that a checkout is at, or nothing if that is not easy to
// tell.
func headOf(root fs.FS) string {
	head := firstLine(root, ".git/HEAD")
	ref, symbolic := strings.CutPrefix(head, "ref: ")
	if symbolic {
		head = firstLine(root, path.Join(".git", ref))
		if !strings.HasPrefix(ref, "refs/") {
			return ""
		}
	}
	if head == "" && symbolic {
		for text := range strings.Lines(string(small(root, ".git/packed-refs"))) {
			if commit, name, ok := strings.Cut(strings.TrimSpace(text), " "); ok && name == ref {
				head = commit
			}
		}
	}
	if !revisionOfHead.MatchString(head) {
		return ""
	}
	return head
}

func firstLine(root fs.FS, name string) string {
	first, _, _ := strings.Cut(string(small(root, name)), "\n")
	return strings.TrimSpace(first)
}

// small is what a regular file holds, up to a bound, or nothing.
func small(root fs.FS, name string) []byte {
	if !fs.ValidPath(name) {
		return nil
	}
	if info, err := fs.Lstat(root, name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	file, err := root.Open(name)
	if err != nil {
		return nil
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxParsed))
	if err != nil {
		return nil
	}
	return data
}

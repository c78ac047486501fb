package conformance

import (
	"slices"
	"strconv"
)

// codes are the numbers of JSON-RPC 2.0 and of A2A 1.0 by the constant of
// package a2a that has each (specification 1.0.1, sections 5.4 and 9.5).
var codes = []struct {
	constant string
	number   int
}{
	{"CodeParse", -32700},
	{"CodeInvalidRequest", -32600},
	{"CodeMethodNotFound", -32601},
	{"CodeInvalidParams", invalidParams},
	{"CodeInternal", -32603},
	{"CodeTaskNotFound", taskNotFound},
	{"CodeTaskNotCancelable", -32002},
	{"CodePushNotificationNotSupported", -32003},
	{"CodeUnsupportedOperation", -32004},
	{"CodeContentTypeNotSupported", -32005},
	{"CodeInvalidAgentResponse", -32006},
	{"CodeExtendedAgentCardNotConfigured", -32007},
	{"CodeExtensionSupportRequired", -32008},
	{"CodeVersionNotSupported", wrongVersion},
}

const (
	invalidParams = -32602
	taskNotFound  = -32001
	wrongVersion  = -32009
)

var (
	// refusals are the codes by which a server says that it does not do what
	// is asked.
	refusals = []int{-32601, -32003, -32004, -32007, wrongVersion}

	// atWork are those about parameters or a task, which are the operation at
	// work; zero is no error.
	atWork = []int{0, invalidParams, taskNotFound, -32002, -32005, -32008}
)

func isCode(number int) bool {
	for _, code := range codes {
		if code.number == number {
			return true
		}
	}
	return false
}

// errorCodes compares the codes of package a2a with those of the specification.
func (c *checker) errorCodes(written map[string]string) {
	const next = "change it back: the numbers are the specification's"
	c.begin("error codes")
	known := make(map[string]bool)
	for _, code := range codes {
		known[code.constant] = true
		c.same("error code", codeSource+" "+code.constant, strconv.Itoa(code.number), written[code.constant], next)
	}
	for _, name := range sorted(written) {
		if !known[name] {
			c.differs("error code", codeSource+" "+name, "nothing", bounded(written[name]), next)
		}
	}
}

// said is in words what a server does with an operation, as its answer tells.
func said(got answer) string {
	code := strconv.Itoa(got.code)
	switch {
	case slices.Contains(atWork, got.code):
		return served
	case !isCode(got.code):
		return refused + " with " + code + ", which is no code of A2A"
	case slices.Contains(refusals, got.code):
		return inWords(refused, got.code)
	}
	return "answered with " + code
}

package partner_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/legation/legation/interop/oracle"
)

// strict reads everything of ours that goes over the wire as the strictest
// peer does: by the oracle, without tolerance for members that 1.0 does not
// have, and with a look at each REQUIRED one. It is safe for concurrent use.
type strict struct {
	mu     sync.Mutex
	faults []string
	seen   int
}

// report fails the test for each fault, and if nothing was read.
func (s *strict) report(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, fault := range s.faults {
		t.Error(fault)
	}
	t.Logf("%d messages of ours read strictly", s.seen)
	if s.seen == 0 {
		t.Error("no message of ours was read")
	}
}

// read checks one envelope: the params of a request, or the result of an
// answer to a method.
func (s *strict) read(method string, envelope []byte, member string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var members map[string]jsontext.Value
	if err := json.Unmarshal(envelope, &members); err != nil {
		s.faults = append(s.faults, fmt.Sprintf("%s: %v", method, err))
		return
	}
	text, ok := members[member]
	if !ok {
		return // an error
	}
	s.seen++
	described := oracle.File.Services().Get(0).Methods().ByName(protoreflect.Name(method))
	if described == nil {
		s.faults = append(s.faults, "no such method: "+method)
		return
	}
	side := described.Input()
	if member == "result" {
		side = described.Output()
	}
	m := (&emptypb.Empty{}).ProtoReflect()
	if side.ParentFile() == oracle.File {
		m = oracle.NewMessage(string(side.Name()))
	}
	if err := protojson.Unmarshal(text, m.Interface()); err != nil {
		s.faults = append(s.faults, fmt.Sprintf("%s: %s: %v", method, member, err))
	}
	s.faults = append(s.faults, lacking(text, side, method+"."+member)...)
}

// lacking names the REQUIRED members that an object, or one in it, leaves out.
func lacking(text jsontext.Value, d protoreflect.MessageDescriptor, path string) (found []string) {
	if d.ParentFile() != oracle.File {
		return nil
	}
	var members map[string]jsontext.Value
	if json.Unmarshal(text, &members) != nil {
		return []string{path + ": not an object"}
	}
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		value, ok := members[f.JSONName()]
		at := path + "." + f.JSONName()
		switch {
		case !ok && oracle.Required(f):
			found = append(found, at+" is missing")
		case !ok || f.Message() == nil || f.IsMap():
		case f.IsList():
			var elements []jsontext.Value
			if json.Unmarshal(value, &elements) != nil {
				found = append(found, at+": not an array")
			}
			for _, element := range elements {
				found = append(found, lacking(element, f.Message(), at)...)
			}
		default:
			found = append(found, lacking(value, f.Message(), at)...)
		}
	}
	return found
}

func methodOf(request []byte) string {
	var envelope struct {
		Method string `json:"method"`
	}
	_ = json.Unmarshal(request, &envelope)
	return envelope.Method
}

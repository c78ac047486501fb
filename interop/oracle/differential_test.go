package oracle_test

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/interop/oracle"
)

// messageNames are the messages by which a fuzzer's number names them.
var messageNames = slices.Sorted(maps.Keys(codecs))

// spellings are the ways in which the oracle can write one value.
var spellings = map[string]protojson.MarshalOptions{
	"plain":        {},
	"proto names":  {UseProtoNames: true},
	"enum numbers": {UseEnumNumbers: true},
	"all members":  {EmitUnpopulated: true},
	"defaults":     {EmitDefaultValues: true, Multiline: true},
}

// incomplete are the violations of a value that is well formed and lacks
// something the protocol asks for, which ProtoJSON does not know.
var incomplete = []a2a.Reason{a2a.Missing, a2a.Empty, a2a.OneofMissing, a2a.Shape, a2a.TooMany}

// checkAgreement holds our codec against the oracle's for one value, however
// the oracle spells it: we read the value the oracle means, and the oracle
// reads what we write, strictly, as that value again.
func checkAgreement(t *testing.T, name string, m proto.Message, met func(string)) {
	t.Helper()
	want := adjusted(m, met)
	for spelling, options := range spellings {
		text, err := options.Marshal(m)
		if err != nil {
			t.Fatalf("oracle: %v", err)
		}
		ours, violations, err := codecs[name].recode(text)
		if err != nil {
			t.Fatalf("%s, %s: %v\n%s", name, spelling, err, text)
		}
		for _, v := range violations {
			if !slices.Contains(incomplete, v.Reason) {
				t.Errorf("%s, %s: %s: %s: %s\n%s", name, spelling, v.Field, v.Reason, v.Description, text)
			}
		}
		got := m.ProtoReflect().New().Interface()
		if err := protojson.Unmarshal(ours, got); err != nil {
			t.Fatalf("%s, %s: the oracle does not read what we write: %v\n%s\n%s", name, spelling, err, text, ours)
		}
		if diff := difference(want, got); diff != "" {
			t.Errorf("%s, %s (-oracle +ours):\n%s\n%s\n%s", name, spelling, diff, text, ours)
		}
		again, _, err := codecs[name].recode(ours)
		if err != nil || !bytes.Equal(ours, again) {
			t.Errorf("%s, %s: written again, error %v:\n%s\n%s", name, spelling, err, ours, again)
		}
	}
}

// difference says how two messages of the oracle differ, empty if they do not.
func difference(want, got proto.Message) string {
	if proto.Equal(want, got) {
		return ""
	}
	return cmp.Diff(prototext.Format(want), prototext.Format(got))
}

// Every member of every message, alone, with a value and with its zero value,
// means the same to the oracle and to us: so do name, type and presence.
func TestEveryMemberMeansTheSame(t *testing.T) {
	for _, name := range messageNames {
		empty := oracle.NewMessage(name)
		if empty == nil {
			t.Errorf("message %s is not in the oracle", name)
			continue
		}
		fields := empty.Descriptor().Fields()
		checkAgreement(t, name, empty.Interface(), func(string) {})
		for i := range fields.Len() {
			f := fields.Get(i)
			for choice := range 8 {
				m := empty.New()
				s := source{byte(choice), byte(choice), 1, byte(choice), 2, byte(choice), 1, 1}
				setOne(&s, m, f)
				checkAgreement(t, name, m.Interface(), func(string) {})
			}
		}
	}
}

// Values made at random mean the same to the oracle and to us, and every
// wanted difference is met among them: the list has no entry that is not true.
func TestDifferential(t *testing.T) {
	met := map[string]int{}
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range messageNames {
		for range 200 {
			s := make(source, random.IntN(400))
			for i := range s {
				s[i] = byte(random.IntN(256))
			}
			m := oracle.NewMessage(name)
			generate(&s, m)
			checkAgreement(t, name, m.Interface(), func(difference string) { met[difference]++ })
			if t.Failed() {
				return
			}
		}
	}
	for _, w := range wanted {
		t.Logf("wanted: %s, %d times: %s", w.name, met[w.name], w.why)
		if met[w.name] == 0 {
			t.Errorf("the wanted difference %q is not met", w.name)
		}
	}
}

func FuzzDifferential(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for i := range messageNames {
		choices := make([]byte, 200)
		for j := range choices {
			choices[j] = byte(random.IntN(256))
		}
		f.Add(uint8(i), choices)
	}
	f.Fuzz(func(t *testing.T, message uint8, choices []byte) {
		name := messageNames[int(message)%len(messageNames)]
		s := source(choices[:min(len(choices), 1<<12)])
		m := oracle.NewMessage(name)
		generate(&s, m)
		checkAgreement(t, name, m.Interface(), func(string) {})
	})
}

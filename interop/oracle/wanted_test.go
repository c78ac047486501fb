package oracle_test

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/legation/legation/interop/oracle"
)

// wanted lists how a value that went through our codec differs from the
// oracle's, on purpose. Each changes a message of the oracle accordingly and
// reports whether there was something to change. There are no others.
var wanted = []struct {
	name, why string
	apply     func(m protoreflect.Message) bool
}{
	{
		"REQUIRED messages are present",
		"a REQUIRED member is always written (specification 1.0.1, section 5.7), where ProtoJSON leaves out what is absent",
		func(m protoreflect.Message) bool {
			changed := false
			fields := m.Descriptor().Fields()
			for i := range fields.Len() {
				f := fields.Get(i)
				if oracle.Required(f) && f.Message() != nil && f.Cardinality() != protoreflect.Repeated && !m.Has(f) {
					m.Mutable(f)
					changed = true
				}
			}
			return changed
		},
	},
	{
		"timestamps are cut to milliseconds",
		"that is the precision the specification asks for (1.0.1, section 5.6.1)",
		func(m protoreflect.Message) bool {
			stamp, ok := m.Interface().(*timestamppb.Timestamp)
			if !ok || stamp.Nanos%1_000_000 == 0 {
				return false
			}
			stamp.Nanos -= stamp.Nanos % 1_000_000
			return true
		},
	},
	{
		"the first millisecond of the year 1 is no time",
		"it is the zero time.Time, which is how our types say absent; no task had a status then",
		func(m protoreflect.Message) bool {
			changed := false
			fields := m.Descriptor().Fields()
			for i := range fields.Len() {
				f := fields.Get(i)
				if f.Message() == nil || f.IsList() || f.IsMap() || !m.Has(f) {
					continue
				}
				stamp, ok := m.Get(f).Message().Interface().(*timestamppb.Timestamp)
				if ok && stamp.Seconds == (time.Time{}).Unix() && stamp.Nanos < 1_000_000 {
					m.Clear(f)
					changed = true
				}
			}
			return changed
		},
	},
}

// adjusted returns a copy of a message with the wanted differences in it, and
// calls met for each that occurs.
func adjusted(m proto.Message, met func(name string)) proto.Message {
	changed := proto.Clone(m)
	adjust(changed.ProtoReflect(), met)
	return changed
}

func adjust(m protoreflect.Message, met func(name string)) {
	for _, w := range wanted {
		if w.apply(m) {
			met(w.name)
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap() && f.MapValue().Message() != nil:
			v.Map().Range(func(_ protoreflect.MapKey, entry protoreflect.Value) bool {
				adjust(entry.Message(), met)
				return true
			})
		case f.IsList() && f.Message() != nil:
			for i := range v.List().Len() {
				adjust(v.List().Get(i).Message(), met)
			}
		case f.Message() != nil && !f.IsMap() && !f.IsList():
			adjust(v.Message(), met)
		}
		return true
	})
}

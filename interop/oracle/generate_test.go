package oracle_test

import (
	"math"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// source makes choices from bytes, so that the fuzzer can steer them. Once
// they are used up every choice is the first, which makes the least value.
type source []byte

// below returns a number below n, which is at most 256.
func (s *source) below(n int) int {
	if len(*s) == 0 {
		return 0
	}
	choice := int((*s)[0]) % n
	*s = (*s)[1:]
	return choice
}

var texts = []string{
	"", "text", "a/b", "é", "\u2028\u2029", "\x00\x1f\x7f", "💥 \ufffd\ufeff", "<&>\"'\\", "null", "0", " padded ", "__proto__", "TASK_STATE_WORKING",
}

// generate sets members of a message of the oracle as the source chooses.
func generate(s *source, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if s.below(2) == 1 {
			setOne(s, m, f)
		}
	}
}

// setOne sets one member of a message.
func setOne(s *source, m protoreflect.Message, f protoreflect.FieldDescriptor) {
	switch {
	case f.IsMap():
		entries := m.Mutable(f).Map()
		for range s.below(3) {
			key := protoreflect.ValueOfString(texts[s.below(len(texts))]).MapKey()
			if f.MapValue().Message() == nil {
				entries.Set(key, scalar(s, f.MapValue()))
				continue
			}
			value := entries.NewValue()
			generate(s, value.Message())
			entries.Set(key, value)
		}
	case f.IsList():
		list := m.Mutable(f).List()
		for range s.below(3) {
			if f.Message() == nil {
				list.Append(scalar(s, f))
				continue
			}
			generate(s, list.AppendMutable().Message())
		}
	case f.Message() != nil:
		if known := wellKnown(s, f.Message()); known != nil {
			m.Set(f, protoreflect.ValueOfMessage(known.ProtoReflect()))
			return
		}
		generate(s, m.Mutable(f).Message())
	default:
		m.Set(f, scalar(s, f))
	}
}

func scalar(s *source, f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(texts[s.below(len(texts))])
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(s.below(2) == 1)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32([]int32{0, 1, -1, 50, math.MaxInt32, math.MinInt32}[s.below(6)])
	case protoreflect.BytesKind:
		content := make([]byte, s.below(8))
		for i := range content {
			content[i] = byte(s.below(256))
		}
		return protoreflect.ValueOfBytes(content)
	case protoreflect.EnumKind:
		values := f.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(s.below(values.Len())).Number())
	}
	panic("no sample for " + f.FullName())
}

func wellKnown(s *source, d protoreflect.MessageDescriptor) proto.Message {
	switch d.FullName() {
	case "google.protobuf.Struct":
		return structure(s, 0)
	case "google.protobuf.Value":
		return value(s, 0)
	case "google.protobuf.Timestamp":
		return &timestamppb.Timestamp{
			Seconds: []int64{0, 1767261600, -1, 253402300799, -62135596800}[s.below(5)],
			Nanos:   []int32{0, 500_000_000, 999_999_999, 1_000_000, 123_456_789, 1}[s.below(6)],
		}
	}
	return nil
}

func structure(s *source, depth int) *structpb.Struct {
	members := map[string]*structpb.Value{}
	for range s.below(3) {
		members[texts[s.below(len(texts))]] = value(s, depth+1)
	}
	return &structpb.Struct{Fields: members}
}

var numbers = []float64{0, 1, -1, 1.5, 1 << 53, 1e21, -1e-7, 5e-324, math.MaxFloat64, 0.1}

func value(s *source, depth int) *structpb.Value {
	kinds := 6
	if depth > 4 {
		kinds = 4
	}
	switch s.below(kinds) {
	case 1:
		return structpb.NewBoolValue(s.below(2) == 1)
	case 2:
		return structpb.NewStringValue(texts[s.below(len(texts))])
	case 3:
		return structpb.NewNumberValue(numbers[s.below(len(numbers))])
	case 4:
		return structpb.NewStructValue(structure(s, depth))
	case 5:
		list := &structpb.ListValue{}
		for range s.below(3) {
			list.Values = append(list.Values, value(s, depth+1))
		}
		return structpb.NewListValue(list)
	}
	return structpb.NewNullValue()
}

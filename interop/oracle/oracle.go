// Package oracle reads the protocol as the official Go SDK's protobuf code
// embeds it. Its tests hold the wire table and the package a2a against it, and
// their JSON against protojson.
package oracle

import (
	"slices"

	"github.com/a2aproject/a2a-go/v2/a2apb/v1"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// File is the file of the protocol, a2a.proto at 1.0.1.
var File = a2apb.File_a2av1_proto

// NewMessage returns an empty message of the protocol, or nil if it has none of
// that name.
func NewMessage(name string) protoreflect.Message {
	found, err := protoregistry.GlobalTypes.FindMessageByName(File.Package().Append(protoreflect.Name(name)))
	if err != nil {
		return nil
	}
	return found.New()
}

// Required reports whether a field is annotated REQUIRED.
func Required(f protoreflect.FieldDescriptor) bool {
	behaviours, _ := proto.GetExtension(f.Options(), annotations.E_FieldBehavior).([]annotations.FieldBehavior)
	return slices.Contains(behaviours, annotations.FieldBehavior_REQUIRED)
}

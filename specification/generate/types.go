package main

import "strings"

// writeTypes writes the constants of the table, the enums and the messages.
func writeTypes(t *table, s *source) {
	s.header("time")
	writeRevision(t, s)
	writeMethods(t, s)
	for _, e := range t.Enums {
		writeEnum(e, s)
	}
	for _, m := range t.Messages {
		writeMessage(t, m, s)
		if name, members := m.oneof(); name != "" {
			writeOneof(t, m, name, members, s)
		}
	}
}

func writeRevision(t *table, s *source) {
	s.line("// The revision of the protocol the package was generated from.")
	s.line("const (")
	s.comment("SpecificationVersion is the release of the specification.")
	s.line("SpecificationVersion = %q", t.Specification)
	s.comment("ProtoSHA256 is the SHA-256 of a2a.proto at that release, in hexadecimal.")
	s.line("ProtoSHA256 = %q", t.ProtoSHA256)
	s.comment("ProtoPackage is the proto package of all messages.")
	s.line("ProtoPackage = %q", t.Package)
	s.line(")\n")
}

func writeMethods(t *table, s *source) {
	s.comment("The methods of the JSON-RPC binding, named as the operations of " + t.Service + " in a2a.proto.")
	s.line("const (")
	for _, m := range t.Methods {
		s.line("Method%s = %q", m.Name, m.Name)
	}
	s.line(")\n")
	s.comment("Methods returns the names of all methods, in the order of a2a.proto.")
	s.line("func Methods() []string {\nreturn []string{")
	for _, m := range t.Methods {
		s.line("Method%s,", m.Name)
	}
	s.line("}\n}\n")
	s.comment("Streams reports whether a method answers with a stream of StreamResponse.")
	s.line("func Streams(method string) bool {")
	var names []string
	for _, m := range t.Methods {
		if m.ServerStreaming {
			names = append(names, "Method"+m.Name)
		}
	}
	s.line("switch method {\ncase %s:\nreturn true\n}\nreturn false\n}\n", strings.Join(names, ", "))
}

func writeEnum(e enum, s *source) {
	s.comment(e.Name + " is " + docs[e.Name] + " (a2a.proto " + e.Name + "). Values are the wire's names, and the " +
		"unspecified one is the empty string. A value a later revision added is kept as it was received, and is not Known.")
	s.line("type %s string\n", e.Name)
	s.line("// The values of %s.", e.Name)
	s.line("const (")
	for _, v := range e.Values {
		text := v.Name
		if v.Number == 0 {
			text = ""
		}
		s.line("%s %s = %q // %s", enumConst(v.Name), e.Name, text, docs[v.Name])
	}
	s.line(")\n")

	s.comment("Number returns the number of a known value in a2a.proto, and whether the value is known. Unspecified is known.")
	s.line("func (v %s) Number() (int32, bool) {\nswitch v {", e.Name)
	for _, v := range e.Values {
		s.line("case %s: return %d, true", enumConst(v.Name), v.Number)
	}
	s.line("}\nreturn 0, false\n}\n")
	s.comment("Known reports whether the value is one of this revision, unspecified included.")
	s.line("func (v %s) Known() bool {\n_, ok := v.Number()\nreturn ok\n}\n", e.Name)
	s.comment("String returns the name the value has on the wire.")
	s.line("func (v %s) String() string {\nif v == %s {\nreturn %q\n}\nreturn string(v)\n}\n",
		e.Name, enumConst(e.Values[0].Name), e.Values[0].Name)
}

func writeMessage(t *table, m message, s *source) {
	what := docs[m.Name]
	if first, _, _ := strings.Cut(what, " "); !strings.HasSuffix(first, "s") || first == "this" {
		what = "is " + what
	}
	s.comment(m.Name + " " + what + " (a2a.proto " + m.Name + ").")
	s.line("type %s struct {", m.Name)
	written := false
	for i, f := range m.Fields {
		if f.Oneof != "" {
			if !written {
				writeOneofField(t, m, s)
				written = true
			}
			continue
		}
		if i > 0 {
			s.line("")
		}
		text := goName(f.Name) + " is a2a.proto " + m.Name + "." + f.Name + "; " + fieldPresence(f) + "."
		if more := docs[m.Name+"."+f.Name]; more != "" {
			text += " " + more
		}
		s.comment(text)
		s.line("%s %s", goName(f.Name), t.fieldType(m, f))
	}
	s.line("}\n")
}

func writeOneofField(t *table, m message, s *source) {
	name, members := m.oneof()
	s.comment(goName(name) + " is the oneof " + name + " of a2a.proto " + m.Name + ": one of " +
		memberList(t, m, members) + ". Nil when none was received.")
	s.line("%s %s", goName(name), oneofType(m, name))
}

func writeOneof(t *table, m message, name string, members []field, s *source) {
	typ := oneofType(m, name)
	s.comment(typ + " is what a " + m.Name + " holds: one of " + memberList(t, m, members) + ".")
	s.line("type %s interface{ is%s() }\n", typ, typ)
	for _, f := range members {
		member := t.memberType(m, f)
		if !t.isMessage(f.Type) {
			s.comment(member + " is a2a.proto " + m.Name + "." + f.Name + ": " + docs[m.Name+"."+f.Name] + ".")
			s.line("type %s %s\n", member, elementType(m, f))
		}
		s.line("func (%s) is%s() {}\n", member, typ)
	}
}

func memberList(t *table, m message, members []field) string {
	var names []string
	for _, f := range members {
		names = append(names, t.memberType(m, f))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

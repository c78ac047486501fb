package main

// writeEncode writes AppendJSON and MarshalJSON of every message.
func writeEncode(t *table, s *source) {
	s.header()
	for _, m := range t.Messages {
		e := encoder{table: t, message: m, source: s}
		e.write()
	}
}

// encoder writes the encoder of one message. It knows while writing whether
// the member at hand can be the first of the object, so that most commas are
// part of constant text.
type encoder struct {
	*source
	table   *table
	message message

	opened bool // the brace has been written
	comma  bool // some member certainly precedes
}

func (e *encoder) write() {
	m := e.message
	e.comment("AppendJSON appends m as one line of JSON.")
	e.line("func (m *%s) AppendJSON(b []byte) []byte {", m.Name)
	oneof, members := m.oneof()
	for _, f := range m.Fields {
		switch {
		case f.Oneof == "":
			e.field(f)
		case f.Name == members[0].Name:
			e.oneof(oneof, members)
		}
	}
	e.open()
	e.line("return append(b, '}')\n}\n")
	e.comment("MarshalJSON returns what AppendJSON appends; it never fails.")
	e.line("func (m %s) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil), nil }\n", m.Name)
}

// open writes the brace where no member has.
func (e *encoder) open() {
	if !e.opened {
		e.line("b = append(b, '{')")
		e.opened = true
	}
}

// name writes a member's name and what follows it at once.
func (e *encoder) name(f field, after string) {
	text := `"` + f.JSON + `":` + after
	switch {
	case !e.opened:
		e.line("b = append(b, `{%s`...)", text)
		e.opened = true
	case e.comma:
		e.line("b = append(b, `,%s`...)", text)
	default:
		e.line("b = appendMember(b, `%s`)", text)
	}
	if f.Required {
		e.comma = true
	}
}

func (e *encoder) field(f field) {
	access := "m." + goName(f.Name)
	if f.Required {
		e.value(f, access)
		return
	}
	e.open()
	e.line("if %s {", e.set(f, access))
	e.value(f, access)
	e.line("}")
}

// set is the condition under which a member that is not required is written.
func (e *encoder) set(f field, access string) string {
	switch {
	case f.Presence == "optional", f.Presence == "message" && e.table.isMessage(f.Type):
		return access + " != nil"
	case f.Presence == "list", f.Presence == "map", f.Type == typeStruct, f.Type == typeValue:
		return "len(" + access + ") > 0"
	case f.Type == typeTimestamp:
		return "!" + access + ".IsZero()"
	case f.Type == "bool":
		return access
	case f.Type == "int32":
		return access + " != 0"
	}
	return access + ` != ""`
}

func (e *encoder) value(f field, access string) {
	switch f.Presence {
	case "list":
		e.name(f, "[")
		e.line("for i := range %s {\nif i > 0 {\nb = append(b, ',')\n}", access)
		e.scalar(f, access+"[i]")
		e.line("}\nb = append(b, ']')")
	case "map":
		e.name(f, "{")
		e.line("for i, key := range sortedKeys(%s) {\nif i > 0 {\nb = append(b, ',')\n}", access)
		e.line("b = appendString(b, key)\nb = append(b, ':')\nvalue := %s[key]", access)
		e.scalar(f, "value")
		e.line("}\nb = append(b, '}')")
	case "optional":
		e.name(f, "")
		e.scalar(f, "*"+access)
	default:
		e.name(f, "")
		e.scalar(f, access)
	}
}

// scalar writes one value of a field, an element where it has several.
func (e *encoder) scalar(f field, access string) {
	typ := f.Type
	if typ == "map" {
		typ = f.MapValue
	}
	switch {
	case e.table.isMessage(typ):
		e.line("b = %s.AppendJSON(b)", access)
	case e.table.isEnum(typ):
		e.line("b = appendString(b, %s.String())", access)
	case typ == "string" && (f.Oneof != "" || stringType(e.message, f) != "string"):
		e.line("b = appendString(b, string(%s))", access)
	default:
		e.line("b = append%s(b, %s)", map[string]string{
			"string": "String", "bytes": "Bytes", "bool": "Bool", "int32": "Int32",
			typeStruct: "Struct", typeValue: "Value", typeTimestamp: "Time",
		}[typ], access)
	}
}

// oneof writes whichever alternative is set. A nil message counts as none.
func (e *encoder) oneof(name string, members []field) {
	e.open()
	e.line("switch v := m.%s.(type) {", goName(name))
	for _, f := range members {
		e.line("case %s:", e.table.memberType(e.message, f))
		if e.table.isMessage(f.Type) {
			e.line("if v != nil {")
			e.name(f, "")
			e.scalar(f, "v")
			e.line("}")
		} else {
			e.name(f, "")
			e.scalar(f, "v")
		}
	}
	e.line("}")
}

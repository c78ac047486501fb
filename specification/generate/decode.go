package main

import (
	"fmt"
	"strings"
)

// writeDecode writes the decoder of every message and the names of the enums.
func writeDecode(t *table, s *source) {
	s.header()
	for _, e := range t.Enums {
		s.comment("names" + e.Name + " holds the wire's names by number.")
		s.line("var names%s = []string{", e.Name)
		for _, v := range e.Values {
			s.line("%q,", v.Name)
		}
		s.line("}\n")
	}
	for _, m := range t.Messages {
		d := decoder{source: s, table: t, message: m}
		d.write()
	}
}

// decoder writes the decoder of one message.
type decoder struct {
	*source
	table   *table
	message message
}

func (d *decoder) write() {
	m := d.message
	d.line("func (m *%s) decode(d *decoder) bool {", m.Name)
	d.line("var p presence")
	d.line("for d.more() {\nswitch string(d.name()) {")
	for i, f := range m.Fields {
		names := fmt.Sprintf("%q", f.JSON)
		if f.Name != f.JSON {
			names += fmt.Sprintf(", %q", f.Name)
		}
		d.line("case %s:", names)
		enter := "enter"
		if f.Type == typeValue {
			enter = "enterAny"
		}
		d.line("if d.%s(&p, 1<<%d, %q) {", enter, i, f.JSON)
		if f.Oneof != "" {
			d.member(f)
		} else {
			d.field(f)
		}
		d.line("d.leave()\n}")
	}
	if wrong, ok := misnamed[m.Name]; ok {
		d.line("case %q:\np.misnamed = d.skip() != 'n'", wrong.member)
	}
	d.line("default:")
	if wholeMap[m.Name] != "" {
		d.line("p.unknown = true")
	}
	d.line("d.skip()\n}\n}")
	d.shape()
	d.complete()
	d.line("}\n")

	d.comment("UnmarshalJSON reads m, and fails on bad JSON and on every violation. Decode tells the two apart.")
	d.line("func (m *%s) UnmarshalJSON(data []byte) error { return unmarshal(data, m) }\n", m.Name)
}

// field reads the value of a field into the message.
func (d *decoder) field(f field) {
	target := "m." + goName(f.Name)
	element := elementType(d.message, f)
	nonEmpty := f.Required && !mayBeEmpty[d.message.Name+"."+f.Name]
	switch {
	case f.Presence == "list" && f.Type == "string":
		d.line("%s = decodeStrings[%s](d, %t)", target, element, nonEmpty)
	case f.Presence == "list":
		d.line("%s = decodeList[%s](d, %t)", target, element, nonEmpty)
	case f.Presence == "map" && f.MapValue == "string":
		d.line("%s = decodeStringMap(d)", target)
	case f.Presence == "map":
		d.line("%s = decodeMap[%s](d)", target, element)
	case f.Presence == "optional":
		d.line("%s = new(%s)", target, element)
		d.scalar(f, target, false)
	case d.table.isMessage(f.Type) && f.Required:
		d.line("if d.object() {\n%s.decode(d)\n}", target)
	case d.table.isMessage(f.Type):
		d.line("if d.object() {\n%s = new(%s)\n%s.decode(d)\n}", target, element, target)
	default:
		d.scalar(f, "&"+target, nonEmpty)
	}
}

// scalar reads into the variable a pointer leads to.
func (d *decoder) scalar(f field, pointer string, nonEmpty bool) {
	d.line("%s", d.read(f, pointer, nonEmpty))
}

func (d *decoder) read(f field, pointer string, nonEmpty bool) string {
	switch {
	case d.table.isEnum(f.Type):
		return fmt.Sprintf("d.enum((*string)(%s), names%s, %t)", pointer, f.Type, nonEmpty)
	case f.Type == "string" && stringType(d.message, f) != "string":
		return fmt.Sprintf("d.text((*string)(%s), %t)", pointer, nonEmpty)
	case f.Type == "string":
		return fmt.Sprintf("d.text(%s, %t)", pointer, nonEmpty)
	}
	return fmt.Sprintf("d.%s(%s)", map[string]string{
		"bytes": "bytes", "bool": "bool", "int32": "int32",
		typeStruct: "structure", typeValue: "value", typeTimestamp: "time",
	}[f.Type], pointer)
}

// member reads one alternative of the oneof; the first that occurs is kept.
func (d *decoder) member(f field) {
	target := "m." + goName(f.Oneof)
	if d.table.isMessage(f.Type) {
		d.line("if d.object() {\nv := new(%s)\nv.decode(d)", f.Type)
		d.line("if %s == nil {\n%s = v\n}\n}", target, target)
		return
	}
	d.line("var v %s", elementType(d.message, f))
	d.line("if %s && %s == nil {", d.read(f, "&v", false), target)
	d.line("%s = %s(v)\n}", target, d.table.memberType(d.message, f))
}

// shape writes the checks that keep a mis-shaped security requirement from
// reading as none.
func (d *decoder) shape() {
	name := d.message.Name
	if wrong, ok := misnamed[name]; ok {
		d.line("if p.misnamed && len(m.%s) == 0 {", goName(wrong.field))
		d.line("d.misnamed(%q, %q)\n}", wrong.member, d.json(wrong.field))
	}
	if whole := wholeMap[name]; whole != "" {
		d.line("if len(m.%s) == 0 && (p.unknown || p.seen != p.have) {", goName(whole))
		d.line("d.misshaped(%q)\n}", d.json(whole))
	}
}

// complete writes the checks of oneofs and REQUIRED at the end of an object.
func (d *decoder) complete() {
	var required, names, members []string
	for i, f := range d.message.Fields {
		bit := fmt.Sprintf("1<<%d", i)
		switch {
		case f.Oneof != "":
			members = append(members, bit)
			names = append(names, f.JSON)
		case f.Required: // never beside a oneof, see check
			required = append(required, bit)
			names = append(names, f.JSON)
		}
	}
	switch {
	case members != nil:
		d.line("return d.oneof(p.have, %s, %q)", strings.Join(members, "|"), strings.Join(names, ", "))
	case required != nil:
		mask := strings.Join(required, "|")
		d.line("return p.have&(%s) == %s || d.required(p.have, %s, %s)", mask, mask, mask, quoted(names))
	default:
		d.line("return true")
	}
}

// json gives the wire's name of a field of the message.
func (d *decoder) json(snake string) string {
	for _, f := range d.message.Fields {
		if f.Name == snake {
			return f.JSON
		}
	}
	return snake
}

func quoted(names []string) string {
	var list []string
	for _, name := range names {
		list = append(list, fmt.Sprintf("%q", name))
	}
	return strings.Join(list, ", ")
}

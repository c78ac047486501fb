package a2a

import (
	"encoding/base64"
	"strings"
	"time"
)

// The methods here read one value into what a pointer leads to. They report
// whether it could be read; what could not be leaves the target as it was.

// text reads a string; a REQUIRED one must not be empty.
func (d *decoder) text(to *string, required bool) bool {
	raw := d.read()
	if raw == nil || raw[0] != '"' {
		d.wrongType("a string", raw)
		return false
	}
	*to = string(d.unquote(raw))
	if required && *to == "" {
		d.report(Empty, "must not be empty")
	}
	return true
}

func (d *decoder) bool(to *bool) bool {
	raw := d.read()
	if raw == nil || raw[0] != 't' && raw[0] != 'f' {
		d.wrongType("a boolean", raw)
		return false
	}
	*to = raw[0] == 't'
	return true
}

// enum reads an enum by name or number. The text of an unknown one is kept.
func (d *decoder) enum(to *string, names []string, required bool) bool {
	raw := d.read()
	if raw == nil {
		return false
	}
	switch raw[0] {
	case '"':
		text := d.unquote(raw)
		for number, name := range names {
			if name == string(text) {
				d.known(to, names, number, required)
				return true
			}
		}
		*to = string(text)
		d.unknown(text, names)
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		number, fault := parseInt32(raw)
		switch {
		case fault != 0:
			d.report(fault, "must be a name or an integer, not "+quote(raw))
			return false
		case number >= 0 && int(number) < len(names):
			d.known(to, names, int(number), required)
		default:
			text := appendInt32(nil, number)
			*to = string(text)
			d.unknown(text, names)
		}
	default:
		d.wrongType("the name of an enum value", raw)
		return false
	}
	return true
}

func (d *decoder) known(to *string, names []string, number int, required bool) {
	if number > 0 {
		*to = names[number]
		return
	}
	*to = ""
	if required {
		d.report(Empty, "must not be "+names[0]+"; valid are "+strings.Join(names[1:], ", "))
	}
}

func (d *decoder) unknown(text []byte, names []string) {
	d.report(UnknownEnum, "unknown value "+quote(text)+"; valid are "+strings.Join(names[1:], ", "))
}

// int32 reads an integer, written as a number or as a string holding one.
func (d *decoder) int32(to *int32) bool {
	raw := d.read()
	if raw == nil {
		return false
	}
	text := raw
	switch raw[0] {
	case '"':
		text = d.unquote(raw)
	case '{', '[', 't', 'f', 'n':
		d.wrongType("an integer", raw)
		return false
	}
	number, fault := parseInt32(text)
	switch fault {
	case 0:
		*to = number
		return true
	case OutOfRange:
		d.report(fault, quote(text)+" is outside -2147483648..2147483647")
	default:
		d.report(fault, "must be an integer, not "+quote(text))
	}
	return false
}

// bytes reads base64 in either alphabet, with or without padding. Line breaks,
// which the decoder of the standard library passes over, are refused.
func (d *decoder) bytes(to *[]byte) bool {
	raw := d.read()
	if raw == nil || raw[0] != '"' {
		d.wrongType("a base64 string", raw)
		return false
	}
	text := d.unquote(raw)
	encoding := base64.StdEncoding
	broken := false
	for _, c := range text {
		switch c {
		case '-', '_':
			encoding = base64.URLEncoding
		case '\r', '\n':
			broken = true
		}
	}
	if len(text)%4 != 0 {
		encoding = encoding.WithPadding(base64.NoPadding)
	}
	out := make([]byte, encoding.DecodedLen(len(text)))
	n, err := encoding.Decode(out, text)
	if err != nil || broken {
		d.report(BadEncoding, "must be base64 without white space")
		return false
	}
	*to = out[:n]
	return true
}

// time reads a timestamp of RFC 3339 with up to nine fractional digits.
func (d *decoder) time(to *time.Time) bool {
	raw := d.read()
	if raw == nil || raw[0] != '"' {
		d.wrongType("a timestamp string", raw)
		return false
	}
	text := d.unquote(raw)
	var t time.Time
	if !isTimestamp(text) || t.UnmarshalText(text) != nil {
		d.report(BadEncoding, quote(text)+" is not a timestamp such as 2026-01-02T03:04:05.678Z")
		return false
	}
	if t = t.UTC(); t.Before(minTime) || t.After(maxTime) {
		d.report(OutOfRange, quote(text)+" is outside the years 1 to 9999")
		return false
	}
	*to = t.Truncate(time.Millisecond)
	return true
}

// isTimestamp checks the form of RFC 3339, section 5.6, in capitals and with at
// most nine fractional digits. The parser of the standard library knows the
// calendar, but takes short hours, commas and odd offsets as well.
func isTimestamp(text []byte) bool {
	const dateTime = "0000-00-00T00:00:00"
	if len(text) <= len(dateTime) || !hasForm(text[:len(dateTime)], dateTime) {
		return false
	}
	zone := text[len(dateTime):]
	if zone[0] == '.' {
		fraction, rest := cutDigits(zone[1:])
		if len(fraction) == 0 || len(fraction) > 9 {
			return false
		}
		zone = rest
	}
	if string(zone) == "Z" {
		return true
	}
	return (hasForm(zone, "+00:00") || hasForm(zone, "-00:00")) && string(zone[1:3]) < "24" && string(zone[4:]) < "60"
}

// hasForm reports whether text equals form, in which 0 stands for any digit.
func hasForm(text []byte, form string) bool {
	if len(text) != len(form) {
		return false
	}
	for i, c := range text {
		if form[i] == '0' && (c < '0' || c > '9') || form[i] != '0' && c != form[i] {
			return false
		}
	}
	return true
}

// structure reads a free-form object.
func (d *decoder) structure(to *Struct) bool {
	raw := d.read()
	if raw == nil || raw[0] != '{' {
		d.wrongType("an object", raw)
		return false
	}
	return d.compact((*[]byte)(to), raw)
}

// value reads any value.
func (d *decoder) value(to *Value) bool {
	raw := d.read()
	return raw != nil && d.compact((*[]byte)(to), raw)
}

func (d *decoder) compact(to *[]byte, raw []byte) bool {
	out, ok := appendCompact(make([]byte, 0, len(raw)), raw)
	if !ok {
		d.report(OutOfRange, "holds a number beyond what a double can hold")
		return false
	}
	*to = out
	return true
}

package registry

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// field is what is known of one field of a spec. Its tags are
//
//	json     the name, and omitzero unless the field is required
//	default  what applies when it is left out, as it is written in a document
//	range    "least..most" of a number, duration, size or cost
//	max      most bytes of a text, or most items of a list
//	key      identifies an item of a list
//	hide     never shown in differences
//	empty    a list may be empty, which is not the same as left out
type field struct {
	index       int
	name        string
	required    bool
	fallback    string
	least, most string
	max         int
	key, hidden bool
	empty       bool
}

// Texts and lists without a limit of their own have these.
const (
	maxText  = 4096
	maxItems = 256
)

// fields returns the fields of a struct in order.
func fields(t reflect.Type) []field {
	all := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, options, _ := strings.Cut(tag.Get("json"), ",")
		f := field{
			index: i, name: name, required: options != "omitzero",
			fallback: tag.Get("default"), key: tag.Get("key") != "", hidden: tag.Get("hide") != "",
			empty: tag.Get("empty") != "",
		}
		f.least, f.most, _ = strings.Cut(tag.Get("range"), "..")
		f.max, _ = strconv.Atoi(tag.Get("max"))
		all = append(all, f)
	}
	return all
}

var timeType = reflect.TypeFor[time.Time]()

// set puts a scalar, as written, into a value. The error says what is wrong
// with it.
func set(v reflect.Value, written string) error {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if v.Type() != timeType {
			return u.UnmarshalText([]byte(written))
		}
		at, err := time.Parse(time.RFC3339, written)
		if err != nil || at.Year() > 9999 || at.Year() < 1 || at.IsZero() {
			return fmt.Errorf("write a time such as 2027-01-31T12:00:00Z")
		}
		v.Set(reflect.ValueOf(at.UTC()))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(written)
	case reflect.Bool:
		v.SetBool(written == "true")
	case reflect.Float64:
		f, err := strconv.ParseFloat(written, 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return fmt.Errorf("this is not a number that can be kept")
		}
		v.SetFloat(f)
	default:
		n, err := strconv.ParseInt(written, 10, 64)
		if err != nil {
			return fmt.Errorf("write a whole number")
		}
		v.SetInt(n)
	}
	return nil
}

// written is how a scalar is written.
func written(v reflect.Value) string {
	if v.Type() == timeType {
		return v.Interface().(time.Time).UTC().Format(time.RFC3339Nano)
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		text, err := m.MarshalText()
		if err != nil {
			return ""
		}
		return string(text)
	}
	switch v.Kind() {
	case reflect.String:
		return v.String()
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64)
	default:
		return strconv.FormatInt(v.Int(), 10)
	}
}

// outside says how a number lies outside its field's range, or nothing.
func (f field) outside(v reflect.Value) string {
	if f.least == "" {
		return ""
	}
	least, most := reflect.New(v.Type()).Elem(), reflect.New(v.Type()).Elem()
	if set(least, f.least) != nil || set(most, f.most) != nil {
		return ""
	}
	if v.Kind() == reflect.Float64 && v.Float() >= least.Float() && v.Float() <= most.Float() ||
		v.CanInt() && v.Int() >= least.Int() && v.Int() <= most.Int() {
		return ""
	}
	return "must be " + f.least + " to " + f.most
}

// Effective returns a copy of a spec in which every field that was left out has
// its default. Lists and pointers are shared with the original.
func Effective[S Secret | Provider | Configuration | Agent | RemoteClient | RemoteAgent](spec *S) *S {
	effective := *spec
	fill(reflect.ValueOf(&effective).Elem())
	return &effective
}

func fill(v reflect.Value) {
	for _, f := range fields(v.Type()) {
		value := v.Field(f.index)
		switch {
		case value.Kind() == reflect.Struct && value.Type() != timeType:
			fill(value)
		case value.Kind() == reflect.Slice && value.Type().Elem().Kind() == reflect.Struct:
			items := reflect.MakeSlice(value.Type(), value.Len(), value.Len())
			reflect.Copy(items, value)
			for i := range items.Len() {
				fill(items.Index(i))
			}
			if !value.IsNil() {
				value.Set(items)
			}
		case value.Kind() == reflect.Pointer && value.Type().Elem().Kind() == reflect.Struct && !value.IsNil():
			filled := reflect.New(value.Type().Elem())
			filled.Elem().Set(value.Elem())
			fill(filled.Elem())
			value.Set(filled)
		case f.fallback != "" && value.IsZero():
			_ = set(value, f.fallback) // a test sets every default
		}
	}
}

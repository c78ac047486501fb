package conformance

import (
	"maps"
	"slices"
	"strconv"
)

// held holds a JSON value against a message of the wire table.
func (c *checker) held(message, path string, value any) {
	m := c.wire.message(message)
	object, ok := value.(map[string]any)
	if m == nil || !ok {
		c.differs("card member", servedCard, path+" as an object", kind(value), nextServe)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		c.counted(1)
		i := slices.IndexFunc(m.Fields, func(f wireField) bool { return f.JSON == name })
		if i < 0 {
			c.differs("card member", servedCard, "no member "+path+"."+bounded(name), "one", nextServe)
			continue
		}
		c.value(m.Fields[i], path+"."+name, object[name])
	}
	for _, f := range m.Fields {
		if _, there := object[f.JSON]; f.Required && !there {
			c.differs("card member", servedCard, path+"."+f.JSON, "nothing", nextServe)
		}
	}
}

// value holds the value of a field against its type.
func (c *checker) value(f wireField, path string, value any) {
	switch {
	case f.Repeated:
		list, ok := value.([]any)
		if !ok {
			c.differs("card member", servedCard, path+" as a list", kind(value), nextServe)
		}
		for i, element := range list {
			c.element(f.Type, path+"["+strconv.Itoa(i)+"]", element)
		}
	case f.Type == "map":
		object, ok := value.(map[string]any)
		if !ok {
			c.differs("card member", servedCard, path+" as an object", kind(value), nextServe)
		}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			c.element(f.MapValue, path+"."+bounded(key), object[key])
		}
	default:
		c.element(f.Type, path, value)
	}
}

func (c *checker) element(typ, path string, value any) {
	var want string
	switch typ {
	case "string", "bytes", "google.protobuf.Timestamp":
		want = "a string"
	case "bool":
		want = "a truth value"
	case "int32":
		want = "a number"
	case "google.protobuf.Struct":
		want = "an object"
	case "google.protobuf.Value":
		return
	default:
		c.held(typ, path, value)
		return
	}
	if got := kind(value); got != want {
		c.differs("card member", servedCard, path+" as "+want, got, nextServe)
	}
}

// kind says in words what a JSON value is.
func kind(value any) string {
	switch value.(type) {
	case map[string]any:
		return "an object"
	case []any:
		return "a list"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a truth value"
	}
	return "null"
}

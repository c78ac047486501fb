package a2a

import "slices"

// decodeList reads a list of messages; a REQUIRED one must hold an element.
// Null and mistyped elements are left out. Once violations are no longer
// counted, elements that lack REQUIRED members are too: without that, a body
// of empty objects would be far larger in memory than on the wire.
func decodeList[T any, P Wire[T]](d *decoder, required bool) []T {
	if !d.array() {
		return nil
	}
	var list []T
	count := 0
	for ; d.more(); count++ {
		if !d.element(count) {
			continue
		}
		if d.object() {
			if len(list) == 1 {
				list = slices.Grow(list, 3) // most lists that have a second element have more
			}
			list = append(list, *new(T))
			last := len(list) - 1
			if !P(&list[last]).decode(d) && d.overflow {
				list = list[:last]
			}
		}
		d.leave()
	}
	d.filled(count, required)
	return list
}

// decodeStrings reads a list of strings; a REQUIRED one must hold an element.
func decodeStrings[T ~string](d *decoder, required bool) []T {
	if !d.array() {
		return nil
	}
	var list []T
	count := 0
	for ; d.more(); count++ {
		if !d.element(count) {
			continue
		}
		var text string
		if d.text(&text, false) {
			list = append(list, T(text))
		}
		d.leave()
	}
	d.filled(count, required)
	return list
}

func (d *decoder) filled(count int, required bool) {
	if required && count == 0 {
		d.report(Empty, "must have at least one element")
	}
}

// decodeMap reads a map to messages. An empty one is nil.
func decodeMap[T any, P Wire[T]](d *decoder) map[string]T {
	return decodeEntries(d, func(value *T) bool {
		if !d.object() {
			return false
		}
		return P(value).decode(d) || !d.overflow
	})
}

// decodeStringMap reads a map to strings. An empty one is nil.
func decodeStringMap(d *decoder) map[string]string {
	return decodeEntries(d, func(value *string) bool { return d.text(value, false) })
}

func decodeEntries[T any](d *decoder, read func(*T) bool) map[string]T {
	if !d.object() {
		return nil
	}
	var entries map[string]T
	for d.more() {
		key := string(d.name())
		if !d.entry(key) {
			continue
		}
		var value T
		if read(&value) {
			if entries == nil {
				entries = map[string]T{}
			}
			entries[key] = value
		}
		d.leave()
	}
	return entries
}

package jsonrpc

// How deep arrays and objects may be nested, the envelope itself counted. An
// answer may be deeper than a request: what a request brought comes back inside
// a task.
const (
	MaxDepth       = 64
	MaxAnswerDepth = 100
)

// TooDeep reports whether JSON text nests arrays and objects deeper than limit.
// It looks at brackets outside strings only, so that hostile text is refused
// before anything that recurses sees it; of text that is not JSON it says
// nothing dependable.
func TooDeep(text []byte, limit int) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if depth++; depth > limit {
				return true
			}
		case '}', ']':
			depth--
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		}
	}
	return false
}

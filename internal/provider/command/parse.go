package command

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Parse splits a line into a program and its arguments, the way a shell splits
// words: at white space, except inside 'single quotes', where every letter
// stands for itself, and "double quotes", where only a backslash before another
// backslash or a double quote is special. Elsewhere a backslash makes the next
// letter stand for itself.
//
// Nothing else is special: variables, patterns, pipes and redirections are
// plain letters, and no shell will see them. Errors name the position of the
// letter that is wrong, counted from 1.
func Parse(line string) ([]string, error) {
	if !utf8.ValidString(line) || strings.ContainsRune(line, 0) {
		return nil, errors.New("command line: it is not text")
	}
	var words []string
	var word strings.Builder
	inWord := false
	letters := []rune(line)
	for i := 0; i < len(letters); i++ {
		switch c := letters[i]; c {
		case ' ', '\t', '\n', '\r':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		case '\'', '"':
			end, err := quoted(&word, letters, i)
			if err != nil {
				return nil, err
			}
			i, inWord = end, true
		case '\\':
			if i++; i == len(letters) {
				return nil, fmt.Errorf("command line: nothing follows the backslash at position %d", i)
			}
			word.WriteRune(letters[i])
			inWord = true
		default:
			word.WriteRune(c)
			inWord = true
		}
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) == 0 || words[0] == "" {
		return nil, errors.New("command line: it names no program")
	}
	return words, nil
}

// quoted adds what is between the quote at start and the one that closes it,
// whose place it returns.
func quoted(word *strings.Builder, letters []rune, start int) (end int, _ error) {
	quote := letters[start]
	for i := start + 1; i < len(letters); i++ {
		c := letters[i]
		switch {
		case c == quote:
			return i, nil
		case c == '\\' && quote == '"' && i+1 < len(letters) && (letters[i+1] == '"' || letters[i+1] == '\\'):
			i++
			c = letters[i]
		}
		word.WriteRune(c)
	}
	return 0, fmt.Errorf("command line: the quote at position %d is not closed", start+1)
}

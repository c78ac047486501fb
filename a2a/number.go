package a2a

import (
	"bytes"
	"math"
	"strconv"
)

// parseInt32 reads the text of a JSON number that is an integer of 32 bits in
// whichever form: 10, 10.0, 1e1. The reason is zero when it is one.
func parseInt32(text []byte) (int32, Reason) {
	rest := bytes.TrimPrefix(text, []byte("-"))
	negative := len(rest) < len(text)
	whole, rest := cutDigits(rest)
	if len(whole) == 0 || len(whole) > 1 && whole[0] == '0' {
		return 0, WrongType
	}
	var fraction []byte
	if len(rest) > 0 && rest[0] == '.' {
		if fraction, rest = cutDigits(rest[1:]); len(fraction) == 0 {
			return 0, WrongType
		}
	}
	exponent, ok := parseExponent(rest)
	if !ok {
		return 0, WrongType
	}
	return integer(negative, whole, fraction, exponent)
}

// integer computes whole.fraction * 10^exponent.
func integer(negative bool, whole, fraction []byte, exponent int) (int32, Reason) {
	var n int64
	point := len(whole) + exponent // digits before the point, after shifting
	for i := range len(whole) + len(fraction) {
		var digit int64
		if i < len(whole) {
			digit = int64(whole[i] - '0')
		} else {
			digit = int64(fraction[i-len(whole)] - '0')
		}
		switch {
		case i >= point && digit != 0:
			return 0, WrongType // a fraction
		case i < point:
			if n = n*10 + digit; n > math.MaxInt32+1 {
				return 0, OutOfRange
			}
		}
	}
	for i := len(whole) + len(fraction); i < point && n != 0; i++ {
		if n *= 10; n > math.MaxInt32+1 {
			return 0, OutOfRange
		}
	}
	if negative {
		n = -n
	}
	if n > math.MaxInt32 {
		return 0, OutOfRange
	}
	return int32(n), 0
}

func cutDigits(text []byte) (digits, rest []byte) {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return text[:n], text[n:]
}

// parseExponent reads e+1 or nothing. An exponent beyond a million is as good
// as a million: no number of digits we hold makes up for it.
func parseExponent(text []byte) (int, bool) {
	if len(text) == 0 {
		return 0, true
	}
	if text[0] != 'e' && text[0] != 'E' {
		return 0, false
	}
	text = text[1:]
	negative := len(text) > 0 && text[0] == '-'
	if negative || len(text) > 0 && text[0] == '+' {
		text = text[1:]
	}
	digits, rest := cutDigits(text)
	if len(digits) == 0 || len(rest) > 0 {
		return 0, false
	}
	n := 0
	for _, c := range digits {
		n = min(n*10+int(c-'0'), 1_000_000)
	}
	if negative {
		n = -n
	}
	return n, true
}

// finite reports whether a JSON number fits a double. Only long numbers and
// those with an exponent need a closer look.
func finite(number []byte) bool {
	if len(number) <= 308 && bytes.IndexByte(number, 'e') < 0 && bytes.IndexByte(number, 'E') < 0 {
		return true
	}
	_, err := strconv.ParseFloat(string(number), 64)
	return err == nil
}

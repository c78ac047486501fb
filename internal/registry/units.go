package registry

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a time span, written like "90s", "10m", "1h30m" or "30d". A day
// is 24 hours.
type Duration time.Duration

const (
	day             = 24 * time.Hour
	durationPattern = `^([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?$`
)

var durationRE = regexp.MustCompile(durationPattern)

func (Duration) pattern() string { return durationPattern }

// UnmarshalText reads a duration.
func (d *Duration) UnmarshalText(data []byte) error {
	errForm := errors.New("write a duration such as 90s, 10m, 1h30m or 30d")
	if len(data) == 0 || len(data) > 32 || !durationRE.Match(data) {
		return errForm
	}
	days, rest, found := strings.Cut(string(data), "d")
	if !found {
		days, rest = "0", string(data)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil || n > int64(math.MaxInt64/day)/2 {
		return errForm
	}
	var span time.Duration
	if rest != "" {
		if span, err = time.ParseDuration(rest); err != nil || span > math.MaxInt64/2 {
			return errForm
		}
	}
	*d = Duration(time.Duration(n)*day + span)
	return nil
}

// String returns the shortest form, in days from two days on.
func (d Duration) String() string {
	span := time.Duration(d)
	if span >= 2*day && span%day == 0 {
		return strconv.FormatInt(int64(span/day), 10) + "d"
	}
	text := span.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// MarshalText returns what String does.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// Size is a number of bytes, written like "512B", "64KiB", "4MiB" or "1GiB".
type Size int64

const sizePattern = `^[0-9]{1,10}(B|KiB|MiB|GiB)$`

var (
	sizeRE    = regexp.MustCompile(sizePattern)
	sizeUnits = []string{"GiB", "MiB", "KiB", "B"}
)

func (Size) pattern() string { return sizePattern }

// UnmarshalText reads a size.
func (s *Size) UnmarshalText(data []byte) error {
	if !sizeRE.Match(data) {
		return errors.New("write a size such as 512B, 64KiB, 4MiB or 1GiB")
	}
	text := string(data)
	for i, unit := range sizeUnits {
		if number, found := strings.CutSuffix(text, unit); found {
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return err
			}
			*s = Size(n << (10 * (len(sizeUnits) - 1 - i)))
			break
		}
	}
	return nil
}

// String returns the size in the largest unit that it is a whole number of.
func (s Size) String() string {
	for i, unit := range sizeUnits {
		if one := Size(1) << (10 * (len(sizeUnits) - 1 - i)); s%one == 0 && (s != 0 || one == 1) {
			return strconv.FormatInt(int64(s/one), 10) + unit
		}
	}
	return ""
}

// MarshalText returns what String does.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Cost is an amount of money in millionths of the currency that the
// installation reckons in. It is written as a decimal number: 12.5.
type Cost int64

const costUnit = 1_000_000

var costRE = regexp.MustCompile(`^[0-9]{1,12}(\.[0-9]{1,6})?$`)

// UnmarshalText reads an amount.
func (c *Cost) UnmarshalText(data []byte) error {
	if !costRE.Match(data) {
		return errors.New("write an amount such as 5 or 0.25, with at most six decimals")
	}
	whole, decimals, _ := strings.Cut(string(data), ".")
	n, err := strconv.ParseInt(whole+(decimals + "000000")[:6], 10, 64)
	if err != nil {
		return err
	}
	*c = Cost(n)
	return nil
}

// String returns the amount without trailing zeros.
func (c Cost) String() string {
	text := strconv.FormatInt(int64(c/costUnit), 10)
	if rest := c % costUnit; rest != 0 {
		text += "." + strings.TrimRight(fmt.Sprintf("%06d", rest), "0")
	}
	return text
}

// MarshalText returns what String does.
func (c Cost) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

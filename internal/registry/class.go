package registry

import "slices"

// choice is a string type with a fixed set of values.
type choice interface{ values() []string }

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

// DataClass says how far data may travel. As a zone it is the highest class that
// a party may receive. The zero value means unset.
type DataClass string

// The data classes, rising.
const (
	Public       DataClass = "public"
	Internal     DataClass = "internal"
	Confidential DataClass = "confidential"
	Restricted   DataClass = "restricted"
)

func dataClasses() []DataClass { return []DataClass{Public, Internal, Confidential, Restricted} }

func (DataClass) values() []string { return texts(dataClasses()) }

// Allows reports whether a zone may receive data of a class. An unset zone may
// receive nothing, and unset or unknown data may go nowhere.
func (c DataClass) Allows(data DataClass) bool {
	zone, class := slices.Index(dataClasses(), c), slices.Index(dataClasses(), data)
	return class >= 0 && class <= zone
}

// Approval says whether a person has to agree first.
type Approval string

// The approval rules, rising. FourEyes asks somebody else than who started it.
const (
	ApproveNever    Approval = "never"
	ApproveAlways   Approval = "always"
	ApproveFourEyes Approval = "fourEyes"
)

func approvals() []Approval { return []Approval{ApproveNever, ApproveAlways, ApproveFourEyes} }

func (Approval) values() []string { return texts(approvals()) }

// Stricter returns the stricter of two rules; the zero value is the mildest.
func (a Approval) Stricter(other Approval) Approval {
	if slices.Index(approvals(), other) > slices.Index(approvals(), a) {
		return other
	}
	return a
}

package people_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/internal/people"
)

func TestWhatRolesMay(t *testing.T) {
	want := map[people.Role]string{
		people.Viewer:   "read",
		people.Operator: "read operate",
		people.Approver: "read approve",
		people.Admin:    "read operate approve administer",
		"":              "",
		"root":          "",
	}
	for role, may := range want {
		for _, p := range []people.Permission{people.Read, people.Operate, people.Approve, people.Administer, "", "everything"} {
			if got := role.May(p); got != (p != "" && strings.Contains(" "+may+" ", " "+string(p)+" ")) {
				t.Errorf("%q may %q: %v", role, p, got)
			}
		}
	}
	for _, name := range []string{"viewer", "operator", "approver", "admin"} {
		if role, err := people.ParseRole(name); err != nil || string(role) != name {
			t.Errorf("ParseRole(%s) = %q, %v", name, role, err)
		}
	}
	for _, name := range []string{"", "Admin", "root", "admin "} {
		if role, err := people.ParseRole(name); !errors.Is(err, people.ErrInvalid) || role != "" {
			t.Errorf("ParseRole(%q) = %q, %v, want ErrInvalid", name, role, err)
		}
	}
}

func TestChangesLeaveAnAdministrator(t *testing.T) {
	now := time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)
	person := func(name string, role people.Role, end time.Time) people.Person {
		return people.Person{Name: name, Role: role, NotAfter: end}
	}
	past, future := now.Add(-time.Second), now.Add(time.Second)
	admin := person("root", people.Admin, time.Time{})
	tests := []struct {
		name   string
		people []people.Person
		change people.Change
		want   string // the names left, or the error
	}{
		{"the first", nil, people.Change{Put: new(person("root", people.Viewer, time.Time{}))}, "root"},
		{"the last admin", []people.Person{admin}, people.Change{Remove: "root"}, people.ErrLastAdmin.Error()},
		{"the last admin becomes a viewer", []people.Person{admin}, people.Change{Put: new(person("root", people.Viewer, time.Time{}))}, people.ErrLastAdmin.Error()},
		{"the last admin ends", []people.Person{admin}, people.Change{Put: new(person("root", people.Admin, past))}, people.ErrLastAdmin.Error()},
		{"the last admin gets another token", []people.Person{admin}, people.Change{Put: new(person("root", people.Admin, future))}, "root"},
		{"one of two", []people.Person{admin, person("zoe", people.Admin, future)}, people.Change{Remove: "root"}, "zoe"},
		{"the other has ended", []people.Person{admin, person("zoe", people.Admin, past)}, people.Change{Remove: "root"}, people.ErrLastAdmin.Error()},
		{"the ended one", []people.Person{admin, person("zoe", people.Admin, past)}, people.Change{Remove: "zoe"}, "root"},
		{"all have ended", []people.Person{person("zoe", people.Admin, past)}, people.Change{Remove: "zoe"}, ""},
		{"a viewer", []people.Person{admin, person("val", people.Viewer, time.Time{})}, people.Change{Remove: "val"}, "root"},
		{"nobody", []people.Person{admin}, people.Change{Remove: "val"}, people.ErrNotFound.Error()},
		{"by name", []people.Person{admin}, people.Change{Put: new(person("ann", people.Viewer, time.Time{}))}, "ann root"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.change.At = now
			before := fmt.Sprint(tt.people)
			after, err := tt.change.Apply(tt.people)
			var names []string
			for _, p := range after {
				names = append(names, p.Name)
			}
			got := strings.Join(names, " ")
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Apply() leaves %q, want %q", got, tt.want)
			}
			if fmt.Sprint(tt.people) != before {
				t.Error("Apply() has changed what it was given")
			}
		})
	}
}

func TestPeopleAreBounded(t *testing.T) {
	var all []people.Person
	for i := range people.MaxPeople {
		all = append(all, people.Person{Name: fmt.Sprint("p", i), Role: people.Admin})
	}
	if _, err := (people.Change{Put: &people.Person{Name: "more"}}).Apply(all); !errors.Is(err, people.ErrFull) {
		t.Errorf("Apply() of one more: error = %v, want ErrFull", err)
	}
	if _, err := (people.Change{Put: &people.Person{Name: "p7"}}).Apply(all); err != nil {
		t.Errorf("Apply() of one in place of another: error = %v", err)
	}
}

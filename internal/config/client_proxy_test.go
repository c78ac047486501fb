package config_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/legation/legation/internal/config"
)

func TestParseClientProxy(t *testing.T) {
	pin := [32]byte{31: 1}
	spki := "spki=" + strings.Repeat("0", 62) + "01"
	for _, test := range []struct {
		text string
		want config.ClientProxy
		err  string // part of it
	}{
		{text: "edge,from=10.0.0.0/8", want: config.ClientProxy{Name: "edge", Header: "Client-Cert", Networks: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}},
		{text: "edge, header=X-Cert ,from=::1,from=192.0.2.1", want: config.ClientProxy{
			Name: "edge", Header: "X-Cert", Networks: []netip.Prefix{netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.0.2.1/32")},
		}},
		{text: "edge," + spki, want: config.ClientProxy{Name: "edge", Header: "Client-Cert", SPKI: pin}},
		{text: "from=10.0.0.0/8", err: "name of the proxy"},
		{text: "edge", err: "from= or spki="},
		{text: "edge,from=0.0.0.0/0", err: "is everybody"},
		{text: "edge,from=::/0", err: "is everybody"},
		{text: "edge,from=1.2.3.4/0," + spki, err: "is everybody"},
		{text: "edge,from=nowhere", err: "neither an address"},
		{text: "edge,spki=00", err: "64 hexadecimal"},
		{text: "edge,who=me", err: "none of header, from and spki"},
		{text: "edge,header=Host,from=::1", err: "another meaning"},
		{text: "edge,header=authorization,from=::1", err: "another meaning"},
		{text: "edge,header=x-api-key,from=::1", err: "another meaning"},
		{text: "edge,header=connection,from=::1", err: "another meaning"},
		{text: "edge,header=TE,from=::1", err: "another meaning"},
		{text: "edge,header=,from=::1", err: "another meaning"},
		{text: "edge,header=a b,from=::1", err: "another meaning"},
	} {
		got, err := config.ParseClientProxy(test.text)
		if test.err != "" {
			if err == nil || !strings.Contains(err.Error(), test.err) {
				t.Errorf("ParseClientProxy(%q) = %v, want an error with %q", test.text, err, test.err)
			}
			continue
		}
		if diff := cmp.Diff(test.want, got, cmpopts.EquateComparable(netip.Prefix{})); err != nil || diff != "" {
			t.Errorf("ParseClientProxy(%q): %v (-want +got):\n%s", test.text, err, diff)
		}
	}
}

package guard_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/legation/legation/guard"
)

// Whatever is asked for, under whatever spelling: no address is dialled but
// the one the resolver gave, or a public one that the URL names.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{
		"https://agent.example/", "https://127.1/", "https://[::ffff:127.0.0.1]/", "http://10.0.0.1", "https://①②⑦.0.0.1/",
		"https://u:p@agent.example:99/", "https://0x7f.1/", "https://[fe80::1%25eth0]:1/", "https://1.1.1.1:8443/x?y#z", "https://LOCALHOST",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		client, err := guard.New(guard.Policy{
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr(public)}, nil
			},
			Dial: func(_ context.Context, _, address string) (net.Conn, error) {
				to, err := netip.ParseAddrPort(address)
				if a := to.Addr(); err != nil || a.IsLoopback() || a.IsPrivate() || !a.IsGlobalUnicast() || a.Is4In6() || a.Zone() != "" {
					t.Errorf("%q dials %s", raw, address)
				}
				return nil, net.ErrClosed
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		checked := guard.CheckURL(raw, guard.Policy{})
		req, err := http.NewRequest(http.MethodGet, raw, nil)
		if err != nil {
			if checked == nil {
				t.Errorf("%q is no URL and passes the check", raw)
			}
			return
		}
		resp, err := client.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		if !guard.NothingSent(err) {
			t.Errorf("%q: error %v", raw, err)
		}
	})
}

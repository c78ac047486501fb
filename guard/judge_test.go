package guard_test

import (
	"errors"
	"io"
	"log"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/guard"
)

var discard = log.New(io.Discard, "", 0)

var forbidden = map[string]string{
	"127.0.0.1": "a loopback address", "127.255.255.254": "a loopback address", "::1": "a loopback address",
	"10.0.0.1": "a private address", "10.255.255.255": "a private address", "172.16.0.1": "a private address",
	"172.31.255.255": "a private address", "192.168.0.1": "a private address", "fc00::1": "a private address", "fd12:3456::1": "a private address",
	"169.254.169.254": "a link-local address", "169.254.0.1": "a link-local address", "fe80::1": "a link-local address",
	"100.64.0.1": "a shared carrier address", "100.127.255.255": "a shared carrier address",
	"224.0.0.1": "a multicast address", "239.255.255.255": "a multicast address", "ff02::1": "a multicast address", "ff0e::1": "a multicast address",
	"192.0.2.1": "a documentation address", "198.51.100.1": "a documentation address", "203.0.113.1": "a documentation address",
	"2001:db8::1": "a documentation address", "3fff::1": "a documentation address",
	"198.18.0.1": "a benchmarking address", "198.19.255.255": "a benchmarking address",
	"0.0.0.0": "the unspecified address", "::": "the unspecified address", "0.1.2.3": "an address of this machine itself",
	"255.255.255.255": "the broadcast address", "240.0.0.1": "reserved and no place on the public internet",
	"192.0.0.1": "reserved and no place on the public internet", "192.31.196.1": "reserved and no place on the public internet",
	"192.88.99.1": "a 6to4 address", "2002:7f00:1::": "a 6to4 address", "2002:5db8:d70e::": "a 6to4 address",
	"2001:0:4136:e378:8000:63bf:3fff:fdd2": "a Teredo address",
	"64:ff9b::7f00:1":                      "a NAT64 address", "64:ff9b::5db8:d70e": "a NAT64 address", "64:ff9b:1::1": "a NAT64 address",
	"168.63.129.16": "the host agent of a cloud platform",
	"::127.0.0.1":   "reserved and no place on the public internet", "100::1": "reserved and no place on the public internet",
	"fec0::1": "reserved and no place on the public internet", "5f00::1": "reserved and no place on the public internet",
	"fd00:ec2::254": "a private address", "4000::1": "reserved and no place on the public internet",
}

var allowed = []string{public, "1.1.1.1", "8.8.8.8", "172.15.255.255", "172.32.0.1", "100.63.255.255", "100.128.0.1",
	"168.63.129.15", "198.17.255.255", "223.255.255.255", "2606:4700::1111", "2a00:1450:4001::1"}

func literal(addr string) string { return "https://" + net.JoinHostPort(addr, "8443") + "/a2a" }

func TestAddressesInURLs(t *testing.T) {
	for addr, why := range forbidden {
		err := guard.CheckURL(literal(addr), guard.Policy{})
		refusal, ok := errors.AsType[*guard.AddressError](err)
		if !ok {
			t.Errorf("%s: error %v", addr, err)
			continue
		}
		want := guard.AddressError{Host: netip.MustParseAddr(addr).String(), Addr: netip.MustParseAddr(addr), Why: why}
		if diff := cmp.Diff(want, *refusal, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", addr, diff)
		}
	}
	for _, addr := range allowed {
		if err := guard.CheckURL(literal(addr), guard.Policy{}); err != nil {
			t.Errorf("%s: %v", addr, err)
		}
	}
	for _, addr := range []string{"::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:" + public} {
		if _, ok := errors.AsType[*guard.AddressError](guard.CheckURL(literal(addr), guard.Policy{})); !ok {
			t.Errorf("mapped form %s is not refused", addr)
		}
	}
}

func TestAddressesBehindNames(t *testing.T) {
	behind := func(addr string) (*network, error) {
		n := &network{names: map[string][]string{"agent.example": {addr}}}
		resp, err := n.client(t, guard.Policy{}).Do(get(t, "https://agent.example:8443/a2a"))
		if err == nil {
			resp.Body.Close()
		}
		return n, err
	}
	refused := []string{"::ffff:127.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "2606:4700::1111%eth0"}
	for addr := range forbidden {
		refused = append(refused, addr)
	}
	for _, addr := range refused {
		n, err := behind(addr)
		if _, ok := errors.AsType[*guard.AddressError](err); !ok || !guard.NothingSent(err) {
			t.Errorf("%s: error %v", addr, err)
		}
		if dials := n.dials(); dials != nil {
			t.Errorf("%s: dialled %v", addr, dials)
		}
	}
	for _, addr := range append(allowed, "::ffff:"+public) {
		n, err := behind(addr)
		if _, ok := errors.AsType[*guard.DialError](err); !ok {
			t.Errorf("%s: error %v", addr, err)
		}
		want := []string{netip.AddrPortFrom(netip.MustParseAddr(addr).Unmap(), 8443).String()}
		if diff := cmp.Diff(want, n.dials()); diff != "" {
			t.Errorf("%s: dialled (-want +got):\n%s", addr, diff)
		}
	}
}

func TestCheckURL(t *testing.T) {
	tests := []struct {
		url string
		ok  bool
	}{
		{"https://agent.example", true},
		{"https://agent.example/a2a?tenant=x", true},
		{"HTTPS://Agent.Example:9/", true},
		{"https://a_b.agent.example./", true},
		{"https://xn--bcher-kva.example/", true},
		{"https://0x7f.example/", true},
		{"https://1e3.example/", true},

		{"http://agent.example/", false}, // REQ-SEC-01, REQ-CARD-12
		{"ftp://agent.example/", false},
		{"file:///etc/passwd", false},
		{"gopher://agent.example/", false},
		{"unix:/run/x.sock", false},
		{"//agent.example/", false},
		{"agent.example", false},
		{"", false},
		{"https:agent.example", false},
		{"https:///path", false},
		{"https://:443/", false},
		{"https://user@agent.example/", false},
		{"https://user:s3cret@agent.example/", false},
		{"https://agent.example@127.0.0.1/", false},
		{"https://agent.example:0/", false},
		{"https://agent.example:65536/", false},
		{"https://agent.example:/", false},
		{"https://agent.example:x/", false},
		{"https://bücher.example/", false},
		{"https://①②⑦.0.0.1/", false},
		{"https://agent%2eexample/", false},
		{"https://agent!example/", false},
		{"https://" + strings.Repeat("a.", 127) + "example/", false},
		{"https://agent.example/" + strings.Repeat("x", 9000), false},

		// numbers that some reader takes for 127.0.0.1 or another address
		{"https://2130706433/", false},
		{"https://127.1/", false},
		{"https://127.0.1/", false},
		{"https://0x7f.1/", false},
		{"https://0x7f000001/", false},
		{"https://0X7F000001/", false},
		{"https://0177.0.0.1/", false},
		{"https://017700000001/", false},
		{"https://127.0.0.01/", false},
		{"https://127.0.0.0x1/", false},
		{"https://127.0.0.1./", false},
		{"https://1.2.3.4.5/", false},
		{"https://256.256.256.256/", false},
		{"https://0/", false},
		{"https://0x/", false},
		{"https://agent.example.1/", false},
		{"https://./", false},
		{"https://[::1/", false},
		{"https://[::1%25lo]/", false},
		{"https://[fe80::1%25eth0]/", false},
		{"https://[2606:4700::1111%25eth0]/", false},
		{"https://[0:0:0:0:0:0:0:1]/", false},
		{"https://[::ffff:0:127.0.0.1]/", false},
		{"https://[agent.example]/", false},
		{"https://[v1.x]/", false},
	}
	for _, tt := range tests {
		if err := guard.CheckURL(tt.url, guard.Policy{}); (err == nil) != tt.ok {
			t.Errorf("CheckURL(%.60q) = %v, want ok: %t", tt.url, err, tt.ok)
		}
	}
}

func TestExceptions(t *testing.T) {
	private := []netip.Prefix{netip.MustParsePrefix("10.1.2.3/16"), netip.MustParsePrefix("fd00::/8")}
	tests := []struct {
		name   string
		policy guard.Policy
		url    string
		ok     bool
	}{
		{"host", guard.Policy{AllowHosts: []string{"localhost"}}, "http://localhost:8080/", true},
		{"host in other letters", guard.Policy{AllowHosts: []string{"LocalHost"}}, "https://LOCALHOST/", true},
		{"host and port", guard.Policy{AllowHosts: []string{"localhost:8080"}}, "http://localhost:8080/", true},
		{"host and another port", guard.Policy{AllowHosts: []string{"localhost:8080"}}, "http://localhost:8081/", false},
		{"host and the usual port", guard.Policy{AllowHosts: []string{"localhost:80"}}, "http://localhost/", true},
		{"host and the usual TLS port", guard.Policy{AllowHosts: []string{"127.0.0.1:443"}}, "https://127.0.0.1/", true},
		{"another host", guard.Policy{AllowHosts: []string{"localhost"}}, "http://localhost.example/", false},
		{"a host below", guard.Policy{AllowHosts: []string{"agent.example"}}, "http://x.agent.example/", false},
		{"name, not its address", guard.Policy{AllowHosts: []string{"localhost"}}, "https://127.0.0.1/", false},
		{"address", guard.Policy{AllowHosts: []string{"127.0.0.1"}}, "http://127.0.0.1:1/", true},
		{"address, not its odd forms", guard.Policy{AllowHosts: []string{"127.0.0.1"}}, "http://127.1/", false},
		{"address, not its mapped form", guard.Policy{AllowHosts: []string{"127.0.0.1"}}, "https://[::ffff:127.0.0.1]/", false},
		{"bare IPv6", guard.Policy{AllowHosts: []string{"::1"}}, "http://[::1]:8080/", true},
		{"IPv6 in brackets", guard.Policy{AllowHosts: []string{"[::1]"}}, "http://[0:0::1]/", true},
		{"IPv6 and port", guard.Policy{AllowHosts: []string{"[::1]:8080"}}, "http://[::1]:8080/", true},
		{"IPv6 and another port", guard.Policy{AllowHosts: []string{"[::1]:8080"}}, "http://[::1]/", false},
		{"range", guard.Policy{AllowCIDRs: private}, "https://10.1.255.255/", true},
		{"IPv6 range", guard.Policy{AllowCIDRs: private}, "https://[fd00::1]/", true},
		{"outside the range", guard.Policy{AllowCIDRs: private}, "https://10.2.0.0/", false},
		{"range and plain http", guard.Policy{AllowCIDRs: private}, "http://10.1.2.3/", false},
		{"range and a mapped form", guard.Policy{AllowCIDRs: private}, "https://[::ffff:10.1.2.3]/", false},
		{"no userinfo for excepted hosts", guard.Policy{AllowHosts: []string{"localhost"}}, "http://a:b@localhost/", false},
		{"no other scheme for excepted hosts", guard.Policy{AllowHosts: []string{"localhost"}}, "ftp://localhost:443/", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := guard.CheckURL(tt.url, tt.policy); (err == nil) != tt.ok {
				t.Errorf("CheckURL(%q) = %v, want ok: %t", tt.url, err, tt.ok)
			}
			// A client comes to the same judgement, and dials nothing it refused.
			n := &network{names: map[string][]string{"localhost": {"127.0.0.1"}}}
			_, err := n.client(t, tt.policy).Do(get(t, tt.url))
			if _, dialled := errors.AsType[*guard.DialError](err); dialled != tt.ok || (n.dials() != nil) != tt.ok {
				t.Errorf("Do(%q): dialled %v, error %v, want ok: %t", tt.url, n.dials(), err, tt.ok)
			}
		})
	}
}

func TestPoliciesThatCanNotBeUnderstood(t *testing.T) {
	for _, entry := range []string{"", "a b", "127.1", "host:", "host:x", "host:0", "host:70000", "[::1", "[::1]:", "[]", "fe80::1%eth0", "bücher.example", "https://x", "10.0.0.0/8", "*.example"} {
		if _, err := guard.New(guard.Policy{AllowHosts: []string{entry}}); err == nil {
			t.Errorf("exception %q is accepted", entry)
		}
		if err := guard.CheckURL("https://agent.example", guard.Policy{AllowHosts: []string{entry}}); err == nil {
			t.Errorf("CheckURL accepts the exception %q", entry)
		}
	}
	for _, prefix := range []netip.Prefix{{}, netip.PrefixFrom(netip.MustParseAddr("::ffff:10.0.0.0"), 104)} {
		if _, err := guard.New(guard.Policy{AllowCIDRs: []netip.Prefix{prefix}}); err == nil {
			t.Errorf("range %v is accepted", prefix)
		}
	}
	for _, p := range []guard.Policy{{MaxAnswerBytes: -1}, {ConnectTimeout: -1}, {AnswerTimeout: -1}, {MaxConns: -1}} {
		if _, err := guard.New(p); err == nil {
			t.Errorf("%+v is accepted", p)
		}
	}
}

func TestErrorsSayWhatToDoAndRepeatNoSecrets(t *testing.T) {
	tests := []struct{ url, want string }{
		{"https://u:s3cret@agent.example/s3cret", `guard: host "agent.example": the URL carries a user name or password before the host; register credentials as secrets`},
		{"http://agent.example/s3cret?k=s3cret", `guard: host "agent.example": plain http is refused; use https, or list the host in guard.Policy.AllowHosts`},
		{"https://10.0.0.1/s3cret", `guard: host "10.0.0.1" is a private address; if that is intended, list the host in guard.Policy.AllowHosts or 10.0.0.1/32 in AllowCIDRs`},
		{"https://inside.example/s3cret", `guard: host "inside.example" leads to fd00::1, a private address; if that is intended, list the host in guard.Policy.AllowHosts or fd00::1/128 in AllowCIDRs`},
		{"https://127.1/s3cret", `guard: host "127.1": the host is a number in an unusual form; write an address as four plain decimals, like 192.0.2.1`},
		{"https://nowhere.example/s3cret", `guard: host "nowhere.example" can not be resolved: lookup nowhere.example: no such host`},
		{"https://1.1.1.1/s3cret", `guard: host "1.1.1.1" can not be reached: connect 1.1.1.1:443: connection refused`},
	}
	n := &network{names: map[string][]string{"inside.example": {"fd00::1"}}}
	client := n.client(t, guard.Policy{})
	for _, tt := range tests {
		_, err := client.Do(get(t, tt.url))
		if err == nil || err.Error() != tt.want {
			t.Errorf("%s\n got %v\nwant %s", tt.url, err, tt.want)
		}
	}
	if err := guard.CheckURL("https://u:s3cret@ag ent/%zz", guard.Policy{}); err == nil || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("unparsable URL: %v", err)
	}
	long := &guard.RedirectError{Status: 302, Host: strings.Repeat("x\n", 5000), From: "a"}
	if text := long.Error(); len(text) > 1000 || slices.Contains([]byte(text), '\n') {
		t.Errorf("a peer chose %d bytes of the error's text", len(text))
	}
}

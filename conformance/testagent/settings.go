package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
)

// settings are what the command line says.
type settings struct {
	listen string
	on     bool   // the capability set: streaming and the required extension
	data   string // empty: a throw-away directory
}

const usage = `Usage: testagent [--listen ADDR] [--set on|off] [--data DIR]

A scripted A2A agent for conformance kits, SDK clients and load drivers. It asks
for no credentials and so serves this machine only.

`

// parse reads the command line. The error is [flag.ErrHelp] after help was
// asked for and written to stdout.
func parse(args []string, stdout, stderr io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("testagent", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.listen, "listen", "127.0.0.1:9999", "loopback `ADDR` to serve, HOST:PORT; port 0 takes a free one")
	set := flags.String("set", "on", "capability `SET`: on (streaming, and the extension "+requiredExtension+"\ndeclared required) or off (neither)")
	flags.StringVar(&s.data, "data", "", "`DIR` to keep tasks in, with full durability; without it they are kept in a\ndirectory that is removed at the end")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		fmt.Fprint(stdout, scriptList())
		flags.SetOutput(stderr)
		return s, flag.ErrHelp
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		return s, fmt.Errorf("%q is not a flag", flags.Arg(0))
	case *set != "on" && *set != "off":
		return s, fmt.Errorf("--set %q: it is on or off", *set)
	}
	s.on = *set == "on"
	return s, checkListen(s.listen)
}

// scriptList says in help which prefixes play a script.
func scriptList() string {
	var ids, texts strings.Builder
	for _, s := range scripts {
		list := &ids
		if s.textOnly {
			list = &texts
		}
		fmt.Fprintf(list, "  %s\n", s.prefix)
	}
	return "\nScripts, by how a message's id or its first text begins (the longest counts):\n" + ids.String() +
		"\nBy how its first text begins:\n" + texts.String() +
		"\nAnything else is said again. What each does is in conformance/testagent/scripts.go.\n"
}

// checkListen refuses addresses that others could reach: nobody is asked who
// they are.
func checkListen(address string) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--listen %q: it is HOST:PORT, as in 127.0.0.1:9999", address)
	}
	ip, err := netip.ParseAddr(host)
	if !strings.EqualFold(host, "localhost") && (err != nil || !ip.IsLoopback()) {
		return fmt.Errorf("--listen %q: only the loopback is served, as in 127.0.0.1:9999", address)
	}
	return nil
}

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

// settings are what the command line says.
type settings struct {
	kit         string // directory of the kit's checkout
	python      string
	venv        string // empty: one of our own
	sets        []string
	anyRevision bool
}

const usage = `Usage: tck --kit DIR [--python PYTHON] [--venv DIR] [--set on|off|both] [--any-revision]

Runs the JSON-RPC tests of the conformance kit a2a-tck against the scripted test
agent. DIR is a checkout of ` + kitURL + `, branch ` + kitBranch + `.

`

// parse reads the command line. The error is [flag.ErrHelp] after help was
// asked for and written to stdout.
func parse(args []string, stdout io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("tck", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.kit, "kit", "", "`DIR` of the kit's checkout")
	flags.StringVar(&s.python, "python", "python3", "`PYTHON` to make an environment with, 3.11 or later")
	flags.StringVar(&s.venv, "venv", "", "`DIR` of an environment that has the kit's requirements; nothing is installed\ninto it (default: one is made in "+workDir+")")
	set := flags.String("set", "both", "capability `SET` of the test agent: on, off or both")
	flags.BoolVar(&s.anyRevision, "any-revision", false, "run the kit at another revision than the pinned one, and leave no evidence")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, usage)
		flags.SetOutput(stdout)
		flags.PrintDefaults()
		return s, flag.ErrHelp
	case err != nil:
		return s, err
	case flags.NArg() > 0:
		return s, fmt.Errorf("%q is not a flag", flags.Arg(0))
	case s.kit == "":
		return s, fmt.Errorf("--kit is empty: it names a checkout of %s, branch %s (with make: A2A_TCK_DIR=DIR)", kitURL, kitBranch)
	}
	switch *set {
	case "both":
		s.sets = []string{"on", "off"}
	case "on", "off":
		s.sets = []string{*set}
	default:
		return s, fmt.Errorf("--set %q: it is on, off or both", *set)
	}
	return s, nil
}

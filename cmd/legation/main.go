// Command legation publishes configurations as A2A skills and hands steps to
// remote agents. See "legation --help".
package main

import (
	"os"

	"github.com/legation/legation/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

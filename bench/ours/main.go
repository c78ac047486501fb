// Command ours is Legation as the benchmark runs it: the product's own server on
// a file database that waits for the disk, with an agent that does what the
// text says. With --callers it is the product's echo agent, for whoever shows
// the credential that the driver is told; callers.go registers who that is.
//
// Only the limits of runs per caller are above their defaults: the driver is one
// caller with many clients, and the other servers know no such limit.
package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"runtime/pprof"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/agent"
	"github.com/legation/legation/bench/child"
	"github.com/legation/legation/bench/script"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/config"
)

func main() {
	data := flag.String("data", "", "directory of the store")
	certificate := flag.String("certificate", "", "serve HTTPS, and write the certificate to this file")
	callers := flag.String("callers", "", "serve the echo agent to everybody (open), or to a client with an API key (key) or a token (jwt)")
	profile := flag.String("profile", "", "file to write a CPU profile to")
	flag.Parse()
	if *profile == "" {
		child.Exit(run(*data, *certificate, *callers))
		return
	}
	file, err := os.Create(*profile)
	child.Exit(err)
	child.Exit(pprof.StartCPUProfile(file))
	err = run(*data, *certificate, *callers)
	pprof.StopCPUProfile()
	child.Exit(errors.Join(err, file.Close()))
}

func run(data, certificate, callers string) error {
	cfg := config.Default()
	cfg.Listen, cfg.Data, cfg.Drain = "127.0.0.1:0", data, 0
	cfg.Workers, cfg.PerCaller, cfg.Queue = 64, 64, 1024
	ctx := child.Context()
	var options app.Options
	var authorization string
	if callers != "" {
		cfg.Publish = []string{"script=echo:"}
		var err error
		if authorization, err = register(ctx, cfg, callers); err != nil {
			return err
		}
	} else {
		options.Extra = []app.Published{{
			Skill:  a2a.AgentSkill{ID: "script", Name: "script", Description: "Does what the text says.", Tags: []string{"bench"}},
			Answer: scripted{},
		}}
	}
	if certificate != "" {
		var err error
		if options.TLS, err = child.Certificate(certificate); err != nil {
			return err
		}
	}
	a, err := app.New(ctx, cfg, options)
	if err != nil {
		return err
	}
	child.Announce(a.Addr(), authorization)
	return a.Run(ctx)
}

// scripted does what the text says. A turn can be repeated, as that of the
// product's echo agent can.
type scripted struct{}

// Repeatable implements agent.Repeatable.
func (scripted) Repeatable() bool { return true }

// Run implements agent.Agent.
func (scripted) Run(ctx context.Context, turn agent.Turn, out agent.Output) (agent.Outcome, error) {
	s := script.Parse(turn.Message.Text())
	if err := s.Wait(ctx); err != nil {
		return agent.Outcome{}, err
	}
	switch s.Kind {
	case script.Ask:
		return agent.AskInput("What next?"), nil
	case script.Stream:
		for range s.Count {
			if err := out.Status(ctx, nil); err != nil {
				return agent.Outcome{}, err
			}
		}
	case script.Chunks:
		for i := range s.Count {
			piece := a2a.Artifact{Parts: []a2a.Part{a2a.TextPart(script.Piece(i))}}
			if err := out.Artifact(ctx, piece, agent.Chunk{Append: i > 0, Last: i == s.Count-1}); err != nil {
				return agent.Outcome{}, err
			}
		}
	default:
		return agent.Completed(), out.Artifact(ctx, a2a.Artifact{Parts: turn.Message.Parts}, agent.Chunk{Last: true})
	}
	return agent.Completed(), nil
}

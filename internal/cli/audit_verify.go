package cli

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/audit"
)

const (
	evidenceTimeout = 10 * time.Minute
	maxEvidence     = 64 << 20 // bytes of one line
	maxNodes        = 10_000
)

func newAuditVerify(io streams) *cobra.Command {
	to := connection{timeout: evidenceTimeout, keyless: true}
	var out output
	var holds string
	cmd := &cobra.Command{
		Use:   "verify [FILE]",
		Short: "Verify that the audit is what was written",
		Long: `Verify goes through the seals of the audit: each must cover its entries and the
seal before it, without a gap. It needs no trust in the server: what it sends is
computed anew here. With FILE it verifies what 'legation audit export' wrote ('-'
is standard input), and asks nobody.

Whoever can write to the store could make a whole chain anew, or leave out its
end. Note the last seal somewhere else, and name it later with --holds.

The exit status is 3 if something is broken.

` + connectionText,
		Example: `  legation audit verify
  legation audit verify audit.ndjson
  legation audit verify --holds 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae`,
		Args: func(_ *cobra.Command, args []string) error {
			return takes(min(len(args), 1), "one file at most")(nil, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := out.check(); err != nil {
				return err
			}
			if sum, err := hex.DecodeString(holds); err != nil || holds != "" && len(sum) != sha256.Size {
				return usageError{errors.New("--holds: the hash of a seal has 64 hexadecimal digits")}
			}
			v := &verifier{chains: map[string]*chain{}, holds: strings.ToLower(holds), held: holds == ""}
			verify := func(err error) error {
				if err == nil {
					err = v.end()
				}
				return v.print(io, err, &out)
			}
			if len(args) == 1 {
				v.cut = true
				return verify(readEvidence(cmd.Context(), io, args[0], v.take))
			}
			return to.administer(cmd.Context(), io, func(ctx context.Context, in *installation) error {
				return verify(in.evidence(ctx, 0, func(_ []byte, e admin.Evidence) error { return v.take(e) }))
			})
		},
	}
	cmd.Flags().StringVar(&holds, "holds", "", "the hash of a seal that was noted before, and must be there")
	out.flag(cmd, "what was verified")
	to.flags(cmd)
	return cmd
}

// verifier goes through evidence, the seals of each node by themselves.
type verifier struct {
	chains map[string]*chain
	cut    bool   // the evidence may begin later than the audit
	holds  string // a hash that must be met, and whether it was
	held   bool
}

// chain is what was verified of one node.
type chain struct {
	audit.Chain
	from int64 // the first seal
}

func (v *verifier) take(e admin.Evidence) error {
	if len(e.Unsealed) > 0 {
		return fmt.Errorf("%w: no seal covers %s", audit.ErrBroken, unsealed(e.Unsealed))
	}
	seal, err := e.Seal.Audit()
	if err != nil {
		return fmt.Errorf("%w: seal %d: %w", audit.ErrBroken, e.Seal.Number, err)
	}
	v.held = v.held || e.Seal.Hash == v.holds
	c, known := v.chains[seal.Node]
	if known {
		return c.Verify(seal, e.Entries)
	}
	if len(v.chains) == maxNodes {
		return fmt.Errorf("there are more than %d nodes", maxNodes)
	}
	c = &chain{from: seal.Number}
	v.chains[seal.Node] = c
	switch {
	case seal.Count > 0 && len(e.Entries) == 0:
		c.Chain, c.from = *audit.Anchored(seal), seal.Number+1 // retention has removed what it covers
		return nil
	case seal.Number > 1 && v.cut:
		c.Chain = *audit.Anchored(audit.Seal{Node: seal.Node, Number: seal.Number - 1, First: seal.First, Hash: seal.Previous})
	}
	return c.Verify(seal, e.Entries)
}

// unsealed are entries that somebody else has written.
func unsealed(numbers []int64) string {
	const most = 10
	if len(numbers) == 1 {
		return fmt.Sprint("entry ", numbers[0])
	}
	words := fmt.Sprint("the entries ", numbers[0])
	for _, n := range numbers[1:min(len(numbers), most)] {
		words += fmt.Sprint(", ", n)
	}
	if len(numbers) > most {
		words += " and more"
	}
	return words
}

// end holds what was verified against what was noted before.
func (v *verifier) end() error {
	if !v.held {
		return fmt.Errorf("%w: no seal has the hash %s", audit.ErrBroken, line(v.holds, maxName))
	}
	return nil
}

// verified is the outcome for programs.
type verified struct {
	OK      bool           `json:"ok"`
	Broken  string         `json:"broken,omitzero"`
	Seals   int64          `json:"seals"`
	Entries int64          `json:"entries"`
	Nodes   []verifiedNode `json:"nodes"`
}

type verifiedNode struct {
	Node     string    `json:"node"`
	From     int64     `json:"from"`
	To       int64     `json:"to"`
	Entries  int64     `json:"entries"`
	LastAt   time.Time `json:"lastAt,omitzero"`
	LastHash string    `json:"lastHash"`
}

// print says what was verified. Evidence that is broken ends with a status of
// its own, evidence that could not be read with an error.
func (v *verifier) print(io streams, err error, out *output) error {
	if err != nil && !errors.Is(err, audit.ErrBroken) {
		return err
	}
	form := verified{OK: err == nil, Nodes: []verifiedNode{}}
	if err != nil {
		form.Broken = err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(v.chains)) {
		c := v.chains[name]
		last := c.Last()
		form.Seals += c.Seals
		form.Entries += c.Sealed
		form.Nodes = append(form.Nodes, verifiedNode{
			Node: name, From: c.from, To: last.Number, Entries: c.Sealed, LastAt: last.At, LastHash: fmt.Sprintf("%x", last.Hash),
		})
	}
	if out.json() {
		if bad := printForm(io, form); bad != nil {
			return bad
		}
	} else {
		form.print(io)
		if err == nil && v.holds == "" && form.Seals > 0 {
			fmt.Fprintln(io.out, "That nothing was left out at the end only a hash shows that was noted elsewhere: note the last one, and name it later with --holds.")
		}
	}
	if err != nil {
		return exitStatus(exitNotDone)
	}
	return nil
}

func (f verified) print(io streams) {
	if f.OK {
		fmt.Fprintf(io.out, "The audit is what was written: %s under %s.\n", counted(f.Entries, "entry"), counted(f.Seals, "seal"))
	} else {
		fmt.Fprintf(io.out, "%s.\n", line(f.Broken, maxProse))
		fmt.Fprintf(io.out, "Good up to there: %s under %s.\n", counted(f.Entries, "entry"), counted(f.Seals, "seal"))
	}
	for _, n := range f.Nodes {
		fmt.Fprintf(io.out, "  node %s: seals %d to %d, the last of %s, %s\n", line(n.Node, maxName), n.From, n.To, timeWord(n.LastAt), n.LastHash)
		if n.From > 1 {
			fmt.Fprintf(io.out, "  what seals 1 to %d cover is not here; that they were good, seal %d can not show\n", n.From-1, n.From)
		}
	}
}

// readEvidence reads a file of evidence, a line for each seal.
func readEvidence(ctx context.Context, from streams, path string, take func(admin.Evidence) error) error {
	r := from.in
	if path != standardInput {
		file, err := os.Open(path)
		if err != nil {
			return usageError{err}
		}
		defer file.Close()
		r = file
	}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxEvidence)
	number := 0
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		number++
		var e admin.Evidence
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("%w: line %d is not evidence as it is exported", audit.ErrBroken, number)
		}
		if err := take(e); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	if number == 0 {
		return fmt.Errorf("%s holds no evidence", path)
	}
	return nil
}

// evidence asks for all seals after one, page by page.
func (in *installation) evidence(ctx context.Context, after int64, take func(text []byte, e admin.Evidence) error) error {
	for {
		page, err := in.do(ctx, get("audit", "evidence").with("after", fmt.Sprint(after)))
		if err != nil {
			return err
		}
		if len(bytes.TrimSpace(page)) == 0 {
			return nil
		}
		before, seals := after, 0
		for text := range bytes.Lines(page) {
			var e admin.Evidence
			if err := json.Unmarshal(text, &e); err != nil {
				return notAdmin(http.StatusOK)
			}
			if err := take(text, e); err != nil {
				return err
			}
			if len(e.Unsealed) == 0 {
				after, seals = e.Seal.Number, seals+1
			}
		}
		switch {
		case seals == 0:
			return nil
		case after <= before:
			return fmt.Errorf("%w: after seal %d comes seal %d", audit.ErrBroken, before, after)
		}
	}
}

package cli

import (
	"cmp"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/audit"
)

func newAudit(io streams) *cobra.Command {
	return group("audit", "See who did what, and verify the evidence of it",
		`The audit has names, codes, ids and hashes, and never content. Its entries are
sealed as they are written, each seal over the one before, so that none can be
changed or taken out unseen.`,
		`  legation audit list --since 1h --outcome refused
  legation audit export > audit.ndjson
  legation audit verify audit.ndjson`,
		newAuditList(io), newAuditVerify(io), newAuditExport(io))
}

func newAuditList(io streams) *cobra.Command {
	var since, who, party, operation, outcome, task string
	return adminList[admin.Audit, admin.AuditEntry]{
		use: "list", short: "List what was done, the latest first",
		example: `  legation audit list --since 1h
  legation audit list --party RemoteClient/acme --outcome refused
  legation audit list --operation apply --limit 1000 -o json`,
		what: "entries", none: "There are no such entries.", paged: true, keyless: true,
		flags: func(cmd *cobra.Command) {
			f := cmd.Flags()
			f.StringVar(&since, "since", "", "only what happened since then: a time (RFC 3339), or how long ago (2h)")
			f.StringVar(&who, "who", "", "only what this caller or person did")
			f.StringVar(&party, "party", "", "only what concerns this party or document")
			f.StringVar(&operation, "operation", "", "only this operation, such as SendMessage or apply")
			f.StringVar(&outcome, "outcome", "", "only what ended so: done, refused or failed")
			oneOf(cmd, "outcome", string(audit.Done), string(audit.Refused), string(audit.Failed))
			f.StringVar(&task, "task", "", "only what is about the task with this id")
		},
		request: func([]string) (request, error) {
			from, err := parseSince(since, time.Now())
			switch audit.Outcome(outcome) {
			case "", audit.Done, audit.Refused, audit.Failed:
			default:
				err = fmt.Errorf("--outcome: %q is not done, refused or failed", cut(outcome, 60))
			}
			if err != nil {
				return request{}, usageError{err}
			}
			r := get("audit").with("who", who).with("party", party).with("operation", operation).
				with("outcome", outcome).with("task", task)
			if !from.IsZero() {
				r = r.with("since", from.UTC().Format(time.RFC3339Nano))
			}
			return r, nil
		},
		items:   func(form admin.Audit) ([]admin.AuditEntry, int64) { return form.Entries, form.Next },
		heading: []string{"AT", "WHO", "OPERATION", "CONCERNS", "OUTCOME", "REASON", "TASK"},
		row: func(e admin.AuditEntry) []string {
			return []string{timeWord(e.At), e.Who, e.Operation, cmp.Or(e.Party, e.Agent, e.From), e.Outcome, repeated(e), e.TaskID}
		},
	}.command(io)
}

// repeated is a reason, with how often it was so.
func repeated(e admin.AuditEntry) string {
	if e.Count > 1 {
		return fmt.Sprintf("%s (%d times)", e.Reason, e.Count)
	}
	return e.Reason
}

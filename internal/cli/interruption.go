package cli

import (
	"errors"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
)

// interruption tells a person when a task can not be followed for a while.
type interruption struct {
	tell    func(string)
	leaving string    // what Ctrl-C does
	since   time.Time // zero while there is none
}

func (i *interruption) listen(cfg *client.Config) {
	cfg.Interrupted = func(_ a2a.TaskID, err error) {
		i.since = time.Now()
		i.tell(whatBroke(err) + "; trying again (" + i.leaving + ")")
	}
	cfg.Resumed = func(a2a.TaskID) {
		i.since = time.Time{}
		i.tell("connected again")
	}
}

// whatBroke tells a connection that is lost from an answer that is no use.
func whatBroke(err error) string {
	if _, ok := errors.AsType[*client.InvalidResponseError](err); ok {
		return "the agent's answer can not be used"
	}
	_, refused := errors.AsType[*client.HTTPError](err)
	if _, ok := errors.AsType[*client.PeerError](err); ok || refused {
		return "the agent is not available"
	}
	return "connection lost"
}

// end tells how long it was tried again, if an error is the end of that.
func (i *interruption) end(err error) {
	if !i.since.IsZero() && client.Classify(err, true) != client.Refused {
		i.tell("gave up after " + spoken(time.Since(i.since)))
	}
}

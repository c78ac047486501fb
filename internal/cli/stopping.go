package cli

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/legation/legation/internal/app"
)

// watchStop tells the person at the first signal what the server waits for,
// ends the wait at the second, and leaves a third to end the process. The
// returned function ends the watch.
func watchStop(io streams, a *app.App, drain time.Duration) (end func()) {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		defer signal.Stop(signals)
		for told := false; ; told = true {
			select {
			case <-done:
				return
			case <-signals:
			}
			if told {
				a.Hurry()
				return
			}
			if busy := a.Busy(); busy > 0 && drain > 0 {
				fmt.Fprintf(io.err, "Stopping: %d under way may finish within %v. Once more stops at once.\n", busy, drain)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

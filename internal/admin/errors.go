package admin

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"

	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/task"
)

func invalid(message, next string) *Failure {
	return &Failure{Status: http.StatusBadRequest, Code: CodeInvalid, Message: message, Next: next}
}

func notFound(message, next string) *Failure {
	return &Failure{Status: http.StatusNotFound, Code: CodeNotFound, Message: message, Next: next}
}

func conflict(message, next string) *Failure {
	return &Failure{Status: http.StatusConflict, Code: CodeConflict, Message: message, Next: next}
}

func noSuchPath() *Failure {
	return notFound("there is no such path", "/openapi.json says what there is")
}

func methodNotAllowed(w http.ResponseWriter, allowed ...string) *Failure {
	list := strings.Join(allowed, ", ")
	w.Header().Set("Allow", list)
	return &Failure{Status: http.StatusMethodNotAllowed, Code: CodeMethod, Message: "this path does not take that method", Next: "it takes " + list}
}

// failure is what is answered to an error. What is not listed is told to the
// log, and to whoever asks only that it happened; in the same process, where
// nobody reads a log, it is told itself.
func (h *Handler) failure(c *call, err error) *Failure {
	if failure, ok := errors.AsType[*Failure](err); ok && failure.Status >= 400 && failure.Status < 600 {
		return failure
	}
	if problems, ok := errors.AsType[registry.Problems](err); ok {
		return problemsFailure(problems)
	}
	switch {
	case errors.Is(err, registry.ErrNotFound):
		return notFound("no such document is registered", "see what is registered")
	case errors.Is(err, vault.ErrNotFound):
		return notFound("there is no such secret, or no such version of it", "")
	case errors.Is(err, people.ErrNotFound):
		return notFound("there is no such person", "")
	case errors.Is(err, task.ErrNotFound):
		return notFound("there is no such task", "")

	case errors.Is(err, registry.ErrConflict):
		return conflict("what is registered was changed meanwhile", "try again")
	case errors.Is(err, people.ErrLastAdmin):
		return conflict(people.ErrLastAdmin.Error(), "give somebody else the role admin first")
	case errors.Is(err, people.ErrFull):
		return conflict(people.ErrFull.Error(), "")
	case errors.Is(err, vault.ErrFull):
		return conflict(vault.ErrFull.Error(), "")
	case errors.Is(err, task.ErrEnded):
		return conflict("the task has ended already", "")

	case errors.Is(err, vault.ErrInvalid), errors.Is(err, people.ErrInvalid):
		// What they say of a value does not repeat it.
		_, words, _ := strings.Cut(err.Error(), people.ErrInvalid.Error()+": ")
		first, _, _ := strings.Cut(words, "\n")
		return invalid(first, "")

	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return &Failure{Status: http.StatusServiceUnavailable, Code: CodeBusy, Message: "it took too long and was given up", Next: "see what has become of it, and try again"}
	}
	if missing, ok := errors.AsType[*vault.UnknownKeyError](err); ok {
		return conflict(missing.Error(), "")
	}
	if h.cfg.Unavailable != nil && h.cfg.Unavailable(err) {
		h.log.Error("the admin API cannot store or read", "operation", c.operation, "error", err)
		return &Failure{
			Status: http.StatusServiceUnavailable, Code: CodeBusy, Message: "the store cannot do this at the moment: the disk is full, or fails",
			Next: "free space where the data directory is, see what has become of it, and try again",
		}
	}
	reference := strings.ToLower(rand.Text()[:12])
	h.log.Error("the admin API failed", "operation", c.operation, "reference", reference, "error", err)
	if h.cfg.Author != nil {
		return &Failure{Status: http.StatusInternalServerError, Code: CodeInternal, Message: err.Error()}
	}
	return &Failure{
		Status: http.StatusInternalServerError, Code: CodeInternal, Message: "this did not work, reference " + reference,
		Next: "the log of the server has the reason under that reference",
	}
}

func problemsFailure(problems registry.Problems) *Failure {
	failure := &Failure{Status: http.StatusUnprocessableEntity, Code: CodeProblems, Message: "nothing was changed: the documents have problems"}
	for _, p := range problems {
		failure.Problems = append(failure.Problems, Problem{
			File: p.Source.File, Line: p.Source.Line, Column: p.Source.Column,
			Document: p.Document, Path: p.Path, Words: p.Words, Next: p.Next,
		})
	}
	return failure
}

package task

import (
	"time"

	"github.com/legation/legation/a2a"
)

// Bounds of one [Survey]: tasks returned, and tasks looked at for them.
const (
	MaxSurvey     = 1000
	MaxSurveyScan = 100_000
)

// Survey asks for tasks of all owners, the newest first by when they were
// stored. The zero value of a member selects all. It is for those who look
// after an installation; callers see tasks through [Engine.List].
type Survey struct {
	Before int64 // tasks with a lower number
	Agent  string
	Caller string
	State  a2a.TaskState
	Limit  int // at most MaxSurvey, at least 1
}

// SurveyPage is one page of a survey.
type SurveyPage struct {
	Tasks []Surveyed

	// Next is what to survey before to get the next page; zero if there is
	// none. A page may have no tasks and yet a next one.
	Next int64
}

// Surveyed is a task without its content.
type Surveyed struct {
	Number    int64 // orders tasks of all owners by when they were stored
	Owner     Owner
	ID        a2a.TaskID
	ContextID a2a.ContextID
	Skill     string
	State     a2a.TaskState
	StatusAt  time.Time
	CreatedAt time.Time
	Turn      int   // the number of the latest turn
	Last      int64 // the number of the newest event
}

package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// surveyed are the columns of a task that are not its content, read by
// surveyRow.
const surveyed = `SELECT t.n, t.state, t.status_ms, t.created_ms, t.last, t.turn, t.id, t.context_id, t.skill, o.agent, o.caller
	FROM tasks t JOIN owners o ON o.n = t.owner `

func surveyRow(r row) task.Surveyed {
	return task.Surveyed{
		Number: r.int(0), Owner: task.Owner{Agent: r.text(9), Caller: r.text(10)},
		ID: a2a.TaskID(r.text(6)), ContextID: a2a.ContextID(r.text(7)), Skill: r.text(8), State: stateOf(r.int(1)),
		StatusAt: time.UnixMilli(r.int(2)).UTC(), CreatedAt: time.UnixMilli(r.int(3)).UTC(),
		Turn: int(r.int(5)), Last: r.int(4),
	}
}

// Survey reads tasks of all owners, the newest first. It looks at no more than
// [task.MaxSurveyScan] of them.
func (s *Store) Survey(ctx context.Context, query task.Survey) (page task.SurveyPage, err error) {
	var state int64
	if query.State != a2a.TaskStateUnspecified {
		if state, err = stateNumber(query.State); err != nil {
			return page, nil //nolint:nilerr // No task is in that state.
		}
	}
	limit := min(max(query.Limit, 1), task.MaxSurvey)
	err = s.read(ctx, func(r *reader) error {
		return r.snapshot(func() error {
			before := query.Before
			if before <= 0 {
				before = math.MaxInt64
			}
			ends, _, err := r.one("SELECT coalesce(max(n), 0), coalesce((SELECT min(n) FROM tasks), 0) FROM tasks WHERE n < ?1", before)
			if err != nil {
				return err
			}
			newest, oldest := ends.int(0), ends.int(1)
			from := max(newest-task.MaxSurveyScan+1, oldest)
			const text = surveyed + `WHERE t.n BETWEEN ?1 AND ?2 AND (?3 = '' OR o.agent = ?3) AND (?4 = '' OR o.caller = ?4)
				AND (?5 = 0 OR t.state = ?5) ORDER BY t.n DESC LIMIT ?6`
			args := []any{from, newest, query.Agent, query.Caller, state, int64(limit + 1)}
			err = r.each(text, args, func(found row) (bool, error) {
				page.Tasks = append(page.Tasks, surveyRow(found))
				return true, nil
			})
			switch {
			case len(page.Tasks) > limit:
				page.Tasks = page.Tasks[:limit]
				page.Next = page.Tasks[limit-1].Number
			case newest > 0 && from > oldest:
				page.Next = from
			}
			return err
		})
	})
	if err != nil {
		return task.SurveyPage{}, err
	}
	return page, nil
}

// Owners finds the tasks of an id, which each owner may have one of, oldest
// first, at most [task.MaxSurvey].
func (s *Store) Owners(ctx context.Context, id a2a.TaskID) (found []task.Surveyed, err error) {
	err = s.read(ctx, func(r *reader) error {
		return r.each(surveyed+"WHERE t.id = ?1 ORDER BY t.n LIMIT ?2", []any{string(id), int64(task.MaxSurvey)}, func(one row) (bool, error) {
			found = append(found, surveyRow(one))
			return true, nil
		})
	})
	return found, err
}

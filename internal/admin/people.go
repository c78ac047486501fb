package admin

import (
	"github.com/legation/legation/internal/people"
)

// listPeople tells who may use this.
func (h *Handler) listPeople(*call) (any, error) {
	answer := People{People: []Person{}}
	for _, p := range h.cfg.People.People() {
		answer.People = append(answer.People, h.personForm(p))
	}
	return answer, nil
}

// putPerson adds a person or gives one another role and token.
func (h *Handler) putPerson(c *call) (any, error) {
	var asked PutPerson
	if err := c.into(&asked); err != nil {
		return nil, err
	}
	role, err := people.ParseRole(asked.Role)
	if err != nil {
		return nil, err
	}
	p, token, err := h.cfg.People.Put(c.ctx, c.who, c.name("name"), role, asked.NotAfter)
	if err != nil {
		return nil, err
	}
	return IssuedToken{Person: h.personForm(p), Token: token}, nil
}

// removePerson removes a person.
func (h *Handler) removePerson(c *call) (any, error) {
	return nil, h.cfg.People.Remove(c.ctx, c.who, c.name("name"))
}

func (h *Handler) personForm(p people.Person) Person {
	return Person{
		Name: p.Name, Role: string(p.Role), TokenID: p.Token.ID, CreatedAt: p.CreatedAt, Author: p.Author,
		NotAfter: p.NotAfter, Expired: !p.InForce(h.now()),
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// Server answers HTTP requests for agents. It is safe for concurrent use.
type Server struct {
	engine *task.Engine
	cfg    Config
	public *url.URL
	routes atomic.Pointer[routes]

	places   places
	stopping context.Context
	stop     context.CancelFunc
}

var _ http.Handler = (*Server)(nil)

// New returns a server for agents whose tasks engine keeps. It fails on a
// public URL that is not absolute or not https, on names used twice, and on cards that lack
// what a card must have; the error says what is wrong with which agent.
func New(engine *task.Engine, agents []Agent, cfg Config) (*Server, error) {
	if engine == nil {
		return nil, errors.New("server: an engine is required")
	}
	public, err := publicURL(cfg.PublicURL)
	if err != nil {
		return nil, fmt.Errorf("server: public URL %q: %w", cfg.PublicURL, err)
	}
	s := &Server{engine: engine, cfg: cfg.withDefaults(), public: public}
	s.places.most = int64(s.cfg.MaxHeld)
	s.stopping, s.stop = context.WithCancel(context.Background())
	if err := s.Publish(context.Background(), agents); err != nil {
		return nil, err
	}
	return s, nil
}

// routes are where agents are served.
type routes struct {
	endpoints map[string]*endpoint // by path, without the slash at its end
	cards     map[string]*endpoint // by path
}

// publishLimit bounds how long the store may take over cards.
const publishLimit = 10 * time.Second

// Publish replaces all agents at once: requests that begin after it find the
// new ones. What is under way goes on. It fails as [New] does, and then changes
// nothing.
func (s *Server) Publish(ctx context.Context, agents []Agent) error {
	ctx, cancel := context.WithTimeout(ctx, publishLimit)
	defer cancel()
	next := &routes{endpoints: make(map[string]*endpoint), cards: make(map[string]*endpoint)}
	named := make(map[string]bool)
	for _, agent := range agents {
		e, err := newEndpoint(ctx, agent, s.public, s.cfg)
		if err == nil && agent.Name != "" && named[agent.Name] {
			err = errNameTaken
		}
		if err != nil {
			return fmt.Errorf("server: %s: %w", title(agent.Name), err)
		}
		named[agent.Name] = true
		for _, prefix := range prefixes(s.public.Path) {
			path := prefix + agent.route()
			if other := next.endpoints[path]; other != nil {
				return fmt.Errorf("server: %s: %w", title(agent.Name), addressTaken(path, other.name))
			}
			next.endpoints[path] = e
			next.cards[path+a2a.WellKnownCardPath] = e
		}
	}
	s.routes.Store(next)
	return nil
}

// Check returns why an agent could not be published beside others, which can be,
// or nil.
func (s *Server) Check(ctx context.Context, agent Agent, beside ...Agent) error {
	if err := s.place(agent, beside); err != nil {
		return err
	}
	_, err := newEndpoint(ctx, agent, s.public, s.cfg)
	return err
}

// place returns why an agent cannot be where it belongs, beside others: each is
// under the path of the public URL, and where it would be without one.
func (s *Server) place(agent Agent, beside []Agent) error {
	route, path := agent.route(), s.public.Path
	short, below := strings.CutPrefix(route, path)
	for _, other := range beside {
		switch {
		case agent.Name != "" && agent.Name == other.Name:
			return errNameTaken
		case other.isAt(route), below && other.isAt(short):
			return addressTaken(route, other.Name)
		case other.isAt(path + route):
			return addressTaken(path+route, other.Name)
		}
	}
	return nil
}

var errNameTaken = errors.New("its name is taken")

func addressTaken(path, by string) error {
	return fmt.Errorf("its address %s/ is taken by %s; the public URL has a path, or both are at the root", path, title(by))
}

// Stop ends what is held open, so that the process can go down: a wait returns
// its task as it stands, a stream is closed. Requests under way end soon after,
// and new ones no longer wait.
func (s *Server) Stop() { s.stop() }

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	routes := s.routes.Load()
	if e := routes.cards[r.URL.Path]; e != nil {
		s.serveCard(w, r, e)
		return
	}
	e := routes.endpoints[strings.TrimRight(r.URL.Path, "/")]
	c := &call{server: s, endpoint: e, w: w, r: r, began: time.Now()}
	defer c.rescue()
	if err := c.serve(); err != nil {
		c.fail(err)
		return
	}
	c.log(0, nil)
}

func title(agent string) string {
	if agent == "" {
		return "the default agent"
	}
	return fmt.Sprintf("agent %q", agent)
}

// route is the path of an agent below the public URL, without a slash at its
// end.
func (a *Agent) route() string {
	if a.Name == "" || a.Root {
		return ""
	}
	return "/agents/" + a.Name
}

// isAt reports whether a path is the route.
func (a *Agent) isAt(path string) bool {
	if a.Name == "" || a.Root {
		return path == ""
	}
	name, ok := strings.CutPrefix(path, "/agents/")
	return ok && name == a.Name
}

// prefixes are the paths that may stand before a route.
func prefixes(path string) []string {
	if path == "" {
		return []string{""}
	}
	return []string{"", path}
}

// publicURL parses the URL and takes the slashes off its end.
func publicURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("it cannot be parsed")
	}
	switch {
	case text == "":
		return nil, errors.New("it is required, as in https://agents.example.com")
	case u.Scheme != "https" && u.Scheme != "http", u.Hostname() == "", u.Opaque != "":
		return nil, errors.New("it must be absolute, as in https://agents.example.com")
	case u.Scheme == "http" && !loopbackHost(u.Host):
		return nil, errors.New("plain http is for this machine only; use https")
	case u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "", u.RawPath != "":
		return nil, errors.New("it must have no user, query, fragment or escaped path")
	}
	u.Path = strings.TrimRight(u.Path, "/")
	return u, nil
}

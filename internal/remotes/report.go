package remotes

import (
	"slices"
	"time"

	"github.com/legation/legation/internal/registry"
)

// Step is one of the things that are looked at, in this order.
type Step string

// The steps of [Remotes.Check].
const (
	StepRegistration Step = "registration" // enabled, classified, whole
	StepAddress      Step = "address"      // what the guard says of the URLs
	StepConnection   Step = "connection"   // whether somebody answers
	StepCard         Step = "card"         // whether that is a card
	StepSignature    Step = "signature"    // whose it is
	StepIdentity     Step = "identity"     // name and organization
	StepVersion      Step = "version"      // of the agent
	StepStructure    Step = "structure"    // whether it is what was accepted
	StepInterface    Step = "interface"    // how it is called
	StepExtensions   Step = "extensions"   // what either side requires
	StepSecurity     Step = "security"     // what the card asks of our credential
	StepCredential   Step = "credential"   // whether we have it
	StepCall         Step = "call"         // whether we are let in
)

// Steps returns the steps in their order.
func Steps() []Step {
	return []Step{
		StepRegistration, StepAddress, StepConnection, StepCard, StepSignature, StepIdentity, StepVersion,
		StepStructure, StepInterface, StepExtensions, StepSecurity, StepCredential, StepCall,
	}
}

// Outcome is how a step went.
type Outcome string

// The outcomes.
const (
	// Fine is a step with nothing to mend.
	Fine Outcome = "ok"
	// Warning is one that may be meant as it is.
	Warning Outcome = "warning"
	// Failed is one that keeps the agent from being used.
	Failed Outcome = "failed"
	// Skipped is one that an earlier failure left nothing to look at for.
	Skipped Outcome = "skipped"
)

// Finding is what one step found.
type Finding struct {
	Step    Step    `json:"step"`
	Outcome Outcome `json:"outcome"`

	// Words say what was found, on one line. What others said is in quotation
	// marks and bounded; nothing secret is in it.
	Words string `json:"words"`

	// Next says what to do, and is empty where there is nothing.
	Next string `json:"next,omitzero"`
}

// Report is what a check of one remote agent found.
type Report struct {
	Name registry.Name `json:"name"`

	// At is when the check began.
	At time.Time `json:"at"`

	// OK says that nothing keeps the agent from being used.
	OK bool `json:"ok"`

	// Findings has every step, in order.
	Findings []Finding `json:"findings"`

	// First is what to mend first, and how. It is empty if there is nothing.
	First string `json:"first,omitzero"`
}

func (r *Report) add(step Step, outcome Outcome, words, next string) {
	r.Findings = append(r.Findings, Finding{Step: step, Outcome: outcome, Words: words, Next: next})
}

func (r *Report) failed(step Step) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Step == step && f.Outcome == Failed })
}

// close puts in what was not looked at, and sums up.
func (r *Report) close(why string) {
	for _, step := range Steps() {
		if !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Step == step }) {
			r.add(step, Skipped, why, "")
		}
	}
	order := Steps()
	slices.SortStableFunc(r.Findings, func(a, b Finding) int {
		return slices.Index(order, a.Step) - slices.Index(order, b.Step)
	})
	r.OK = true
	for _, f := range r.Findings {
		if f.Outcome != Failed {
			continue
		}
		r.OK = false
		if r.First == "" {
			r.First = f.Words
			if f.Next != "" {
				r.First += "; " + f.Next
			}
		}
	}
}

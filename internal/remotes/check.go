package remotes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// Check looks at everything that lies between us and a remote agent, and says
// what to mend first. It reads the card anew, obtains the credential, and where
// the card is trusted makes one call that has no effect: for the extended card
// if the agent offers one, else for one task of ours. A registration that is
// disabled or lacks something is checked all the same. Who is recorded as the
// user of the credential. The error is [trust.ErrUnknown] or the context's.
func (r *Remotes) Check(ctx context.Context, name registry.Name, who string) (Report, error) {
	reg, ok := r.book.Registration(name)
	if !ok {
		return Report{}, fmt.Errorf("%w: %s", trust.ErrUnknown, quote(string(name)))
	}
	whole, cancel := context.WithTimeout(ctx, r.cfg.CheckTimeout)
	defer cancel()
	for range maxMoves {
		report := Report{Name: name, At: r.cfg.Now().UTC()}
		why := r.look(whole, &report, reg, who)
		if ctx.Err() != nil {
			return Report{}, ctx.Err()
		}
		now, ok := r.book.Registration(name)
		if !ok {
			return Report{}, fmt.Errorf("%w: %s", trust.ErrUnknown, quote(string(name)))
		}
		if now.Generation == reg.Generation {
			report.close(why)
			return report, nil
		}
		reg = now // what was found is about another one
	}
	return Report{}, fmt.Errorf("check of remote agent %s: %w", name, errMoved)
}

// look goes through the steps, and says why it stopped if it did.
func (r *Remotes) look(ctx context.Context, report *Report, reg trust.Registration, who string) (why string) {
	known, _ := r.book.Known(reg.Name)
	checkRegistration(report, known)
	if !r.checkAddress(report, reg.Spec) {
		return "the URL is refused"
	}
	l, err := r.leg(reg.Name, reg.Generation, reg.Spec)
	if err != nil {
		f := explain(err)
		report.add(StepCredential, Failed, f.words, f.next)
		return "the registration cannot be used"
	}
	known, err = r.book.RefreshNow(ctx, reg.Name)
	if known.Registration != reg.Generation {
		return errMoved.Error()
	}
	if !checkCard(report, known, err) {
		r.checkCredential(ctx, report, l, who)
		return "there is no card to look at"
	}
	trusted := checkTrust(report, reg.Spec, known)
	if known.Card != nil {
		checkSecurity(report, reg.Spec, *known.Card)
	}
	obtained := r.checkCredential(ctx, report, l, who)
	switch {
	case !trusted:
		return "nothing is sent to an agent whose card is not trusted"
	case !obtained:
		return "there is no credential to send"
	}
	r.checkCall(ctx, report, l, known, who)
	return ""
}

func checkRegistration(report *Report, known trust.Knowledge) {
	for _, reason := range known.Reasons {
		if reason.Code == trust.CodeRegistration {
			words, next, _ := strings.Cut(reason.Words, ": ")
			report.add(StepRegistration, Failed, words, next)
		}
	}
	if len(report.Findings) == 0 {
		report.add(StepRegistration, Fine, "it is enabled, classified and whole", "")
	}
}

func (r *Remotes) checkAddress(report *Report, spec *registry.RemoteAgent) bool {
	policy := r.policy(spec.Exceptions)
	for _, u := range []registry.URL{spec.URL, spec.CardURL} {
		if u == "" {
			continue
		}
		if err := guard.CheckURL(string(u), policy); err != nil {
			f := explain(err)
			report.add(StepAddress, Failed, f.words, f.next)
			return false
		}
	}
	report.add(StepAddress, Fine, "the guard lets it be reached", "")
	return true
}

// checkCard reports whether there is a card.
func checkCard(report *Report, known trust.Knowledge, err error) bool {
	if err == nil {
		report.add(StepConnection, Fine, "it answers", "")
		report.add(StepCard, Fine, "there is a card at "+oneLine(known.URL), "")
		return true
	}
	f := explain(err)
	if refused, ok := errors.AsType[*trust.ReadError](err); ok && refused.Err != nil {
		f = explain(refused.Err)
	}
	switch {
	case f.answered:
		report.add(StepConnection, Fine, "it answers", "")
		report.add(StepCard, Failed, "there is no card: "+f.words, f.next)
	case f.code == codeAddress:
		report.add(StepAddress, Failed, f.words, f.next) // its addresses, once it was resolved
	default:
		report.add(StepConnection, Failed, f.words, f.next)
	}
	return false
}

// stepOf says what a reason is about.
func stepOf(code trust.Code) Step {
	switch code {
	case trust.Code(card.ReasonName), trust.Code(card.ReasonOrganization):
		return StepIdentity
	case trust.Code(card.ReasonVersion):
		return StepVersion
	case trust.CodeStructure:
		return StepStructure
	case trust.CodeInterface:
		return StepInterface
	case trust.CodeExtensionMissing, trust.CodeExtensionUnknown:
		return StepExtensions
	case trust.CodeFaulty, codeMalformed:
		return StepCard
	}
	return StepSignature
}

// checkTrust reports whether the card as it is now is trusted, whatever the
// registration lacks.
func checkTrust(report *Report, spec *registry.RemoteAgent, known trust.Knowledge) bool {
	trusted := true
	for _, reason := range known.Reasons {
		if reason.Code == trust.CodeRegistration || reason.Code == trust.CodeCredential {
			continue // each has its step
		}
		trusted = false
		step := stepOf(reason.Code)
		if step == StepCard {
			report.replace(StepCard)
		}
		report.add(step, Failed, oneLine(reason.Words), oneLine(reason.Next))
	}
	fine := func(step Step, words string) {
		if !report.failed(step) {
			report.add(step, Fine, words, "")
		}
	}
	if report.failed(StepSignature) || report.failed(StepCard) {
		return false
	}
	switch {
	case spec.Pin.AllowUnsigned:
		report.add(StepSignature, Warning, "no signature is asked for: only the connection says who wrote the card", "pin a key of the agent once it signs")
	case known.Card != nil:
		fine(StepSignature, "it is signed by key "+quote(known.KeyID)+" with "+known.Algorithm)
	default:
		fine(StepSignature, "it is signed by a pinned key")
	}
	if known.Card == nil {
		return false
	}
	name := quote(known.Card.Name)
	if p := known.Card.Provider; p != nil {
		name += " of " + quote(p.Organization)
	}
	if spec.Pin.Name == "" && spec.Pin.Organization == "" {
		name += "; neither name nor organization is pinned"
	}
	fine(StepIdentity, "it is "+name)
	fine(StepVersion, "the agent has version "+quote(known.Card.Version))
	fine(StepStructure, "it is what was accepted")
	fine(StepExtensions, "neither side lacks an extension that the other requires")
	if called, err := client.ParseCard(known.Card.AppendJSON(nil), string(spec.URL)); err == nil {
		if iface, err := called.Interface(); err == nil {
			fine(StepInterface, iface.ProtocolBinding+" "+iface.ProtocolVersion+" at "+quote(shown(iface.URL)))
		}
	}
	return trusted
}

// replace drops what was found in a step.
func (r *Report) replace(step Step) {
	kept := r.Findings[:0]
	for _, f := range r.Findings {
		if f.Step != step {
			kept = append(kept, f)
		}
	}
	r.Findings = kept
}

func checkSecurity(report *Report, spec *registry.RemoteAgent, of a2a.AgentCard) {
	err := credential.Satisfies(of, spec.Credential)
	if unmet, ok := errors.AsType[*credential.UnmetError](err); ok {
		words, next := unmetWords(unmet)
		report.add(StepSecurity, Failed, words, next)
		return
	}
	skills, next := unmetSkills(spec, of)
	if len(skills) > 0 {
		report.add(StepSecurity, Warning, "the credential is what the card asks for, and not what is asked for "+oneLine(strings.Join(skills, ", ")), next)
		return
	}
	report.add(StepSecurity, Fine, "the credential is what the card asks for", "")
}

// unmetSkills names skills that ask for more than the card does, and says what the
// first of them needs.
func unmetSkills(spec *registry.RemoteAgent, of a2a.AgentCard) (skills []string, next string) {
	const listed = 5
	for _, skill := range of.Skills {
		unmet, ok := errors.AsType[*credential.UnmetError](credential.SatisfiesSkill(of, skill.ID, spec.Credential))
		switch {
		case !ok:
			continue
		case len(skills) == listed:
			return append(skills, "others"), next
		case len(skills) == 0:
			_, next = unmetWords(unmet)
			next = "if they are to be used: " + next
		}
		skills = append(skills, "skill "+quote(skill.ID))
	}
	return skills, next
}

// checkCredential reports whether there is a credential, or none is needed.
func (r *Remotes) checkCredential(ctx context.Context, report *Report, l *leg, who string) bool {
	if l.source.Kind() == credential.None {
		report.add(StepCredential, Fine, "none is sent, as the registration says", "")
		return true
	}
	ends, err := l.source.Check(ctx, who)
	if err != nil {
		f := explain(err)
		report.add(StepCredential, Failed, f.words, f.next)
		return false
	}
	words := "there is one, of the kind " + string(l.source.Kind())
	if !ends.IsZero() {
		words += ", until " + ends.UTC().Format(time.RFC3339)
	}
	report.add(StepCredential, Fine, words, "")
	return true
}

// checkCall makes a call that has no effect.
func (r *Remotes) checkCall(ctx context.Context, report *Report, l *leg, known trust.Knowledge, who string) {
	called, err := client.ParseCard(known.Card.AppendJSON(nil), string(l.spec.URL))
	var c *client.Client
	if err == nil {
		c, err = client.New(called, l.calls(who, known.Extensions, nil))
	}
	method := a2a.MethodListTasks
	if err == nil {
		if extended := known.Card.Capabilities.ExtendedAgentCard; extended != nil && *extended {
			method = a2a.MethodGetExtendedAgentCard
			_, err = c.GetExtendedAgentCard(ctx)
		} else {
			_, err = c.ListTasks(ctx, &a2a.ListTasksRequest{PageSize: new(int32(1))})
		}
	}
	if err == nil {
		report.add(StepCall, Fine, "the agent let us in: "+method+" was answered", "")
		return
	}
	f := explain(err)
	outcome := Failed
	if peer, ok := errors.AsType[*client.PeerError](err); ok && f.code != codeRefused {
		// It is the agent that speaks, and it has other worries than who we are.
		outcome, f.next = Warning, "the agent was reached; whether it lets us in shows with the first message"
		switch peer.Err.Kind() {
		case a2a.CodeVersionNotSupported, a2a.CodeExtensionSupportRequired:
			outcome, f.next = Failed, "ask the agent's operator; its card promises otherwise"
		}
	}
	report.add(StepCall, outcome, method+": "+f.words, f.next)
}

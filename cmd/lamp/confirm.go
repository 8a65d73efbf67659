package main

import (
	"fmt"
	"strconv"
	"strings"
)

// consent is a question to the user before an act.
type consent struct {
	question string // "Stop 3 resources?"
	number   int    // of resources: the user types it instead of y; 0 is y
	yes      bool   // --yes
}

// confirm asks the user. It returns an error unless they agree. Without a terminal only --yes agrees.
func (a *app) confirm(c consent) error {
	if c.yes {
		return nil
	}
	if !a.asks {
		return misused("there is no terminal to ask %q: add --yes if you are sure; %w", c.question, errNothingDone)
	}
	if c.number > 0 {
		return a.confirmNumber(c)
	}
	answer, err := a.ask(cleanText(c.question) + " [y/N] ")
	if err != nil {
		return err
	}
	if !strings.EqualFold(answer, "y") && !strings.EqualFold(answer, "yes") {
		return fail(exitFailed, "you did not agree; %w", errNothingDone)
	}
	return nil
}

func (a *app) confirmNumber(c consent) error {
	answer, err := a.ask(fmt.Sprintf("%s Type the number of resources to agree: ", cleanText(c.question)))
	if err != nil {
		return err
	}
	if answer != strconv.Itoa(c.number) {
		return fail(exitFailed, "the number is %d, and not %q; %w", c.number, answer, errNothingDone)
	}
	return nil
}

// agree asks for consent to a plan.
func (a *app) agree(p *plan, question string, yes bool) error {
	n := len(p.resources())
	c := consent{question: question, yes: yes}
	if n > manyResources || p.isProduction {
		c.number = n
	}
	return a.confirm(c)
}

package web

import (
	"fmt"
	"net/http"
)

const keyHeader = "X-Api-Key"

// account is whom an API key stands for.
type account struct{ id, plan string }

var accounts = newAccounts()

func newAccounts() map[string]account {
	known := map[string]account{}
	for i := range 1000 {
		known[keyOf(i)] = account{id: fmt.Sprintf("customer-%04d", i), plan: plan}
	}
	return known
}

func keyOf(i int) string { return fmt.Sprintf("key_%08d", i*7919) }

// caller is how every contender finds whom to charge.
func caller(r *http.Request) account { return accounts[r.Header.Get(keyHeader)] }

// callerID is caller for those who know no plans.
func callerID(r *http.Request) (string, error) { return caller(r).id, nil }

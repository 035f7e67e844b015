package httplimit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tierlimit/tierlimit/core"
	"github.com/tierlimit/tierlimit/httplimit"
)

func TestStatusOfABodyThatCouldNotBePeeked(t *testing.T) {
	t.Parallel()
	l := newLimiter(t, core.PerMinute(10))
	for _, c := range []struct {
		err    error
		status int
		body   string
	}{
		{httplimit.ErrBodyTooLarge, 413, `{"error":"payload too large"}`},
		{httplimit.ErrBodyRead, 400, `{"error":"failed to read request body"}`},
		{fmt.Errorf("identify: %w", httplimit.ErrBodyTooLarge), 413, `{"error":"payload too large"}`},
		{fmt.Errorf("identify: %w: %w", httplimit.ErrBodyRead, io.ErrUnexpectedEOF), 400, `{"error":"failed to read request body"}`},
		{errors.New("other"), 503, `{"error":"service unavailable"}`},
	} {
		d := l.Fail(t.Context(), c.err)
		require.Equal(t, c.status, httplimit.Status(d))
		rec := answer(httplimit.Refuse, http.MethodPost, d)
		require.Equal(t, c.status, rec.Code)
		require.Equal(t, c.body, rec.Body.String())
	}

	gone, hangUp := context.WithCancel(t.Context())
	hangUp()
	require.Equal(t, 499, httplimit.Status(l.Fail(gone, httplimit.ErrBodyRead)), "who hung up sent no bad body")

	d := core.Decision{Outcome: core.StorageFailed, Err: httplimit.ErrBodyTooLarge}
	require.Equal(t, 503, httplimit.Status(d), "only identification reads bodies")
}

func TestStatusIsTheDecisionsOwn(t *testing.T) {
	t.Parallel()
	for _, d := range append(everyOutcome(t), core.Decision{}, allowed(t, core.PerMinute(10))) {
		for _, d.Shadowed = range []bool{false, true} {
			require.Equal(t, d.Status(), httplimit.Status(d), d.Outcome)
		}
	}
}

func TestRefuseByPolicyStatus(t *testing.T) {
	t.Parallel()
	for status := 400; status <= 599; status++ {
		reason := http.StatusText(status)
		switch {
		case status == 503:
			reason = "service unavailable"
		case reason == "":
			reason = "request denied"
		}
		quoted, err := json.Marshal(reason)
		require.NoError(t, err)
		for _, d := range []core.Decision{
			newLimiter(t, core.PerMinute(10), core.OnMissing(core.Deny(status))).Take(t.Context(), core.Identity{}, 1),
			newLimiter(t, core.PerMinute(10), core.OnUnknownTier(core.Deny(status))).Take(t.Context(), core.Identity{Key: "key_eva", Tier: "gold"}, 1),
			newLimiterOver(t, downStore{}, "free", core.PerMinute(10), core.OnStorageError(core.Deny(status))).Take(t.Context(), ana, 1),
		} {
			rec := answer(httplimit.Refuse, http.MethodGet, d)
			require.Equal(t, status, rec.Code)
			require.Equal(t, `{"error":`+string(quoted)+`}`, rec.Body.String())
			require.Equal(t, http.Header{"Content-Type": {"application/json"}}, rec.Header(), status)
		}
	}
}

package record

import (
	"context"
	"log/slog"
)

// ReportUnmet logs that a price was set on a route where no limiter heeded it.
func ReportUnmet(ctx context.Context, adapter string, cost int) {
	slog.ErrorContext(ctx, "rate limit: a Cost met no limiter, so the request did not pay it; install New on the route, its group or the server",
		"package", adapter, "cost", cost)
}

// ReportInvalid logs that a price set during the request is none.
func ReportInvalid(ctx context.Context, adapter string, cost any) {
	slog.ErrorContext(ctx, "rate limit: the cost is no int of at least 0, so nothing was settled", "package", adapter, "cost", cost)
}

// reportLate logs that a price came when the request was settled already.
func reportLate(ctx context.Context, cost int) {
	slog.ErrorContext(ctx, "rate limit: a cost was set after the request was settled, so it was not paid", "cost", cost)
}

package record

import (
	"context"
	"log/slog"
)

// ReportUnmet logs that a price was set on a route where no limiter heeded it.
func ReportUnmet(ctx context.Context, adapter string, cost int) {
	slog.ErrorContext(ctx, adapter+": Cost met no limiter, so the request was not charged for; install New on this route, its group or the whole server", "cost", cost)
}

// ReportInvalid logs that a price set during the request is none.
func ReportInvalid(ctx context.Context, adapter string, cost any) {
	slog.ErrorContext(ctx, adapter+": the cost is not an int of at least 0, so nothing was settled", "cost", cost)
}

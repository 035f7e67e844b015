package httplimit

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
)

var (
	// ErrBodyTooLarge is returned by [PeekBody]; returned by an IdentifyFunc it
	// is answered 413.
	ErrBodyTooLarge = errors.New("httplimit: the request body is larger than allowed")
	// ErrBodyRead is returned by [PeekBody] when the body could not be read;
	// returned by an IdentifyFunc it is answered 400.
	ErrBodyRead = errors.New("httplimit: the request body could not be read")
)

// PeekBody returns the whole body of r, at most limit bytes (64 << 10 suits an
// API key in JSON), and puts it back for the handler to read. A body that is
// longer is [ErrBodyTooLarge]: by its declared length without a byte being
// read, else as soon as the limit is passed. Do not identify such a request by
// something else, which would let callers choose.
func PeekBody(r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	limit = min(max(limit, 0), math.MaxInt64-1)
	if r.ContentLength > limit {
		return nil, ErrBodyTooLarge
	}
	body := r.Body
	read, err := io.ReadAll(io.LimitReader(body, limit+1))
	r.Body = &peekedBody{Reader: io.MultiReader(bytes.NewReader(read), &rest{body, err}), Closer: body}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, fmt.Errorf("%w: %w", ErrBodyTooLarge, err)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBodyRead, err)
	case int64(len(read)) > limit:
		return nil, ErrBodyTooLarge
	}
	return read, nil
}

// peekedBody is a body whose beginning was read and put back.
type peekedBody struct {
	io.Reader
	io.Closer
}

// rest is what follows: the error that reading met, or the unread remainder.
type rest struct {
	body io.Reader
	err  error
}

func (r *rest) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	return r.body.Read(p)
}

package httplimit

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestAppendJSON(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"":             `""`,
		"free":         `"free"`,
		`a"b\c`:        `"a\"b\\c"`,
		"\x00\n\x1f":   `"\u0000\u000a\u001f"`,
		"\x7f\u0080":   `"\u007f\u0080"`,
		"\u009f\u00a0": "\"\\u009f\u00a0\"",
		"größe プロ 😀":   `"größe プロ 😀"`,
		"</script>":    `"</script>"`,
		"\xff":         `"` + "\ufffd" + `"`,
		"a\xe3\x83b":   `"a` + "\ufffd\ufffd" + `b"`,
	} {
		require.Equal(t, want, string(appendJSON(nil, s)), "%q", s)
	}
	require.Equal(t, `"free","pro"`, string(appendJSON([]byte(`"free",`), "pro")))
}

func FuzzAppendJSON(f *testing.F) {
	for _, s := range []string{"", "free", `"\`, "\x00\x7f\u0085", "größe", "\xff\xc3", "\xed\xa0\x80", "\U0010ffff", "</script>\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		b := appendJSON(nil, s)
		require.True(t, utf8.Valid(b))
		var got string
		require.NoError(t, json.Unmarshal(b, &got))
		require.Equal(t, string([]rune(s)), got) // each byte that is no UTF-8 is one U+FFFD
		require.NotContains(t, string(b), "\n")
		require.Equal(t, -1, bytes.IndexFunc(b, func(r rune) bool { return r < 0x20 || 0x7f <= r && r < 0xa0 }))
	})
}

package httplimit

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// appendJSON appends s as a JSON string. Quotes, backslashes and control
// characters (DEL and C1 too) are escaped, other text stays as it is; bytes
// that are no UTF-8 become U+FFFD.
func appendJSON(b []byte, s string) []byte {
	b = append(b, '"')
	if plain(s) {
		b = append(b, s...)
		return append(b, '"')
	}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < 0x20 || 0x7f <= r && r < 0xa0:
			b = append(b, '\\', 'u', '0', '0', hexDigits[r>>4], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}

// plain tells whether s stands for itself in JSON, as nearly every tier's name
// does.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

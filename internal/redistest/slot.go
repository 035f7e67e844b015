package redistest

import "strings"

// Slots is how many slots a cluster has; they are numbered from 0.
const Slots = 16384

// Slot is the slot of a key, by what stands in its first {} where that is not
// empty. It is written apart from what it tests, as an oracle, and is itself
// held against CLUSTER KEYSLOT.
func Slot(key string) int {
	if _, rest, ok := strings.Cut(key, "{"); ok {
		if tag, _, ok := strings.Cut(rest, "}"); ok && tag != "" {
			key = tag
		}
	}
	// CRC-16/XMODEM, which the standard library does not have.
	var crc uint16
	for _, b := range []byte(key) {
		crc ^= uint16(b) << 8
		for range 8 {
			carry := crc&0x8000 != 0
			crc <<= 1
			if carry {
				crc ^= 0x1021
			}
		}
	}
	return int(crc) % Slots
}

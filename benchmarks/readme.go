package main

import (
	"fmt"
	"os"
	"strings"
)

// rewrite puts text between the marks of a part in a file, which are comments
// on lines of their own: <!-- memory --> and <!-- /memory -->.
func rewrite(file, part, text string) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	page, err := replaced(string(old), part, text)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, []byte(page), 0o644)
}

func replaced(page, part, text string) (string, error) {
	head, rest, begun := strings.Cut(page, "<!-- "+part+" -->\n")
	_, tail, ended := strings.Cut(rest, "<!-- /"+part+" -->\n")
	if !begun || !ended {
		return "", fmt.Errorf("no marks of %s", part)
	}
	return head + "<!-- " + part + " -->\n\n" + strings.TrimSpace(text) + "\n\n<!-- /" + part + " -->\n" + tail, nil
}

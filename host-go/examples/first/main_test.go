package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const readme = "../../README.md"

// block of the README that begins with a line.
func block(t *testing.T, text, first string) string {
	t.Helper()
	_, rest, found := strings.Cut(text, first+"\n")
	inside, _, ends := strings.Cut(rest, "```\n")
	if !found || !ends {
		t.Fatalf("README.md has no block %q", first)
	}
	return inside
}

func TestTheProgramOfTheReadmeRunsInAnEmptyModule(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	program := block(t, string(text), "```go")
	own, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	if program != string(own) {
		t.Fatal("README.md has another program than examples/first/main.go")
	}
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	// The sums stand in for `go mod tidy`, which looks for the newest versions.
	sums, err := os.ReadFile("../../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"main.go": own, "go.sum": sums} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(arguments ...string) string {
		t.Helper()
		command := exec.Command("go", arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		var said strings.Builder
		command.Stderr = &said
		printed, err := command.Output()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, said.String())
		}
		return string(printed)
	}
	run("mod", "init", "try")
	run("mod", "edit", "-require", "apportion.dev/apportion@v0.0.0",
		"-replace", fmt.Sprintf("apportion.dev/apportion=%s", checkout))
	if printed, expected := run("run", "."), block(t, string(text), "```text"); printed != expected {
		t.Fatalf("it printed\n%s", printed)
	}
}

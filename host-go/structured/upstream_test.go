package structured

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reference is the module whose tests are run.
const reference = "k8s.io/dynamic-resource-allocation"

// atLeast so many cases pass: fewer would mean that the tables were not found.
const atLeast = 280

// different are the cases with another answer here, and why; docs/go.md lists them, too.
var different = map[string]string{
	"consumable-capacity-requests-are-not-modified": "has an amount of 1e21, which k8s.io/apimachinery writes to JSON as 1",
}

func TestTheTablesOfUpstreamsTestsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("builds upstream's tests")
	}
	var module struct{ Dir string }
	listed, err := exec.Command("go", "list", "-m", "-json", reference).Output()
	if err == nil {
		err = json.Unmarshal(listed, &module)
	}
	if err != nil || module.Dir == "" {
		t.Skipf("the source of %s is not there: %v", reference, err)
	}
	folder := t.TempDir()
	copied := filepath.Join(folder, "upstream")
	if err := os.CopyFS(copied, os.DirFS(module.Dir)); err != nil {
		t.Fatal(err)
	}
	tables := "structured/internal/allocatortesting"
	change(t, filepath.Join(copied, tables, "allocator_testing.go"),
		// A search of another engine takes other steps: cases that count them are compared by their results.
		"tc.expectNumAllocateOneInvocations > 0 && !ok", "false && !ok",
		"tc.expectNumAllocateOneInvocations; expectNumAllocateOneInvocations > 0", "tc.expectNumAllocateOneInvocations; false",
		// Amounts are compared by their value, and not by how they are held in memory.
		"gomega.ConsistOf(results)", "gomega.ConsistOf(byValue(results)...)",
		"gomega.ConsistOf(tc.expectResults...)", "gomega.ConsistOf(byValue(tc.expectResults)...)",
	)
	ours := "structured/internal/apportion"
	for name, below := range map[string]string{"by_value.go": tables, "allocator_test.go": ours} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(copied, below, name), text)
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), text)
	}
	own, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	run := func(arguments ...string) (string, error) {
		command := exec.Command("go", arguments...)
		command.Dir, command.Env = folder, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		said, err := command.CombinedOutput()
		return string(said), err
	}
	if said, err := run("mod", "edit", "-module", "try", "-require", "apportion.dev/apportion/structured@v0.0.0",
		"-replace", "apportion.dev/apportion="+filepath.Dir(own), "-replace", "apportion.dev/apportion/structured="+own,
		"-replace", reference+"="+copied); err != nil {
		t.Fatal(said, err)
	}
	said, err := run("test", "-v", reference+"/"+ours)
	if strings.Contains(said, "cannot find module providing package") || strings.Contains(said, "dial tcp") {
		t.Skipf("what upstream's tests import is not there:\n%s", said)
	}
	passed := regexp.MustCompile(`(?m)^ +--- PASS: TestTables/(\S+)`).FindAllString(said, -1)
	if skipped := regexp.MustCompile(`(?m)^ +--- SKIP: .*`).FindAllString(said, -1); len(skipped) > 0 {
		t.Error("skipped:", skipped)
	}
	for _, failed := range regexp.MustCompile(`(?m)^ +--- FAIL: TestTables/(\S+)`).FindAllStringSubmatch(said, -1) {
		if why, isKnown := different[failed[1]]; isKnown {
			t.Logf("%s differs: it %s", failed[1], why)
		} else {
			t.Errorf("%s fails", failed[1])
		}
	}
	if len(passed) < atLeast {
		t.Errorf("%d cases passed, %v", len(passed), err)
	}
	if t.Failed() {
		t.Log(said)
	}
	t.Logf("%d cases passed", len(passed))
}

// change replaces texts of a file, each of which has to occur once.
func change(t *testing.T, path string, pairs ...string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for index := 0; index < len(pairs); index += 2 {
		if bytes.Count(text, []byte(pairs[index])) != 1 {
			t.Fatalf("%s does not have %q once", path, pairs[index])
		}
		text = bytes.ReplaceAll(text, []byte(pairs[index]), []byte(pairs[index+1]))
	}
	write(t, path, text)
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	// Files of the module cache are read-only, and so are their copies.
	_ = os.Remove(path)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

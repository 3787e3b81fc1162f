package engine

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	checkout = "../../.."
	// built is what `cargo xtask module` made last.
	built = "target/wasm/apportion-module.wasm"
	// embedded is where it puts it.
	embedded = "host-go/internal/engine/apportion.wasm"
	// rebuilds is the variable that asks for another build, which takes minutes.
	rebuilds = "APPORTION_REBUILD"
)

// same fails where a file is not the embedded module.
func same(t *testing.T, path string) {
	t.Helper()
	other, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(other, Module) {
		t.Fatalf("%s has %d bytes, SHA-256 %x; the embedded module has %d, %x: run `cargo xtask module`",
			path, len(other), sha256.Sum256(other), len(Module), sha256.Sum256(Module))
	}
}

func TestTheEmbeddedModuleIsTheOneThatWasBuilt(t *testing.T) {
	path := filepath.Join(checkout, built)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("nothing was built here: %v", err)
	}
	same(t, path)
}

func TestAnotherBuildHasTheSameBytes(t *testing.T) {
	if os.Getenv(rebuilds) == "" {
		t.Skipf("builds the module from the sources in another folder, which takes minutes: set %s=1", rebuilds)
	}
	if _, err := exec.LookPath("cargo"); err != nil {
		t.Skip("Rust is not there:", err)
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = checkout
	names, err := list.Output()
	if err != nil {
		t.Skip("the folder is no checkout:", err)
	}
	folder := t.TempDir()
	for name := range strings.SplitSeq(strings.Trim(string(names), "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(checkout, name))
		if os.IsNotExist(err) {
			continue
		}
		target := filepath.Join(folder, name)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(target), 0o755)
		}
		if err == nil {
			err = os.WriteFile(target, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	build := exec.Command("cargo", "xtask", "module")
	build.Dir = folder
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	same(t, filepath.Join(folder, embedded))
}

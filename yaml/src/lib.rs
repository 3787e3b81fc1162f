//! YAML as `kubectl` reads it.

// What the page says, in one place.

export const TITLE = "Apportion";
export const TAGLINE = "What Dynamic Resource Allocation does with your YAML";
export const PRIVACY = "Nothing leaves this page.";
export const EDITOR_LABEL = "Manifests, YAML or JSON";
export const MANIFESTS = "Manifests";
export const RESULT = "Result";
export const WORKING = "Working";
export const FINDINGS = "Findings";
export const NOTES = "Notes";
export const NOTHING = "No Pods yet. Paste Pods or workloads that use claims, together with DeviceClasses and ResourceSlices.";
export const FAILED = "The engine stopped";
export const FAILED_HELP = "It starts again with the next change. If this happens every time, please report it together with the text.";
export const VERSION_LABEL = "Kubernetes";
export const ALL_VERSIONS = "newest, every gate on";

// The state in a link: `#v1=` and compressed JSON, `#example=` and a name, or `#url=` and where a text is. Links are foreign: what they hold is read piece by piece.

import { isRecord, list, record, text } from "../foreign";
import { normalised } from "../files";
import { isVersion } from "../protocol";
import { GATES } from "../windows/gates";
import { NO_FILTER, type Shared, type State, VIEWS, type View, initial } from "../state";

const PREFIX = "#v1=";
const EXAMPLE = "#example=";
const URL_OF_TEXT = "#url=";

/** Origins from which the page may load a text once its reader agrees; said when it is built. */
declare const HOSTS: readonly string[];

/** More than this is too much for an address. */
export const MAX_LENGTH = 100_000;

/** What a link may unpack to; more is taken for a trap. */
const MAX_UNPACKED = 20_000_000;

/** A longer text is not even packed: that takes time, and no manifests get short enough by it. */
const MAX_PACKED = 5_000_000;

/** What of the state belongs to a link. */
export function sharedOf(state: State): Shared {
  const { name, files, active, version, gates, view, filter, script, untilMillis, expression, device, otherText } = state;
  return { name, files, active, version, gates, view, filter, script, untilMillis, expression, device, otherText };
}

/** The fragment of a link; undefined where it would be too long. */
export async function fragmentOf(shared: Shared): Promise<string | undefined> {
  if (shared.files.reduce((sum, { text }) => sum + text.length, shared.otherText.length) > MAX_PACKED) return undefined;
  const bytes = await through(new Blob([JSON.stringify(shared)]).stream(), new CompressionStream("deflate-raw"), Infinity);
  if (bytes.length > MAX_LENGTH) return undefined;
  const fragment = PREFIX + base64(bytes);
  return fragment.length > MAX_LENGTH ? undefined : fragment;
}

/** What a link says, without what this page does not know: gates and versions of a newer one. */
export interface Link {
  shared: Shared;
  unknown: readonly string[];
}

/** Where a text is to be loaded from, if the reader agrees. */
export interface Elsewhere {
  address: URL;
}

/** What a fragment says; undefined for none, a message where it cannot be read. */
export async function readFragment(fragment: string): Promise<Link | Elsewhere | string | undefined> {
  if (fragment === "" || fragment === "#") return undefined;
  if (fragment.startsWith(URL_OF_TEXT)) return readAddress(fragment.slice(URL_OF_TEXT.length), typeof HOSTS === "undefined" ? [] : HOSTS);
  if (fragment.startsWith(EXAMPLE)) return readExample(fragment.slice(EXAMPLE.length));
  if (!fragment.startsWith(PREFIX)) return /^#v\d+=/.test(fragment) ? "it was made by a newer version of this page" : "it is none of this page";
  try {
    const packed = new Blob([fromBase64(fragment.slice(PREFIX.length))]).stream();
    const bytes = await through(packed, new DecompressionStream("deflate-raw"), MAX_UNPACKED);
    return read(JSON.parse(new TextDecoder().decode(bytes))) ?? "it holds no files";
  } catch {
    return "it is damaged or cut short";
  }
}

/** An address of one of the hosts; a message for any other. */
export function readAddress(text: string, hosts: readonly string[]): Elsewhere | string {
  try {
    const address = new URL(decodeURIComponent(text));
    if (hosts.includes(address.origin)) return { address };
    const known = hosts.length === 0 ? "of no other host" : `of ${hosts.join(", ")} alone`;
    return `it names an address of ${address.host}, and this page loads texts ${known}. Open the address and paste its text here`;
  } catch {
    return "behind `#url=` is no address";
  }
}

async function readExample(name: string): Promise<Link | string> {
  const { exampleNamed, filesOf, namesLike, scriptOf } = await import("../windows/catalogue");
  const example = exampleNamed(name);
  if (example === undefined) return `there is no example \`${name}\`, but ${namesLike(name).map((name) => `\`${name}\``).join(", ")}`;
  const [files, script] = await Promise.all([filesOf(example), scriptOf(example)]);
  const { title, view = "result" } = example;
  return { shared: { ...sharedOf(initial(files)), name: title, script, view }, unknown: [] };
}

/** Leaves out gates that this page does not know; the engine would refuse them, and with them everything. */
export function recognised(shared: Shared): Link {
  const unknown = Object.keys(shared.gates).filter((gate) => !GATES.some((known) => known === gate));
  if (unknown.length === 0) return { shared, unknown };
  const gates = Object.fromEntries(Object.entries(shared.gates).filter(([gate]) => !unknown.includes(gate)));
  return { shared: { ...shared, gates }, unknown: unknown.map((gate) => `feature gate \`${gate}\``) };
}

function read(value: unknown): Link | undefined {
  const fields = record(value);
  const files = list(fields.files).flatMap((file) => {
    const { name, text: content } = record(file);
    return typeof name === "string" && typeof content === "string" ? [{ name, text: normalised(content) }] : [];
  });
  if (files.length === 0) return undefined;
  const base = initial(files);
  const gates = Object.entries(record(fields.gates)).filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean");
  const filter = record(fields.filter);
  const { shared, unknown } = recognised({
    name: text(fields.name),
    files,
    active: Math.max(0, Math.min(files.length - 1, integer(fields.active, 0))),
    version: isVersion(fields.version) ? fields.version : base.version,
    gates: Object.fromEntries(gates),
    view: isView(fields.view) ? fields.view : base.view,
    filter: isRecord(fields.filter) ? { text: text(filter.text), claim: text(filter.claim), deviceClass: text(filter.deviceClass) } : NO_FILTER,
    script: normalised(text(fields.script)),
    untilMillis: Math.max(0, integer(fields.untilMillis, base.untilMillis)),
    expression: text(fields.expression) || undefined,
    device: text(fields.device),
    otherText: normalised(text(fields.otherText)),
  });
  const isOther = fields.version !== undefined && !isVersion(fields.version);
  return { shared, unknown: isOther ? [`Kubernetes \`${text(fields.version)}\``, ...unknown] : unknown };
}

function isView(value: unknown): value is View {
  return VIEWS.some((view) => view === value);
}

function integer(value: unknown, otherwise: number): number {
  return Number.isSafeInteger(value) ? (value as number) : otherwise;
}

async function through(stream: ReadableStream, change: ReadableWritablePair, most: number): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  const reader = (stream.pipeThrough(change) as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) throw new Error("too long");
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** Without the signs that addresses give a meaning. */
function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
}

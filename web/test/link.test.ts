import { expect, test } from "vitest";

import { MAX_LENGTH, fragmentOf, readAddress, readFragment, sharedOf } from "../src/share/link";
import { initial, onFilter, onGate, onVersion, onView } from "../src/state";

const FILES = [{ name: "a.yaml", text: "kind: Pod # ä😀\n" }, { name: "b.yaml", text: "" }];
const state = onFilter(onView(onGate(onVersion(initial(FILES), "1.36"), "DRADeviceTaints", true), "why"), { text: "gpu" });

/** What the first version of links looked like; it must open for ever. */
const FIRST = [
  "#v1=RY7BasMwEER_RcxZTW0KOSzkUJproZTSS9XDYq3TpbJiJMVJMP73IifQ4y4zb96MXoNk0NeMyIOAwJsrDwEWRS6l3qN-Ssp6jGSm1sVfjZ",
  "7M29G7OEhhz4XJzKa2yfSacjGLi1i-LbgrOgmosZhuCBDazdMWFgcudXfG_v15L5N28sEaSwb1HLIsFpPKGYTzzxW2ahZJNX_XOownWHSBdQAB",
  "Fn6FvATOuT4Wi9wlHWv2wXAh0w4uGuMlSBEy49E_rrYuwuIUi4ZXDUEzaNs0TWMhlzFJvlvf6BufdJJkdjvjwO5_dl38Aw",
].join("");

test("a link brings the state back", async () => {
  const fragment = await fragmentOf(sharedOf(state));
  expect(fragment).toMatch(/^#v1=[A-Za-z0-9_-]+$/);
  expect(await readFragment(fragment ?? "")).toEqual({ shared: sharedOf(state), unknown: [] });
});

test("what is no link says why", async () => {
  expect(await readFragment("")).toBeUndefined();
  expect(await readFragment("#section")).toContain("none of this page");
  expect(await readFragment("#v2=abc")).toContain("newer version");
  expect(await readFragment("#v1=%%%")).toContain("damaged");
  expect(await readFragment("#v1=AAAA")).toContain("damaged");
});

test("a link of the first version opens", async () => {
  const shared = {
    ...sharedOf(initial([{ name: "a.yaml", text: "apiVersion: v1\nkind: Pod\nmetadata: { name: first }\n" }])),
    version: "1.36", gates: { DRADeviceTaints: false }, view: "why", filter: { text: "gpu", claim: "", deviceClass: "" },
    script: "- at: 1m\n  delete: pod/first\n", untilMillis: 60_000, expression: `device.driver == "a"`,
  };
  expect(await readFragment(FIRST)).toEqual({ shared, unknown: [] });
});

async function packed(value: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = Buffer.from(await new Response(stream).arrayBuffer());
  return `#v1=${bytes.toString("base64url")}`;
}

test("what a link holds is read piece by piece", async () => {
  expect(await readFragment(await packed({ files: [] }))).toContain("no files");
  expect(await readFragment(await packed(7))).toContain("no files");
  const odd = {
    files: [{ name: "a", text: "x\r\n" }, { name: 1, text: "y" }, null], active: 99, version: "9.9", gates: { A: "yes", DRADeviceTaints: false },
    view: "admin", filter: [], script: 5, untilMillis: -3, expression: null, __proto__: { polluted: true },
  };
  expect(await readFragment(await packed(odd))).toEqual({
    shared: { ...sharedOf(initial([{ name: "a", text: "x\n" }])), gates: { DRADeviceTaints: false }, script: "5", untilMillis: 0 },
    unknown: ["Kubernetes `9.9`"],
  });
});

test("what is too long for an address gives no link, and a bomb is not unpacked", async () => {
  let seed = 1;
  const random = () => (seed = (seed * 48_271) % 2_147_483_647);
  const noise = Array.from({ length: 2 * MAX_LENGTH }, () => String.fromCharCode(33 + (random() % 90))).join("");
  expect((await fragmentOf(sharedOf(initial([{ name: "a", text: noise }])))) === undefined).toBe(true);
  expect(await readFragment(await packed({ files: [{ name: "a", text: "x".repeat(30_000_000) }] }))).toContain("damaged");
});

test("gates of another version are left out and named, the rest of the link opens", async () => {
  const link = await readFragment(await packed({ files: FILES, gates: { DRAFromTheFuture: true, constructor: true, DRADeviceTaints: false } }));
  expect(link).toEqual({
    shared: { ...sharedOf(initial(FILES)), gates: { DRADeviceTaints: false } },
    unknown: ["feature gate `DRAFromTheFuture`", "feature gate `constructor`"],
  });
});

test("an example opens by its name, and a wrong name says which there are", async () => {
  const link = await readFragment("#example=mig");
  expect(link).toMatchObject({ shared: { name: "MIG", view: "result", files: [{ name: "nvidia-mig.yaml" }, {}] }, unknown: [] });
  expect(await readFragment("#example=life")).toMatchObject({ shared: { view: "time", script: expect.stringContaining("at:") } });
  expect(await readFragment("#example=partitions")).toBe("there is no example `partitions`, but `partitionable`");
  expect(await readFragment("#example=mgi")).toBe("there is no example `mgi`, but `mig`");
  expect(await readFragment("#example=ttaints")).toBe("there is no example `ttaints`, but `taints`");
  expect(await readFragment("#example=quite-another")).toMatch(/but `tour`, .*, `typos`$/);
  expect(await readFragment("#example=%zz")).toContain("`tour`");
});

test("an address is offered for the hosts that the build names, and explained for all others", () => {
  const hosts = ["https://raw.example.com"];
  expect(readAddress(encodeURIComponent("https://raw.example.com/a/b.yaml"), hosts)).toMatchObject({ address: new URL("https://raw.example.com/a/b.yaml") });
  expect(readAddress("https://raw.example.com.evil.example/a.yaml", hosts)).toContain("this page loads texts of https://raw.example.com alone");
  expect(readAddress("http://raw.example.com/a.yaml", hosts)).toContain("names an address of raw.example.com");
  expect(readAddress("javascript:alert(1)", [])).toContain("of no other host");
  expect(readAddress("%zz", hosts)).toContain("no address");
});

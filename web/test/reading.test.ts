import { expect, test } from "vitest";

import { read } from "../src/reading";

const POD = "apiVersion: v1\nkind: Pod\nmetadata: { name: p }\n";

test("what a file is called does not matter, what is in it does", async () => {
  const { files, refused } = await read([
    new File([POD], "dump"), new File([POD], "slices.txt"), new File(['{"kind":"List","items":[]}'], "get.out"), new File(["# nothing yet\n"], "empty.yaml"),
    new File(["hello\n"], "notes.txt"), new File([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1])], "picture.png"),
  ]);
  expect(files.map(({ name }) => name)).toEqual(["dump", "empty.yaml", "get.out", "slices.txt"]);
  expect(refused).toEqual(["notes.txt", "picture.png"]);
});

test("what PowerShell writes is read as the text that it is", async () => {
  const bytes = new Uint8Array([0xff, 0xfe, ...Buffer.from(POD.replaceAll("\n", "\r\n"), "utf16le")]);
  expect((await read([new File([bytes], "dump.txt")])).files).toEqual([{ name: "dump.txt", text: POD }]);
});

test("names that end in numbers come in the order of the numbers", async () => {
  const { files } = await read(["pod-10.yaml", "pod-9.yaml", "pod-1.yaml"].map((name) => new File([POD], name)));
  expect(files.map(({ name }) => name)).toEqual(["pod-1.yaml", "pod-9.yaml", "pod-10.yaml"]);
});

test("a file that is too large is left out, and those after it are taken", async () => {
  const { files, refused } = await read([new File([POD], "b.yaml"), new File([POD.padEnd(20_000_001, "#")], "a.yaml")]);
  expect([files.map(({ name }) => name), refused]).toEqual([["b.yaml"], ["a.yaml"]]);
});

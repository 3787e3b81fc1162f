// The package in Deno: as for Node.js where nothing has to be started, and as for pages.
import { evaluate } from "../dist/node.js";
import * as page from "../dist/index.js";

await page.init();
const question = { expression: 'device.driver == "gpu.example.com"', device: { driver: "gpu.example.com" } };
console.log(JSON.stringify([evaluate(question).status, page.evaluate(question).status]));
